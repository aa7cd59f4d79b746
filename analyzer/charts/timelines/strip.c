#include "charts/timelines/strip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int strip_open(struct strip *strip, int64_t from_ns, int64_t to_ns, int column_count)
{
	if (column_count > to_ns - from_ns)
		column_count = (int)(to_ns - from_ns);
	*strip = (struct strip){from_ns, to_ns, column_count < 1 ? 1 : column_count, NULL};
	strip->columns = calloc((size_t)strip->column_count, sizeof(*strip->columns));
	return strip->columns ? 0 : -ENOMEM;
}

void strip_close(struct strip *strip)
{
	free(strip->columns);
	memset(strip, 0, sizeof(*strip));
}

int64_t strip_edge(const struct strip *strip, int column)
{
	double width_ns = (double)(strip->to_ns - strip->from_ns) / strip->column_count;

	if (column >= strip->column_count)
		return strip->to_ns;
	return strip->from_ns + (int64_t)(width_ns * column);
}

/* The column that holds that moment of the window: the quotient may be off by one. */
static int column_at(const struct strip *strip, int64_t moment_ns)
{
	double ratio =
		(double)(moment_ns - strip->from_ns) / (double)(strip->to_ns - strip->from_ns);
	int column = (int)(ratio * strip->column_count);

	if (column >= strip->column_count)
		column = strip->column_count - 1;
	while (column > 0 && strip_edge(strip, column) > moment_ns)
		column--;
	while (strip_edge(strip, column + 1) <= moment_ns)
		column++;
	return column;
}

static void column_add(struct strip_column *column, int64_t length_ns, double value, double part)
{
	if (!column->sampled_ns || value < column->least)
		column->least = value;
	if (!column->sampled_ns || value > column->most)
		column->most = value;
	column->sampled_ns += length_ns;
	column->value_ns += value * (double)length_ns;
	column->part_ns += part * (double)length_ns;
}

void strip_add(struct strip *strip, int64_t start_ns, int64_t end_ns, double value, double part)
{
	start_ns = start_ns > strip->from_ns ? start_ns : strip->from_ns;
	end_ns = end_ns < strip->to_ns ? end_ns : strip->to_ns;
	if (end_ns <= start_ns)
		return;
	for (int column = column_at(strip, start_ns); start_ns < end_ns; column++) {
		int64_t edge_ns = strip_edge(strip, column + 1);
		int64_t until_ns = edge_ns < end_ns ? edge_ns : end_ns;

		column_add(&strip->columns[column], until_ns - start_ns, value, part);
		start_ns = until_ns;
	}
}

double strip_mean(const struct strip_column *column)
{
	return column->sampled_ns ? column->value_ns / (double)column->sampled_ns : 0;
}

double strip_part(const struct strip_column *column)
{
	return column->sampled_ns ? column->part_ns / (double)column->sampled_ns : 0;
}
