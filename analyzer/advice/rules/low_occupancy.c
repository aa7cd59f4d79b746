/*
 * low_occupancy.c - kernels wait, and few warps are on an SM to work meanwhile.
 *
 * Because the grid has no more, because blocks are so small that an SM cannot hold more of them, or because of the
 * registers or shared memory that each takes.  Occupancy is no end in itself: fires only where counters show kernels with at
 * least half of the time far below every roof (advice/latency_kernels.h), and at most half of the warps that an SM can hold
 * are there.  How much more warps bring nothing tells, so nothing is at stake.
 */
#include "advice/latency_kernels.h"

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	struct latency_kernel kernel;

	return latency_kernel_of(&kernel, facts, point) && kernel.warps <= LATENCY_FEW_WARPS ? 0
											     : -1;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)device;
	(void)what_if;
	return latency_kernels_add_evidence(item, facts, stake_of);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	(void)device;
	return latency_kernels_are_most(facts, stake_of);
}

const struct rule rule_low_occupancy = {
	.id = "low_occupancy",
	.strategy = "raise_occupancy",
	.title = "Have more warps on each SM, to work while others wait",
	.risk = "Fewer registers for each thread may spill to local memory, and shared memory that is gone must "
		"be loaded again: compare the times. More blocks need work that can be split.",
	.pattern = "/* more and larger blocks, where the grid or the block holds it down */\n"
		   "kernel<<<(n + 255) / 256, 256, 0, stream>>>(...);\n"
		   "/* registers: at least so many blocks are to fit on an SM */\n"
		   "__global__ void __launch_bounds__(256, 4) kernel(...);\n"
		   "/* shared memory: smaller tiles, or values in registers */",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.said_by = "bank_conflicts",
};
