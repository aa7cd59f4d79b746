#include "analysis/time/host_clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/collectives.h"
#include "base/clock_offset.h"

/* Fewer collectives in common may be any. */
#define LEAST_COMMON 4
/* What lies between two collectives is so many errors at least. */
#define LEAST_APART 4
/* Clocks that are further apart, two years, are damage. */
#define MOST_AHEAD_NS ((int64_t)1 << 56)

struct comparing {
	const struct profile *profile;
	const struct collectives *all;
	struct host_clocks *clocks;
	int64_t *values_ns; /* owned; room for the collectives of a rank */
	uint32_t *known;    /* owned; by group */
};

static const char *host_of(const struct comparing *it, const struct collective_rank *rank)
{
	return it->profile->processes[rank->process].host;
}

static struct host_clock *clock_of(const struct comparing *it, const char *host)
{
	for (size_t i = 0; i < it->clocks->count; i++)
		if (!strcmp(it->clocks->items[i].host, host))
			return &it->clocks->items[i];
	return NULL;
}

static int64_t end_ns(const struct comparing *it, const struct collective_rank *rank, size_t index)
{
	return it->all->items[rank->first + index].end_ns;
}

/* From a collective of a rank to the next one. */
static int64_t usual_distance_ns(const struct comparing *it, const struct collective_rank *rank)
{
	for (size_t i = 0; i + 1 < rank->matched_count; i++)
		it->values_ns[i] = llabs(end_ns(it, rank, i + 1) - end_ns(it, rank, i));
	return clock_median_ns(it->values_ns, rank->matched_count - 1);
}

static bool is_damage(int64_t ahead_ns)
{
	return ahead_ns > MOST_AHEAD_NS || ahead_ns < -MOST_AHEAD_NS;
}

/* The clock of the host of one rank, against that of another one's, which is base->host's; false: it cannot be told. */
static bool compare(struct host_clock *out, const struct comparing *it,
		    const struct collective_rank *rank, const struct collective_rank *other,
		    const struct host_clock *base)
{
	struct clock_offset offset, of_base = {base->ahead_ns, base->error_ns};
	size_t count = rank->matched_count;

	if (count < LEAST_COMMON || is_damage(base->ahead_ns))
		return false;
	for (size_t i = 0; i < count; i++) {
		it->values_ns[i] = clock_difference_ns(end_ns(it, rank, i), end_ns(it, other, i));
		if (is_damage(it->values_ns[i]))
			return false;
	}
	offset = clock_offset_of(it->values_ns, count);
	if (offset.error_ns * LEAST_APART > usual_distance_ns(it, other))
		return false;
	offset = clock_offset_add(offset, of_base);
	*out = (struct host_clock){.host = host_of(it, rank),
				   .base = base->base,
				   .ahead_ns = offset.ahead_ns,
				   .error_ns = offset.error_ns,
				   .common_count = count};
	return true;
}

/* Of each group a rank of a host whose clock is known; PROFILE_NONE: there is none. */
static void find_known(const struct comparing *it)
{
	for (size_t i = 0; i < it->all->rank_count; i++)
		it->known[it->all->ranks[i].group] = PROFILE_NONE;
	for (size_t i = it->all->rank_count; i-- > 0;)
		if (clock_of(it, host_of(it, &it->all->ranks[i])))
			it->known[it->all->ranks[i].group] = (uint32_t)i;
}

/* Hosts with a rank that is alike one of a host whose clock is known: they are known then, too. */
static bool add_alike(struct comparing *it)
{
	size_t known_count = it->clocks->count;

	find_known(it);
	for (size_t i = 0; i < it->all->rank_count; i++) {
		const struct collective_rank *rank = &it->all->ranks[i], *other;

		if (!*host_of(it, rank) || !rank->is_matched ||
		    it->known[rank->group] == PROFILE_NONE || clock_of(it, host_of(it, rank)))
			continue;
		other = &it->all->ranks[it->known[rank->group]];
		it->clocks->count += compare(&it->clocks->items[it->clocks->count], it, rank, other,
					     clock_of(it, host_of(it, other)));
	}
	return it->clocks->count > known_count;
}

/* The host of the lowest name of those that are left. */
static const char *lowest_host(const struct comparing *it)
{
	const char *lowest = NULL;

	for (size_t i = 0; i < it->all->rank_count; i++) {
		const char *host = host_of(it, &it->all->ranks[i]);

		if (*host && !clock_of(it, host) && (!lowest || strcmp(host, lowest) < 0))
			lowest = host;
	}
	return lowest;
}

static void compare_all(struct comparing *it)
{
	for (const char *host; (host = lowest_host(it));) {
		it->clocks->items[it->clocks->count++] =
			(struct host_clock){.host = host, .base = host};
		while (add_alike(it))
			;
	}
}

/* One that is not known is none. */
static bool has_several_hosts(const struct profile *profile)
{
	const char *first = "";

	for (size_t i = 0; i < profile->process_count; i++) {
		const char *host = profile->processes[i].host;

		if (*host && *first && strcmp(host, first))
			return true;
		first = *first ? first : host;
	}
	return false;
}

static size_t most_matched(const struct collectives *all)
{
	size_t most = 0;

	for (size_t i = 0; i < all->rank_count; i++)
		if (all->ranks[i].matched_count > most)
			most = all->ranks[i].matched_count;
	return most;
}

int host_clocks_find(struct host_clocks *out, const struct profile *profile, struct err *err)
{
	struct comparing it = {.profile = profile, .clocks = out};
	struct collectives *all = NULL;
	int rc;

	*out = (struct host_clocks){0};
	if (!has_several_hosts(profile))
		return 0;
	rc = collectives_build_across(&all, profile, err);
	if (rc < 0)
		return rc;
	it.all = all;
	it.values_ns = calloc(most_matched(all) + 1, sizeof(*it.values_ns));
	it.known = calloc(all->rank_count + 1, sizeof(*it.known));
	out->items = calloc(all->rank_count + 1, sizeof(*out->items));
	if (it.values_ns && it.known && out->items)
		compare_all(&it);
	else
		rc = err_set(err, -ENOMEM, "out of memory for the clocks of hosts");
	free(it.values_ns);
	free(it.known);
	collectives_free(all);
	return rc;
}

void host_clocks_free(struct host_clocks *clocks)
{
	free(clocks->items);
	*clocks = (struct host_clocks){0};
}

static bool is_any_compared(const struct host_clocks *clocks)
{
	for (size_t i = 0; i < clocks->count; i++)
		if (clocks->items[i].common_count)
			return true;
	return false;
}

int host_clocks_load(struct profile **out, const char *path, uint64_t tables, struct err *err)
{
	struct profile *profile, *aligned = NULL;
	struct host_clocks clocks;
	int rc = profile_load_tables(&profile, path, tables, err);

	if (rc < 0)
		return rc;
	*out = profile;
	if (!strcmp(path, "-"))
		return 0;
	rc = host_clocks_find(&clocks, profile, err);
	if (rc == 0 && is_any_compared(&clocks))
		rc = profile_load_aligned(&aligned, path, tables, clocks.items, clocks.count, err);
	host_clocks_free(&clocks);
	if (rc == 0 && !aligned)
		return 0;
	profile_free(profile);
	*out = aligned;
	return rc;
}
