/* json.c - the whole report for programs.  Keys are stable: see columns.h, OUTPUT_SCHEMA. */
#include "output/json.h"

#include <jansson.h>

#include "base/json_builder.h"
#include "base/json_stream.h"
#include "output/limit_text.h"
#include "output/outputs.h"

static json_t *dimensions_of(struct json_builder *json, const uint32_t dimensions[3])
{
	json_t *array = json_array();

	for (int i = 0; i < 3; i++)
		json_builder_append(json, array, json_integer(dimensions[i]));
	return array;
}

static json_t *json_of(struct json_builder *json, const struct value *value)
{
	switch (value->type) {
	case VALUE_TEXT:
		return json_builder_text(value->text);
	case VALUE_INTEGER:
		return json_integer(value->integer);
	case VALUE_COUNT:
		return json_integer(value->count > INT64_MAX ? INT64_MAX
							     : (json_int_t)value->count);
	case VALUE_REAL:
		return json_real(value->real);
	case VALUE_BOOL:
		return json_boolean(value->is_true);
	case VALUE_DIMENSIONS:
		return dimensions_of(json, value->dimensions);
	case VALUE_FAILED:
		return NULL;
	default:
		return json_null();
	}
}

/* ---- columns ---- */

static void put_columns(struct json_builder *json, json_t *object, const struct column *columns,
			struct row *row, const void *from);

static void put_value(struct json_builder *json, json_t *object, const struct column *column,
		      struct row *row, const void *from)
{
	struct value value = column_value(column, row, from);

	json_builder_put(json, object, column->key, json_of(json, &value));
	value_free(&value);
}

/* Of a section's own list in the order that was asked for. */
static const void *row_at(const struct section *section, row_function at, const struct row *parent,
			  size_t index)
{
	return section ? section_row(section, parent, index) : at(parent, index);
}

/* There was no memory for it; the rows end there. */
static json_t *failed_row(struct json_builder *json)
{
	json->has_failed = true;
	return NULL;
}

/* The next row: an object, or the value of its one column; NULL after the last. */
static json_t *next_row(struct json_builder *json, const struct section *ordered,
			const struct column *columns, row_function at, struct row *row)
{
	size_t top = row->options ? row->options->top : 0;
	json_t *object, *value;

	row->item = top && row->index >= top ? NULL : row_at(ordered, at, row->parent, row->index);
	if (!row->item)
		return NULL;
	object = json_object();
	put_columns(json, object, columns, row, row->item);
	row->index++;
	if (!object || !ordered || !ordered->is_plain)
		return object ? object : failed_row(json);
	value = json_incref(json_object_get(object, columns->key));
	json_decref(object);
	return value ? value : failed_row(json);
}

static struct row first_row(const struct row *parent)
{
	return (struct row){.report = parent->report, .options = parent->options, .parent = parent};
}

static json_t *rows_of(struct json_builder *json, const struct column *columns, row_function at,
		       const struct row *parent)
{
	json_t *array = json_array(), *item;
	struct row row = first_row(parent);

	while ((item = next_row(json, NULL, columns, at, &row)))
		json_builder_append(json, array, item);
	return array;
}

static json_t *row_of(struct json_builder *json, const struct column *column, struct row *parent,
		      const void *from)
{
	json_t *object = json_object();
	struct row row = first_row(parent);

	row.item = column_base(column, parent, from);
	put_columns(json, object, column->columns, &row, row.item);
	return object;
}

static void put_list(struct json_builder *json, json_t *object, const struct column *column,
		     struct row *row, const void *from)
{
	json_t *array = json_array();
	struct entry entry;

	for (size_t i = 0; from && column->entry(row, from, i, &entry); i++)
		json_builder_append(json, array, json_of(json, &entry.value));
	json_builder_put(json, object, column->key, array);
}

/* Of a map without a key the entries stand in the object itself. */
static void put_map(struct json_builder *json, json_t *object, const struct column *column,
		    struct row *row, const void *from)
{
	json_t *map = column->key ? json_object() : object;
	struct entry entry;

	for (size_t i = 0; from && column->entry(row, from, i, &entry); i++)
		json_builder_put(json, map, entry.key, json_of(json, &entry.value));
	if (column->key)
		json_builder_put(json, object, column->key, map);
}

static void put_group(struct json_builder *json, json_t *object, const struct column *column,
		      struct row *row, const void *from)
{
	json_t *group = column->key ? json_object() : object;

	put_columns(json, group, column->columns, row, from);
	if (column->key)
		json_builder_put(json, object, column->key, group);
}

static void put_column(struct json_builder *json, json_t *object, const struct column *column,
		       struct row *row, const void *from)
{
	switch (column->type) {
	case COLUMN_GROUP:
		put_group(json, object, column, row, column_base(column, row, from));
		break;
	case COLUMN_LIST:
		put_list(json, object, column, row, column_base(column, row, from));
		break;
	case COLUMN_MAP:
		put_map(json, object, column, row, column_base(column, row, from));
		break;
	case COLUMN_ROW:
		json_builder_put(json, object, column->key, row_of(json, column, row, from));
		break;
	case COLUMN_ROWS:
		json_builder_put(json, object, column->key,
				 rows_of(json, column->columns, column->at, row));
		break;
	default:
		put_value(json, object, column, row, from);
	}
}

