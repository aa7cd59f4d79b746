/*
 * wider_loads.c - kernels that do little but move bytes have as many of them under way as DRAM needs.
 *
 * They then move their bytes at the share of its roof from which on a kernel counts as being there; at the high end at all
 * of it.  At the low end nothing is gained: something else than too few loads may hold them up.
 */
#include "techniques/techniques.h"

#include <math.h>

#include "techniques/shared/byte_movers.h"
#include "techniques/shared/lengths.h"

static const char no_movers[] =
	"no kernel was counted, on a single GPU, that does little but move bytes below 80% of DRAM's roof, and "
	"above 50%, or 25% where each is asked for about once: record --counters=roofline";

static double left_of(const struct application *application, const struct roofline *roofline,
		      const struct roofline_point *point)
{
	double launch_ns = point->time_ns / (double)point->launch_count;
	double left = application->end == ASSUMED_MOST ? point->binding_share
						       : point->binding_share / ROOFLINE_AT_ROOF;

	return fmin(fmax(left, roofline->graph_node_ns / launch_ns), 1);
}

static size_t speed_up(struct application *application)
{
	const struct recorded_run *run = application->run;
	const struct roofline *roofline = run->report ? run->report->roofline : NULL;
	size_t changed_count = 0;

	if (!roofline || profile_only_device(run->model->profile) == PROFILE_NONE)
		return 0;
	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];

		if (!is_slow_byte_mover(run->report, point))
			continue;
		if (application->end == ASSUMED_LEAST)
			changed_count += lengths_keep_kernel(application, point->subject);
		else
			changed_count +=
				lengths_scale_kernel(application, point->subject, NULL,
						     left_of(application, roofline, point));
	}
	return changed_count;
}

const struct technique technique_wider_loads = {
	.id = "wider_loads",
	.option = "wider-loads",
	.help = "kernels that only move bytes have more of them under way",
	.effect =
		"Kernels that counters of a run on one GPU show between 50% and 80% of DRAM's roof, or from 25% on "
		"where threads ask for each byte about once, with no arithmetic or shared memory to speak of, move the same bytes at 80% of it, from where on a kernel counts as being at "
		"its roof; at the high end at all of it.",
	.changed = "kernels move their bytes faster",
	.assumes =
		"too few loads are under way in each thread; at the low end something else holds them up, and nothing is "
		"gained",
	.refusal = no_movers,
	.always_assumes = true,
	.keeps_results = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = speed_up,
};
