#include "summary/sketch.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sums.h"

/* The longest duration of each bucket. */
static int64_t bounds_ns[SKETCH_BUCKETS];
static pthread_once_t bounds_once = PTHREAD_ONCE_INIT;

/* Buckets (a, b] with b / a of at most 101 / 99: between its ends and 2ab / (a + b) lies 1%. */
static void fill_bounds(void)
{
	int64_t bound_ns = 0;

	for (size_t i = 0; i < SKETCH_BUCKETS; i++) {
		int64_t step_ns = bound_ns / 99 * 2 + bound_ns % 99 * 2 / 99;

		bounds_ns[i] = bound_ns;
		if (step_ns < 1)
			step_ns = 1;
		bound_ns = bound_ns > INT64_MAX - step_ns ? INT64_MAX : bound_ns + step_ns;
	}
}

static bool is_within(size_t bucket, const void *context)
{
	return bounds_ns[bucket] >= *(const int64_t *)context;
}

int sketch_add(struct sketch *sketch, int64_t duration_ns)
{
	pthread_once(&bounds_once, fill_bounds);
	return sketch_add_bucket(
		sketch, (uint32_t)search_first(0, SKETCH_BUCKETS - 1, is_within, &duration_ns), 1);
}

/* Makes room for buckets from first to last. */
static int reach(struct sketch *sketch, uint32_t first, uint32_t last)
{
	uint32_t end = sketch->first + sketch->length;
	uint64_t *counts;

	if (sketch->length && first >= sketch->first && last < end)
		return 0;
	if (sketch->length) {
		first = first < sketch->first ? first : sketch->first;
		last = last >= end ? last : end - 1;
	}
	counts = calloc((size_t)last - first + 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	if (sketch->counts)
		memcpy(counts + (sketch->first - first), sketch->counts,
		       sketch->length * sizeof(*counts));
	free(sketch->counts);
	*sketch = (struct sketch){counts, first, last - first + 1};
	return 0;
}

int sketch_add_bucket(struct sketch *sketch, uint32_t bucket, uint64_t count)
{
	int rc = reach(sketch, bucket, bucket);

	if (rc == 0)
		sum_add_count(&sketch->counts[bucket - sketch->first], count);
	return rc;
}

int sketch_merge(struct sketch *sketch, const struct sketch *other)
{
	int rc;

	if (!other->length)
		return 0;
	rc = reach(sketch, other->first, other->first + other->length - 1);
	for (uint32_t i = 0; i < other->length && rc == 0; i++)
		sum_add_count(&sketch->counts[other->first + i - sketch->first], other->counts[i]);
	return rc;
}

size_t sketch_used(const struct sketch *sketch)
{
	size_t used = 0;

	for (uint32_t i = 0; i < sketch->length; i++)
		used += sketch->counts[i] > 0;
	return used;
}

/* Of all durations in the bucket none is further from it than SKETCH_ERROR. */
static double middle_ns(uint32_t bucket)
{
	double low, high;

	if (bucket == 0)
		return 0;
	low = (double)bounds_ns[bucket - 1] + 1;
	high = (double)bounds_ns[bucket];
	return 2 * low * high / (low + high);
}

double sketch_percentile(const struct sketch *sketch, unsigned percent)
{
	uint64_t total = 0, below = 0, wanted;

	pthread_once(&bounds_once, fill_bounds);
	for (uint32_t i = 0; i < sketch->length; i++)
		sum_add_count(&total, sketch->counts[i]);
	wanted = total / 100 * percent + (total % 100 * percent + 99) / 100;
	for (uint32_t i = 0; i < sketch->length; i++) {
		sum_add_count(&below, sketch->counts[i]);
		if (below && below >= wanted)
			return middle_ns(sketch->first + i);
	}
	return 0;
}

void sketch_free(struct sketch *sketch)
{
	free(sketch->counts);
	*sketch = (struct sketch){0};
}
