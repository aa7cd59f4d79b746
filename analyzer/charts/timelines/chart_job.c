/* chart_job.c - what ran when on each rank of a job, on one axis, and which collectives held them together. */
#include "charts/timelines/chart_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "charts/text_width.h"

#define RANK_HEIGHT 2.3	      /* of the lanes of a rank and the space below them, in rows */
#define TEXT_SHARE_COLUMNS 16 /* for the share beside a rank, in characters */

struct chart_lane *chart_job_lane(struct job_chart *chart, size_t shown, enum job_lane lane)
{
	return &chart->picture.items[shown * JOB_LANE_COUNT + lane];
}

/* ---- which ranks ---- */

/* What a rank made others wait, and what it communicated with nothing beside it. */
static int64_t stake_ns(const struct job_rank *rank)
{
	return rank->late.caused_wait_ns + rank->times.exposed_ns;
}

/* Whether so few ranks have more at stake, or as much and come before it, that it is shown. */
static bool is_shown(const struct job *job, size_t index)
{
	size_t before = 0;

	for (size_t i = 0; i < job->rank_count && before < CHART_JOB_RANKS; i++) {
		int64_t more_ns = stake_ns(&job->ranks[i]) - stake_ns(&job->ranks[index]);

		before += more_ns > 0 || (more_ns == 0 && i < index);
	}
	return before < CHART_JOB_RANKS;
}

static void choose_ranks(struct job_chart *chart)
{
	const struct job *job = chart->report->job;

	for (size_t i = 0; i < job->rank_count; i++)
		if (job->rank_count <= CHART_JOB_RANKS || is_shown(job, i))
			chart->shown[chart->shown_count++] = (uint32_t)i;
}

static uint32_t rank_of(const struct job *job, const struct profile_stream *stream)
{
	for (size_t i = 0; i < job->rank_count; i++)
		if (job->ranks[i].process == stream->process &&
		    job->ranks[i].device == stream->device)
			return (uint32_t)i;
	return PROFILE_NONE;
}

/* ---- what each operation is ---- */

static int sort_operations(struct job_chart *chart)
{
	const struct report *report = chart->report;
	const struct profile *profile = report->profile;
	const struct collectives *collectives = report->collectives;

	chart->rank_of_stream = calloc(profile->stream_count + 1, sizeof(*chart->rank_of_stream));
	chart->wait_of_op = calloc(profile->op_count + 1, sizeof(*chart->wait_of_op));
	if (!chart->rank_of_stream || !chart->wait_of_op)
		return -ENOMEM;
	for (size_t i = 0; i < profile->stream_count; i++)
		chart->rank_of_stream[i] = rank_of(report->job, &profile->streams[i]);
	for (size_t i = 0; i < collectives->count; i++)
		chart->wait_of_op[collectives->items[i].op] = collectives->items[i].wait_ns;
	return communication_find(&chart->communication, profile, chart->rank_of_stream);
}

/* ---- filling the lanes ---- */

static size_t shown_of(const struct job_chart *chart, uint32_t rank)
{
	size_t i = 0;

	while (i < chart->shown_count && chart->shown[i] != rank)
		i++;
	return i;
}

static int add_communication(struct job_chart *chart, size_t shown, size_t index)
{
	const struct profile_op *op = &chart->report->profile->ops[index];
	int64_t wait_ns = chart->wait_of_op[index];
	int rc = raster_add(&chart_job_lane(chart, shown, JOB_LANE_COMMUNICATION)->raster,
			    op->start_ns, op->end_ns, 0, NULL);

	if (rc == 0 && wait_ns > 0)
		rc = raster_add(&chart_job_lane(chart, shown, JOB_LANE_WAIT)->raster, op->start_ns,
				op->start_ns + wait_ns, 0, NULL);
	return rc;
}

static int add_op(struct job_chart *chart, size_t index)
{
	const struct profile_op *op = &chart->report->profile->ops[index];
	size_t shown = shown_of(chart, chart->rank_of_stream[op->stream]);
	enum job_work work = chart->communication.works[index];

	if (shown == chart->shown_count)
		return 0;
	if (work != WORK_COMPUTATION && work != WORK_COPY)
		return add_communication(chart, shown, index);
	return raster_add(&chart_job_lane(chart, shown, JOB_LANE_WORK)->raster, op->start_ns,
			  op->end_ns, work == WORK_COPY ? COLOR_HTOD - COLOR_KERNEL : 0, NULL);
}

static int fill(struct job_chart *chart)
{
	int rc = 0;

	for (size_t i = 0; i < chart->report->profile->op_count && rc == 0; i++)
		rc = add_op(chart, i);
	return rc == 0 ? chart_lanes_finish(&chart->picture) : rc;
}

