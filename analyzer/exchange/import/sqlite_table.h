/*
 * sqlite_table.h - the rows of a table in somebody else's SQLite file, with columns by name.
 *
 * Versions of a tool differ in what columns a table has: one that is missing reads as NULL.
 */
#ifndef ROOFLINE_SQLITE_TABLE_H
#define ROOFLINE_SQLITE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Opens the file for reading alone, and believes nothing in it that could run.  The caller closes *out with
 * sqlite_file_close, also after a failure. */
int sqlite_file_open(sqlite3 **out, const char *path, struct err *err);

/* Returns rc where that is negative, or -ENOMEM where anything found no memory since the file was opened. */
int sqlite_file_close(sqlite3 *file, int rc, const char *path, struct err *err);

/* Whether what was asked last of the file failed as it is damaged or shorter than it says. */
bool sqlite_is_damaged(sqlite3 *file);

bool sqlite_has_table(sqlite3 *file, const char *table);
bool sqlite_has_table_like(sqlite3 *file,
			   const char *pattern); /* of LIKE; \ takes _ and % as they are */
bool sqlite_has_column(sqlite3 *file, const char *table, const char *column);

/* Takes a row; a negative result ends the reading. */
typedef int (*sqlite_row)(sqlite3_stmt *row, void *context);

/* columns: ends with NULL; sqlite3_column_...(row, i) is the i-th.  Without such a table there are no rows.  path: for
 * err. */
int sqlite_read_table(sqlite3 *file, const char *path, const char *table,
		      const char *const *columns, sqlite_row each, void *context, struct err *err);

/* The names of the tables that have a row, of ordinary ones; at most so many are looked at. */
int sqlite_list_tables(sqlite3 *file, const char *path, size_t most, sqlite_row each, void *context,
		       struct err *err);

/* Of a row: 0 for NULL and for what is beyond 32 bits. */
uint32_t sqlite_u32(sqlite3_stmt *row, int column);

/* Never NULL. */
const char *sqlite_text(sqlite3_stmt *row, int column);

#endif
