/*
 * sketch.h - the quantiles of any number of durations, to 1%, from counts that can be added up.
 *
 * Buckets whose bounds grow by 101/99, as in DDSketch (Masson, Rim, Lee: "DDSketch: A Fast and Fully-Mergeable Quantile
 * Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019, section 2.1), with bounds that are whole nanoseconds: below
 * 50 ns each duration has a bucket of its own.  A sketch is its counts alone, so that two of them are merged by adding
 * whole numbers, and the order of merging cannot matter.
 */
#ifndef ROOFLINE_SKETCH_H
#define ROOFLINE_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_ERROR 0.01
#define SKETCH_BUCKETS 2304 /* at most: what 63 bits of nanoseconds take */

/* The counts of buckets first, first + 1, ...; a zeroed struct is an empty sketch. */
struct sketch {
	uint64_t *counts; /* owned */
	uint32_t first, length;
};

/* Adds a duration; a negative one counts as 0.  Returns 0 or -ENOMEM. */
int sketch_add(struct sketch *sketch, int64_t duration_ns);

/* Adds to one bucket, which is below SKETCH_BUCKETS.  Returns 0 or -ENOMEM. */
int sketch_add_bucket(struct sketch *sketch, uint32_t bucket, uint64_t count);

/* Adds all of another sketch.  Returns 0 or -ENOMEM. */
int sketch_merge(struct sketch *sketch, const struct sketch *other);

/* How many buckets have a count. */
size_t sketch_used(const struct sketch *sketch);

/* The least duration that at least percent of all do not exceed (as durations_percentile of base/distribution.h), within
 * SKETCH_ERROR of it; 0 for an empty sketch. */
double sketch_percentile(const struct sketch *sketch, unsigned percent);

void sketch_free(struct sketch *sketch);

#endif
