/* chart_whatif_text.c - titles, headings, notes, legends and labels of the what-if chart, and its settings for
 * gnuplot. */
#include <stdlib.h>

#include "base/sums.h"
#include "charts/timelines/chart_whatif.h"

#define RANGE_LIMIT 40
#define NAME_SIZE 256 /* of a range in UTF-8, and of all strategies */
#define LEGEND_TITLES 3

/* What calls of a class are called, on a bar and in the legend, and the cause of idle time whose color
 * they have. */
static const struct whatif_call calls[CALL_CLASS_COUNT] = {
	[CALL_OTHER] = {GAP_UNKNOWN, "other", "other call"},
	[CALL_LAUNCH] = {GAP_LAUNCH, "launch", "launch of a kernel"},
	[CALL_GRAPH_LAUNCH] = {GAP_GRAPH, "graph", "launch of a graph"},
	[CALL_GRAPH_MANAGE] = {GAP_UPDATE, "graph built", "graph built or updated"},
	[CALL_COPY] = {GAP_COPY, "copy", "copy"},
	[CALL_SYNC] = {GAP_SYNC, "wait", "wait"},
	[CALL_EVENT] = {GAP_DEPENDENCY, "event", "event"},
	[CALL_MEMORY] = {GAP_ALLOCATION, "allocation", "allocation"},
	[CALL_MODULE] = {GAP_MODULE, "module load", "module load"},
	[CALL_CREATE] = {GAP_CREATION, "creation", "stream or event creation"},
};

const struct whatif_call *chart_whatif_call(int call_class)
{
	return &calls[call_class];
}

/* ---- titles, notes and legends ---- */

