#include "analysis/time/collective_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"

/* The kernels of a rank, in the order of their launches and sorted. */
struct sequence {
	uint32_t *kernels; /* owned, with sorted behind them */
	uint32_t *sorted;
	size_t count;
	uint32_t rank; /* collectives->ranks[] */
};

static int compare_kernels(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int sequence_open(struct sequence *out, const struct collectives *all, uint32_t rank)
{
	const struct collective_rank *of = &all->ranks[rank];

	*out = (struct sequence){.rank = rank};
	out->kernels = calloc(2 * of->count + 1, sizeof(*out->kernels));
	if (!out->kernels)
		return -ENOMEM;
	for (size_t i = of->first; i < of->first + of->count; i++)
		if (!all->items[i].is_in_graph)
			out->kernels[out->count++] = all->items[i].kernel;
	out->sorted = out->kernels + of->count;
	memcpy(out->sorted, out->kernels, out->count * sizeof(*out->kernels));
	qsort(out->sorted, out->count, sizeof(*out->sorted), compare_kernels);
	return 0;
}

static void compare(struct collectives *all, const struct sequence *one,
		    const struct sequence *other)
{
	size_t index = 0;

	while (index < one->count && one->kernels[index] == other->kernels[index])
		index++;
	if (index < one->count)
		all->mismatches[all->mismatch_count++] =
			(struct collective_mismatch){.ranks = {one->rank, other->rank},
						     .kernels = {one->kernels[index],
								 other->kernels[index]},
						     .index = index,
						     .count = one->count};
}

/* firsts: by group of ranks that are alike, the first of them. */
static int add(struct collectives *all, struct groups *groups, struct sequence *firsts,
	       uint32_t rank)
{
	struct sequence sequence;
	uint32_t known = groups->count, group;
	int rc = sequence_open(&sequence, all, rank);

	if (rc == 0)
		rc = groups_find(groups, sequence.sorted, sequence.count * sizeof(*sequence.sorted),
				 &group);
	if (rc == 0 && group == known) {
		firsts[group] = sequence;
		return 0;
	}
	if (rc == 0)
		compare(all, &firsts[group], &sequence);
	free(sequence.kernels);
	return rc;
}

int collective_order_find(struct collectives *all)
{
	struct groups groups = {0};
	struct sequence *firsts = calloc(all->rank_count + 1, sizeof(*firsts));
	int rc;

	all->mismatches = calloc(all->rank_count + 1, sizeof(*all->mismatches));
	rc = firsts && all->mismatches ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < all->rank_count && rc == 0; i++)
		rc = add(all, &groups, firsts, i);
	for (uint32_t i = 0; firsts && i < groups.count; i++)
		free(firsts[i].kernels);
	groups_free(&groups);
	free(firsts);
	return rc;
}

const struct collective_mismatch *collective_order_on(const struct collectives *all, size_t device)
{
	for (size_t i = 0; i < all->mismatch_count; i++)
		if (all->ranks[all->mismatches[i].ranks[1]].device == device)
			return &all->mismatches[i];
	return NULL;
}
