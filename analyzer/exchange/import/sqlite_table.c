#include "exchange/import/sqlite_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int describe(sqlite3 *file, const char *path, struct err *err)
{
	int code = file ? sqlite3_errcode(file) : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	return err_set(err, -EINVAL, "%s: %s; export it again", path, sqlite3_errmsg(file));
}

/* ---- memory: SQLite has many calls that answer "none" where they find none, so that it is remembered here ---- */

static sqlite3_mem_methods plain;
static atomic_bool has_failed;

static void *keep_failure(void *memory)
{
	if (!memory)
		atomic_store(&has_failed, true);
	return memory;
}

static void *allocate(int size)
{
	return keep_failure(plain.xMalloc(size));
}

static void *reallocate(void *memory, int size)
{
	return keep_failure(plain.xRealloc(memory, size));
}

/* Only before SQLite is used for the first time; later it changes nothing. */
static void watch_memory(void)
{
	sqlite3_mem_methods watched;

	atomic_store(&has_failed, false);
	if (plain.xMalloc || sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK)
		return;
	watched = plain;
	watched.xMalloc = allocate;
	watched.xRealloc = reallocate;
	(void)sqlite3_config(SQLITE_CONFIG_MALLOC, &watched);
}

/* ---- the file ---- */

int sqlite_file_close(sqlite3 *file, int rc, const char *path, struct err *err)
{
	if (rc == 0 && atomic_load(&has_failed))
		rc = err_set(err, -ENOMEM, "%s: out of memory", path);
	sqlite3_close(file);
	return rc;
}

int sqlite_file_open(sqlite3 **out, const char *path, struct err *err)
{
	watch_memory();
	if (sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return describe(*out, path, err);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return 0;
}

bool sqlite_is_damaged(sqlite3 *file)
{
	int code = sqlite3_errcode(file);

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

/* A view of that name is none: it could go on without end. */
static bool has_named(sqlite3 *file, const char *query, const char *table)
{
	sqlite3_stmt *statement;
	bool found = false;

	if (sqlite3_prepare_v2(file, query, -1, &statement, NULL) != SQLITE_OK)
		return false;
	if (sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
		found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

bool sqlite_has_table(sqlite3 *file, const char *table)
{
	return has_named(file, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
			 table);
}

bool sqlite_has_table_like(sqlite3 *file, const char *pattern)
{
	return has_named(file,
			 "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name LIKE ? "
			 "ESCAPE '\\'",
			 pattern);
}

bool sqlite_has_column(sqlite3 *file, const char *table, const char *column)
{
	return sqlite_has_table(file, table) &&
	       sqlite3_table_column_metadata(file, NULL, table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

/* SELECT "a", NULL, "c" FROM "table"; the caller frees with sqlite3_free. */
static char *make_query(sqlite3 *file, const char *table, const char *const *columns)
{
	sqlite3_str *query = sqlite3_str_new(file);

	sqlite3_str_appendall(query, "SELECT ");
	for (size_t i = 0; columns[i]; i++) {
		sqlite3_str_appendall(query, i ? ", " : "");
		if (sqlite_has_column(file, table, columns[i]))
			sqlite3_str_appendf(query, "\"%w\"", columns[i]);
		else
			sqlite3_str_appendall(query, "NULL");
	}
	sqlite3_str_appendf(query, " FROM \"%w\"", table);
	return sqlite3_str_finish(query);
}

static int read_rows(sqlite3 *file, sqlite3_stmt *statement, const char *path, sqlite_row each,
		     void *context, struct err *err)
{
	int rc = 0, code = SQLITE_OK;

	while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		rc = each(statement, context);
	if (rc == 0 && code != SQLITE_DONE)
		rc = describe(file, path, err);
	return rc;
}

int sqlite_read_table(sqlite3 *file, const char *path, const char *table,
		      const char *const *columns, sqlite_row each, void *context, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	char *query;
	int rc;

	if (!sqlite_has_table(file, table))
		return 0;
	query = make_query(file, table, columns);
	if (!query)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	if (sqlite3_prepare_v2(file, query, -1, &statement, NULL) != SQLITE_OK)
		rc = describe(file, path, err);
	else
		rc = read_rows(file, statement, path, each, context, err);
	sqlite3_finalize(statement);
	sqlite3_free(query);
	return rc;
}

static bool has_rows(sqlite3 *file, const char *table)
{
	char *query = sqlite3_mprintf("SELECT 1 FROM \"%w\" LIMIT 1", table);
	sqlite3_stmt *statement = NULL;
	bool found = query && sqlite3_prepare_v2(file, query, -1, &statement, NULL) == SQLITE_OK &&
		     sqlite3_step(statement) == SQLITE_ROW;

	sqlite3_finalize(statement);
	sqlite3_free(query);
	return found;
}

int sqlite_list_tables(sqlite3 *file, const char *path, size_t most, sqlite_row each, void *context,
		       struct err *err)
{
	static const char query[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND "
				    "sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name LIMIT ?";
	sqlite3_stmt *statement = NULL;
	int rc = 0, code = SQLITE_OK;

	if (sqlite3_prepare_v2(file, query, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(statement, 1, (sqlite3_int64)most) != SQLITE_OK)
		rc = describe(file, path, err);
	while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		if (has_rows(file, sqlite_text(statement, 0)))
			rc = each(statement, context);
	if (rc == 0 && code != SQLITE_DONE)
		rc = describe(file, path, err);
	sqlite3_finalize(statement);
	return rc;
}

uint32_t sqlite_u32(sqlite3_stmt *row, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(row, column);

	return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

const char *sqlite_text(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text ? (const char *)text : "";
}
