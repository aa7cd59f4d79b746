/*
 * loop_anchors.h - steps that are of several kinds: what lies between two copies of one sort and size.
 *
 * A step of a framework that is given batches of several lengths launches other kernels, or more of them, for each, and comes
 * again in no order.  What each step has once is a copy: of a batch to the device, or of a result back.
 */
#ifndef ROOFLINE_LOOP_ANCHORS_H
#define ROOFLINE_LOOP_ANCHORS_H

#include "analysis/loops/loop_iterations.h"

struct anchored {
	struct iterations
		iterations; /* the caller frees starts; count 0: no copy parts such steps */
	size_t kind_count;  /* different ones of those that come again */
};

/* Find the copies that part most of the tokens into kinds of steps that come again, and describe them with the fewest tokens.
 * by_sizes: steps of a kind have equal grids and bytes; else equal loose tokens.  Returns 0 or -ENOMEM. */
int anchors_find(struct anchored *found, const struct tokens *tokens, bool by_sizes);

#endif
