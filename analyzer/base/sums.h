/*
 * sums.h - sums that stop at the largest number: a damaged recording can hold thousands of
 * operations that each claim a month.
 */
#ifndef ROOFLINE_SUMS_H
#define ROOFLINE_SUMS_H

#include <stddef.h>
#include <stdint.h>

static inline void sum_add_ns(int64_t *sum_ns, int64_t part_ns)
{
	if (__builtin_add_overflow(*sum_ns, part_ns, sum_ns))
		*sum_ns = INT64_MAX;
}

static inline void sum_add_ns_times(int64_t *sum_ns, int64_t part_ns, size_t times)
{
	int64_t parts_ns;

	if (__builtin_mul_overflow(part_ns, times, &parts_ns))
		parts_ns = INT64_MAX;
	sum_add_ns(sum_ns, parts_ns);
}

static inline void sum_add_count(uint64_t *sum, uint64_t part)
{
	if (__builtin_add_overflow(*sum, part, sum))
		*sum = UINT64_MAX;
}

#endif
