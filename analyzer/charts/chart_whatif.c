/* chart_whatif.c - the same iterations as recorded and re-simulated with a change, one above the other. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "charts/chart_lanes.h"
#include "charts/charts.h"

#define HALVES_APART 0.5  /* rows, in a picture */
#define MARGIN_RATIO 0.02 /* of the time shown, behind its end: where it ends has to be seen */
#define RANGE_LIMIT 40
#define NAME_SIZE 256 /* of a range in UTF-8, and of all strategies */
#define LEGEND_TITLES 3

/* What calls of a class are called, on a bar and in the legend, and the cause of idle time whose color
 * they have. */
static const struct {
	enum gap_cause cause;
	const char *label, *name;
} calls[CALL_CLASS_COUNT] = {
	[CALL_OTHER] = {GAP_UNKNOWN, "other", "other call"},
	[CALL_LAUNCH] = {GAP_LAUNCH, "launch", "launch of a kernel"},
	[CALL_GRAPH_LAUNCH] = {GAP_GRAPH, "graph", "launch of a graph"},
	[CALL_GRAPH_MANAGE] = {GAP_UPDATE, "graph built", "graph built or updated"},
	[CALL_COPY] = {GAP_COPY, "copy", "copy"},
	[CALL_SYNC] = {GAP_SYNC, "wait", "wait"},
	[CALL_EVENT] = {GAP_DEPENDENCY, "event", "event"},
	[CALL_MEMORY] = {GAP_ALLOCATION, "allocation", "allocation"},
	[CALL_MODULE] = {GAP_MODULE, "module load", "module load"},
};

/* Which lanes things of a row go into, PROFILE_NONE where a side does not show it. */
struct row_lanes {
	uint32_t own, aside;
};

/* One half of the picture. */
struct half {
	const struct side *side;
	struct row_lanes host;
	struct row_lanes *of_rows; /* as rows.rows[] */
	size_t line;		   /* of its heading, in rows */
	double top, bottom;	   /* with space between the halves, where there is any */
};

struct painter {
	const struct report *report;
	const struct scenario *scenario;
	const struct side_by_side *sides;
	struct chart_rows rows;
	bool *is_shown; /* as rows.rows[] */
	size_t shown_count;
	struct half halves[2]; /* before, after */
	struct chart_lanes picture;
	uint8_t *kernel_colors;
	int text_columns;
};

/* ---- which rows ---- */

/* When the stretch was recorded: rows are chosen by what ran then. */
static struct chart_window recorded_window(const struct painter *painter)
{
	const struct profile *profile = painter->report->profile;
	const struct stretch *stretch = &painter->sides->stretch;
	const struct side *before = &painter->sides->before;
	struct chart_window window = {profile->calls[stretch->first].start_ns,
				      profile->calls[stretch->end - 1].end_ns};

	for (size_t i = 0; i < before->op_count; i++) {
		const struct profile_op *op = &profile->ops[before->ops[i].index];

		if (before->ops[i].is_own && op->end_ns > window.to_ns)
			window.to_ns = op->end_ns;
	}
	return window;
}

static uint32_t row_of(const struct painter *painter, const struct side_span *span)
{
	const struct profile *profile = painter->report->profile;

	return chart_row_of_op(&painter->rows, profile, &profile->ops[span->index]);
}

/* Those in which something of the stretch runs. */
static void mark_rows(struct painter *painter, const struct side *side)
{
	for (size_t i = 0; i < side->op_count; i++) {
		uint32_t row = row_of(painter, &side->ops[i]);

		if (!side->ops[i].is_own || row == PROFILE_NONE || painter->is_shown[row])
			continue;
		painter->is_shown[row] = true;
		painter->shown_count++;
	}
}

static int choose_rows(struct painter *painter)
{
	const struct profile *profile = painter->report->profile;

	if (chart_rows_choose(&painter->rows, profile, recorded_window(painter), NULL) < 0)
		return -ENOMEM;
	painter->is_shown = calloc(painter->rows.count + 1, sizeof(bool));
	if (!painter->is_shown)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		painter->halves[i].of_rows =
			calloc(painter->rows.count + 1, sizeof(struct row_lanes));
		if (!painter->halves[i].of_rows)
			return -ENOMEM;
		mark_rows(painter, painter->halves[i].side);
	}
	return 0;
}

