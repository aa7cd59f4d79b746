/*
 * reuse_in_tiles.c - a kernel computes much with what it loads, and loads it from cache again and again.
 *
 * Of the bytes of DRAM alone its arithmetic would set the pace; L1 or L2 does, for each value comes from there as often as
 * it is used.  A tile of it in shared memory, or several results a thread, uses it many times for each load.
 *
 * Fires where kernels with at least half of the time of all are nearest to the roof of L1 or L2, which explains more of
 * their time than a prediction may be off, do more operations for a byte of DRAM than where that roof and the one of
 * arithmetic meet, and have no tile: nothing of shared memory and no local memory, counters say.  How much it brings nothing
 * tells, so nothing is predicted; at stake is what stands between them and the next roof that a tile leaves.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"

/* Of FP64, FP32 and FP16 the one that is nearest. */
static enum roofline_roof arithmetic_of(const struct roofline_point *point)
{
	enum roofline_roof nearest = ROOF_fp64;

	for (int roof = ROOF_fp64; roof < ROOF_TENSOR; roof++)
		if (point->quantities[roof].share > point->quantities[nearest].share)
			nearest = (enum roofline_roof)roof;
	return nearest;
}

/* Operations for a byte of DRAM where both roofs meet; 0: no ceilings. */
static double balance_of(const struct roofline *roofline, enum roofline_roof arithmetic)
{
	return roofline->roofs[ROOF_dram] > 0
		       ? roofline->roofs[arithmetic] / roofline->roofs[ROOF_dram]
		       : 0;
}

static double per_dram_byte(const struct roofline_point *point, enum roofline_roof arithmetic)
{
	double bytes = point->quantities[ROOF_dram].total;

	return bytes > 0 ? point->quantities[arithmetic].total / bytes : 0;
}

static bool has_memory_of_threads(const struct facts *facts, const struct roofline_point *point)
{
	const struct profile_signature *launch = facts_launch_of(facts, point->subject);

	return point->quantities[ROOF_shared].total > 0 || !launch ||
	       launch->local_bytes_per_thread;
}

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	enum roofline_roof arithmetic = arithmetic_of(point);
	double balance = balance_of(facts->report->roofline, arithmetic);

	if ((point->binding != ROOF_l1 && point->binding != ROOF_l2) || point->is_wrong ||
	    point->binding_share < LEAST_ESTIMATED_RATIO ||
	    point->quantities[ROOF_shared].state != ROOFLINE_KNOWN || balance <= 0 ||
	    per_dram_byte(point, arithmetic) < balance || has_memory_of_threads(facts, point) ||
	    facts_is_library(facts, point->subject))
		return -1;
	return 1 - fmax(point->quantities[arithmetic].share, point->quantities[ROOF_dram].share);
}

static struct roof_kernels find(const struct facts *facts)
{
	return facts_find_roof_kernels(facts, stake_of);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)find(facts).stake_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct roofline_point *most = find(facts).most;
	enum roofline_roof arithmetic = arithmetic_of(most);
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, most->name, LABEL_WIDE);
	rc = advice_add_evidence(item, "%s: %s a launch from %s, and %s from DRAM", name,
				 format_bytes(most->quantities[most->binding].per_launch).text,
				 roofline_roof_title(most->binding),
				 format_bytes(most->quantities[ROOF_dram].per_launch).text);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"%.0f FLOP for each byte of DRAM, where %.0f are enough for arithmetic to set "
			"the pace: it is at %.0f%% of what %s can",
			per_dram_byte(most, arithmetic),
			balance_of(facts->report->roofline, arithmetic),
			100 * most->quantities[arithmetic].share, roofline_roof_title(arithmetic));
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct roof_kernels found = find(facts);

	(void)device;
	return facts_are_most(&found);
}

const struct rule rule_reuse_in_tiles = {
	.id = "reuse_in_tiles",
	.strategy = "tiles",
	.title =
		"Load what is used again and again once: a tile in shared memory, and several results a "
		"thread",
	.risk = "A tile needs a barrier before it is read and one before it is loaded anew. Shared memory and "
		"registers leave room for fewer warps. A matrix product is a call of a library.",
	.pattern = "__shared__ float tile[32][33];\n"
		   "tile[threadIdx.y][threadIdx.x] = in[row * width + column]; /* once */\n"
		   "__syncthreads();\n"
		   "for (int k = 0; k < 32; k++) /* and used 32 times */\n"
		   "    sum += a[k] * tile[k][threadIdx.x];\n"
		   "__syncthreads();",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.said_by = "uncoalesced",
};
