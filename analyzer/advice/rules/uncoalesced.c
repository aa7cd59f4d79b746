/*
 * uncoalesced.c - neighbors in a warp access memory that is far apart.
 *
 * Memory moves in sectors of 32 bytes.  Where each thread of a warp reads a row of its own, 32 sectors move for what 4 hold,
 * and caches and queues are busy with bytes that nobody asked for.
 *
 * Fires where counters of the set global show that kernels with at least half of the time of all touch twice as many
 * sectors as what their threads ask for needs, no less than one for each access of a warp, that these are most of what goes
 * through L1, and that no roof explains their time.  Where they were not counted, where the shape of blocks tells: with one
 * thread in x, which counts within a row as usual, all threads of a warp are in rows of their own; or where more bytes come
 * from DRAM than go through L1: two sectors come from there at once, and the second one went before anybody asked for it.  How much it brings nothing
 * tells, so nothing is predicted; at stake is the share of sectors that need not be.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/shared/sectors.h"

#define WARP_THREADS 32
#define MOST 0.5

/* Of a kernel's launches together. */
struct touched {
	double sectors, needed_sectors; /* 0: not counted */
	double waste;			/* share of the sectors that need not be */
};

static struct touched touched_by(const struct facts *facts, uint32_t kernel)
{
	const struct touched_sectors sectors = touched_sectors_of(facts->report, kernel);

	return (struct touched){.sectors = sectors.touched,
				.needed_sectors = sectors.needed,
				.waste = sectors.touched > 0
						 ? fmax(1 - sectors.needed / sectors.touched, 0)
						 : 0};
}

/* Bytes of local memory and textures go through L1 as well. */
static bool is_most_of_l1(const struct touched *touched, const struct roofline_point *point)
{
	double wasted_bytes = touched->waste * touched->sectors * SECTOR_BYTES;

	return wasted_bytes >= MOST * point->quantities[ROOF_l1].total;
}

/* All threads of a warp have the same x. */
static bool is_column(const struct profile_signature *launch)
{
	return launch && launch->block[0] == 1 &&
	       (uint64_t)launch->block[1] * launch->block[2] >= WARP_THREADS;
}

/* Of sectors with values of 4 bytes each, all but that of one. */
#define COLUMN_WASTE (1 - 4.0 / SECTOR_BYTES)

/* The share of DRAM's bytes that nobody asked for.  Some of them may be of kernels before, which L2 still held; and tensor
 * copies into shared memory do not go through L1. */
static double unasked_share(const struct facts *facts, const struct roofline_point *point)
{
	const struct profile *profile = facts->report->profile;
	const struct roofline_quantity *quantities = point->quantities;
	double own_bytes = quantities[ROOF_dram].per_launch -
			   (double)profile->devices[facts->main_device].l2_bytes;
	double asked_bytes = quantities[ROOF_l1].per_launch;

	if (quantities[ROOF_shared].state != ROOFLINE_KNOWN || quantities[ROOF_shared].total > 0 ||
	    asked_bytes <= 0 || own_bytes <= LEAST_ESTIMATED_SPEEDUP * asked_bytes)
		return -1;
	return 1 - asked_bytes / own_bytes;
}

static double stake_of(const struct facts *facts, const struct roofline_point *point)
{
	struct touched touched = touched_by(facts, point->subject);

	if (facts_is_library(facts, point->subject) || roofline_is_at_roof(point))
		return -1;
	if (!touched.sectors)
		return is_column(facts_launch_of(facts, point->subject))
			       ? COLUMN_WASTE
			       : unasked_share(facts, point);
	return touched.waste >= MOST && is_most_of_l1(&touched, point) ? touched.waste : -1;
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

/* ---- what is told ---- */

static int add_shape(struct recommendation *item, const struct profile_signature *launch,
		     const char *name)
{
	return advice_add_evidence(item,
				   "%s: blocks of %u x %u x %u threads: those of a warp have the "
				   "same x, and rows of their own where y counts rows",
				   name, launch->block[0], launch->block[1], launch->block[2]);
}

static int add_unasked(struct recommendation *item, const struct roofline_point *point,
		       const char *name)
{
	return advice_add_evidence(
		item,
		"%s: %s a launch of DRAM, and %s through L1: parts of what moves are not asked for "
		"before they are gone",
		name, format_bytes(point->quantities[ROOF_dram].per_launch).text,
		format_bytes(point->quantities[ROOF_l1].per_launch).text);
}

static int add_uncounted(struct recommendation *item, const struct facts *facts,
			 const struct roofline_point *point, const char *name)
{
	const struct profile_signature *launch = facts_launch_of(facts, point->subject);
	int rc = is_column(launch) ? add_shape(item, launch, name) : add_unasked(item, point, name);

	return rc < 0 ? rc
		      : advice_add_evidence(item, "which memory they touch was not counted: "
						  "--counters=global");
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct roofline_point *most = find(facts).most;
	struct touched touched = touched_by(facts, most->subject);
	const char *name;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, most->name, LABEL_WIDE);
	if (!touched.sectors)
		return add_uncounted(item, facts, most, name);
	return advice_add_evidence(
		item,
		"%s: its loads and stores touch %.1f times as many sectors as they need, "
		"%s in place of %s a launch",
		name, touched.sectors / touched.needed_sectors,
		format_bytes(touched.sectors * SECTOR_BYTES / (double)most->launch_count).text,
		format_bytes(touched.needed_sectors * SECTOR_BYTES / (double)most->launch_count)
			.text);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct roof_kernels found = find(facts);

	(void)device;
	return facts_are_most(&found);
}

const struct rule rule_uncoalesced = {
	.id = "uncoalesced",
	.strategy = "coalesce",
	.title = "Let neighbors in a warp access neighbors in memory",
	.risk = "An array of structures needs an array for each member, or a load of 16 bytes for four. "
		"What is read by row and written by column goes through a tile in shared memory.",
	.pattern = "int x = blockIdx.x * blockDim.x + threadIdx.x; /* within a row */\n"
		   "float a = in[y * width + x]; /* a warp: 128 bytes in a row */\n"
		   "/* a row for each thread: let a warp go through it together */\n"
		   "for (int x = lane; x < width; x += 32)\n"
		   "    sum += in[row * width + x];",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
