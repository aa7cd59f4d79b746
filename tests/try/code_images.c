/*
 * code_images MAJOR FILE... - a line for each: whether its code is certain not to tell the host anything (try/images.h), on
 * GPUs of that major compute capability or, 0, any, as a file and as what lies in memory, and whether that is never said of a part of it that is cut off.
 */
#include "try/images.c"

#include <stdio.h>

static unsigned char *read_file(const char *path, size_t *count)
{
	FILE *file = fopen(path, "re");
	unsigned char *bytes = NULL;

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*count = (size_t)ftell(file);
	rewind(file);
	bytes = calloc(*count + 1, 1);
	if (bytes && fread(bytes, 1, *count, file) != *count)
		*count = 0;
	fclose(file);
	return bytes;
}

/* In memory of exactly that size, for what looks beyond it. */
static bool is_silent_when_cut(const unsigned char *bytes, size_t count, unsigned major)
{
	unsigned char *part = malloc(count ? count : 1);
	bool is_silent;

	if (!part)
		return true;
	memcpy(part, bytes, count);
	is_silent = images_bytes_are_silent(part, count, major);
	free(part);
	return is_silent;
}

int main(int argc, char **argv)
{
	unsigned major = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;

	for (int i = 2; i < argc; i++) {
		size_t count = 0, silent_parts = 0;
		unsigned char *bytes = read_file(argv[i], &count);

		if (!bytes)
			return 1;
		for (size_t part = 0; part < count; part++)
			silent_parts += is_silent_when_cut(bytes, part, major);
		printf("%s %s %s %s\n", argv[i],
		       images_bytes_are_silent(bytes, count, major) ? "silent" : "not_certain",
		       images_are_silent(bytes, major) ? "silent" : "not_certain",
		       silent_parts ? "parts" : "no_part");
		free(bytes);
	}
	return 0;
}
