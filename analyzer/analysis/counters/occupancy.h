/*
 * occupancy.h - how many blocks of a kernel fit on an SM, and how many waves of them a launch is.
 *
 * Pure arithmetic on a launch's shape and a device's limits, as NVIDIA's occupancy calculator does it
 * (cuda_occupancy.h of the CUDA toolkit; CUDA C++ Programming Guide, 'Compute Capabilities').  It is what
 * could run; what did run only a counter measures.
 */
#ifndef ROOFLINE_OCCUPANCY_H
#define ROOFLINE_OCCUPANCY_H

#include "trace/profile.h"

/* What keeps a further block off an SM. */
enum occupancy_limit {
	OCCUPANCY_WARPS,
	OCCUPANCY_BLOCKS,
	OCCUPANCY_REGISTERS,
	OCCUPANCY_SHARED,
	OCCUPANCY_LIMIT_COUNT
};

struct occupancy {
	uint32_t blocks_per_sm;
	double warps_ratio; /* theoretical occupancy: of the warps that an SM can hold, 0 to 1 */
	double waves;	    /* blocks of the launch by those that fit on the whole device */
	enum occupancy_limit limit;
};

/* False when the recording lacks the device's limits or the launch fits nowhere.  Clusters, which need
 * several SMs at once, and a share of L1 chosen smaller than the kernel could have are not looked at. */
bool occupancy_of(struct occupancy *occupancy, const struct profile_device *device,
		  const struct profile_signature *launch);

/* "warps", "blocks", "registers", "shared memory" */
const char *occupancy_limit_name(enum occupancy_limit limit);

#endif
