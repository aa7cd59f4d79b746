#include "trace/reader.h"

#include "base/paths.h"
#include "base/worker.h"
#include "trace/chunks.h"
#include "trace/plain_lines.h"
#include "trace/table_form.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large enough that system calls do not show, small enough to stay in the cache. */
#define READ_BYTES ((size_t)64 * 1024)
/* The same of each of several threads, with what becomes of it.  Four read as fast as one uses the rows. */
#define CHUNK_BYTES ((size_t)512 * 1024)
#define CHUNK_THREADS 4
/* A lost closing quote would swallow the rest of the file; no honest field is this long. */
#define FIELD_LIMIT_BYTES ((size_t)8 * 1024 * 1024)
#define FIELD_BLOCK_BYTES ((size_t)32 * 1024) /* how much it grows by */
#define MAX_COLUMNS 256			      /* of a file; further ones are not looked at */

#define TABLE_NAME(table, columns) #table,
static const char *const table_names[] = {TRACE_TABLES(TABLE_NAME)};
#undef TABLE_NAME

#define LOSS_NAME(kind, meaning) #kind,
static const char *const loss_names[] = {READER_LOSS_KINDS(LOSS_NAME)};
#undef LOSS_NAME

const char *reader_table_name(enum trace_table table)
{
	return table_names[table];
}

int reader_find_table(const char *file_name)
{
	int table = 0;

	for (; table < TRACE_TABLE_COUNT; table++) {
		size_t length = strlen(table_names[table]);

		if (!strncmp(file_name, table_names[table], length) &&
		    !strcmp(file_name + length, ".csv"))
			break;
	}
	return table;
}

const char *reader_loss_name(enum reader_loss kind)
{
	return loss_names[kind];
}

/* ---- losses ---- */

static void count_losses(struct reader_losses *losses, enum reader_loss kind, uint64_t count,
			 const struct reader_place *place, const char *format, va_list arguments)
{
	char *first = losses->first[kind];
	size_t size = sizeof(losses->first[kind]);
	int used;

	losses->count[kind] += count;
	if (first[0])
		return;
	used = snprintf(first, size, "%.200s/%s.csv:", place->process, table_names[place->table]);
	if (place->line)
		used += snprintf(first + used, size - (size_t)used,
				 "%llu:", (unsigned long long)place->line);
	used += snprintf(first + used, size - (size_t)used, " ");
	vsnprintf(first + used, size - (size_t)used, format, arguments);
}

void reader_count_loss(struct reader_losses *losses, enum reader_loss kind,
		       const struct reader_place *place, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	count_losses(losses, kind, 1, place, format, arguments);
	va_end(arguments);
}

void reader_merge_losses(struct reader_losses *losses, const struct reader_losses *from)
{
	for (int kind = 0; kind < READER_LOSS_COUNT; kind++) {
		losses->count[kind] += from->count[kind];
		if (!losses->first[kind][0])
			memcpy(losses->first[kind], from->first[kind], sizeof(from->first[kind]));
	}
}

/* ---- numbers ---- */

/* Decimal digits only: 0, or -EINVAL for junk and -ERANGE when it is above limit. */
static int parse_unsigned(const char *text, size_t length, uint64_t limit, uint64_t *out)
{
	uint64_t value = 0;

	if (length == 0)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned char)text[i] - '0';

		if (digit > 9)
			return -EINVAL;
		/* 19 digits cannot overflow 64 bits */
		if (i >= 19 && (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
				__builtin_add_overflow(value, (uint64_t)digit, &value)))
			return -ERANGE;
		if (i < 19)
			value = value * 10 + digit;
	}
	*out = value;
	return value <= limit ? 0 : -ERANGE;
}

static int parse_signed(const char *text, size_t length, int64_t *out)
{
	bool is_negative = length > 0 && text[0] == '-';
	uint64_t magnitude;
	int rc = parse_unsigned(text + is_negative, length - is_negative, INT64_MAX, &magnitude);

	if (rc == 0)
		*out = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return rc;
}

/* ---- one file ---- */

struct reader {
	struct table_form form;
	struct reader_place place;
	struct reader_losses *losses;
	reader_row each;
	void *context;
	struct csv_parser csv;
	bool has_csv;
	char *buffer;
	int rc; /* first failure; libcsv cannot be stopped, so callbacks look at it */

