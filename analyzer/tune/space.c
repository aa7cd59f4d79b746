/* space.c - lists of values, the grid that they make, and which of its points are allowed. */
#define _GNU_SOURCE
#include "tune/space.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/expression.h"

#define MOST_VALUES 10000
#define MOST_TEXTS 64 /* each of them is a coordinate */

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* ---- values ---- */

static bool parse_whole(const char *text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	return !errno && end != text && !*end;
}

static int add_value(struct tune_parameter *parameter, const char *value, struct err *err)
{
	char **values;

	for (size_t i = 0; i < parameter->count; i++)
		if (!strcmp(parameter->values[i], value))
			return err_set(err, -EINVAL, "--param %s: the value '%s' is there twice",
				       parameter->name, value);
	if (parameter->count == MOST_VALUES)
		return err_set(err, -EINVAL, "--param %s: more than %d values: take larger steps",
			       parameter->name, MOST_VALUES);
	values = realloc(parameter->values, (parameter->count + 1) * sizeof(*values));
	if (!values)
		return no_memory(err);
	parameter->values = values;
	values[parameter->count] = strdup(value);
	if (!values[parameter->count])
		return no_memory(err);
	parameter->count++;
	return 0;
}

struct range {
	int64_t first, last, step;
	bool is_factor;
};

/* A number, perhaps with a fraction, and two dots behind it: a range is meant, and no text as "../a" is. */
static bool is_range(const char *text)
{
	const char *dots = strstr(text, "..");
	char *end;

	if (!dots || dots == text)
		return false;
	strtod(text, &end);
	return end == dots || end == dots + 1; /* "1." is a number, too */
}

/* "8..64", "8..64:8", "8..64:x2".  Returns false where it is none of these. */
static bool parse_range(const char *text, struct range *range)
{
	int used = 0;
	long long first, last, step = 1;

	*range = (struct range){0};
	if (sscanf(text, "%lld..%lld%n", &first, &last, &used) != 2 || !used)
		return false;
	text += used;
	if (*text == ':') {
		range->is_factor = text[1] == 'x' || text[1] == '*';
		text += 1 + range->is_factor;
		used = 0;
		if (sscanf(text, "%lld%n", &step, &used) != 1)
			return false;
		text += used;
	}
	range->first = first;
	range->last = last;
	range->step = step;
	return !*text;
}

static int add_range(struct tune_parameter *parameter, const char *text, struct err *err)
{
	struct range range;
	char value[32];
	int rc = 0;

	if (!parse_range(text, &range) || range.last < range.first ||
	    range.step < 1 + range.is_factor || (range.is_factor && range.first < 1))
		return err_set(err, -EINVAL,
			       "--param %s: '%s' has no values; a range is FIRST..LAST, "
			       "FIRST..LAST:STEP or FIRST..LAST:xFACTOR of whole numbers",
			       parameter->name, text);
	for (int64_t at = range.first; rc == 0 && at <= range.last;) {
		snprintf(value, sizeof(value), "%lld", (long long)at);
		rc = add_value(parameter, value, err);
		if (range.is_factor ? __builtin_mul_overflow(at, range.step, &at)
				    : __builtin_add_overflow(at, range.step, &at))
			break;
	}
	return rc;
}

static int add_values(struct tune_parameter *parameter, char *list, struct err *err)
{
	bool is_one = !strchr(list, ',');
	char *item;
	int rc = 0;

	while (rc == 0 && (item = strsep(&list, ","))) {
		if (!*item && is_one) /* among others an empty one may be meant: a suffix or none */
			return err_set(err, -EINVAL, "--param %s: no value", parameter->name);
		rc = is_range(item) ? add_range(parameter, item, err)
				    : add_value(parameter, item, err);
	}
	return rc;
}

static int read_numbers(struct tune_parameter *parameter, struct err *err)
{
	parameter->numbers = calloc(parameter->count, sizeof(*parameter->numbers));
	if (!parameter->numbers)
		return no_memory(err);
	parameter->is_number = true;
	for (size_t i = 0; i < parameter->count; i++)
		parameter->is_number &= parse_whole(parameter->values[i], &parameter->numbers[i]);
	if (parameter->is_number)
		return 0;
	memset(parameter->numbers, 0, parameter->count * sizeof(*parameter->numbers));
	return parameter->count <= MOST_TEXTS
		       ? 0
		       : err_set(err, -EINVAL,
				 "--param %s: more than %d values that are no numbers",
				 parameter->name, MOST_TEXTS);
}

static bool is_name(const char *text, size_t length)
{
	bool is_good = length > 0 && !isdigit((unsigned char)*text);

	for (size_t i = 0; i < length; i++)
		is_good &= isalnum((unsigned char)text[i]) || text[i] == '_';
	return is_good;
}

