#include "output/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stable_sort.h"
#include "output/outputs.h"

#define NAME_SIZE 128
#define LIST_SIZE 640

/* ---- names ---- */

/* Called with every column that has one value, by the name that CSV gives it; true stops. */
typedef bool (*name_visitor)(void *context, const char *name, const struct column *column,
			     struct row *row, const void *from);

static bool visit_columns(const struct column *columns, const char *prefix, struct row *row,
			  const void *from, name_visitor visit, void *context)
{
	for (const struct column *column = columns; column->type; column++) {
		const char *own = column->csv ? column->csv : column->key;
		bool is_inline = !column->csv && column->type == COLUMN_GROUP;
		char name[NAME_SIZE];

		if (column->type == COLUMN_ROW || column->type == COLUMN_ROWS ||
		    column->type == COLUMN_LIST || column->type == COLUMN_MAP ||
		    column->type == COLUMN_DIMENSIONS)
			continue;
		if (is_inline && column->key)
			snprintf(name, sizeof(name), "%s%s_", prefix, column->key);
		else
			snprintf(name, sizeof(name), "%.*s%s",
				 (int)strlen(prefix) -
					 (own && !*own && column->type != COLUMN_GROUP && *prefix),
				 prefix, own ? own : "");
		if (column->type == COLUMN_GROUP) {
			const void *base = row ? column_base(column, row, from) : NULL;

			if (visit_columns(column->columns, name, row, base, visit, context))
				return true;
		} else if (visit(context, name, column, row, from)) {
			return true;
		}
	}
	return false;
}

struct wanted {
	const char *name;
	struct value value;
};

static bool take_value(void *context, const char *name, const struct column *column,
		       struct row *row, const void *from)
{
	struct wanted *wanted = context;

	if (strcmp(name, wanted->name))
		return false;
	if (row)
		wanted->value = column_value(column, row, from);
	return true;
}

static bool list_name(void *context, const char *name, const struct column *column, struct row *row,
		      const void *from)
{
	char *list = context;
	size_t used = strlen(list);

	(void)column;
	(void)row;
	(void)from;
	if (used + strlen(name) + sizeof(", ...") < LIST_SIZE)
		snprintf(list + used, LIST_SIZE - used, "%s%s", used ? ", " : "", name);
	else if (strcmp(list + used - 3, "..."))
		snprintf(list + used, LIST_SIZE - used, ", ...");
	return false;
}

static int fail_column(const struct section *section, const char *column, struct err *err)
{
	char list[LIST_SIZE] = "";

	(void)visit_columns(section->columns, "", NULL, NULL, list_name, list);
	return err_set(err, -EDOM, "section %s has no column '%s' to sort by; it has: %s",
		       section->key, column, list);
}

/* ---- rows ---- */

struct sorted_row {
	const void *item;
	struct value value;
};

static double number_of(const struct value *value)
{
	switch (value->type) {
	case VALUE_INTEGER:
		return (double)value->integer;
	case VALUE_COUNT:
		return (double)value->count;
	case VALUE_REAL:
		return value->real;
	case VALUE_BOOL:
		return value->is_true;
	default:
		return -INFINITY;
	}
}

static int compare_rows(const void *left, const void *right)
{
	const struct value *a = &((const struct sorted_row *)left)->value;
	const struct value *b = &((const struct sorted_row *)right)->value;
	double first = number_of(a), second = number_of(b);

	if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
		return strcmp(a->text, b->text);
	if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
		return (b->type == VALUE_TEXT) - (a->type == VALUE_TEXT);
	return (first < second) - (first > second);
}

/* A text may stand in the row's scratch, which the next row uses as well. */
static void keep_text(struct value *value)
{
	if (value->type == VALUE_TEXT && !value->owned) {
		value->owned = strdup(value->text);
		value->text = value->owned ? value->owned : "";
	}
}

static int fill(struct row_order *out, struct sorted_row *rows, struct row *root,
		const char *column)
{
	struct row row = {.report = root->report, .options = root->options, .parent = root};
	int rc;

	for (; row.index < out->count; row.index++) {
		struct wanted wanted = {.name = column};

		row.item = out->section->at(root, row.index);
		(void)visit_columns(out->section->columns, "", &row, row.item, take_value, &wanted);
		keep_text(&wanted.value);
		rows[row.index] = (struct sorted_row){row.item, wanted.value};
	}
	rc = stable_sort(rows, out->count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < out->count; i++) {
		out->items[i] = rows[i].item;
		value_free(&rows[i].value);
	}
	return rc;
}

int row_order_make(struct row_order *out, const struct section *section,
		   const struct report *report, const struct output_options *options,
		   const char *column, struct err *err)
{
	struct row root = {.report = section_report(section, report), .options = options};
	struct wanted wanted = {.name = column};
	struct sorted_row *rows;
	int rc;

	*out = (struct row_order){.section = section};
	root.item = root.report;
	if (section->object)
		return err_set(err, -EDOM, "section %s is no list of rows to sort", section->key);
	if (!visit_columns(section->columns, "", NULL, NULL, take_value, &wanted))
		return fail_column(section, column, err);
	while (section->at(&root, out->count))
		out->count++;
	rows = calloc(out->count + 1, sizeof(*rows));
	out->items = calloc(out->count + 1, sizeof(*out->items));
	rc = rows && out->items ? fill(out, rows, &root, column) : -ENOMEM;
	free(rows);
	return rc < 0 ? err_set(err, rc, "out of memory for the report") : 0;
}

void row_order_free(struct row_order *order)
{
	free(order->items);
	*order = (struct row_order){0};
}