	const struct table_column
		*columns[MAX_COLUMNS]; /* of the file, in its order; NULL: unknown */
	size_t column_count;
	bool has_header;
	bool is_foreign; /* the header names no column of the table: its rows say nothing */

	enum reader_way way;
	struct plain_column plain[MAX_COLUMNS]; /* as columns[] */
	bool is_plain;				/* all of them are whole numbers */
	bool is_line_begun; /* what comes next goes on with a line that libcsv has begun */

	union trace_row row;
	size_t field_count;  /* of the row so far */
	const char *problem; /* why the row cannot be used, NULL: it can */
	const char *problem_column;
	char *texts; /* the row's texts, each with its zero */
	size_t texts_used, texts_size;
	size_t text_at[MAX_COLUMNS]; /* by field: where its text begins */

	uint64_t finished_lines;
	uint64_t inner_lines; /* newlines inside the quotes of the row so far */
	bool after_return;    /* the last line ended with CR; a LF belongs to it */
};

static void *limited_realloc(void *memory, size_t size)
{
	return size <= FIELD_LIMIT_BYTES ? realloc(memory, size) : NULL;
}

static int reader_start_csv(struct reader *reader)
{
	if (reader->has_csv)
		csv_free(&reader->csv);
	reader->has_csv = false;
	if (csv_init(&reader->csv, CSV_REPALL_NL | CSV_APPEND_NULL))
		return -ENOMEM;
	csv_set_realloc_func(&reader->csv, limited_realloc);
	csv_set_blk_size(&reader->csv, FIELD_BLOCK_BYTES);
	reader->has_csv = true;
	return 0;
}

static void reader_begin_row(struct reader *reader)
{
	reader->field_count = 0;
	reader->problem = NULL;
	reader->texts_used = 0;
	reader->inner_lines = 0;
}

static void reader_reject_row(struct reader *reader, const char *problem, const char *column)
{
	if (reader->problem)
		return;
	reader->problem = problem;
	reader->problem_column = column;
}

static uint64_t count_byte(const char *text, size_t length, char byte)
{
	uint64_t count = 0;
	const char *end = text + length;

	while (length && (text = memchr(text, byte, (size_t)(end - text)))) {
		count++;
		if (++text == end)
			break;
	}
	return count;
}

static void reader_parse_header(struct reader *reader, const char *text, size_t length)
{
	const struct table_column *found = NULL;

	if (reader->field_count >= MAX_COLUMNS)
		return;
	for (size_t i = 0; i < reader->form.column_count; i++)
		if (strlen(reader->form.columns[i].name) == length &&
		    !memcmp(reader->form.columns[i].name, text, length))
			found = &reader->form.columns[i];
	reader->columns[reader->field_count++] = found;
}

static int reader_keep_text(struct reader *reader, const char *text, size_t length)
{
	size_t needed = reader->texts_used + length + 1;

	if (needed > reader->texts_size) {
		char *texts = realloc(reader->texts, needed * 2);

		if (!texts)
			return -ENOMEM;
		reader->texts = texts;
		reader->texts_size = needed * 2;
	}
	char *copy = reader->texts + reader->texts_used;

	for (size_t i = 0; i < length; i++)
		copy[i] = text[i] ? text[i] : '?'; /* counted as nul_bytes already */
	copy[length] = '\0';
	reader->text_at[reader->field_count] = reader->texts_used;
	reader->texts_used = needed;
	return 0;
}

/* How many leading bytes may stand in a decimal number. */
static size_t number_span(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] && strchr("0123456789+-.eE", text[count]))
		count++;
	return count;
}

/* A finite decimal number; -EINVAL for anything else.  strtod would read hexadecimal, nan and blanks. */
static int parse_fraction(const char *text, size_t length, double *value)
{
	char copy[64], *end;

	if (!length || length >= sizeof(copy) || number_span(text, length) != length)
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*value = strtod(copy, &end);
	if (*end)
		return -EINVAL;
	return isfinite(*value) ? 0 : -ERANGE;
}

static const char *not_a_number(enum column_type type)
{
	return type == COLUMN_f64 ? "is not a number" : "is not a whole number";
}

