/* chart_timeline.c - what ran when: ranges, streams, copies, and why the GPU was idle between. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/sums.h"
#include "trace/samples.h"
#include "charts/timelines/chart_timeline.h"
#include "charts/text_width.h"

#define MARGIN_RATIO 0.03 /* of what is zoomed to, on both sides: where it begins has to be seen */

_Static_assert(GAP_CAUSE_COUNT <= RASTER_CLASSES, "a class for every cause of idle time");
_Static_assert(COLOR_GRAPH - COLOR_KERNEL < RASTER_CLASSES, "a class for every color of a stream");

/* ---- filling the rows ---- */
static int add_op(struct timeline_chart *chart, const struct profile_op *op)
{
	const struct profile *profile = chart->report->profile;
	uint32_t row = chart_row_of_op(&chart->rows, profile, op);
	struct raster *raster = row == PROFILE_NONE ? NULL : &chart->picture.items[row].raster;
	const char *name;
	unsigned class_index;

	if (!raster)
		return 0;
	class_index = chart_op_class(profile, chart->kernel_colors, op, &name);
	return raster_add(raster, op->start_ns, op->end_ns, class_index, name);
}

static int add_range(struct timeline_chart *chart, const struct profile_range *range)
{
	uint32_t row = chart_row_of_range(&chart->rows, range);

	if (row == PROFILE_NONE)
		return 0;
	chart->is_odd[row] = !chart->is_odd[row];
	return raster_add(&chart->picture.items[row].raster, range->start_ns, range->end_ns,
			  chart->is_odd[row], range->name);
}

/* What is zoomed to, without the margin around it: figures are of that, as in a report of it. */
static int64_t counted_from_ns(const struct timeline_chart *chart)
{
	return chart->occurrence ? chart->occurrence->start_ns : chart->picture.from_ns;
}

static int64_t counted_to_ns(const struct timeline_chart *chart)
{
	return chart->occurrence ? chart->occurrence->end_ns : chart->picture.to_ns;
}

/* Adds the part of a gap that counts, each cause in proportion. */
static void add_idle(struct timeline_chart *chart, const struct gap *gap)
{
	int64_t start = max_ns(gap->start_ns, counted_from_ns(chart));
	int64_t end = min_ns(gap->end_ns, counted_to_ns(chart));
	double visible_ratio = (double)(end - start) / (double)(gap->end_ns - gap->start_ns);

	if (end <= start)
		return;
	sum_add_ns(&chart->idle.idle_ns, end - start);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		sum_add_ns(&chart->idle.by_cause_ns[i],
			   (int64_t)((double)gap->by_cause_ns[i] * visible_ratio));
}

struct gap_row {
	struct timeline_chart *chart;
	struct raster *raster;
};

static int add_gap(const struct gap *gap, void *context)
{
	const struct gap_row *row = context;
	int64_t class_ns[RASTER_CLASSES] = {0};

	add_idle(row->chart, gap);
	memcpy(class_ns, gap->by_cause_ns, sizeof(gap->by_cause_ns));
	return raster_add_mixed(row->raster, gap->start_ns, gap->end_ns, class_ns);
}

static int add_gaps(struct timeline_chart *chart, uint32_t device)
{
	const struct report *report = chart->report;
	const struct timeline_device *busy = &report->timeline->devices[device];
	uint32_t row = chart->rows.of_gaps[device];
	int64_t first = max_ns(busy->first_ns, counted_from_ns(chart));
	int64_t last = min_ns(busy->last_ns, counted_to_ns(chart));

	if (row == PROFILE_NONE)
		return 0;
	sum_add_ns(&chart->idle.wall_ns, last > first ? last - first : 0);
	return gaps_visit(report->gaps, device, add_gap,
			  &(struct gap_row){chart, &chart->picture.items[row].raster});
}

static int add_burst(struct timeline_chart *chart, const struct burst *burst)
{
	uint32_t row = chart->rows.of_bursts[burst->device];

	if (row == PROFILE_NONE)
		return 0;
	return raster_add(&chart->picture.items[row].raster, burst->start_ns, burst->end_ns, 0,
			  NULL);
}

