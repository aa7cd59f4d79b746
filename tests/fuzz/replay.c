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

/* In memory of its own size, so that a sanitizer sees what is read beyond its end. */
static int run_file(const char *path)
{
	FILE *file = fopen(path, "re");
	uint8_t *bytes = NULL;
	size_t size;

	if (!file || fseek(file, 0, SEEK_END)) {
		perror(path);
		return 1;
	}
	size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(size ? size : 1);
	if (!bytes || fread(bytes, 1, size, file) != size) {
		perror(path);
		return 1;
	}
	fclose(file);
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
