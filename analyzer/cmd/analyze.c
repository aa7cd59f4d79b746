/*
 * analyze.c - rooflinectl analyze: records a program, looks at it, runs it again with what is missing, and gives the
 * verdict.
 *
 * CUPTI cannot record times, counters, samples and graphs as a whole in one run.  What the advice on the runs so far
 * would have measured next (advice/next/) is measured, each once; reports join the runs (roofline/runs.h).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice/advice.h"
#include "advice/next/next.h"
#include "base/paths.h"
#include "base/temporary.h"
#include "cmd/commands.h"
#include "cmd/record_options.h"
#include "cmd/record_output.h"
#include "cmd/record_run.h"
#include "cmd/record_signals.h"
#include "cmd/record_untraced.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "output/outputs.h"

#define WHO "rooflinectl analyze"

struct analyze_arguments {
	struct source source;
	char **program;
	bool is_once;
};

enum { KEY_ONCE = 1024 };

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "folder of the recording (roofline.<time>.<pid>)", 0},
	{"once", KEY_ONCE, NULL, 0, "run the program once only, whatever is missing then", 0},
	{"ceilings", 'c', "FILE", 0,
	 "roofs that 'rooflinectl ceilings' measured; without it those stored for this GPU, else its "
	 "datasheet's",
	 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct analyze_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		record_set_variable(ENV_OUTPUT, argument);
		return 0;
	case 'c':
		arguments->source.ceilings_path = argument;
		return 0;
	case KEY_ONCE:
		arguments->is_once = true;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "no program given: " WHO " [OPTION...] -- PROGRAM [ARG...]");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Record a program's work on the GPU, run it again with what is missing (counters, samples, "
	       "graphs as a whole), and tell what limits it, what to change, and what to do next.  "
	       "The exit code is the program's own.",
};

/* ---- runs ---- */

/* EXTRA(step of advice/next/next.h, run, variable, value, what the run has) */
#define EXTRA_RUNS(EXTRA)                                                               \
	EXTRA(graphs, RUN_GRAPHS, ENV_GRAPHS, "graph", "graphs as a whole")             \
	EXTRA(counters, RUN_COUNTERS, ENV_COUNTERS, NEXT_COUNTERS, "hardware counters") \
	EXTRA(samples, RUN_SAMPLES, ENV_SAMPLE, "1us", "samples of the whole GPU")

#define EXTRA_ROW(step, run, variable, value, what) {#step, run, variable, value, what},
static const struct extra_run {
	const char *step;
	enum roofline_run run;
	enum roofline_variable variable;
	const char *value, *what;
} extra_runs[] = {EXTRA_RUNS(EXTRA_ROW)};
#undef EXTRA_ROW

#define EXTRA_COUNT (sizeof(extra_runs) / sizeof(extra_runs[0]))

/* Times and nodes, whatever the environment asks for: the others are runs of their own. */
static void set_trace(void)
{
	record_unset_variable(ENV_COUNTERS);
	record_unset_variable(ENV_REPLAY);
	record_unset_variable(ENV_SAMPLE);
	record_set_variable(ENV_GRAPHS, "node");
	record_set_run(RUN_TRACE);
}

struct analysis {
	struct record_run run;
	struct source source;
	struct report *report;
	bool is_done[EXTRA_COUNT]; /* which of extra_runs */
	off_t input;		   /* where stdin began, or -1 where it cannot be rewound */
};

static int run_once(struct record_run *run)
{
	int rc;

	signals_hold();
	rc = record_run(run);
	signals_restore();
	return rc;
}

/* Once, where a fault ended the program in something that recording may leave out.  What the first run recorded goes, as it would be
 * taken for another process of the same run. */
static int run_without(struct analysis *analysis)
{
	const struct record_suspect *suspect = analysis->run.fault.suspect;

	fprintf(stderr, WHO ": the program runs again without what was recorded there (%s=%s)\n",
		record_variable_name(suspect->variable), suspect->without);
	temporary_remove(analysis->run.fault.folder);
	record_set_variable(suspect->variable, suspect->without);
	if (analysis->input >= 0)
		lseek(STDIN_FILENO, analysis->input, SEEK_SET);
	return run_once(&analysis->run);
}

/* ---- looking ---- */

static void forget(struct analysis *analysis)
{
	if (analysis->report)
		advice_free(analysis->report->advice);
	report_free(analysis->report);
	analysis->report = NULL;
}

/* Reads all runs so far.  Returns -1 after one line. */
static int look(struct analysis *analysis)
{
	struct err err = {""};

	forget(analysis);
	if (source_load(&analysis->report, &analysis->source, WHO, &err) == 0 &&
	    source_find_advice(&analysis->report->advice, analysis->report, NULL, &err) == 0)
		return 0;
	fprintf(stderr, WHO ": %s\n", err.text);
	return -1;
}

