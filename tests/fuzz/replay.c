/*
 * replay.c - in place of libFuzzer, for any compiler: gives each of the files to the target, once.
 *
 *	FUZZ_TARGET=NAME fuzz FILE...
 *
 * With FUZZ_DAMAGE=N each as often again as it has bytes, at most N times (0: for each), with one of them damaged.
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

/* Every so many bytes are damaged alone, by what hurts a parser most. */
static void run_damaged(uint8_t *bytes, size_t size, size_t most)
{
	static const char bad[] = {'\0', '"', ',', '\n', '9', '-'};
	size_t step = most ? size / most + 1 : 1, turn = 0;

	for (size_t at = 0; at < size; at += step) {
		uint8_t kept = bytes[at];

		bytes[at] = (uint8_t)bad[turn++ % sizeof(bad)];
		LLVMFuzzerTestOneInput(bytes, size);
		bytes[at] = kept;
	}
}

static int run_file(const char *path)
{
	const char *damage = getenv("FUZZ_DAMAGE");
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
	if (damage)
		run_damaged(bytes, size, strtoul(damage, NULL, 10));
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