static int name_parameter(struct tune_space *space, const char *text, size_t length,
			  struct err *err)
{
	struct tune_parameter *parameter = &space->parameters[space->parameter_count];

	if (!is_name(text, length) || text[length] != '=')
		return err_set(err, -EINVAL,
			       "--param '%s' is no NAME=VALUE,... with a name of letters, digits "
			       "and _",
			       text);
	for (size_t i = 0; i < space->parameter_count; i++)
		if (!strncmp(space->parameters[i].name, text, length) &&
		    !space->parameters[i].name[length])
			return err_set(err, -EINVAL, "--param %s is there twice",
				       space->parameters[i].name);
	if (space->parameter_count == TUNE_MOST_PARAMETERS)
		return err_set(err, -EINVAL, "--param: there can be %d of them",
			       TUNE_MOST_PARAMETERS);
	space->parameter_count++;
	parameter->name = strndup(text, length);
	return parameter->name ? 0 : no_memory(err);
}

int tune_space_add(struct tune_space *space, const char *text, struct err *err)
{
	struct tune_parameter *parameter = &space->parameters[space->parameter_count];
	size_t length = strcspn(text, "=");
	int rc = name_parameter(space, text, length, err);
	char *list;

	if (rc < 0)
		return rc;
	list = strdup(text + length + 1);
	if (!list)
		return no_memory(err);
	rc = add_values(parameter, list, err);
	free(list);
	return rc < 0 ? rc : read_numbers(parameter, err);
}

/* ---- levels ---- */

static size_t grid_level(const struct tune_space *space, size_t at, size_t parameter)
{
	for (size_t i = space->parameter_count; --i > parameter;)
		at /= space->parameters[i].count;
	return at % space->parameters[parameter].count;
}

size_t tune_space_level(const struct tune_space *space, size_t point, size_t parameter)
{
	return grid_level(space, space->points[point], parameter);
}

const char *tune_space_value(const struct tune_space *space, size_t point, size_t parameter)
{
	return space->parameters[parameter].values[tune_space_level(space, point, parameter)];
}

size_t tune_space_find(const struct tune_space *space, const size_t *levels)
{
	size_t at = 0, low = 0, high = space->point_count;

	for (size_t i = 0; i < space->parameter_count; i++)
		at = at * space->parameters[i].count + levels[i];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->points[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < space->point_count && space->points[low] == at ? low : TUNE_NO_POINT;
}

/* ---- conditions ---- */

struct conditions {
	struct expression *items[TUNE_MOST_CONDITIONS];
	size_t count;
	size_t which[TUNE_MOST_PARAMETERS]; /* parameter of each name */
	size_t name_count;
};

static int parse_conditions(struct conditions *conditions, const struct tune_space *space,
			    const char *const *texts, size_t count, struct err *err)
{
	const char *names[TUNE_MOST_PARAMETERS];
	int rc = 0;

	for (size_t i = 0; i < space->parameter_count; i++)
		if (space->parameters[i].is_number) {
			names[conditions->name_count] = space->parameters[i].name;
			conditions->which[conditions->name_count++] = i;
		}
	if (count > TUNE_MOST_CONDITIONS)
		return err_set(err, -EINVAL, "--where: there can be %d of them",
			       TUNE_MOST_CONDITIONS);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = expression_parse(&conditions->items[i], texts[i], names,
				      conditions->name_count, err);
		conditions->count += rc == 0;
	}
	return rc;
}

/* What divides by zero there is no point to try. */
static bool is_allowed(const struct conditions *conditions, const struct tune_space *space,
		       size_t at)
{
	int64_t values[TUNE_MOST_PARAMETERS], result;

	for (size_t i = 0; i < conditions->name_count; i++)
		values[i] = space->parameters[conditions->which[i]]
				    .numbers[grid_level(space, at, conditions->which[i])];
	for (size_t i = 0; i < conditions->count; i++)
		if (expression_evaluate(conditions->items[i], values, &result) < 0 || !result)
			return false;
	return true;
}

static int count_grid(struct tune_space *space, struct err *err)
{
	space->grid_count = 1;
	if (!space->parameter_count)
		return err_set(err, -EINVAL, "no --param NAME=VALUE,... is given");
	for (size_t i = 0; i < space->parameter_count; i++) {
		space->grid_count *= space->parameters[i].count;
		if (space->grid_count > TUNE_MOST_POINTS)
			return err_set(err, -EINVAL,
				       "more than %d combinations: take fewer values, larger "
				       "steps or factors",
				       TUNE_MOST_POINTS);
	}
	return 0;
}

static int list_points(struct tune_space *space, const struct conditions *conditions,
		       struct err *err)
{
	space->points = calloc(space->grid_count, sizeof(*space->points));
	if (!space->points)
		return no_memory(err);
	for (size_t at = 0; at < space->grid_count; at++)
		if (is_allowed(conditions, space, at))
			space->points[space->point_count++] = at;
	if (!space->point_count)
		return err_set(err, -EINVAL, "--where leaves none of %zu combinations",
			       space->grid_count);
	return 0;
}

