#include "analysis/accesses/live_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

struct place {
	const struct live_memory *live;
	uint32_t process;
	uint64_t address;
};

static bool is_behind(size_t index, const void *context)
{
	const struct place *place = context;
	const struct live_block *block = &place->live->blocks[index];

	return block->process != place->process ? block->process > place->process
						: block->address > place->address;
}

/* The first block behind an address. */
static size_t find_behind(const struct live_memory *live, uint32_t process, uint64_t address)
{
	return search_first(0, live->count, is_behind, &(struct place){live, process, address});
}

static void remove_block(struct live_memory *live, size_t index)
{
	live->count--;
	memmove(&live->blocks[index], &live->blocks[index + 1],
		(live->count - index) * sizeof(*live->blocks));
}

/* What a block takes the place of was freed unseen. */
static void remove_overlapped(struct live_memory *live, uint32_t process, uint64_t address,
			      uint64_t bytes)
{
	size_t i = find_behind(live, process, address);

	if (i && live->blocks[i - 1].process == process &&
	    address - live->blocks[i - 1].address < live->blocks[i - 1].bytes)
		remove_block(live, --i);
	while (i < live->count && live->blocks[i].process == process &&
	       live->blocks[i].address - address < bytes)
		remove_block(live, i);
}

static int add_block(struct live_memory *live, uint32_t row)
{
	const struct profile_allocation *from = &live->profile->allocations[row];
	size_t index;

	remove_overlapped(live, from->process, from->address, from->bytes);
	if (!ARRAY_NEXT(live->blocks, live->capacity, live->count))
		return -ENOMEM;
	index = find_behind(live, from->process, from->address);
	memmove(&live->blocks[index + 1], &live->blocks[index],
		(live->count - index) * sizeof(*live->blocks));
	live->blocks[index] = (struct live_block){from->address, from->bytes, from->process, row};
	live->count++;
	return 0;
}

static void free_block(struct live_memory *live, const struct profile_allocation *row)
{
	size_t i = find_behind(live, row->process, row->address);

	if (i && live->blocks[i - 1].process == row->process &&
	    live->blocks[i - 1].address == row->address)
		remove_block(live, i - 1);
}

int live_memory_advance(struct live_memory *live, int64_t time_ns)
{
	const struct profile *profile = live->profile;
	int rc = 0;

	while (rc == 0 && live->next < profile->allocation_count &&
	       profile->allocations[live->next].time_ns <= time_ns) {
		const struct profile_allocation *row = &profile->allocations[live->next];

		if (row->is_free)
			free_block(live, row);
		else if (row->address) /* that of a static variable is not known */
			rc = add_block(live, (uint32_t)live->next);
		live->next++;
		live->version++;
	}
	return rc;
}

const struct live_block *live_memory_find(const struct live_memory *live, uint32_t process,
					  uint64_t address)
{
	size_t i = find_behind(live, process, address);

	if (!i || live->blocks[i - 1].process != process ||
	    address - live->blocks[i - 1].address >= live->blocks[i - 1].bytes)
		return NULL;
	return &live->blocks[i - 1];
}

void live_memory_free(struct live_memory *live)
{
	free(live->blocks);
}
