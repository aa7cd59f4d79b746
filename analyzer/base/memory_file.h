/*
 * memory_file.h - a text that is written like a file and ends in memory.
 *
 * open_memstream drops what it finds no memory for, and tells neither ferror nor fclose of it; here the text is whole
 * or there is none.
 */
#ifndef ROOFLINE_MEMORY_FILE_H
#define ROOFLINE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct memory_file {
	FILE *stream;
	char *text;
	size_t length, capacity;
	bool has_failed;
};

/* The stream to write to; NULL without memory.  file stays where it is until memory_file_close. */
FILE *memory_file_open(struct memory_file *file);

/* The text, which the caller frees; NULL when memory ran out for any of it. */
char *memory_file_close(struct memory_file *file);

#endif
