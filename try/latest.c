#include "latest.h"

#include <stdlib.h>
#include <string.h>

void latest_add(struct latest *latest, double value)
{
	latest->values[latest->count++ % LATEST_MOST] = value;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double latest_median(const struct latest *latest)
{
	size_t count = latest->count < LATEST_MOST ? latest->count : LATEST_MOST;
	double sorted[LATEST_MOST];

	memcpy(sorted, latest->values, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare_doubles);
	return sorted[count / 2];
}
