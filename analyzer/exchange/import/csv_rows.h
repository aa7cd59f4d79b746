/*
 * csv_rows.h - another tool's table of comma-separated values, row by row, with columns by name.
 */
#ifndef ROOFLINE_CSV_ROWS_H
#define ROOFLINE_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct csv_row;

/* A negative result ends the reading. */
typedef int (*csv_row_taker)(const struct csv_row *row, void *context);

/* The names of the columns are the first row that begins with first_column, NULL: the first one.  Tools write messages
 * before it, and behind the last row, which begin with "==".  Fails where a row has another number of fields, as where the file was cut off. */
int csv_rows_read(const char *path, const char *first_column, csv_row_taker each, void *context,
		  struct err *err);

size_t csv_row_count(const struct csv_row *row); /* of columns */
const char *csv_row_name(const struct csv_row *row, size_t column);
const char *csv_row_text(const struct csv_row *row, size_t column);

/* By name: NULL without such a column. */
const char *csv_row_find(const struct csv_row *row, const char *name);

/* Whether that is a whole number. */
bool csv_row_has_number(const struct csv_row *row, const char *name);

/* The same as a whole number, 0 where there is none. */
int64_t csv_row_number(const struct csv_row *row, const char *name);

#endif
