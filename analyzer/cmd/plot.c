/* plot.c - draws a recording: one picture for each row of charts/charts.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "base/memory_file.h"
#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/plot_pictures.h"
#include "cmd/progress.h"
#include "cmd/selection.h"
#include "cmd/source.h"
#include "cmd/technique_options.h"
#include "cmd/usage.h"
#include "charts/charts.h"
#include "trace/recording.h"

static const struct chart {
	const char *name, *summary;
	chart_writer write;
} charts[] = {
#define CHART_ROW(name, summary) {#name, summary, chart_##name},
	CHARTS(CHART_ROW)
#undef CHART_ROW
};

enum { CHART_COUNT = sizeof(charts) / sizeof(charts[0]) };

struct options {
	const char *recording;
	const char *range;	   /* what to zoom to, or NULL */
	const char *ceilings_path; /* NULL: those that fit the GPU */
	struct pictures pictures;
	bool has_window; /* --from or --to */
	bool is_chosen[CHART_COUNT];
	int chosen_count, drawn_count;
	int missing_count; /* that were named and of which the recording holds nothing */
	struct chosen_techniques chosen;
	struct selection selection;   /* without the time */
	struct chart_options chart;   /* refers to what follows */
	struct occurrence occurrence; /* what range names */
	struct scenario scenario;
	struct side_by_side sides;
};

enum { KEY_FORMAT = 'f', KEY_FROM = 256, KEY_TO, KEY_RANGE, KEY_CEILINGS };

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0,
	 "folder for the pictures, made if missing (default: charts/NAME, of the recording)", 0},
	{"format", KEY_FORMAT, "FORMAT", 0, "svg (default), png, pdf, or term: in the terminal", 0},
	{"from", KEY_FROM, "TIME", 0,
	 "begin so long after the first GPU operation, as in 12ms; a number is of milliseconds", 0},
	{"to", KEY_TO, "TIME", 0, "end there", 0},
	{"range", KEY_RANGE, "WHAT", 0,
	 "an NVTX range or else a kernel of that name, or of which it is part; "
	 "NAME:N is the N-th of them; whatif: what changes in that NVTX range",
	 0},
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "roofs that 'rooflinectl ceilings' measured; without it those stored for this GPU, else its "
	 "datasheet's",
	 0},
	{0},
};

/* "timeline, gaps, kernels" */
static const char *chart_list(void)
{
	static char list[256];

	list[0] = '\0';
	for (int i = 0; i < CHART_COUNT; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", charts[i].name);
	}
	return list;
}

static int find_chart(const char *name)
{
	for (int i = 0; i < CHART_COUNT; i++)
		if (!strcmp(charts[i].name, name))
			return i;
	return -1;
}

static enum gnuplot_format parse_format(const char *name, struct argp_state *state)
{
	for (int i = 0; i < GNUPLOT_FORMAT_COUNT; i++)
		if (!strcmp(name, gnuplot_format_name((enum gnuplot_format)i)))
			return (enum gnuplot_format)i;
	usage_fail(state, "--format: '%s' is none of svg, png, pdf, term", name);
}

/* The chart that is drawn with strategies only. */
static bool needs_strategies(const struct chart *chart)
{
	return chart->write == chart_whatif;
}

/* The chart that is no recording's. */
static bool needs_results(const struct chart *chart)
{
	return chart->write == chart_tune;
}

/* Charts that most recordings cannot have, as they are of one GPU: nobody misses them. */
static bool needs_job(const struct chart *chart)
{
	return chart->write == chart_job || chart->write == chart_message_sizes;
}

/* The charts that show a time out of the whole recording, with what runs around it; the others are of what ran in it alone. */
static bool is_over_time(const struct chart *chart)
{
	return chart->write == chart_timeline || chart->write == chart_job ||
	       needs_strategies(chart);
}

