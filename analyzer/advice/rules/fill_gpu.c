/*
 * fill_gpu.c - kernels whose shape leaves much of the GPU without work take most of the time.
 *
 * A grid of fewer blocks than SMs, blocks with a few threads in a warp or too few warps, or a last wave of few blocks
 * (analysis/counters/launch_fill.h).  Fires when such kernels run alone and filling what they leave empty is predicted to
 * gain more than a prediction may be off; where nothing can be predicted, when it would if all of that were gained.  A
 * shape alone does not tell whether their work can be split: what is predicted assumes it.  A library chooses the shapes of its own kernels.
 */
#include "advice/rules/rules.h"

#include "analysis/counters/launch_fill.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/shared/full_sm.h"
#include "techniques/shared/lone_kernels.h"

struct unfilled {
	double empty_ns; /* of all such kernels: their time by the part of the GPU that they leave */
	uint32_t worst;	 /* the launch with most of it where it has half or more: signatures[] */
	double lead_ns;	 /* of it, while it is looked for */
	uint64_t worst_count;
	double worst_ns; /* its time */
};

/* Of a launch of it that took time_ns, what the GPU had no work for; 0 where its shape fills the GPU. */
static double empty_ns(const struct facts *facts, const struct profile_op *op)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_signature *launch = &profile->signatures[op->detail];
	struct launch_fill fill;

	if (facts_is_library(facts, launch->kernel) ||
	    !launch_fill_of(&fill, &profile->devices[profile_op_device(profile, op)], launch) ||
	    fill.lack == LAUNCH_LACKS_NOTHING)
		return 0;
	return (double)(op->end_ns - op->start_ns) * (1 - fill.filled_share);
}

/* What has more than half of it leads in the end, however the launches are mixed (Boyer and Moore's vote). */
static void add_kernel(struct unfilled *found, const struct profile_op *op, double empty_ns)
{
	found->empty_ns += empty_ns;
	if (op->detail == found->worst) {
		found->lead_ns += empty_ns;
		return;
	}
	found->lead_ns -= empty_ns;
	if (found->lead_ns < 0) {
		found->worst = op->detail;
		found->lead_ns = -found->lead_ns;
	}
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct lone_kernels kernels = lone_kernels_of(profile, device);
	struct unfilled *found = finding;
	const struct profile_op *op;

	while ((op = lone_kernels_next(&kernels)))
		add_kernel(found, op, empty_ns(facts, op));
	kernels = lone_kernels_of(profile, device);
	while (found->empty_ns > 0 && (op = lone_kernels_next(&kernels)))
		if (op->detail == found->worst) {
			found->worst_count++;
			found->worst_ns += (double)(op->end_ns - op->start_ns);
		}
	return 0;
}

static const struct unfilled *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_fill_gpu, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)found_on(facts, device)->empty_ns;
}

/* ---- what is told ---- */

static int add_blocks(struct recommendation *item, const struct launch_fill *fill,
		      const struct profile_device *device)
{
	return advice_add_evidence(item,
				   "%s %s of %u threads for %u SMs: %.0f%% of the SMs have one",
				   format_count(fill->blocks).text,
				   fill->blocks == 1 ? "block" : "blocks", fill->threads,
				   device->sm_count, 100 * fill->sms);
}

static int add_lanes(struct recommendation *item, const struct launch_fill *fill)
{
	return advice_add_evidence(item,
				   "blocks of %u %s: %.0f%% of the lanes of their warps have one; "
				   "an SM holds %u such blocks",
				   fill->threads, fill->threads == 1 ? "thread" : "threads",
				   100 * fill->lanes, fill->occupancy.blocks_per_sm);
}

static int add_warps(struct recommendation *item, const struct launch_fill *fill)
{
	return advice_add_evidence(
		item,
		"an SM holds no more than %u blocks: of %u threads each, %.0f%% of the "
		"warps that it has room for",
		fill->occupancy.blocks_per_sm, fill->threads, 100 * fill->warps);
}

