/*
 * launch.h - how a trial launched its kernel, and how an untried point would.
 *
 * Threads, blocks and shared memory mostly are products of powers of parameters: a block of {block} threads, a grid
 * of n / {tile} in each direction.  Where those that were recorded agree with such a product exactly, it holds for
 * the other points as well: what cannot be launched need not be tried.
 */
#ifndef ROOFLINE_TUNE_LAUNCH_H
#define ROOFLINE_TUNE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/profile.h"

struct tune_space;
struct tune_history;

/* The launch shape with the most time of the kernels that are tuned; all 0: not recorded. */
struct tune_launch {
	double threads, blocks; /* of a block; of the grid */
	double registers;	/* of a thread */
	double static_shared_bytes, dynamic_shared_bytes;
	double occupancy; /* theoretical, 0 to 1; 0: unknown */
	double waves;
};

/* The launches of all points, as they follow from those that were recorded. */
struct tune_launches {
	struct tune_launch
		*points; /* owned; a quantity that does not follow is 0.  NULL: none does */
	bool is_exact;	 /* all but grid and registers agree exactly with what was recorded */
};

/* device: its limits; NULL where they are not known.  Returns 0 or -ENOMEM; tune_launches_free in either case. */
int tune_launches_predict(struct tune_launches *launches, const struct tune_history *history,
			  const struct profile_device *device);
void tune_launches_free(struct tune_launches *launches);

/* Fills in occupancy and waves, which stay 0 where they do not follow. */
void tune_launch_fill(struct tune_launch *launch, const struct profile_device *device);

/* Why the GPU cannot launch that, or NULL. */
const char *tune_launch_why_impossible(const struct tune_launch *launch,
				       const struct profile_device *device);

#endif
