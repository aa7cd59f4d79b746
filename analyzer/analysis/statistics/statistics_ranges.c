#include "base/distribution.h"
#include "base/groups.h"
#include "analysis/time/launched.h"
#include "analysis/statistics/statistics_parts.h"
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct range_pass {
	const struct profile *profile;
	struct groups groups;
	struct durations durations;
	struct launched *launched;
	struct steady_cursor cursor;
	uint32_t *group_of; /* by range */
};

static void pass_close(struct range_pass *pass)
{
	groups_free(&pass->groups);
	durations_free(&pass->durations);
	launched_close(pass->launched);
	free(pass->group_of);
}

/* Domain and name as texts, not as pointers: two processes may have interned the same text. */
static int group_of_range(struct groups *groups, const struct profile_range *range,
			  uint32_t *number)
{
	size_t domain_size = strlen(range->domain) + 1, name_size = strlen(range->name) + 1;
	char small[256], *key = small;
	int rc;

	if (domain_size + name_size > sizeof(small))
		key = malloc(domain_size + name_size);
	if (!key)
		return -ENOMEM;
	memcpy(key, range->domain, domain_size);
	memcpy(key + domain_size, range->name, name_size);
	rc = groups_find(groups, key, domain_size + name_size, number);
	if (key != small)
		free(key);
	return rc;
}

static int gather(struct range_pass *pass)
{
	const struct profile *profile = pass->profile;
	const struct profile_range *ranges = profile->ranges;

	pass->group_of = calloc(profile->range_count, sizeof(*pass->group_of));
	if (!pass->group_of)
		return -ENOMEM;
	for (size_t i = 0; i < profile->range_count; i++)
		if (group_of_range(&pass->groups, &ranges[i], &pass->group_of[i]) < 0)
			return -ENOMEM;
	if (durations_open(&pass->durations, pass->groups.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->range_count; i++)
		durations_count(&pass->durations, pass->group_of[i]);
	if (durations_lay_out(&pass->durations) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->range_count; i++)
		durations_add(&pass->durations, pass->group_of[i],
			      ranges[i].end_ns - ranges[i].start_ns);
	return launched_open(&pass->launched, profile);
}

static void add_range(struct range_statistics *statistics, struct range_pass *pass,
		      const struct profile_range *range)
{
	struct launched_sum sum = launched_in_range(pass->launched, range);

	statistics->domain = range->domain;
	statistics->name = range->name;
	statistics->op_count += sum.op_count;
	sum_add_ns(&statistics->gpu_ns, sum.gpu_ns);
	if (sum.op_count)
		sum_add_ns(&statistics->span_ns, sum.last_ns - sum.first_ns);
	statistics->open_count += range->is_open;
	steady_split_host(&statistics->split, &pass->cursor, pass->profile, range->thread,
			  range->start_ns, range->end_ns);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->time.total_ns, b->time.total_ns);

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->domain, b->domain);
}

int statistics_collect_ranges(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state)
{
	struct range_pass pass = {.profile = profile, .cursor = {.state = steady_state}};
	struct range_statistics *ranges = NULL;
	int rc = 0;

	if (profile->range_count == 0)
		return 0;
	rc = gather(&pass);
	if (rc == 0 && !(ranges = calloc(pass.groups.count, sizeof(*ranges))))
		rc = -ENOMEM;
	if (rc == 0) {
		for (size_t i = 0; i < profile->range_count; i++)
			add_range(&ranges[pass.group_of[i]], &pass, &profile->ranges[i]);
		for (size_t i = 0; i < pass.groups.count; i++)
			ranges[i].time = durations_distribution(&pass.durations, i);
		statistics->range_count = pass.groups.count;
		statistics->ranges = ranges;
		qsort(ranges, statistics->range_count, sizeof(*ranges), compare_ranges);
	}
	pass_close(&pass);
	return rc;
}
