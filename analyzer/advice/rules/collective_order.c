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

#include <errno.h>
#include <stdlib.h>

#include "base/format.h"

/* Of one rank: a slice of the collectives. */
struct rank {
	const struct collective *first;
	size_t count;
};

struct mismatch {
	struct rank one, other;
	size_t index; /* of the first that differs */
};

/* Without what graphs launch: the host's order says nothing of that.  The caller frees *out. */
static int copy_launched_by_host(struct collective **out, size_t *count,
				 const struct collectives *collectives)
{
	*count = 0;
	*out = calloc(collectives->count + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < collectives->count; i++)
		if (!collectives->items[i].is_in_graph)
			(*out)[(*count)++] = collectives->items[i];
	return 0;
}

static struct rank next_rank(const struct collective *from, const struct collective *end)
{
	struct rank rank = {from, 0};

	while (from + rank.count < end && from[rank.count].process == from->process &&
	       from[rank.count].device == from->device)
		rank.count++;
	return rank;
}

/* How often each kernel ran on one rank, less how often on the other, is 0 for all. */
static bool is_alike(const struct rank *one, const struct rank *other, int64_t *balance)
{
	bool is_alike = one->count == other->count;

	for (size_t i = 0; is_alike && i < one->count; i++) {
		balance[one->first[i].kernel]++;
		balance[other->first[i].kernel]--;
	}
	for (size_t i = 0; is_alike && i < one->count; i++)
		is_alike = balance[one->first[i].kernel] == 0;
	for (size_t i = 0; i < one->count && i < other->count; i++)
		balance[one->first[i].kernel] = balance[other->first[i].kernel] = 0;
	return is_alike;
}

static bool differs(struct mismatch *out, const struct rank *one, const struct rank *other)
{
	*out = (struct mismatch){*one, *other, 0};
	while (out->index < one->count &&
	       one->first[out->index].kernel == other->first[out->index].kernel)
		out->index++;
	return out->index < one->count;
}

/* The rank is compared with the first like it. */
static bool find_among(struct mismatch *out, const struct collective *all, const struct rank *rank,
		       int64_t *balance)
{
	const struct collective *from = all;

	while (from < rank->first) {
		struct rank other = next_rank(from, rank->first);

		if (is_alike(&other, rank, balance))
			return differs(out, &other, rank);
		from += other.count;
	}
	return false;
}

/* The first rank on the device whose order is not that of a rank like it.  all: what out borrows
 * from; the caller frees it. */
static bool find(struct mismatch *out, struct collective **all, const struct report *report,
		 size_t device)
{
	int64_t *balance = calloc(report->profile->kernel_name_count + 1, sizeof(*balance));
	size_t count;
	bool is_found = false;

	if (copy_launched_by_host(all, &count, report->collectives) == 0 && balance) {
		const struct collective *from = *all, *end = from + count;

		while (from < end && !is_found) {
			struct rank rank = next_rank(from, end);

			is_found = from->device == device && find_among(out, *all, &rank, balance);
			from += rank.count;
		}
	}
	free(balance);
	return is_found;
}

static int add_mismatch(struct recommendation *item, const struct profile *profile,
			const struct mismatch *found)
{
	const struct rank *ranks[] = {&found->one, &found->other};
	int rc = advice_add_evidence(item, "the orders differ from collective %zu of %s on",
				     found->index + 1, format_count(found->one.count).text);

	for (size_t i = 0; i < 2 && rc == 0; i++) {
		char rank[256], kernel[64];

		collectives_name_rank(rank, sizeof(rank), profile, ranks[i]->first->process,
				      ranks[i]->first->device);
		format_kernel_name(kernel, sizeof(kernel),
				   profile->kernel_names[ranks[i]->first[found->index].kernel],
				   sizeof(kernel) - 1);
		rc = advice_add_evidence(item, "%s launches %s there", rank, kernel);
	}
	return rc;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct report *report = facts->report;
	struct collective *all = NULL;
	struct mismatch found;
	int rc = find(&found, &all, report, device) ? add_mismatch(item, report->profile, &found)
						    : -ENOMEM;

	(void)what_if;
	free(all);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	struct collective *all = NULL;
	struct mismatch found;
	bool is_found = find(&found, &all, facts->report, device);

	free(all);
	return is_found;
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
