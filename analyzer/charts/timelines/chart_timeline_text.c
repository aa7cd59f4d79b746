/* chart_timeline_text.c - titles, notes, legends and labels of the timeline, and its settings for gnuplot. */
#include <math.h>
#include <string.h>

#include "charts/timelines/chart_timeline.h"

#define TITLE_NAME_LIMIT 40
#define LEGEND_TITLES 3

/* Of the device with most. */
static double own_traffic(const struct timeline_chart *chart)
{
	double most = 0;

	for (uint32_t i = 0; i < chart->report->profile->device_count; i++)
		most = fmax(most, chart_strip_own_traffic(&chart->scales, i));
	return most;
}

static bool has_sm_activity(const struct timeline_chart *chart)
{
	const struct sm_activity *activity = chart->report->sm_activity;

	for (size_t i = 0; activity && i < activity->device_count; i++)
		if (activity->devices[i].has_sms)
			return true;
	return false;
}

/* ---- titles, notes and legends ---- */

/* "idle for 15.2%": what may be child kernels is not called idle. */
static void describe_idle(char *text, size_t size, const struct chart_idle *idle)
{
	int64_t children_ns = idle->by_cause_ns[GAP_CHILDREN];
	size_t used = 0;

	if (children_ns)
		used = (size_t)
			snprintf(text, size, "%s for %s, ", gap_cause_title(GAP_CHILDREN),
				 format_percent((double)children_ns, (double)idle->wall_ns).text);
	snprintf(text + used, size - used, "idle for %s",
		 format_percent((double)(idle->idle_ns - children_ns), (double)idle->wall_ns).text);
}

static void set_title(struct chart_file *file, const struct timeline_chart *chart)
{
	const struct profile *profile = chart->report->profile;
	char who[64], idle[96], cause[96], title[320];
	size_t active = 0, first = 0;

	for (size_t i = profile->device_count; i-- > 0;)
		if (profile->devices[i].op_count) {
			active++;
			first = i;
		}
	snprintf(who, sizeof(who), "%.60s", active ? profile->devices[first].name : "GPU");
	if (active > 1)
		snprintf(who, sizeof(who), "%zu GPUs, together", active);
	describe_idle(idle, sizeof(idle), &chart->idle);
	chart_describe_largest_cause(cause, sizeof(cause), &chart->idle);
	snprintf(title, sizeof(title), "%s: %s of %s%s%s%s", who, idle,
		 format_ns((double)chart->idle.wall_ns).text,
		 has_sm_activity(chart) ? " in the trace" : "", cause[0] ? "; " : "", cause);
	if (!chart->idle.wall_ns)
		snprintf(title, sizeof(title), "%s: outside the time of GPU operations", who);
	chart_set_text(file, "chart_title", title);
}

/* "step, 3 of 10, at 5.00 ms", "iteration, 7 of 198, in warm-up, at 298 us": before the causes of idle time. */
static void describe_occurrence(char *text, size_t size, const struct timeline_chart *chart)
{
	const struct occurrence *occurrence = chart->occurrence;
	char name[4 * TITLE_NAME_LIMIT + 1], within[4 * TITLE_NAME_LIMIT + 1] = "";

	if (occurrence->within)
		format_text(within, sizeof(within), occurrence->within, TITLE_NAME_LIMIT);
	if (occurrence->is_range || occurrence->is_iteration)
		format_text(name, sizeof(name), occurrence->name, TITLE_NAME_LIMIT);
	else
		snprintf(name, sizeof(name), "%s",
			 kernel_label(chart->report->profile->kernel_labels, occurrence->name,
				      LABEL_MEDIUM));
	snprintf(text, size, "%s, %s of %s%s%s, at %s", name, format_count(occurrence->number).text,
		 format_count(occurrence->count).text, *within ? ", in " : "", within,
		 format_ns((double)(chart->picture.origin_ns - chart->first_ns)).text);
}

static void set_subtitle(struct chart_file *file, const struct timeline_chart *chart)
{
	char causes[256], what[512] = "", text[1024];
	size_t room = chart->picture.is_text ? (size_t)chart->text_columns - 6 : sizeof(causes);

	if (chart->occurrence)
		describe_occurrence(what, sizeof(what), chart);
	if (chart->picture.is_text && strlen(what) + 2 < room)
		room -= strlen(what) + (what[0] ? 2 : 0);
	chart_describe_causes(causes, room < sizeof(causes) ? room : sizeof(causes), &chart->idle);
	snprintf(text, sizeof(text), "%s%s%s%s", what, what[0] && causes[0] ? "; " : "",
		 causes[0] ? "idle: " : "", causes);
	chart_set_text(file, "chart_subtitle", text);
	chart_set_text(file, "chart_note",
		       !chart->picture.has_partial ? ""
		       : chart->picture.is_text
			       ? "small letters: under half of that time"
			       : "A bar lower than its row was busy for that share of the time.");
}

static void set_strip_note(struct chart_file *file, const struct timeline_chart *chart)
{
	const struct chart_strip_scales *scales = &chart->scales;
	char share[64] = "", own[96] = "", text[256] = "";

	if (chart->unsampled_count || scales->sampled_ns < scales->window_ns)
		snprintf(share, sizeof(share), ": not sampled (%s of the time)",
			 format_percent((double)(scales->window_ns - scales->sampled_ns),
					(double)scales->window_ns)
				 .text);
	if (own_traffic(chart) > 0)
		snprintf(own, sizeof(own),
			 " PCIe out is without the %s that sampling itself writes.",
			 format_rate(own_traffic(chart)).text);
	if (scales->window_ns && chart->picture.is_text)
		snprintf(text, sizeof(text),
			 "\u2581 to \u2588: mean, up to the figure beside it%s%s",
			 share[0] ? "; /" : "", share);
	else if (scales->window_ns)
		snprintf(text, sizeof(text), "Areas are means, lines the highest sample%s%s.%s",
			 share[0] ? "; hatched" : "", share, own);
	chart_set_text(file, "strip_note", text);
}