/* ---- lanes ---- */

static uint32_t add_lane(struct painter *painter, const struct half *half, enum chart_row_kind kind,
			 int color, size_t line)
{
	struct chart_lane *lane = &painter->picture.items[painter->picture.count];

	*lane = (struct chart_lane){.kind = kind,
				    .color = color,
				    .row = line,
				    .top = half->top + (double)(line - half->line),
				    .height = 1};
	return (uint32_t)painter->picture.count++;
}

static struct row_lanes add_row(struct painter *painter, const struct half *half,
				enum chart_row_kind kind, int color, size_t line)
{
	uint32_t aside = add_lane(painter, half, ROW_COPIES, COLOR_ASIDE, line);

	return (struct row_lanes){add_lane(painter, half, kind, color, line), aside};
}

/* A heading, the host, and the rows: returns the line behind them. */
static size_t add_half(struct painter *painter, struct half *half, size_t line)
{
	half->line = line;
	half->top = (double)line + (line && !painter->picture.is_text ? HALVES_APART : 0);
	half->host = add_row(painter, half, ROW_CALLS, COLOR_CAUSE, ++line);
	for (size_t i = 0; i < painter->rows.count; i++) {
		const struct chart_row *row = &painter->rows.rows[i];

		half->of_rows[i] = (struct row_lanes){PROFILE_NONE, PROFILE_NONE};
		if (painter->is_shown[i])
			half->of_rows[i] = add_row(painter, half, row->kind, row->color, ++line);
	}
	half->bottom = half->top + (double)(++line - half->line);
	return line;
}

static size_t label_width(const struct painter *painter)
{
	size_t longest = strlen("re-simulated");

	for (size_t i = 0; i < painter->rows.count; i++)
		if (painter->is_shown[i] && strlen(painter->rows.rows[i].label) > longest)
			longest = strlen(painter->rows.rows[i].label);
	return longest;
}

static int64_t length_ns(const struct side *side)
{
	return side->end_ns > side->start_ns ? side->end_ns - side->start_ns : 1;
}

/* The axis begins with the stretch on both sides. */
static void set_axis(struct painter *painter)
{
	struct chart_lanes *picture = &painter->picture;
	int64_t before_ns = length_ns(painter->halves[0].side);
	int64_t after_ns = length_ns(painter->halves[1].side);
	int64_t longest_ns = before_ns > after_ns ? before_ns : after_ns;

	picture->to_ns = longest_ns + (int64_t)(MARGIN_RATIO * (double)longest_ns) + 1;
	picture->unit = quantity_unit((double)longest_ns / 3);
}

static int prepare(struct painter *painter)
{
	size_t lanes, line;

	painter->halves[0].side = &painter->sides->before;
	painter->halves[1].side = &painter->sides->after;
	painter->kernel_colors = chart_kernel_colors(painter->report);
	if (!painter->kernel_colors || choose_rows(painter) < 0)
		return -ENOMEM;
	lanes = 2 * 2 * (1 + painter->shown_count);
	if (chart_lanes_allocate(&painter->picture, lanes) < 0)
		return -ENOMEM;
	set_axis(painter);
	painter->picture.is_text = painter->text_columns > 0;
	painter->picture.columns = chart_columns(painter->text_columns, label_width(painter));
	painter->picture.count = 0;
	line = add_half(painter, &painter->halves[0], 0);
	add_half(painter, &painter->halves[1], line);
	return chart_lanes_begin(&painter->picture);
}

static void painter_close(struct painter *painter)
{
	chart_lanes_free(&painter->picture);
	free(painter->halves[0].of_rows);
	free(painter->halves[1].of_rows);
	free(painter->is_shown);
	free(painter->kernel_colors);
	chart_rows_free(&painter->rows);
}

/* ---- filling them ---- */

