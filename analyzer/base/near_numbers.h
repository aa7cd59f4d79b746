/*
 * near_numbers.h - an array of numbers of which those beside each other are near, in 2 bytes each.
 *
 * An operation waits for one of those shortly before it, and a call's operations stand behind those of the call before:
 * kept is by how much a number is above that of its block.  A block in which some are further away has these whole.
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
	uint32_t
		*whole; /* owned; of numbers without an offset; NULL: these are NEAR_NUMBERS_NONE */
	uint32_t least; /* from which these are */
	bool has_least;
};

struct near_numbers {
	struct near_block *blocks; /* owned; of NEAR_NUMBERS_BLOCK numbers each */
	uint16_t *offsets;	   /* owned; by number; NEAR_NUMBERS_NO_OFFSET: whole[] has it */
	size_t block_count;
};

/* So many, as yet NEAR_NUMBERS_NONE.  Returns 0 or -ENOMEM; the caller frees with near_numbers_free, also after a failure. */
int near_numbers_open(struct near_numbers *numbers, size_t count);
void near_numbers_free(struct near_numbers *numbers);

/* Returns 0 or -ENOMEM. */
int near_numbers_set(struct near_numbers *numbers, size_t index, uint32_t number);

/* Known to near_numbers_get only: a number that has no offset. */
uint32_t near_numbers_get_whole(const struct near_numbers *numbers, size_t index);

static inline uint32_t near_numbers_get(const struct near_numbers *numbers, size_t index)
{
	uint16_t offset = numbers->offsets[index];

	return offset == NEAR_NUMBERS_NO_OFFSET
		       ? near_numbers_get_whole(numbers, index)
		       : numbers->blocks[index / NEAR_NUMBERS_BLOCK].least + offset;
}

#endif
