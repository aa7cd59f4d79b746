/* chart_timeline.c - what ran when: ranges, streams, copies, and why the GPU was idle between. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "charts/chart_lanes.h"
#include "charts/strip_shapes.h"

#define STRIP_COLUMNS 1000 /* a line that goes up and down within a pixel is a blot */
#define TITLE_NAME_LIMIT 40
#define MARGIN_RATIO 0.03 /* of what is zoomed to, on both sides: where it begins has to be seen */
#define LEGEND_TITLES 3

_Static_assert(GAP_CAUSE_COUNT <= RASTER_CLASSES, "a class for every cause of idle time");
_Static_assert(COLOR_GRAPH - COLOR_KERNEL < RASTER_CLASSES, "a class for every color of a stream");

struct painter {
	const struct report *report;
	struct chart_rows rows;
	struct chart_lanes picture; /* its items as rows.rows[] */
	bool *is_odd;		    /* as rows.rows[], of ranges: which of the two colors is next */
	uint8_t *kernel_colors;
	int64_t first_ns; /* first operation of any device */
	int text_columns;
	const struct occurrence *occurrence;	   /* what is zoomed to, or NULL */
	struct chart_file areas, peaks, unsampled; /* of strips, only for pictures */
	int *area_colors;			   /* two for each row are enough */
	int area_count, unsampled_count;
	struct chart_strip_scales scales;
	struct chart_idle idle;
};

/* ---- filling the rows ---- */
static int add_op(struct painter *painter, const struct profile_op *op)
{
	const struct profile *profile = painter->report->profile;
	uint32_t row = chart_row_of_op(&painter->rows, profile, op);
	struct raster *raster = row == PROFILE_NONE ? NULL : &painter->picture.items[row].raster;
	const char *name;
	unsigned class_index;

	if (!raster)
		return 0;
	class_index = chart_op_class(profile, painter->kernel_colors, op, &name);
	return raster_add(raster, op->start_ns, op->end_ns, class_index, name);
}

static int add_range(struct painter *painter, const struct profile_range *range)
{
	uint32_t row = chart_row_of_range(&painter->rows, range);

	if (row == PROFILE_NONE)
		return 0;
	painter->is_odd[row] = !painter->is_odd[row];
	return raster_add(&painter->picture.items[row].raster, range->start_ns, range->end_ns,
			  painter->is_odd[row], range->name);
}

/* Adds the part of a gap that is shown, each cause in proportion. */
static void add_idle(struct painter *painter, const struct gap *gap)
{
	int64_t start =
		gap->start_ns > painter->picture.from_ns ? gap->start_ns : painter->picture.from_ns;
	int64_t end = gap->end_ns < painter->picture.to_ns ? gap->end_ns : painter->picture.to_ns;
	double visible_ratio = (double)(end - start) / (double)(gap->end_ns - gap->start_ns);

	if (end <= start)
		return;
	sum_add_ns(&painter->idle.idle_ns, end - start);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		sum_add_ns(&painter->idle.by_cause_ns[i],
			   (int64_t)((double)gap->by_cause_ns[i] * visible_ratio));
}

struct gap_row {
	struct painter *painter;
	struct raster *raster;
};

static int add_gap(const struct gap *gap, void *context)
{
	const struct gap_row *row = context;
	int64_t class_ns[RASTER_CLASSES] = {0};

	add_idle(row->painter, gap);
	memcpy(class_ns, gap->by_cause_ns, sizeof(gap->by_cause_ns));
	return raster_add_mixed(row->raster, gap->start_ns, gap->end_ns, class_ns);
}

static int add_gaps(struct painter *painter, uint32_t device)
{
	const struct report *report = painter->report;
	const struct timeline_device *busy = &report->timeline->devices[device];
	uint32_t row = painter->rows.of_gaps[device];
	int64_t first = busy->first_ns > painter->picture.from_ns ? busy->first_ns
								  : painter->picture.from_ns;
	int64_t last =
		busy->last_ns < painter->picture.to_ns ? busy->last_ns : painter->picture.to_ns;

	if (row == PROFILE_NONE)
		return 0;
	sum_add_ns(&painter->idle.wall_ns, last > first ? last - first : 0);
	return gaps_visit(report->gaps, device, add_gap,
			  &(struct gap_row){painter, &painter->picture.items[row].raster});
}

