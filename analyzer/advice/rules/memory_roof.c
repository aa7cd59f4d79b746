/*
 * memory_roof.c - kernels that move bytes as fast as DRAM can.
 *
 * No other launch, graph or stream makes them faster: only fewer bytes do.  Narrower
 * types halve them; kernels in a row that hand arrays to each other through memory
 * move them once less when they are one, or when a cluster's shared memory or the L2
 * holds what is handed over.  At stake is what stands between DRAM's roof and the
 * next one, of all launches.
 *
 * Fires when kernels at 80% of DRAM's roof or more take at least half of the time of
 * all kernels, counters say.  How many bytes can go nothing tells, so nothing is predicted
 * but by whatif --narrow.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"

#define MOST_NAMED 2

/* The largest share of another roof. */
static double next_share(const struct roofline_point *point)
{
	double share = 0;

	for (int i = 0; i < ROOF_COUNT; i++)
		if (i != ROOF_dram && point->quantities[i].share > share)
			share = point->quantities[i].share;
	return share < point->binding_share ? share : point->binding_share;
}

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	(void)facts;
	return roofline_is_at_dram(point) ? 1 - next_share(point) / point->binding_share : -1;
}

static struct roof_kernels find(const struct facts *facts)
{
	return facts_find_roof_kernels(facts, stake_of);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)find(facts).stake_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct roofline *roofline = facts->report->roofline;
	int rc = 0, named_count = 0;
	const char *name;

	(void)device;
	(void)what_if;
	for (size_t i = 0; rc == 0 && named_count < MOST_NAMED && i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];

		if (!roofline_is_at_dram(point))
			continue;
		name = kernel_label(facts->report->profile->kernel_labels, point->name, LABEL_WIDE);
		rc = advice_add_evidence(item, "%s: %s a launch at %.0f%% of what DRAM can", name,
					 format_bytes(point->quantities[ROOF_dram].per_launch).text,
					 100 * point->binding_share);
		named_count++;
	}
	if (rc == 0)
		rc = advice_add_evidence(item,
					 "kernels at that roof take %.0f%% of all kernels' time",
					 100 * find(facts).time_ns / find(facts).all_ns);
	if (rc == 0)
		rc = advice_add_evidence(item,
					 "what half of the bytes would bring: whatif --narrow 2");
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct roof_kernels found = find(facts);

	(void)device;
	return facts_are_most(&found);
}

const struct rule rule_memory_roof = {
	.id = "memory_roof",
	.strategy = "fewer_bytes",
	.title = "Move fewer bytes: narrower types, or neighbors in one kernel or cluster",
	.workload = "precision",
	.risk = "Narrower types round and overflow: compare the results. A fused kernel needs more "
		"registers and shared memory, and may run fewer warps.",
	.pattern = "__half2 x = ((const __half2 *)in)[i];     /* half the bytes of float2 */\n"
		   "float2 y = __half22float2(x);             /* computed as before */\n"
		   "((__half2 *)out)[i] = __float22half2_rn(f(g(y))); /* f and g in one */",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"with torch.autocast(\"cuda\", dtype=torch.bfloat16): # half the bytes\n"
				"    output = model(x)\n"
				"fast = torch.compile(model) # fewer kernels, fewer passes over memory",
		},
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.is_at_roof = true,
	.said_by = "fuse_neighbors",
};
