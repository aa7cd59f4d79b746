#include "exchange/import/csv_rows.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "exchange/import/plain_file.h"

#define ROW_LIMIT_BYTES \
	((size_t)64 * 1024 * 1024) /* a lost quote would swallow the rest of the file */

/* Fields behind each other in bytes, each ended by a zero. */
struct fields {
	size_t *places;
	size_t place_capacity, count;
	char *bytes;
	size_t byte_capacity, byte_count;
};

struct csv_row {
	struct fields names, fields;
};

struct csv_reader {
	struct csv_row row;
	const char *first_column;
	csv_row_taker each;
	void *context;
	uint64_t line;
	bool has_names;
	int rc;
};

/* ---- rows ---- */

static int add_field(struct fields *fields, const char *text, size_t length)
{
	size_t *place = ARRAY_NEXT(fields->places, fields->place_capacity, fields->count);
	char *bytes;

	if (fields->byte_count + length > ROW_LIMIT_BYTES)
		return -EFBIG;
	bytes = array_reserve(fields->bytes, &fields->byte_capacity,
			      fields->byte_count + length + 1, 1);
	if (!place || !bytes)
		return -ENOMEM;
	fields->bytes = bytes;
	*place = fields->byte_count;
	memcpy(bytes + fields->byte_count, text, length);
	bytes[fields->byte_count + length] = '\0';
	fields->byte_count += length + 1;
	fields->count++;
	return 0;
}

static const char *text_of(const struct fields *fields, size_t index)
{
	return fields->bytes + fields->places[index];
}

size_t csv_row_count(const struct csv_row *row)
{
	return row->names.count;
}

const char *csv_row_name(const struct csv_row *row, size_t column)
{
	return text_of(&row->names, column);
}

const char *csv_row_text(const struct csv_row *row, size_t column)
{
	return text_of(&row->fields, column);
}

const char *csv_row_find(const struct csv_row *row, const char *name)
{
	for (size_t i = 0; i < row->names.count; i++)
		if (!strcasecmp(text_of(&row->names, i), name))
			return text_of(&row->fields, i);
	return NULL;
}

bool csv_row_has_number(const struct csv_row *row, const char *name)
{
	const char *text = csv_row_find(row, name);
	char *end;

	if (!text)
		return false;
	(void)strtoll(text, &end, 10);
	return end > text && !*end;
}

int64_t csv_row_number(const struct csv_row *row, const char *name)
{
	const char *text = csv_row_find(row, name);

	return text ? strtoll(text, NULL, 10) : 0;
}

/* ---- what libcsv calls ---- */

static void on_field(void *text, size_t length, void *context)
{
	struct csv_reader *reader = context;

	if (reader->rc == 0)
		reader->rc = add_field(&reader->row.fields, text ? text : "", length);
}

/* Nsight Compute leaves out the columns of its rules in rows of metrics, and ends them with a comma. */
static bool ends_early(const struct csv_row *row)
{
	bool has_rules = false;

	for (size_t i = 0; !has_rules && i < row->names.count; i++)
		has_rules = !strcmp(text_of(&row->names, i), "Rule Name");
	return has_rules && row->fields.count < row->names.count && row->fields.count > 1 &&
	       !*text_of(&row->fields, row->fields.count - 1);
}

static int pad(struct csv_row *row)
{
	int rc = 0;

	while (rc == 0 && row->fields.count < row->names.count)
		rc = add_field(&row->fields, "", 0);
	return rc;
}

static int take_row(struct csv_reader *reader)
{
	struct csv_row *row = &reader->row;
	int rc = 0;

	if (!row->fields.count)
		return 0;
	if (!reader->has_names) {
		if (!reader->first_column ||
		    !strcmp(text_of(&row->fields, 0), reader->first_column)) {
			row->names = row->fields;
			row->fields = (struct fields){0};
			reader->has_names = true;
		}
		return 0;
	}
	if (!strncmp(text_of(&row->fields, 0), "==", 2))
		return 0;
	if (reader->first_column && ends_early(row))
		rc = pad(row);
	if (rc < 0)
		return rc;
	return row->fields.count == row->names.count ? reader->each(row, reader->context)
						     : -EBADMSG;
}

static void on_row(int end, void *context)
{
	struct csv_reader *reader = context;

	(void)end;
	if (reader->rc == 0) {
		reader->line++;
		reader->rc = take_row(reader);
	}
	reader->row.fields.count = reader->row.fields.byte_count = 0;
}

/* ---- the file ---- */

static int describe(const struct csv_reader *reader, const char *path, int rc, struct err *err)
{
	if (rc == -EBADMSG)
		return err_set(err, -EINVAL,
			       "%s: row %llu has another number of fields than the first: damaged "
			       "or cut off",
			       path, (unsigned long long)reader->line);
	return err_set(err, rc, "%s: %s", path, strerror(-rc));
}

static int parse(struct csv_reader *reader, struct csv_parser *parser, const char *path,
		 struct err *err)
{
	struct plain_file *file;
	const void *bytes;
	size_t size;
	int rc = plain_file_open(&file, path, err);

	while (rc == 0 && (rc = plain_file_next(file, &bytes, &size, err)) > 0) {
		csv_parse(parser, bytes, size, on_field, on_row, reader);
		rc = reader->rc;
	}
	plain_file_close(file);
	if (rc == 0) {
		if (csv_fini(parser, on_field, on_row, reader) && reader->rc == 0)
			return err_set(err, -EINVAL,
				       "%s: row %llu ends within quotes: damaged or cut off", path,
				       (unsigned long long)reader->line + 1);
		rc = reader->rc;
	}
	return rc < 0 ? describe(reader, path, rc, err) : 0;
}

int csv_rows_read(const char *path, const char *first_column, csv_row_taker each, void *context,
		  struct err *err)
{
	struct csv_reader reader = {.first_column = first_column, .each = each, .context = context};
	struct csv_parser parser;
	int rc;

	if (csv_init(&parser, CSV_STRICT_FINI))
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	rc = parse(&reader, &parser, path, err);
	csv_free(&parser);
	free(reader.row.names.places);
	free(reader.row.names.bytes);
	free(reader.row.fields.places);
	free(reader.row.fields.bytes);
	return rc;
}
