/*
 * dynamic_queue.c - kernels whose SMs have unequal shares of the work take work items from a queue.
 *
 * Every SM is active for as long as they are on average: the busiest one's excess is gone.  Nothing tells how many
 * items a block has, and a queue cannot split one.  Where each is a single item nothing is gained, which is the low
 * end: blocks that fit at once all run from the start, and of more than that the hardware hands out the next one where
 * there is room, as a queue would.
 */
#include "techniques/techniques.h"

#include "techniques/shared/lengths.h"

static const char balanced[] = "no kernel was sampled whose SMs have unequal shares of the work";

static size_t balance_kernels(struct application *application)
{
	const struct report *report = application->run->report;
	const struct sm_activity *activity = report ? report->sm_activity : NULL;
	size_t changed_count = 0;

	for (size_t i = 0; activity && i < activity->kernel_count; i++) {
		const struct sm_activity_kernel *kernel = &activity->kernels[i];
		double share = application->end == ASSUMED_LEAST
				       ? 1
				       : kernel->filled.sms / kernel->filled.busiest_sm;

		if (sm_activity_is_imbalanced(kernel))
			changed_count += lengths_scale_kernel(application, kernel->kernel,
							      sm_activity_is_filled, share);
	}
	return changed_count;
}

const struct technique technique_dynamic_queue = {
	.id = "dynamic_queue",
	.option = "queue",
	.help = "kernels whose SMs have unequal shares take work items from a queue",
	.effect =
		"Kernels whose samples show unequal SM times take work items from a queue (only launches "
		"with at least two blocks for each SM).",
	.changed = "kernels are balanced",
	.assumes =
		"no item takes long, and taking one costs nothing; at the low end each block is one item, "
		"and nothing is gained",
	.refusal = balanced,
	.always_assumes = true,
	.is_up_to = true,
	.keeps_results = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = balance_kernels,
};
