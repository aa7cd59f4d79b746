/* csv.c - one section as a table: the first line names the columns.  See columns.h, OUTPUT_SCHEMA. */
#include "output/csv.h"
#include "base/format.h"
#include "base/memory_file.h"
#include "output/outputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sheet {
	FILE *out;
	bool is_in_row;
	bool has_failed; /* memory ran out */
};

#define NAME_SIZE 128

static void separate(struct sheet *sheet)
{
	if (sheet->is_in_row)
		fputc(',', sheet->out);
	sheet->is_in_row = true;
}

static void end_row(struct sheet *sheet)
{
	fputc('\n', sheet->out);
	sheet->is_in_row = false;
}

/* ---- values ---- */

/* What begins so a spreadsheet runs: with an apostrophe in front it is a text.  A tab or an end of line would be passed
 * over there. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\n", *text);
}

/* One byte of a character, or a whole one; but for ends of lines and tabs no control character, and UTF-8 only. */
static size_t put_character(FILE *out, const char *text)
{
	size_t length = *text == '\n' || *text == '\t' ? 1 : format_character(text);

	if (*text == '"')
		fputs("\"\"", out);
	else if (length)
		(void)fwrite(text, 1, length, out);
	else
		fputc('?', out);
	return length ? length : 1;
}

static void put_text(FILE *out, const char *text)
{
	bool is_quoted = strpbrk(text, ",\"\n") || *text == ' ';

	if (is_quoted)
		fputc('"', out);
	if (is_formula(text))
		fputc('\'', out);
	while (*text)
		text += put_character(out, text);
	if (is_quoted)
		fputc('"', out);
}

/* One value as it stands in a field; of dimensions, the fields of all three. */
static void put_value(FILE *out, const struct value *value)
{
	switch (value->type) {
	case VALUE_TEXT:
		put_text(out, value->text);
		break;
	case VALUE_INTEGER:
		fprintf(out, "%" PRId64, value->integer);
		break;
	case VALUE_COUNT:
		fprintf(out, "%" PRIu64, value->count);
		break;
	case VALUE_REAL:
		fprintf(out, "%.15g", value->real);
		break;
	case VALUE_BOOL:
		fputs(value->is_true ? "1" : "0", out);
		break;
	case VALUE_DIMENSIONS:
		fprintf(out, "%u,%u,%u", value->dimensions[0], value->dimensions[1],
			value->dimensions[2]);
		break;
	default:
		break;
	}
}

static void put_field(struct sheet *sheet, const struct column *column, struct row *row,
		      const void *from)
{
	struct value value = column_value(column, row, from);

	separate(sheet);
	if (value.type == VALUE_NONE && column->type == COLUMN_DIMENSIONS)
		fputs(",,", sheet->out);
	sheet->has_failed |= value.type == VALUE_FAILED;
	put_value(sheet->out, &value);
	value_free(&value);
}

/* Entries of a list or map, one a line. */
static void put_entries(FILE *out, const struct column *column, const struct row *row,
			const void *from)
{
	struct entry entry;

	for (size_t i = 0; from && column->entry(row, from, i, &entry); i++) {
		if (i)
			fputc('\n', out);
		if (column->type == COLUMN_MAP)
			fprintf(out, "%s=", entry.key);
		if (entry.value.type == VALUE_TEXT)
			fputs(entry.value.text, out);
		else
			put_value(out, &entry.value);
	}
}

static void put_list(struct sheet *sheet, const struct column *column, struct row *row,
		     const void *from)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);
	char *text;

	separate(sheet);
	if (out)
		put_entries(out, column, row, column_base(column, row, from));
	text = out ? memory_file_close(&file) : NULL;
	if (text)
		put_text(sheet->out, text);
	else
		sheet->has_failed = true;
	free(text);
}

static bool is_left_out(const struct column *column)
{
	return column->type == COLUMN_ROW || column->type == COLUMN_ROWS;
}

static void put_fields(struct sheet *sheet, const struct column *columns, struct row *row,
		       const void *from)
{
	for (const struct column *column = columns; column->type; column++) {
		if (column->type == COLUMN_GROUP)
			put_fields(sheet, column->columns, row, column_base(column, row, from));
		else if (column->type == COLUMN_LIST || column->type == COLUMN_MAP)
			put_list(sheet, column, row, from);
		else if (!is_left_out(column))
			put_field(sheet, column, row, from);
	}
}

/* ---- heads ---- */

/* prefix: of the groups that the column stands in. */
static void put_head(struct sheet *sheet, const struct column *column, const char *prefix)
{
	const char *name = column->csv ? column->csv : column->key;
	int length = (int)strlen(prefix) - (*name == '\0');

	if (column->type != COLUMN_DIMENSIONS) {
		separate(sheet);
		fprintf(sheet->out, "%.*s%s", length, prefix, name);
		return;
	}
	for (const char *axis = "xyz"; *axis; axis++) {
		separate(sheet);
		fprintf(sheet->out, "%s%s_%c", prefix, name, *axis);
	}
}

static void put_heads(struct sheet *sheet, const struct column *columns, const char *prefix)
{
	for (const struct column *column = columns; column->type; column++) {
		char within[NAME_SIZE];

		if (column->type != COLUMN_GROUP && !is_left_out(column))
			put_head(sheet, column, prefix);
		if (column->type != COLUMN_GROUP)
			continue;
		if (column->csv || !column->key)
			snprintf(within, sizeof(within), "%s%s", prefix,
				 column->csv ? column->csv : "");
		else
			snprintf(within, sizeof(within), "%s%s_", prefix, column->key);
		put_heads(sheet, column->columns, within);
	}
}

/* Of a section in the order that was asked for, else of what at gives. */
static void put_table(struct sheet *sheet, const struct section *section,
		      const struct column *columns, row_function at, struct row *root)
{
	size_t top = root->options ? root->options->top : 0;
	struct row row = {.report = root->report, .options = root->options, .parent = root};

	put_heads(sheet, columns, "");
	end_row(sheet);
	for (; !top || row.index < top; row.index++) {
		row.item = section ? section_row(section, root, row.index) : at(root, row.index);
		if (!row.item)
			break;
		put_fields(sheet, columns, &row, row.item);
		end_row(sheet);
	}
}

static int finish(const struct sheet *sheet, const char *what, struct err *err)
{
	if (sheet->has_failed)
		return err_set(err, -ENOMEM, "out of memory for %s", what);
	if (fflush(sheet->out) || ferror(sheet->out))
		return err_set(err, -EIO, "%s could not be written: %s", what, strerror(errno));
	return 0;
}

int csv_table_write(const struct column *columns, row_function at, const void *item, FILE *out,
		    const char *what, struct err *err)
{
	struct sheet sheet = {.out = out};
	struct row root = {.item = item};

	put_table(&sheet, NULL, columns, at, &root);
	return finish(&sheet, what, err);
}

int output_csv(const struct report *report, FILE *out, const struct output_options *options,
	       struct err *err)
{
	struct sheet sheet = {.out = out};
	const struct section *section = options->sections ? options->sections[0] : &section_kernels;
	struct row root = {.report = section_report(section, report), .options = options};

	root.item = root.report;
	put_table(&sheet, section, section->columns, section->at, &root);
	return finish(&sheet, "the report", err);
}