/* What runs meanwhile is cut off where the stretch ends: nobody asks how it goes on. */
static int add_span(struct painter *painter, const struct half *half, struct row_lanes lanes,
		    const struct side_span *span, unsigned class_index, const char *label)
{
	const struct side *side = half->side;
	uint32_t lane = span->is_own ? lanes.own : lanes.aside;
	int64_t end_ns = span->end_ns < side->end_ns ? span->end_ns : side->end_ns;

	if (lane == PROFILE_NONE || (!span->is_own && span->start_ns >= end_ns))
		return 0;
	return raster_add(&painter->picture.items[lane].raster, span->start_ns - side->start_ns,
			  end_ns - side->start_ns, span->is_own ? class_index : 0,
			  span->is_own ? label : NULL);
}

static int add_calls(struct painter *painter, const struct half *half)
{
	int rc = 0;

	for (size_t i = 0; i < half->side->call_count && rc == 0; i++) {
		const struct side_span *span = &half->side->calls[i];

		rc = add_span(painter, half, half->host, span, calls[span->call_class].cause,
			      calls[span->call_class].label);
	}
	return rc;
}

static int add_ops(struct painter *painter, const struct half *half)
{
	const struct profile *profile = painter->report->profile;
	int rc = 0;

	for (size_t i = 0; i < half->side->op_count && rc == 0; i++) {
		const struct side_span *span = &half->side->ops[i];
		uint32_t row = row_of(painter, span);
		const char *label;
		unsigned class_index = chart_op_class(profile, painter->kernel_colors,
						      &profile->ops[span->index], &label);

		if (row != PROFILE_NONE)
			rc = add_span(painter, half, half->of_rows[row], span, class_index, label);
	}
	return rc;
}

static int write_spans(struct painter *painter, const char *folder, struct err *err)
{
	int rc = chart_lanes_open(&painter->picture, folder, err);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = add_calls(painter, &painter->halves[i]);
		if (rc == 0)
			rc = add_ops(painter, &painter->halves[i]);
	}
	if (rc == 0)
		rc = chart_lanes_finish(&painter->picture);
	return chart_lanes_close(&painter->picture, rc, err);
}

/* ---- words ---- */

/* How long a device works, of a side's time. */
static int64_t busy_ns(const struct painter *painter, const struct side *side)
{
	const struct profile *profile = painter->report->profile;
	int64_t busy = 0, until_ns = side->start_ns;

	for (size_t i = 0; i < side->op_count; i++) {
		const struct side_span *span = &side->ops[i];
		int64_t start_ns = span->start_ns > until_ns ? span->start_ns : until_ns;
		int64_t end_ns = span->end_ns < side->end_ns ? span->end_ns : side->end_ns;

		if (profile->ops[span->index].device != painter->scenario->device ||
		    end_ns <= start_ns)
			continue;
		sum_add_ns(&busy, end_ns - start_ns);
		until_ns = end_ns;
	}
	return busy;
}

static size_t submit_count(const struct side *side)
{
	size_t count = 0;

	for (size_t i = 0; i < side->op_count; i++)
		count += side->ops[i].is_own;
	return count;
}

/* "cuda_graph in run and overlap": what changed something. */
static void name_strategies(char *text, size_t size, const struct scenario *scenario)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < scenario->part_count; i++) {
		const struct scenario_part *part = &scenario->parts[i];
		char range[NAME_SIZE] = "";

		if (part->together.effect.refusal || used >= size)
			continue;
		if (part->range)
			format_text(range, sizeof(range), part->range, RANGE_LIMIT);
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", used ? " and " : "",
					 techniques[part->technique]->id, part->range ? " in " : "",
					 range);
	}
}

/* "8 iterations" */
static void count_stretch(char *text, size_t size, const struct painter *painter)
{
	const struct stretch *stretch = &painter->sides->stretch;
	size_t count = stretch->iteration_count ? stretch->iteration_count
						: submit_count(&painter->sides->before);

	snprintf(text, size, "%s %s%s", format_count(count).text,
		 stretch->iteration_count ? "iteration" : "operation", count == 1 ? "" : "s");
}

static struct figure speedup_figure(double speedup)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.*fx", speedup < 100 ? 2 : 0, speedup);
	return figure;
}