/* ---- the window and the lanes ---- */

static int set_window(struct job_chart *chart, const struct chart_options *options, struct err *err)
{
	const struct job *job = chart->report->job;
	struct chart_lanes *picture = &chart->picture;
	int64_t length_ns;

	if (!job->rank_count)
		return err_set(err, -ENODATA,
			       "%s is no job: no two GPUs of it ran anything; record all ranks "
			       "into one folder: mpirun rooflinectl record -o DIR -- PROGRAM",
			       chart->report->profile->path);
	picture->origin_ns = chart->report->profile->window.first_ns;
	length_ns = max_ns(job->last_ns - picture->origin_ns, 1);
	if (options->from_ns >= length_ns)
		return err_set(err, -ERANGE,
			       "--from lies after the end of the recording, which lasts %s",
			       format_ns((double)length_ns).text);
	picture->from_ns = max_ns(picture->origin_ns + options->from_ns, job->first_ns);
	picture->to_ns = picture->origin_ns +
			 (options->to_ns < 0 ? length_ns : min_ns(options->to_ns, length_ns));
	picture->to_ns = max_ns(picture->to_ns, picture->from_ns + 1);
	if (options->occurrence) {
		picture->from_ns = options->occurrence->start_ns;
		picture->to_ns = max_ns(options->occurrence->end_ns, picture->from_ns + 1);
	}
	picture->unit = quantity_unit((double)(picture->to_ns - picture->from_ns) / 3);
	return 0;
}

static void set_lane(struct chart_lane *lane, size_t shown, enum job_lane kind)
{
	static const int colors[] = {COLOR_KERNEL, COLOR_LINK, COLOR_LINK + 1};
	bool is_second = kind != JOB_LANE_WORK;

	lane->kind = ROW_COPIES;
	lane->color = colors[kind];
	lane->row = 2 * shown + is_second;
	lane->top = RANK_HEIGHT * (double)shown + is_second;
	lane->height = 1;
}

static void measure_labels(struct job_chart *chart)
{
	const struct report *report = chart->report;

	for (size_t i = 0; i < chart->shown_count; i++) {
		char name[CHART_JOB_NAME_SIZE];

		job_name_rank(name, sizeof(name), report->profile,
			      &report->job->ranks[chart->shown[i]]);
		chart->label_width =
			fmax(chart->label_width, text_extent(name, chart->picture.is_text));
	}
}

static int prepare_lanes(struct job_chart *chart, const struct chart_options *options)
{
	chart->picture.is_text = options->text_columns > 0;
	chart->picture.kernel_labels = chart->report->profile->kernel_labels;
	chart->text_columns = options->text_columns;
	measure_labels(chart);
	chart->picture.columns =
		chart_columns(options->text_columns, chart->label_width + TEXT_SHARE_COLUMNS);
	if (chart_lanes_allocate(&chart->picture, chart->shown_count * JOB_LANE_COUNT) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < chart->shown_count; i++)
		for (int lane = 0; lane < JOB_LANE_COUNT; lane++)
			set_lane(chart_job_lane(chart, i, lane), i, lane);
	return chart_lanes_begin(&chart->picture);
}

static int prepare(struct job_chart *chart, const struct chart_options *options, struct err *err)
{
	int rc = set_window(chart, options, err);

	if (rc < 0)
		return rc;
	choose_ranks(chart);
	if (sort_operations(chart) || prepare_lanes(chart, options))
		return err_set(err, -ENOMEM, "job: out of memory");
	return 0;
}

static int write_spans(struct job_chart *chart, const char *folder, struct err *err)
{
	int rc = chart_lanes_open(&chart->picture, folder, err);

	if (rc == 0)
		rc = chart_file_open(&chart->joins, folder, "joins.dat", err);
	if (rc == 0)
		rc = chart_job_write_joins(chart);
	if (rc == 0)
		rc = fill(chart);
	rc = chart_file_close(&chart->joins, rc, err);
	return chart_lanes_close(&chart->picture, rc, err);
}

int chart_job(const struct report *report, const struct chart_options *options, const char *folder,
	      struct err *err)
{
	struct job_chart chart = {.report = report};
	int rc = prepare(&chart, options, err);

	if (rc == 0)
		rc = write_spans(&chart, folder, err);
	if (rc == 0)
		rc = chart_job_write_rows(&chart, folder, err);
	if (rc == 0)
		rc = chart_job_write_settings(&chart, folder, err);
	chart_lanes_free(&chart.picture);
	communication_free(&chart.communication);
	free(chart.rank_of_stream);
	free(chart.wait_of_op);
	return rc;
}
