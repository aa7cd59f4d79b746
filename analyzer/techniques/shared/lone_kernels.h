/*
 * lone_kernels.h - kernels that run while nothing else of their device's SMs does, as far as the recording has it.
 */
#ifndef ROOFLINE_LONE_KERNELS_H
#define ROOFLINE_LONE_KERNELS_H

#include "trace/profile.h"

/* Going through the kernels of a device. */
struct lone_kernels {
	const struct profile_op *next, *end; /* next: the next one that has blocks, or end */
	int64_t last_end_ns;		     /* of any kernel or graph before */
};

struct lone_kernels lone_kernels_of(const struct profile *profile, size_t device);

/* The next one that runs alone, or NULL: no more.  Counted ones are left out: reading counters lets no two run at
 * once. */
const struct profile_op *lone_kernels_next(struct lone_kernels *it);

#endif
