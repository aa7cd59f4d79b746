/*
 * live_memory.h - which memory is allocated while one goes through a run in the order of time.
 */
#ifndef ROOFLINE_ANALYSIS_LIVE_MEMORY_H
#define ROOFLINE_ANALYSIS_LIVE_MEMORY_H

#include "trace/profile.h"

struct live_block {
	uint64_t address, bytes;
	uint32_t process;
	uint32_t allocation; /* profile->allocations[]: the row that allocated it */
};

struct live_memory {
	const struct profile *profile; /* borrowed */
	struct live_block *blocks;     /* owned; by process, then address */
	size_t count, capacity;
	size_t next;	  /* profile->allocations[] that is not taken in yet */
	uint64_t version; /* another one whenever a block has come or gone */
};

/* Takes in what was allocated and freed until then, that moment included.  Returns 0 or -ENOMEM. */
int live_memory_advance(struct live_memory *live, int64_t time_ns);

/* The block that an address lies in, or NULL.  Valid until the next advance. */
const struct live_block *live_memory_find(const struct live_memory *live, uint32_t process,
					  uint64_t address);

void live_memory_free(struct live_memory *live);

#endif
