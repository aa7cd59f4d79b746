/*
 * accesses.h - which memory each kernel was given, and so which kernels depend on which (record --args).
 *
 * An address that a kernel was launched with stands for the allocation that it lies in.  What is done with that memory
 * the parameter's type tells (parameters.h): it is read (const T *), or changed (T *).  The latter is certain where the
 * kernel declares other parameters const, or has nothing else that it could change; otherwise, and for pointers in
 * structs, it is not told.
 *
 * Two kernels depend on each other where one changes what the other was given from the same address on.  They do not
 * where they share no memory but what both read.  In between nothing is told: parts of one allocation may be
 * different ones; so may be what kernels do from one address on when they are launched with several numbers beside
 * it, as with an offset.
 *
 * Not seen is memory that a kernel reaches without an argument: global variables, and addresses that lie in memory.
 */
#ifndef ROOFLINE_ANALYSIS_ACCESSES_H
#define ROOFLINE_ANALYSIS_ACCESSES_H

#include "trace/profile.h"

enum access_kind { ACCESS_READ, ACCESS_CHANGED, ACCESS_UNTOLD };

struct kernel_access {
	uint64_t offset;     /* from where on, in the allocation */
	uint32_t allocation; /* profile->allocations[]: the row that allocated it */
	uint32_t kind;	     /* enum access_kind */
};

/* What launches of one kernel with the same memory have in common. */
struct access_list {
	uint32_t kernel;       /* kernel_names[] */
	uint32_t first, count; /* its slice of items[] */
	bool is_whole;	       /* all that it was given is known */
	bool varies;	       /* what else it was given is not the same each time */
	uint32_t others;       /* hash of that, of the first launch */
	uint64_t launch_count;
};

/* Of one kernel and one allocation, over all launches. */
struct access_total {
	uint32_t kernel;	   /* kernel_names[] */
	uint32_t allocation;	   /* the first one of those below */
	uint32_t kind;		   /* enum access_kind */
	uint32_t site;		   /* memory->sites[]: where it was allocated */
	uint64_t bytes;		   /* of an allocation of that size */
	uint32_t memory;	   /* CUpti_ActivityMemoryKind */
	uint64_t allocation_count; /* different ones of that size and site */
	uint64_t launch_count;
	uint64_t kernel_launch_count; /* of the kernel, whatever it was given */
};

struct memory;

struct accesses {
	uint32_t *of_op; /* by op: lists[] or PROFILE_NONE; NULL: nothing was recorded */
	struct access_list *lists;
	size_t list_count;
	struct kernel_access *items;
	size_t item_count;
	uint64_t known_count, kernel_count; /* launches whose memory is all known, and all */
	struct access_total *
		totals; /* kernels with most launches first; of each what it reads first, then by bytes */
	size_t total_count;
};

/* memory: of the same profile.  Fails with -ENOMEM only. */
int accesses_build(struct accesses **out, const struct profile *profile,
		   const struct memory *memory, struct err *err);
void accesses_free(struct accesses *accesses);

enum dependence {
	DEPENDENCE_NONE,   /* they may run side by side */
	DEPENDENCE_UNTOLD, /* nobody knows */
	DEPENDENCE_THERE,  /* the second has to wait for the first */
};

/* Of two launches, by their lists[], which may be the same; PROFILE_NONE: of one of them nothing is known. */
enum dependence accesses_judge(const struct accesses *accesses, uint32_t first, uint32_t second);

/* Whether what it was given has memory that the host reads and writes itself: pinned or managed. */
bool accesses_share_with_host(const struct accesses *accesses, const struct profile *profile,
			      uint32_t list);

/* "reads", "reads and writes", "not told", for people; and for programs "read", "read_write", "unknown". */
const char *access_kind_title(enum access_kind kind);
const char *access_kind_key(enum access_kind kind);

#endif
