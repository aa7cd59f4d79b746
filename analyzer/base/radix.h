/*
 * radix.h - stable sorting of many indices by 32-bit keys, linear in their number.
 */
#ifndef ROOFLINE_RADIX_H
#define ROOFLINE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Key of an index; called often, keep it short. */
typedef uint32_t (*radix_key)(uint32_t index, const void *context);

/* Sorts indices[] by key; equal keys keep their order.  scratch has room for count too. */
void radix_sort(uint32_t *indices, uint32_t *scratch, size_t count, radix_key key,
		const void *context);

#endif
