/*
 * launch_fill.h - how much of the GPU has work in a launch, by its shape alone.
 *
 * Blocks are taken to be equally long.  Fewer blocks than SMs leave SMs empty.  From a block for each SM on
 * there are two views: blocks share their SM's speed, and the SM with most of them is the last; or each
 * runs as fast as alone, and the last wave is as long as a full one.  Only what both leave empty counts.
 * A block's last warp may have lanes without a thread: of a block of 8 threads, 24 of 32.  An SM holds so many blocks and no
 * more: of blocks of one warp, wave after wave, half of the warps that it has room for.
 *
 * Pure arithmetic, as occupancy.h.
 */
#ifndef ROOFLINE_LAUNCH_FILL_H
#define ROOFLINE_LAUNCH_FILL_H

#include "analysis/counters/occupancy.h"

/* Launches with more than that are filled: runs differ by as much as the rest could bring. */
#define LAUNCH_FILL_MOST 0.75

/* What it is that leaves the GPU empty. */
enum launch_lack {
	LAUNCH_LACKS_NOTHING,
	LAUNCH_LACKS_BLOCKS, /* fewer than SMs */
	LAUNCH_LACKS_LANES,  /* blocks with half of a warp or less in it */
	LAUNCH_LACKS_WARPS,  /* as many blocks as an SM may hold, and room for more warps */
	LAUNCH_ENDS_UNEVEN,  /* a last wave with few blocks */
};

struct launch_fill {
	struct occupancy occupancy;
	uint64_t blocks;
	uint32_t threads; /* of a block */
	double sms;	  /* part of SMs that have a block, over the launch; 0 to 1 */
	double lanes;	  /* part of the lanes of its warps that have a thread */
	double warps; /* part of an SM's warps that blocks of this size leave it, 1 where it is not their number */
	enum launch_lack lack;
	/* What is left of its time where the same work fills the GPU: all SMs, lanes and warps; likewise with as many blocks on
	 * an SM as fit, each as fast as alone. */
	double filled_share, crowded_share;
};

/* Warps of a block. */
uint32_t launch_fill_warps(const struct launch_fill *fill);

/* False where occupancy_of is. */
bool launch_fill_of(struct launch_fill *fill, const struct profile_device *device,
		    const struct profile_signature *launch);

#endif
