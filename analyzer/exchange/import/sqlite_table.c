#include "exchange/import/sqlite_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_EVERY_STEPS 200
#define STEPS_PER_PAGE 1024 /* an export's page has 4096 bytes and is visited a few times */
#define COLUMN_LIMIT 64	    /* that are asked for at once */

struct sqlite_file {
	sqlite3 *handle;
	uint64_t bytes; /* its size */
	uint64_t steps, text_bytes;
	const char *excess; /* what there is too much of, NULL: nothing */
};

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

/* ---- limits ---- */

/* Pages count as well: a single step may follow a chain of any length. */
static uint64_t pages_visited(sqlite3 *handle)
{
	int hits = 0, misses = 0, highest;

	sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 0);
	sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0);
	return (uint64_t)hits + (uint64_t)misses;
}

/* SQLite calls it after each LOOK_EVERY_STEPS.  Other than 0 ends the reading. */
static int count_steps(void *context)
{
	struct sqlite_file *file = context;

	file->steps += LOOK_EVERY_STEPS;
	if (file->steps + pages_visited(file->handle) * STEPS_PER_PAGE >
	    SQLITE_ANYWAY_STEPS + file->bytes * SQLITE_MOST_STEPS_PER_BYTE)
		file->excess = "takes more steps to be read than an export of its size";
	return file->excess != NULL;
}

void sqlite_file_count_text(struct sqlite_file *file, size_t bytes)
{
	file->text_bytes += bytes;
	if (file->text_bytes > SQLITE_ANYWAY_TEXT_BYTES + file->bytes * SQLITE_MOST_TEXT_PER_BYTE)
		file->excess = "its texts become larger than those of an export of its size";
}

static void count_texts(struct sqlite_file *file, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		int type = sqlite3_column_type(row, i);

		if (type == SQLITE_TEXT || type == SQLITE_BLOB)
			sqlite_file_count_text(file, (size_t)sqlite3_column_bytes(row, i));
	}
}