static int fill(struct timeline_chart *chart)
{
	const struct device_work *work = chart->report->device_work;
	const struct profile *profile = chart->report->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->range_count && rc == 0; i++)
		rc = add_range(chart, &profile->ranges[i]);
	for (size_t i = 0; i < profile->op_count && rc == 0; i++)
		rc = add_op(chart, &profile->ops[i]);
	for (uint32_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = add_gaps(chart, i);
	for (size_t i = 0; i < work->burst_count && rc == 0; i++)
		rc = add_burst(chart, &work->bursts[i]);
	if (rc == 0)
		rc = chart_timeline_add_strips(chart);
	return rc == 0 ? chart_lanes_finish(&chart->picture) : rc;
}

/* ---- the window ---- */
static void set_window_of(struct timeline_chart *chart, const struct occurrence *occurrence)
{
	int64_t length_ns = occurrence->end_ns - occurrence->start_ns;
	int64_t margin_ns = (int64_t)(MARGIN_RATIO * (double)length_ns) + 1;

	chart->occurrence = occurrence;
	chart->picture.origin_ns = occurrence->start_ns;
	chart->picture.from_ns = occurrence->start_ns - margin_ns;
	chart->picture.to_ns = occurrence->end_ns + margin_ns;
}

/* From the first operation of any device to the last; the first is later where there is none. */
static void find_run(const struct report *report, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (size_t i = 0; i < report->profile->device_count; i++) {
		const struct timeline_device *device = &report->timeline->devices[i];

		if (!report->profile->devices[i].op_count)
			continue;
		*first_ns = min_ns(*first_ns, device->first_ns);
		*last_ns = max_ns(*last_ns, device->last_ns);
	}
}

static int set_window(struct timeline_chart *chart, const struct chart_options *options,
		      struct err *err)
{
	struct chart_lanes *picture = &chart->picture;
	int64_t first_ns, last_ns, length_ns;

	find_run(chart->report, &first_ns, &last_ns);
	if (first_ns > last_ns)
		return err_set(err, -ENODATA,
			       "%s: no GPU operation was recorded, so there is no "
			       "timeline to draw",
			       chart->report->profile->path);
	chart->first_ns = picture->origin_ns = chart->report->profile->window.first_ns;
	length_ns = max_ns(last_ns - chart->first_ns, 1);
	if (options->occurrence) {
		set_window_of(chart, options->occurrence);
	} else if (options->from_ns >= length_ns) {
		return err_set(err, -ERANGE,
			       "--from lies after the end of the recording, which "
			       "lasts %s",
			       format_ns((double)length_ns).text);
	} else {
		picture->from_ns = max_ns(chart->first_ns + options->from_ns, first_ns);
		picture->to_ns =
			chart->first_ns +
			(options->to_ns < 0 ? length_ns : min_ns(options->to_ns, length_ns));
	}
	picture->unit = quantity_unit((double)(picture->to_ns - picture->from_ns) / 3);
	return 0;
}

static double row_height(const struct timeline_chart *chart, const struct chart_row *row)
{
	return row->kind == ROW_STRIP && !chart->picture.is_text
		       ? chart_strip_style(row->strip)->height
		       : 1;
}

/* In characters there is no room for a second line under the name. */
static void label_strips(struct timeline_chart *chart)
{
	for (size_t i = 0; i < chart->rows.count; i++) {
		struct chart_row *row = &chart->rows.rows[i];
		size_t length = strlen(row->label);

		if (row->kind == ROW_STRIP && chart->picture.is_text)
			snprintf(row->label + length, sizeof(row->label) - length, " %s",
				 chart_strip_full(&chart->scales, row->strip).text);
	}
}

static double widest_label(const struct timeline_chart *chart)
{
	bool is_text = chart->picture.is_text;
	double widest = 0;

	for (size_t i = 0; i < chart->rows.count; i++) {
		const struct chart_row *row = &chart->rows.rows[i];
		char scale[CHART_SCALE_SIZE];

		chart_timeline_describe_scale(scale, chart, row);
		widest = fmax(widest, text_extent(row->label, is_text));
		widest = fmax(widest, text_extent(scale, is_text));
	}
	return widest;
}

