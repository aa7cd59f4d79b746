/*
 * search.h - one binary search for all that is sorted.
 *
 * What is searched need not be an array: is_reached gets an index and tells whether the position looked for is
 * there or earlier.  It is false up to that position and true from there on.
 *
 *	static bool is_ended_behind(size_t index, const void *context)
 *	{
 *		const struct moment *moment = context;
 *
 *		return moment->items[index].end_ns > moment->ns;
 *	}
 */
#ifndef ROOFLINE_SEARCH_H
#define ROOFLINE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* The first index of [begin, end) at which is_reached is true; end when there is none. */
static inline size_t search_first(size_t begin, size_t end,
				  bool (*is_reached)(size_t index, const void *context),
				  const void *context)
{
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (is_reached(middle, context))
			end = middle;
		else
			begin = middle + 1;
	}
	return begin;
}

#endif