/* Whether it was named, or all are drawn and it can be.  A time is asked of the timeline where nothing is named. */
static bool is_asked(const struct options *options, int chart)
{
	if (!options->chosen_count && (options->range || options->has_window))
		return charts[chart].write == chart_timeline;
	return options->chosen_count
		       ? options->is_chosen[chart]
		       : !needs_strategies(&charts[chart]) && !needs_results(&charts[chart]);
}

/* One argument is a recording, those that name a chart are not; write ./gaps for a folder `gaps`. */
static void parse_argument(struct options *options, char *argument, struct argp_state *state)
{
	int chart = find_chart(argument);

	if (chart >= 0) {
		options->chosen_count += !options->is_chosen[chart];
		options->is_chosen[chart] = true;
	} else if (!options->recording && (strchr(argument, '/') || recording_is_there(argument) ||
					   tune_results_are_there(argument))) {
		options->recording = argument;
	} else {
		usage_fail(state, "'%s' is neither a recording nor a chart (%s)%s", argument,
			   chart_list(),
			   technique_options_remedy(state, options->recording, argument).text);
	}
}

static void check_window(const struct options *options, struct argp_state *state)
{
	if (options->chart.to_ns >= 0 && options->chart.to_ns <= options->chart.from_ns)
		usage_fail(state, "--to must be more than --from");
	if (options->range && options->has_window)
		usage_fail(state, "--range and --from or --to both say what to show; give one");
}

static void check_strategies(const struct options *options, struct argp_state *state)
{
	int whatif = find_chart("whatif");

	if (options->is_chosen[whatif] && selection_has_holes(&options->selection))
		usage_fail(
			state,
			"the chart whatif is about all that ran, not about --kernels or --stream");
	if (options->is_chosen[whatif] && options->has_window)
		usage_fail(state,
			   "the chart whatif chooses iterations, not a time: --from and --to "
			   "are for the others; an NVTX range is chosen by --range");
	if (options->is_chosen[whatif])
		technique_options_require(&options->chosen, state);
	else if (options->chosen.count)
		usage_fail(state, "--%s is for the chart whatif: name it, too",
			   techniques[options->chosen.items[0]]->option);
}

static bool is_of_results(const struct options *options)
{
	return options->is_chosen[find_chart("tune")];
}

