/* chart_whatif.c - the same iterations as recorded and re-simulated with a change, one above the other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charts/timelines/chart_whatif.h"
#include "charts/text_width.h"

#define HALVES_APART 0.5  /* rows, in a picture */
#define MARGIN_RATIO 0.02 /* of the time shown, behind its end: where it ends has to be seen */

/* ---- which rows ---- */

/* When the stretch was recorded: rows are chosen by what ran then. */
static struct chart_window recorded_window(const struct whatif_chart *chart)
{
	const struct profile *profile = chart->report->profile;
	const struct stretch *stretch = &chart->sides->stretch;
	const struct side *before = &chart->sides->before;
	struct chart_window window = {profile->calls[stretch->first].start_ns,
				      profile->calls[stretch->end - 1].end_ns};

	for (size_t i = 0; i < before->op_count; i++) {
		const struct profile_op *op = &profile->ops[before->ops[i].index];

		if (before->ops[i].is_own && op->end_ns > window.to_ns)
			window.to_ns = op->end_ns;
	}
	return window;
}

static uint32_t row_of(const struct whatif_chart *chart, const struct side_span *span)
{
	const struct profile *profile = chart->report->profile;

	return chart_row_of_op(&chart->rows, profile, &profile->ops[span->index]);
}

/* Those in which something of the stretch runs. */
static void mark_rows(struct whatif_chart *chart, const struct side *side)
{
	for (size_t i = 0; i < side->op_count; i++) {
		uint32_t row = row_of(chart, &side->ops[i]);

		if (!side->ops[i].is_own || row == PROFILE_NONE || chart->is_shown[row])
			continue;
		chart->is_shown[row] = true;
		chart->shown_count++;
	}
}

static int choose_rows(struct whatif_chart *chart)
{
	const struct profile *profile = chart->report->profile;

	if (chart_rows_choose(&chart->rows, profile, recorded_window(chart), NULL) < 0)
		return -ENOMEM;
	chart->is_shown = calloc(chart->rows.count + 1, sizeof(bool));
	if (!chart->is_shown)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		chart->halves[i].of_rows = calloc(chart->rows.count + 1, sizeof(struct row_lanes));
		if (!chart->halves[i].of_rows)
			return -ENOMEM;
		mark_rows(chart, chart->halves[i].side);
	}
	return 0;
}

/* ---- lanes ---- */

static uint32_t add_lane(struct whatif_chart *chart, const struct half *half,
			 enum chart_row_kind kind, int color, size_t line)
{
	struct chart_lane *lane = &chart->picture.items[chart->picture.count];

	*lane = (struct chart_lane){.kind = kind,
				    .color = color,
				    .row = line,
				    .top = half->top + (double)(line - half->line),
				    .height = 1};
	return (uint32_t)chart->picture.count++;
}

static struct row_lanes add_row(struct whatif_chart *chart, const struct half *half,
				enum chart_row_kind kind, int color, size_t line)
{
	uint32_t aside = add_lane(chart, half, ROW_COPIES, COLOR_ASIDE, line);

	return (struct row_lanes){add_lane(chart, half, kind, color, line), aside};
}

/* A heading, the host, and the rows: returns the line behind them. */
static size_t add_half(struct whatif_chart *chart, struct half *half, size_t line)
{
	half->line = line;
	half->top = (double)line + (line && !chart->picture.is_text ? HALVES_APART : 0);
	half->host = add_row(chart, half, ROW_CALLS, COLOR_CAUSE, ++line);
	for (size_t i = 0; i < chart->rows.count; i++) {
		const struct chart_row *row = &chart->rows.rows[i];

		half->of_rows[i] = (struct row_lanes){PROFILE_NONE, PROFILE_NONE};
		if (chart->is_shown[i])
			half->of_rows[i] = add_row(chart, half, row->kind, row->color, ++line);
	}
	half->bottom = half->top + (double)(++line - half->line);
	return line;
}

/* The axis begins with the stretch on both sides. */
static void set_axis(struct whatif_chart *chart)
{
	struct chart_lanes *picture = &chart->picture;
	int64_t before_ns = chart_whatif_length_ns(chart->halves[0].side);
	int64_t after_ns = chart_whatif_length_ns(chart->halves[1].side);
	int64_t longest_ns = before_ns > after_ns ? before_ns : after_ns;

	picture->to_ns = longest_ns + (int64_t)(MARGIN_RATIO * (double)longest_ns) + 1;
	picture->unit = quantity_unit((double)longest_ns / 3);
}

