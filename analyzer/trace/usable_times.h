/*
 * usable_times.h - which times of a row can be used.
 */
#ifndef ROOFLINE_USABLE_TIMES_H
#define ROOFLINE_USABLE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* One operation, call or wait that took longer is a damaged number; analyses add up thousands of
 * them without leaving 64 bits. */
#define LONGEST_NS ((int64_t)30 * 24 * 3600 * 1000000000)
/* In the year 2116: what is added to a moment leads out of 64 bits nowhere. */
#define LATEST_NS (INT64_MAX / 2)

/* Both set, in order, less than 30 days apart. */
static inline bool usable_times(int64_t start_ns, int64_t end_ns)
{
	return start_ns > 0 && end_ns >= start_ns && end_ns <= LATEST_NS &&
	       end_ns - start_ns <= LONGEST_NS;
}

#endif
