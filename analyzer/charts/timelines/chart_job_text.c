/* chart_job_text.c - titles, notes, legend and names of the chart of a job, and its settings for gnuplot. */
#include "charts/timelines/chart_job.h"

#include <math.h>
#include <string.h>

static const struct job_rank *rank_at(const struct job_chart *chart, size_t shown)
{
	return &chart->report->job->ranks[chart->shown[shown]];
}

static void name_at(char name[CHART_JOB_NAME_SIZE], const struct job_chart *chart, size_t shown)
{
	job_name_rank(name, CHART_JOB_NAME_SIZE, chart->report->profile, rank_at(chart, shown));
}

/* ---- titles and notes ---- */

static void set_title(struct chart_file *file, const struct job_chart *chart)
{
	const struct job *job = chart->report->job;
	char title[256];

	snprintf(title, sizeof(title),
		 "%zu ranks: in %s of their time they communicate and compute nothing beside it",
		 job->rank_count,
		 format_percent((double)job->all.exposed_ns, (double)job->all.wall_ns).text);
	chart_set_text(file, "chart_title", title);
}

/* "40.9% of it they wait ...; longest waited for: rank 2, because its kernels took longer" */
static void set_subtitle(struct chart_file *file, const struct job_chart *chart)
{
	const struct job *job = chart->report->job;
	const struct job_rank *latest = job_latest(job);
	char name[CHART_JOB_NAME_SIZE], text[320] = "";

	if (latest && latest->late.caused_wait_ns > 0) {
		job_name_rank(name, sizeof(name), chart->report->profile, latest);
		snprintf(text, sizeof(text),
			 "%s of it they wait for one that comes later to a collective; longest "
			 "waited for: %s, because %s",
			 format_percent((double)job->all.exposed_wait_ns,
					(double)job->all.exposed_ns)
				 .text,
			 name, job_late_words(job_late_cause(&latest->late)));
	}
	chart_set_text(file, "chart_subtitle", text);
}

/* Which ranks are shown, which collectives are joined, and what a low bar is. */
static void set_notes(struct chart_file *file, const struct job_chart *chart)
{
	size_t rank_count = chart->report->job->rank_count;
	char ranks[160] = "", joins[200] = "", text[320];

	if (rank_count > chart->shown_count)
		snprintf(
			ranks, sizeof(ranks),
			"%zu of %zu ranks: those with most exposed communication, or waited for longest.",
			chart->shown_count, rank_count);
	if (chart->joined_count && chart->joined_count == chart->collective_count)
		snprintf(joins, sizeof(joins),
			 "Lines join a collective's starts (dark) and ends on all ranks.");
	else if (chart->joined_count)
		snprintf(
			joins, sizeof(joins),
			"Lines join starts (dark) and ends of %zu of %s collectives, of those too near "
			"each other the one with the longest waits: --from and --to show more.",
			chart->joined_count, format_count(chart->collective_count).text);
	snprintf(text, sizeof(text), "%s%s", joins,
		 !chart->picture.has_partial ? ""
		 : chart->picture.is_text
			 ? "small letters: under half of that time"
			 : " A bar lower than its row: for that share of the time.");
	chart_set_text(file, "ranks_note", ranks);
	chart_set_text(file, "chart_note", text);
}

static void set_legend(struct chart_file *file, const struct job_chart *chart)
{
	static const struct {
		int color;
		const char *text;
	} entries[] = {{COLOR_KERNEL, "computation"},
		       {COLOR_HTOD, "copies between a GPU and its host"},
		       {COLOR_LINK, "communication"},
		       {COLOR_LINK + 1, "of it, waiting for another rank"}};
	int number = 1;

	chart_begin_legend(file, 0);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (chart->picture.colors_seen[entries[i].color])
			chart_set_legend(file, number++, entries[i].color, entries[i].text);
	chart_set_number(file, "legend_count", number - 1);
}

/* ---- communication by rank ---- */

static double share(int64_t part_ns, int64_t whole_ns)
{
	return whole_ns > 0 ? (double)part_ns / (double)whole_ns : 0;
}

static void set_number_of(struct chart_file *file, const char *array, size_t index, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s[%zu]", array, index + 1);
	chart_set_number(file, name, value);
}

/* Of a rank's wall time: waiting, the rest that is exposed, and what is hidden behind computation. */
static void set_shares(struct chart_file *file, const struct job_chart *chart)
{
	double most = 0;

	fputs("array share_wait[row_count + 1]\narray share_exposed[row_count + 1]\n"
	      "array share_hidden[row_count + 1]\narray share_text[row_count + 1]\n",
	      file->stream);
	for (size_t i = 0; i < chart->shown_count; i++) {
		const struct job_times *times = &rank_at(chart, i)->times;
		double exposed = share(times->exposed_ns, times->wall_ns);
		double hidden = share(times->overlapped_ns, times->wall_ns);
		char name[40];

		set_number_of(file, "share_wait", i, share(times->exposed_wait_ns, times->wall_ns));
		set_number_of(file, "share_exposed", i, exposed);
		set_number_of(file, "share_hidden", i, hidden);
		snprintf(name, sizeof(name), "share_text[%zu]", i + 1);
		chart_set_text(
			file, name,
			format_percent((double)times->exposed_ns, (double)times->wall_ns).text);
		most = fmax(most, exposed + hidden);
	}
	chart_set_number(file, "share_most", most);
}

/* ---- rows and settings ---- */

int chart_job_write_rows(const struct job_chart *chart, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "rows.dat", err);

	if (rc < 0)
		return rc;
	fputs("# top\tbottom\tlabel\n", file.stream);
	for (size_t i = 0; i < chart->shown_count; i++) {
		const struct chart_lane *first = &chart->picture.items[i * JOB_LANE_COUNT];
		char name[CHART_JOB_NAME_SIZE];

		name_at(name, chart, i);
		fprintf(file.stream, "%g\t%g\t", chart_lane_y(first, 1),
			chart_lane_y(first + JOB_LANE_COMMUNICATION, 0));
		chart_put_text(&file, name);
		putc('\n', file.stream);
	}
	return chart_file_close(&file, 0, err);
}

int chart_job_write_settings(const struct job_chart *chart, const char *folder, struct err *err)
{
	const struct chart_lane *last =
		&chart->picture
			 .items[(chart->shown_count - 1) * JOB_LANE_COUNT + JOB_LANE_COMMUNICATION];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "job.gp", err);

	if (rc < 0)
		return rc;
	set_title(&file, chart);
	set_subtitle(&file, chart);
	set_notes(&file, chart);
	set_legend(&file, chart);
	chart_set_data(&file, "spans", folder);
	chart_set_data(&file, "rows", folder);
	chart_set_data(&file, "joins", folder);
	chart_set_number(&file, "has_joins", chart->joined_count > 0);
	chart_set_text(&file, "unit", chart->picture.unit->name);
	chart_set_number(&file, "from", chart_axis(&chart->picture, chart->picture.from_ns));
	chart_set_number(&file, "to", chart_axis(&chart->picture, chart->picture.to_ns));
	chart_set_number(&file, "row_count", (double)chart->shown_count);
	chart_set_number(&file, "row_end", last->top + last->height);
	chart_set_number(&file, "label_width", chart->label_width);
	chart_set_number(&file, "cell_count", chart->picture.columns);
	chart_set_number(&file, "communication_color", COLOR_LINK);
	chart_set_number(&file, "wait_color", COLOR_LINK + 1);
	set_shares(&file, chart);
	return chart_file_close(&file, 0, err);
}
