#include "summary/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"

/* What indices of one summary are in another. */
struct mapping {
	uint32_t *hosts, *ranks, *groups;
};

static uint32_t *map_of(size_t count)
{
	return calloc(count + 1, sizeof(uint32_t));
}

static int open_mapping(struct mapping *map, const struct summary *from)
{
	map->hosts = map_of(from->host_count);
	map->ranks = map_of(from->rank_count);
	map->groups = map_of(from->group_count);
	return map->hosts && map->ranks && map->groups ? 0 : -ENOMEM;
}

static void close_mapping(struct mapping *map)
{
	free(map->hosts);
	free(map->ranks);
	free(map->groups);
}

/* ---- hosts, groups, ranks ---- */

static int map_hosts(struct summary *into, const struct summary *from, struct mapping *map)
{
	int rc = 0;

	for (size_t i = 0; i < from->host_count && rc == 0; i++)
		rc = summary_host(into, from->hosts[i], &map->hosts[i]);
	return rc;
}

static int map_groups(struct summary *into, const struct summary *from, struct mapping *map)
{
	int rc = 0;

	for (size_t i = 0; i < from->group_count && rc == 0; i++) {
		const struct summary_group *other = &from->groups[i];
		struct summary_group *group;

		rc = summary_group(into, other->key, &map->groups[i]);
		if (rc < 0)
			break;
		group = &into->groups[map->groups[i]];
		if (other->length > group->length)
			group->length = other->length;
		if (other->alone_length > group->alone_length)
			group->alone_length = other->alone_length;
		if (other->level > group->level)
			group->level = other->level;
	}
	return rc;
}

static int add_members(struct summary *into, struct summary_rank *rank,
		       const struct summary_rank *like, const struct mapping *map)
{
	int rc = 0;

	for (size_t i = 0; i < like->member_count && rc == 0; i++) {
		struct summary_member member = like->members[i];

		member.group = map->groups[member.group];
		rc = summary_join(into, rank, &member);
	}
	return rc;
}

static int map_ranks(struct summary *into, const struct summary *from, struct mapping *map,
		     const char *path, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->rank_count && rc == 0; i++) {
		struct summary_rank like = from->ranks[i];
		char name[256];

		like.host = map->hosts[like.host];
		rc = summary_rank(into, &like, &map->ranks[i]);
		if (rc == -EEXIST) {
			summary_name_rank(name, sizeof(name), from, i);
			return err_set(err, rc,
				       "%s: %s is in another of the files as well; name each once",
				       path, name);
		}
		if (rc == 0)
			rc = add_members(into, &into->ranks[map->ranks[i]], &from->ranks[i], map);
	}
	return rc;
}

/* ---- durations ---- */

static int merge_times(struct summary *into, const struct summary *from)
{
	int rc = summary_times_merge(&into->other_kernels, &from->other_kernels);

	for (int i = 0; i < GAP_CAUSE_COUNT && rc == 0; i++)
		rc = summary_times_merge(&into->gaps[i], &from->gaps[i]);
	for (size_t i = 0; i < from->kernel_count && rc == 0; i++) {
		uint32_t index = 0;

		rc = summary_kernel(into, from->kernels[i].name, &index);
		if (rc == 0)
			rc = summary_times_merge(&into->kernels[index].times,
						 &from->kernels[i].times);
	}
	return rc;
}

/* ---- arrivals ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_arrivals(const struct summary *summary, struct summary_arrivals *sum,
			 const struct summary_arrivals *part)
{
	sum->before_last_ns = most(most(sum->before_last_ns, part->before_last_ns),
				   least(sum->last_ns, part->last_ns));
	if (part->last_ns > sum->last_ns ||
	    (part->last_ns == sum->last_ns &&
	     summary_compare_ranks(summary, part->last_rank, sum->last_rank) < 0)) {
		sum->last_ns = part->last_ns;
		sum->last_rank = part->last_rank;
	}
	sum->count += part->count;
	sum->sum_ns += part->sum_ns;
	sum->first_ns = least(sum->first_ns, part->first_ns);
	sum->end_ns = least(sum->end_ns, part->end_ns);
}

/* How many of a part's numbers are kept and are none of ours. */
static size_t count_new(const struct summary_part *into, const struct summary_part *from,
			uint32_t level)
{
	size_t at = 0, count = 0;

	for (size_t i = 0; i < from->count; i++) {
		uint64_t number = from->items[i].number;

		while (at < into->count && into->items[at].number < number)
			at++;
		count += summary_is_kept(number, level) &&
			 (at == into->count || into->items[at].number != number);
	}
	return count;
}