static void set_limits(struct sqlite_file *file)
{
	static const struct {
		int which, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, SQLITE_MOST_CELL_BYTES},
		{SQLITE_LIMIT_SQL_LENGTH, SQLITE_MOST_CELL_BYTES},
		{SQLITE_LIMIT_EXPR_DEPTH, 100},
		{SQLITE_LIMIT_VDBE_OP, 25000},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(file->handle, limits[i].which, limits[i].most);
	sqlite3_db_config(file->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(file->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(file->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(file->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_drop_modules(file->handle, NULL);
	sqlite3_progress_handler(file->handle, LOOK_EVERY_STEPS, count_steps, file);
}

static int describe(const struct sqlite_file *file, const char *path, struct err *err)
{
	int code = file->handle ? sqlite3_errcode(file->handle) : SQLITE_NOMEM;

	if (file->excess)
		return err_set(err, -EFBIG, "%s: %s; export it again", path, file->excess);
	if (code == SQLITE_NOMEM && !atomic_load(&has_failed) && file->handle)
		return err_set(err, -EFBIG,
			       "%s: needs more than %d MiB of memory to be read, as no export "
			       "does; export it again",
			       path, (int)(SQLITE_MOST_HEAP_BYTES >> 20));
	if (code == SQLITE_NOMEM)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	if (code == SQLITE_TOOBIG)
		return err_set(err, -EFBIG,
			       "%s: has a text of more than %d MiB, as no export does; export it "
			       "again",
			       path, SQLITE_MOST_CELL_BYTES >> 20);
	return err_set(err, -EINVAL, "%s: %s; export it again", path, sqlite3_errmsg(file->handle));
}

/* ---- the file ---- */

int sqlite_file_close(struct sqlite_file *file, int rc, const char *path, struct err *err)
{
	if (rc == 0 && atomic_load(&has_failed))
		rc = err_set(err, -ENOMEM, "%s: out of memory", path);
	if (file)
		sqlite3_close(file->handle);
	free(file);
	sqlite3_hard_heap_limit64(0);
	return rc;
}

int sqlite_file_open(struct sqlite_file **out, const char *path, struct err *err)
{
	struct sqlite_file *file = *out = calloc(1, sizeof(*file));
	struct stat status;
	int code;

	watch_memory();
	if (!file)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	sqlite3_hard_heap_limit64((sqlite3_int64)SQLITE_MOST_HEAP_BYTES);
	if (sqlite3_open_v2(path, &file->handle, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return describe(file, path, err);
	if (stat(path, &status) == 0)
		file->bytes = (uint64_t)status.st_size;
	set_limits(file);
	code = sqlite3_exec(file->handle, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
	return code == SQLITE_NOMEM || file->excess ? describe(file, path, err) : 0;
}

bool sqlite_is_damaged(struct sqlite_file *file)
{
	int code = sqlite3_errcode(file->handle);

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

/* ---- tables and columns ---- */

/* A view or a virtual table of that name is none: it could continue without end. */
#define TABLES "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "

static bool has_named(struct sqlite_file *file, const char *query, const char *table)
{
	sqlite3_stmt *statement;
	bool found = false;

	if (sqlite3_prepare_v2(file->handle, query, -1, &statement, NULL) != SQLITE_OK)
		return false;
	if (sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
		found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

bool sqlite_has_table(struct sqlite_file *file, const char *table)
{
	return has_named(file, TABLES "name = ?", table);
}

bool sqlite_has_table_like(struct sqlite_file *file, const char *pattern)
{
	return has_named(file, TABLES "name LIKE ? ESCAPE '\\'", pattern);
}

/* Sets found[i] where the table stores columns[i].  Generated columns are in the list as well, with a mark. */
static void find_columns(struct sqlite_file *file, const char *table, const char *const *columns,
			 bool found[COLUMN_LIMIT])
{
	enum { NAME = 1, HIDDEN = 6 };
	char *query = sqlite3_mprintf("PRAGMA table_xinfo(\"%w\")", table);
	sqlite3_stmt *statement = NULL;

	if (query)
		sqlite3_prepare_v2(file->handle, query, -1, &statement, NULL);
	while (statement && sqlite3_step(statement) == SQLITE_ROW)
		for (size_t i = 0; i < COLUMN_LIMIT && columns[i]; i++)
			if (!sqlite3_stricmp(columns[i], sqlite_text(statement, NAME)))
				found[i] = !sqlite3_column_int(statement, HIDDEN);
	sqlite3_finalize(statement);
	sqlite3_free(query);
}

bool sqlite_has_column(struct sqlite_file *file, const char *table, const char *column)
{
	bool found[COLUMN_LIMIT] = {false};

	if (sqlite_has_table(file, table))
		find_columns(file, table, (const char *const[]){column, NULL}, found);
	return found[0];
}

/* SELECT "a", NULL, "c" FROM "table"; the caller frees with sqlite3_free. */
static char *make_query(struct sqlite_file *file, const char *table, const char *const *columns)
{
	sqlite3_str *query = sqlite3_str_new(file->handle);
	bool found[COLUMN_LIMIT] = {false};

	find_columns(file, table, columns, found);
	sqlite3_str_appendall(query, "SELECT ");
	for (size_t i = 0; i < COLUMN_LIMIT && columns[i]; i++) {
		sqlite3_str_appendall(query, i ? ", " : "");
		if (found[i])
			sqlite3_str_appendf(query, "\"%w\"", columns[i]);
		else
			sqlite3_str_appendall(query, "NULL");
	}
	sqlite3_str_appendf(query, " FROM \"%w\"", table);
	return sqlite3_str_finish(query);
}

/* ---- rows ---- */

static int read_rows(struct sqlite_file *file, sqlite3_stmt *statement, const char *path,
		     sqlite_row each, void *context, struct err *err)
{
	int rc = 0, code = SQLITE_OK;

	while (rc == 0 && !file->excess && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		count_texts(file, statement);
		rc = file->excess ? 0 : each(statement, context);
	}
	if (rc == 0 && (file->excess || code != SQLITE_DONE))
		rc = describe(file, path, err);
	return rc;
}

int sqlite_read_table(struct sqlite_file *file, const char *path, const char *table,
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
	if (sqlite3_prepare_v2(file->handle, query, -1, &statement, NULL) != SQLITE_OK)
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

int sqlite_list_tables(struct sqlite_file *file, const char *path, size_t most, sqlite_row each,
		       void *context, struct err *err)
{
	static const char query[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND "
				    "sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name LIMIT ?";
	sqlite3_stmt *statement = NULL;
	int rc = 0, code = SQLITE_OK;

	if (sqlite3_prepare_v2(file->handle, query, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(statement, 1, (sqlite3_int64)most) != SQLITE_OK)
		rc = describe(file, path, err);
	while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		if (has_rows(file->handle, sqlite_text(statement, 0)))
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