static int prepare_lanes(struct timeline_chart *chart, const struct chart_options *options)
{
	double top = 0;

	chart->picture.is_text = options->text_columns > 0;
	chart->picture.kernel_labels = chart->report->profile->kernel_labels;
	chart->text_columns = options->text_columns;
	label_strips(chart);
	chart->label_width = widest_label(chart);
	chart->picture.columns = chart_columns(options->text_columns, chart->label_width);
	chart->is_odd = calloc(chart->rows.count + 1, sizeof(bool));
	chart->area_colors = calloc(2 * chart->rows.count + 1, sizeof(int));
	if (!chart->is_odd || !chart->area_colors ||
	    chart_lanes_allocate(&chart->picture, chart->rows.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < chart->rows.count; i++) {
		const struct chart_row *row = &chart->rows.rows[i];
		struct chart_lane *lane = &chart->picture.items[i];

		lane->kind = row->kind;
		lane->color = row->color;
		lane->row = i;
		lane->top = top;
		lane->height = row_height(chart, row);
		top += lane->height;
	}
	return chart_lanes_begin(&chart->picture);
}

static int choose_rows(struct timeline_chart *chart)
{
	const struct chart_window window = {chart->picture.from_ns, chart->picture.to_ns};
	const struct device_work *work = chart->report->device_work;
	const struct profile *profile = chart->report->profile;
	bool *has_bursts = calloc(profile->device_count + 1, sizeof(*has_bursts));
	int rc;

	if (!has_bursts)
		return -ENOMEM;
	for (size_t i = 0; i < work->burst_count; i++)
		if (chart_window_shows(window, work->bursts[i].start_ns, work->bursts[i].end_ns))
			has_bursts[work->bursts[i].device] = true;
	rc = chart_rows_choose(&chart->rows, profile, window, has_bursts);
	free(has_bursts);
	return rc;
}

static int prepare(struct timeline_chart *chart, const struct chart_options *options,
		   struct err *err)
{
	int rc = set_window(chart, options, err);

	if (rc < 0)
		return rc;
	rc = chart_strip_measure(&chart->scales, chart->report->profile, chart->report->sm_activity,
				 chart->picture.from_ns, chart->picture.to_ns);
	if (rc < 0)
		return err_set(err, rc, "timeline: %s", samples_why(rc));
	chart->kernel_colors = chart_kernel_colors(chart->report);
	if (!chart->kernel_colors || choose_rows(chart) || prepare_lanes(chart, options))
		return err_set(err, -ENOMEM, "timeline: out of memory");
	return 0;
}

static void close_chart(struct timeline_chart *chart)
{
	chart_lanes_free(&chart->picture);
	free(chart->is_odd);
	free(chart->area_colors);
	free(chart->kernel_colors);
	chart_rows_free(&chart->rows);
}

static int open_columns(struct timeline_chart *chart, const char *folder, struct err *err)
{
	const struct {
		struct chart_file *file;
		const char *name, *columns;
	} files[] = {
		{&chart->areas, "areas.dat", ""}, /* each area has its own line */
		{&chart->peaks, "peaks.dat", "# time\ty\tcolor\n"},
		{&chart->unsampled, "unsampled.dat", "# start\tend\tlow\thigh\n"},
	};
	int rc = chart_lanes_open(&chart->picture, folder, err);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && rc == 0; i++) {
		rc = chart_file_open(files[i].file, folder, files[i].name, err);
		if (rc == 0)
			fputs(files[i].columns, files[i].file->stream);
	}
	return rc;
}

static int write_spans(struct timeline_chart *chart, const char *folder, struct err *err)
{
	int rc = open_columns(chart, folder, err);

	if (rc == 0)
		rc = fill(chart);
	rc = chart_file_close(&chart->unsampled, rc, err);
	rc = chart_file_close(&chart->peaks, rc, err);
	rc = chart_file_close(&chart->areas, rc, err);
	return chart_lanes_close(&chart->picture, rc, err);
}

int chart_timeline(const struct report *report, const struct chart_options *options,
		   const char *folder, struct err *err)
{
	struct timeline_chart chart = {.report = report};
	int rc = prepare(&chart, options, err);

	if (rc == 0)
		rc = write_spans(&chart, folder, err);
	if (rc == 0)
		rc = chart_timeline_write_rows(&chart, folder, err);
	if (rc == 0)
		rc = chart_timeline_write_settings(&chart, folder, err);
	close_chart(&chart);
	return rc;
}