static void reader_parse_value(struct reader *reader, const struct table_column *column,
			       const char *text, size_t length)
{
	char *target = (char *)&reader->row + column->offset;
	uint64_t number = 0;
	int rc = 0;

	switch (column->type) {
	case COLUMN_i64:
		rc = parse_signed(text, length, (int64_t *)(void *)target);
		break;
	case COLUMN_u64:
		rc = parse_unsigned(text, length, UINT64_MAX, (uint64_t *)(void *)target);
		break;
	case COLUMN_u32:
		rc = parse_unsigned(text, length, UINT32_MAX, &number);
		*(uint32_t *)(void *)target = (uint32_t)number;
		break;
	case COLUMN_f64:
		rc = parse_fraction(text, length, (double *)(void *)target);
		break;
	case COLUMN_text:
		reader->inner_lines += count_byte(text, length, '\n');
		if (reader_keep_text(reader, text, length) < 0)
			reader->rc = -ENOMEM;
		return;
	}
	if (rc < 0)
		reader_reject_row(reader,
				  rc == -ERANGE
					  ? "is out of range"
					  : (length ? not_a_number(column->type) : "is empty"),
				  column->name);
}

/* libcsv calls this for every field. */
static void reader_add_field(void *data, size_t length, void *context)
{
	struct reader *reader = context;
	const struct table_column *column;

	if (reader->rc < 0)
		return;
	if (!reader->has_header) {
		reader_parse_header(reader, data ? data : "", length);
		return;
	}
	column = reader->field_count < reader->column_count ? reader->columns[reader->field_count]
							    : NULL;
	if (column)
		reader_parse_value(reader, column, data ? data : "", length);
	else
		reader->inner_lines += count_byte(data ? data : "", length, '\n');
	reader->field_count++;
}

/* Texts move while the row grows, so their addresses are filled in at its end. */
static void reader_place_texts(struct reader *reader)
{
	for (size_t i = 0; i < reader->column_count; i++) {
		const struct table_column *column = reader->columns[i];

		if (column && column->type == COLUMN_text)
			*(const char **)(void *)((char *)&reader->row + column->offset) =
				reader->texts + reader->text_at[i];
	}
}

static enum plain_type plain_type_of(const struct table_column *column)
{
	static const enum plain_type types[] = {
		[COLUMN_i64] = PLAIN_i64, [COLUMN_u64] = PLAIN_u64, [COLUMN_u32] = PLAIN_u32};

	return column ? types[column->type] : PLAIN_SKIPPED;
}

static void reader_plan_plain(struct reader *reader)
{
	reader->is_plain = reader->way != READER_CSV && !reader->is_foreign;
	for (size_t i = 0; i < reader->column_count; i++) {
		const struct table_column *column = reader->columns[i];

		if (column && (column->type == COLUMN_f64 || column->type == COLUMN_text)) {
			reader->is_plain = false;
			return;
		}
		reader->plain[i] =
			(struct plain_column){plain_type_of(column), column ? column->offset : 0};
	}
}

static void reader_finish_header(struct reader *reader)
{
	reader->column_count = reader->field_count;
	reader->has_header = true;
	reader->is_foreign = true;
	for (size_t i = 0; i < reader->column_count; i++)
		if (reader->columns[i])
			reader->is_foreign = false;
	if (reader->is_foreign)
		reader_count_loss(reader->losses, READER_unreadable_rows, &reader->place,
				  "the first line names no column of this table");
	reader_plan_plain(reader);
}

static void reader_finish_row(struct reader *reader)
{
	if (reader->is_foreign)
		return;
	if (reader->field_count != reader->column_count)
		reader_reject_row(reader, "the row has another number of fields than the header",
				  "");
	if (reader->problem) {
		reader_count_loss(reader->losses, READER_unreadable_rows, &reader->place, "%s%s%s",
				  reader->problem_column, *reader->problem_column ? " " : "",
				  reader->problem);
		return;
	}
	reader_place_texts(reader);
	reader->rc = reader->each(&reader->row, &reader->place, reader->context);
}

/* libcsv calls this at every CR and LF outside quotes, and with -1 for a last line without one. */
static void reader_end_line(int ending, void *context)
{
	struct reader *reader = context;

	if (reader->rc < 0)
		return;
	reader->is_line_begun = ending != '\n';
	if (ending == '\n' && reader->after_return && reader->field_count == 0) {
		reader->after_return = false;
		return;
	}
	reader->after_return = ending == '\r';
	reader->place.line = reader->finished_lines + 1;
	if (ending == -1)
		reader_count_loss(reader->losses, READER_cut_off_rows, &reader->place,
				  "the last line is cut off");
	else if (reader->field_count && !reader->has_header)
		reader_finish_header(reader);
	else if (reader->field_count)
		reader_finish_row(reader);
	reader->finished_lines += 1 + reader->inner_lines;
	reader_begin_row(reader);
}

