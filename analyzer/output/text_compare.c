/* text_compare.c - a comparison of two or more sides for people. */
#include "output/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/kernel_labels.h"
#include "output/page.h"

#define FIGURE_WIDTH 10
#define CHANGE_WIDTH 11
#define LEAST_LABEL 24

struct compare_page {
	struct page page;
	const struct sides *sides;
	size_t label_width;
	bool is_folded; /* figures stand below what they are of */
};

struct side_letter side_letter(size_t side)
{
	struct side_letter letter;

	if (side < 26)
		snprintf(letter.text, sizeof(letter.text), "%c", (char)('A' + side));
	else
		snprintf(letter.text, sizeof(letter.text), "%zu", side + 1);
	return letter;
}

/* ---- figures ---- */

static struct figure figure_of(const struct side_value *value, enum measure_unit unit)
{
	struct figure figure = {"-"};

	if (!value->repeat_count)
		return figure;
	if (unit == UNIT_NS)
		return format_ns(value->value);
	if (unit == UNIT_BYTES)
		return format_bytes(value->value);
	if (unit == UNIT_BYTE_PER_S)
		return format_rate(value->value);
	if (value->value == floor(value->value) && value->value < 1e15)
		return format_count((uint64_t)value->value);
	snprintf(figure.text, sizeof(figure.text), "%.4g", value->value);
	return figure;
}

/* Of an iteration: of as much work as one of the first side does. */
static struct figure figure_at(const struct sides *sides, const struct side_row *row, size_t side)
{
	struct side_value value = row->values[side];
	double factor = row->what.group == MEASURE_STEADY ? sides_steady_factor(sides, side) : 1;

	if (factor > 0)
		value.value *= factor;
	return figure_of(&value, row->what.unit);
}

/* "+12.3% ~" */
static struct figure change_of(const struct side_value *value)
{
	static const char *const words[CHANGE_COUNT] = {[CHANGE_NONE] = "-  ",
							[CHANGE_EQUAL] = "=  ",
							[CHANGE_APPEARED] = "new  ",
							[CHANGE_DISAPPEARED] = "gone  "};
	const char *mark = value->change == CHANGE_NOISE    ? " ~"
			   : value->change == CHANGE_UNSURE ? " ?"
							    : "  ";
	struct figure figure;

	if (words[value->change])
		snprintf(figure.text, sizeof(figure.text), "%s", words[value->change]);
	else if (isnan(value->ratio))
		snprintf(figure.text, sizeof(figure.text), "from 0%s", mark);
	else if (value->ratio >= 1000)
		snprintf(figure.text, sizeof(figure.text),
			 value->ratio < 1e6 ? "%.0fx%s" : "%.0ex%s", value->ratio, mark);
	else if (value->ratio >= 10)
		snprintf(figure.text, sizeof(figure.text), "%.3gx%s", value->ratio, mark);
	else
		snprintf(figure.text, sizeof(figure.text), "%+.1f%%%s", 100 * (value->ratio - 1),
			 mark);
	return figure;
}

static void put_figures(struct compare_page *page, const char *label, const struct side_row *row)
{
	char line[512];
	size_t used = 0;

	fputs("  ", page->page.out);
	page_text(&page->page, label, page->label_width);
	if (page->is_folded)
		fprintf(page->page.out, "\n  ");
	for (size_t i = 0; i < page->sides->count && used < sizeof(line) - 64; i++) {
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%*s", FIGURE_WIDTH,
					 figure_at(page->sides, row, i).text);
		if (i)
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%*s",
						 CHANGE_WIDTH, change_of(&row->values[i]).text);
	}
	while (used > 0 && line[used - 1] == ' ')
		used--;
	fprintf(page->page.out, "%.*s\n", (int)used, line);
}

static void put_heads(struct compare_page *page)
{
	char heads[256];
	int used = snprintf(heads, sizeof(heads), "  %*s",
			    page->is_folded ? 0 : (int)page->label_width, "");

	for (size_t i = 0; i < page->sides->count && used < (int)sizeof(heads) - 32; i++)
		used += snprintf(heads + used, sizeof(heads) - (size_t)used, i ? "%*s%*s" : "%*s",
				 FIGURE_WIDTH, side_letter(i).text, CHANGE_WIDTH, "change  ");
	while (used > 0 && heads[used - 1] == ' ')
		heads[--used] = '\0';
	page_heads(&page->page, heads);
}

