/* text_table.c - a section of plain rows for people. */
#include "output/page.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

static double number_of(const struct value *value)
{
	switch (value->type) {
	case VALUE_INTEGER:
		return (double)value->integer;
	case VALUE_COUNT:
		return (double)value->count;
	default:
		return value->real;
	}
}

/* Units stand at the end of names. */
static struct figure figure_of(const char *key, const struct value *value)
{
	static const struct figure unknown = {"-"};

	if (value->type == VALUE_NONE)
		return unknown;
	if (key && ends_with(key, "_ns"))
		return format_ns(number_of(value));
	if (key && ends_with(key, "byte_per_s"))
		return format_rate(number_of(value));
	if (key && ends_with(key, "bytes"))
		return format_bytes(number_of(value));
	return format_count(value->type == VALUE_COUNT ? value->count : (uint64_t)value->integer);
}

/* The value of that key, also within groups whose columns stand in the row itself. */
static bool find_value(const struct column *columns, const char *key, struct row *row,
		       const void *from, struct value *value)
{
	for (const struct column *column = columns; column->type; column++) {
		if (column->type == COLUMN_GROUP && !column->key &&
		    find_value(column->columns, key, row, column_base(column, row, from), value))
			return true;
		if (column->key && !strcmp(column->key, key)) {
			*value = column_value(column, row, from);
			return true;
		}
	}
	return false;
}

/* Texts of the first column have what a line is longer than usual. */
static int width_of(const struct page *page, const struct text_column *column, bool is_first)
{
	return is_first && column->width < 0 ? column->width - (int)(page_width(page) - PAGE_WIDTH)
					     : column->width;
}

static void put_cell(struct page *page, const struct section *section,
		     const struct text_column *column, struct row *row, bool is_first)
{
	struct value value = value_none();

	if (column->get)
		value = column->get(row, row->item);
	else
		(void)find_value(section->columns, column->key, row, row->item, &value);
	page->has_failed |= value.type == VALUE_FAILED;
	if (column->width < 0)
		page_text(page, value.type == VALUE_TEXT ? value.text : "-",
			  (size_t)-width_of(page, column, is_first));
	else
		fprintf(page->out, "%*s", column->width,
			value.type == VALUE_TEXT ? value.text
						 : figure_of(column->key, &value).text);
	value_free(&value);
}

static void put_heads(struct page *page, const struct text_column *columns)
{
	char heads[PAGE_WIDTH_MOST * 2] = " ";

	for (const struct text_column *column = columns; column->head; column++)
		snprintf(heads + strlen(heads), sizeof(heads) - strlen(heads), " %*s",
			 width_of(page, column, column == columns), column->head);
	page_heads(page, heads);
}

static size_t count_rows(const struct section *section, const struct row *root)
{
	size_t count = 0;

	while (section->at(root, count))
		count++;
	return count;
}

void page_table(struct page *page, const struct section *section, const char *note,
		const struct text_column *columns)
{
	struct row root = {.report = page->report, .options = page->options, .item = page->report};
	struct row row = {.report = page->report, .options = page->options, .parent = &root};
	size_t count = count_rows(section, &root), rows = page_rows(page, count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, section->title, note, rows, count);
	put_heads(page, columns);
	for (; row.index < rows; row.index++) {
		row.item = section_row(section, &root, row.index);
		for (const struct text_column *column = columns; column->head; column++) {
			fputs(column == columns ? "  " : " ", page->out);
			put_cell(page, section, column, &row, column == columns);
		}
		fputc('\n', page->out);
	}
}
