#define _GNU_SOURCE /* qsort_r */
#include "summary/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sums.h"

/* The arrivals of one host at one collective. */
struct arrival {
	const struct summary_arrivals *at;
	uint64_t ahead_ns; /* of its clock */
};

/* A collective, by the clock of the first host of its island. */
struct met {
	uint64_t number, count;
	uint64_t sum_ns; /* modulo 2^64 */
	int64_t first_ns, last_ns, before_last_ns;
	uint32_t last_rank;
	uint64_t last_sum_ns; /* of the last starts of all before and this one, modulo 2^64 */
};

/* A rank's own arrival and end there, by the same clock. */
struct visit {
	uint64_t number;
	int64_t start_ns, end_ns;
	uint32_t rank;
};

struct group_search {
	struct waits *waits;
	const struct summary *summary;
	const struct clock *clocks;
	struct arrival *arrivals; /* room for those of the largest group */
	struct met *mets;
	size_t met_count;
	struct visit *visits; /* room for those of all groups */
	size_t visit_count;
	uint32_t island;
};

static int64_t moved(int64_t ns, uint64_t ahead_ns)
{
	return (int64_t)((uint64_t)ns - ahead_ns);
}

/* ---- one collective ---- */

static void meet(struct met *met, const struct arrival *arrival, const struct summary *summary)
{
	const struct summary_arrivals *at = arrival->at;
	int64_t last_ns = moved(at->last_ns, arrival->ahead_ns);
	int64_t first_ns = moved(at->first_ns, arrival->ahead_ns);
	int64_t before_ns =
		at->count > 1 ? moved(at->before_last_ns, arrival->ahead_ns) : INT64_MIN;
	bool is_first = !met->count;
	int64_t lower_ns = last_ns < met->last_ns ? last_ns : met->last_ns;

	if (!is_first && lower_ns > before_ns)
		before_ns = lower_ns;
	if (is_first || before_ns > met->before_last_ns)
		met->before_last_ns = before_ns;
	if (is_first || first_ns < met->first_ns)
		met->first_ns = first_ns;
	if (is_first || last_ns > met->last_ns ||
	    (last_ns == met->last_ns &&
	     summary_compare_ranks(summary, at->last_rank, met->last_rank) < 0)) {
		met->last_ns = last_ns;
		met->last_rank = at->last_rank;
	}
	met->number = at->number;
	met->count += at->count;
	met->sum_ns += at->sum_ns - at->count * arrival->ahead_ns;
}

/* 0 where numbers were damaged. */
static int64_t difference_ns(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0 ? (int64_t)(a - b) : 0;
}

static int judge(struct group_search *search, uint32_t group, const struct met *met)
{
	struct group_waits *of_group = &search->waits->groups[group];
	struct rank_waits *of_rank = &search->waits->ranks[met->last_rank];
	int64_t wait_ns = difference_ns(met->count * (uint64_t)met->last_ns, met->sum_ns);
	int64_t delay_ns = difference_ns((uint64_t)met->last_ns, (uint64_t)met->before_last_ns);
	int64_t skew_ns = difference_ns((uint64_t)met->last_ns, (uint64_t)met->first_ns);

	if (met->count < 2)
		return 0;
	of_group->matched_count++;
	sum_add_count(&of_group->arrival_count, met->count);
	sum_add_ns(&of_group->wait_ns, wait_ns);
	if (!of_group->has_latest || skew_ns > of_group->skews.max_ns)
		of_group->latest = met->last_rank;
	of_group->has_latest = true;
	of_rank->last_count += wait_ns > 0;
	sum_add_ns(&of_rank->caused_wait_ns, wait_ns);
	sum_add_ns(&of_rank->delay_ns, delay_ns);
	if (delay_ns > of_rank->most_ns)
		of_rank->most_ns = delay_ns;
	return summary_times_add(&of_group->skews, skew_ns);
}

/* ---- the collectives of a group ---- */

static int compare_arrivals(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	return (a->at->number > b->at->number) - (a->at->number < b->at->number);
}

static size_t gather(struct group_search *search, const uint32_t *parts, size_t count)
{
	const struct summary *summary = search->summary;
	size_t found = 0;

	search->island = search->clocks[summary->parts[parts[0]].host].island;
	for (size_t i = 0; i < count; i++) {
		const struct summary_part *part = &summary->parts[parts[i]];
		const struct clock *clock = &search->clocks[part->host];

		for (size_t k = 0; k < part->count && clock->island == search->island; k++)
			search->arrivals[found++] =
				(struct arrival){&part->items[k], (uint64_t)clock->offset.ahead_ns};
	}
	qsort(search->arrivals, found, sizeof(*search->arrivals), compare_arrivals);
	return found;
}

/* Of several at once the order of ranks decides. */
static int compare_visits(const void *left, const void *right, void *summary)
{
	const struct visit *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return summary_compare_ranks(summary, a->rank, b->rank);
}

