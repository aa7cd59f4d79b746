#include "advice/latency_kernels.h"

#include <math.h>

#include "analysis/counters/counted.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define MOST_SHARE \
	0.5 /* of the nearest roof: with more of it wider_loads and tensor_cores are asked */
#define LEAST_EVEN 0.7 /* the mean SM's active cycles by the busiest one's, as sm_activity has it */

/* ---- which ---- */

static bool has_atomics(const struct facts *facts, uint32_t kernel)
{
	const struct atomics *atomics = facts->report->atomics;

	for (size_t i = 0; atomics && i < atomics->kernel_count; i++)
		if (atomics->kernels[i].kernel == kernel)
			return true;
	return atomics && !atomics->is_asked;
}

/* Counters of the set sm; without them it is taken to be even. */
static bool is_even(const struct facts *facts, uint32_t kernel)
{
	const struct counted *counted = facts->report->counted;
	const struct counted_role *roles = counted ? counted->kernels[kernel].roles : NULL;

	return !roles || !roles[METRIC_sm_active_cycles_max].sample_count ||
	       roles[METRIC_sm_active_cycles_mean].total >=
		       LEAST_EVEN * roles[METRIC_sm_active_cycles_max].total;
}

/* Bytes and arithmetic were all counted, and none of it explains the time. */
static bool is_far_below(const struct roofline_point *point)
{
	return point->is_counted && !point->is_wrong && point->regime == ROOFLINE_LATENCY_BOUND &&
	       point->binding != ROOF_NONE && point->binding_share < MOST_SHARE &&
	       point->quantities[ROOF_dram].state == ROOFLINE_KNOWN &&
	       point->quantities[ROOF_l2].state == ROOFLINE_KNOWN &&
	       point->quantities[ROOF_fp32].state == ROOFLINE_KNOWN;
}

/* METRIC_NONE where none was counted. */
static enum metric_role longest_stall(const struct facts *facts, uint32_t kernel)
{
	const struct counted *counted = facts->report->counted;
	enum metric_role longest = METRIC_NONE;

	for (int i = METRIC_stall_barrier; counted && i <= METRIC_stall_wait; i++)
		if (counted->kernels[kernel].roles[i].total > 0 &&
		    (longest == METRIC_NONE ||
		     counted->kernels[kernel].roles[i].total >
			     counted->kernels[kernel].roles[longest].total))
			longest = (enum metric_role)i;
	return longest;
}

/* For what was asked for to come, not for a unit that others keep busy. */
static bool is_latency(enum metric_role stall)
{
	return stall == METRIC_stall_long_scoreboard || stall == METRIC_stall_short_scoreboard ||
	       stall == METRIC_stall_wait || stall == METRIC_stall_barrier ||
	       stall == METRIC_stall_membar;
}

bool latency_kernel_of(struct latency_kernel *out, const struct facts *facts,
		       const struct roofline_point *point)
{
	const struct profile *profile = facts->report->profile;
	uint32_t kernel = point->subject;

	*out = (struct latency_kernel){.point = point, .stall = longest_stall(facts, kernel)};
	if (out->stall != METRIC_NONE && !is_latency(out->stall))
		return false;
	if (profile_only_device(profile) == PROFILE_NONE || !is_far_below(point) ||
	    facts_is_library(facts, kernel) || has_atomics(facts, kernel) ||
	    !is_even(facts, kernel))
		return false;
	out->launch = facts_launch_of(facts, kernel);
	if (!out->launch ||
	    !launch_fill_of(&out->fill, &profile->devices[profile_only_device(profile)],
			    out->launch) ||
	    out->fill.lack != LAUNCH_LACKS_NOTHING)
		return false;
	out->warps = fmin(out->fill.occupancy.waves, 1) * out->fill.occupancy.warps_ratio;
	return true;
}

/* ---- what is told ---- */

static const char *const role_meanings[] = {
#define ROLE_MEANING(role, set, meaning) meaning,
	METRICS(ROLE_MEANING)
#undef ROLE_MEANING
};

static int add_stalls(struct recommendation *item, enum metric_role stall)
{
	if (stall == METRIC_NONE)
		return advice_add_evidence(
			item, "what its warps wait for was not counted: --counters=stalls, or "
			      "the section Warp State Statistics of Nsight Compute");
	return advice_add_evidence(item, "its warps spend most of their waits on: %s",
				   role_meanings[stall]);
}

static int add_warps(struct recommendation *item, const struct latency_kernel *kernel)
{
	const struct launch_fill *fill = &kernel->fill;

	if (fill->occupancy.waves < 1)
		return advice_add_evidence(
			item,
			"%s blocks of %u threads are %.0f%% of the warps that the SMs "
			"can hold",
			format_count(fill->blocks).text, fill->threads, 100 * kernel->warps);
	return advice_add_evidence(
		item,
		"%u blocks of %u threads fit on an SM, %.0f%% of the warps that it can "
		"hold: %s hold them down",
		fill->occupancy.blocks_per_sm, fill->threads, 100 * kernel->warps,
		occupancy_limit_name(fill->occupancy.limit));
}

int latency_kernels_add_evidence(struct recommendation *item, const struct facts *facts,
				 roof_stake stake)
{
	const struct roof_kernels found = facts_find_roof_kernels(facts, stake);
	struct latency_kernel kernel;
	const char *name;
	int rc;

	(void)latency_kernel_of(&kernel, facts, found.most);
	name = kernel_label(facts->report->profile->kernel_labels, kernel.point->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: at %.0f%% of its nearest roof (%s)", name,
				 100 * kernel.point->binding_share,
				 roofline_roof_title(kernel.point->binding));
	if (rc == 0)
		rc = add_warps(item, &kernel);
	return rc < 0 ? rc : add_stalls(item, kernel.stall);
}

bool latency_kernels_are_most(const struct facts *facts, roof_stake stake)
{
	const struct roof_kernels found = facts_find_roof_kernels(facts, stake);

	return facts_are_most(&found);
}
