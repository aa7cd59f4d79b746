#include "analysis/time/collectives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "analysis/time/collective_order.h"
#include "base/groups.h"
#include "base/spans.h"
#include "base/search.h"

/* By kernel_names[].  Most programs have none: then no operation needs to be looked at. */
static bool find_names(bool *is_collective, const struct profile *profile)
{
	bool is_any = false;

	for (size_t i = 0; i < profile->kernel_name_count; i++) {
		is_collective[i] = library_kernel_is_collective(profile->kernel_names[i]);
		is_any |= is_collective[i];
	}
	return is_any;
}

static bool is_taken(const bool *is_collective, const struct profile *profile,
		     const struct profile_op *op)
{
	return op->kind == OP_KERNEL && is_collective[profile->signatures[op->detail].kernel];
}

static int compare(const void *left, const void *right)
{
	const struct collective *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->launched_ns != b->launched_ns)
		return a->launched_ns < b->launched_ns ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int gather(struct collectives *all, const struct profile *profile, const bool *is_collective)
{
	size_t found = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		found += is_taken(is_collective, profile, &profile->ops[i]);
	all->items = calloc(found + 1, sizeof(*all->items));
	if (!all->items)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (is_taken(is_collective, profile, op))
			all->items[all->count++] = (struct collective){
				.process = profile_op_process(profile, op),
				.device = profile_op_device(profile, op),
				.kernel = profile->signatures[op->detail].kernel,
				.op = (uint32_t)i,
				.is_in_graph = profile_op_graph(profile, op) != 0,
				.launched_ns = op->call != PROFILE_NONE
						       ? profile->calls[op->call].start_ns
						       : op->start_ns,
				.start_ns = op->start_ns,
				.end_ns = op->end_ns,
				.awaited = PROFILE_NONE};
	}
	qsort(all->items, all->count, sizeof(*all->items), compare);
	return 0;
}

/* ---- ranks ---- */

static bool is_next_rank(const struct collectives *all, size_t i)
{
	return i == 0 || all->items[i].process != all->items[i - 1].process ||
	       all->items[i].device != all->items[i - 1].device;
}

static int split(struct collectives *all)
{
	size_t rank_count = 0;

	for (size_t i = 0; i < all->count; i++)
		rank_count += is_next_rank(all, i);
	all->ranks = calloc(rank_count + 1, sizeof(*all->ranks));
	if (!all->ranks)
		return -ENOMEM;
	for (size_t i = 0; i < all->count; i++) {
		if (is_next_rank(all, i))
			all->ranks[all->rank_count++] =
				(struct collective_rank){.process = all->items[i].process,
							 .device = all->items[i].device,
							 .first = i};
		all->ranks[all->rank_count - 1].count++;
	}
	return 0;
}

/* The host whose clock its times are by. */
static const char *clock_of(const struct profile_process *process)
{
	return process->clock_host ? process->clock_host : process->host;
}

/* A rank's sequence of kernels and its clock, as one string of bytes that is equal for ranks alike. */
static int find_group(struct collective_rank *rank, const struct collectives *all,
		      const struct profile *profile, struct groups *groups, bool is_across)
{
	const char *host = is_across ? "" : clock_of(&profile->processes[rank->process]);
	size_t names_size = rank->matched_count * sizeof(uint32_t),
	       size = names_size + strlen(host);
	char *key = malloc(size + 1);
	int rc;

	if (!key)
		return -ENOMEM;
	for (size_t i = 0; i < rank->matched_count; i++)
		memcpy(key + i * sizeof(uint32_t), &all->items[rank->first + i].kernel,
		       sizeof(uint32_t));
	memcpy(key + names_size, host, strlen(host));
	rc = groups_find(groups, key, size, &rank->group);
	free(key);
	return rc;
}

/* Recordings that were cut off end anywhere: all are compared up to where the first of these ends. */
static void find_ends(struct collectives *all, const struct profile *profile)
{
	size_t shortest = SIZE_MAX;

	for (size_t i = 0; i < all->rank_count; i++)
		if (!profile->processes[all->ranks[i].process].sealed_ns &&
		    all->ranks[i].count < shortest)
			shortest = all->ranks[i].count;
	for (size_t i = 0; i < all->rank_count; i++)
		all->ranks[i].matched_count =
			all->ranks[i].count < shortest ? all->ranks[i].count : shortest;
}

static int find_groups(struct collectives *all, const struct profile *profile, bool is_across)
{
	struct groups groups = {0};
	uint32_t *sizes = NULL;
	int rc = 0;

	for (size_t i = 0; i < all->rank_count && rc == 0; i++)
		rc = find_group(&all->ranks[i], all, profile, &groups, is_across);
	if (rc == 0)
		sizes = calloc((size_t)groups.count + 1, sizeof(*sizes));
	if (sizes) {
		for (size_t i = 0; i < all->rank_count; i++)
			sizes[all->ranks[i].group]++;
		for (size_t i = 0; i < all->rank_count; i++)
			all->ranks[i].is_matched = sizes[all->ranks[i].group] > 1;
	}
	groups_free(&groups);
	free(sizes);
	return sizes ? 0 : -ENOMEM;
}

/* ---- waits ---- */

struct arrival {
	int64_t start_ns;
	uint32_t rank;
};

