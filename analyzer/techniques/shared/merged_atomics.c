#include "techniques/shared/merged_atomics.h"

#include "techniques/shared/lengths.h"

static uint64_t merged_count(const struct application *application,
			     const struct atomics_kernel *kernel, enum atomics_end end)
{
	if (application->number)
		return application->number;
	return end == ATOMICS_MOST ? kernel->most_batch : kernel->batch;
}

static enum atomics_end atomics_end(const struct application *application)
{
	return application->end == ASSUMED_LEAST  ? ATOMICS_LEAST
	       : application->end == ASSUMED_MOST ? ATOMICS_MOST
						  : ATOMICS_MIDDLE;
}

static double merged_share(const struct application *application, enum atomics_merging where,
			   const struct atomics_kernel *kernel)
{
	enum atomics_end end = atomics_end(application);

	return atomics_merged_ns(kernel, where, merged_count(application, kernel, end), end) /
	       kernel->duration_ns;
}

size_t merged_atomics_change(struct application *application, enum atomics_merging where)
{
	const struct recorded_run *run = application->run;
	const struct atomics *atomics = run->report ? run->report->atomics : NULL;
	size_t changed_count = 0;

	if (!atomics || profile_only_device(run->model->profile) == PROFILE_NONE)
		return 0;
	for (size_t i = 0; i < atomics->kernel_count; i++) {
		const struct atomics_kernel *kernel = &atomics->kernels[i];

		if (kernel->is_bottleneck &&
		    merged_count(application, kernel, ATOMICS_MIDDLE) > 1 &&
		    merged_share(application, where, kernel) >= 0)
			changed_count +=
				lengths_scale_kernel(application, kernel->kernel, NULL,
						     merged_share(application, where, kernel));
	}
	return changed_count;
}
