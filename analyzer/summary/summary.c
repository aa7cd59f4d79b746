#include "summary/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"

/* ---- entries ---- */

/* The index of a key in *index; 1 when it is a new one, for which there is room in *items then. */
static int find(struct groups *names, const void *key, size_t size, void **items, size_t *capacity,
		size_t item_size, uint32_t *index)
{
	size_t count = names->count;
	void *moved = array_reserve(*items, capacity, count + 1, item_size);
	int rc;

	if (!moved)
		return -ENOMEM;
	*items = moved;
	rc = groups_find(names, key, size, index);
	if (rc < 0 || *index < count)
		return rc;
	memset((char *)moved + count * item_size, 0, item_size);
	return 1;
}

#define FIND(summary, names, key, size, items, capacity, index)                              \
	find(&(summary)->names, key, size, (void **)&(summary)->items, &(summary)->capacity, \
	     sizeof(*(summary)->items), index)

int summary_host(struct summary *summary, const char *name, uint32_t *index)
{
	int rc = FIND(summary, host_names, name, strlen(name), hosts, host_capacity, index);

	if (rc <= 0)
		return rc;
	summary->hosts[summary->host_count++] = strdup(name);
	return summary->hosts[*index] ? 0 : -ENOMEM;
}

int summary_kernel(struct summary *summary, const char *name, uint32_t *index)
{
	int rc = FIND(summary, kernel_names, name, strlen(name), kernels, kernel_capacity, index);

	if (rc <= 0)
		return rc;
	summary->kernels[summary->kernel_count++].name = strdup(name);
	return summary->kernels[*index].name ? 0 : -ENOMEM;
}

int summary_group(struct summary *summary, const char *key, uint32_t *index)
{
	int rc = FIND(summary, group_keys, key, strlen(key), groups, group_capacity, index);

	if (rc <= 0)
		return rc;
	summary->groups[summary->group_count++].key = strdup(key);
	return summary->groups[*index].key ? 0 : -ENOMEM;
}

int summary_part(struct summary *summary, uint32_t group, uint32_t host, uint32_t *index)
{
	uint32_t key[2] = {group, host};
	int rc = FIND(summary, part_keys, key, sizeof(key), parts, part_capacity, index);

	if (rc <= 0)
		return rc;
	summary->parts[summary->part_count++] = (struct summary_part){.group = group, .host = host};
	summary->groups[group].part_count++;
	return 0;
}

int summary_rank(struct summary *summary, const struct summary_rank *like, uint32_t *index)
{
	char key[1024];
	int rc, size = snprintf(key, sizeof(key), "%u %" PRIu64 " %" PRId64 " %s", like->host,
				like->pid, like->start_ns, like->device);
	struct summary_rank *rank;

	if ((size_t)size >= sizeof(key))
		size = sizeof(key) - 1;
	rc = FIND(summary, rank_names, key, (size_t)size, ranks, rank_capacity, index);
	if (rc <= 0)
		return rc < 0 ? rc : -EEXIST;
	rank = &summary->ranks[summary->rank_count++];
	*rank = *like;
	rank->damage = (struct sentences){0};
	rank->members = NULL;
	rank->member_count = rank->member_capacity = 0;
	rank->device = strdup(like->device);
	rank->model = strdup(like->model);
	for (size_t i = 0; i < like->damage.count; i++)
		if (sentences_add(&rank->damage, "%s", like->damage.items[i]) < 0)
			return -ENOMEM;
	return rank->device && rank->model ? 0 : -ENOMEM;
}

int summary_join(struct summary *summary, struct summary_rank *rank,
		 const struct summary_member *like)
{
	struct summary_member *member =
		ARRAY_NEXT(rank->members, rank->member_capacity, rank->member_count);

	if (!member)
		return -ENOMEM;
	rank->member_count++;
	summary->groups[like->group].member_count++;
	*member = *like;
	/* What a level keeps none of, those above it keep none of either. */
	while (member->level_count && !member->levels[member->level_count - 1].count)
		member->level_count--;
	member->levels = calloc(member->level_count + 1, sizeof(*member->levels));
	if (!member->levels)
		return -ENOMEM;
	if (member->level_count)
		memcpy(member->levels, like->levels, member->level_count * sizeof(*member->levels));
	return 0;
}

