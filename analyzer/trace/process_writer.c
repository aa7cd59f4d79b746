#define _GNU_SOURCE /* fwrite_unlocked */

#include "trace/process_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/groups.h"
#include "trace/table_form.h"

struct process_writer {
	char path[PATH_MAX];
	FILE *files[TRACE_TABLE_COUNT];
	struct groups names, signatures; /* ids are their numbers + 1 */
	int failure;
	char failed[PATH_MAX + 64]; /* the file that could not be written */
};

/* ---- failures ---- */

static void fail(struct process_writer *writer, int failure, enum trace_table table)
{
	if (writer->failure)
		return;
	writer->failure = failure ? failure : -EIO;
	snprintf(writer->failed, sizeof(writer->failed), "%s/%s.csv", writer->path,
		 table_form_of(table).name);
}

int process_writer_failure(const struct process_writer *writer, struct err *err)
{
	if (writer->failure)
		return err_set(err, writer->failure, "%s: could not be written: %s", writer->failed,
			       strerror(-writer->failure));
	return 0;
}

/* ---- rows ---- */

static void put_text(FILE *file, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, file);
		return;
	}
	putc_unlocked('"', file);
	for (; *text; text++) {
		if (*text == '"')
			putc_unlocked('"', file);
		putc_unlocked(*text, file);
	}
	putc_unlocked('"', file);
}

/* Ten times as fast as printf, which would be most of an import. */
static void put_number(FILE *file, uint64_t number)
{
	char digits[24];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	fwrite_unlocked(digits + first, 1, sizeof(digits) - first, file);
}

static void put_i64(FILE *file, int64_t number)
{
	if (number < 0)
		putc_unlocked('-', file);
	put_number(file, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void put_value(FILE *file, enum column_type type, const void *value)
{
	const char *text;

	switch (type) {
	case COLUMN_i64:
		put_i64(file, *(const trace_i64 *)value);
		break;
	case COLUMN_u64:
		put_number(file, *(const trace_u64 *)value);
		break;
	case COLUMN_u32:
		put_number(file, *(const trace_u32 *)value);
		break;
	case COLUMN_f64:
		fprintf(file, "%.17g", *(const trace_f64 *)value);
		break;
	case COLUMN_text:
		text = *(const trace_text *)value;
		put_text(file, text ? text : "");
		break;
	}
}

static FILE *open_table(struct process_writer *writer, enum trace_table table)
{
	struct table_form form = table_form_of(table);
	char path[PATH_MAX + 64];
	FILE *file;

	if (writer->files[table] || writer->failure)
		return writer->files[table];
	snprintf(path, sizeof(path), "%s/%s.csv", writer->path, form.name);
	file = fopen(path, "wxe");
	if (!file) {
		fail(writer, -errno, table);
		return NULL;
	}
	for (size_t i = 0; i < form.column_count; i++)
		fprintf(file, "%s%s", i ? "," : "", form.columns[i].name);
	putc('\n', file);
	return writer->files[table] = file;
}

void process_writer_add(struct process_writer *writer, enum trace_table table,
			const union trace_row *row)
{
	struct table_form form = table_form_of(table);
	FILE *file = open_table(writer, table);

	if (!file)
		return;
	errno = 0;
	for (size_t i = 0; i < form.column_count; i++) {
		if (i)
			putc_unlocked(',', file);
		put_value(file, form.columns[i].type, (const char *)row + form.columns[i].offset);
	}
	putc_unlocked('\n', file);
	if (ferror(file))
		fail(writer, -errno, table);
}

/* ---- what other rows refer to ---- */

void process_writer_fact(struct process_writer *writer, const char *key, const char *value)
{
	if (value && *value)
		process_writer_add(writer, TRACE_TABLE_process,
				   &(union trace_row){.process = {key, value}});
}

void process_writer_number(struct process_writer *writer, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	process_writer_fact(writer, key, text);
}

/* The id of a key; is_new: it has no row yet. */
static uint32_t find_id(struct process_writer *writer, struct groups *groups, const void *key,
			size_t size, bool *is_new)
{
	uint32_t known = groups->count, number;

	*is_new = false;
	if (groups_find(groups, key, size, &number) < 0) {
		fail(writer, -ENOMEM, TRACE_TABLE_names);
		return 0;
	}
	*is_new = number == known;
	return number + 1;
}

uint32_t process_writer_name(struct process_writer *writer, const char *text)
{
	bool is_new;
	uint32_t id;

	if (!text || !*text)
		return 0;
	id = find_id(writer, &writer->names, text, strlen(text), &is_new);
	if (is_new)
		process_writer_add(writer, TRACE_TABLE_names,
				   &(union trace_row){.names = {id, text}});
	return id;
}

uint32_t process_writer_signature(struct process_writer *writer,
				  const struct trace_signatures_row *signature)
{
	union trace_row row = {.signatures = *signature};
	bool is_new;

	row.signatures.id = 0;
	row.signatures.id = find_id(writer, &writer->signatures, &row.signatures,
				    sizeof(row.signatures), &is_new);
	if (is_new)
		process_writer_add(writer, TRACE_TABLE_signatures, &row);
	return row.signatures.id;
}

/* ---- open and close ---- */

int process_writer_open(struct process_writer **out, const char *path, struct err *err)
{
	struct process_writer *writer = *out = calloc(1, sizeof(*writer));

	if (!writer)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	if ((size_t)snprintf(writer->path, sizeof(writer->path), "%s", path) >=
	    sizeof(writer->path))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	if (mkdir(path, 0777) < 0)
		return err_set(err, -errno, "%s: cannot be made: %s", path, strerror(errno));
	return 0;
}

int process_writer_close(struct process_writer *writer, int rc, struct err *err)
{
	if (!writer)
		return rc;
	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		errno = 0;
		if (writer->files[table] && fclose(writer->files[table]))
			fail(writer, -errno, (enum trace_table)table);
	}
	if (rc == 0)
		rc = process_writer_failure(writer, err);
	groups_free(&writer->names);
	groups_free(&writer->signatures);
	free(writer);
	return rc;
}
