/* json.c - the whole report for programs.  Keys are stable: see columns.h, OUTPUT_SCHEMA. */
#include "output/json.h"

#include <jansson.h>

#include "base/json_builder.h"
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

static json_t *rows_of(struct json_builder *json, const struct section *ordered,
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
			json_builder_append(json, array,
					    json_incref(json_object_get(item, columns->key)));
		else
			json_builder_append(json, array, json_incref(item));
		json_decref(item);
	}
	return array;
}

static json_t *row_of(struct json_builder *json, const struct column *column, struct row *parent,
		      const void *from)
{
	json_t *object = json_object();
	struct row row = {.report = parent->report, .options = parent->options, .parent = parent};

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
				 rows_of(json, NULL, column->columns, column->at, row));
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

#define REPORT_FORM (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

static json_t *begin(struct json_builder *json)
{
	json_t *root = json_object();

	json_builder_put(json, root, "schema", json_integer(OUTPUT_SCHEMA));
	return root;
}

int json_write(const struct column *columns, const void *item, FILE *out, const char *what,
	       struct err *err)
{
	struct json_builder json = {0};
	struct row row = {.item = item};
	json_t *root = begin(&json);

	put_columns(&json, root, columns, &row, item);
	return json_builder_write(&json, root, out, REPORT_FORM, what, err);
}

static json_t *section_of(struct json_builder *json, const struct section *section,
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
	struct json_builder json = {0};
	json_t *root = begin(&json);

	json_builder_put(&json, root, "recording", json_builder_text(report->profile->path));
	json_builder_put(&json, root, "selection",
			 report->selection ? json_builder_text(report->selection) : json_null());
	json_builder_put(&json, root, "first_ns",
			 report->profile->op_count ? json_integer(report_first_ns(report))
						   : json_null());
	for (size_t i = 0; sections[i]; i++)
		if (section_is_wanted(sections[i], options))
			json_builder_put(&json, root, sections[i]->key,
					 section_of(&json, sections[i], report, options));
	return json_builder_write(&json, root, out, REPORT_FORM, "the report", err);
}
