/*
 * latency_bound.c - kernels wait although as many warps as can be are on the SMs.
 *
 * Then each has to have more under way that does not wait for the other: several loads before the first use, several
 * elements a thread, sums in several registers.  Fires where counters show kernels with at least half of the time far
 * below every roof (advice/latency_kernels.h), more than half of the warps that an SM can hold are there, and counters of
 * stalls say that they wait: for so many warps it may as well be a unit that no roof is of.  With fewer it is low_occupancy's.
 * How much it brings nothing tells, so nothing is at stake.
 */
#include "advice/latency_kernels.h"

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	struct latency_kernel kernel;

	return latency_kernel_of(&kernel, facts, point) && kernel.stall != METRIC_NONE &&
			       kernel.warps > LATENCY_FEW_WARPS
		       ? 0
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

const struct rule rule_latency_bound = {
	.id = "latency_bound",
	.strategy = "hide_latency",
	.title = "Give each thread more work that does not wait for the other",
	.risk = "Values that are kept at once need registers, and these leave room for fewer warps. Lanes of a warp "
		"that read far apart in memory, or whose next address depends on what they read, wait longest: "
		"mend that first.",
	.pattern = "float a = x[i], b = x[i + stride]; /* both under way */\n"
		   "float c = x[i + 2 * stride], d = x[i + 3 * stride];\n"
		   "sum0 += f(a), sum1 += f(b); /* sums that do not wait */\n"
		   "sum0 += f(c), sum1 += f(d); /* for each other */",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.said_by = "bank_conflicts",
};