/* From the end, so that the items of into move behind once; there is room for all. */
static void merge_items(const struct summary *summary, struct summary_part *into,
			const struct summary_part *from, uint32_t level, size_t new_count,
			const uint32_t *ranks)
{
	size_t ours = into->count, theirs = from->count, to = ours + new_count;

	into->count = to;
	while (theirs > 0) {
		struct summary_arrivals item = from->items[theirs - 1];

		if (!summary_is_kept(item.number, level)) {
			theirs--;
			continue;
		}
		item.last_rank = ranks[item.last_rank];
		if (ours > 0 && into->items[ours - 1].number >= item.number) {
			bool is_same = into->items[ours - 1].number == item.number;

			into->items[--to] = into->items[--ours];
			if (!is_same)
				continue;
			add_arrivals(summary, &into->items[to], &item);
		} else {
			into->items[--to] = item;
		}
		theirs--;
	}
}

static int merge_alone(struct summary_part *into, const struct summary_part *from, uint32_t level,
		       const uint32_t *ranks)
{
	int rc = 0;

	for (size_t i = 0; i < from->alone_count && rc == 0; i++) {
		struct summary_alone alone = from->alone[i];

		alone.rank = ranks[alone.rank];
		if (summary_is_kept(alone.number, level))
			rc = summary_arrive_alone(into, &alone);
	}
	return rc;
}

static int merge_part(struct summary *into, const struct summary_part *from,
		      const struct mapping *map)
{
	uint32_t index = 0, level = into->groups[map->groups[from->group]].level;
	int rc = summary_part(into, map->groups[from->group], map->hosts[from->host], &index);
	struct summary_part *part;
	struct summary_arrivals *items;
	size_t new_count;

	if (rc < 0)
		return rc;
	part = &into->parts[index];
	if (!part->count && !part->alone_count)
		part->level = from->level;
	part->level = from->level < part->level ? from->level : part->level;
	new_count = count_new(part, from, level);
	items = array_reserve(part->items, &part->capacity, part->count + new_count + 1,
			      sizeof(*items));
	if (!items)
		return -ENOMEM;
	part->items = items;
	merge_items(into, part, from, level, new_count, map->ranks);
	return merge_alone(part, from, level, map->ranks);
}

struct summary_arrivals *summary_arrive(struct summary_part *part)
{
	struct summary_arrivals *item = ARRAY_NEXT(part->items, part->capacity, part->count);

	part->count += item != NULL;
	return item;
}

int summary_arrive_alone(struct summary_part *part, const struct summary_alone *alone)
{
	struct summary_alone *item =
		ARRAY_NEXT(part->alone, part->alone_capacity, part->alone_count);

	if (!item)
		return -ENOMEM;
	*item = *alone;
	part->alone_count++;
	return 0;
}

/* ---- what does not fit ---- */

/* How many arrivals there can be where each group keeps so many numbers: grows with both, so that a part of a union
 * never keeps fewer than all of it. */
static uint64_t arrivals_of(const struct summary *summary, uint64_t numbers)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < summary->group_count; i++) {
		const struct summary_group *group = &summary->groups[i];

		sum += group->part_count * (group->length < numbers ? group->length : numbers);
		sum += group->member_count *
		       (group->alone_length < numbers ? group->alone_length : numbers);
	}
	return sum;
}

static void leave_out(struct summary_part *part, uint32_t level)
{
	size_t kept = 0;

	for (size_t i = 0; i < part->count; i++)
		if (summary_is_kept(part->items[i].number, level))
			part->items[kept++] = part->items[i];
	part->count = kept;
	kept = 0;
	for (size_t i = 0; i < part->alone_count; i++)
		if (summary_is_kept(part->alone[i].number, level))
			part->alone[kept++] = part->alone[i];
	part->alone_count = kept;
	part->level = level;
}

void summary_thin(struct summary *summary, uint64_t most_arrivals)
{
	uint64_t numbers = SUMMARY_ARRIVALS;

	while (numbers > 1 && arrivals_of(summary, numbers) > most_arrivals)
		numbers /= 2;
	for (size_t i = 0; i < summary->group_count; i++) {
		struct summary_group *group = &summary->groups[i];

		while (group->level < SUMMARY_LEVELS - 1 && group->length > numbers << group->level)
			group->level++;
	}
	for (size_t i = 0; i < summary->part_count; i++) {
		uint32_t level = summary->groups[summary->parts[i].group].level;

		if (summary->parts[i].level != level)
			leave_out(&summary->parts[i], level);
	}
}

/* ---- all of it ---- */

int summary_merge(struct summary *into, const struct summary *from, const char *path,
		  struct err *err)
{
	struct mapping map = {0};
	int rc = open_mapping(&map, from);

	if (rc == 0)
		rc = map_hosts(into, from, &map);
	if (rc == 0)
		rc = map_groups(into, from, &map);
	if (rc == 0)
		rc = map_ranks(into, from, &map, path, err);
	if (rc == 0)
		rc = merge_times(into, from);
	for (size_t i = 0; i < from->part_count && rc == 0; i++)
		rc = merge_part(into, &from->parts[i], &map);
	if (rc == 0)
		summary_thin(into, SUMMARY_ARRIVALS);
	close_mapping(&map);
	return rc < 0 ? err_set(err, rc, "%s: out of memory", path) : 0;
}
