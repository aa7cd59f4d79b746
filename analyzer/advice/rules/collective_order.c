/*
 * collective_order.c - ranks that do the same collectives launch them in different orders.
 *
 * A collective waits for all ranks, so two that meet in different orders can wait for
 * each other for ever, or pair what does not belong together.  A rank is one GPU of one
 * process.  No recording tells communicators, so ranks are compared where each kernel of
 * NCCL ran equally often on both; sends and receives, and what graphs launch, are left
 * out.  Fires when the orders in which the host launched them differ.  A kernel's name
 * tells the collective and the type of its values, not the operation: a sum that meets
 * a maximum of the same type is not seen.
 */
#include "advice/rules/rules.h"

#include "analysis/time/collective_order.h"
#include "base/format.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct profile *profile = facts->report->profile;
	const struct collectives *all = facts->report->collectives;
	const struct collective_mismatch *found = collective_order_on(all, device);
	int rc = advice_add_evidence(item, "the orders differ from collective %zu of %s on",
				     found->index + 1, format_count(found->count).text);

	(void)what_if;
	for (size_t i = 0; i < 2 && rc == 0; i++) {
		const struct collective_rank *of = &all->ranks[found->ranks[i]];
		char rank[256], kernel[64];

		collectives_name_rank(rank, sizeof(rank), profile, of->process, of->device);
		format_kernel_name(kernel, sizeof(kernel), profile->kernel_names[found->kernels[i]],
				   sizeof(kernel) - 1);
		rc = advice_add_evidence(item, "%s launches %s there", rank, kernel);
	}
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return collective_order_on(facts->report->collectives, device) != NULL;
}

const struct rule rule_collective_order = {
	.id = "collective_order",
	.strategy = "same_order",
	.title = "Launch collectives in the same order on all ranks",
	.risk = "Ranks in different communicators need not agree; where one is in several, the order "
		"between these counts as well.",
	.pattern = "/* the same on all ranks, not as gradients become ready */\n"
		   "for (int i = bucket_count; i-- > 0;)\n"
		   "    ncclAllReduce(in[i], out[i], n[i], type, ncclSum, comm, stream);",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
