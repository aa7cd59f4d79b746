/*
 * plain_lines.h - lines of nothing but whole numbers, which nearly all lines of a recording are, without libcsv.
 *
 * libcsv is what says how a table is read.  A line that it would read as just these numbers is read here in a tenth of
 * the time; any other one, as one with a quote, a blank, a sign or a digit too many, is left to it.
 */
#ifndef ROOFLINE_PLAIN_LINES_H
#define ROOFLINE_PLAIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plain_type { PLAIN_SKIPPED, PLAIN_i64, PLAIN_u64, PLAIN_u32 };

struct plain_column {
	enum plain_type type;
	size_t offset; /* in the row; not of what is skipped */
};

/* The length of a plain line with its newline, whose numbers are in row then; 0: it is none, or not all of it is there,
 * and row may hold a part of it. */
size_t plain_line_read(void *row, const struct plain_column *columns, size_t column_count,
		       const char *text, size_t length);

#endif
