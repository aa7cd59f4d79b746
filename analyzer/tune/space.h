/*
 * space.h - what may be chosen: parameters, their values, and the points that conditions leave.
 *
 * A point is one value of each parameter.  Points are numbered from 0 in the order of the command line, the last
 * parameter changing fastest.
 */
#ifndef ROOFLINE_TUNE_SPACE_H
#define ROOFLINE_TUNE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TUNE_NO_POINT SIZE_MAX
#define TUNE_MOST_POINTS 100000
#define TUNE_MOST_PARAMETERS 16
#define TUNE_MOST_CONDITIONS 16

struct tune_parameter {
	char *name;
	char **values;
	int64_t *numbers; /* the same; all 0 unless is_number */
	size_t count;
	bool is_number;	  /* all values are whole numbers */
	size_t dimension; /* its first coordinate, see tune_space_place */
	size_t dimension_count;
};

struct tune_space {
	struct tune_parameter parameters[TUNE_MOST_PARAMETERS];
	size_t parameter_count;
	size_t grid_count; /* combinations of all values */
	size_t *points;	   /* owned; those that the conditions leave, as numbers in that grid */
	size_t point_count;
	double *places; /* owned; point after point, dimension_count coordinates each */
	size_t dimension_count;
};

/*
 * Adds "NAME=LIST": values between commas, each a text or a range of whole numbers: 8..64 (each of them),
 * 8..64:8 (in steps of 8), 8..64:x2 (times 2).  Fails with -EINVAL.
 */
int tune_space_add(struct tune_space *space, const char *text, struct err *err);

/* Makes the points that all conditions (expression.h) leave, after the last parameter.  Fails with -EINVAL where
 * a condition is wrong, and where no point is left, or too many. */
int tune_space_close(struct tune_space *space, const char *const *conditions, size_t count,
		     struct err *err);

/* Which of its values a parameter has there. */
size_t tune_space_level(const struct tune_space *space, size_t point, size_t parameter);
const char *tune_space_value(const struct tune_space *space, size_t point, size_t parameter);

/* The point of those levels, or TUNE_NO_POINT where a condition forbids it. */
size_t tune_space_find(const struct tune_space *space, const size_t *levels);

/* The point of "block=64,tile=8"; parameters that are not named have their first value.  Fails with -EINVAL. */
int tune_space_parse_point(const struct tune_space *space, const char *text, size_t *point,
			   struct err *err);

/*
 * Where a point lies: a parameter of numbers is one coordinate from 0 to 1, by its logarithm where all are positive
 * and the largest is at least 4 times the least; any other has a coordinate for each value, so that all of them
 * are 1 apart.
 */
const double *tune_space_place(const struct tune_space *space, size_t point);

/* The distance of two points in one parameter. */
double tune_space_distance(const struct tune_space *space, size_t parameter, size_t a, size_t b);

/* "block=64 tile=8" */
void tune_space_describe(const struct tune_space *space, size_t point, char *text, size_t size);

void tune_space_free(struct tune_space *space);

#endif
