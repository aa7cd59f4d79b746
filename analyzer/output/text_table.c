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

static struct value cell_value(const struct section *section, const struct text_column *column,
			       struct row *row)
{
	struct value value = value_none();

	if (column->get)
		return column->get(row, row->item);
	(void)find_value(section->columns, column->key, row, row->item, &value);
	return value;
}

/* Texts of the first column have what a line is longer than usual, as far as they need it. */
static int first_width(const struct page *page, const struct section *section,
		       const struct text_column *first, const struct row *root, size_t rows)
{
	struct row row = {.report = page->report, .options = page->options, .parent = root};
	size_t least = (size_t)-first->width, most = least + page_width(page) - PAGE_WIDTH;
	size_t needed = least;

	if (first->width >= 0)
		return first->width;
	for (; row.index < rows && needed < most; row.index++) {
		struct value value;
		size_t length;

		row.item = section_row(section, root, row.index);
		value = cell_value(section, first, &row);
		length = value.type == VALUE_TEXT ? strlen(value.text) : 0;
		needed = length > needed ? length : needed;
		value_free(&value);
	}
	return -(int)(needed < most ? needed : most);
}

/* width: of the first column, which is not its own. */
static void put_cell(struct page *page, const struct section *section,
		     const struct text_column *column, struct row *row, int width)
{
	struct value value = cell_value(section, column, row);

	page->has_failed |= value.type == VALUE_FAILED;
	if (column->width < 0)
		page_text(page, value.type == VALUE_TEXT ? value.text : "-", (size_t)-width);
	else
		fprintf(page->out, "%*s", column->width,
			value.type == VALUE_TEXT ? value.text
						 : figure_of(column->key, &value).text);
	value_free(&value);
}

static void put_heads(struct page *page, const struct text_column *columns, int first)
{
	char heads[PAGE_WIDTH_MOST * 2] = " ";

	for (const struct text_column *column = columns; column->head; column++)
		snprintf(heads + strlen(heads), sizeof(heads) - strlen(heads), " %*s",
			 column == columns ? first : column->width, column->head);
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

	int first;

	if (!rows)
		return;
	first = first_width(page, section, columns, &root, rows);
	page_list_title(page, section->title, note, rows, count);
	put_heads(page, columns, first);
	for (; row.index < rows; row.index++) {
		row.item = section_row(section, &root, row.index);
		for (const struct text_column *column = columns; column->head; column++) {
			fputs(column == columns ? "  " : " ", page->out);
			put_cell(page, section, column, &row,
				 column == columns ? first : column->width);
		}
		fputc('\n', page->out);
	}
}
