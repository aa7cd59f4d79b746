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

/* How many before an item are marked; they must have been sealed. */
static inline size_t marks_rank(const struct marks *marks, size_t item)
{
	const struct marks_block *block = &marks->blocks[item / MARKS_BLOCK];
	uint64_t before = block->bits & ((UINT64_C(1) << item % MARKS_BLOCK) - 1);

	return block->before_count + (size_t)__builtin_popcountll(before);
}

#endif
