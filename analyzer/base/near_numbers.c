#include "base/near_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block begins so much below the first of its numbers: most others are greater. */
#define ROOM_BELOW (UINT16_MAX / 4)

int near_numbers_open(struct near_numbers *numbers, size_t count)
{
	size_t block_count = count / NEAR_NUMBERS_BLOCK + 1;
	size_t bytes = block_count * NEAR_NUMBERS_BLOCK * sizeof(*numbers->offsets);

	*numbers = (struct near_numbers){
		.blocks = calloc(block_count, sizeof(*numbers->blocks)),
		.offsets = malloc(bytes),
		.block_count = block_count,
	};
	if (!numbers->blocks || !numbers->offsets)
		return -ENOMEM;
	memset(numbers->offsets, 0xff, bytes);
	return 0;
}

void near_numbers_free(struct near_numbers *numbers)
{
	for (size_t i = 0; numbers->blocks && i < numbers->block_count; i++)
		free(numbers->blocks[i].whole);
	free(numbers->blocks);
	free(numbers->offsets);
	*numbers = (struct near_numbers){0};
}

static int make_whole(struct near_block *block)
{
	uint32_t *whole = malloc(NEAR_NUMBERS_BLOCK * sizeof(*whole));

	if (!whole)
		return -ENOMEM;
	for (size_t i = 0; i < NEAR_NUMBERS_BLOCK; i++)
		whole[i] = NEAR_NUMBERS_NONE;
	block->whole = whole;
	return 0;
}

/* Of a number, which is not NEAR_NUMBERS_NONE, in a block; NEAR_NUMBERS_NO_OFFSET: it has none there. */
static uint16_t offset_in(struct near_block *block, uint32_t number)
{
	if (!block->has_least) {
		block->least = number > ROOM_BELOW ? number - ROOM_BELOW : 0;
		block->has_least = true;
	}
	return number >= block->least && number - block->least < NEAR_NUMBERS_NO_OFFSET
		       ? (uint16_t)(number - block->least)
		       : NEAR_NUMBERS_NO_OFFSET;
}

int near_numbers_set(struct near_numbers *numbers, size_t index, uint32_t number)
{
	struct near_block *block = &numbers->blocks[index / NEAR_NUMBERS_BLOCK];
	uint16_t offset =
		number == NEAR_NUMBERS_NONE ? NEAR_NUMBERS_NO_OFFSET : offset_in(block, number);
	bool is_far = offset == NEAR_NUMBERS_NO_OFFSET && number != NEAR_NUMBERS_NONE;

	if (is_far && !block->whole && make_whole(block) < 0)
		return -ENOMEM;
	if (block->whole)
		block->whole[index % NEAR_NUMBERS_BLOCK] = number;
	numbers->offsets[index] = offset;
	return 0;
}

uint32_t near_numbers_get_whole(const struct near_numbers *numbers, size_t index)
{
	const struct near_block *block = &numbers->blocks[index / NEAR_NUMBERS_BLOCK];

	return block->whole ? block->whole[index % NEAR_NUMBERS_BLOCK] : NEAR_NUMBERS_NONE;
}