/* Which iterations, and when. */
static void describe_stretch(char *text, size_t size, const struct painter *painter)
{
	const struct stretch *stretch = &painter->sides->stretch;
	const struct side *before = &painter->sides->before;
	int64_t at_ns = before->start_ns - before->run_start_ns;
	char what[64], when[96];

	count_stretch(what, sizeof(what), painter);
	if (painter->picture.is_text)
		snprintf(when, sizeof(when), "at %s", format_ns((double)at_ns).text);
	else
		snprintf(when, sizeof(when), "%s %s the run's first GPU operation",
			 format_ns((double)llabs(at_ns)).text, at_ns < 0 ? "before" : "after");
	if (stretch->iteration_count)
		snprintf(text, size,
			 "shown: iterations %s to %s of %s of the largest loop that changes, %s",
			 format_count(stretch->first_iteration).text,
			 format_count(stretch->first_iteration + stretch->iteration_count - 1).text,
			 format_count(stretch->loop_iteration_count).text, when);
	else
		snprintf(text, size, "shown: the first %s that change, %s", what, when);
}

/* "4.00x as fast (3.24x to 4.85x)" */
static void describe_ratio(char *text, size_t size, const struct predicted_ratio *ratio)
{
	snprintf(text, size, "%s as fast (%s to %s)", speedup_figure(ratio->speedup).text,
		 speedup_figure(ratio->low).text, speedup_figure(ratio->high).text);
}

/* Of the range, where one is asked for and something is called in it, and of the whole run. */
static void set_titles(struct chart_file *file, const struct painter *painter)
{
	const struct scenario *scenario = painter->scenario;
	const struct prediction *prediction = &scenario->prediction;
	char names[NAME_SIZE], range[NAME_SIZE], ratio[128], text[1024];

	name_strategies(names, sizeof(names), scenario);
	if (scenario->range && prediction->place_before_ns > 0) {
		format_text(range, sizeof(range), scenario->range, RANGE_LIMIT);
		describe_ratio(ratio, sizeof(ratio), &prediction->place);
		snprintf(text, sizeof(text), "%s: the range %s would be %s; the whole run %s",
			 names, range, ratio, speedup_figure(prediction->program.speedup).text);
	} else {
		describe_ratio(ratio, sizeof(ratio), &prediction->program);
		snprintf(text, sizeof(text), "%s: the whole run would be %s", names, ratio);
	}
	chart_set_text(file, "chart_title", text);
	describe_stretch(text, sizeof(text), painter);
	chart_set_text(file, "chart_subtitle", text);
}

static void set_notes(struct chart_file *file, const struct painter *painter)
{
	bool is_text = painter->picture.is_text;

	chart_set_text(file, "chart_note",
		       is_text ? "recording overhead is removed from both sides"
			       : "The recording overhead is removed from both sides, as in the "
				 "prediction.");
	chart_set_text(file, "height_note",
		       !painter->picture.has_partial ? ""
		       : is_text		     ? "small letters: under half of that time"
				 : "A bar lower than its row was busy for that share of the time.");
}

static void put_head(struct chart_file *file, const struct painter *painter, int index,
		     const char *text)
{
	const struct half *half = &painter->halves[index];
	const struct side *side = half->side;

	fprintf(file->stream, "%g\t%.9g\t%g\t", half->top,
		(double)length_ns(side) / painter->picture.unit->ns, half->bottom);
	chart_put_text(file, text);
	putc('\n', file->stream);
}

static int write_heads(const struct painter *painter, const char *folder, struct err *err)
{
	char names[NAME_SIZE], with[NAME_SIZE + 8] = "", what[64], text[512];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "heads.dat", err);

	if (rc < 0)
		return rc;
	fputs("# top\tend of the stretch\tbottom\theading\n", file.stream);
	name_strategies(names, sizeof(names), painter->scenario);
	if (!painter->picture.is_text) /* there is no room; the title has them */
		snprintf(with, sizeof(with), " with %s", names);
	count_stretch(what, sizeof(what), painter);
	for (int i = 0; i < 2; i++) {
		const struct side *side = painter->halves[i].side;

		snprintf(text, sizeof(text), "%s%s: %s%s in %s, GPU busy %s",
			 i ? "re-simulated" : "recorded", i ? with : "", i ? "the same " : "", what,
			 format_ns((double)length_ns(side)).text,
			 format_percent((double)busy_ns(painter, side), (double)length_ns(side))
				 .text);
		put_head(&file, painter, i, text);
	}
	return chart_file_close(&file, 0, err);
}

