/*
 * fixture_fusion.h - a loop of kernels that move so many bytes each, for tests of kernels that could be one.
 */
#ifndef ROOFLINE_TEST_FIXTURE_FUSION_H
#define ROOFLINE_TEST_FIXTURE_FUSION_H

#include "techniques/shared/fusion.h"
#include "profile_builder.h"

#define MB 1e6
#define L2_BYTES 60000000
#define KERNEL_NS 100000 /* at 90% of 4 TB/s 360 MB */
#define MOVING_ITERATIONS 20
#define MOVING_KERNELS_MOST 8

/* A kernel of a loop, and what one launch of it moves; 0 of L1: not counted. */
struct moved {
	const char *name;
	double read, written, l1;
};

/* Three that hand all that they write to the next one. */
extern const struct moved chain[3];

/* Iterations of these kernels, queued one behind the other 1 us apart, and then a pause of the host. */
struct builder *moving_loop(const struct moved *parts, size_t count, int64_t pause_ns);

/* What counters tell of them; kernels: room for all signatures. */
struct fusion moving_fusion(const struct builder *b, struct fusion_kernel *kernels);

#endif