/* A zero byte in a text is shown as '?', in a number it makes the row unreadable. */
static void reader_count_nul(struct reader *reader, const char *text, size_t length)
{
	const char *nul = length ? memchr(text, '\0', length) : NULL;
	uint64_t count;

	if (!nul)
		return;
	count = count_byte(text, length, '\0');
	reader->place.line =
		reader->finished_lines + 1 + count_byte(text, (size_t)(nul - text), '\n');
	reader_count_loss(reader->losses, READER_nul_bytes, &reader->place, "a zero byte");
	reader->losses->count[READER_nul_bytes] += count - 1;
}

/* The field in progress passed the limit: gives it up and goes on with a new line. */
static int reader_skip_field(struct reader *reader, const char *text, size_t length, size_t *used)
{
	const char *newline = memchr(text + *used, '\n', length - *used);

	reader->place.line = reader->finished_lines + 1;
	reader_count_loss(reader->losses, READER_unreadable_rows, &reader->place,
			  "a field longer than %zu MiB: is a closing quote missing?",
			  FIELD_LIMIT_BYTES >> 20);
	*used = newline ? (size_t)(newline - text) + 1 : length;
	reader_begin_row(reader);
	return reader_start_csv(reader);
}

static int reader_parse_csv(struct reader *reader, const char *text, size_t length)
{
	while (length > 0) {
		size_t used = csv_parse(&reader->csv, text, length, reader_add_field,
					reader_end_line, reader);

		if (reader->rc < 0)
			return reader->rc;
		if (used < length && reader_skip_field(reader, text, length, &used) < 0)
			return -ENOMEM;
		text += used;
		length -= used;
	}
	return 0;
}

/* Plain lines until one that is none; returns how long they are. */
static size_t reader_parse_plain(struct reader *reader, const char *text, size_t length)
{
	size_t used = 0, line;

	while (reader->rc == 0 &&
	       (line = plain_line_read(&reader->row, reader->plain, reader->column_count,
				       text + used, length - used))) {
		reader->place.line = ++reader->finished_lines;
		reader->rc = reader->each(&reader->row, &reader->place, reader->context);
		used += line;
	}
	return used;
}

/* Where lines may be plain those that are not go to libcsv one by one.  It is at the end of a line when it says so at the
 * newline with which its text ends. */
static int reader_parse(struct reader *reader, const char *text, size_t length)
{
	const char *end = text + length, *newline;
	int rc = 0;

	if (reader->has_header && !reader->is_plain)
		return reader_parse_csv(reader, text, length);
	while (rc == 0 && text < end) {
		if (reader->is_plain && !reader->is_line_begun)
			text += reader_parse_plain(reader, text, (size_t)(end - text));
		rc = reader->rc;
		if (rc < 0 || text == end)
			return rc;
		newline = memchr(text, '\n', (size_t)(end - text));
		length = (size_t)((newline ? newline + 1 : end) - text);
		reader->is_line_begun = true;
		rc = reader_parse_csv(reader, text, length);
		text += length;
	}
	return rc;
}

/* Whoever makes a table begins with its first line. */
static void reader_check_header(struct reader *reader, uint64_t cut_off_before)
{
	if (reader->has_header || reader->losses->count[READER_cut_off_rows] > cut_off_before)
		return;
	reader->place.line = 1;
	reader_count_loss(reader->losses, READER_missing_tables, &reader->place, READER_NO_HEADER);
}

/* Its rows hold where a line begins with it; what is behind them, or all of it, goes the usual way. */
static int reader_take_chunk(struct reader *reader, const struct chunk *chunk)
{
	const char *row = chunk->rows;
	size_t used = 0;

	if (!reader->is_line_begun) {
		for (size_t i = 0; i < chunk->row_count && reader->rc == 0; i++) {
			reader->place.line = ++reader->finished_lines;
			reader->rc =
				reader->each((const void *)row, &reader->place, reader->context);
			row += reader->form.row_bytes;
		}
		used = chunk->plain_length;
	}
	if (reader->rc < 0 || used == chunk->length)
		return reader->rc;
	reader_count_nul(reader, chunk->text + used, chunk->length - used);
	return reader_parse(reader, chunk->text + used, chunk->length - used);
}