static void check_results(const struct options *options, struct argp_state *state)
{
	if (!is_of_results(options))
		return;
	if (options->chosen_count > 1)
		usage_fail(state, "the chart tune is of a folder that tune wrote, all others of a "
				  "recording: draw it alone");
	if (options->range || options->has_window || selection_is_any(&options->selection))
		usage_fail(state, "the chart tune is of no recording, so it has no part: leave out "
				  "what chooses one");
	if (!options->recording)
		usage_fail(state, "the chart tune needs the folder that tune wrote: rooflinectl "
				  "plot tune DIR");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &options->chosen;
		state->child_inputs[1] = &options->selection;
		return 0;
	case 'o':
		options->pictures.asked_folder = argument;
		return 0;
	case KEY_FORMAT:
		options->pictures.format = parse_format(argument, state);
		return 0;
	case KEY_FROM:
		options->has_window = true;
		options->chart.from_ns = selection_parse_time("from", argument, state);
		return 0;
	case KEY_TO:
		options->has_window = true;
		options->chart.to_ns = selection_parse_time("to", argument, state);
		return 0;
	case KEY_RANGE:
		if (!*argument)
			usage_fail(state, "--range: the name is missing");
		options->range = selection_parse_range(options->range, argument, state);
		return 0;
	case KEY_CEILINGS:
		options->ceilings_path = argument;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(options, argument, state);
		return 0;
	case ARGP_KEY_END:
		check_window(options, state);
		check_strategies(options, state);
		check_results(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The list of charts in --help comes from the table. */
static char *help_filter(int key, const char *text, void *input)
{
	struct memory_file file;
	FILE *out;
	char *help;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = memory_file_open(&file);
	if (!out)
		return (char *)text;
	fputs("Charts, all of them but whatif and tune by default:\n", out);
	for (int i = 0; i < CHART_COUNT; i++)
		fprintf(out, "  %-15s %s\n", charts[i].name, charts[i].summary);
	fputs(text, out);
	help = memory_file_close(&file);
	return help ? help : (char *)text;
}

static const struct argp_child children[] = {
	{&technique_options_argp, 0,
	 "The chart whatif, in the order in which they are applied:", 1},
	{&selection_choice_argp, 0, NULL, 0},
	{0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[DIR] [CHART...]",
	.doc = "Draws a recording; by default the newest one under the current folder.  With --range, --from "
	       "or --to and no chart named, the timeline only.\v"
	       "Writes roofline-CHART.svg and so on and prints their paths.  A chart of which the recording "
	       "holds nothing is not drawn: stderr tells what is missing.  Needs gnuplot.",
	.help_filter = help_filter,
};

/* A name that the recording does not have is a wrong argument. */
static int wrong_argument(int rc)
{
	return rc == -ENOENT ? -EDOM : rc;
}

static int find_range(struct options *options, const struct report *report, struct err *err)
{
	options->chart.occurrence = &options->occurrence;
	return wrong_argument(
		occurrence_find(&options->occurrence, report->profile, options->range, err));
}

static int find_ranges(struct chosen_techniques *chosen, const struct profile *profile,
		       struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < TECHNIQUE_COUNT; i++)
		rc = source_find_range(&chosen->ranges[i], profile, err);
	return wrong_argument(rc);
}

/* What whatif shows. */
static int predict(struct options *options, const struct report *report, struct err *err)
{
	const struct occurrence *within = options->chart.occurrence;
	struct progress progress;
	int rc;

	if (within && !within->is_range)
		return err_set(err, -EINVAL, "--range: '%s' is %s; whatif takes NVTX ranges",
			       options->range, within->is_iteration ? "an iteration" : "a kernel");
	options->chart.scenario = &options->scenario;
	options->chart.sides = &options->sides;
	progress_begin(&progress, "predicting what the techniques would gain");
	rc = scenario_show(&options->scenario, &options->sides, report, &options->chosen, within,
			   err);
	progress_end(&progress);
	return rc;
}

/* ---- drawing ---- */

/* A part that charts over time show among all else, and of which the others are alone. */
static bool has_part(const struct options *options)
{
	return options->range || options->has_window;
}

static struct selection part_of(const struct options *options)
{
	struct selection part = options->selection;

	part.range = options->range;
	part.from = (struct selection_moment){.is_given = options->chart.from_ns > 0,
					      .ns = options->chart.from_ns};
	part.to = (struct selection_moment){.is_given = options->chart.to_ns >= 0,
					    .ns = options->chart.to_ns};
	return part;
}

static int open_pictures(struct options *options, struct err *err)
{
	struct pictures *pictures = &options->pictures;
	struct selection part = part_of(options);

	pictures->part_name[0] = '-';
	if (!selection_file_name(pictures->part_name + 1, SELECTION_FILE_NAME_SIZE, &part))
		return err_set(err, -ENOMEM, "out of memory");
	if (!pictures->part_name[1])
		pictures->part_name[0] = '\0';
	return pictures_open(pictures, options->recording, err);
}

/* What is missing, of a chart that is not drawn.  That is a failure only where it was asked for by name. */
static void tell_missing(struct options *options, const struct chart *chart,
			 const struct report *report, const struct err *why)
{
	const char *part = report ? report->part.head : NULL;

	fprintf(stderr, "rooflinectl plot: %s: not drawn: %s%s%s%s\n", chart->name, why->text,
		part ? " (of a part: " : "", part ? part : "", part ? ")" : "");
	options->missing_count += options->chosen_count > 0;
}

static int draw_chart(struct options *options, const struct chart *chart,
		      const struct report *report, struct err *err)
{
	struct err why = {""};
	int rc = pictures_draw(&options->pictures, chart->name, chart->write, report,
			       &options->chart, &why);

	if (rc < 0 && rc != -ENODATA)
		return err_set(err, rc, "%s", why.text);
	options->drawn_count += rc == 0;
	if (rc == -ENODATA && (options->chosen_count || !needs_job(chart)))
		tell_missing(options, chart, report, &why);
	return 0;
}

/* Where a part is asked for, charts over time are drawn of all that ran, and then the others of that part. */
static bool is_in_turn(const struct options *options, int chart, bool is_time)
{
	return is_asked(options, chart) &&
	       (!has_part(options) || is_over_time(&charts[chart]) == is_time);
}

static bool has_turn(const struct options *options, bool is_time)
{
	for (int i = 0; i < CHART_COUNT; i++)
		if (is_in_turn(options, i, is_time))
			return true;
	return false;
}

static int draw_turn(struct options *options, bool is_time, const struct report *report,
		     struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < CHART_COUNT; i++)
		if (is_in_turn(options, i, is_time))
			rc = draw_chart(options, &charts[i], report, err);
	return rc;
}

static int plot_turn(struct options *options, bool is_time, struct err *err)
{
	struct selection selection = is_time ? options->selection : part_of(options);
	static const struct report_needs everything = {0};
	struct report *report = NULL;
	int rc = source_build(&report, options->recording, &selection, &everything,
			      options->ceilings_path, "rooflinectl plot", err);

	if (rc == 0 && is_time && options->range)
		rc = find_range(options, report, err);
	if (rc == 0)
		rc = find_ranges(&options->chosen, report->profile, err);
	if (rc == 0 && is_time && options->chosen.count)
		rc = predict(options, report, err);
	if (rc == 0)
		rc = open_pictures(options, err);
	if (rc == 0)
		rc = draw_turn(options, is_time, report, err);
	side_by_side_free(&options->sides);
	options->sides = (struct side_by_side){0};
	options->chart.occurrence = NULL; /* its name is the profile's */
	report_free(report);
	return rc;
}

static int plot(struct options *options, struct err *err)
{
	bool has_time = has_turn(options, true),
	     has_others = has_part(options) && has_turn(options, false);
	int rc = 0;

	if (has_time && has_others && !strcmp(options->recording, "-"))
		return err_set(
			err, -EDOM,
			"-: a part is drawn by charts over time and by others in two turns, and "
			"stdin is read once: draw them apart");
	if (has_time)
		rc = plot_turn(options, true, err);
	if (rc == 0 && has_others)
		rc = plot_turn(options, false, err);
	return rc;
}

static int plot_results(struct options *options, struct err *err)
{
	struct tune_results results;
	int rc = tune_results_read(&results, options->recording, err);

	if (rc == 0 && !results.count)
		rc = err_set(err, -ENOENT, "%s holds no results of rooflinectl tune",
			     options->recording);
	options->chart.results = &results;
	if (rc == 0)
		rc = pictures_open(&options->pictures, options->recording, err);
	if (rc == 0)
		rc = draw_turn(options, true, NULL, err);
	options->chart.results = NULL;
	tune_results_free(&results);
	return rc;
}

int cmd_plot(int argc, char **argv)
{
	struct options options = {.chart = {.to_ns = -1}};
	char newest[PATH_MAX];
	struct err err = {""};
	int rc;

	technique_options_open();
	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &options))
		return EXIT_USAGE;
	if (!options.recording) {
		if (path_newest_recording(newest, sizeof(newest), ".") < 0) {
			fprintf(stderr,
				"%s: no recording in the current folder; make one with:"
				" rooflinectl record -- PROGRAM\n",
				argv[0]);
			return EXIT_FAILED;
		}
		options.recording = newest;
	}
	options.chart.text_columns = pictures_columns(&options.pictures);
	rc = (is_of_results(&options) ? plot_results : plot)(&options, &err);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	if (rc == 0 && (options.missing_count || !options.drawn_count))
		return EXIT_FAILED;
	return source_exit_code(rc);
}