static int add_burst(struct painter *painter, const struct burst *burst)
{
	uint32_t row = painter->rows.of_bursts[burst->device];

	if (row == PROFILE_NONE)
		return 0;
	return raster_add(&painter->picture.items[row].raster, burst->start_ns, burst->end_ns, 0,
			  NULL);
}

/* ---- strips of samples ---- */
static void put_area(struct painter *painter, const struct strip *strip,
		     const struct strip_place *place, bool is_part, int color)
{
	if (painter->area_count)
		fputs("\n\n", painter->areas.stream);
	fputs("# time\ty\n", painter->areas.stream);
	strip_put_area(&painter->areas, strip, place, is_part);
	painter->area_colors[painter->area_count++] = color;
}

static void draw_strip(struct painter *painter, const struct chart_lane *lane,
		       const struct strip *strip)
{
	const struct chart_row *row = &painter->rows.rows[lane->row];
	const struct chart_strip_style *style = chart_strip_style(row->strip);
	const struct strip_place place = {.zero_y = chart_lane_y(lane, 0),
					  .full_y = chart_lane_y(lane, 1),
					  .full = painter->scales.full[row->strip],
					  .origin_ns = painter->picture.origin_ns,
					  .unit_ns = painter->picture.unit->ns};

	painter->unsampled_count += strip_put_unsampled(&painter->unsampled, strip, &place);
	put_area(painter, strip, &place, false, style->rest_color);
	if (chart_strip_has_part(&painter->report->profile->devices[row->device], row->strip)) {
		put_area(painter, strip, &place, true, style->part_color);
		painter->picture.colors_seen[style->part_color] = true;
	}
	strip_put_peaks(&painter->peaks, strip, &place, style->part_color);
}

static void put_strip_cells(struct painter *painter, const struct chart_lane *lane,
			    const struct strip *strip)
{
	const struct chart_row *row = &painter->rows.rows[lane->row];

	for (int i = 0; i < strip->column_count; i++) {
		const struct strip_column *column = &strip->columns[i];
		const char *character = strip_character(column, painter->scales.full[row->strip]);

		painter->unsampled_count += !column->sampled_ns;
		if (*character)
			fprintf(painter->picture.spans.stream, "%.9g\t%zu\t%d\t%s\n",
				(i + 0.5) * painter->picture.columns / strip->column_count,
				lane->row, column->sampled_ns ? row->color : COLOR_OTHER_KERNEL,
				character);
	}
}

static int add_strip(struct painter *painter, const struct chart_lane *lane)
{
	const struct chart_row *row = &painter->rows.rows[lane->row];
	struct strip strip;

	if (strip_open(&strip, painter->picture.from_ns, painter->picture.to_ns,
		       painter->picture.is_text ? painter->picture.columns : STRIP_COLUMNS) < 0)
		return -ENOMEM;
	chart_strip_fill(&strip, painter->report->profile, row->device, row->strip);
	if (painter->picture.is_text)
		put_strip_cells(painter, lane, &strip);
	else
		draw_strip(painter, lane, &strip);
	strip_close(&strip);
	return 0;
}

static int add_strips(struct painter *painter)
{
	int rc = 0;

	for (size_t i = 0; i < painter->rows.count && rc == 0; i++)
		if (painter->rows.rows[i].kind == ROW_STRIP)
			rc = add_strip(painter, &painter->picture.items[i]);
	return rc;
}

static int fill(struct painter *painter)
{
	const struct device_work *work = painter->report->device_work;
	const struct profile *profile = painter->report->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->range_count && rc == 0; i++)
		rc = add_range(painter, &profile->ranges[i]);
	for (size_t i = 0; i < profile->op_count && rc == 0; i++)
		rc = add_op(painter, &profile->ops[i]);
	for (uint32_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = add_gaps(painter, i);
	for (size_t i = 0; i < work->burst_count && rc == 0; i++)
		rc = add_burst(painter, &work->bursts[i]);
	if (rc == 0)
		rc = add_strips(painter);
	return rc == 0 ? chart_lanes_finish(&painter->picture) : rc;
}

