/*
 * rank_imbalance.c - the same kernel takes longer on some ranks than on others, which wait for them.
 *
 * A fixed share for each rank is fair only where all items cost the same.  Fires when re-simulating all ranks with the
 * mean on each gains something; what finer items and taking them cost nobody knows before.  Told of the job's main GPU.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "techniques/balance_ranks.h"

struct unequal {
	struct unequal_kernel most; /* the one by which ranks differ most */
	double stake_ns;	    /* of all: what the longest take more than the mean */
};

static struct unequal *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_rank_imbalance, device);
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	struct unequal *found = finding;
	struct rank_balance balance;
	int rc;

	if (device != facts->main_device || !facts->report->job ||
	    facts->report->job->rank_count < 2)
		return 0;
	rc = rank_balance_find(&balance, facts->report->profile);
	for (size_t i = 0; rc == 0 && i < balance.kernel_count; i++) {
		const struct unequal_kernel *kernel = &balance.kernels[i];

		found->stake_ns += kernel->longest_ns - kernel->mean_ns;
		if (kernel->longest_ns - kernel->mean_ns >
		    found->most.longest_ns - found->most.mean_ns)
			found->most = *kernel;
	}
	rank_balance_free(&balance);
	return rc;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->stake_ns > 0;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)found_on(facts, device)->stake_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct unequal_kernel *most = &found_on(facts, device)->most;
	const struct profile *profile = facts->report->profile;
	double launches = (double)most->usual_count;

	(void)what_if;
	return advice_add_evidence(
		item,
		"%s, launched %s times by each rank, takes %s on the slowest, %s on average of all ranks",
		kernel_label(profile->kernel_labels, profile->kernel_names[most->kernel],
			     LABEL_WIDE),
		format_count(most->launch_count).text, format_ns(most->longest_ns / launches).text,
		format_ns(most->mean_ns / launches).text);
}

const struct rule rule_rank_imbalance = {
	.id = "rank_imbalance",
	.title = "Let ranks take work from one queue, not a fixed share each",
	.workload = "nvshmem_steal",
	.risk = "Taking an item from another GPU's memory takes a microsecond or two: items must be longer, and not so many at a "
		"time that the last ones are uneven again. Results lie on whichever rank did the item.",
	.pattern = "/* head: on the first GPU, for all */\n"
		   "unsigned begin = nvshmem_uint_atomic_fetch_add(head, batch, 0);\n"
		   "for (unsigned i = begin; i < min(begin + batch, count); i++) item(i);",
	.technique = &technique_balance_ranks,
	.finding_size = sizeof(struct unequal),
	.find = find,
	.is_candidate = is_candidate,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
	.needs_cuda_source = true,
};
