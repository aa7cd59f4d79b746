/*
 * stable_sort.h - a stable sort for what is nearly sorted already.
 *
 * Rows of a recording come almost in the order in which they happened.  Sorted
 * input costs one comparison an item and no memory; otherwise room for the
 * smaller overlapping part only, at most half of the items.  qsort promises neither.
 */
#ifndef ROOFLINE_STABLE_SORT_H
#define ROOFLINE_STABLE_SORT_H

#include <stddef.h>

/* Negative, 0 or positive, as for qsort. */
typedef int (*stable_compare)(const void *a, const void *b);

/* Sorts count items of item_size bytes, at most 128.  Returns 0, or -ENOMEM with the items all
 * there in an unspecified order. */
int stable_sort(void *items, size_t count, size_t item_size, stable_compare compare);

#endif