static bool has_own_traffic(const struct painter *painter)
{
	const struct sm_activity *activity = painter->report->sm_activity;

	for (size_t i = 0; activity && i < activity->device_count; i++)
		if (activity->devices[i].pcie_own_bytes > 0)
			return true;
	return false;
}

static bool has_sm_activity(const struct painter *painter)
{
	const struct sm_activity *activity = painter->report->sm_activity;

	for (size_t i = 0; activity && i < activity->device_count; i++)
		if (activity->devices[i].has_sms)
			return true;
	return false;
}

/* ---- words and rows ---- */
static void set_title(struct chart_file *file, const struct painter *painter)
{
	const struct profile *profile = painter->report->profile;
	char who[64], title[256];
	size_t active = 0, first = 0;

	for (size_t i = profile->device_count; i-- > 0;)
		if (profile->devices[i].op_count) {
			active++;
			first = i;
		}
	snprintf(who, sizeof(who), "%.60s", active ? profile->devices[first].name : "GPU");
	if (active > 1)
		snprintf(who, sizeof(who), "%zu GPUs, together", active);
	snprintf(title, sizeof(title), "%s: idle for %s of %s%s", who,
		 format_percent((double)painter->idle.idle_ns, (double)painter->idle.wall_ns).text,
		 format_ns((double)painter->idle.wall_ns).text,
		 has_sm_activity(painter) ? " in the trace" : "");
	if (!painter->idle.wall_ns)
		snprintf(title, sizeof(title), "%s: outside the time of GPU operations", who);
	chart_set_text(file, "chart_title", title);
}

/* "step, 3 of 10, at 5.00 ms": before the causes of idle time. */
static void describe_occurrence(char *text, size_t size, const struct painter *painter)
{
	const struct occurrence *occurrence = painter->occurrence;
	char name[4 * TITLE_NAME_LIMIT + 1];

	if (occurrence->is_range)
		format_text(name, sizeof(name), occurrence->name, TITLE_NAME_LIMIT);
	else
		format_kernel_name(name, sizeof(name), occurrence->name, TITLE_NAME_LIMIT);
	snprintf(text, size, "%s, %s of %s, at %s", name, format_count(occurrence->number).text,
		 format_count(occurrence->count).text,
		 format_ns((double)(painter->picture.origin_ns - painter->first_ns)).text);
}

static void set_subtitle(struct chart_file *file, const struct painter *painter)
{
	char causes[256], what[320] = "", text[1024];
	size_t room = painter->picture.is_text ? (size_t)painter->text_columns - 6 : sizeof(causes);

	if (painter->occurrence)
		describe_occurrence(what, sizeof(what), painter);
	if (painter->picture.is_text && strlen(what) + 2 < room)
		room -= strlen(what) + (what[0] ? 2 : 0);
	chart_describe_causes(causes, room < sizeof(causes) ? room : sizeof(causes),
			      &painter->idle);
	snprintf(text, sizeof(text), "%s%s%s%s", what, what[0] && causes[0] ? "; " : "",
		 causes[0] ? "idle: " : "", causes);
	chart_set_text(file, "chart_subtitle", text);
	chart_set_text(file, "chart_note",
		       !painter->picture.has_partial ? ""
		       : painter->picture.is_text
			       ? "small letters: under half of that time"
			       : "A bar lower than its row was busy for that share of the time.");
}

static void set_strip_note(struct chart_file *file, const struct painter *painter)
{
	const struct chart_strip_scales *scales = &painter->scales;
	char share[64] = "", text[256] = "";

	if (painter->unsampled_count || scales->sampled_ns < scales->window_ns)
		snprintf(share, sizeof(share), ": not sampled (%s of the time)",
			 format_percent((double)(scales->window_ns - scales->sampled_ns),
					(double)scales->window_ns)
				 .text);
	if (scales->window_ns && painter->picture.is_text)
		snprintf(text, sizeof(text),
			 "\u2581 to \u2588: mean, up to the figure beside it%s%s",
			 share[0] ? "; /" : "", share);
	else if (scales->window_ns)
		snprintf(text, sizeof(text), "Areas are means, lines the highest sample%s%s.%s",
			 share[0] ? "; hatched" : "", share,
			 has_own_traffic(painter)
				 ? " PCIe out includes what sampling itself writes."
				 : "");
	chart_set_text(file, "strip_note", text);
}

