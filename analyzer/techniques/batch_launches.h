/*
 * batch_launches.h - which launches could be one, for those who tell of it.
 */
#ifndef ROOFLINE_BATCH_LAUNCHES_H
#define ROOFLINE_BATCH_LAUNCHES_H

#include "techniques/application.h"

struct batched_launches {
	uint64_t launch_count; /* of all batches */
	uint64_t batch_count;
	/* Of the batch with most launches. */
	uint64_t most_launches;
	uint32_t signature; /* of its first one */
	double fill;	    /* part of the SMs that a launch has a block for, on average */
	int64_t shortest_ns, longest_ns, sum_ns; /* of its kernels */
};

/* In all loops of the device. */
struct batched_launches batch_launches_find(const struct recorded_run *run,
					    const struct loops *loops, size_t device);

#endif