static void gather_visits(struct group_search *search, const uint32_t *parts, size_t count)
{
	const struct summary *summary = search->summary;

	search->visit_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct summary_part *part = &summary->parts[parts[i]];
		const struct clock *clock = &search->clocks[part->host];
		uint64_t ahead_ns = (uint64_t)clock->offset.ahead_ns;

		for (size_t k = 0; k < part->alone_count && clock->island == search->island; k++) {
			const struct summary_alone *alone = &part->alone[k];

			search->visits[search->visit_count++] =
				(struct visit){alone->number, moved(alone->start_ns, ahead_ns),
					       moved(alone->end_ns, ahead_ns), alone->rank};
		}
	}
	qsort_r(search->visits, search->visit_count, sizeof(*search->visits), compare_visits,
		(void *)summary);
}

/* ---- collectives of which each rank's arrival is known ---- */

struct visit_place {
	const struct visit *visits;
	uint64_t number;
	int64_t ns;
};

static bool is_visit_from(size_t index, const void *context)
{
	const struct visit_place *place = context;

	return place->visits[index].start_ns >= place->ns;
}

static bool is_number_reached(size_t index, const void *context)
{
	const struct visit_place *place = context;

	return place->visits[index].number >= place->number;
}

static bool is_visited(const struct group_search *search, uint64_t number)
{
	size_t found =
		search_first(0, search->visit_count, is_number_reached,
			     &(struct visit_place){.visits = search->visits, .number = number});

	return found < search->visit_count && search->visits[found].number == number;
}

/* A rank waits for the last one that comes before it leaves, as in analysis/time/collectives.h.  Returns the waits of all. */
static int64_t wait_for_last(struct group_search *search, const struct visit *visits, size_t count)
{
	int64_t all_ns = 0;

	for (size_t i = 0; i < count; i++) {
		size_t end = search_first(0, count, is_visit_from,
					  &(struct visit_place){.visits = visits,
								.ns = visits[i].end_ns});
		const struct visit *last = end ? &visits[end - 1] : &visits[i];
		int64_t wait_ns =
			difference_ns((uint64_t)last->start_ns, (uint64_t)visits[i].start_ns);

		search->waits->ranks[visits[i].rank].is_known = true;
		sum_add_ns(&search->waits->ranks[visits[i].rank].wait_ns, wait_ns);
		sum_add_ns(&search->waits->ranks[last->rank].caused_wait_ns, wait_ns);
		sum_add_ns(&all_ns, wait_ns);
	}
	return all_ns;
}

static int judge_visits(struct group_search *search, uint32_t group, const struct visit *visits,
			size_t count)
{
	struct group_waits *of_group = &search->waits->groups[group];
	const struct visit *last = &visits[count - 1];
	struct rank_waits *of_rank = &search->waits->ranks[last->rank];
	int64_t wait_ns, delay_ns, skew_ns;

	if (count < 2)
		return 0;
	wait_ns = wait_for_last(search, visits, count);
	skew_ns = difference_ns((uint64_t)last->start_ns, (uint64_t)visits[0].start_ns);
	of_group->matched_count++;
	sum_add_count(&of_group->arrival_count, count);
	sum_add_ns(&of_group->wait_ns, wait_ns);
	if (!of_group->has_latest || skew_ns > of_group->skews.max_ns)
		of_group->latest = last->rank;
	of_group->has_latest = true;
	if (wait_ns > 0) {
		delay_ns = difference_ns((uint64_t)last->start_ns,
					 (uint64_t)visits[count - 2].start_ns);
		of_rank->last_count++;
		sum_add_ns(&of_rank->delay_ns, delay_ns);
		if (delay_ns > of_rank->most_ns)
			of_rank->most_ns = delay_ns;
	}
	return summary_times_add(&of_group->skews, skew_ns);
}

static int find_visits(struct group_search *search, uint32_t group)
{
	int rc = 0;

	for (size_t first = 0, end; first < search->visit_count && rc == 0; first = end) {
		for (end = first; end < search->visit_count &&
				  search->visits[end].number == search->visits[first].number;
		     end++)
			;
		rc = judge_visits(search, group, search->visits + first, end - first);
	}
	return rc;
}

static int find_mets(struct group_search *search, uint32_t group, size_t arrival_count)
{
	uint64_t last_sum_ns = 0;
	int rc = 0;

	search->met_count = 0;
	for (size_t i = 0; i < arrival_count && rc == 0;) {
		struct met *met = &search->mets[search->met_count];
		uint64_t number = search->arrivals[i].at->number;

		if (is_visited(search, number)) {
			i++;
			continue;
		}
		search->met_count++;
		*met = (struct met){0};
		for (; i < arrival_count && search->arrivals[i].at->number == number; i++)
			meet(met, &search->arrivals[i], search->summary);
		last_sum_ns += (uint64_t)met->last_ns;
		met->last_sum_ns = last_sum_ns;
		rc = judge(search, group, met);
	}
	return rc;
}

/* ---- the ranks of a group ---- */

struct number_place {
	const struct met *mets;
	uint64_t number;
};

