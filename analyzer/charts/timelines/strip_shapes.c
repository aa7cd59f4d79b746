#include "charts/timelines/strip_shapes.h"

#include <math.h>
#include <stdio.h>

#define STEPS 200 /* heights that look different: a quarter of a pixel */

/* What of a column is drawn. */
typedef double (*column_value)(const struct strip_column *column);

static double most_of(const struct strip_column *column)
{
	return column->most;
}

static double axis(const struct strip *strip, const struct strip_place *place, int column)
{
	return (double)(strip_edge(strip, column) - place->origin_ns) / place->unit_ns;
}

static int step_of(const struct strip_column *column, const struct strip_place *place,
		   column_value value)
{
	double ratio = place->full > 0 ? value(column) / place->full : 0;
	int step = (int)lround(fmin(fmax(ratio, 0), 1) * STEPS);

	return step == 0 && ratio > 0 ? 1 : step; /* what there is can be seen */
}

/* The column behind those from first on that were sampled, or that were not. */
static int run_end(const struct strip *strip, int first)
{
	bool is_sampled = strip->columns[first].sampled_ns > 0;
	int end = first;

	while (end < strip->column_count && (strip->columns[end].sampled_ns > 0) == is_sampled)
		end++;
	return end;
}

static void put_point(struct chart_file *file, double x, double y, int color)
{
	fprintf(file->stream, "%.9g\t%.5g\t%d\n", x, y, color);
}

/* The outline of a run's values, two points a step. */
static void put_steps(struct chart_file *file, const struct strip *strip,
		      const struct strip_place *place, const int run[2], column_value value,
		      int color)
{
	for (int column = run[0], next; column < run[1]; column = next) {
		int step = step_of(&strip->columns[column], place, value);
		double y = place->zero_y + (place->full_y - place->zero_y) * step / STEPS;

		next = column + 1;
		while (next < run[1] && step_of(&strip->columns[next], place, value) == step)
			next++;
		put_point(file, axis(strip, place, column), y, color);
		put_point(file, axis(strip, place, next), y, color);
	}
}

void strip_put_area(struct chart_file *file, const struct strip *strip,
		    const struct strip_place *place, bool is_part)
{
	for (int run[2] = {0, 0}; run[0] < strip->column_count; run[0] = run[1]) {
		run[1] = run_end(strip, run[0]);
		if (!strip->columns[run[0]].sampled_ns)
			continue;
		put_point(file, axis(strip, place, run[0]), place->zero_y, 0);
		put_steps(file, strip, place, run, is_part ? strip_part : strip_mean, 0);
		put_point(file, axis(strip, place, run[1]), place->zero_y, 0);
		putc('\n', file->stream);
	}
}

void strip_put_peaks(struct chart_file *file, const struct strip *strip,
		     const struct strip_place *place, int color)
{
	for (int run[2] = {0, 0}; run[0] < strip->column_count; run[0] = run[1]) {
		run[1] = run_end(strip, run[0]);
		if (!strip->columns[run[0]].sampled_ns)
			continue;
		put_steps(file, strip, place, run, most_of, color);
		putc('\n', file->stream);
	}
}

int strip_put_unsampled(struct chart_file *file, const struct strip *strip,
			const struct strip_place *place)
{
	int count = 0;

	for (int run[2] = {0, 0}; run[0] < strip->column_count; run[0] = run[1]) {
		run[1] = run_end(strip, run[0]);
		if (strip->columns[run[0]].sampled_ns)
			continue;
		fprintf(file->stream, "%.9g\t%.9g\t%.5g\t%.5g\n", axis(strip, place, run[0]),
			axis(strip, place, run[1]), place->zero_y, place->full_y);
		count++;
	}
	return count;
}

const char *strip_character(const struct strip_column *column, double full)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double ratio = full > 0 ? strip_mean(column) / full : 0;

	if (!column->sampled_ns)
		return "/";
	if (ratio <= 0)
		return "";
	return blocks[(int)fmin(ceil(ratio * 8), 8) - 1];
}