/* ---- items: a kernel with its time, launches and median ---- */

static size_t end_of_item(const struct sides *sides, size_t first)
{
	size_t end = first;

	while (end < sides->row_count && sides->rows[end].item == sides->rows[first].item)
		end++;
	return end;
}

static size_t end_of_group(const struct sides *sides, size_t first)
{
	size_t end = first;

	while (end < sides->row_count &&
	       sides->rows[end].what.group == sides->rows[first].what.group)
		end++;
	return end;
}

/* A name with one shape on all sides is told once. */
static bool is_only_shape(const struct sides *sides, size_t row, size_t first, size_t end)
{
	const struct measure *what = &sides->rows[row].what;
	size_t count = 0;

	if (what->group != MEASURE_KERNELS || !*what->shape)
		return false;
	for (size_t i = first; i < end; i = end_of_item(sides, i))
		count +=
			*sides->rows[i].what.shape && !strcmp(sides->rows[i].what.name, what->name);
	return count == 1;
}

static bool is_of_kernel(const struct measure *what)
{
	return what->group == MEASURE_KERNELS || what->group == MEASURE_COUNTERS;
}

static void name_item(const struct compare_page *page, const struct measure *what, size_t columns,
		      char *buffer, size_t size)
{
	size_t width = page->page.options->wide ? size / 4 - 1 : columns;
	size_t shape_width = strlen(what->shape) + 2;

	if (*what->shape)
		width = width > shape_width + 20 ? width - shape_width : 20;
	if (is_of_kernel(what))
		format_text(buffer, size,
			    page->page.options->wide
				    ? what->name
				    : kernel_label(page->page.kernel_labels, what->name,
						   kernel_label_within(width)),
			    width);
	else
		format_text(buffer, size, what->name, width);
	if (*what->shape)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), ", %s", what->shape);
}

/* The first figure always; else what is not equal, but for the median of a single one, which is the first again. */
static bool is_told(const struct sides *sides, const struct side_row *rows, size_t index,
		    size_t first)
{
	bool is_equal = true, is_single = !strcmp(rows[index].what.quantity, "median");

	for (size_t i = 1; i < sides->count; i++)
		is_equal &= rows[index].values[i].change == CHANGE_EQUAL;
	for (size_t i = 0; i < sides->count; i++)
		is_single &= rows[index].values[i].value == rows[first].values[i].value;
	return index == first || !(is_equal || is_single);
}

/* Of what only some sides have one figure says enough. */
static bool is_on_all(const struct sides *sides, const struct side_row *row)
{
	for (size_t i = 0; i < sides->count; i++)
		if (!row->values[i].repeat_count)
			return false;
	return true;
}

#define NAME_SIZE 8192

static void put_item(struct compare_page *page, size_t first)
{
	size_t end = end_of_item(page->sides, first);
	const struct side_row *rows = page->sides->rows;
	bool is_line = end == first + 1 || !is_on_all(page->sides, &rows[first]);
	char name[NAME_SIZE], label[64];

	name_item(page, &rows[first].what,
		  is_line ? page->label_width : page_width(&page->page) - 2, name, sizeof(name));
	if (is_line) {
		put_figures(page, name, &rows[first]);
		return;
	}
	fprintf(page->page.out, "  %s\n", name);
	for (size_t i = first; i < end; i++) {
		snprintf(label, sizeof(label), "  %s", rows[i].what.quantity);
		if (is_told(page->sides, rows, i, first))
			put_figures(page, label, &rows[i]);
	}
}

/* Items of a group that are to be told, and how many there are in all. */
struct told {
	size_t count, changed_count;
};

static bool is_worth_telling(const struct sides *sides, size_t row, size_t first, size_t end)
{
	return measure_group_is_fixed(sides->rows[row].what.group) ||
	       (sides->rows[row].has_change && !is_only_shape(sides, row, first, end));
}

static struct told count_items(const struct sides *sides, size_t first, size_t end)
{
	struct told told = {0};

