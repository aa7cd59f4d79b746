#include "analysis/job/collective_order.h"

#include <errno.h>
#include <stdlib.h>

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

static struct collective_sequence next_rank(const struct collective *from,
					    const struct collective *end)
{
	struct collective_sequence rank = {from, 0};

	while (from + rank.count < end && from[rank.count].process == from->process &&
	       from[rank.count].device == from->device)
		rank.count++;
	return rank;
}

/* How often each kernel ran on one rank, less how often on the other, is 0 for all. */
static bool is_alike(const struct collective_sequence *one, const struct collective_sequence *other,
		     int64_t *balance)
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

static bool differs(struct collective_order *out, const struct collective_sequence *one,
		    const struct collective_sequence *other)
{
	out->one = *one;
	out->other = *other;
	out->index = 0;
	while (out->index < one->count &&
	       one->first[out->index].kernel == other->first[out->index].kernel)
		out->index++;
	return out->index < one->count;
}

/* The rank is compared with the first like it. */
static bool find_among(struct collective_order *out, const struct collective *all,
		       const struct collective_sequence *rank, int64_t *balance)
{
	const struct collective *from = all;

	while (from < rank->first) {
		struct collective_sequence other = next_rank(from, rank->first);

		if (is_alike(&other, rank, balance))
			return differs(out, &other, rank);
		from += other.count;
	}
	return false;
}

static void search(struct collective_order *out, const struct collective *end, size_t device,
		   int64_t *balance)
{
	const struct collective *from = out->items;

	while (from < end && !out->is_found) {
		struct collective_sequence rank = next_rank(from, end);

		if (device == COLLECTIVE_ORDER_ANY || from->device == device)
			out->is_found = find_among(out, out->items, &rank, balance);
		from += rank.count;
	}
}

int collective_order_find(struct collective_order *out, const struct profile *profile,
			  const struct collectives *collectives, size_t device)
{
	int64_t *balance = calloc(profile->kernel_name_count + 1, sizeof(*balance));
	size_t count;
	int rc;

	*out = (struct collective_order){.items = NULL};
	rc = copy_launched_by_host(&out->items, &count, collectives);
	if (rc == 0 && balance)
		search(out, out->items + count, device, balance);
	free(balance);
	return balance ? rc : -ENOMEM;
}

void collective_order_free(struct collective_order *order)
{
	free(order->items);
	order->items = NULL;
}
