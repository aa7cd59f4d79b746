/*
 * sqlite_rows.h - tables of a database that is being made, filled row by row.
 */
#ifndef ROOFLINE_SQLITE_ROWS_H
#define ROOFLINE_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/err.h"

struct sqlite_rows {
	sqlite3 *file;
	sqlite3_stmt *insert;
	int column; /* of the next value */
	int code;   /* of the first value that could not be kept; SQLITE_OK */
};

/* Makes the table and goes on with its rows.  columns: as in SQL, "start_ns INTEGER, name TEXT".  count: of them. */
int sqlite_rows_begin(struct sqlite_rows *rows, const char *table, const char *columns, int count);

/* The next value of the row.  NONE stays NULL. */
void sqlite_rows_number(struct sqlite_rows *rows, int64_t value);
void sqlite_rows_index(struct sqlite_rows *rows, uint32_t value); /* NULL for PROFILE_NONE */
void sqlite_rows_fraction(struct sqlite_rows *rows, double value);
void sqlite_rows_text(struct sqlite_rows *rows, const char *value); /* NULL for NULL */

/* Ends the row.  Returns 0 or -EIO. */
int sqlite_rows_next(struct sqlite_rows *rows);

void sqlite_rows_end(struct sqlite_rows *rows);

#endif
