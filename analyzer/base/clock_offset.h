/*
 * clock_offset.h - how far one clock is ahead of another, by what happened at the same time by both.
 *
 * The median of the differences between both clocks' times is how much they differ, and the median of how much these
 * differences differ from it is the error.  Differences wrap, as times of damaged recordings may be any.
 */
#ifndef ROOFLINE_CLOCK_OFFSET_H
#define ROOFLINE_CLOCK_OFFSET_H

#include <stddef.h>
#include <stdint.h>

struct clock_offset {
	int64_t ahead_ns;
	int64_t error_ns; /* of half of the differences no more than that */
};

static inline int64_t clock_difference_ns(int64_t ns, int64_t other_ns)
{
	return (int64_t)((uint64_t)ns - (uint64_t)other_ns);
}

/* Of an even number the lower one of the two in the middle.  Sorts the values, of which there is one at least. */
int64_t clock_median_ns(int64_t *values_ns, size_t count);

/* From differences, of which there is one at least; they are something else afterwards. */
struct clock_offset clock_offset_of(int64_t *differences_ns, size_t count);

/* Against a third clock, of which the other one is `base` ahead: the greater of both errors is its own. */
struct clock_offset clock_offset_add(struct clock_offset offset, struct clock_offset base);

#endif
