#include "base/radix.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGIT_COUNT (1u << DIGIT_BITS)
#define DIGIT(key, shift) (((key) >> (shift)) & (DIGIT_COUNT - 1))

static void sort_by_digit(const uint32_t *from, uint32_t *to, size_t count, radix_key key,
			  const void *context, int shift)
{
	size_t first[DIGIT_COUNT] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		first[DIGIT(key(from[i], context), shift)]++;
	for (size_t i = 0; i < DIGIT_COUNT; i++) {
		size_t digit_count = first[i];

		first[i] = sum;
		sum += digit_count;
	}
	for (size_t i = 0; i < count; i++)
		to[first[DIGIT(key(from[i], context), shift)]++] = from[i];
}

/* Bits in which keys differ: digits without any need no pass. */
static uint32_t differing_bits(const uint32_t *indices, size_t count, radix_key key,
			       const void *context)
{
	uint32_t bits = 0, first = count ? key(indices[0], context) : 0;

	for (size_t i = 1; i < count; i++)
		bits |= key(indices[i], context) ^ first;
	return bits;
}

void radix_sort(uint32_t *indices, uint32_t *scratch, size_t count, radix_key key,
		const void *context)
{
	uint32_t bits = differing_bits(indices, count, key, context);
	uint32_t *from = indices, *to = scratch;

	for (int shift = 0; shift < 32; shift += DIGIT_BITS) {
		uint32_t *swap = from;

		if (!DIGIT(bits, shift))
			continue;
		sort_by_digit(from, to, count, key, context, shift);
		from = to;
		to = swap;
	}
	if (from != indices)
		memcpy(indices, from, count * sizeof(*indices));
}