/* How long a device works, of a side's time. */
static int64_t busy_ns(const struct whatif_chart *chart, const struct side *side)
{
	const struct profile *profile = chart->report->profile;
	int64_t busy = 0, until_ns = side->start_ns;

	for (size_t i = 0; i < side->op_count; i++) {
		const struct side_span *span = &side->ops[i];
		int64_t start_ns = span->start_ns > until_ns ? span->start_ns : until_ns;
		int64_t end_ns = span->end_ns < side->end_ns ? span->end_ns : side->end_ns;

		if (profile_op_device(profile, &profile->ops[span->index]) !=
			    chart->scenario->device ||
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
static void count_stretch(char *text, size_t size, const struct whatif_chart *chart)
{
	const struct stretch *stretch = &chart->sides->stretch;
	size_t count = stretch->iteration_count ? stretch->iteration_count
						: submit_count(&chart->sides->before);

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
static void describe_stretch(char *text, size_t size, const struct whatif_chart *chart)
{
	const struct stretch *stretch = &chart->sides->stretch;
	const struct side *before = &chart->sides->before;
	int64_t at_ns = before->start_ns - before->run_start_ns;
	char what[64], when[96];

	count_stretch(what, sizeof(what), chart);
	if (chart->picture.is_text)
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

/* "4.00x as fast (3.24x to 4.85x)"; where nobody knows what operations need of each other, "1.20x, up to 4.00x as fast" */
static void describe_ratio(char *text, size_t size, const struct predicted_ratio *ratio,
			   bool is_up_to)
{
	if (is_up_to) {
		snprintf(text, size, "%s, up to %s as fast", speedup_figure(ratio->low).text,
			 speedup_figure(ratio->speedup).text);
		return;
	}
	snprintf(text, size, "%s as fast (%s to %s)", speedup_figure(ratio->speedup).text,
		 speedup_figure(ratio->low).text, speedup_figure(ratio->high).text);
}

/* Of the range, where one was given and something is called in it, and of the whole run. */
static void set_titles(struct chart_file *file, const struct whatif_chart *chart)
{
	const struct scenario *scenario = chart->scenario;
	const struct prediction *prediction = &scenario->prediction;
	char names[NAME_SIZE], range[NAME_SIZE], ratio[128], text[1024];

	name_strategies(names, sizeof(names), scenario);
	if (scenario->range && prediction->place_before_ns > 0) {
		format_text(range, sizeof(range), scenario->range, RANGE_LIMIT);
		describe_ratio(ratio, sizeof(ratio), &prediction->place, scenario->is_up_to);
		snprintf(text, sizeof(text), "%s: the range %s would be %s; the whole run %s",
			 names, range, ratio,
			 speedup_figure(scenario->is_up_to ? prediction->program.low
							   : prediction->program.speedup)
				 .text);
	} else {
		describe_ratio(ratio, sizeof(ratio), &prediction->program, scenario->is_up_to);
		snprintf(text, sizeof(text), "%s: the whole run would be %s", names, ratio);
	}
	chart_set_text(file, "chart_title", text);
	describe_stretch(text, sizeof(text), chart);
	chart_set_text(file, "chart_subtitle", text);
}

static void set_notes(struct chart_file *file, const struct whatif_chart *chart)
{
	bool is_text = chart->picture.is_text;

	chart_set_text(file, "chart_note",
		       is_text ? "recording overhead is removed from both sides"
			       : "The recording overhead is removed from both sides, as in the "
				 "prediction.");
	chart_set_text(file, "height_note",
		       !chart->picture.has_partial ? ""
		       : is_text		   ? "small letters: under half of that time"
				 : "A bar lower than its row was busy for that share of the time.");
}

static void put_head(struct chart_file *file, const struct whatif_chart *chart, int index,
		     const char *text)
{
	const struct half *half = &chart->halves[index];
	const struct side *side = half->side;

	fprintf(file->stream, "%g\t%.9g\t%g\t", half->top,
		(double)chart_whatif_length_ns(side) / chart->picture.unit->ns, half->bottom);
	chart_put_text(file, text);
	putc('\n', file->stream);
}

int chart_whatif_write_heads(const struct whatif_chart *chart, const char *folder, struct err *err)
{
	char names[NAME_SIZE], with[NAME_SIZE + 8] = "", what[64], text[512];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "heads.dat", err);

	if (rc < 0)
		return rc;
	fputs("# top\tend of the stretch\tbottom\theading\n", file.stream);
	name_strategies(names, sizeof(names), chart->scenario);
	if (!chart->picture.is_text) /* there is no room; the title has them */
		snprintf(with, sizeof(with), " with %s", names);
	count_stretch(what, sizeof(what), chart);
	for (int i = 0; i < 2; i++) {
		const struct side *side = chart->halves[i].side;

		snprintf(text, sizeof(text), "%s%s: %s%s in %s, GPU busy %s",
			 i ? "re-simulated" : "recorded", i ? with : "", i ? "the same " : "", what,
			 format_ns((double)chart_whatif_length_ns(side)).text,
			 format_percent((double)busy_ns(chart, side),
					(double)chart_whatif_length_ns(side))
				 .text);
		put_head(&file, chart, i, text);
	}
	return chart_file_close(&file, 0, err);
}

static void put_row_label(struct chart_file *file, struct row_lanes lanes, const char *label,
			  const struct whatif_chart *chart)
{
	fprintf(file->stream, "%g\t", chart->picture.items[lanes.own].top + 0.5);
	chart_put_text(file, label);
	putc('\n', file->stream);
}

int chart_whatif_write_rows(const struct whatif_chart *chart, const char *folder, struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "rows.dat", err);

	if (rc < 0)
		return rc;
	fputs("# middle\tlabel\n", file.stream);
	for (int half = 0; half < 2; half++) {
		put_row_label(&file, chart->halves[half].host, "host", chart);
		for (size_t i = 0; i < chart->rows.count; i++)
			if (chart->is_shown[i])
				put_row_label(&file, chart->halves[half].of_rows[i],
					      chart->rows.rows[i].label, chart);
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
static void set_runs(struct chart_file *file, const struct whatif_chart *chart)
{
	const struct prediction *prediction = &chart->scenario->prediction;
	const double before_ns = (double)prediction->program_before_ns;
	const double after_ns = (double)prediction->program_after_ns;
	const double low_ns = before_ns / prediction->program.high;
	const double high_ns = before_ns / prediction->program.low;
	const double longest_ns = before_ns > high_ns ? before_ns : high_ns;
	char text[128];

	fputs("array run_end[2]\narray run_from[2]\narray run_to[2]\n", file->stream);
	for (int i = 0; i < 2; i++) {
		const struct side *side = chart->halves[i].side;
		double from_ns = (double)(side->start_ns - side->run_start_ns);

		double to_ns = from_ns + (double)chart_whatif_length_ns(side);
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
static int set_call_legend(struct chart_file *file, int first, const struct whatif_chart *chart)
{
	int number = first;

	for (int i = 0; i < CALL_CLASS_COUNT; i++)
		if (chart->picture.colors_seen[COLOR_CAUSE + chart_whatif_call(i)->cause])
			chart_set_legend(file, number++,
					 COLOR_CAUSE + (int)chart_whatif_call(i)->cause,
					 chart_whatif_call(i)->name);
	return number;
}

static void set_legends(struct chart_file *file, const struct whatif_chart *chart)
{
	int number = 1;

	chart_begin_legend(file, LEGEND_TITLES);
	chart_set_legend(file, number, 0, "API calls");
	number = set_call_legend(file, number + 1, chart);
	number = chart_set_kernel_legend(file, number, chart->report, chart->picture.colors_seen);
	if (chart->picture.colors_seen[COLOR_ASIDE]) {
		chart_set_legend(file, number++, 0, "at the same time");
		chart_set_legend(file, number++, COLOR_ASIDE,
				 "other work, also of other iterations");
	}
	chart_set_number(file, "legend_count", number - 1);
}

/* How much earlier the same work ends. */
static void set_saved(struct chart_file *file, const struct whatif_chart *chart)
{
	int64_t saved_ns = chart_whatif_length_ns(chart->halves[0].side) -
			   chart_whatif_length_ns(chart->halves[1].side);
	char text[64] = "";

	if (saved_ns > 0)
		snprintf(text, sizeof(text), "%s saved", format_ns((double)saved_ns).text);
	chart_set_text(file, "saved", text);
	chart_set_number(file, "saved_from",
			 (double)chart_whatif_length_ns(chart->halves[1].side) /
				 chart->picture.unit->ns);
	chart_set_number(file, "saved_to",
			 (double)chart_whatif_length_ns(chart->halves[0].side) /
				 chart->picture.unit->ns);
	chart_set_number(file, "saved_y",
			 chart->picture.items[chart->halves[1].host.own].top + 0.5);
}

int chart_whatif_write_settings(const struct whatif_chart *chart, const char *folder,
				struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "whatif.gp", err);

	if (rc < 0)
		return rc;
	set_titles(&file, chart);
	set_notes(&file, chart);
	set_legends(&file, chart);
	set_runs(&file, chart);
	chart_set_data(&file, "spans", folder);
	chart_set_data(&file, "heads", folder);
	chart_set_data(&file, "rows", folder);
	chart_set_text(&file, "unit", chart->picture.unit->name);
	set_saved(&file, chart);
	chart_set_number(&file, "to", chart_axis(&chart->picture, chart->picture.to_ns));
	chart_set_number(&file, "row_end", chart->halves[1].bottom);
	chart_set_number(&file, "label_width", chart->label_width);
	chart_set_number(&file, "cell_count", chart->picture.columns);
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

int chart_whatif_write_nothing(const struct scenario *scenario, const char *folder, struct err *err)
{
	char range[NAME_SIZE], text[1024];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "whatif.gp", err);

	if (rc < 0)
		return rc;
	if (scenario->is_of_job) {
		snprintf(
			text, sizeof(text),
			"no picture of a change of all ranks: rooflinectl whatif tells what it brings");
	} else if (scenario->is_changed && scenario->range) {
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