/* The first step that another run takes; why: its reason.  NULL: none. */
static const struct extra_run *find_missing(const struct analysis *analysis, const char **why)
{
	const struct advice *advice = analysis->report ? analysis->report->advice : NULL;

	for (size_t i = 0; advice && i < advice->next_count; i++)
		for (size_t j = 0; j < EXTRA_COUNT; j++)
			if (!analysis->is_done[j] &&
			    !strcmp(advice->next[i].id, extra_runs[j].step)) {
				*why = advice->next[i].why;
				return &extra_runs[j];
			}
	return NULL;
}

/* ---- again ---- */

/* Returns -1 where this run did not end well: those after it would not, either. */
static int run_extra(struct analysis *analysis, const struct extra_run *extra, const char *why)
{
	struct record_run run = analysis->run;
	char end[64];

	fprintf(stderr, WHO ": the program runs again, with %s: %s\n", extra->what, why);
	set_trace();
	record_set_run(extra->run);
	record_set_variable(extra->variable, extra->value);
	if (analysis->input >= 0)
		lseek(STDIN_FILENO, analysis->input, SEEK_SET);
	analysis->is_done[extra - extra_runs] = true;
	if (run_once(&run) < 0)
		return -1;
	if (!run.status && !signals_are_end_asked())
		return 0;
	record_describe_end(run.status, end, sizeof(end));
	fprintf(stderr, WHO ": that run ended with %s, so there is no further one\n", end);
	return -1;
}

/* What it added to the first run is known then: all else is predicted from that one. */
static bool run_untraced(struct analysis *analysis)
{
	bool is_well;

	signals_hold();
	is_well = record_untraced(&analysis->run, 1, analysis->input);
	signals_restore();
	return is_well;
}

static int measure(struct analysis *analysis, bool is_once)
{
	bool is_again = !is_once && record_is_worth_repeating(&analysis->run);
	const struct extra_run *extra;
	const char *why;
	int rc;

	is_again = is_again && run_untraced(analysis);
	rc = look(analysis);
	if (!is_again)
		return rc;
	while (rc == 0 && (extra = find_missing(analysis, &why))) {
		bool has_ended_well = run_extra(analysis, extra, why) == 0;

		rc = look(analysis);
		if (!has_ended_well)
			break;
	}
	return rc;
}

/* ---- the verdict ---- */

static int print_verdict(const struct analysis *analysis)
{
	static const struct section *const chosen[] = {&section_verdict, NULL};
	const struct output_options options = {.sections = chosen,
					       .is_verdict_only = true,
					       .color = is_color_wanted(stdout),
					       .width = terminal_width(stdout)};
	struct err err = {""};

	if (output_text(analysis->report, stdout, &options, &err) == 0)
		return 0;
	fprintf(stderr, WHO ": %s\n", err.text);
	return -1;
}

static bool has_recorded(const struct record_run *run)
{
	char found[PATH_MAX];

	if (!run->is_started || path_newest_recording(found, sizeof(found), run->folder) == 0)
		return run->is_started;
	fputs(WHO
	      ": nothing was recorded: the program did not use CUDA, or it could not be recorded, "
	      "for the reason above\n",
	      stderr);
	return false;
}

/* A path that begins where we are is shorter without that. */
static const char *short_path(const char *folder)
{
	char here[PATH_MAX];
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;

	return length && !strncmp(folder, here, length) && folder[length] == '/'
		       ? folder + length + 1
		       : folder;
}

static int analyze(struct analysis *analysis, bool is_once)
{
	int rc = 0;

	set_trace();
	if (run_once(&analysis->run) < 0 ||
	    (analysis->run.fault.suspect && !is_once && run_without(analysis) < 0))
		return EXIT_FAILED;
	if (has_recorded(&analysis->run)) {
		rc = measure(analysis, is_once);
		if (rc == 0)
			rc = print_verdict(analysis);
		forget(analysis);
	}
	return rc < 0 && !analysis->run.status ? EXIT_FAILED
					       : record_end_as_program(analysis->run.status);
}

int cmd_analyze(int argc, char **argv)
{
	struct analyze_arguments arguments = {0};
	struct analysis analysis = {.run = {.who = WHO, .is_started = true, .next = "second run"},
				    .input = lseek(STDIN_FILENO, 0, SEEK_CUR)};
	struct record_output output;
	int rc;

	record_output_note();
	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &arguments) || !arguments.program)
		return EXIT_USAGE;
	rc = record_output_choose(&output, WHO);
	if (rc)
		return rc;
	if (record_inject(WHO) < 0)
		return EXIT_FAILED;
	analysis.run.program = arguments.program;
	analysis.run.folder = output.folder;
	analysis.source = arguments.source;
	analysis.source.path = short_path(output.folder);
	return analyze(&analysis, arguments.is_once);
}
