#include "output/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "base/distribution.h"

struct value value_none(void)
{
	return (struct value){.type = VALUE_NONE};
}

struct value value_text(const char *text)
{
	return (struct value){.type = text ? VALUE_TEXT : VALUE_NONE, .text = text};
}

struct value value_owned_text(char *text)
{
	return (struct value){.type = text ? VALUE_TEXT : VALUE_FAILED,
			      .text = text,
			      .owned = text};
}

struct value value_integer(int64_t integer)
{
	return (struct value){.type = VALUE_INTEGER, .integer = integer};
}

struct value value_count(uint64_t count)
{
	return (struct value){.type = VALUE_COUNT, .count = count};
}

struct value value_bool(bool is_true)
{
	return (struct value){.type = VALUE_BOOL, .is_true = is_true};
}

struct value value_real(double real)
{
	return (struct value){.type = isfinite(real) ? VALUE_REAL : VALUE_NONE, .real = real};
}

void value_free(struct value *value)
{
	free(value->owned);
	value->owned = NULL;
}

/* In a structure that is packed it lies anywhere. */
static int64_t integer_at(const void *field)
{
	int64_t integer;

	memcpy(&integer, field, sizeof(integer));
	return integer;
}

static struct value field_value(enum column_type type, const void *field)
{
	switch (type) {
	case COLUMN_TEXT:
		return value_text(*(const char *const *)field);
	case COLUMN_BOOL:
		return value_bool(*(const bool *)field);
	case COLUMN_U32:
		return value_integer(*(const uint32_t *)field);
	case COLUMN_U64:
		return value_count(*(const uint64_t *)field);
	case COLUMN_I64:
		return value_integer(integer_at(field));
	case COLUMN_REAL:
		return value_real(*(const double *)field);
	case COLUMN_DIMENSIONS:
		return (struct value){.type = VALUE_DIMENSIONS, .dimensions = field};
	default:
		return value_none();
	}
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

static bool is_in_bounds(const struct value *value, enum column_known known)
{
	if (known == KNOWN_ALWAYS || value->type == VALUE_NONE)
		return true;
	return known == KNOWN_ABOVE_ZERO ? number_of(value) > 0 : number_of(value) >= 0;
}

/* Nothing where nothing ran, and of a moment that is not known. */
static struct value relative_moment(const struct row *row, int64_t moment_ns)
{
	int64_t first_ns = row->report ? row->report->profile->window.first_ns : INT64_MAX;

	return first_ns == INT64_MAX || moment_ns <= 0 ? value_none()
						       : value_integer(moment_ns - first_ns);
}

struct value column_value(const struct column *column, struct row *row, const void *from)
{
	struct value value;

	if (!from || (column->is_known && !column->is_known(row, from)))
		return value_none();
	if (column->get)
		return column->get(row, from);
	if (column->type == COLUMN_RELATIVE)
		return relative_moment(row, integer_at((const char *)from + column->offset));
	value = field_value(column->type, (const char *)from + column->offset);
	return is_in_bounds(&value, column->known) ? value : value_none();
}

const void *column_base(const struct column *column, struct row *row, const void *from)
{
	if (!from || (column->is_known && !column->is_known(row, from)))
		return NULL;
	return column->base ? column->base(row, from) : (const char *)from + column->offset;
}

const struct column distribution_columns[] = {
	FIELD(struct distribution, count),   FIELD(struct distribution, total_ns),
	FIELD(struct distribution, mean_ns), FIELD(struct distribution, p50_ns),
	FIELD(struct distribution, p99_ns),  FIELD(struct distribution, min_ns),
	FIELD(struct distribution, max_ns),  {0}};

FINDER(steady_of, struct steady_split, split, split->is_unknown ? NULL : &split->steady);
FINDER(once_of, struct steady_split, split, split->is_unknown ? NULL : &split->once);

static const struct column part_columns[] = {FIELD(struct steady_part, time_ns),
					     FIELD(struct steady_part, count),
					     {0}};
static const struct column part_time_columns[] = {FIELD(struct steady_part, time_ns), {0}};

const struct column split_columns[] = {GROUP_FOUND("steady", steady_of, part_columns),
				       GROUP_FOUND("once", once_of, part_columns),
				       {0}};
const struct column split_time_columns[] = {GROUP_FOUND("steady", steady_of, part_time_columns),
					    GROUP_FOUND("once", once_of, part_time_columns),
					    {0}};

#define CAUSE_COLUMN(constant, name, title, meaning) \
	{.key = (name),                              \
	 .csv = name "_ns",                          \
	 .type = COLUMN_I64,                         \
	 .offset = GAP_##constant * sizeof(int64_t)},

const struct column cause_columns[] = {GAP_CAUSES(CAUSE_COLUMN){0}};
