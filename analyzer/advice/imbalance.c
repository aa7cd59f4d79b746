#include "advice/imbalance.h"

#include "analysis/occupancy.h"

#define MOST_BALANCE 0.7
#define LEAST_TAIL 0.3
#define LEAST_BLOCKS_PER_SM 2

const struct kernel_statistics *imbalance_statistics(const struct report *report, uint32_t kernel)
{
	const struct statistics *statistics = report->statistics;

	for (size_t i = 0; i < statistics->kernel_count; i++)
		if (report->profile->signatures[statistics->kernels[i].signature].kernel == kernel)
			return &statistics->kernels[i];
	return NULL;
}

/* Whether there are enough blocks for all SMs to have the same. */
static bool has_enough_blocks(const struct report *report, uint32_t kernel)
{
	const struct kernel_statistics *all = imbalance_statistics(report, kernel);
	const struct profile *profile = report->profile;
	struct occupancy occupancy;

	return all &&
	       occupancy_of(&occupancy, &profile->devices[all->device],
			    &profile->signatures[all->signature]) &&
	       occupancy.waves * occupancy.blocks_per_sm >= LEAST_BLOCKS_PER_SM;
}

bool imbalance_is_there(const struct report *report, const struct sm_activity_kernel *kernel)
{
	return kernel->busiest_sm > 0 && kernel->sms < MOST_BALANCE * kernel->busiest_sm &&
	       (double)kernel->tail_ns >= LEAST_TAIL * (double)kernel->span_ns &&
	       has_enough_blocks(report, kernel->kernel);
}