static bool is_reached(size_t index, const void *context)
{
	const struct number_place *place = context;

	return place->mets[index].number >= place->number;
}

/* Known where the rank was at each of the collectives that it could be at. */
static void find_wait(struct group_search *search, const struct summary_member *member,
		      uint32_t rank)
{
	const struct summary *summary = search->summary;
	const struct clock *clock = &search->clocks[summary->ranks[rank].host];
	struct summary_level level = summary_level_of(member, summary->groups[member->group].level);
	size_t count = search_first(0, search->met_count, is_reached,
				    &(struct number_place){search->mets, member->count});
	struct rank_waits *waits = &search->waits->ranks[rank];
	uint64_t own_ns = level.start_sum_ns - level.count * (uint64_t)clock->offset.ahead_ns;

	if (clock->island != search->island || !count || count != level.count ||
	    !search->waits->groups[member->group].matched_count)
		return;
	waits->is_known = true;
	sum_add_ns(&waits->wait_ns, difference_ns(search->mets[count - 1].last_sum_ns, own_ns));
}

/* ---- members by group ---- */

struct membership {
	uint32_t group, rank;
	const struct summary_member *member;
};

static int compare_memberships(const void *left, const void *right)
{
	const struct membership *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static struct membership *list_members(const struct summary *summary, size_t *count)
{
	struct membership *list;
	size_t found = 0;

	*count = 0;
	for (size_t i = 0; i < summary->rank_count; i++)
		*count += summary->ranks[i].member_count;
	list = calloc(*count + 1, sizeof(*list));
	for (uint32_t i = 0; i < summary->rank_count && list; i++)
		for (size_t k = 0; k < summary->ranks[i].member_count; k++) {
			const struct summary_member *member = &summary->ranks[i].members[k];

			list[found++] = (struct membership){member->group, i, member};
		}
	if (list)
		qsort(list, found, sizeof(*list), compare_memberships);
	return list;
}

struct member_place {
	const struct membership *list;
	uint32_t group;
};

static bool is_group_reached(size_t index, const void *context)
{
	const struct member_place *place = context;

	return place->list[index].group >= place->group;
}

static void find_waits_of_members(struct group_search *search, uint32_t group,
				  const struct membership *list, size_t count)
{
	size_t i = search_first(0, count, is_group_reached, &(struct member_place){list, group});

	for (; i < count && list[i].group == group; i++)
		find_wait(search, list[i].member, list[i].rank);
}

/* ---- all groups ---- */

static size_t all_arrivals(const struct summary *summary)
{
	size_t sum = 0;

	for (size_t i = 0; i < summary->part_count; i++)
		sum += summary->parts[i].count;
	return sum;
}

static size_t all_visits(const struct summary *summary)
{
	size_t sum = 0;

	for (size_t i = 0; i < summary->part_count; i++)
		sum += summary->parts[i].alone_count;
	return sum;
}

static int find_all(struct group_search *search, const uint32_t *parts,
		    const struct membership *members, size_t member_count)
{
	const struct summary *summary = search->summary;
	size_t arrival_count;
	int rc = 0;

	for (size_t first = 0, end; first < summary->part_count && rc == 0; first = end) {
		uint32_t group = summary->parts[parts[first]].group;

		for (end = first;
		     end < summary->part_count && summary->parts[parts[end]].group == group; end++)
			;
		arrival_count = gather(search, parts + first, end - first);
		gather_visits(search, parts + first, end - first);
		rc = find_mets(search, group, arrival_count);
		if (rc == 0)
			rc = find_visits(search, group);
		if (rc == 0)
			find_waits_of_members(search, group, members, member_count);
	}
	return rc;
}

int waits_find(struct waits *waits, const struct summary *summary, const struct clock *clocks)
{
	size_t most = all_arrivals(summary), member_count;
	struct group_search search = {.waits = waits,
				      .summary = summary,
				      .clocks = clocks,
				      .arrivals = calloc(most + 1, sizeof(*search.arrivals)),
				      .mets = calloc(most + 1, sizeof(*search.mets)),
				      .visits = calloc(all_visits(summary) + 1,
						       sizeof(*search.visits))};
	uint32_t *parts = clocks_order_parts(summary);
	struct membership *members = list_members(summary, &member_count);
	int rc = -ENOMEM;

	*waits = (struct waits){.ranks = calloc(summary->rank_count + 1, sizeof(*waits->ranks)),
				.groups = calloc(summary->group_count + 1, sizeof(*waits->groups)),
				.group_count = summary->group_count};
	if (search.arrivals && search.mets && search.visits && parts && members && waits->ranks &&
	    waits->groups)
		rc = find_all(&search, parts, members, member_count);
	free(search.arrivals);
	free(search.mets);
	free(search.visits);
	free(parts);
	free(members);
	return rc;
}

void waits_free(struct waits *waits)
{
	for (size_t i = 0; i < waits->group_count && waits->groups; i++)
		summary_times_free(&waits->groups[i].skews);
	free(waits->ranks);
	free(waits->groups);
	*waits = (struct waits){0};
}