static double label_width(const struct whatif_chart *chart)
{
	bool is_text = chart->picture.is_text;
	double widest = text_extent("re-simulated", is_text);

	for (size_t i = 0; i < chart->rows.count; i++)
		if (chart->is_shown[i])
			widest = fmax(widest, text_extent(chart->rows.rows[i].label, is_text));
	return widest;
}

static int prepare(struct whatif_chart *chart)
{
	size_t lanes, line;

	chart->halves[0].side = &chart->sides->before;
	chart->halves[1].side = &chart->sides->after;
	chart->kernel_colors = chart_kernel_colors(chart->report);
	if (!chart->kernel_colors || choose_rows(chart) < 0)
		return -ENOMEM;
	lanes = 2 * 2 * (1 + chart->shown_count);
	if (chart_lanes_allocate(&chart->picture, lanes) < 0)
		return -ENOMEM;
	set_axis(chart);
	chart->picture.is_text = chart->text_columns > 0;
	chart->picture.kernel_labels = chart->report->profile->kernel_labels;
	chart->label_width = label_width(chart);
	chart->picture.columns = chart_columns(chart->text_columns, chart->label_width);
	chart->picture.count = 0;
	line = add_half(chart, &chart->halves[0], 0);
	(void)add_half(chart, &chart->halves[1], line);
	return chart_lanes_begin(&chart->picture);
}

static void close_chart(struct whatif_chart *chart)
{
	chart_lanes_free(&chart->picture);
	free(chart->halves[0].of_rows);
	free(chart->halves[1].of_rows);
	free(chart->is_shown);
	free(chart->kernel_colors);
	chart_rows_free(&chart->rows);
}

/* ---- filling them ---- */

/* What runs at the same time is cut off where the stretch ends. */
static int add_span(struct whatif_chart *chart, const struct half *half, struct row_lanes lanes,
		    const struct side_span *span, unsigned class_index, const char *label)
{
	const struct side *side = half->side;
	uint32_t lane = span->is_own ? lanes.own : lanes.aside;
	int64_t end_ns = span->end_ns < side->end_ns ? span->end_ns : side->end_ns;

	if (lane == PROFILE_NONE || (!span->is_own && span->start_ns >= end_ns))
		return 0;
	return raster_add(&chart->picture.items[lane].raster, span->start_ns - side->start_ns,
			  end_ns - side->start_ns, span->is_own ? class_index : 0,
			  span->is_own ? label : NULL);
}

static int add_calls(struct whatif_chart *chart, const struct half *half)
{
	int rc = 0;

	for (size_t i = 0; i < half->side->call_count && rc == 0; i++) {
		const struct side_span *span = &half->side->calls[i];

		rc = add_span(chart, half, half->host, span,
			      chart_whatif_call(span->call_class)->cause,
			      chart_whatif_call(span->call_class)->label);
	}
	return rc;
}

static int add_ops(struct whatif_chart *chart, const struct half *half)
{
	const struct profile *profile = chart->report->profile;
	int rc = 0;

	for (size_t i = 0; i < half->side->op_count && rc == 0; i++) {
		const struct side_span *span = &half->side->ops[i];
		uint32_t row = row_of(chart, span);
		const char *label;
		unsigned class_index = chart_op_class(profile, chart->kernel_colors,
						      &profile->ops[span->index], &label);

		if (row != PROFILE_NONE)
			rc = add_span(chart, half, half->of_rows[row], span, class_index, label);
	}
	return rc;
}

static int write_spans(struct whatif_chart *chart, const char *folder, struct err *err)
{
	int rc = chart_lanes_open(&chart->picture, folder, err);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = add_calls(chart, &chart->halves[i]);
		if (rc == 0)
			rc = add_ops(chart, &chart->halves[i]);
	}
	if (rc == 0)
		rc = chart_lanes_finish(&chart->picture);
	return chart_lanes_close(&chart->picture, rc, err);
}

int chart_whatif(const struct report *report, const struct chart_options *options,
		 const char *folder, struct err *err)
{
	struct whatif_chart chart = {.report = report,
				     .scenario = options->scenario,
				     .sides = options->sides,
				     .text_columns = options->text_columns};
	int rc;

	if (!options->sides->stretch.end)
		return chart_whatif_write_nothing(options->scenario, folder, err);
	rc = prepare(&chart);
	if (rc < 0)
		rc = err_set(err, rc, "whatif: out of memory");
	if (rc == 0)
		rc = write_spans(&chart, folder, err);
	if (rc == 0)
		rc = chart_whatif_write_rows(&chart, folder, err);
	if (rc == 0)
		rc = chart_whatif_write_heads(&chart, folder, err);
	if (rc == 0)
		rc = chart_whatif_write_settings(&chart, folder, err);
	close_chart(&chart);
	return rc;
}
