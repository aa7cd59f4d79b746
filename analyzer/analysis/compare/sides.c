#include "analysis/compare/sides.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"
#include "base/array.h"
#include "base/stable_sort.h"

const char *change_key(enum change change)
{
	static const char *const keys[] = {
#define CHANGE_KEY(constant, key) key,
		CHANGES(CHANGE_KEY)
#undef CHANGE_KEY
	};

	return keys[change];
}

/* ---- what is compared ---- */

int sides_add(struct sides *sides, const char *name)
{
	struct side *side = ARRAY_NEXT(sides->items, sides->capacity, sides->count);

	if (!side)
		return -ENOMEM;
	*side = (struct side){.name = strdup(name)};
	sides->count++;
	return side->name ? 0 : -ENOMEM;
}

int sides_add_path(struct sides *sides, const char *path)
{
	struct side *side = &sides->items[sides->count - 1];
	char **paths = realloc(side->paths, (side->path_count + 1) * sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	side->paths = paths;
	paths[side->path_count] = strdup(path);
	return paths[side->path_count++] ? 0 : -ENOMEM;
}

/* ---- rows ---- */

/* One text of what a row, or all rows of an item, are told apart by. */
static char *key_of(const struct measure *measure, bool is_item, size_t *size)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);
	char *key;

	if (!out)
		return NULL;
	fprintf(out, "%d%c%s%c%s%c%s", (int)measure->group, 0, measure->name, 0, measure->shape, 0,
		is_item ? "" : measure->quantity);
	key = memory_file_close(&file);
	*size = file.length;
	return key;
}

static int number_of(struct groups *groups, const struct measure *measure, bool is_item,
		     uint32_t *number)
{
	size_t size;
	char *key = key_of(measure, is_item, &size);
	int rc = key ? groups_find(groups, key, size, number) : -ENOMEM;

	free(key);
	return rc;
}

