/*
 * replay.c - in place of libFuzzer, for any compiler: gives each of the files to the target, once.
 *
 *	FUZZ_TARGET=NAME fuzz FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* In memory of its own size, so that a sanitizer sees what is read beyond its end; NULL: it cannot be read. */
static uint8_t *read_file(FILE *file, size_t *size)
{
	uint8_t *bytes;

	if (fseek(file, 0, SEEK_END))
		return NULL;
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size ? *size : 1);
	if (bytes && fread(bytes, 1, *size, file) == *size)
		return bytes;
	free(bytes);
	return NULL;
}

static int run_file(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t size = 0;
	uint8_t *bytes = file ? read_file(file, &size) : NULL;

	if (file)
		fclose(file);
	if (!bytes) {
		perror(path);
		return 1;
	}
	fprintf(stderr, "# %s\n", path);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	int code = 0;

	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		code |= run_file(argv[i]);
	return code;
}
