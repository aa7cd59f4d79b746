/*
 * sqlite_table.h - the rows of a table in another tool's SQLite file, with columns by name.
 *
 * Versions of a tool differ in what columns a table has: one that is missing reads as NULL.  So does a generated column, and a
 * virtual table or a view is none: the file's expressions are not evaluated.  A small file may still stand for any number of
 * rows and for long texts, so all work is limited by the size of the file.
 */
#ifndef ROOFLINE_SQLITE_TABLE_H
#define ROOFLINE_SQLITE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* No export has as much: a cell of a table; what SQLite has in memory at once; steps of its virtual machine and pages that it
 * visits, in all and for each byte of the file; and texts for each byte of the file. */
#define SQLITE_MOST_CELL_BYTES (1 << 20)
#define SQLITE_MOST_HEAP_BYTES ((uint64_t)64 << 20)
#define SQLITE_ANYWAY_STEPS ((uint64_t)4 << 20)
#define SQLITE_MOST_STEPS_PER_BYTE 16
#define SQLITE_ANYWAY_TEXT_BYTES ((uint64_t)64 << 20)
#define SQLITE_MOST_TEXT_PER_BYTE 200

struct sqlite_file;

/* Opens the file for reading alone, and believes nothing in it that could run.  The caller closes *out with
 * sqlite_file_close, also after a failure. */
int sqlite_file_open(struct sqlite_file **out, const char *path, struct err *err);

/* Returns rc where that is negative, or -ENOMEM where anything found no memory since the file was opened. */
int sqlite_file_close(struct sqlite_file *file, int rc, const char *path, struct err *err);

/* Counts a text that a row only refers to as read once more: sqlite_read_table ends with a failure when there were too many. */
void sqlite_file_count_text(struct sqlite_file *file, size_t bytes);

/* Whether what was asked last of the file failed as it is damaged or shorter than it says. */
bool sqlite_is_damaged(struct sqlite_file *file);

bool sqlite_has_table(struct sqlite_file *file, const char *table);
bool sqlite_has_table_like(struct sqlite_file *file,
			   const char *pattern); /* of LIKE; \ takes _ and % as they are */
bool sqlite_has_column(struct sqlite_file *file, const char *table,
		       const char *column); /* that is stored */

/* Takes a row; a negative result ends the reading. */
typedef int (*sqlite_row)(sqlite3_stmt *row, void *context);

/* columns: ends with NULL; sqlite3_column_...(row, i) is the i-th.  Without such a table there are no rows.  path: for
 * err. */
int sqlite_read_table(struct sqlite_file *file, const char *path, const char *table,
		      const char *const *columns, sqlite_row each, void *context, struct err *err);

/* The names of the tables that have a row, of ordinary ones; at most so many are looked at. */
int sqlite_list_tables(struct sqlite_file *file, const char *path, size_t most, sqlite_row each,
		       void *context, struct err *err);

/* Of a row: 0 for NULL and for what is beyond 32 bits. */
uint32_t sqlite_u32(sqlite3_stmt *row, int column);

/* Never NULL. */
const char *sqlite_text(sqlite3_stmt *row, int column);

#endif