/* Only strips of two shades, and only in a picture: the others are explained by their labels. */
static int set_strip_legend(struct chart_file *file, int number, const struct timeline_chart *chart)
{
	for (int kind = 0; kind < STRIP_KIND_COUNT; kind++) {
		const struct chart_strip_style *style = chart_strip_style(kind);

		if (!style->part || !chart->picture.colors_seen[style->part_color])
			continue;
		chart_set_legend(file, number++, style->part_color, style->part);
		chart_set_legend(file, number++, style->rest_color, style->rest);
	}
	return number;
}

/* Titles come first and are removed again when nothing follows them. */
static void set_legends(struct chart_file *file, const struct timeline_chart *chart)
{
	int number = 1, after;

	chart_begin_legend(file, LEGEND_TITLES);
	number = chart_set_kernel_legend(file, number, chart->report, chart->picture.colors_seen);
	chart_set_legend(file, number, 0, "samples");
	after = set_strip_legend(file, number + 1, chart);
	number = after > number + 1 ? after : number;
	chart_set_legend(file, number, 0, "causes of idle time");
	after = chart_set_cause_legend(file, number + 1, &chart->idle, chart->picture.colors_seen);
	number = after > number + 1 ? after : number;
	chart_set_number(file, "legend_count", number - 1);
}

/* ---- settings and rows ---- */
static void set_number_of(struct chart_file *file, const char *array, size_t index, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s[%zu]", array, index + 1);
	chart_set_number(file, name, value);
}

static void set_row_places(struct chart_file *file, const struct timeline_chart *chart)
{
	const struct chart_lane *last = &chart->picture.items[chart->rows.count - 1];

	chart_set_number(file, "row_count", (double)chart->rows.count);
	chart_set_number(file, "row_end", last->top + last->height);
	fprintf(file->stream, "array row_top[row_count + 1]\narray row_bottom[row_count + 1]\n");
	for (size_t i = 0; i < chart->rows.count; i++) {
		set_number_of(file, "row_top", i, chart_lane_y(&chart->picture.items[i], 1));
		set_number_of(file, "row_bottom", i, chart_lane_y(&chart->picture.items[i], 0));
	}
}

static void set_areas(struct chart_file *file, const struct timeline_chart *chart,
		      const char *folder)
{
	chart_set_data(file, "areas", folder);
	chart_set_data(file, "peaks", folder);
	chart_set_data(file, "unsampled", folder);
	chart_set_number(file, "unsampled_count", chart->unsampled_count);
	chart_set_number(file, "area_count", chart->area_count);
	fputs("array area_color[area_count + 1]\n", file->stream);
	for (int i = 0; i < chart->area_count; i++)
		set_number_of(file, "area_color", (size_t)i, chart->area_colors[i]);
	/* gnuplot looks at one more than there are */
	set_number_of(file, "area_color", (size_t)chart->area_count, 1);
}

int chart_timeline_write_settings(const struct timeline_chart *chart, const char *folder,
				  struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "timeline.gp", err);

	if (rc < 0)
		return rc;
	set_title(&file, chart);
	set_subtitle(&file, chart);
	set_strip_note(&file, chart);
	set_legends(&file, chart);
	set_areas(&file, chart, folder);
	chart_set_data(&file, "spans", folder);
	chart_set_data(&file, "labels", folder);
	chart_set_data(&file, "rows", folder);
	chart_set_text(&file, "unit", chart->picture.unit->name);
	chart_set_text(&file, "origin",
		       chart->occurrence ? "its start" : "the first GPU operation");
	chart_set_number(&file, "from", chart_axis(&chart->picture, chart->picture.from_ns));
	chart_set_number(&file, "to", chart_axis(&chart->picture, chart->picture.to_ns));
	set_row_places(&file, chart);
	chart_set_number(&file, "label_width", chart->label_width);
	chart_set_number(&file, "cell_count", chart->picture.columns);
	return chart_file_close(&file, 0, err);
}

void chart_timeline_describe_scale(char text[CHART_SCALE_SIZE], const struct timeline_chart *chart,
				   const struct chart_row *row)
{
	text[0] = '\0';
	if (row->kind == ROW_STRIP && !chart->picture.is_text)
		chart_strip_describe(text, CHART_SCALE_SIZE, &chart->scales, row->strip);
}

int chart_timeline_write_rows(const struct timeline_chart *chart, const char *folder,
			      struct err *err)
{
	char scale[CHART_SCALE_SIZE];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "rows.dat", err);

	if (rc < 0)
		return rc;
	fputs("# middle\tkind\tlabel\tsecond line\n", file.stream);
	for (size_t i = 0; i < chart->rows.count; i++) {
		const struct chart_lane *lane = &chart->picture.items[i];

		fprintf(file.stream, "%g\t%d\t",
			(chart_lane_y(lane, 0) + chart_lane_y(lane, 1)) / 2,
			chart->rows.rows[i].kind);
		if (*chart->rows.rows[i].label)
			chart_put_text(&file, chart->rows.rows[i].label);
		else /* of "" that is not the last column gnuplot makes a tab */
			fputs("\" \"", file.stream);
		putc('\t', file.stream);
		chart_timeline_describe_scale(scale, chart, &chart->rows.rows[i]);
		chart_put_text(&file, scale);
		putc('\n', file.stream);
	}
	return chart_file_close(&file, 0, err);
}