static int compare_arrivals(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

struct moment {
	const struct arrival *arrivals;
	int64_t ns;
};

static bool is_arrival_from(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->arrivals[index].start_ns >= moment->ns;
}

/* The last to arrive before that moment; NULL: none did. */
static const struct arrival *last_before(const struct arrival *arrivals, size_t count,
					 int64_t moment_ns)
{
	size_t end = search_first(0, count, is_arrival_from, &(struct moment){arrivals, moment_ns});

	return end ? &arrivals[end - 1] : NULL;
}

/* The index-th collective of the ranks that members lists. */
static void match(struct collectives *all, const uint32_t *members, size_t member_count,
		  size_t index, struct arrival *arrivals)
{
	for (size_t i = 0; i < member_count; i++)
		arrivals[i] =
			(struct arrival){all->items[all->ranks[members[i]].first + index].start_ns,
					 members[i]};
	qsort(arrivals, member_count, sizeof(*arrivals), compare_arrivals);
	for (size_t i = 0; i < member_count; i++) {
		struct collective *item = &all->items[all->ranks[members[i]].first + index];
		const struct arrival *last = last_before(arrivals, member_count, item->end_ns);

		if (!last || last->start_ns <= item->start_ns)
			continue;
		item->wait_ns = last->start_ns - item->start_ns;
		item->awaited = last->rank;
	}
}

struct member {
	uint32_t group, rank;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Fills members with all ranks by group, and match()es group by group. */
static void match_groups(struct collectives *all, struct member *by_group, uint32_t *members,
			 struct arrival *arrivals)
{
	for (size_t i = 0; i < all->rank_count; i++)
		by_group[i] = (struct member){all->ranks[i].group, (uint32_t)i};
	qsort(by_group, all->rank_count, sizeof(*by_group), compare_members);
	for (size_t first = 0, next; first < all->rank_count; first = next) {
		for (next = first;
		     next < all->rank_count && by_group[next].group == by_group[first].group;
		     next++)
			members[next - first] = by_group[next].rank;
		for (size_t i = 0; next - first > 1 && i < all->ranks[members[0]].matched_count;
		     i++)
			match(all, members, next - first, i, arrivals);
	}
}

static int find_waits(struct collectives *all)
{
	struct member *by_group = calloc(all->rank_count + 1, sizeof(*by_group));
	uint32_t *members = calloc(all->rank_count + 1, sizeof(*members));
	struct arrival *arrivals = calloc(all->rank_count + 1, sizeof(*arrivals));
	int rc = by_group && members && arrivals ? 0 : -ENOMEM;

	if (rc == 0)
		match_groups(all, by_group, members, arrivals);
	free(by_group);
	free(members);
	free(arrivals);
	return rc;
}

/* Collectives of several streams may wait at once. */
static int add_up(struct collectives *all, uint32_t device)
{
	struct spans waits = {0};
	int rc = 0;

	for (size_t i = 0; i < all->rank_count && rc == 0; i++) {
		const struct collective_rank *rank = &all->ranks[i];

		if (rank->device != device || !rank->is_matched)
			continue;
		all->devices[device].is_known = true;
		for (size_t k = rank->first; k < rank->first + rank->count && rc == 0; k++)
			rc = spans_add(&waits, all->items[k].start_ns,
				       all->items[k].start_ns + all->items[k].wait_ns);
	}
	spans_seal(&waits);
	if (waits.count)
		all->devices[device].wait_ns = spans_covered(&waits, waits.items[0].start_ns,
							     waits.items[waits.count - 1].end_ns);
	spans_free(&waits);
	return rc;
}

static int build(struct collectives *all, const struct profile *profile, bool is_across)
{
	bool *is_collective = calloc(profile->kernel_name_count + 1, sizeof(*is_collective));
	int rc = is_collective ? collective_messages_find(&all->messages, profile) : -ENOMEM;

	all->message_count = profile->nccl_call_count;
	all->devices = calloc(profile->device_count + 1, sizeof(*all->devices));
	all->device_count = profile->device_count;
	if (!all->devices)
		rc = -ENOMEM;
	if (rc == 0 && find_names(is_collective, profile)) {
		rc = gather(all, profile, is_collective);
		if (rc == 0)
			rc = split(all);
		find_ends(all, profile);
		if (rc == 0)
			rc = find_groups(all, profile, is_across);
		if (rc == 0)
			rc = find_waits(all);
		if (rc == 0)
			rc = collective_order_find(all);
		for (uint32_t i = 0; i < all->device_count && rc == 0; i++)
			rc = add_up(all, i);
	}
	free(is_collective);
	return rc;
}

static int build_all(struct collectives **out, const struct profile *profile, bool is_across,
		     struct err *err)
{
	struct collectives *all = calloc(1, sizeof(*all));
	int rc = all ? build(all, profile, is_across) : -ENOMEM;

	if (rc < 0) {
		collectives_free(all);
		return err_set(err, rc, "out of memory for the collectives");
	}
	*out = all;
	return 0;
}

int collectives_build(struct collectives **out, const struct profile *profile, struct err *err)
{
	return build_all(out, profile, false, err);
}

int collectives_build_across(struct collectives **out, const struct profile *profile,
			     struct err *err)
{
	return build_all(out, profile, true, err);
}

void collectives_free(struct collectives *all)
{
	if (!all)
		return;
	free(all->items);
	free(all->ranks);
	free(all->mismatches);
	free(all->messages);
	free(all->devices);
	free(all);
}

void collectives_name_rank(char *buffer, size_t size, const struct profile *profile,
			   uint32_t process, uint32_t device)
{
	snprintf(buffer, size, "GPU %u of %s", device, profile->processes[process].folder);
}
