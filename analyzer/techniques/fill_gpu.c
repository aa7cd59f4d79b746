/*
 * fill_gpu.c - kernels whose shape leaves much of the GPU without work have the same work in more or fuller blocks.
 *
 * All SMs and lanes then have as much, and the kernel takes the part of its time that its own had (launch_fill.h).  Where
 * an SM had so few warps that its schedulers idled (full_sm.h), more of them keep these busy, too, as far as there is room;
 * at the high end SMs have as many blocks as fit, each as fast as alone.  No less than what its work takes at 80% of the
 * roof that counters show nearest, or its bytes of DRAM by samples, which is all of it at the high end, or than an empty
 * kernel.
 *
 * That is so where the work of a thread can be split, or where threads on an SM wait for each other.  Where each thread
 * goes through a chain of steps of its own, all blocks run at once and take as long however the threads are spread: that
 * is the low end, as a recording does not tell one from the other, and nothing is lost.
 */
#include "techniques/techniques.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counters/launch_fill.h"
#include "analysis/statistics/library_kernel.h"
#include "techniques/shared/full_sm.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/lone_kernels.h"
#include "techniques/shared/needed_time.h"

static const char waiting[] = "kernels of a program with NVSHMEM may wait in them for other GPUs, "
			      "which no trace shows: how long they work is not known";
static const char filled[] =
	"no kernel that runs alone has a shape that leaves much of the GPU empty";

/* The part that the warps of an SM with blocks keep busy of its schedulers. */
static double busy_share(const struct launch_fill *fill, const struct profile_device *device)
{
	double blocks =
		fmin(ceil((double)fill->blocks / device->sm_count), fill->occupancy.blocks_per_sm);

	return fmin(blocks * launch_fill_warps(fill) / FULL_SM_WARPS, 1);
}

/* No less than with as many blocks as fit. */
static double usual_share(const struct launch_fill *fill, const struct profile_device *device)
{
	return fmax(fill->filled_share * busy_share(fill, device), fill->crowded_share);
}

/* What is left of the time of a launch whose work can be split; 1 where nothing is to be gained. */
static double left_of(const struct application *application, const struct profile_signature *launch)
{
	const struct profile_device *device =
		&application->run->model->profile->devices[application->device];
	struct launch_fill fill;

	if (!launch_fill_of(&fill, device, launch) || fill.lack == LAUNCH_LACKS_NOTHING ||
	    library_kernel_of(launch->name))
		return 1;
	return fmax(application->end == ASSUMED_MOST ? fill.crowded_share
						     : usual_share(&fill, device),
		    needed_time_usual(application, launch->kernel));
}

static size_t fill_kernels(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	const double empty_ns = ceilings_at(application->run->ceilings, CEILING_graph_node, 0);
	struct lone_kernels kernels = lone_kernels_of(profile, application->device);
	const struct profile_op *op;
	size_t changed_count = 0;

	while ((op = lone_kernels_next(&kernels))) {
		int64_t *after_ns = &application->change.op_ns[op - profile->ops];
		double time_ns = (double)(op->end_ns - op->start_ns);
		double left_ns = fmax(application->left[op->detail] * time_ns, empty_ns);

		if (*after_ns || left_ns >= time_ns)
			continue;
		/* at the low end nothing changes but the shape of the launch; never 0 */
		*after_ns = application->end == ASSUMED_LEAST ? op->end_ns - op->start_ns
							      : 1 + (int64_t)left_ns;
		changed_count++;
	}
	return changed_count;
}

static bool has_nvshmem(const struct recorded_run *run)
{
	for (size_t i = 0; run->libraries && i < run->model->profile->kernel_name_count; i++)
		if (run->libraries[i] && !strcmp(run->libraries[i], "NVSHMEM"))
			return true;
	return false;
}

static int change_run(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	double *left;
	int rc;

	if (has_nvshmem(application->run)) {
		application->effect->refusal = waiting;
		return 0;
	}
	left = malloc((profile->signature_count + 1) * sizeof(*left));
	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < profile->signature_count; i++)
		left[i] = left_of(application, &profile->signatures[i]);
	application->left = left;
	rc = lengths_change(application, fill_kernels);
	application->left = NULL;
	free(left);
	return rc;
}

const struct technique technique_fill_gpu = {
	.id = "fill_gpu",
	.option = "fill",
	.help = "kernels whose shape leaves the GPU empty have more or fuller blocks",
	.effect =
		"Kernels that run alone with fewer blocks than SMs, with blocks of a few threads, of so few that an SM "
		"holds no more of them, or with a last wave of few blocks, have the same work in blocks for all SMs, lanes "
		"and warps, of which an SM has 16 or as many as fit. None takes less than its "
		"work does at 80% of the roof that counters show nearest, or than an empty kernel; those of libraries are "
		"left alone, and all of programs with NVSHMEM, which may wait in them for other GPUs.",
	.changed = "kernels fill the GPU",
	.assumes =
		"the work of each thread can be split evenly; at the low end it is a chain of steps and takes as "
		"long in any block, at the high end it is split into as many blocks as fit at once, each as fast "
		"as alone",
	.refusal = filled,
	.always_assumes = true,
	.is_up_to = true,
	.keeps_results = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.has_most = true,
	.is_blind_to_device_work = true,
	.has_ops = true,
	.change_run = change_run,
};