static int add_row(struct sides *sides, const struct measure *measure)
{
	struct side_row *row = ARRAY_NEXT(sides->rows, sides->row_capacity, sides->row_count);
	uint32_t item;
	int rc;

	if (!row)
		return -ENOMEM;
	rc = number_of(&sides->item_numbers, measure, true, &item);
	if (rc < 0)
		return rc;
	*row = (struct side_row){.what = *measure, .item = item};
	row->what.name = strdup(measure->name);
	row->what.shape = strdup(measure->shape);
	row->values = calloc(sides->count, sizeof(*row->values));
	sides->row_count++;
	return row->what.name && row->what.shape && row->values ? 0 : -ENOMEM;
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* With a second repeat what one of them tells of its noise no longer matters. */
static void add_repeat(struct side_value *value, const struct measure *measure)
{
	if (value->repeat_count == 1)
		value->low = value->high = value->value;
	if (value->repeat_count) {
		value->low = lesser(value->low, measure->value);
		value->high = greater(value->high, measure->value);
	} else {
		value->low = measure->low;
		value->high = measure->high;
	}
	value->repeat_count++;
	value->value += (measure->value - value->value) / (double)value->repeat_count;
}

int sides_add_measures(struct sides *sides, size_t side, const struct measures *measures)
{
	int rc = 0;

	if (!sides->items[side].steady.count)
		sides->items[side].steady = measures->steady;
	for (size_t i = 0; i < measures->count && rc == 0; i++) {
		uint32_t number;

		rc = number_of(&sides->numbers, &measures->items[i], false, &number);
		if (rc == 0 && number == sides->row_count)
			rc = add_row(sides, &measures->items[i]);
		if (rc == 0)
			add_repeat(&sides->rows[number].values[side], &measures->items[i]);
	}
	return rc;
}

/* ---- what changed ---- */

static bool has_bounds(const struct side_value *value)
{
	return !isnan(value->low);
}

/* As far as bounds are known: of a value without them only whether it lies within the other's. */
static bool do_meet(const struct side_value *first, const struct side_value *value, double factor)
{
	double low = has_bounds(value) ? value->low : value->value;
	double high = has_bounds(value) ? value->high : value->value;
	double first_low = has_bounds(first) ? first->low : first->value;
	double first_high = has_bounds(first) ? first->high : first->value;

	return low * factor <= first_high && first_low <= high * factor;
}

/* One recording tells these exactly, but for what another run would do. */
static bool is_exact(enum measure_unit unit)
{
	return unit == UNIT_COUNT || unit == UNIT_BYTES;
}

static enum change change_of(const struct side_value *first, const struct side_value *value,
			     double factor, enum measure_unit unit)
{
	double now = value->value * factor;

	if (!first->repeat_count || !value->repeat_count)
		return first->repeat_count   ? CHANGE_DISAPPEARED
		       : value->repeat_count ? CHANGE_APPEARED
					     : CHANGE_EQUAL;
	if (now == first->value)
		return CHANGE_EQUAL;
	if (do_meet(first, value, factor))
		return CHANGE_NOISE;
	if (!is_exact(unit) && !(has_bounds(first) && has_bounds(value)))
		return CHANGE_UNSURE;
	return now < first->value ? CHANGE_LESS : CHANGE_MORE;
}

/* Which iterations of the side are compared with which of the first.  As many iterations, or a multiple of them, tell
 * something only of the same work: of other work one is compared with one. */
static void match_steady(const struct sides *sides, struct side *side)
{
	struct compared_side first = sides->items[0].steady;

	if (side->differences.count)
		first.row_count = side->steady.row_count = first.count && side->steady.count;
	else
		comparison_match_rows(&first, &side->steady);
	side->first_row_count = first.row_count;
}

double sides_steady_factor(const struct sides *sides, size_t index)
{
	const struct side *side = &sides->items[index];

	if (!index)
		return 1;
	return side->first_row_count
		       ? (double)side->steady.row_count / (double)side->first_row_count
		       : 0;
}

static void compare_value(const struct sides *sides, struct side_row *row, size_t side)
{
	struct side_value *value = &row->values[side];
	double factor = row->what.group == MEASURE_STEADY ? sides_steady_factor(sides, side) : 1;

	value->ratio = NAN;
	if (!factor)
		return;
	value->change = change_of(&row->values[0], value, factor, row->what.unit);
	if (value->repeat_count && row->values[0].repeat_count && row->values[0].value > 0)
		value->ratio = value->value * factor / row->values[0].value;
}

/* What the first figure of an item, its time, changed by, or what it is. */
static double weight_of(const struct sides *sides, const struct side_row *row)
{
	double weight = 0;

	for (size_t i = 1; i < sides->count; i++)
		weight = greater(weight, fabs(row->values[i].value - row->values[0].value));
	return weight;
}

static bool is_changed(const struct sides *sides, const struct side_row *row)
{
	for (size_t i = 1; i < sides->count; i++)
		if (row->values[i].change != CHANGE_EQUAL && row->values[i].change != CHANGE_NONE)
			return true;
	return false;
}

static int compare_rows(const void *left, const void *right)
{
	const struct side_row *a = left, *b = right;

	if (a->what.group != b->what.group)
		return (int)a->what.group - (int)b->what.group;
	if (!measure_group_is_fixed(a->what.group) && a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* Of an item its first row's weight stands for all, so that they stay together. */
static void share_within_items(struct sides *sides, double *weights, bool *has_change)
{
	for (size_t i = sides->row_count; i-- > 0;) {
		weights[sides->rows[i].item] = weight_of(sides, &sides->rows[i]);
		has_change[sides->rows[i].item] |= is_changed(sides, &sides->rows[i]);
	}
	for (size_t i = 0; i < sides->row_count; i++) {
		sides->rows[i].weight = weights[sides->rows[i].item];
		sides->rows[i].has_change = has_change[sides->rows[i].item];
	}
}

int sides_compare(struct sides *sides)
{
	double *weights = calloc(sides->item_numbers.count + 1, sizeof(*weights));
	bool *has_change = calloc(sides->item_numbers.count + 1, sizeof(*has_change));
	int rc = weights && has_change ? 0 : -ENOMEM;

	for (size_t k = 1; k < sides->count; k++)
		match_steady(sides, &sides->items[k]);
	for (size_t i = 0; i < sides->row_count && rc == 0; i++) {
		sides->rows[i].values[0].ratio = sides->rows[i].values[0].value > 0 ? 1 : NAN;
		for (size_t k = 1; k < sides->count; k++)
			compare_value(sides, &sides->rows[i], k);
	}
	if (rc == 0)
		share_within_items(sides, weights, has_change);
	if (rc == 0)
		rc = stable_sort(sides->rows, sides->row_count, sizeof(*sides->rows), compare_rows);
	free(weights);
	free(has_change);
	return rc;
}

/* ---- the gate ---- */

static const struct side_row *first_of(const struct sides *sides, enum measure_group group)
{
	for (size_t i = 0; i < sides->row_count; i++)
		if (sides->rows[i].what.group == group)
			return &sides->rows[i];
	return NULL;
}

/* Nothing is faster than what took some time by taking none: then nothing ran. */
static bool can_judge(const struct side_row *row, size_t side)
{
	return row && (!side || row->values[side].ratio > 0);
}

const struct side_row *sides_judged(const struct sides *sides, size_t side)
{
	const struct side_row *steady = first_of(sides, MEASURE_STEADY),
			      *run = first_of(sides, MEASURE_RUN);

	if (can_judge(steady, side))
		return steady;
	return can_judge(run, side) ? run : NULL;
}

bool sides_is_sound(const struct side *side)
{
	return !side->differences.count && !side->obstacles.count;
}

bool sides_is_slower(const struct sides *sides, size_t side, double share)
{
	const struct side_row *row = sides_judged(sides, side);
	const struct side_value *value = row ? &row->values[side] : NULL;

	return value && value->ratio > 1 + share && value->change != CHANGE_NOISE;
}

void sides_free(struct sides *sides)
{
	for (size_t i = 0; i < sides->count; i++) {
		struct side *side = &sides->items[i];

		for (size_t k = 0; k < side->path_count; k++)
			free(side->paths[k]);
		free(side->paths);
		free(side->name);
		free(side->limit);
		free(side->selection);
		sentences_free(&side->differences);
		sentences_free(&side->obstacles);
		sentences_free(&side->warnings);
	}
	for (size_t i = 0; i < sides->row_count; i++) {
		free(sides->rows[i].what.name);
		free(sides->rows[i].what.shape);
		free(sides->rows[i].values);
	}
	free(sides->items);
	free(sides->rows);
	groups_free(&sides->numbers);
	groups_free(&sides->item_numbers);
	*sides = (struct sides){0};
}