	for (size_t i = first; i < end; i = end_of_item(sides, i)) {
		told.count += !is_only_shape(sides, i, first, end);
		told.changed_count += is_worth_telling(sides, i, first, end);
	}
	return told;
}

static bool is_scaled(const struct sides *sides)
{
	for (size_t i = 1; i < sides->count; i++)
		if (sides->items[i].steady.row_count != sides->items[i].first_row_count)
			return true;
	return false;
}

static void put_group(struct compare_page *page, size_t first, size_t end)
{
	const struct sides *sides = page->sides;
	struct told told = count_items(sides, first, end);
	bool is_fixed = measure_group_is_fixed(sides->rows[first].what.group);
	size_t rows = is_fixed ? told.count : page_rows(&page->page, told.changed_count, PAGE_TOP);
	char note[128];

	if (!told.changed_count)
		snprintf(note, sizeof(note), "%s, no difference", format_count(told.count).text);
	else if (rows < told.count)
		snprintf(note, sizeof(note), "%zu of %s, %s differ", rows,
			 format_count(told.count).text, format_count(told.changed_count).text);
	else
		note[0] = '\0';
	if (sides->rows[first].what.group == MEASURE_STEADY && is_scaled(sides))
		snprintf(note, sizeof(note), "of A, and the same work of the others");
	page_title(&page->page, measure_group_title(sides->rows[first].what.group), note);
	if (rows)
		put_heads(page);
	for (size_t i = first; i < end && rows; i = end_of_item(sides, i))
		if (is_worth_telling(sides, i, first, end)) {
			put_item(page, i);
			rows--;
		}
}

/* ---- the sides ---- */

/* "1.25x as fast" tells a gain as people do; a loss is told in percent. */
static void describe_result(const struct side_value *value, char *text, size_t size)
{
	if (value->change == CHANGE_EQUAL)
		snprintf(text, size, "no difference");
	else if (value->ratio < 1)
		snprintf(text, size, "%.2fx as fast", 1 / value->ratio);
	else
		snprintf(text, size, "%.1f%% slower", 100 * (value->ratio - 1));
}

static const char *certainty(enum change change)
{
	return change == CHANGE_NOISE	 ? ", within noise"
	       : change == CHANGE_UNSURE ? "; one recording of a side does not tell its noise"
	       : change == CHANGE_EQUAL	 ? ""
					 : ", beyond noise";
}

static struct figure figure_times(struct side_value value, uint64_t count, enum measure_unit unit)
{
	value.value *= (double)count;
	return figure_of(&value, unit);
}

/* "an iteration: 26.9 us to 5.50 us", or of as many as do the same work */
static void describe_times(const struct side *side, const struct side_row *row,
			   const struct side_value *value, char *text, size_t size)
{
	bool is_steady = row->what.group == MEASURE_STEADY;
	uint64_t first_count = is_steady ? side->first_row_count : 1;
	uint64_t count = is_steady ? side->steady.row_count : 1;
	char what[96] = "from first to last operation";

	if (is_steady && first_count == 1 && count == 1)
		snprintf(what, sizeof(what), "in the steady state, an iteration");
	else if (is_steady)
		snprintf(what, sizeof(what),
			 "in the steady state, %" PRIu64 " iteration%s to %" PRIu64, first_count,
			 first_count == 1 ? "" : "s in a row", count);
	snprintf(text, size, "%s: %s to %s", what,
		 figure_times(row->values[0], first_count, row->what.unit).text,
		 figure_times(*value, count, row->what.unit).text);
}

static void put_result(struct compare_page *page, size_t side)
{
	const struct side_row *row = sides_judged(page->sides, side);
	char result[64], times[192], text[320];

	if (!row)
		return;
	describe_result(&row->values[side], result, sizeof(result));
	describe_times(&page->sides->items[side], row, &row->values[side], times, sizeof(times));
	snprintf(text, sizeof(text), "%s %s%s", result, times, certainty(row->values[side].change));
	page_wrap(&page->page, "     ", text, 5);
}

static void put_sentences(struct compare_page *page, const char *label,
			  const struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->count; i++)
		page_wrap(&page->page, label, sentences->items[i], 7);
}

