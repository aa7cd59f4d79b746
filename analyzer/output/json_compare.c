/* json_compare.c - a comparison of two or more sides for programs, as JSON and CSV.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "output/csv.h"
#include "output/json.h"

static const char *unit_name(enum measure_unit unit)
{
	static const char *const names[] = {"ns", "byte", "byte_per_s", "count"};

	return names[unit];
}

/* ---- a figure ---- */

GETTER(get_group, struct side_row, figure, value_text(measure_group_key(figure->what.group)));
GETTER(get_shape, struct side_row, figure,
       *figure->what.shape ? value_text(figure->what.shape) : value_none());
GETTER(get_unit, struct side_row, figure, value_text(unit_name(figure->what.unit)));

static const struct column what_columns[] = {COMPUTED("group", get_group),
					     {FIELD_AS("name", struct side_row, what.name)},
					     COMPUTED("shape", get_shape),
					     {FIELD_AS("quantity", struct side_row, what.quantity)},
					     COMPUTED("unit", get_unit),
					     {0}};

PREDICATE(is_there, struct side_value, value, value->repeat_count > 0);
GETTER(get_change, struct side_value, value, value_text(change_key(value->change)));

static const struct column value_columns[] = {FIELD_IF(struct side_value, value, is_there),
					      FIELD_IF(struct side_value, low, is_there),
					      FIELD_IF(struct side_value, high, is_there),
					      FIELD(struct side_value, repeat_count),
					      FIELD_IF(struct side_value, ratio, is_there),
					      COMPUTED("change", get_change),
					      {0}};

/* ---- JSON ---- */

static struct value get_letter(struct row *row, const void *from)
{
	(void)from;
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s",
		 side_letter(row->index).text);
	return value_text(row->scratch.bytes);
}

static const void *value_at(const struct row *parent, size_t index)
{
	const struct sides *sides = parent->parent->item;
	const struct side_row *figure = parent->item;

	return index < sides->count ? &figure->values[index] : NULL;
}

static const struct column side_value_columns[] = {COMPUTED("side", get_letter),
						   {.type = COLUMN_GROUP, .columns = value_columns},
						   {0}};

static const struct column figure_columns[] = {{.type = COLUMN_GROUP, .columns = what_columns},
					       ROWS("sides", side_value_columns, value_at),
					       {0}};

static bool path_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct side *side = from;

	(void)row;
	if (index >= side->path_count)
		return false;
	entry->value = value_text(side->paths[index]);
	return true;
}

static bool sentence_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct sentences *sentences = from;

	(void)row;
	if (index >= sentences->count)
		return false;
	entry->value = value_text(sentences->items[index]);
	return true;
}

#define SENTENCES(name)                                                                   \
	{                                                                                 \
		.key = #name, .type = COLUMN_LIST, .offset = offsetof(struct side, name), \
		.entry = sentence_at                                                      \
	}

static struct value get_judged(struct row *row, const void *from)
{
	const struct side_row *figure = sides_judged(row->parent->item, row->index);

	(void)from;
	return value_text(figure ? measure_group_key(figure->what.group) : NULL);
}

static const struct column side_columns[] = {
	COMPUTED("side", get_letter),  FIELD(struct side, name),
	LIST("recordings", path_at),   FIELD(struct side, limit),
	FIELD(struct side, selection), COMPUTED("judged", get_judged),
	SENTENCES(differences),	       SENTENCES(obstacles),
	SENTENCES(warnings),	       {0}};

static const void *side_at(const struct row *parent, size_t index)
{
	const struct sides *sides = parent->item;

	return index < sides->count ? &sides->items[index] : NULL;
}

static const void *figure_at(const struct row *parent, size_t index)
{
	const struct sides *sides = parent->item;

	return index < sides->row_count ? &sides->rows[index] : NULL;
}

static const struct column columns[] = {ROWS("sides", side_columns, side_at),
					ROWS("figures", figure_columns, figure_at),
					{0}};

int compare_write_json(const struct sides *sides, FILE *out, const struct output_options *options,
		       struct err *err)
{
	(void)options;
	return json_write(columns, sides, out, "the comparison", err);
}

/* ---- CSV: a line for each figure of each side ---- */

static const struct side_row *flat_row(const struct row *row)
{
	const struct sides *sides = row->parent->item;

	return &sides->rows[row->index / sides->count];
}

static const void *flat_at(const struct row *parent, size_t index)
{
	const struct sides *sides = parent->item;

	return index < sides->row_count * sides->count
		       ? &sides->rows[index / sides->count].values[index % sides->count]
		       : NULL;
}

FINDER(find_figure, struct side_value, value, flat_row(row));

static struct value get_flat_letter(struct row *row, const void *from)
{
	const struct sides *sides = row->parent->item;

	(void)from;
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s",
		 side_letter(row->index % sides->count).text);
	return value_text(row->scratch.bytes);
}

static const struct column flat_columns[] = {INLINE_FOUND(find_figure, what_columns),
					     COMPUTED("side", get_flat_letter),
					     {.type = COLUMN_GROUP, .columns = value_columns},
					     {0}};

int compare_write_csv(const struct sides *sides, FILE *out, const struct output_options *options,
		      struct err *err)
{
	(void)options;
	return csv_table_write(flat_columns, flat_at, sides, out, "the comparison", err);
}
