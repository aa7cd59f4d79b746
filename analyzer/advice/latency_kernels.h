/*
 * latency_kernels.h - kernels that counters show far below every roof, although their SMs all have work until the end.
 *
 * What is left is waiting: each warp waits for what it asked for, and there are too few others to issue meanwhile.  Two
 * things help: more warps on an SM, or more work in each that does not wait for the other.
 */
#ifndef ROOFLINE_LATENCY_KERNELS_H
#define ROOFLINE_LATENCY_KERNELS_H

#include "advice/rules/rules.h"
#include "analysis/counters/launch_fill.h"

/* Of the warps that an SM can hold: with all of them a kernel that waits is at most so many times as fast as a prediction
 * may be off.  Fewer are few. */
#define LATENCY_FEW_WARPS (1 / LEAST_ESTIMATED_SPEEDUP)

struct latency_kernel {
	const struct roofline_point *point;
	const struct profile_signature *launch; /* of most time */
	struct launch_fill fill;
	double warps;		/* of those that an SM can hold, that may be there: 0 to 1 */
	enum metric_role stall; /* what its warps wait for most; METRIC_NONE: not counted */
};

/* Whether the point is such a kernel of one's own, whose SMs are busy alike, which has no atomics, and whose warps do not
 * wait for a unit that is busy, as far as that was counted.  Atomics must have been. */
bool latency_kernel_of(struct latency_kernel *out, const struct facts *facts,
		       const struct roofline_point *point);

/* Of the kernel with most time that a rule is about: name and nearest roof as a sentence of evidence, then the warps on an
 * SM, then what they wait for where that was counted.  Returns 0 or -ENOMEM. */
int latency_kernels_add_evidence(struct recommendation *item, const struct facts *facts,
				 roof_stake stake);

/* Whether the kernels that a rule is about take at least half of the time of all. */
bool latency_kernels_are_most(const struct facts *facts, roof_stake stake);

#endif
