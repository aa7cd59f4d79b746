/*
 * fuse.h - neighbors that could be one kernel, to be looked at by a rule.
 */
#ifndef ROOFLINE_FUSE_H
#define ROOFLINE_FUSE_H

#include "techniques/application.h"
#include "techniques/shared/fused_shape.h"

/* Kernels of a framework that follow one another over as many elements, as names and grids show without counters. */
struct fused_row {
	uint64_t count;
	uint32_t first; /* signatures[] */
	double all_ns, longest_ns, shortest_ns;
	double saved_ns; /* of all_ns: the shortest for each but the first */
};

/* What fusing changes, added up. */
struct fused_kernels {
	uint64_t kernel_count;	/* that go into the one before them */
	uint64_t handed_count;	/* those of them that go on with what it wrote */
	double vanished_bytes;	/* of DRAM */
	double saved_ns;	/* by that alone, without launches and gaps */
	uint32_t first, second; /* signatures[]: who hands on most; only where handed_count */
	double most_handed_bytes;
	/* signatures[] of what becomes one kernel, the longest row with most bytes handed on in it */
	uint32_t chain[FUSED_KERNELS_MOST];
	size_t chain_count;
	double chain_bytes;
	double chain_values; /* registers for a thread's, where each needs those of other threads; else 1 */
	/* signatures[]: the last one that is left apart, as one kernel with those before it may hold so many values in a
	 * thread, which are more than it has registers; only where that is above 0. */
	uint32_t apart;
	double apart_values;
	struct fused_row row; /* without counters: that which saves most; else all 0 */
};

/* Add up over all loops; change nothing. */
struct fused_kernels fuse_find(const struct recorded_run *run, const struct loops *loops);

#endif
