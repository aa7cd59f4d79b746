/*
 * bank_conflicts.c - accesses to shared memory wait for each other at its banks.
 *
 * Lanes of a warp that ask one bank for different words are served in turn, in one
 * wavefront and cycle of their SM after the other.  Fires, with the counters of the set
 * shared, for the kernel that loses most: when conflicts are at least half of its
 * wavefronts and the cycles that they take, on all SMs alike and at the highest clock,
 * are more than 5% of wall time without reading the counters.  Other warps may run in
 * that time, so what is at stake is an upper bound.
 */
#include "advice/rules/rules.h"

#include "analysis/counters/counted.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"

#define LEAST_SHARE 0.5
#define AT_STAKE_RATIO 0.05

struct conflicts {
	uint32_t kernel;
	double share;	/* of its wavefronts */
	double lost_ns; /* of all launches */
	double time_ns; /* likewise */
};

/* Zero where the counters do not tell. */
static struct conflicts conflicts_of(const struct facts *facts, size_t index, uint32_t kernel)
{
	const struct counted_work *work = &facts->report->counted->kernels[kernel];
	const struct profile_device *device = &facts->report->profile->devices[index];
	double wavefronts = work->roles[METRIC_shared_wavefronts].total;
	double conflicts = work->roles[METRIC_shared_conflicts].total;
	double cycles_per_ns = (double)device->sm_count * (double)device->sm_clock_khz / 1e6;
	struct conflicts found = {.kernel = kernel, .time_ns = work->time_ns};

	if (wavefronts <= 0 || cycles_per_ns <= 0)
		return found;
	found.share = conflicts / wavefronts;
	found.lost_ns = conflicts / cycles_per_ns;
	if (found.lost_ns > found.share * found.time_ns)
		found.lost_ns = found.share * found.time_ns;
	return found;
}

static struct conflicts worst(const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct conflicts most = {0};

	for (size_t i = 0; facts->report->counted && i < profile->kernel_name_count; i++) {
		struct conflicts found = conflicts_of(facts, device, (uint32_t)i);

		if (found.share >= LEAST_SHARE && found.lost_ns > most.lost_ns &&
		    !facts_is_library(facts, (uint32_t)i))
			most = found;
	}
	return most;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)worst(facts, device).lost_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	struct conflicts found = worst(facts, device);
	const char *name;
	int rc;

	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels,
			    facts->report->profile->kernel_names[found.kernel], LABEL_WIDE);
	rc = advice_add_evidence(item,
				 "%s: %.0f%% of its wavefronts to shared memory are bank conflicts",
				 name, 100 * found.share);
	if (rc == 0)
		rc = advice_add_evidence(item,
					 "they take an SM %s of the %s that all launches take",
					 format_ns(found.lost_ns).text,
					 format_ns(found.time_ns).text);
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
	.strategy = "pad_shared",
	.title = "Lay shared memory out so that the lanes of a warp meet different banks",
	.workload = "bank_conflict",
	.risk = "Padding takes shared memory and can cost a resident block; rows of vector types "
		"have to stay aligned.",
	.pattern = "__shared__ float tile[32][32 + 1]; /* a column meets all banks */\n"
		   "tile[threadIdx.y][threadIdx.x] = in[...];\n"
		   "__syncthreads();\n"
		   "out[...] = tile[threadIdx.x][threadIdx.y];",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
