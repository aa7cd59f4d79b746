#include "base/distribution.h"
#include "base/groups.h"
#include "analysis/statistics/statistics_parts.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies or memsets: each has a group, found from its details, and a duration. */
struct transfer_pass {
	struct groups groups;
	struct durations durations;
	uint32_t *group_of; /* by detail: index into copies[] or memsets[] */
};

static void pass_close(struct transfer_pass *pass)
{
	groups_free(&pass->groups);
	durations_free(&pass->durations);
	free(pass->group_of);
}

/* After group_of[] is known. */
static int gather(struct transfer_pass *pass, const struct profile *profile, uint8_t kind)
{
	const struct profile_op *end = profile->ops + profile->op_count;

	if (durations_open(&pass->durations, pass->groups.count) < 0)
		return -ENOMEM;
	for (const struct profile_op *op = profile->ops; op < end; op++)
		if (op->kind == kind)
			durations_count(&pass->durations, pass->group_of[op->detail]);
	if (durations_lay_out(&pass->durations) < 0)
		return -ENOMEM;
	for (const struct profile_op *op = profile->ops; op < end; op++)
		if (op->kind == kind)
			durations_add(&pass->durations, pass->group_of[op->detail],
				      op->end_ns - op->start_ns);
	return 0;
}

static int group_copies(struct transfer_pass *pass, const struct profile *profile)
{
	pass->group_of = calloc(profile->copy_count + 1, sizeof(*pass->group_of));
	if (!pass->group_of)
		return -ENOMEM;
	for (size_t i = 0; i < profile->copy_count; i++) {
		const struct profile_copy *copy = &profile->copies[i];
		uint32_t key[] = {copy->kind, copy->src_memory, copy->dst_memory, copy->is_async};

		if (groups_find(&pass->groups, key, sizeof(key), &pass->group_of[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Only what ran counts, so bytes come through the operations. */
static void describe_copies(struct transfer_pass *pass, const struct profile *profile,
			    const struct steady_state *steady_state, struct copy_statistics *copies)
{
	struct steady_cursor cursor = {.state = steady_state};

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_copy *copy;
		struct copy_statistics *group;

		if (op->kind != OP_COPY)
			continue;
		copy = &profile->copies[op->detail];
		group = &copies[pass->group_of[op->detail]];
		group->kind = copy->kind;
		group->src_memory = copy->src_memory;
		group->dst_memory = copy->dst_memory;
		group->is_async = copy->is_async;
		sum_add_count(&group->bytes, copy->bytes);
		steady_split_op(&group->split, &cursor, profile, op);
	}
}

static int compare_copies(const void *left, const void *right)
{
	const struct copy_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	if (!order)
		order = strcmp(profile_copy_kind_name(a->kind), profile_copy_kind_name(b->kind));
	if (!order)
		order = (int)(a->src_memory > b->src_memory) - (a->src_memory < b->src_memory);
	if (!order)
		order = (int)(a->dst_memory > b->dst_memory) - (a->dst_memory < b->dst_memory);
	return order ? order : a->is_async - b->is_async;
}

int statistics_collect_copies(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state)
{
	struct transfer_pass pass = {0};
	struct copy_statistics *copies = NULL;
	int rc = group_copies(&pass, profile);
	size_t count = 0;

	if (rc == 0)
		rc = gather(&pass, profile, OP_COPY);
	if (rc == 0 && !(copies = calloc(pass.groups.count + 1, sizeof(*copies))))
		rc = -ENOMEM;
	if (rc == 0) {
		describe_copies(&pass, profile, steady_state, copies);
		for (size_t i = 0; i < pass.groups.count; i++) {
			struct copy_statistics copy = copies[i];

			copy.time = durations_distribution(&pass.durations, i);
			if (copy.time.total_ns)
				copy.byte_per_s =
					(double)copy.bytes / (double)copy.time.total_ns * 1e9;
			if (copy.time.count)
				copies[count++] = copy;
		}
		qsort(copies, count, sizeof(*copies), compare_copies);
	}
	statistics->copies = copies;
	statistics->copy_count = count;
	pass_close(&pass);
	return rc;
}

static int group_memsets(struct transfer_pass *pass, const struct profile *profile)
{
	pass->group_of = calloc(profile->memset_count + 1, sizeof(*pass->group_of));
	if (!pass->group_of)
		return -ENOMEM;
	for (size_t i = 0; i < profile->memset_count; i++)
		if (groups_find(&pass->groups, &profile->memsets[i].memory, sizeof(uint32_t),
				&pass->group_of[i]) < 0)
			return -ENOMEM;
	return 0;
}

static void describe_memsets(struct transfer_pass *pass, const struct profile *profile,
			     const struct steady_state *steady_state,
			     struct memset_statistics *memsets)
{
	struct steady_cursor cursor = {.state = steady_state};

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		struct memset_statistics *group;

		if (op->kind != OP_MEMSET)
			continue;
		group = &memsets[pass->group_of[op->detail]];
		group->memory = profile->memsets[op->detail].memory;
		sum_add_count(&group->bytes, profile->memsets[op->detail].bytes);
		steady_split_op(&group->split, &cursor, profile, op);
	}
}

static int compare_memsets(const void *left, const void *right)
{
	const struct memset_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	return order ? order : (int)(a->memory > b->memory) - (a->memory < b->memory);
}

int statistics_collect_memsets(struct statistics *statistics, const struct profile *profile,
			       const struct steady_state *steady_state)
{
	struct transfer_pass pass = {0};
	struct memset_statistics *memsets = NULL;
	int rc = group_memsets(&pass, profile);
	size_t count = 0;

	if (rc == 0)
		rc = gather(&pass, profile, OP_MEMSET);
	if (rc == 0 && !(memsets = calloc(pass.groups.count + 1, sizeof(*memsets))))
		rc = -ENOMEM;
	if (rc == 0) {
		describe_memsets(&pass, profile, steady_state, memsets);
		for (size_t i = 0; i < pass.groups.count; i++) {
			struct memset_statistics item = memsets[i];

			item.time = durations_distribution(&pass.durations, i);
			if (item.time.count)
				memsets[count++] = item;
		}
		qsort(memsets, count, sizeof(*memsets), compare_memsets);
	}
	statistics->memsets = memsets;
	statistics->memset_count = count;
	pass_close(&pass);
	return rc;
}
