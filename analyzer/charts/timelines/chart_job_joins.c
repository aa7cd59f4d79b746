/* chart_job_joins.c - lines that join the kernels of one collective on all ranks. */
#include "charts/timelines/chart_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/ns.h"

#define APART_PIXELS 12	 /* of the lines of two collectives: nearer ones hide what ran */
#define FRAME_PIXELS 312 /* of the picture's width, beside names and time: as plots/job.gp has it */
#define PICTURE_PIXELS 1200

/* The collective of a rank with this number, NULL where it has none, or none that can be compared. */
static const struct collective *collective_at(const struct job_chart *chart, size_t shown,
					      uint32_t group, size_t number)
{
	const struct collectives *all = chart->report->collectives;
	uint32_t index = chart->report->job->ranks[chart->shown[shown]].collective_rank;
	const struct collective_rank *rank = index == PROFILE_NONE ? NULL : &all->ranks[index];

	if (!rank || !rank->is_matched || rank->group != group || number >= rank->matched_count)
		return NULL;
	return &all->items[rank->first + number];
}

static bool is_in_window(const struct job_chart *chart, const struct collective *one)
{
	return one->end_ns >= chart->picture.from_ns && one->start_ns <= chart->picture.to_ns;
}

/* One more rank of the line of a collective: down through its lane. */
static void put_point(struct job_chart *chart, size_t shown, int64_t time_ns, bool is_end)
{
	const struct chart_lane *lane = chart_job_lane(chart, shown, JOB_LANE_COMMUNICATION);
	double time = chart_axis(&chart->picture, time_ns);

	fprintf(chart->joins.stream, "%.9g\t%.4g\t%d\n%.9g\t%.4g\t%d\n", time,
		chart_lane_y(lane, 1), is_end, time, chart_lane_y(lane, 0), is_end);
}

/* Of all ranks shown that take part. */
static void put_line(struct job_chart *chart, uint32_t group, size_t number, bool is_end)
{
	for (size_t i = 0; i < chart->shown_count; i++) {
		const struct collective *one = collective_at(chart, i, group, number);

		if (one)
			put_point(chart, i, is_end ? one->end_ns : one->start_ns, is_end);
	}
	fputs("\n", chart->joins.stream); /* so that the next line begins anew */
}

/* The first rank that is shown of each group walks through the group's collectives. */
static bool is_first_of_group(const struct job_chart *chart, size_t shown,
			      const struct collective_rank *rank)
{
	for (size_t i = 0; i < shown; i++)
		if (collective_at(chart, i, rank->group, 0))
			return false;
	return collective_at(chart, shown, rank->group, 0) != NULL;
}

/* ---- which collectives are joined ---- */

/* A collective in the time that is shown. */
struct join {
	uint32_t group;
	size_t number;		   /* of the group's collectives */
	int64_t wait_ns;	   /* of all ranks that are shown */
	int64_t first_ns, last_ns; /* starts of its first and its last rank */
};

static struct join join_of(const struct job_chart *chart, uint32_t group, size_t number)
{
	struct join join = {group, number, 0, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < chart->shown_count; i++) {
		const struct collective *one = collective_at(chart, i, group, number);

		if (!one)
			continue;
		join.wait_ns += one->wait_ns;
		join.first_ns = min_ns(join.first_ns, one->start_ns);
		join.last_ns = max_ns(join.last_ns, one->start_ns);
	}
	return join;
}

/* Counts them, and where `all` has room writes them there. */
static size_t gather(const struct job_chart *chart, struct join *all)
{
	const struct report *report = chart->report;
	size_t count = 0;

	for (size_t i = 0; i < chart->shown_count; i++) {
		uint32_t index = report->job->ranks[chart->shown[i]].collective_rank;
		const struct collective_rank *rank;

		if (index == PROFILE_NONE)
			continue;
		rank = &report->collectives->ranks[index];
		if (!is_first_of_group(chart, i, rank))
			continue;
		for (size_t number = 0; number < rank->matched_count; number++) {
			if (!is_in_window(chart, &report->collectives->items[rank->first + number]))
				continue;
			if (all)
				all[count] = join_of(chart, rank->group, number);
			count++;
		}
	}
	return count;
}

/* The one that was waited in longest first. */
static int compare_joins(const void *left, const void *right)
{
	const struct join *a = left, *b = right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

static int compare_times(const void *left, const void *right)
{
	const struct join *a = left, *b = right;

	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

/* Of the lines of starts where they come nearest; those of different groups join different ranks. */
static int64_t distance_ns(const struct job_chart *chart, const struct join *a,
			   const struct join *b)
{
	int64_t least_ns = INT64_MAX;

	if (a->group != b->group)
		return max_ns(max_ns(a->first_ns - b->last_ns, b->first_ns - a->last_ns), 0);
	for (size_t i = 0; i < chart->shown_count; i++) {
		const struct collective *of_a = collective_at(chart, i, a->group, a->number);
		const struct collective *of_b = collective_at(chart, i, b->group, b->number);

		if (of_a && of_b)
			least_ns = min_ns(least_ns, llabs(of_a->start_ns - of_b->start_ns));
	}
	return least_ns;
}

static int64_t apart_ns(const struct job_chart *chart)
{
	double pixels = fmax(PICTURE_PIXELS - FRAME_PIXELS - chart->label_width, 1);

	return (int64_t)(APART_PIXELS / pixels *
			 (double)(chart->picture.to_ns - chart->picture.from_ns));
}

/* Moves those that can be told apart to the front, in the order of time.  Returns how many. */
static size_t choose(const struct job_chart *chart, struct join *all, size_t count)
{
	int64_t least_ns = apart_ns(chart);
	size_t kept = 0;

	qsort(all, count, sizeof(*all), compare_joins);
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < kept && distance_ns(chart, &all[i], &all[k]) >= least_ns)
			k++;
		if (k == kept)
			all[kept++] = all[i];
	}
	qsort(all, kept, sizeof(*all), compare_times);
	return kept;
}

int chart_job_write_joins(struct job_chart *chart)
{
	struct join *all;

	fputs("# time\ty\tis end\n", chart->joins.stream);
	if (chart->picture.is_text)
		return 0;
	chart->collective_count = gather(chart, NULL);
	all = calloc(chart->collective_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	(void)gather(chart, all); /* as many as before */
	chart->joined_count = choose(chart, all, chart->collective_count);
	for (size_t i = 0; i < chart->joined_count; i++) {
		put_line(chart, all[i].group, all[i].number, false);
		put_line(chart, all[i].group, all[i].number, true);
	}
	free(all);
	return 0;
}