static void put_row_label(struct chart_file *file, struct row_lanes lanes, const char *label,
			  const struct painter *painter)
{
	fprintf(file->stream, "%g\t", painter->picture.items[lanes.own].top + 0.5);
	chart_put_text(file, label);
	putc('\n', file->stream);
}

static int write_rows(const struct painter *painter, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "rows.dat", err);

	if (rc < 0)
		return rc;
	fputs("# middle\tlabel\n", file.stream);
	for (int half = 0; half < 2; half++) {
		put_row_label(&file, painter->halves[half].host, "host", painter);
		for (size_t i = 0; i < painter->rows.count; i++)
			if (painter->is_shown[i])
				put_row_label(&file, painter->halves[half].of_rows[i],
					      painter->rows.rows[i].label, painter);
	}
	return chart_file_close(&file, 0, err);
}

static void set_item(struct chart_file *file, const char *array, int index, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s[%d]", array, index + 1);
	chart_set_number(file, name, value);
}

/* The whole run, before and after, as shares of the longer one: its end and that of the interval, and
 * where what is shown lies in it. */
static void set_runs(struct chart_file *file, const struct painter *painter)
{
	const struct prediction *prediction = &painter->scenario->prediction;
	const double before_ns = (double)prediction->program_before_ns;
	const double after_ns = (double)prediction->program_after_ns;
	const double low_ns = before_ns / prediction->program.high;
	const double high_ns = before_ns / prediction->program.low;
	const double longest_ns = before_ns > high_ns ? before_ns : high_ns;
	char text[128];

	fputs("array run_end[2]\narray run_from[2]\narray run_to[2]\n", file->stream);
	for (int i = 0; i < 2; i++) {
		const struct side *side = painter->halves[i].side;
		double from_ns = (double)(side->start_ns - side->run_start_ns);

		double to_ns = from_ns + (double)length_ns(side);
		double end_ns = i ? after_ns : before_ns;

		/* the host begins earlier and ends later than the device */
		set_item(file, "run_end", i, end_ns / longest_ns);
		set_item(file, "run_from", i, (from_ns > 0 ? from_ns : 0) / longest_ns);
		set_item(file, "run_to", i, (to_ns < end_ns ? to_ns : end_ns) / longest_ns);
	}
	chart_set_number(file, "run_low", low_ns / longest_ns);
	chart_set_number(file, "run_high", high_ns / longest_ns);
	chart_set_text(file, "run_before", format_ns(before_ns).text);
	snprintf(text, sizeof(text), "%s (%s to %s)", format_ns(after_ns).text,
		 format_ns(low_ns).text, format_ns(high_ns).text);
	chart_set_text(file, "run_after", text);
}

/* Several classes of calls have one entry each, though none that does not occur. */
static int set_call_legend(struct chart_file *file, int first, const struct painter *painter)
{
	int number = first;

	for (int i = 0; i < CALL_CLASS_COUNT; i++)
		if (painter->picture.colors_seen[COLOR_CAUSE + calls[i].cause])
			chart_set_legend(file, number++, COLOR_CAUSE + (int)calls[i].cause,
					 calls[i].name);
	return number;
}

static void set_legends(struct chart_file *file, const struct painter *painter)
{
	int number = 1;

	chart_begin_legend(file, LEGEND_TITLES);
	chart_set_legend(file, number, 0, "API calls");
	number = set_call_legend(file, number + 1, painter);
	number = chart_set_kernel_legend(file, number, painter->report->statistics,
					 painter->picture.colors_seen);
	if (painter->picture.colors_seen[COLOR_ASIDE]) {
		chart_set_legend(file, number++, 0, "at the same time");
		chart_set_legend(file, number++, COLOR_ASIDE,
				 "other work, also of other iterations");
	}
	chart_set_number(file, "legend_count", number - 1);
}

