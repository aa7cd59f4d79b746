/*
 * ranked_value.h - the value of some rank, such as the median, among any number of values.
 *
 * Up to RANKED_VALUES_KEPT are sorted.  Of more it counts how many there are in each 65,536th of the range, then in each
 * 65,536th of the one that holds the rank: so memory stays what it is, and values are asked for a few times.
 */
#ifndef ROOFLINE_RANKED_VALUE_H
#define ROOFLINE_RANKED_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#define RANKED_VALUES_KEPT ((size_t)1 << 18)

/* Values of count items.  value_at() says whether an item has one; it is asked again and has to say the same. */
struct ranked_values {
	size_t count;
	bool (*value_at)(size_t index, double *value, void *context);
	void *context;
};

/* The value before which so many others come, rank less than there are values; no value is NaN.  Asks for each value five
 * times at most.  Returns 0 or -ENOMEM. */
int ranked_value(double *value, const struct ranked_values *values, size_t rank);

#endif