static struct chunks *reader_open_chunks(const struct reader *reader,
					 const struct recording_table *bytes)
{
	bool is_test = reader->way == READER_SMALL_CHUNKS;
	size_t chunk_bytes = is_test ? 64 : CHUNK_BYTES;
	size_t thread_count = is_test ? CHUNK_THREADS : worker_cores(CHUNK_THREADS);
	struct chunks_source source = {.fd = bytes->fd,
				       .columns = reader->plain,
				       .column_count = reader->column_count,
				       .row = &reader->row,
				       .row_bytes = reader->form.row_bytes,
				       .beyond_bytes = sizeof(reader->row)};

	if (!reader->is_plain || thread_count < 2 ||
	    !recording_find_rest(bytes, &source.begin_byte, &source.end_byte) ||
	    (source.end_byte - source.begin_byte) / CHUNK_THREADS < (int64_t)chunk_bytes)
		return NULL;
	return chunks_open(&source, chunk_bytes, thread_count);
}

/* As much as several threads can read of a large table.  Without memory for that it is read by one. */
static int reader_read_chunks(struct reader *reader, struct recording_table *bytes)
{
	struct chunks *chunks = reader_open_chunks(reader, bytes);
	struct chunk chunk;
	int64_t end_byte;
	int rc = 0;

	while (rc == 0 && chunks && chunks_next(chunks, &chunk, &end_byte)) {
		rc = reader_take_chunk(reader, &chunk);
		if (rc == 0)
			rc = recording_seek_table(bytes, end_byte);
	}
	chunks_close(chunks);
	return rc;
}

static int reader_read_file(struct reader *reader, struct recording_table *bytes)
{
	uint64_t cut_off_before = reader->losses->count[READER_cut_off_rows];
	size_t read_bytes = reader->way == READER_SMALL_CHUNKS ? 80 : READ_BYTES;
	bool is_first = true;
	ssize_t length;
	int rc;

	while ((length = recording_read_table(bytes, reader->buffer, read_bytes)) != 0) {
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -errno;
		reader_count_nul(reader, reader->buffer, (size_t)length);
		rc = reader_parse(reader, reader->buffer, (size_t)length);
		if (rc == 0 && is_first) /* the header is known */
			rc = reader_read_chunks(reader, bytes);
		is_first = false;
		if (rc < 0)
			return rc;
	}
	csv_fini(&reader->csv, reader_add_field, reader_end_line, reader);
	reader_check_header(reader, cut_off_before);
	return reader->rc;
}

static struct reader *reader_create(const char *process, enum trace_table table)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->form = table_form_of(table);
	reader->place.process = process;
	reader->place.table = table;
	reader->buffer = malloc(READ_BYTES);
	/* texts of columns that the file lacks */
	for (size_t i = 0; i < reader->form.column_count; i++)
		if (reader->form.columns[i].type == COLUMN_text)
			*(const char **)(void *)((char *)&reader->row +
						 reader->form.columns[i].offset) = "";
	return reader;
}

static void reader_destroy(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->has_csv)
		csv_free(&reader->csv);
	free(reader->buffer);
	free(reader->texts);
	free(reader);
}

int reader_read_table_by(enum reader_way way, const struct recording_process *process,
			 enum trace_table table, reader_row each, void *context,
			 struct reader_losses *losses, struct err *err)
{
	struct recording_table bytes;
	struct reader *reader = NULL;
	int rc = recording_open_table(&bytes, process, table);

	if (rc < 0)
		return rc == -ENOENT ? rc
				     : err_set(err, rc, "%s/%s.csv: %s", process->path,
					       table_names[table], path_problem(rc));
	reader = reader_create(process->name, table);
	if (!reader || !reader->buffer || reader_start_csv(reader) < 0)
		rc = -ENOMEM;
	if (rc == 0) {
		reader->way = way;
		reader->losses = losses;
		reader->each = each;
		reader->context = context;
		rc = reader_read_file(reader, &bytes);
	}
	if (rc < 0)
		err_set(err, rc, "%s/%s.csv: %s", process->path, table_names[table], strerror(-rc));
	reader_destroy(reader);
	recording_close_table(&bytes);
	return rc;
}

int reader_read_table(const struct recording_process *process, enum trace_table table,
		      reader_row each, void *context, struct reader_losses *losses, struct err *err)
{
	return reader_read_table_by(READER_SHORT, process, table, each, context, losses, err);
}
