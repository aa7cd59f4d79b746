/*
 * atomics.h - what atomics cost each kernel, and how many to merge until they no longer matter.
 *
 * Pure arithmetic on counters; knows no output.  An atomic reaches L2 as a request of one or more
 * 32-byte sectors, and the atomic unit of the slice that owns the address takes one sector a cycle.
 * So time follows the hottest slice: on an H200, 2^20 reductions to one address are 1,048,576
 * requests and as many cycles of one slice, 0.77 ms; to 64 neighboring addresses 65,536 requests
 * and 262,144 sectors and cycles, 0.20 ms; to 2^20 addresses again 1,048,576 requests, spread over
 * all slices, 0.014 ms.
 *
 * Sectors per request are the spread of a request's addresses.  They are not retries: a counter
 * that all SMs hit reads 1.0.
 */
#ifndef ROOFLINE_ANALYSIS_ATOMICS_H
#define ROOFLINE_ANALYSIS_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/counters/roofline.h"
#include "trace/profile.h"

#define ATOMICS_UNKNOWN (-1.0) /* for every number below that follows from no counter */
#define ATOMICS_BATCH_MOST ((uint64_t)1 << 32) /* atomics merged into one: more are no advice */

/* Counts and times are per launch. */
struct atomics_kernel {
	uint32_t kernel;  /* kernel_names[] */
	const char *name; /* borrowed from the profile */
	uint64_t launch_count;
	double time_ns;	    /* of all launches, as in roofline.h */
	double duration_ns; /* mean; ATOMICS_UNKNOWN where no launch was timed */
	uint64_t least_sample_count, most_sample_count;

	double global_instructions;	 /* of warps: with a result and reductions together */
	double returned_share;		 /* of these: with a result, which their threads wait for */
	double shared_instructions;	 /* of warps, in shared memory */
	double requests;		 /* to L2: with a result and reductions together; where L2
					  * has two halves, as Hopper's, those that pass both count
					  * twice */
	double sectors;			 /* of these requests */
	double sectors_per_request;	 /* address spread, 1 to 4 */
	double requests_per_instruction; /* 32: every lane alone; 1: a leader, or neighbors */
	double cas_share;		 /* of the requests */

	double unit_cycles;   /* busy cycles of all slices: one for each sector, each address */
	double unit_share;    /* busy cycles of the mean slice by cycles that passed */
	double hottest_share; /* of the busiest slice, at most 1 */
	double slice_ratio;   /* busiest by mean: 1 is even, the number of slices is one address */
	double busy_slices;   /* sum by busiest: 1 is one address; as many as slices is even */

	double explained_ns; /* the time that atomics take at least: duration * hottest share, or
			      * ceiling_ns where that is more and one slice has nearly all */
	/*
	 * The same from measured ceilings: a slice takes sectors as fast as atomics on one address
	 * go (on an H200 at 0.8 of its cycles; compare-and-swap as fast as those), busy_slices of
	 * them at once, and all together no faster than the best rate measured.  ATOMICS_UNKNOWN without measured ceilings.
	 */
	double ceiling_ns;
	/*
	 * What as many adds take in shared memory, where each block has words of its own: as many words as slices are
	 * busy, or at best one for each lane, by the measured rates of all SMs.  ATOMICS_UNKNOWN without these or counters.
	 */
	double shared_ns, least_shared_ns;
	/*
	 * Without its atomics a launch would take at least other_ns: what its other roofs explain, an empty
	 * kernel's time, what starting its blocks takes (ceilings: block_wave; without it as long for each wave), or what it takes beyond its atomics,
	 * whichever is most.  That last depends on whether they return a result:
	 *
	 *   with one   their threads wait, so duration = explained + other: the rest is other's
	 *   reductions run beside the rest, so duration = max(atomics, other): where they bind a
	 *              kernel all of its duration is theirs, and the rest is unknown
	 *
	 * and in proportion where a kernel has both.  Of one that they do not bind, it is all that they
	 * do not explain.
	 */
	double other_ns;
	double kept_other_ns; /* of that, all but what L2 explains */
	double l2_ns,
		l2_atomics_part; /* what L2 explains, and how much of its bytes are atomics' sectors */
	/*
	 * The same when merging takes more away than atomics, as inside blocks that do the work of
	 * several: fewer blocks, at best a single wave; and the sectors of atomics are no bytes of L2.
	 */
	double least_other_ns;
	double most_other_ns; /* when reductions bind no more of it than ceiling_ns explains */
	/* Least power of two at which atomics, merged before they leave a block, no longer bind it; 0 unknown. */
	uint64_t batch;
	uint64_t most_batch; /* the same of least_other_ns */
	bool is_bottleneck; /* explained_ns is most of the kernel, and more than any roof explains */
};

struct atomics {
	struct atomics_kernel *kernels; /* with at least one atomic, most explained time first */
	size_t kernel_count;
	bool is_asked; /* the recording has counters of atomics, whatever they say */
};

/*
 * roofline: roofline_build() of the same profile and counters.  ceilings: may be NULL.  The caller
 * frees with atomics_free.  Fails with -ENOMEM only.
 */
int atomics_build(struct atomics **out, const struct profile *profile,
		  const struct counted *counted, const struct roofline *roofline,
		  const struct ceilings *ceilings, struct err *err);
void atomics_free(struct atomics *atomics);

/* Where atomics are merged into one. */
enum atomics_merging {
	/* Threads each do the work of N: what they read and write lies N apart for neighbors, and takes as many
	 * sectors of L2 as atomics did. */
	ATOMICS_IN_THREADS,
	/* Warps and blocks: as many threads as before, of which one goes on to L2, with N times fewer sectors, while
	 * other warps run. */
	ATOMICS_IN_BLOCKS,
	/* Likewise, but each thread adds to a word of its block in shared memory, which takes shared_ns at least. */
	ATOMICS_IN_SHARED
};

enum atomics_end { ATOMICS_LEAST, ATOMICS_MIDDLE, ATOMICS_MOST };

/*
 * What a launch takes with batch (at least 1) of its atomics merged into one, ns; at most duration_ns.  Reductions run
 * beside the rest of the kernel; those with a result make their threads wait, so when merged in threads they come before it;
 * where they were not counted separately, all of them do.  At the low end half as many are merged, at the high
 * end the rest is least_other_ns.  What merging itself takes is in it only in shared memory: other blocks run beside that, at
 * the low end none does.  ATOMICS_UNKNOWN where explained_ns is, and in shared memory where shared_ns is.
 */
double atomics_merged_ns(const struct atomics_kernel *kernel, enum atomics_merging where,
			 uint64_t batch, enum atomics_end end);

#endif
