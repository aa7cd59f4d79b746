/*
 * chunks.h - the plain lines of a large table (plain_lines.h), read in pieces by several threads beside each other.
 *
 * Where a quote is open a newline does not end a line, which nobody knows who has not read all that is before.  So a chunk
 * is read as if it began with a line, and what comes of it holds where the reader, to whom chunks are handed in the order of
 * the file, is at the end of a line by then.  There is no lock: a chunk belongs to one thread, until the reader joins it.
 */
#ifndef ROOFLINE_CHUNKS_H
#define ROOFLINE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/trace_schema.h"
#include "trace/plain_lines.h"

/* Whole lines, but for the file's last one. */
struct chunk {
	const char *text;
	size_t length;
	size_t plain_length; /* of it, until a line that is not plain */
	const char *rows;    /* of the plain lines; row_bytes from one to the next */
	size_t row_count;
};

/* What is read; borrowed. */
struct chunks_source {
	int fd;
	int64_t begin_byte, end_byte;
	const struct plain_column *columns; /* of the file */
	size_t column_count;
	const void *row; /* with what columns have that the file lacks */
	size_t row_bytes;
	size_t beyond_bytes; /* that whoever gets a row may read behind it */
};

struct chunks;

/* chunk_bytes: of one piece; thread_count: so many are read beside each other.  NULL without memory.  The source's text begins
 * with the first chunk, be it in the middle of a line. */
struct chunks *chunks_open(const struct chunks_source *source, size_t chunk_bytes,
			   size_t thread_count);

/* The next one, valid until the next call; *end_byte: where in the file it ends, for who goes on from there.  False: there
 * is none, or it cannot be read or cut at the end of a line; the rest is for who reads one line after the other. */
bool chunks_next(struct chunks *chunks, struct chunk *out, int64_t *end_byte);

void chunks_close(struct chunks *chunks);

#endif
