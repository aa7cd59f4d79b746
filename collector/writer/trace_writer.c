#define _GNU_SOURCE
#include "writer/trace_writer.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "writer/csv_text.h"
#include "writer/intern.h"
#include "log.h"
#include "writer/table_files.h"

#define CHUNK_BYTES 65536 /* a table's rows are written when so many have gathered */
#define INTERNED_KEEP_BYTES ((size_t)1 << 20) /* of names, while the disk is full */

struct trace_rows {
	struct trace_rows *next; /* in the free list */
	struct csv_text tables[TRACE_TABLE_COUNT];
};

#define LOSS_NAME(name, unit, meaning) #name,
static const char *const loss_names[] = {TRACE_LOSS_KINDS(LOSS_NAME)};
#define LOSS_MEANING(name, unit, meaning) unit ": " meaning,
static const char *const loss_meanings[] = {TRACE_LOSS_KINDS(LOSS_MEANING)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* files, interned rows, free list */
static struct trace_rows interned; /* names and signatures that are not written yet */
static struct trace_rows *free_rows;
static bool is_open, is_sealed;
static trace_kernel_filter kernel_filter;
static trace_signature_completer signature_completer;
static uint64_t losses[LOSS_COUNT]; /* that are not written yet */
static uint64_t all_losses[LOSS_COUNT];
static bool has_ended; /* by a limit */

static void losses_append(int64_t time_ns);

bool trace_writer_has_ended(void)
{
	return __atomic_load_n(&has_ended, __ATOMIC_RELAXED);
}

/* Whether a limit has ended the recording for the rows of this table; how it ended can still be told. */
static bool is_left_out(enum trace_table table)
{
	return table != TRACE_TABLE_process && table != TRACE_TABLE_losses &&
	       trace_writer_has_ended();
}

/* Nobody misses a look at the clock. */
static void rows_leave_out(enum trace_table table, uint64_t count)
{
	if (table != TRACE_TABLE_clocks)
		trace_loss_add(LOSS_late_records, count);
}

/* Rows that come when the recording is sealed are not written, but its reader is told of them. */
static void rows_refuse(const struct csv_text *text)
{
	struct timespec now;

	trace_loss_add(LOSS_late_records, csv_count_lines(text->bytes, text->used));
	if (!is_sealed)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	losses_append((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void rows_append(struct trace_rows *rows, enum trace_table table)
{
	struct csv_text *text = &rows->tables[table];
	size_t done;

	if (text->used && is_open && is_left_out(table)) {
		rows_leave_out(table, csv_count_lines(text->bytes, text->used));
	} else if (text->used && is_open) {
		done = table_append(table, text->bytes, text->used);
		trace_loss_add(LOSS_unwritten_rows,
			       csv_count_lines(text->bytes + done, text->used - done));
	} else if (text->used) {
		rows_refuse(text);
	}
	text->used = 0;
}

static void interned_give_up(enum trace_table table)
{
	struct csv_text *text = &interned.tables[table];

	if (text->used)
		trace_loss_add(LOSS_unwritten_rows, csv_count_lines(text->bytes, text->used));
	text->used = 0;
}

/* What later rows refer to is kept for the next time when it cannot be written now. */
static void interned_append_table(enum trace_table table)
{
	struct csv_text *text = &interned.tables[table];
	size_t done;

	if (!text->used)
		return;
	done = table_append(table, text->bytes, text->used);
	text->used -= done;
	memmove(text->bytes, text->bytes + done, text->used);
	if (text->used > INTERNED_KEEP_BYTES)
		interned_give_up(table);
}

/* Interned rows go first: nothing on disk refers to what is not there. */
static void interned_append(void)
{
	if (!is_open)
		return; /* nothing that refers to them will be written either */
	if (trace_writer_has_ended()) {
		interned.tables[TRACE_TABLE_names].used = 0;
		interned.tables[TRACE_TABLE_signatures].used = 0;
		return;
	}
	interned_append_table(TRACE_TABLE_names);
	interned_append_table(TRACE_TABLE_signatures);
}

/* ---- rows ---- */

#define ROOM_i64(name) CSV_NUMBER_BYTES +
#define ROOM_u64(name) CSV_NUMBER_BYTES +
#define ROOM_u32(name) CSV_NUMBER_BYTES +
#define ROOM_f64(name) CSV_FRACTION_BYTES +
#define ROOM_text(name) csv_text_room(row->name) +
#define COLUMN_ROOM(type, name, meaning) ROOM_##type(name)
#define PUT_i64(name) csv_put_i64(out, row->name)
#define PUT_u64(name) csv_put_u64(out, row->name)
#define PUT_u32(name) csv_put_u64(out, row->name)
#define PUT_f64(name) csv_put_f64(out, row->name)
#define PUT_text(name) csv_put_text(out, row->name)
#define COLUMN_PUT(type, name, meaning) \
	out = PUT_##type(name);         \
	*out++ = ',';

/* format_kernels(text, row) and so on: one line, or false when memory is out. */
#define FORMAT_FUNCTION(table, columns)                                                          \
	static bool format_##table(struct csv_text *text, const struct trace_##table##_row *row) \
	{                                                                                        \
		char *out = csv_reserve(text, columns(COLUMN_ROOM) 1);                           \
                                                                                                 \
		if (!out)                                                                        \
			return false;                                                            \
		columns(COLUMN_PUT) out[-1] = '\n';                                              \
		text->used = (size_t)(out - text->bytes);                                        \
		return true;                                                                     \
	}
TRACE_TABLES(FORMAT_FUNCTION)

/* ---- the limits ---- */

static size_t rows_bytes(const struct trace_rows *rows)
{
	size_t bytes = 0;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		bytes += rows->tables[table].used;
	return bytes;
}

/* The rows in hand, as far as there is room for them: what belongs together stays together. */
static void rows_append_last(struct trace_rows *rows)
{
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (table_files_limit(rows->tables[table].used, true) == SIZE_LIMIT_NONE)
			rows_append(rows, table);
}

static void seal_append(int64_t sealed_ns)
{
	static struct csv_text text;
	char value[32];
	struct trace_process_row row = {"sealed_ns", value};

	snprintf(value, sizeof(value), "%lld", (long long)sealed_ns);
	text.used = 0;
	if (format_process(&text, &row))
		table_append(TRACE_TABLE_process, text.bytes, text.used);
}

/* What is there is sealed, so that it is read as a recording that ended now. */
static void recording_end(enum trace_loss reason)
{
	int64_t now_ns = clock_ns(CLOCK_REALTIME);

	__atomic_store_n(&has_ended, true, __ATOMIC_RELAXED);
	trace_loss_add(reason, 1);
	losses_append(now_ns);
	seal_append(now_ns);
	log_warn("the recording in %s has ended, and the program goes on: %s", table_files_folder(),
		 reason == LOSS_size_limit
			 ? "it has the size of --max-size"
			 : "its disk has only the space, or the number of files, left that is to "
			   "stay free (ROOFLINE_MIN_FREE)");
}

/* A flight recorder gives up its oldest first. */
static enum size_limit limit_find(size_t bytes)
{
	enum size_limit limit;

	if (!table_files_turn())
		return SIZE_LIMIT_DISK;
	do {
		limit = table_files_limit(bytes, false);
	} while (limit == SIZE_LIMIT_DISK && table_files_drop_oldest());
	return limit;
}

/* Under the lock, before rows are appended. */
static void limits_check(struct trace_rows *rows)
{
	size_t bytes = rows_bytes(rows) + rows_bytes(&interned);
	enum size_limit limit;

	if (!is_open || !bytes || trace_writer_has_ended())
		return;
	limit = limit_find(bytes);
	if (limit == SIZE_LIMIT_NONE)
		return;
	if (table_files_limit(rows_bytes(&interned), true) == SIZE_LIMIT_NONE) {
		interned_append();
		rows_append_last(rows);
	}
	recording_end(limit == SIZE_LIMIT_DISK ? LOSS_low_disk : LOSS_size_limit);
}

static void rows_flush(struct trace_rows *rows, enum trace_table table)
{
	pthread_mutex_lock(&lock);
	limits_check(rows);
	interned_append();
	rows_append(rows, table);
	pthread_mutex_unlock(&lock);
}

#define WRITE_FUNCTION(table, columns)                                                           \
	void trace_write_##table(struct trace_rows *rows, const struct trace_##table##_row *row) \
	{                                                                                        \
		if (is_left_out(TRACE_TABLE_##table))                                            \
			rows_leave_out(TRACE_TABLE_##table, 1);                                  \
		else if (!rows || !format_##table(&rows->tables[TRACE_TABLE_##table], row))      \
			trace_loss_add(LOSS_unwritten_rows, 1);                                  \
		else if (rows->tables[TRACE_TABLE_##table].used >= CHUNK_BYTES)                  \
			rows_flush(rows, TRACE_TABLE_##table);                                   \
	}
TRACE_TABLES(WRITE_FUNCTION)

struct trace_rows *trace_rows_get(void)
{
	struct trace_rows *rows;

	pthread_mutex_lock(&lock);
	rows = free_rows;
	if (rows)
		free_rows = rows->next;
	pthread_mutex_unlock(&lock);
	return rows ? rows : calloc(1, sizeof(*rows));
}

void trace_rows_put(struct trace_rows *rows)
{
	if (!rows)
		return;
	pthread_mutex_lock(&lock);
	limits_check(rows);
	interned_append();
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		rows_append(rows, table);
	rows->next = free_rows;
	free_rows = rows;
	pthread_mutex_unlock(&lock);
}

/* ---- interning ---- */

/* A buffer of records with a long name each must not gather in memory until all are decoded. */
static void interned_append_chunk(enum trace_table table)
{
	static struct trace_rows none;

	if (interned.tables[table].used < CHUNK_BYTES)
		return;
	limits_check(&none);
	interned_append();
}

static uint32_t name_locked(const char *text)
{
	bool is_new;
	uint32_t id = intern_text(text, &is_new);
	struct trace_names_row row = {id, text};

	if (is_new && !format_names(&interned.tables[TRACE_TABLE_names], &row))
		trace_loss_add(LOSS_unwritten_rows, 1);
	interned_append_chunk(TRACE_TABLE_names);
	return id;
}

uint32_t trace_name(const char *text)
{
	uint32_t id;

	if (!text || trace_writer_has_ended())
		return 0;
	pthread_mutex_lock(&lock);
	id = name_locked(text);
	pthread_mutex_unlock(&lock);
	return id;
}

void trace_signature_complete(trace_signature_completer completer)
{
	signature_completer = completer;
}

static bool format_new_signature(struct trace_signatures_row *row, const char *mangled_name)
{
	if (signature_completer && mangled_name)
		signature_completer(row, mangled_name);
	return format_signatures(&interned.tables[TRACE_TABLE_signatures], row);
}

uint32_t trace_signature(const struct trace_signatures_row *wanted, const char *mangled_name)
{
	struct trace_signatures_row row = *wanted;
	bool is_new;

	pthread_mutex_lock(&lock);
	row.id = 0;
	row.name = mangled_name ? name_locked(mangled_name) : 0;
	row.id = intern_signature(&row, &is_new);
	if (is_new && kernel_filter && !kernel_filter(mangled_name ? mangled_name : ""))
		row.id = intern_signature_drop(&row);
	else if (is_new && !format_new_signature(&row, mangled_name))
		trace_loss_add(LOSS_unwritten_rows, 1);
	interned_append_chunk(TRACE_TABLE_signatures);
	pthread_mutex_unlock(&lock);
	return row.id;
}

/* ---- losses and properties ---- */

void trace_loss_add(enum trace_loss kind, uint64_t count)
{
	__atomic_fetch_add(&losses[kind], count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all_losses[kind], count, __ATOMIC_RELAXED);
}

/* Under the lock.  A count that cannot be written now is kept for the next time. */
static void losses_append(int64_t time_ns)
{
	static struct csv_text text;

	for (int kind = 0; kind < LOSS_COUNT; kind++) {
		uint64_t count = __atomic_exchange_n(&losses[kind], 0, __ATOMIC_RELAXED);
		struct trace_losses_row row = {time_ns, loss_names[kind], count,
					       loss_meanings[kind]};

		text.used = 0;
		if (count && (!format_losses(&text, &row) ||
			      table_append(TRACE_TABLE_losses, text.bytes, text.used) < text.used))
			__atomic_fetch_add(&losses[kind], count, __ATOMIC_RELAXED);
	}
}

uint64_t trace_loss_count(enum trace_loss kind)
{
	return __atomic_load_n(&all_losses[kind], __ATOMIC_RELAXED);
}

void trace_losses_write(int64_t time_ns)
{
	pthread_mutex_lock(&lock);
	if (is_open && !trace_writer_has_ended()) /* the rest is told at the end, in one row */
		losses_append(time_ns);
	pthread_mutex_unlock(&lock);
}

void trace_property(struct trace_rows *rows, const char *key, const char *value)
{
	struct trace_process_row row = {key, value};

	if (value && *value)
		trace_write_process(rows, &row);
}

void trace_property_format(struct trace_rows *rows, const char *key, const char *format, ...)
{
	char value[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	trace_property(rows, key, value);
}

/* ---- opening and closing ---- */

void trace_writer_keep_last(int64_t span_ns, int64_t bytes)
{
	table_files_keep_last(span_ns, bytes);
}

const char *trace_writer_folder(void)
{
	return table_files_folder();
}

uint64_t trace_writer_bytes(void)
{
	uint64_t bytes;

	pthread_mutex_lock(&lock);
	bytes = (uint64_t)size_limit_written();
	pthread_mutex_unlock(&lock);
	return bytes;
}

int trace_writer_open(const char *output, trace_kernel_filter filter)
{
	int rc = table_files_open(output);

	if (rc < 0)
		return rc;
	kernel_filter = filter;
	is_open = true;
	return 0;
}

/* The last chance of what could not be written before. */
static void append_the_rest(void)
{
	pthread_mutex_lock(&lock);
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		table_append(table, "", 0); /* the header, where it is missing */
	interned_append();
	interned_give_up(TRACE_TABLE_names);
	interned_give_up(TRACE_TABLE_signatures);
	pthread_mutex_unlock(&lock);
}

void trace_writer_seal(int64_t sealed_ns)
{
	append_the_rest();
	pthread_mutex_lock(&lock);
	if (is_open)
		losses_append(sealed_ns);
	if (is_open && !trace_writer_has_ended())
		seal_append(sealed_ns);
	is_open = false;
	is_sealed = true;
	pthread_mutex_unlock(&lock);
}

void trace_writer_abandon(void)
{
	is_open = false;
	table_files_forget();
}
