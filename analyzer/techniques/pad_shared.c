/*
 * pad_shared.c - kernels whose accesses to shared memory wait for each other at its banks have another layout of it.
 *
 * That is so where wavefronts explain what they take.  The cycles that conflicts take an SM are gone, down to what the work takes at 80% of the roof that counters show nearest,
 * from where on a kernel counts as being there; at the high end at all of it.  At the low end nothing is gained: other warps
 * may have run in those cycles.
 */
#include "techniques/techniques.h"

#include <math.h>

#include "analysis/statistics/library_kernel.h"
#include "techniques/shared/bank_conflicts.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/needed_time.h"

static const char no_conflicts[] =
	"no kernel was counted, on a single GPU, that wavefronts to shared memory bind, half of which are bank "
	"conflicts: record --counters=shared";

/* What is left of the time of its launches; 1: it is not bound by conflicts. */
static double left_of(const struct application *application, uint32_t kernel)
{
	const struct recorded_run *run = application->run;
	const struct bank_conflicts conflicts = bank_conflicts_of(run->report, kernel);

	if (!bank_conflicts_bind(&conflicts) ||
	    library_kernel_of(run->model->profile->kernel_names[kernel]))
		return 1;
	return fmax(1 - conflicts.lost_ns / conflicts.time_ns,
		    needed_time_usual(application, kernel));
}

static size_t pad_kernels(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	size_t changed_count = 0;

	if (!application->run->report || profile_only_device(profile) == PROFILE_NONE)
		return 0;
	for (uint32_t i = 0; i < profile->kernel_name_count; i++) {
		double left = left_of(application, i);

		if (left < 1)
			changed_count += application->end == ASSUMED_LEAST
						 ? lengths_keep_kernel(application, i)
						 : lengths_scale_kernel(application, i, NULL, left);
	}
	return changed_count;
}

const struct technique technique_pad_shared = {
	.id = "pad_shared",
	.option = "pad-shared",
	.help = "accesses to shared memory meet different banks",
	.effect =
		"Kernels of which counters of a run on one GPU show that wavefronts to shared memory explain 80% of their "
		"time or more, and that half of these are bank conflicts, take as much less time as conflicts take an SM, "
		"but no less than their work at 80% of the roof that counters show nearest; at the high end at all of it.",
	.changed = "kernels have another layout of shared memory",
	.assumes =
		"an SM has nothing else to do in the cycles of conflicts; at the low end it has, and nothing is gained",
	.refusal = no_conflicts,
	.always_assumes = true,
	.keeps_results = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = pad_kernels,
};
