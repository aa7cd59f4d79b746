/*
 * collective_order.c - ranks that do the same collectives launch them in different orders.
 *
 * A collective waits for all ranks, so two that meet in different orders can wait for
 * each other for ever, or pair what does not belong together.  A rank is one GPU of one
 * process.  No recording tells communicators, so ranks are compared where each kernel of
 * NCCL ran equally often on both; sends and receives, and what graphs launch, are left
 * out.  Fires when the orders in which the host launched them differ.
 */
#include "advice/rules/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

struct collective {
	uint32_t process, device;
	uint32_t kernel; /* kernel_names[] */
	int64_t launched_ns;
};

/* Of one rank: a slice of the collectives. */
struct rank {
	const struct collective *first;
	size_t count;
};

struct mismatch {
	struct rank one, other;
	size_t index; /* of the first that differs */
};

static bool is_collective_name(const char *name)
{
	return strstr(name, "ncclDevKernel_") && !strstr(name, "SendRecv");
}

static bool is_collective(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_KERNEL && !op->graph &&
	       is_collective_name(profile->kernel_names[profile->signatures[op->detail].kernel]);
}

/* Most programs have none: then no operation needs to be looked at. */
static bool has_collectives(const struct profile *profile)
{
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		if (is_collective_name(profile->kernel_names[i]))
			return true;
	return false;
}

static int compare(const void *left, const void *right)
{
	const struct collective *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->launched_ns > b->launched_ns) - (a->launched_ns < b->launched_ns);
}

/* By rank, then as the host launched them.  The caller frees *out. */
static int gather(struct collective **out, size_t *count, const struct profile *profile)
{
	struct collective *all = NULL;
	size_t found = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		found += is_collective(profile, &profile->ops[i]);
	*count = 0;
	*out = all = calloc(found + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (is_collective(profile, op))
			all[(*count)++] =
				(struct collective){profile_op_process(profile, op), op->device,
						    profile->signatures[op->detail].kernel,
						    op->call != PROFILE_NONE
							    ? profile->calls[op->call].start_ns
							    : op->start_ns};
	}
	qsort(all, found, sizeof(*all), compare);
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
static bool find(struct mismatch *out, struct collective **all, const struct profile *profile,
		 size_t device)
{
	int64_t *balance = calloc(profile->kernel_name_count + 1, sizeof(*balance));
	size_t count;
	bool is_found = false;

	*all = NULL;
	if (has_collectives(profile) && gather(all, &count, profile) == 0 && balance) {
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

/* "GPU 1 of host.4242" */
static void name_rank(char *buffer, size_t size, const struct profile *profile,
		      const struct rank *rank)
{
	snprintf(buffer, size, "GPU %u of %s", rank->first->device,
		 profile->processes[rank->first->process].folder);
}

static int say_mismatch(struct recommendation *item, const struct profile *profile,
			const struct mismatch *found)
{
	const struct rank *ranks[] = {&found->one, &found->other};
	int rc = advice_say(item, "the orders differ from collective %zu of %s on",
			    found->index + 1, format_count(found->one.count).text);

	for (size_t i = 0; i < 2 && rc == 0; i++) {
		char rank[256], kernel[64];

		name_rank(rank, sizeof(rank), profile, ranks[i]);
		format_kernel_name(kernel, sizeof(kernel),
				   profile->kernel_names[ranks[i]->first[found->index].kernel],
				   sizeof(kernel) - 1);
		rc = advice_say(item, "%s launches %s there", rank, kernel);
	}
	return rc;
}

static int say(struct recommendation *item, const struct facts *facts, size_t device,
	       const struct what_if *what_if)
{
	const struct profile *profile = facts->report->profile;
	struct collective *all = NULL;
	struct mismatch found;
	int rc =
		find(&found, &all, profile, device) ? say_mismatch(item, profile, &found) : -ENOMEM;

	(void)what_if;
	free(all);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	struct collective *all = NULL;
	struct mismatch found;
	bool is_found = find(&found, &all, facts->report->profile, device);

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
		   "    ncclAllReduce(in[i], out[i], n[i], ncclFloat, ncclSum, comm, stream);",
	.is_promising = is_promising,
	.say = say,
	.is_about_kernels = true,
};
