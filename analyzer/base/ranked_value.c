#include "base/ranked_value.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 16
#define DIGITS (UINT32_C(1) << DIGIT_BITS)

/* A number that is ordered as the values are. */
static uint64_t key_of(double value)
{
	uint64_t key;

	memcpy(&key, &value, sizeof(key));
	return key >> 63 ? ~key : key | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
	double value;

	key = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
	memcpy(&value, &key, sizeof(value));
	return value;
}

/* Those whose keys begin with the same digits: their first bits, down to shift, are those of prefix. */
struct range {
	uint64_t prefix;
	int shift; /* 64: all of them */
	size_t count;
};

static bool is_in(const struct range *range, uint64_t key)
{
	return range->shift == 64 || key >> range->shift == range->prefix;
}

/* Goes on to the part of the range that has the rank, which becomes that within it. */
static void narrow(struct range *range, size_t *rank, const struct ranked_values *values,
		   size_t *counts)
{
	int shift = range->shift - DIGIT_BITS;
	uint32_t digit = 0;
	double value;

	memset(counts, 0, DIGITS * sizeof(*counts));
	for (size_t i = 0; i < values->count; i++)
		if (values->value_at(i, &value, values->context) && is_in(range, key_of(value)))
			counts[key_of(value) >> shift & (DIGITS - 1)]++;
	while (digit + 1 < DIGITS && *rank >= counts[digit])
		*rank -= counts[digit++];
	range->prefix = (range->shift == 64 ? 0 : range->prefix << DIGIT_BITS) | digit;
	range->shift = shift;
	range->count = counts[digit];
}

static int compare_keys(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int sort_range(double *found, const struct range *range, size_t rank,
		      const struct ranked_values *values)
{
	uint64_t few[64], *keys = few;
	size_t count = 0;
	double value;

	if (range->count > sizeof(few) / sizeof(few[0]))
		keys = malloc(range->count * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < values->count && count < range->count; i++)
		if (values->value_at(i, &value, values->context) && is_in(range, key_of(value)))
			keys[count++] = key_of(value);
	if (count)
		qsort(keys, count, sizeof(*keys), compare_keys);
	*found = rank < count ? value_of(keys[rank]) : 0;
	if (keys != few)
		free(keys);
	return 0;
}

int ranked_value(double *value, const struct ranked_values *values, size_t rank)
{
	struct range range = {.shift = 64, .count = values->count};
	size_t *counts = NULL;
	int rc = 0;

	if (range.count > RANKED_VALUES_KEPT) {
		counts = malloc(DIGITS * sizeof(*counts));
		rc = counts ? 0 : -ENOMEM;
	}
	while (rc == 0 && range.count > RANKED_VALUES_KEPT && range.shift > 0)
		narrow(&range, &rank, values, counts);
	if (rc == 0 && range.shift > 0)
		rc = sort_range(value, &range, rank, values);
	else if (rc == 0) /* they are all equal */
		*value = value_of(range.prefix);
	free(counts);
	return rc;
}