struct summary_level summary_level_of(const struct summary_member *member, uint32_t level)
{
	return level < member->level_count ? member->levels[level] : (struct summary_level){0};
}

void summary_count(struct summary_level *levels, uint64_t number, int64_t start_ns)
{
	for (uint32_t level = 0; level < SUMMARY_LEVELS && summary_is_kept(number, level);
	     level++) {
		levels[level].count++;
		levels[level].start_sum_ns += (uint64_t)start_ns;
	}
}

/* ---- durations ---- */

int summary_times_add(struct summary_times *times, int64_t duration_ns)
{
	if (duration_ns < 0)
		duration_ns = 0;
	if (!times->count || duration_ns < times->min_ns)
		times->min_ns = duration_ns;
	if (duration_ns > times->max_ns)
		times->max_ns = duration_ns;
	sum_add_count(&times->count, 1);
	sum_add_ns(&times->total_ns, duration_ns);
	return sketch_add(&times->sketch, duration_ns);
}

int summary_times_merge(struct summary_times *times, const struct summary_times *other)
{
	if (!other->count)
		return 0;
	if (!times->count || other->min_ns < times->min_ns)
		times->min_ns = other->min_ns;
	if (other->max_ns > times->max_ns)
		times->max_ns = other->max_ns;
	sum_add_count(&times->count, other->count);
	sum_add_ns(&times->total_ns, other->total_ns);
	return sketch_merge(&times->sketch, &other->sketch);
}

void summary_times_free(struct summary_times *times)
{
	sketch_free(&times->sketch);
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int summary_compare_ranks(const struct summary *summary, uint32_t a, uint32_t b)
{
	const struct summary_rank *left = &summary->ranks[a], *right = &summary->ranks[b];
	/* -1 becomes the largest */
	int order = compare_numbers((uint64_t)left->rank, (uint64_t)right->rank);

	if (!order && left->host != right->host)
		order = strcmp(summary->hosts[left->host], summary->hosts[right->host]);
	if (!order)
		order = compare_numbers(left->pid, right->pid);
	if (!order)
		order = (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
	return order ? order : strcmp(left->device, right->device);
}

void summary_name_rank(char *buffer, size_t size, const struct summary *summary, uint32_t index)
{
	const struct summary_rank *rank = &summary->ranks[index];

	if (rank->rank >= 0)
		snprintf(buffer, size, "rank %" PRId64, rank->rank);
	else
		snprintf(buffer, size, "%s.%" PRIu64, summary->hosts[rank->host], rank->pid);
}

/* ---- the end ---- */

static void free_rank(struct summary_rank *rank)
{
	for (size_t i = 0; i < rank->member_count; i++)
		free(rank->members[i].levels);
	sentences_free(&rank->damage);
	free(rank->members);
	free(rank->device);
	free(rank->model);
}

static void free_names(struct summary *summary)
{
	groups_free(&summary->host_names);
	groups_free(&summary->rank_names);
	groups_free(&summary->kernel_names);
	groups_free(&summary->group_keys);
	groups_free(&summary->part_keys);
}

void summary_free(struct summary *summary)
{
	for (size_t i = 0; i < summary->host_count; i++)
		free(summary->hosts[i]);
	for (size_t i = 0; i < summary->rank_count; i++)
		free_rank(&summary->ranks[i]);
	for (size_t i = 0; i < summary->kernel_count; i++) {
		free(summary->kernels[i].name);
		summary_times_free(&summary->kernels[i].times);
	}
	for (size_t i = 0; i < summary->group_count; i++)
		free(summary->groups[i].key);
	for (size_t i = 0; i < summary->part_count; i++) {
		free(summary->parts[i].items);
		free(summary->parts[i].alone);
	}
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		summary_times_free(&summary->gaps[i]);
	summary_times_free(&summary->other_kernels);
	free(summary->hosts);
	free(summary->ranks);
	free(summary->kernels);
	free(summary->groups);
	free(summary->parts);
	free_names(summary);
	*summary = (struct summary){0};
}
