#define _GNU_SOURCE /* qsort_r */
#include "summary/overview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"

/* Least and most are exact. */
static double percentile_ns(const struct summary_times *times, unsigned percent)
{
	double value_ns = sketch_percentile(&times->sketch, percent);

	if (value_ns < (double)times->min_ns)
		return (double)times->min_ns;
	return value_ns > (double)times->max_ns ? (double)times->max_ns : value_ns;
}

static struct overview_times times_of(const struct summary_times *times)
{
	return (struct overview_times){.count = times->count,
				       .total_ns = times->total_ns,
				       .min_ns = times->min_ns,
				       .max_ns = times->max_ns,
				       .mean_ns = times->count ? (double)times->total_ns /
									 (double)times->count
							       : 0,
				       .p50_ns = percentile_ns(times, 50),
				       .p99_ns = percentile_ns(times, 99)};
}

static int longer_first(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

/* ---- ranks ---- */

static int compare_indices(const void *left, const void *right, void *summary)
{
	return summary_compare_ranks(summary, *(const uint32_t *)left, *(const uint32_t *)right);
}

static void find_cause(struct overview_rank *row)
{
	for (int i = 0; i < GAP_CAUSE_COUNT && row->rank->has_causes; i++)
		if (row->rank->times.by_cause_ns[i] > row->cause_ns) {
			row->cause = gap_cause_key(i);
			row->cause_ns = row->rank->times.by_cause_ns[i];
		}
}

static int add_rank(struct overview *overview, uint32_t index)
{
	const struct summary *summary = overview->summary;
	struct overview_rank *row = &overview->ranks[overview->rank_count++];
	char name[256];

	row->rank = &summary->ranks[index];
	row->host = summary->hosts[row->rank->host];
	row->waits = overview->waits.ranks[index];
	find_cause(row);
	job_times_add(&overview->all, &row->rank->times);
	sum_add_ns(&overview->wait_ns, row->waits.wait_ns);
	sum_add_count(&overview->lost_count, row->rank->lost_count);
	overview->cut_off_count += row->rank->is_cut_off;
	overview->damaged_count += row->rank->damage.count > 0;
	summary_name_rank(name, sizeof(name), summary, index);
	row->name = strdup(name);
	return row->name ? 0 : -ENOMEM;
}

static bool is_same_process(const struct summary_rank *a, const struct summary_rank *b)
{
	return a && b && a->rank == b->rank && a->host == b->host && a->pid == b->pid &&
	       a->start_ns == b->start_ns;
}

#define DOUBLES_NAMED 4

/* A rank is one process: where two have it, they are of two runs.  They stand beside each other. */
static int find_doubles(struct overview *overview)
{
	const struct summary *summary = overview->summary;
	char doubles[1024] = "";
	size_t count = 0;

	for (size_t i = 1; i < overview->rank_count; i++) {
		const struct summary_rank *rank = overview->ranks[i].rank,
					  *before = overview->ranks[i - 1].rank;
		size_t used = strlen(doubles);

		if (!rank || !before || rank->rank < 0 || rank->rank != before->rank ||
		    is_same_process(rank, before))
			continue;
		if (++count <= DOUBLES_NAMED)
			snprintf(doubles + used, sizeof(doubles) - used,
				 "%srank %" PRId64 " as process %" PRIu64 " of %.64s and %" PRIu64
				 " of %.64s",
				 used ? ", " : "", rank->rank, before->pid,
				 summary->hosts[before->host], rank->pid,
				 summary->hosts[rank->host]);
	}
	if (!count)
		return 0;
	return sentences_add(
		&overview->problems,
		"%zu rank%s as two processes: these are ranks of several runs, and no "
		"figure of all ranks means anything: %s%s; merge those of one run alone",
		count, count == 1 ? " stands there" : "s stand there", doubles,
		count > DOUBLES_NAMED ? " and others" : "");
}

/* Ranks of one process stand beside each other: they are told apart by their GPUs. */
static int name_gpus(struct overview *overview)
{
	const struct overview_rank *ranks = overview->ranks;

	for (size_t i = 0, next; i < overview->rank_count; i = next) {
		for (next = i + 1; next < overview->rank_count &&
				   is_same_process(ranks[i].rank, ranks[next].rank);
		     next++)
			;
		for (size_t k = i; next - i > 1 && k < next; k++) {
			char name[256];

			snprintf(name, sizeof(name), "%.12s of %.200s", ranks[k].rank->device,
				 ranks[k].name);
			free(overview->ranks[k].name);
			overview->ranks[k].name = strdup(name);
			if (!overview->ranks[k].name)
				return -ENOMEM;
		}
	}
	return 0;
}

static int list_ranks(struct overview *overview)
{
	size_t count = overview->summary->rank_count;
	uint32_t *indices = calloc(count + 1, sizeof(*indices));
	int rc = 0;

	overview->ranks = calloc(count + 1, sizeof(*overview->ranks));
	if (!indices || !overview->ranks) {
		free(indices);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		indices[i] = i;
	qsort_r(indices, count, sizeof(*indices), compare_indices, (void *)overview->summary);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_rank(overview, indices[i]);
	free(indices);
	if (rc == 0)
		rc = find_doubles(overview);
	return rc < 0 ? rc : name_gpus(overview);
}

/* ---- hosts ---- */

static int compare_hosts(const void *left, const void *right)
{
	const struct overview_host *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int list_hosts(struct overview *overview)
{
	const struct summary *summary = overview->summary;

	overview->host_count = summary->host_count;
	overview->hosts = calloc(overview->host_count + 1, sizeof(*overview->hosts));
	if (!overview->hosts)
		return -ENOMEM;
	for (size_t i = 0; i < summary->host_count; i++) {
		const struct clock *clock = &overview->clocks[i];

		overview->hosts[i] =
			(struct overview_host){.name = summary->hosts[i],
					       .clock = *clock,
					       .compared_with =
						       clock->common_count
							       ? summary->hosts[clock->island]
							       : NULL};
	}
	for (size_t i = 0; i < summary->rank_count; i++)
		overview->hosts[summary->ranks[i].host].rank_count++;
	qsort(overview->hosts, overview->host_count, sizeof(*overview->hosts), compare_hosts);
	return 0;
}

/* ---- kernels ---- */

static int compare_kernels(const void *left, const void *right)
{
	const struct overview_kernel *a = left, *b = right;
	int order = longer_first(a->times.total_ns, b->times.total_ns);

	return order ? order : strcmp(a->name, b->name);
}

static int list_kernels(struct overview *overview)
{
	const struct summary *summary = overview->summary;
	size_t count = summary->kernel_count;

	overview->kernels = calloc(count + 2, sizeof(*overview->kernels));
	if (!overview->kernels)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		overview->kernels[i] =
			(struct overview_kernel){summary->kernels[i].name,
						 times_of(&summary->kernels[i].times)};
	qsort(overview->kernels, count, sizeof(*overview->kernels), compare_kernels);
	if (summary->other_kernels.count)
		overview->kernels[count++] =
			(struct overview_kernel){"(others)", times_of(&summary->other_kernels)};
	overview->kernel_count = count;
	return 0;
}

/* ---- idle time ---- */

static int compare_causes(const void *left, const void *right)
{
	const struct overview_cause *a = left, *b = right;
	int order = longer_first(a->idle_ns, b->idle_ns);

	return order ? order : strcmp(a->cause, b->cause);
}

static void list_causes(struct overview *overview)
{
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		int64_t idle_ns = overview->all.by_cause_ns[i];

		if (!idle_ns && !overview->summary->gaps[i].count)
			continue;
		overview->causes[overview->cause_count++] =
			(struct overview_cause){.cause = gap_cause_key(i),
						.title = gap_cause_title(i),
						.idle_ns = idle_ns,
						.gaps = times_of(&overview->summary->gaps[i])};
	}
	qsort(overview->causes, overview->cause_count, sizeof(*overview->causes), compare_causes);
}

/* ---- collectives ---- */

static int compare_groups(const void *left, const void *right)
{
	const struct overview_group *a = left, *b = right;
	int order = longer_first(a->wait_ns, b->wait_ns);

	return order ? order : strcmp(a->key, b->key);
}

/* ranks[] as it is in the summary. */
static const char *name_of(const struct overview *overview, uint32_t rank)
{
	for (size_t i = 0; i < overview->rank_count; i++)
		if (overview->ranks[i].rank == &overview->summary->ranks[rank])
			return overview->ranks[i].name;
	return NULL;
}

static int list_groups(struct overview *overview)
{
	const struct summary *summary = overview->summary;

	overview->group_count = summary->group_count;
	overview->groups = calloc(overview->group_count + 1, sizeof(*overview->groups));
	if (!overview->groups)
		return -ENOMEM;
	for (size_t i = 0; i < summary->group_count; i++) {
		const struct summary_group *group = &summary->groups[i];
		const struct group_waits *waits = &overview->waits.groups[i];

		overview->groups[i] =
			(struct overview_group){.key = group->key,
						.host_count = group->part_count,
						.collective_count = group->length,
						.matched_count = waits->matched_count,
						.one_of = UINT64_C(1) << group->level,
						.wait_ns = waits->wait_ns,
						.skew = times_of(&waits->skews),
						.latest = waits->has_latest
								  ? name_of(overview, waits->latest)
								  : NULL};
	}
	for (size_t i = 0; i < summary->rank_count; i++)
		for (size_t k = 0; k < summary->ranks[i].member_count; k++)
			overview->groups[summary->ranks[i].members[k].group].rank_count++;
	qsort(overview->groups, overview->group_count, sizeof(*overview->groups), compare_groups);
	return 0;
}

/* ---- all of it ---- */

int overview_build(struct overview *overview, const struct summary *summary)
{
	int rc = -ENOMEM;

	*overview = (struct overview){.summary = summary, .clocks = clocks_compare(summary)};
	if (overview->clocks)
		rc = waits_find(&overview->waits, summary, overview->clocks);
	if (rc == 0)
		rc = list_ranks(overview);
	if (rc == 0)
		rc = list_hosts(overview);
	if (rc == 0)
		rc = list_kernels(overview);
	if (rc == 0)
		rc = list_groups(overview);
	if (rc == 0)
		list_causes(overview);
	return rc;
}

void overview_free(struct overview *overview)
{
	for (size_t i = 0; i < overview->rank_count; i++)
		free(overview->ranks[i].name);
	waits_free(&overview->waits);
	free(overview->clocks);
	sentences_free(&overview->problems);
	free(overview->ranks);
	free(overview->hosts);
	free(overview->kernels);
	free(overview->groups);
	*overview = (struct overview){0};
}