/* Only strips of two shades, and only in a picture: the others are explained by their labels. */
static int set_strip_legend(struct chart_file *file, int number, const struct painter *painter)
{
	for (int kind = 0; kind < STRIP_KIND_COUNT; kind++) {
		const struct chart_strip_style *style = chart_strip_style(kind);

		if (!style->part || !painter->picture.colors_seen[style->part_color])
			continue;
		chart_set_legend(file, number++, style->part_color, style->part);
		chart_set_legend(file, number++, style->rest_color, style->rest);
	}
	return number;
}

/* Titles come first and are removed again when nothing follows them. */
static void set_legends(struct chart_file *file, const struct painter *painter)
{
	int number = 1, after;

	chart_begin_legend(file, LEGEND_TITLES);
	number = chart_set_kernel_legend(file, number, painter->report->statistics,
					 painter->picture.colors_seen);
	chart_set_legend(file, number, 0, "samples");
	after = set_strip_legend(file, number + 1, painter);
	number = after > number + 1 ? after : number;
	chart_set_legend(file, number, 0, "causes of idle time");
	after = chart_set_cause_legend(file, number + 1, &painter->idle);
	number = after > number + 1 ? after : number;
	chart_set_number(file, "legend_count", number - 1);
}

/* In characters there is no room for a second line under the name. */
static void label_strips(struct painter *painter)
{
	for (size_t i = 0; i < painter->rows.count; i++) {
		struct chart_row *row = &painter->rows.rows[i];
		size_t length = strlen(row->label);

		if (row->kind == ROW_STRIP && painter->picture.is_text)
			snprintf(row->label + length, sizeof(row->label) - length, " %s",
				 chart_strip_full(&painter->scales, row->strip).text);
	}
}

static size_t longest_label(const struct painter *painter)
{
	size_t longest = 0;

	for (size_t i = 0; i < painter->rows.count; i++)
		if (strlen(painter->rows.rows[i].label) > longest)
			longest = strlen(painter->rows.rows[i].label);
	return longest;
}

static void set_number_of(struct chart_file *file, const char *array, size_t index, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s[%zu]", array, index + 1);
	chart_set_number(file, name, value);
}

static void set_row_places(struct chart_file *file, const struct painter *painter)
{
	const struct chart_lane *last = &painter->picture.items[painter->rows.count - 1];

	chart_set_number(file, "row_count", (double)painter->rows.count);
	chart_set_number(file, "row_end", last->top + last->height);
	fprintf(file->stream, "array row_top[row_count + 1]\narray row_bottom[row_count + 1]\n");
	for (size_t i = 0; i < painter->rows.count; i++) {
		set_number_of(file, "row_top", i, chart_lane_y(&painter->picture.items[i], 1));
		set_number_of(file, "row_bottom", i, chart_lane_y(&painter->picture.items[i], 0));
	}
}

static void set_areas(struct chart_file *file, const struct painter *painter, const char *folder)
{
	chart_set_data(file, "areas", folder);
	chart_set_data(file, "peaks", folder);
	chart_set_data(file, "unsampled", folder);
	chart_set_number(file, "unsampled_count", painter->unsampled_count);
	chart_set_number(file, "area_count", painter->area_count);
	fputs("array area_color[area_count + 1]\n", file->stream);
	for (int i = 0; i < painter->area_count; i++)
		set_number_of(file, "area_color", (size_t)i, painter->area_colors[i]);
	/* gnuplot looks at one more than there are */
	set_number_of(file, "area_color", (size_t)painter->area_count, 1);
}

