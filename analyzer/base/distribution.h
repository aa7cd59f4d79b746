/*
 * distribution.h - durations by group, and each group's totals and percentiles.
 *
 * Counting sort: say how many durations each group has (durations_count),
 * lay them out (durations_lay_out), add them (durations_add), then ask.  All of
 * ten million durations in one array of 80 MB, and time linear in them.
 */
#ifndef ROOFLINE_DISTRIBUTION_H
#define ROOFLINE_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

/* Of durations in nanoseconds.  Percentiles are nearest-rank on the sorted durations. */
struct distribution {
	uint64_t count;
	int64_t total_ns, min_ns, max_ns, p50_ns, p99_ns;
	double mean_ns;
};

struct durations {
	int64_t *values_ns; /* owned; group after group once laid out */
	size_t *first;	    /* owned; where each group begins, one more than there are groups */
	size_t *filled;	    /* owned; how many of each group have been added */
	size_t group_count;
};

/* Room for groups, all empty.  Returns 0 or -ENOMEM; durations_free in either case. */
int durations_open(struct durations *durations, size_t group_count);

/* Announces one duration of a group. */
static inline void durations_count(struct durations *durations, size_t group)
{
	durations->first[group + 1]++;
}

/* After the last announcement.  Returns 0 or -ENOMEM. */
int durations_lay_out(struct durations *durations);

static inline void durations_add(struct durations *durations, size_t group, int64_t duration_ns)
{
	durations->values_ns[durations->first[group] + durations->filled[group]++] = duration_ns;
}

/* Of the durations added to a group, which it reorders.  All zero for an empty group. */
struct distribution durations_distribution(struct durations *durations, size_t group);

/* The least of them that at least percent of them do not exceed, 0 for an empty group; reorders them as well. */
int64_t durations_percentile(struct durations *durations, size_t group, size_t percent);

/* Between which 95 in 100 medians lie when as many are measured again: by the binomial distribution the durations of
 * these ranks; of fewer than six all of them.  Reorders them; both 0 for an empty group. */
void durations_median_interval(struct durations *durations, size_t group, int64_t *low_ns,
			       int64_t *high_ns);

void durations_free(struct durations *durations);

#endif