/* How much earlier the same work ends. */
static void set_saved(struct chart_file *file, const struct painter *painter)
{
	int64_t saved_ns = length_ns(painter->halves[0].side) - length_ns(painter->halves[1].side);
	char text[64] = "";

	if (saved_ns > 0)
		snprintf(text, sizeof(text), "%s saved", format_ns((double)saved_ns).text);
	chart_set_text(file, "saved", text);
	chart_set_number(file, "saved_from",
			 (double)length_ns(painter->halves[1].side) / painter->picture.unit->ns);
	chart_set_number(file, "saved_to",
			 (double)length_ns(painter->halves[0].side) / painter->picture.unit->ns);
	chart_set_number(file, "saved_y",
			 painter->picture.items[painter->halves[1].host.own].top + 0.5);
}

static int write_settings(const struct painter *painter, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "whatif.gp", err);

	if (rc < 0)
		return rc;
	set_titles(&file, painter);
	set_notes(&file, painter);
	set_legends(&file, painter);
	set_runs(&file, painter);
	chart_set_data(&file, "spans", folder);
	chart_set_data(&file, "heads", folder);
	chart_set_data(&file, "rows", folder);
	chart_set_text(&file, "unit", painter->picture.unit->name);
	set_saved(&file, painter);
	chart_set_number(&file, "to", chart_axis(&painter->picture, painter->picture.to_ns));
	chart_set_number(&file, "row_end", painter->halves[1].bottom);
	chart_set_number(&file, "label_width", (double)label_width(painter));
	chart_set_number(&file, "cell_count", painter->picture.columns);
	return chart_file_close(&file, 0, err);
}

/* ---- nothing changes ---- */

/* One line for each strategy that is refused. */
static void set_reasons(struct chart_file *file, const struct scenario *scenario)
{
	int count = 0;

	fprintf(file->stream, "array reason[%d]\n", TECHNIQUE_COUNT + 1);
	for (size_t i = 0; i < scenario->part_count; i++) {
		const struct scenario_part *part = &scenario->parts[i];
		char name[64], text[256];

		if (!part->together.effect.refusal)
			continue;
		snprintf(name, sizeof(name), "reason[%d]", ++count);
		snprintf(text, sizeof(text), "%s: %s", techniques[part->technique]->id,
			 part->together.effect.refusal);
		chart_set_text(file, name, text);
	}
	chart_set_number(file, "reason_count", count);
}

static int write_nothing(const struct scenario *scenario, const char *folder, struct err *err)
{
	char range[NAME_SIZE], text[1024];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "whatif.gp", err);

	if (rc < 0)
		return rc;
	if (scenario->is_changed && scenario->range) {
		format_text(range, sizeof(range), scenario->range, RANGE_LIMIT);
		snprintf(text, sizeof(text), "nothing would change in the range %s", range);
	} else {
		snprintf(text, sizeof(text), "nothing would change");
	}
	chart_set_text(&file, "chart_title", text);
	chart_set_text(&file, "chart_subtitle", "");
	set_reasons(&file, scenario);
	chart_set_number(&file, "row_end", 0);
	chart_set_number(&file, "legend_count", 0);
	return chart_file_close(&file, 0, err);
}

int chart_whatif(const struct report *report, const struct chart_options *options,
		 const char *folder, struct err *err)
{
	struct painter painter = {.report = report,
				  .scenario = options->scenario,
				  .sides = options->sides,
				  .text_columns = options->text_columns};
	int rc;

	if (!options->sides->stretch.end)
		return write_nothing(options->scenario, folder, err);
	rc = prepare(&painter);
	if (rc < 0)
		rc = err_set(err, rc, "whatif: out of memory");
	if (rc == 0)
		rc = write_spans(&painter, folder, err);
	if (rc == 0)
		rc = write_rows(&painter, folder, err);
	if (rc == 0)
		rc = write_heads(&painter, folder, err);
	if (rc == 0)
		rc = write_settings(&painter, folder, err);
	painter_close(&painter);
	return rc;
}