static int write_settings(const struct painter *painter, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "timeline.gp", err);

	if (rc < 0)
		return rc;
	set_title(&file, painter);
	set_subtitle(&file, painter);
	set_strip_note(&file, painter);
	set_legends(&file, painter);
	set_areas(&file, painter, folder);
	chart_set_data(&file, "spans", folder);
	chart_set_data(&file, "labels", folder);
	chart_set_data(&file, "rows", folder);
	chart_set_text(&file, "unit", painter->picture.unit->name);
	chart_set_text(&file, "origin",
		       painter->occurrence ? "its start" : "the first GPU operation");
	chart_set_number(&file, "from", chart_axis(&painter->picture, painter->picture.from_ns));
	chart_set_number(&file, "to", chart_axis(&painter->picture, painter->picture.to_ns));
	set_row_places(&file, painter);
	chart_set_number(&file, "label_width", (double)longest_label(painter));
	chart_set_number(&file, "cell_count", painter->picture.columns);
	return chart_file_close(&file, 0, err);
}

/* What the full height of a strip stands for. */
static void put_scale(struct chart_file *file, const struct painter *painter,
		      const struct chart_row *row)
{
	char text[64] = "";

	if (row->kind == ROW_STRIP && !painter->picture.is_text)
		chart_strip_describe(text, sizeof(text), &painter->scales, row->strip);
	chart_put_text(file, text);
}

static int write_rows(const struct painter *painter, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "rows.dat", err);

	if (rc < 0)
		return rc;
	fputs("# middle\tkind\tlabel\tsecond line\n", file.stream);
	for (size_t i = 0; i < painter->rows.count; i++) {
		const struct chart_lane *lane = &painter->picture.items[i];

		fprintf(file.stream, "%g\t%d\t",
			(chart_lane_y(lane, 0) + chart_lane_y(lane, 1)) / 2,
			painter->rows.rows[i].kind);
		chart_put_text(&file, painter->rows.rows[i].label);
		putc('\t', file.stream);
		put_scale(&file, painter, &painter->rows.rows[i]);
		putc('\n', file.stream);
	}
	return chart_file_close(&file, 0, err);
}

/* ---- the window ---- */
static void set_window_of(struct painter *painter, const struct occurrence *occurrence)
{
	int64_t length_ns = occurrence->end_ns - occurrence->start_ns;
	int64_t margin_ns = (int64_t)(MARGIN_RATIO * (double)length_ns) + 1;

	painter->occurrence = occurrence;
	painter->picture.origin_ns = occurrence->start_ns;
	painter->picture.from_ns = occurrence->start_ns - margin_ns;
	painter->picture.to_ns = occurrence->end_ns + margin_ns;
}

static int set_window(struct painter *painter, const struct chart_options *options, struct err *err)
{
	const struct profile *profile = painter->report->profile;
	const struct timeline *timeline = painter->report->timeline;
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < profile->device_count; i++) {
		if (!profile->devices[i].op_count)
			continue;
		if (timeline->devices[i].first_ns < first)
			first = timeline->devices[i].first_ns;
		if (timeline->devices[i].last_ns > last)
			last = timeline->devices[i].last_ns;
	}
	if (first > last)
		return err_set(err, -ENODATA,
			       "%s: no GPU operation was recorded, so there is no "
			       "timeline to draw",
			       profile->path);
	last = last > first ? last : first + 1;
	painter->first_ns = painter->picture.origin_ns = first;
	if (options->occurrence) {
		set_window_of(painter, options->occurrence);
	} else if (options->from_ns >= last - first) {
		return err_set(err, -ERANGE,
			       "--from lies after the end of the recording, which "
			       "lasts %s",
			       format_ns((double)(last - first)).text);
	} else {
		painter->picture.from_ns = first + options->from_ns;
		painter->picture.to_ns = options->to_ns < 0 || options->to_ns > last - first
						 ? last
						 : first + options->to_ns;
	}
	painter->picture.unit =
		quantity_unit((double)(painter->picture.to_ns - painter->picture.from_ns) / 3);
	return 0;
}

static double row_height(const struct painter *painter, const struct chart_row *row)
{
	return row->kind == ROW_STRIP && !painter->picture.is_text
		       ? chart_strip_style(row->strip)->height
		       : 1;
}

