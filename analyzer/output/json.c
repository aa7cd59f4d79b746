/* json.c - the whole report for programs.  Keys are stable: see columns.h, OUTPUT_SCHEMA. */
#include "output/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "output/outputs.h"

/* Everything that jansson gives comes through put() and append(), so that a call which found no
 * memory is noticed there, and told once at the end. */
struct json {
	json_t *root;
	bool has_failed;
};

static void put(struct json *json, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		json->has_failed = true;
}

static void append(struct json *json, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		json->has_failed = true;
}

/* ---- values ---- */

/* JSON is UTF-8; a name that is not (file names, foreign code pages) keeps its ASCII part. */
static json_t *text_of(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value || !(copy = strdup(text)))
		return value;
	for (char *byte = copy; *byte; byte++)
		if ((unsigned char)*byte >= 0x80)
			*byte = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static json_t *dimensions_of(struct json *json, const uint32_t dimensions[3])
{
	json_t *array = json_array();

	for (int i = 0; i < 3; i++)
		append(json, array, json_integer(dimensions[i]));
	return array;
}

static json_t *json_of(struct json *json, const struct value *value)
{
	switch (value->type) {
	case VALUE_TEXT:
		return text_of(value->text);
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
	default:
		return json_null();
	}
}

/* ---- columns ---- */

static void put_columns(struct json *json, json_t *object, const struct column *columns,
			struct row *row, const void *from);

static void put_value(struct json *json, json_t *object, const struct column *column,
		      struct row *row, const void *from)
{
	struct value value = column_value(column, row, from);

	put(json, object, column->key, json_of(json, &value));
	value_free(&value);
}

/* Of a section's own list in the order that was asked for. */
static const void *row_at(const struct section *section, row_function at, const struct row *parent,
			  size_t index)
{
	return section ? section_row(section, parent, index) : at(parent, index);
}

static json_t *rows_of(struct json *json, const struct section *ordered,
		       const struct column *columns, row_function at, const struct row *parent)
{
	bool is_plain = ordered && ordered->is_plain;
	size_t top = parent->options ? parent->options->top : 0;
	json_t *array = json_array();
	struct row row = {.report = parent->report, .options = parent->options, .parent = parent};

	for (; (!top || row.index < top) && (row.item = row_at(ordered, at, parent, row.index));
	     row.index++) {
		json_t *item = json_object();

		put_columns(json, item, columns, &row, row.item);
		if (is_plain)
			append(json, array, json_incref(json_object_get(item, columns->key)));
		else
			append(json, array, json_incref(item));
		json_decref(item);
	}
	return array;
}

static json_t *row_of(struct json *json, const struct column *column, struct row *parent,
		      const void *from)
{
	json_t *object = json_object();
	struct row row = {.report = parent->report, .options = parent->options, .parent = parent};

	row.item = column_base(column, parent, from);
	put_columns(json, object, column->columns, &row, row.item);
	return object;
}

static void put_list(struct json *json, json_t *object, const struct column *column,
		     struct row *row, const void *from)
{
	json_t *array = json_array();
	struct entry entry;

	for (size_t i = 0; from && column->entry(row, from, i, &entry); i++)
		append(json, array, json_of(json, &entry.value));
	put(json, object, column->key, array);
}

/* Of a map without a key the entries stand in the object itself. */
static void put_map(struct json *json, json_t *object, const struct column *column, struct row *row,
		    const void *from)
{
	json_t *map = column->key ? json_object() : object;
	struct entry entry;

	for (size_t i = 0; from && column->entry(row, from, i, &entry); i++)
		put(json, map, entry.key, json_of(json, &entry.value));
	if (column->key)
		put(json, object, column->key, map);
}

static void put_group(struct json *json, json_t *object, const struct column *column,
		      struct row *row, const void *from)
{
	json_t *group = column->key ? json_object() : object;

	put_columns(json, group, column->columns, row, from);
	if (column->key)
		put(json, object, column->key, group);
}

static void put_column(struct json *json, json_t *object, const struct column *column,
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
		put(json, object, column->key, row_of(json, column, row, from));
		break;
	case COLUMN_ROWS:
		put(json, object, column->key,
		    rows_of(json, NULL, column->columns, column->at, row));
		break;
	default:
		put_value(json, object, column, row, from);
	}
}

static void put_columns(struct json *json, json_t *object, const struct column *columns,
			struct row *row, const void *from)
{
	for (const struct column *column = columns; column->type; column++)
		put_column(json, object, column, row, from);
}

/* ---- whole documents ---- */

static void begin(struct json *json)
{
	json->root = json_object();
	put(json, json->root, "schema", json_integer(OUTPUT_SCHEMA));
}

/* Writes it and lets go of it.  What is written needs memory, too. */
static int finish(struct json *json, FILE *out, const char *what, struct err *err)
{
	bool is_written =
		!json->has_failed &&
		json_dumpf(json->root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
		fputc('\n', out) != EOF && fflush(out) == 0;

	json_decref(json->root);
	if (is_written)
		return 0;
	if (!ferror(out))
		return err_set(err, -ENOMEM, "out of memory for %s", what);
	return err_set(err, -EIO, "%s could not be written: %s", what, strerror(errno));
}

int json_write(const struct column *columns, const void *item, FILE *out, const char *what,
	       struct err *err)
{
	struct json json = {0};
	struct row row = {.item = item};

	begin(&json);
	put_columns(&json, json.root, columns, &row, item);
	return finish(&json, out, what, err);
}

static json_t *section_of(struct json *json, const struct section *section,
			  const struct report *report, const struct output_options *options)
{
	const struct report *from = section_report(section, report);
	struct row root = {.report = from, .options = options, .item = from};
	json_t *object;

	if (!section->object)
		return rows_of(json, section, section->columns, section->at, &root);
	object = json_object();
	put_columns(json, object, section->object, &root, root.item);
	return object;
}

int output_json(const struct report *report, FILE *out, const struct output_options *options,
		struct err *err)
{
	struct json json = {0};

	begin(&json);
	put(&json, json.root, "recording", text_of(report->profile->path));
	put(&json, json.root, "selection",
	    report->selection ? text_of(report->selection) : json_null());
	put(&json, json.root, "first_ns",
	    report->profile->op_count ? json_integer(report_first_ns(report)) : json_null());
	for (size_t i = 0; sections[i]; i++)
		if (section_is_wanted(sections[i], options))
			put(&json, json.root, sections[i]->key,
			    section_of(&json, sections[i], report, options));
	return finish(&json, out, "the report", err);
}
