/*
 * smaller_blocks.c - kernels of few blocks have the same threads, each with the same work, in smaller blocks on more SMs.
 *
 * What is gained is what warps of an SM held each other up.  The schedulers of one with fewer than 16 warps idle while an
 * addition is computed (full_sm.h), so that fewer warps on it make none of them faster: that is the usual figure, but for
 * the time that counters show its caches and units to be busy for, which is shared out.  At the low end nothing is gained,
 * as each thread is a chain of steps; at the high end warps share what an SM does in proportion, as where they wait for its
 * cache.  A warp is not divided.
 */
#include "techniques/techniques.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/counters/launch_fill.h"
#include "analysis/statistics/library_kernel.h"
#include "techniques/shared/full_sm.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/lone_kernels.h"
#include "techniques/shared/needed_time.h"

static const char spread[] =
	"no kernel that runs alone has fewer blocks than fit at once, and more warps on some SMs than on others";

/* The part of the time that a roof explains, of those SMs that have work, is shared out over more of them; the rest stays.
 * 1 where nobody counted. */
static double uncrowded_share(const struct recorded_run *run,
			      const struct profile_signature *launch, double sms, double left)
{
	double crowded = sms > 0 ? fmin(needed_of_sms(run, launch->kernel) / sms, 1) : 0;

	return 1 - crowded * (1 - left);
}

/* What is left of the time of a launch; 1 where its warps are spread already. */
static double left_of(const struct application *application, const struct profile_signature *launch)
{
	const struct profile_device *device =
		&application->run->model->profile->devices[application->device];
	struct launch_fill fill;
	double warps, before, after, share;

	if (!launch_fill_of(&fill, device, launch) || fill.occupancy.waves > 1 ||
	    library_kernel_of(launch->name))
		return 1;
	warps = launch_fill_warps(&fill);
	before = warps * ceil((double)fill.blocks / device->sm_count);
	after = ceil(warps * (double)fill.blocks / device->sm_count);
	if (after > LAUNCH_FILL_MOST * before)
		return 1;
	if (application->end == ASSUMED_MOST)
		share = after / before;
	else
		share = fmin(fmax(after, FULL_SM_WARPS) / fmax(before, FULL_SM_WARPS),
			     uncrowded_share(application->run, launch, fill.sms, after / before));
	return fmax(share, needed_time_usual(application, launch->kernel));
}

/* Also of launches whose time stays, which is then what is predicted. */
static bool is_uneven(const struct application *application, const struct profile_signature *launch)
{
	struct application most = *application;

	most.end = ASSUMED_MOST;
	return left_of(&most, launch) < 1;
}

static size_t spread_kernels(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	struct lone_kernels kernels = lone_kernels_of(profile, application->device);
	const struct profile_op *op;
	size_t changed_count = 0;

	while ((op = lone_kernels_next(&kernels))) {
		int64_t *after_ns = &application->change.op_ns[op - profile->ops];
		double time_ns = (double)(op->end_ns - op->start_ns);
		double left = application->left[op->detail];

		if (*after_ns || left <= 0)
			continue;
		*after_ns = application->end == ASSUMED_LEAST ? op->end_ns - op->start_ns
							      : (int64_t)fmax(left * time_ns, 1);
		changed_count++;
	}
	return changed_count;
}

static int change_run(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	double *left = calloc(profile->signature_count + 1, sizeof(*left));
	int rc;

	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < profile->signature_count; i++)
		if (is_uneven(application, &profile->signatures[i]))
			left[i] = left_of(application, &profile->signatures[i]);
	application->left = left;
	rc = lengths_change(application, spread_kernels);
	application->left = NULL;
	free(left);
	return rc;
}

const struct technique technique_smaller_blocks = {
	.id = "smaller_blocks",
	.option = "smaller-blocks",
	.help = "kernels of few blocks have the same threads in smaller blocks on more SMs",
	.effect =
		"Kernels that run alone, of no more blocks than fit at once, of which some SMs have more warps than "
		"others, have the same threads in smaller blocks, as many on each SM. Each thread does what it did: "
		"those of an SM with no more than 16 warps are as fast as before, as its schedulers have room, and those "
		"of one with more as much faster as it has fewer then, down to 16. With counters the part of the time that a "
		"roof other than DRAM's explains of the SMs that have work is shared out over all of them.",
	.changed = "kernels have smaller blocks",
	.assumes =
		"blocks can be smaller, and share nothing; at the low end nothing is gained, at the high end the "
		"warps of an SM share its speed in proportion, however few they are",
	.refusal = spread,
	.always_assumes = true,
	.keeps_results = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.has_most = true,
	.is_blind_to_device_work = true,
	.has_ops = true,
	.change_run = change_run,
};