static void put_side(struct compare_page *page, size_t index)
{
	const struct side *side = &page->sides->items[index];
	char label[40], limit[1100], name[NAME_SIZE];

	snprintf(label, sizeof(label), "  %-2s ", side_letter(index).text);
	format_text(name, sizeof(name), side->name, sizeof(name) / 4 - 1);
	fprintf(page->page.out, "%s%s", label, name);
	if (side->path_count > 1)
		fprintf(page->page.out, ", the mean of %zu recordings", side->path_count);
	fputc('\n', page->page.out);
	if (side->selection)
		page_wrap(&page->page, "     ", side->selection, 7);
	if (index)
		put_result(page, index);
	snprintf(limit, sizeof(limit), "limit: %s", side->limit ? side->limit : "not known");
	page_wrap(&page->page, "     ", limit, 7);
	put_sentences(page, "     not the same work: ", &side->differences);
	put_sentences(page, "     disturbed times: ", &side->obstacles);
	put_sentences(page, "     warning: ", &side->warnings);
	if (index && side->steady.count && page->sides->items[0].steady.count &&
	    !side->steady.row_count)
		page_wrap(&page->page, "     ",
			  "other iterations than those of A: the steady states are not compared",
			  7);
}

static bool has_mark(const struct sides *sides, enum change change)
{
	for (size_t i = 0; i < sides->row_count; i++)
		for (size_t side = 1; side < sides->count; side++)
			if (sides->rows[i].values[side].change == change)
				return true;
	return false;
}

/* What stands behind changes, before the first of them. */
static void put_legend(struct compare_page *page)
{
	bool has_noise = has_mark(page->sides, CHANGE_NOISE);
	bool has_unsure = has_mark(page->sides, CHANGE_UNSURE);

	if (has_noise || has_unsure)
		fputs("  Marks behind a change:\n", page->page.out);
	if (has_noise)
		page_wrap(&page->page, "  ~  ",
			  "within noise: the intervals of both sides meet, so it may be no change",
			  5);
	if (has_unsure)
		page_wrap(
			&page->page, "  ?  ",
			"noise not known: one recording does not tell by how much this differs from "
			"run to run; compare several of each side (--before, --after)",
			5);
}

static bool has_change(const struct sides *sides)
{
	for (size_t i = 0; i < sides->row_count; i++)
		if (sides->rows[i].has_change)
			return true;
	return false;
}

static struct kernel_labels *label_kernels(const struct sides *sides)
{
	struct kernel_labels *labels;
	const char **names = calloc(sides->row_count + 1, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < sides->row_count && names; i++)
		if (is_of_kernel(&sides->rows[i].what))
			names[count++] = sides->rows[i].what.name;
	labels = names ? kernel_labels_create(names, count) : NULL;
	free(names);
	return labels;
}

int compare_write_text(const struct sides *sides, FILE *out, const struct output_options *options,
		       struct err *err)
{
	struct kernel_labels *labels = label_kernels(sides);
	struct compare_page page = {
		.page = {.out = out, .options = options, .kernel_labels = labels}, .sides = sides};
	size_t figures = FIGURE_WIDTH + (sides->count - 1) * (FIGURE_WIDTH + CHANGE_WIDTH), width;

	if (!labels)
		return err_set(err, -ENOMEM, "out of memory for the comparison");
	page_begin(&page.page);
	width = page_columns(&page.page) - 2;
	page.is_folded = page.page.screen && width < figures + LEAST_LABEL;
	page.label_width = page.is_folded		   ? width
			   : width > figures + LEAST_LABEL ? width - figures
							   : LEAST_LABEL;
	page_title(&page.page, "Compared", "with the first, as recorded");
	for (size_t i = 0; i < sides->count; i++)
		put_side(&page, i);
	if (has_change(sides))
		put_legend(&page);
	if (!has_change(sides))
		fprintf(page.page.out, "\nNo difference in %s figures.\n",
			format_count(sides->row_count).text);
	else
		for (size_t i = 0; i < sides->row_count; i = end_of_group(sides, i))
			put_group(&page, i, end_of_group(sides, i));
	kernel_labels_free(labels);
	return page_finish(&page.page, "the comparison", err);
}
