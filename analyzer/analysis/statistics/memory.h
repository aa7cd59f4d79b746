/*
 * memory.h - what memory a program allocates: by device and kind of memory, and by where in the program.
 *
 * Memory is live from the call that allocates it to the one that frees it; in the order of a stream, too.  So a pool
 * counts with what was allocated from it, not with what it keeps.  What is freed counts where it was allocated.
 */
#ifndef ROOFLINE_ANALYSIS_MEMORY_H
#define ROOFLINE_ANALYSIS_MEMORY_H

#include "trace/profile.h"

#define MEMORY_PARTS \
	32 /* equal parts of the time from the first allocation to the end of the recording */

struct memory_use {
	uint64_t allocation_count, free_count;
	uint64_t allocated_bytes;
	uint64_t live_count, live_bytes; /* not freed when the recording ended */
	uint64_t peak_bytes;		 /* most bytes live at once */
	int64_t peak_ns;		 /* when they first were, 0 for none */
	uint64_t unseen_free_count; /* allocated again at the same address, with no free between */
};

struct memory_kind {
	uint32_t device;      /* devices[] or PROFILE_NONE */
	uint32_t memory;      /* CUpti_ActivityMemoryKind */
	uint32_t process;     /* processes[] of a pool, else PROFILE_NONE */
	uint32_t pool_number; /* of the process, from 1 on; 0: no pool */
	uint64_t pool;	      /* its address */
	struct memory_use use;
	uint64_t unseen_allocation_count;   /* freed, but not allocated in the recording */
	int64_t call_ns;		    /* time in the calls that allocate and free */
	uint64_t parts_bytes[MEMORY_PARTS]; /* most live bytes in each part of the time */
};

/* Where memory was allocated: in the innermost NVTX range of the calling thread, else by a call. */
struct memory_site {
	const char *domain, *range; /* NULL without a range */
	const char *call;	    /* NULL with a range, or when it is not known */
	uint32_t number;	    /* in the order of finding */
	struct memory_use use;
};

struct memory {
	struct memory_kind *kinds; /* by device, then memory, then process and pool_number */
	size_t kind_count;
	struct memory_site *sites; /* by peak_bytes, largest first */
	size_t site_count;
	uint32_t *
		row_sites; /* as profile->allocations: sites[] of one that allocates; NULL without any */
	int64_t first_ns, last_ns; /* the time that parts_bytes divides */
};

/* -ENOMEM. */
int memory_build(struct memory **out, const struct profile *profile, struct err *err);
void memory_free(struct memory *memory);

#endif
