/*
 * array.h - room for one more item in a growing array.
 *
 * Capacity doubles; large arrays move by remapping pages and pages never
 * written cost no memory, so ten million items do not need twice their size.
 */
#ifndef ROOFLINE_ARRAY_H
#define ROOFLINE_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/* Returns items with room for at least needed of them, or NULL (items unchanged) without memory. */
static inline void *array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size)
{
	size_t larger = *capacity ? *capacity : 16;
	void *moved;

	if (needed <= *capacity)
		return items;
	while (larger < needed)
		larger *= 2;
	if (larger > SIZE_MAX / 2 / item_size)
		return NULL;
	moved = realloc(items, larger * item_size);
	if (moved)
		*capacity = larger;
	return moved;
}

/* The next free item of array, or NULL without memory.  The caller raises count. */
#define ARRAY_NEXT(array, capacity, count)                                                \
	({                                                                                \
		__typeof__(array) array_moved =                                           \
			array_reserve(array, &(capacity), (count) + 1, sizeof(*(array))); \
		if (array_moved)                                                          \
			(array) = array_moved;                                            \
		array_moved ? &(array)[count] : NULL;                                     \
	})

#endif
