/*
 * fewer_bytes.c - kernels at DRAM's roof move N times fewer bytes.
 */
#include "techniques/techniques.h"

#include <math.h>

#include "techniques/shared/lengths.h"

#define NARROW_MOST 64 /* a value of 64 bits as one bit */

static const char not_at_roof[] =
	"no kernel was counted, on a single GPU, at DRAM's roof: record --counters=roofline";

/* What is left of a launch with all bytes of DRAM narrowed, at the low end half of what would vanish. */
static double narrowed_share(const struct application *application, const struct roofline *roofline,
			     const struct roofline_point *point)
{
	const struct fusion fusion = {.dram_byte_per_s = roofline->roofs[ROOF_dram]};
	const struct fusion_kernel kernel = {
		.is_known = true,
		.read_bytes = point->quantities[ROOF_dram].per_launch,
		.arithmetic_share = fusion_arithmetic_share(point),
	};
	double launch_ns = point->time_ns / (double)point->launch_count;
	double vanished_part = 1 - 1 / (double)application->number;
	double narrow_ns;

	if (application->end == ASSUMED_LEAST)
		vanished_part /= 2;
	narrow_ns =
		fusion_time_ns(&fusion, &kernel, launch_ns, vanished_part * kernel.read_bytes, 0);
	return fmin(fmax(narrow_ns, roofline->graph_node_ns) / launch_ns, 1);
}

static size_t narrow_kernels(struct application *application)
{
	const struct recorded_run *run = application->run;
	const struct roofline *roofline = run->report ? run->report->roofline : NULL;
	size_t changed_count = 0;

	if (!roofline || profile_only_device(run->model->profile) == PROFILE_NONE)
		return 0;
	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];

		if (roofline_is_at_dram(point))
			changed_count +=
				lengths_scale_kernel(application, point->subject, NULL,
						     narrowed_share(application, roofline, point));
	}
	return changed_count;
}

const struct technique technique_fewer_bytes = {
	.id = "fewer_bytes",
	.option = "narrow",
	.argument = ARGUMENT_NUMBER,
	.number_is = "a whole factor",
	.number_does = "times fewer bytes",
	.number_most = NARROW_MOST,
	.help = "kernels at DRAM's roof move N times fewer bytes",
	.effect =
		"Kernels that counters of a run on one GPU show at DRAM's roof (80% of it or more, and "
		"nearer to no other) move N times fewer bytes, and take as much less time, but no less "
		"than their arithmetic or an empty kernel.",
	.changed = "kernels at DRAM's roof",
	.assumes =
		"all bytes are of values that narrower types hold; at the low end half of what would vanish "
		"stays",
	.refusal = not_at_roof,
	.always_assumes = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = narrow_kernels,
};
