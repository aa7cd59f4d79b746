/*
 * marks.h - which of many items are marked, and how many before one of them are, in 2 bits an item.
 *
 * What few of many items have stands in an array of its own, in which marks_rank() finds it.
 */
#ifndef ROOFLINE_MARKS_H
#define ROOFLINE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS_BLOCK 64

/* Of so many items: bit i, the i-th is marked; how many of all before them are. */
struct marks_block {
	uint64_t bits, before_count;
};

struct marks {
	struct marks_block *blocks; /* owned */
	size_t block_count;
};

/* Of so many items none is marked.  Returns 0 or -ENOMEM; the caller frees with marks_free, also after a failure. */
int marks_open(struct marks *marks, size_t item_count);
void marks_free(struct marks *marks);

/* Counts, when all are marked; returns how many are. */
size_t marks_seal(struct marks *marks);

static inline void marks_set(struct marks *marks, size_t item)
{
	marks->blocks[item / MARKS_BLOCK].bits |= UINT64_C(1) << item % MARKS_BLOCK;
}

static inline bool marks_has(const struct marks *marks, size_t item)
{
	return marks->blocks[item / MARKS_BLOCK].bits >> item % MARKS_BLOCK & 1;
}

/* As __builtin_popcountll(), which calls a function where the processor need not have an instruction for it. */
static inline size_t marks_count_bits(uint64_t bits)
{
	const uint64_t each_byte = UINT64_C(0x0101010101010101);

	bits -= bits >> 1 & 0x55 * each_byte; /* in 2 bits how many of them are set */
	bits = (bits & 0x33 * each_byte) + (bits >> 2 & 0x33 * each_byte);
	bits = (bits + (bits >> 4)) & 0x0f * each_byte;
	return (size_t)(bits * each_byte >> 56);
}

/* How many before an item are marked; they must have been sealed. */
static inline size_t marks_rank(const struct marks *marks, size_t item)
{
	const struct marks_block *block = &marks->blocks[item / MARKS_BLOCK];
	uint64_t before = block->bits & ((UINT64_C(1) << item % MARKS_BLOCK) - 1);

	return block->before_count + marks_count_bits(before);
}

#endif
