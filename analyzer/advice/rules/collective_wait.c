/*
 * collective_wait.c - collectives run and wait for a rank that arrives late.
 *
 * The GPU counts as busy meanwhile, as the collective's kernel runs.  Ranks are matched as
 * analysis/time/collectives.h says; where they are not alike nothing is said.  Nothing is
 * predicted: what makes a rank late is its own work, and a recording does not tell which
 * of that could move.
 *
 * Fires when a GPU's collectives wait for at least 10% of its wall time.
 */
#include "advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sums.h"
#include "base/format.h"

#define LEAST_WALL_PART 0.1

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return facts->report->collectives->devices[device].wait_ns;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	int64_t wait_ns = stake_ns(facts, device);

	return wait_ns > 0 && (double)wait_ns >= LEAST_WALL_PART * facts_wall_ns(facts, device);
}

/* What one rank waited for another. */
struct waited {
	uint32_t rank; /* the other */
	uint64_t count;
	int64_t time_ns;
};

/* Of all ranks and of the one that was waited for longest.  sums has room for every rank. */
static struct waited add_up(struct waited *most, const struct collectives *all,
			    const struct collective_rank *rank, struct waited *sums)
{
	struct waited total = {0};

	*most = (struct waited){0};
	for (size_t i = rank->first; i < rank->first + rank->count; i++) {
		const struct collective *item = &all->items[i];

		if (item->awaited == PROFILE_NONE)
			continue;
		sums[item->awaited].count++;
		sum_add_ns(&sums[item->awaited].time_ns, item->wait_ns);
		total.count++;
		sum_add_ns(&total.time_ns, item->wait_ns);
	}
	for (uint32_t i = 0; i < all->rank_count; i++) {
		sums[i].rank = i;
		if (sums[i].time_ns > most->time_ns)
			*most = sums[i];
		sums[i] = (struct waited){0};
	}
	return total;
}

/* The rank on the device that waited longest. */
static const struct collective_rank *find_worst(struct waited *total, struct waited *most,
						const struct collectives *all, size_t device,
						struct waited *sums)
{
	const struct collective_rank *worst = NULL;

	for (size_t i = 0; i < all->rank_count; i++) {
		const struct collective_rank *rank = &all->ranks[i];
		struct waited of_rank, of_other;

		if (rank->device != device)
			continue;
		of_rank = add_up(&of_other, all, rank, sums);
		if (worst && of_rank.time_ns <= total->time_ns)
			continue;
		worst = rank;
		*total = of_rank;
		*most = of_other;
	}
	return worst;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct profile *profile = facts->report->profile;
	const struct collectives *all = facts->report->collectives;
	struct waited *sums = calloc(all->rank_count + 1, sizeof(*sums)), total = {0}, most = {0};
	const struct collective_rank *worst =
		sums ? find_worst(&total, &most, all, device, sums) : NULL;
	const struct collective_rank *other = &all->ranks[most.rank];
	char name[256];
	int rc;

	(void)what_if;
	free(sums);
	if (!worst)
		return -ENOMEM;
	collectives_name_rank(name, sizeof(name), profile, worst->process, worst->device);
	rc = advice_add_evidence(item,
				 "%s of the %s collectives on %s wait for another rank: %s in all",
				 format_count(total.count).text, format_count(worst->count).text,
				 name, format_ns((double)total.time_ns).text);
	if (rc < 0)
		return rc;
	collectives_name_rank(name, sizeof(name), profile, other->process, other->device);
	return advice_add_evidence(item, "%s arrives last in %s of them, %s later on average", name,
				   format_count(most.count).text,
				   format_ns((double)most.time_ns / (double)most.count).text);
}

const struct rule rule_collective_wait = {
	.id = "collective_wait",
	.strategy = "balance_ranks",
	.title = "Give the late rank less to do, or overlap collectives with what it computes",
	.risk = "A rank can be late for the host that launches its work, or for a slower GPU: look at "
		"its idle causes first. Buckets on a second stream take SMs and bandwidth from "
		"the work beside them.",
	.pattern = "/* equal work for all ranks; buckets, each reduced behind a layer */\n"
		   "for (int i = layer_count; i-- > 0;) {\n"
		   "    backward(i, compute);\n"
		   "    cudaEventRecord(ready[i], compute);\n"
		   "    cudaStreamWaitEvent(reduce, ready[i], 0);\n"
		   "    ncclAllReduce(in[i], out[i], n[i], type, ncclSum, comm, reduce);\n"
		   "}",
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
