/* chart_job_joins.c - lines that join the kernels of one collective on all ranks. */
#include "charts/timelines/chart_job.h"

#define JOINED_MOST 60 /* collectives: more cannot be told apart */

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

typedef void (*collective_visit)(struct job_chart *chart, uint32_t group, size_t number);

static void visit(struct job_chart *chart, collective_visit use)
{
	const struct report *report = chart->report;

	for (size_t i = 0; i < chart->shown_count; i++) {
		uint32_t index = report->job->ranks[chart->shown[i]].collective_rank;
		const struct collective_rank *rank;

		if (index == PROFILE_NONE)
			continue;
		rank = &report->collectives->ranks[index];
		if (!is_first_of_group(chart, i, rank))
			continue;
		for (size_t number = 0; number < rank->matched_count; number++)
			if (is_in_window(chart, &report->collectives->items[rank->first + number]))
				use(chart, rank->group, number);
	}
}

static void count_one(struct job_chart *chart, uint32_t group, size_t number)
{
	(void)group;
	(void)number;
	chart->collective_count++;
}

static void put_both(struct job_chart *chart, uint32_t group, size_t number)
{
	put_line(chart, group, number, false);
	put_line(chart, group, number, true);
}

bool chart_job_has_joins(const struct job_chart *chart)
{
	return chart->collective_count > 0 && chart->collective_count <= JOINED_MOST &&
	       !chart->picture.is_text;
}

void chart_job_write_joins(struct job_chart *chart)
{
	fputs("# time\ty\tis end\n", chart->joins.stream);
	visit(chart, count_one);
	if (chart_job_has_joins(chart))
		visit(chart, put_both);
}
