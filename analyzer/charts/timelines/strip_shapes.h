/*
 * strip_shapes.h - a reduced strip as the shapes and characters of a drawing.
 *
 * Columns that look the same become one step.  Knows where a strip lies, not what it measures.
 */
#ifndef ROOFLINE_STRIP_SHAPES_H
#define ROOFLINE_STRIP_SHAPES_H

#include <stdbool.h>

#include "charts/chart_file.h"
#include "charts/timelines/strip.h"

struct strip_place {
	double zero_y, full_y; /* of the values 0 and full */
	double full;
	int64_t origin_ns; /* 0 of the axis */
	double unit_ns;	   /* nanoseconds in 1 of the axis */
};

/* Polygons x, y, a blank line between them: the means, or the means of the part. */
void strip_put_area(struct chart_file *file, const struct strip *strip,
		    const struct strip_place *place, bool is_part);

/* Lines x, y, color, a blank line between them: the highest sample of each column. */
void strip_put_peaks(struct chart_file *file, const struct strip *strip,
		     const struct strip_place *place, int color);

/* Rectangles start, end, low y, high y: time that was not sampled.  Returns how many. */
int strip_put_unsampled(struct chart_file *file, const struct strip *strip,
			const struct strip_place *place);

/* The character for a column: a block as high as its mean, a slash where nothing was sampled, ""
 * for zero. */
const char *strip_character(const struct strip_column *column, double full);

#endif