static void put_columns(struct json_builder *json, json_t *object, const struct column *columns,
			struct row *row, const void *from)
{
	for (const struct column *column = columns; column->type; column++)
		put_column(json, object, column, row, from);
}

/* ---- whole documents ---- */

#define REPORT_FORM JSON_REAL_PRECISION(15)

/* A document as it is written: only what is at hand of it is in memory, as rows may be any number. */
struct document {
	struct json_stream stream;
	struct json_builder piece; /* what failed of a piece that is made */
};

static void begin(struct document *document, FILE *out)
{
	*document = (struct document){0};
	json_stream_open(&document->stream, out, REPORT_FORM);
	json_stream_begin(&document->stream, NULL, '{');
	json_stream_put(&document->stream, "schema", json_integer(OUTPUT_SCHEMA));
}

static int end(struct document *document, const char *what, struct err *err)
{
	json_stream_end(&document->stream, '}');
	return json_stream_close(&document->stream, what, err);
}

/* Of a piece of which something is missing nothing is written. */
static void write_piece(struct document *document, const char *key, json_t *piece)
{
	if (document->piece.has_failed) {
		json_decref(piece);
		piece = NULL;
	}
	json_stream_put(&document->stream, key, piece);
}

static void write_rows(struct document *document, const char *key, const struct section *ordered,
		       const struct column *columns, row_function at, const struct row *parent)
{
	struct row row = first_row(parent);
	json_t *item;

	json_stream_begin(&document->stream, key, '[');
	while (document->stream.rc == 0 &&
	       (item = next_row(&document->piece, ordered, columns, at, &row)))
		write_piece(document, NULL, item);
	if (document->piece.has_failed)
		write_piece(document, NULL, NULL);
	json_stream_end(&document->stream, ']');
}

static void write_columns(struct document *document, const struct column *columns, struct row *row)
{
	for (const struct column *column = columns; column->type; column++) {
		json_t *members, *value;
		const char *key;

		if (column->type == COLUMN_ROWS) {
			write_rows(document, column->key, NULL, column->columns, column->at, row);
			continue;
		}
		members = json_object();
		put_column(&document->piece, members, column, row, row->item);
		if (document->piece.has_failed)
			write_piece(document, column->key, NULL);
		json_object_foreach(members, key, value)
			write_piece(document, key, json_incref(value));
		json_decref(members);
	}
}

int json_write(const struct column *columns, const void *item, FILE *out, const char *what,
	       struct err *err)
{
	struct document document;
	struct row row = {.item = item};

	begin(&document, out);
	write_columns(&document, columns, &row);
	return end(&document, what, err);
}

/* How many rows --top left out, by section: nothing is cut without a word. */
static json_t *left_out(struct json_builder *json, const struct report *report,
			const struct output_options *options)
{
	json_t *object = json_object();

	for (size_t i = 0; sections[i]; i++) {
		size_t count = section_is_wanted(sections[i], options)
				       ? section_left_out(sections[i], report, options)
				       : 0;

		if (count)
			json_builder_put(json, object, sections[i]->key,
					 json_integer((json_int_t)count));
	}
	return object;
}

/* By section that has no row: why. */
static json_t *why_empty(struct json_builder *json, const struct report *report,
			 const struct output_options *options)
{
	json_t *object = json_object();

	for (size_t i = 0; sections[i]; i++) {
		const struct report *from = section_report(sections[i], report);
		const struct row root = {.report = from, .options = options, .item = from};
		struct sentence why;

		if (!section_is_wanted(sections[i], options) || sections[i]->at(&root, 0))
			continue;
		why = section_why_empty(sections[i], from);
		if (*why.text)
			json_builder_put(json, object, sections[i]->key,
					 json_builder_text(why.text));
	}
	return object;
}

static void write_section(struct document *document, const struct section *section,
			  const struct report *report, const struct output_options *options)
{
	const struct report *from = section_report(section, report);
	struct row root = {.report = from, .options = options, .item = from};

	if (!section->object) {
		write_rows(document, section->key, section, section->columns, section->at, &root);
		return;
	}
	json_stream_begin(&document->stream, section->key, '{');
	write_columns(document, section->object, &root);
	json_stream_end(&document->stream, '}');
}

int output_json(const struct report *report, FILE *out, const struct output_options *options,
		struct err *err)
{
	struct document document;

	begin(&document, out);
	json_stream_put(&document.stream, "recording", json_builder_text(report->profile->path));
	json_stream_put(&document.stream, "selection",
			report->part.sentence ? json_builder_text(report->part.sentence)
					      : json_null());
	json_stream_put(&document.stream, "first_ns",
			report->profile->op_count ? json_integer(report->profile->window.first_ns)
						  : json_null());
	for (size_t i = 0; sections[i]; i++)
		if (section_is_wanted(sections[i], options))
			write_section(&document, sections[i], report, options);
	write_piece(&document, "empty", why_empty(&document.piece, report, options));
	if (options->top)
		write_piece(&document, "left_out", left_out(&document.piece, report, options));
	return end(&document, "the report", err);
}