/* ---- places ---- */

static void number_dimensions(struct tune_space *space)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		struct tune_parameter *parameter = &space->parameters[i];

		parameter->dimension = space->dimension_count;
		parameter->dimension_count = parameter->is_number ? 1 : parameter->count;
		space->dimension_count += parameter->dimension_count;
	}
}

static double number_place(const struct tune_parameter *parameter, size_t level)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	double at = (double)parameter->numbers[level];

	for (size_t i = 0; i < parameter->count; i++) {
		if (parameter->numbers[i] < low)
			low = parameter->numbers[i];
		if (parameter->numbers[i] > high)
			high = parameter->numbers[i];
	}
	if (low == high)
		return 0;
	if (low > 0 && (double)high / (double)low >= 4)
		return log(at / (double)low) / log((double)high / (double)low);
	return (at - (double)low) / ((double)high - (double)low);
}

static int place_points(struct tune_space *space, struct err *err)
{
	number_dimensions(space);
	space->places = calloc(space->point_count * space->dimension_count, sizeof(*space->places));
	if (!space->places)
		return no_memory(err);
	for (size_t point = 0; point < space->point_count; point++)
		for (size_t i = 0; i < space->parameter_count; i++) {
			const struct tune_parameter *parameter = &space->parameters[i];
			size_t level = tune_space_level(space, point, i);
			double *place = &space->places[point * space->dimension_count +
						       parameter->dimension];

			if (parameter->is_number)
				*place = number_place(parameter, level);
			else
				place[level] = M_SQRT1_2;
		}
	return 0;
}

const double *tune_space_place(const struct tune_space *space, size_t point)
{
	return &space->places[point * space->dimension_count];
}

double tune_space_distance(const struct tune_space *space, size_t parameter, size_t a, size_t b)
{
	const struct tune_parameter *of = &space->parameters[parameter];

	if (!of->is_number)
		return tune_space_level(space, a, parameter) !=
		       tune_space_level(space, b, parameter);
	return fabs(tune_space_place(space, a)[of->dimension] -
		    tune_space_place(space, b)[of->dimension]);
}

int tune_space_close(struct tune_space *space, const char *const *conditions, size_t count,
		     struct err *err)
{
	struct conditions parsed = {0};
	int rc = count_grid(space, err);

	if (rc == 0)
		rc = parse_conditions(&parsed, space, conditions, count, err);
	if (rc == 0)
		rc = list_points(space, &parsed, err);
	if (rc == 0)
		rc = place_points(space, err);
	for (size_t i = 0; i < parsed.count; i++)
		expression_free(parsed.items[i]);
	return rc;
}

/* ---- words ---- */

static int parse_level(const struct tune_space *space, char *item, size_t *levels, struct err *err)
{
	char *value = strchr(item, '=');

	for (size_t i = 0; value && i < space->parameter_count; i++) {
		const struct tune_parameter *parameter = &space->parameters[i];
		size_t length = (size_t)(value - item);

		if (strlen(parameter->name) != length || strncmp(parameter->name, item, length))
			continue;
		for (size_t level = 0; level < parameter->count; level++)
			if (!strcmp(parameter->values[level], value + 1)) {
				levels[i] = level;
				return 0;
			}
		return err_set(err, -EINVAL, "'%s': --param %s has no value '%s'", item,
			       parameter->name, value + 1);
	}
	return err_set(err, -EINVAL, "'%s' is no NAME=VALUE of a --param", item);
}

int tune_space_parse_point(const struct tune_space *space, const char *text, size_t *point,
			   struct err *err)
{
	size_t levels[TUNE_MOST_PARAMETERS] = {0};
	char *list = strdup(text), *rest = list, *item;
	int rc = list ? 0 : no_memory(err);

	while (rc == 0 && (item = strsep(&rest, ",")))
		rc = parse_level(space, item, levels, err);
	free(list);
	if (rc < 0)
		return rc;
	*point = tune_space_find(space, levels);
	if (*point == TUNE_NO_POINT)
		return err_set(err, -EINVAL, "'%s': --where forbids it", text);
	return 0;
}

void tune_space_describe(const struct tune_space *space, size_t point, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < space->parameter_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i ? " " : "",
					 space->parameters[i].name,
					 tune_space_value(space, point, i));
}

void tune_space_free(struct tune_space *space)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		struct tune_parameter *parameter = &space->parameters[i];

		for (size_t j = 0; j < parameter->count; j++)
			free(parameter->values[j]);
		free(parameter->values);
		free(parameter->numbers);
		free(parameter->name);
	}
	free(space->points);
	free(space->places);
	*space = (struct tune_space){0};
}
