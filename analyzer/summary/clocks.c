#define _GNU_SOURCE /* qsort_r */
#include "summary/clocks.h"

#include <stdlib.h>
#include <string.h>

struct comparison {
	const struct summary *summary;
	struct clock *clocks;
	uint32_t *parts; /* in order */
	int64_t *differences_ns;
};

/* ---- order ---- */

static int compare_hosts(const void *left, const void *right, void *context)
{
	char **hosts = ((const struct summary *)context)->hosts;

	return strcmp(hosts[*(const uint32_t *)left], hosts[*(const uint32_t *)right]);
}

static int compare_parts(const void *left, const void *right, void *context)
{
	const struct summary *summary = context;
	const struct summary_part *a = &summary->parts[*(const uint32_t *)left];
	const struct summary_part *b = &summary->parts[*(const uint32_t *)right];

	if (a->group != b->group)
		return strcmp(summary->groups[a->group].key, summary->groups[b->group].key);
	return compare_hosts(&a->host, &b->host, context);
}

uint32_t *clocks_order_parts(const struct summary *summary)
{
	uint32_t *parts = calloc(summary->part_count + 1, sizeof(*parts));

	for (uint32_t i = 0; i < summary->part_count && parts; i++)
		parts[i] = i;
	if (parts)
		qsort_r(parts, summary->part_count, sizeof(*parts), compare_parts, (void *)summary);
	return parts;
}

/* ---- two hosts ---- */

/* How much later part's ends are than base's, by the clocks of both. */
static size_t find_differences(int64_t *differences_ns, const struct summary_part *part,
			       const struct summary_part *base)
{
	size_t at = 0, count = 0;

	for (size_t i = 0; i < part->count; i++) {
		while (at < base->count && base->items[at].number < part->items[i].number)
			at++;
		if (at < base->count && base->items[at].number == part->items[i].number)
			differences_ns[count++] =
				clock_difference_ns(part->items[i].end_ns, base->items[at].end_ns);
	}
	return count;
}

/* Returns whether they had a collective in common. */
static bool compare_two(struct comparison *all, const struct summary_part *part,
			const struct summary_part *base)
{
	struct clock *clock = &all->clocks[part->host];
	const struct clock *other = &all->clocks[base->host];
	size_t count = find_differences(all->differences_ns, part, base);
	if (!count)
		return false;
	clock->island = other->island;
	clock->offset =
		clock_offset_add(clock_offset_of(all->differences_ns, count), other->offset);
	clock->common_count = count;
	return true;
}

/* ---- groups ---- */

static bool is_alone(const struct comparison *all, uint32_t host)
{
	return all->clocks[host].island == host && !all->clocks[host].common_count;
}

/* The first part whose host is on an island already; else the first. */
static uint32_t choose_base(const struct comparison *all, const bool *is_reached, size_t first,
			    size_t end)
{
	for (size_t i = first; i < end; i++)
		if (is_reached[all->summary->parts[all->parts[i]].host])
			return all->parts[i];
	return all->parts[first];
}

/* Returns whether a host was compared that was alone before. */
static bool compare_group(struct comparison *all, bool *is_reached, size_t first, size_t end)
{
	const struct summary_part *parts = all->summary->parts;
	const struct summary_part *base = &parts[choose_base(all, is_reached, first, end)];
	bool is_new = false;

	for (size_t i = first; i < end; i++) {
		const struct summary_part *part = &parts[all->parts[i]];

		if (part == base || is_reached[part->host] || !is_alone(all, part->host))
			continue;
		if (!compare_two(all, part, base))
			continue;
		is_reached[part->host] = is_reached[base->host] = true;
		is_new = true;
	}
	return is_new;
}

/* Groups that begin with what is compared already come first: as often as that adds hosts. */
static bool compare_groups(struct comparison *all, bool *is_reached, bool begins_islands)
{
	const struct summary *summary = all->summary;
	bool is_any = false;

	for (size_t first = 0, end; first < summary->part_count; first = end) {
		bool is_begun = false, is_new;

		for (end = first;
		     end < summary->part_count && summary->parts[all->parts[end]].group ==
							  summary->parts[all->parts[first]].group;
		     end++)
			is_begun |= is_reached[summary->parts[all->parts[end]].host];
		if (!is_begun && !begins_islands)
			continue;
		is_new = compare_group(all, is_reached, first, end);
		is_any |= is_new;
		if (is_new && !is_begun)
			return true;
	}
	return is_any;
}

static size_t longest_part(const struct summary *summary)
{
	size_t most = 0;

	for (size_t i = 0; i < summary->part_count; i++)
		if (summary->parts[i].count > most)
			most = summary->parts[i].count;
	return most;
}

struct clock *clocks_compare(const struct summary *summary)
{
	struct comparison all = {.summary = summary,
				 .clocks = calloc(summary->host_count + 1, sizeof(*all.clocks)),
				 .parts = clocks_order_parts(summary),
				 .differences_ns = calloc(longest_part(summary) + 1,
							  sizeof(*all.differences_ns))};
	bool *is_reached = calloc(summary->host_count + 1, sizeof(*is_reached));
	bool is_whole = all.clocks && all.parts && all.differences_ns && is_reached;

	for (uint32_t i = 0; i < summary->host_count && is_whole; i++)
		all.clocks[i].island = i;
	while (is_whole &&
	       (compare_groups(&all, is_reached, false) || compare_groups(&all, is_reached, true)))
		;
	free(all.parts);
	free(all.differences_ns);
	free(is_reached);
	if (!is_whole)
		free(all.clocks);
	return is_whole ? all.clocks : NULL;
}
