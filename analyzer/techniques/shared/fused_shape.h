/*
 * fused_shape.h - what kernels would need as one kernel, estimated from what the machine code of each needs.
 *
 * Registers of a thread and shared memory of a block are at least the most that one of them has: each value is used as
 * soon as it is made, and shared memory is used again.  They are at most what all of them have together: all live at once,
 * but for the registers that any kernel needs for its index and addresses, which one kernel needs once; or these and all
 * values, where a thread holds those that other threads made.
 * Of tests/recordings the fused kernels are near the low end: fuse_elementwise.fused has the most of its parts (24 of 24,
 * 16 and 16 registers), clusters.cluster as well (40 of 40 and 32; 33,812 bytes of 33,808), fuse_reduction.block and
 * fuse_conv_bn_relu.fused one more (32 of 31, 30 and 26; 220 of 219, 32 and 16).  overfused.seven is above the high end
 * (168, with 128 values, of seven kernels with 16 registers).
 *
 * Pure.
 */
#ifndef ROOFLINE_FUSED_SHAPE_H
#define ROOFLINE_FUSED_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/profile.h"

#define FUSED_KERNELS_MOST 16
/* Of a thread, from compute capability 5.0 on: the CUDA C++ Programming Guide, 'Compute Capabilities'. */
#define FUSED_REGISTERS_MOST 255

struct fused_shape {
	uint32_t registers_least, registers_most; /* of a thread */
	uint64_t shared_least, shared_most;	  /* bytes of a block */
	/* Warps on an SM, of those that it can hold: of the part with fewest now, and as one kernel with the least and
	 * with the most of the above; 0: that does not fit. */
	double warps_now, warps_most, warps_least;
	bool may_spill; /* the most is more registers than a thread can have: what is over goes to local memory */
};

/* Registers that the values of a thread of such a launch take, which reads so many bytes of DRAM, where it may hold all of
 * them at once; 1: it has a single one, or shared memory, in which threads of a block exchange values, or more than it has
 * registers, so that it takes them one after the other.  Where a kernel needs values that other threads of the one before
 * made, one kernel holds as many of theirs for each of its own: the product of both (docs/workloads/overfused.md). */
double fused_values_of(const struct profile_signature *launch, double read_bytes);

/* signatures[] of the profile, in the block of the first; values: registers for those of a thread where each kernel needs
 * values that other threads made, else 1.  False where the device's limits are not known. */
bool fused_shape_of(struct fused_shape *out, const struct profile *profile,
		    const struct profile_device *device, const uint32_t *signatures, size_t count,
		    double values);

#endif
