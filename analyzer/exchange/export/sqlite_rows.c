#include "exchange/export/sqlite_rows.h"

#include <errno.h>
#include <string.h>

#include "trace/profile.h"

int sqlite_rows_begin(struct sqlite_rows *rows, const char *table, const char *columns, int count)
{
	sqlite3_str *text = sqlite3_str_new(rows->file);
	char *query;
	int code;

	sqlite3_str_appendf(text, "CREATE TABLE %s (%s); INSERT INTO %s VALUES (?", table, columns,
			    table);
	for (int i = 1; i < count; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	query = sqlite3_str_finish(text);
	rows->column = 0;
	if (!query)
		return -ENOMEM;
	*strchr(query, ';') = '\0';
	code = sqlite3_exec(rows->file, query, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(rows->file, query + strlen(query) + 1, -1, &rows->insert,
					  NULL);
	sqlite3_free(query);
	return code == SQLITE_OK ? 0 : -EIO;
}

/* A value that found no memory would be missing: the row is then refused. */
static void keep(struct sqlite_rows *rows, int code)
{
	if (rows->code == SQLITE_OK)
		rows->code = code;
}

void sqlite_rows_number(struct sqlite_rows *rows, int64_t value)
{
	keep(rows, sqlite3_bind_int64(rows->insert, ++rows->column, value));
}

void sqlite_rows_index(struct sqlite_rows *rows, uint32_t value)
{
	if (value == PROFILE_NONE)
		rows->column++;
	else
		sqlite_rows_number(rows, value);
}

void sqlite_rows_fraction(struct sqlite_rows *rows, double value)
{
	keep(rows, sqlite3_bind_double(rows->insert, ++rows->column, value));
}

void sqlite_rows_text(struct sqlite_rows *rows, const char *value)
{
	rows->column++;
	if (value)
		keep(rows, sqlite3_bind_text(rows->insert, rows->column, value, -1, SQLITE_STATIC));
}

int sqlite_rows_next(struct sqlite_rows *rows)
{
	int code = rows->code == SQLITE_OK ? sqlite3_step(rows->insert) : rows->code;

	(void)sqlite3_reset(rows->insert); /* tells again what the step did */
	(void)sqlite3_clear_bindings(rows->insert);
	rows->column = 0;
	return code == SQLITE_DONE ? 0 : -EIO;
}

void sqlite_rows_end(struct sqlite_rows *rows)
{
	sqlite3_finalize(rows->insert);
	rows->insert = NULL;
}
