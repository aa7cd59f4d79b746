/*
 * long_block.c - a few blocks of a grid that fits at once work long after the others have ended.
 *
 * Where SMs have several blocks, a queue evens that out (sm_imbalance).  Here each block has an SM already, and the kernel
 * takes as long as its longest block: only less work in that one helps.  Fires, with samples, for a kernel of one shape
 * whose blocks fit at once: when the SMs that have one are active for less than 70% of the busiest one's time, and an even
 * division would save more than 10% of wall time.  An SM is active while a warp is on it, so one that is not has done its
 * blocks.  What a block does no sample tells, so nothing is predicted.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "analysis/counters/launch_fill.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define MOST_EVEN 0.7
#define AT_STAKE_RATIO 0.10

struct uneven {
	const struct sm_activity_kernel *activity;
	const struct kernel_statistics *kernel;
	struct launch_fill fill;
	double even_share; /* of the time of the busiest SM that an SM with a block is active */
	double saved_ns;   /* where all blocks were equally long */
};

static const struct kernel_statistics *statistics_of(const struct facts *facts, uint32_t kernel)
{
	const struct statistics *statistics = facts->report->statistics;
	const struct profile *profile = facts->report->profile;

	for (size_t i = 0; i < statistics->kernel_count; i++)
		if (profile->signatures[statistics->kernels[i].signature].kernel == kernel)
			return &statistics->kernels[i];
	return NULL;
}

/* Whether it is such a kernel.  Of several shapes samples give one figure, so no share of SMs is known. */
static bool is_uneven(struct uneven *found, const struct facts *facts, size_t device,
		      const struct sm_activity_kernel *activity)
{
	const struct profile *profile = facts->report->profile;

	*found = (struct uneven){.activity = activity,
				 .kernel = statistics_of(facts, activity->kernel)};
	if (!found->kernel || found->kernel->signature_count != 1 || activity->busiest_sm <= 0 ||
	    facts_is_library(facts, activity->kernel) ||
	    !launch_fill_of(&found->fill, &profile->devices[device],
			    &profile->signatures[found->kernel->signature]) ||
	    found->fill.occupancy.waves > 1)
		return false;
	found->even_share = activity->sms / (activity->busiest_sm * found->fill.sms);
	found->saved_ns = (double)found->kernel->time.total_ns * (1 - fmin(found->even_share, 1));
	return found->even_share < MOST_EVEN;
}

/* The one with most at stake; its activity is NULL where there is none. */
static struct uneven worst(const struct facts *facts, size_t device)
{
	const struct sm_activity *activity = facts->report->sm_activity;
	struct uneven most = {0}, found;

	for (size_t i = 0; activity && i < activity->kernel_count; i++)
		if (is_uneven(&found, facts, device, &activity->kernels[i]) &&
		    found.saved_ns > most.saved_ns)
			most = found;
	return most;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)worst(facts, device).saved_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct uneven found = worst(facts, device);
	const char *name;

	(void)what_if;
	if (!found.kernel)
		return 0;
	name = kernel_label(facts->report->profile->kernel_labels, found.kernel->name, LABEL_WIDE);
	return advice_add_evidence(
		item,
		"%s: %s blocks, which all fit at once; an SM that has one is active for "
		"%.0f%% of the time of the busiest",
		name, format_count(found.fill.blocks).text, 100 * found.even_share);
}

/* Samples of several devices are of one kernel together: only where there is one. */
static bool is_promising(const struct facts *facts, size_t device)
{
	return profile_only_device(facts->report->profile) == device &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * facts_wall_ns(facts, device);
}

const struct rule rule_long_block = {
	.id = "long_block",
	.strategy = "split_blocks",
	.title = "Divide the work of the blocks that take longest among several",
	.workload = "work_queue",
	.risk = "Blocks that share a result need atomics or a second kernel. Where nobody knows before which item "
		"takes long, cut all items into pieces, and let resident blocks take these from a queue.",
	.pattern = "/* pieces of equal work, not items: by prefix sums of their sizes */\n"
		   "for (int p = blockIdx.x; p < pieces; p += gridDim.x)\n"
		   "    work(item_of[p], first_of[p], first_of[p + 1]);",
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.said_by = "sm_imbalance",
};