static int prepare_lanes(struct painter *painter, const struct chart_options *options)
{
	double top = 0;

	painter->picture.is_text = options->text_columns > 0;
	painter->text_columns = options->text_columns;
	label_strips(painter);
	painter->picture.columns = chart_columns(options->text_columns, longest_label(painter));
	painter->is_odd = calloc(painter->rows.count + 1, sizeof(bool));
	painter->area_colors = calloc(2 * painter->rows.count + 1, sizeof(int));
	if (!painter->is_odd || !painter->area_colors ||
	    chart_lanes_allocate(&painter->picture, painter->rows.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < painter->rows.count; i++) {
		const struct chart_row *row = &painter->rows.rows[i];
		struct chart_lane *lane = &painter->picture.items[i];

		lane->kind = row->kind;
		lane->color = row->color;
		lane->row = i;
		lane->top = top;
		lane->height = row_height(painter, row);
		top += lane->height;
	}
	return chart_lanes_begin(&painter->picture);
}

static int choose_rows(struct painter *painter)
{
	const struct chart_window window = {painter->picture.from_ns, painter->picture.to_ns};
	const struct device_work *work = painter->report->device_work;
	const struct profile *profile = painter->report->profile;
	bool *has_bursts = calloc(profile->device_count + 1, sizeof(*has_bursts));
	int rc;

	if (!has_bursts)
		return -ENOMEM;
	for (size_t i = 0; i < work->burst_count; i++)
		if (chart_window_shows(window, work->bursts[i].start_ns, work->bursts[i].end_ns))
			has_bursts[work->bursts[i].device] = true;
	rc = chart_rows_choose(&painter->rows, profile, window, has_bursts);
	free(has_bursts);
	return rc;
}

static int prepare(struct painter *painter, const struct chart_options *options, struct err *err)
{
	int rc = set_window(painter, options, err);

	if (rc < 0)
		return rc;
	chart_strip_measure(&painter->scales, painter->report->profile, painter->picture.from_ns,
			    painter->picture.to_ns);
	painter->kernel_colors = chart_kernel_colors(painter->report);
	if (!painter->kernel_colors || choose_rows(painter) || prepare_lanes(painter, options))
		return err_set(err, -ENOMEM, "timeline: out of memory");
	return 0;
}

static void painter_close(struct painter *painter)
{
	chart_lanes_free(&painter->picture);
	free(painter->is_odd);
	free(painter->area_colors);
	free(painter->kernel_colors);
	chart_rows_free(&painter->rows);
}

static int open_columns(struct painter *painter, const char *folder, struct err *err)
{
	const struct {
		struct chart_file *file;
		const char *name, *columns;
	} files[] = {
		{&painter->areas, "areas.dat", ""}, /* each area has its own line */
		{&painter->peaks, "peaks.dat", "# time\ty\tcolor\n"},
		{&painter->unsampled, "unsampled.dat", "# start\tend\tlow\thigh\n"},
	};
	int rc = chart_lanes_open(&painter->picture, folder, err);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && rc == 0; i++) {
		rc = chart_file_open(files[i].file, folder, files[i].name, err);
		if (rc == 0)
			fputs(files[i].columns, files[i].file->stream);
	}
	return rc;
}

static int write_spans(struct painter *painter, const char *folder, struct err *err)
{
	int rc = open_columns(painter, folder, err);

	if (rc == 0)
		rc = fill(painter);
	rc = chart_file_close(&painter->unsampled, rc, err);
	rc = chart_file_close(&painter->peaks, rc, err);
	rc = chart_file_close(&painter->areas, rc, err);
	return chart_lanes_close(&painter->picture, rc, err);
}

int chart_timeline(const struct report *report, const struct chart_options *options,
		   const char *folder, struct err *err)
{
	struct painter painter = {.report = report};
	int rc = prepare(&painter, options, err);

	if (rc == 0)
		rc = write_spans(&painter, folder, err);
	if (rc == 0)
		rc = write_rows(&painter, folder, err);
	if (rc == 0)
		rc = write_settings(&painter, folder, err);
	painter_close(&painter);
	return rc;
}
