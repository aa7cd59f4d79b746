/*
 * bank_conflicts.c - accesses to shared memory wait for each other at its banks.
 *
 * Lanes of a warp that ask one bank for different words are served in turn, in one
 * wavefront and cycle of their SM after the other.  Fires, with the counters of the set
 * shared, for the kernel that loses most: when conflicts are at least half of its
 * wavefronts and the cycles that they take, on all SMs alike and at the highest clock,
 * are more than 5% of wall time without reading the counters.  Other warps may run in
 * that time, so what is at stake is an upper bound, and so is the gain (pad_shared.c).
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/shared/bank_conflicts.h"

#define AT_STAKE_RATIO 0.05

/* Of the kernel that loses most. */
struct worst {
	uint32_t kernel;
	struct bank_conflicts conflicts;
};

static struct worst worst(const struct facts *facts)
{
	const struct profile *profile = facts->report->profile;
	struct worst most = {0};

	for (uint32_t i = 0; i < profile->kernel_name_count; i++) {
		struct bank_conflicts found = bank_conflicts_of(facts->report, i);

		if (bank_conflicts_are_many(&found) && found.lost_ns > most.conflicts.lost_ns &&
		    !facts_is_library(facts, i))
			most = (struct worst){i, found};
	}
	return most;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	(void)device;
	return (int64_t)worst(facts).conflicts.lost_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct worst most = worst(facts);
	const struct bank_conflicts *found = &most.conflicts;
	const char *name;
	int rc;

	(void)device;
	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels,
			    facts->report->profile->kernel_names[most.kernel], LABEL_WIDE);
	rc = advice_add_evidence(item,
				 "%s: %.0f%% of its wavefronts to shared memory are bank conflicts",
				 name, 100 * found->share);
	if (rc == 0)
		rc = advice_add_evidence(item,
					 "they take an SM %s of the %s that all launches take",
					 format_ns(found->lost_ns).text,
					 format_ns(found->time_ns).text);
	return rc;
}

/* Counters of several devices are of one kernel together: only where there is one. */
static bool is_promising(const struct facts *facts, size_t device)
{
	double wall_ns = facts_main_ns(facts, device);

	return profile_only_device(facts->report->profile) == device &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_bank_conflicts = {
	.id = "bank_conflicts",
	.title = "Lay shared memory out so that the lanes of a warp meet different banks",
	.workload = "bank_conflict",
	.risk = "Padding takes shared memory and can cost a resident block; rows of vector types "
		"have to stay aligned.",
	.pattern = "__shared__ float tile[32][32 + 1]; /* a column meets all banks */\n"
		   "tile[threadIdx.y][threadIdx.x] = in[...];\n"
		   "__syncthreads();\n"
		   "out[...] = tile[threadIdx.x][threadIdx.y];",
	.technique = &technique_pad_shared,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
