/*
 * pad_shared.c - kernels whose accesses to shared memory wait for each other at its banks have another layout of it.
 *
 * Counters tell how long conflicts take an SM, and nothing tells what else its warps wait for meanwhile.  So the cycles of
 * conflicts are what it may gain, down to what the work takes at 80% of the roof that counters show nearest, from where on a
 * kernel counts as being there; at the high end at all of it.  At the low end nothing is gained.  Where wavefronts explain what
 * the kernel takes, the cycles of conflicts are expected to be gone; elsewhere that is told as "up to".
 */
#include "techniques/techniques.h"

#include <math.h>

#include "analysis/statistics/library_kernel.h"
#include "techniques/shared/bank_conflicts.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/needed_time.h"

static const char no_conflicts[] =
	"no kernel was counted, on a single GPU, of whose wavefronts to shared memory half are bank conflicts: record "
	"--counters=shared";

/* What is left of the time of its launches; 1: it has few conflicts.  *is_bound: whether wavefronts explain that time. */
static double left_of(const struct application *application, uint32_t kernel, bool *is_bound)
{
	const struct recorded_run *run = application->run;
	const struct bank_conflicts conflicts = bank_conflicts_of(run->report, kernel);

	*is_bound = bank_conflicts_bind(&conflicts);
	if (!bank_conflicts_are_many(&conflicts) ||
	    library_kernel_of(run->model->profile->kernel_names[kernel]))
		return 1;
	return fmax(1 - conflicts.lost_ns / conflicts.time_ns,
		    needed_time_usual(application, kernel));
}

static size_t pad_kernels(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	size_t changed_count = 0, kernel_changed_count;
	bool is_bound;

	if (!application->run->report || profile_only_device(profile) == PROFILE_NONE)
		return 0;
	application->effect->is_proven = true;
	for (uint32_t i = 0; i < profile->kernel_name_count; i++) {
		double left = left_of(application, i, &is_bound);

		if (left >= 1)
			continue;
		kernel_changed_count = application->end == ASSUMED_LEAST
					       ? lengths_keep_kernel(application, i)
					       : lengths_scale_kernel(application, i, NULL, left);
		application->effect->is_proven &= is_bound || !kernel_changed_count;
		changed_count += kernel_changed_count;
	}
	return changed_count;
}

const struct technique technique_pad_shared = {
	.id = "pad_shared",
	.option = "pad-shared",
	.help = "accesses to shared memory meet different banks",
	.effect =
		"Kernels of which counters of a run on one GPU show that half of their wavefronts to shared memory are "
		"bank conflicts take as much less time as conflicts take an SM, but no less than their work at 80% of the "
		"roof that counters show nearest; at the high end at all of it. Unless wavefronts explain 80% of their time or "
		"more, that is told as 'up to'.",
	.changed = "kernels have another layout of shared memory",
	.assumes =
		"an SM has nothing else to do in the cycles of conflicts; at the low end it has, and nothing is gained",
	.refusal = no_conflicts,
	.always_assumes = true,
	.is_up_to = true,
	.keeps_results = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = pad_kernels,
};