static int add_last_wave(struct recommendation *item, const struct launch_fill *fill,
			 const struct profile_device *device)
{
	uint64_t room = (uint64_t)fill->occupancy.blocks_per_sm * device->sm_count;

	return advice_add_evidence(
		item,
		"%s blocks where %s fit at once (%s hold them down): the last wave "
		"has %s",
		format_count(fill->blocks).text, format_count(room).text,
		occupancy_limit_name(fill->occupancy.limit),
		format_count(fill->blocks % room).text);
}

static int add_shape(struct recommendation *item, const struct launch_fill *fill,
		     const struct profile_device *device)
{
	switch (fill->lack) {
	case LAUNCH_LACKS_BLOCKS:
		return add_blocks(item, fill, device);
	case LAUNCH_LACKS_LANES:
		return add_lanes(item, fill);
	case LAUNCH_LACKS_WARPS:
		return add_warps(item, fill);
	default:
		return add_last_wave(item, fill, device);
	}
}

/* Why it is the work of a thread that has to be split, and not the block. */
static int add_room(struct recommendation *item, const struct launch_fill *fill,
		    const struct profile_device *device)
{
	uint64_t blocks = (fill->blocks + device->sm_count - 1) / device->sm_count;
	uint64_t warps = blocks * launch_fill_warps(fill);

	if (fill->lack != LAUNCH_LACKS_BLOCKS || warps >= FULL_SM_WARPS ||
	    launch_fill_warps(fill) == 1)
		return 0;
	return advice_add_evidence(
		item,
		"no SM has more than %s warps, where its schedulers have room for %d: smaller "
		"blocks alone make no arithmetic faster, only what waits for the cache of an SM "
		"(whatif --smaller-blocks)",
		format_count(warps).text, FULL_SM_WARPS);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct profile *profile = facts->report->profile;
	const struct unfilled *found = found_on(facts, device);
	const struct profile_signature *launch = &profile->signatures[found->worst];
	struct launch_fill fill;
	const char *name;
	int rc;

	(void)what_if;
	(void)launch_fill_of(&fill, &profile->devices[device], launch);
	name = kernel_label(profile->kernel_labels, launch->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: %s launches run alone for %s", name,
				 format_count(found->worst_count).text,
				 format_ns(found->worst_ns).text);
	if (rc == 0)
		rc = add_shape(item, &fill, &profile->devices[device]);
	if (rc == 0)
		rc = add_room(item, &fill, &profile->devices[device]);
	return rc;
}

static bool has_empty(const struct facts *facts, size_t device, double least_ratio)
{
	return !report_has_device_work(facts->report, device) &&
	       found_on(facts, device)->empty_ns > least_ratio * facts_main_ns(facts, device);
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	return has_empty(facts, device, LEAST_PROGRAM_RATIO);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return has_empty(facts, device, LEAST_ESTIMATED_RATIO);
}

const struct rule rule_fill_gpu = {
	.id = "fill_gpu",
	.title = "Give every SM work: split what a block does, and fill its warps",
	.risk = "Blocks that share a result need atomics or a second kernel. What one thread has to do "
		"step after step cannot be split: batch several such launches into one instead.",
	.pattern = "int blocks = 0, sm_count = 0; /* as many blocks as fit */\n"
		   "cudaDeviceGetAttribute(&sm_count,\n"
		   "                       cudaDevAttrMultiProcessorCount, device);\n"
		   "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0);\n"
		   "kernel<<<blocks * sm_count, 256, 0, stream>>>(...);\n"
		   "/* in it: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
		   " *             i += gridDim.x * blockDim.x) */",
	.finding_size = sizeof(struct unfilled),
	.find = find,
	.technique = &technique_fill_gpu,
	.least_speedup = LEAST_ESTIMATED_SPEEDUP,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
