#include "analysis/radix.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGIT_COUNT (1u << DIGIT_BITS)
#define DIGIT(key, shift) (((key) >> (shift)) & (DIGIT_COUNT - 1))

/* One pass from from[] to to[]; false, and nothing moved, when all have the same digit. */
static bool sort_by_digit(const uint32_t *from, uint32_t *to, size_t count, radix_key key,
			  const void *context, int shift)
{
	size_t first[DIGIT_COUNT] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		first[DIGIT(key(from[i], context), shift)]++;
	for (size_t i = 0; i < DIGIT_COUNT; i++) {
		size_t digit_count = first[i];

		if (digit_count == count)
			return false;
		first[i] = sum;
		sum += digit_count;
	}
	for (size_t i = 0; i < count; i++)
		to[first[DIGIT(key(from[i], context), shift)]++] = from[i];
	return true;
}

void radix_sort(uint32_t *indices, uint32_t *scratch, size_t count, radix_key key,
		const void *context)
{
	uint32_t *from = indices, *to = scratch;

	for (int shift = 0; count > 1 && shift < 32; shift += DIGIT_BITS) {
		if (sort_by_digit(from, to, count, key, context, shift)) {
			uint32_t *swap = from;

			from = to;
			to = swap;
		}
	}
	if (from != indices)
		memcpy(indices, from, count * sizeof(*indices));
}
