#include "base/clock_offset.h"

#include <stdlib.h>

#include "base/ns.h"

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

int64_t clock_median_ns(int64_t *values_ns, size_t count)
{
	qsort(values_ns, count, sizeof(*values_ns), compare_ns);
	return values_ns[(count - 1) / 2];
}

static int64_t distance_ns(int64_t a, int64_t b)
{
	uint64_t distance = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

	return distance > INT64_MAX ? INT64_MAX : (int64_t)distance;
}

struct clock_offset clock_offset_of(int64_t *differences_ns, size_t count)
{
	struct clock_offset offset = {clock_median_ns(differences_ns, count), 0};

	for (size_t i = 0; i < count; i++)
		differences_ns[i] = distance_ns(differences_ns[i], offset.ahead_ns);
	offset.error_ns = clock_median_ns(differences_ns, count);
	return offset;
}

struct clock_offset clock_offset_add(struct clock_offset offset, struct clock_offset base)
{
	return (struct clock_offset){(int64_t)((uint64_t)offset.ahead_ns + (uint64_t)base.ahead_ns),
				     max_ns(offset.error_ns, base.error_ns)};
}
