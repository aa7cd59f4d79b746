/*
 * near_numbers.h - an array of numbers of which those beside each other are near, in 2 bytes each.
 *
 * An operation waits for one of those shortly before it, and a call's operations stand behind those of the call before:
 * kept is by how much a number is above that of its block.  A block in which they are further apart has them whole.
 */
#ifndef ROOFLINE_NEAR_NUMBERS_H
#define ROOFLINE_NEAR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEAR_NUMBERS_BLOCK 64
#define NEAR_NUMBERS_NONE UINT32_MAX
#define NEAR_NUMBERS_NO_OFFSET UINT16_MAX

struct near_block {
	uint32_t *whole; /* owned; NULL: offsets tell */
	uint32_t least;	 /* from which these are */
	bool has_least;
};

struct near_numbers {
	struct near_block *blocks; /* owned; of NEAR_NUMBERS_BLOCK numbers each */
	uint16_t *offsets;	   /* owned; by number; NEAR_NUMBERS_NO_OFFSET: there is none */
	size_t block_count;
};

/* So many, as yet NEAR_NUMBERS_NONE.  Returns 0 or -ENOMEM; the caller frees with near_numbers_free, also after a failure. */
int near_numbers_open(struct near_numbers *numbers, size_t count);
void near_numbers_free(struct near_numbers *numbers);

/* Returns 0 or -ENOMEM. */
int near_numbers_set(struct near_numbers *numbers, size_t index, uint32_t number);

static inline uint32_t near_numbers_get(const struct near_numbers *numbers, size_t index)
{
	const struct near_block *block = &numbers->blocks[index / NEAR_NUMBERS_BLOCK];

	if (block->whole)
		return block->whole[index % NEAR_NUMBERS_BLOCK];
	return numbers->offsets[index] == NEAR_NUMBERS_NO_OFFSET
		       ? NEAR_NUMBERS_NONE
		       : block->least + numbers->offsets[index];
}

#endif
