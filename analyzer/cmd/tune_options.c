/* tune_options.c - tune's command line. */
#include "base/memory_file.h"
#include "cmd/tune_options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/tune_run.h"
#include "cmd/usage.h"

#define USUAL_TIMEOUT_S 300
#define USUAL_REPEATS 5	 /* the fewest with which one can be told from another */
#define FEW_POINTS 24	 /* all of them are tried unless another search is asked for */
#define USUAL_SHARE 0.15 /* of all points, where there are more */
#define LEAST_TRIALS 10

enum {
	KEY_PARAM = 'p',
	KEY_WHERE = 'w',
	KEY_OBJECTIVE = 'b',
	KEY_SEARCH = 's',
	KEY_TRIALS = 'n',
	KEY_OUTPUT = 'o',
	KEY_CEILINGS = 'c',
	KEY_FORMAT = 'f',
	KEY_MAXIMIZE = 256,
	KEY_SEED,
	KEY_SECONDS,
	KEY_REPEATS,
	KEY_TIMEOUT,
	KEY_TOLERANCE,
	KEY_DEFAULT,
	KEY_FROM,
	KEY_FRESH,
	KEY_EXPLAIN,
	KEY_QUIET,
	KEY_SHOW,
};

static const struct argp_option option_table[] = {
	{"param", KEY_PARAM, "NAME=LIST", 0,
	 "a parameter and its values, between commas: texts, and ranges of whole numbers such as "
	 "8..64, 8..64:8 (in steps of 8), 8..64:x2 (times 2)",
	 1},
	{"where", KEY_WHERE, "CONDITION", 0,
	 "try only points of which this is true, such as 'block*tile <= 4096 and block % tile == 0'",
	 1},
	{"default", KEY_DEFAULT, "NAME=VALUE,...", 0,
	 "the point that the program has today: tried first, and compared with the best", 1},
	{"objective", KEY_OBJECTIVE, "WHAT", 0,
	 "what to make small: wall (default), kernel:NAME, range:NAME, stdout:REGEX", 2},
	{"maximize", KEY_MAXIMIZE, NULL, 0, "stdout: more is better", 2},
	{"search", KEY_SEARCH, "HOW", 0,
	 "one of those below; exhaustive for up to 24 points, else model", 3},
	{"trials", KEY_TRIALS, "N", 0,
	 "try at most so many points (exhaustive: all; else 15% of them, at least 10)", 3},
	{"seconds", KEY_SECONDS, "S", 0, "begin no further trial when trials took so long", 3},
	{"seed", KEY_SEED, "N", 0, "of chance (1): the same one leads to the same choice", 3},
	{"tolerance", KEY_TOLERANCE, "PERCENT", 0,
	 "what a point has to be better by to be worth a trial of the search model (1)", 3},
	{"repeats", KEY_REPEATS, "N", 0, "interleaved repeats of the best two or three points (5)",
	 4},
	{"trial-timeout", KEY_TIMEOUT, "S", 0, "end a trial that takes longer (300)", 4},
	{"output", KEY_OUTPUT, "DIR", 0,
	 "folder of the results (tune.<time>.<pid>); what it has of the same command, program, "
	 "GPU and environment is not measured again",
	 5},
	{"fresh", KEY_FRESH, NULL, 0, "measure again what the folder has", 5},
	{"from", KEY_FROM, "DIR", 0,
	 "run nothing: take all measurements from the results in this folder", 5},
	{"explain", KEY_EXPLAIN, NULL, 0,
	 "record the best and the default with hardware counters, and tell what differs", 6},
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "explain: roofs that 'rooflinectl ceilings' measured; without it those stored for this "
	 "GPU, else its datasheet's",
	 6},
	{"format", KEY_FORMAT, "text|json", 0,
	 "the result for people (the default), or for programs", 7},
	{"quiet", KEY_QUIET, NULL, 0, "print no line for each trial", 7},
	{"show-output", KEY_SHOW, NULL, 0, "print on stderr what the program prints", 7},
	{0},
};

/* ---- values ---- */

static void add_condition(struct tune_options *options, const char *text, struct argp_state *state)
{
	if (options->condition_count == TUNE_MOST_CONDITIONS)
		usage_fail(state, "--where: there can be %d of them", TUNE_MOST_CONDITIONS);
	options->conditions[options->condition_count++] = text;
}

static void choose_search(struct tune_options *options, const char *name, struct argp_state *state)
{
	options->settings.search = tune_search_find(name);
	if (!options->settings.search)
		usage_fail(state, "--search '%s' is none of those that --help lists", name);
}

static void require(int rc, const struct err *err, struct argp_state *state)
{
	if (rc < 0)
		usage_fail(state, "%s", err->text);
}

static error_t parse_flag(struct tune_options *options, int key)
{
	switch (key) {
	case KEY_MAXIMIZE:
		options->objective.is_maximized = true;
		return 0;
	case KEY_FRESH:
		options->is_fresh = true;
		return 0;
	case KEY_EXPLAIN:
		options->is_explained = true;
		return 0;
	case KEY_QUIET:
		options->is_quiet = true;
		return 0;
	case KEY_SHOW:
		options->is_shown = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_figure(struct tune_options *options, int key, const char *argument,
			    struct argp_state *state)
{
	struct tune_settings *settings = &options->settings;

	switch (key) {
	case KEY_FORMAT:
		options->is_json = usage_is_json(state, argument);
		return 0;
	case KEY_TRIALS:
		settings->most_trials = usage_count(state, "trials", argument, 1, 1e6);
		return 0;
	case KEY_SECONDS:
		settings->most_seconds = usage_number(state, "seconds", argument, 1e-3, 1e9);
		return 0;
	case KEY_SEED:
		settings->seed = (uint32_t)usage_count(state, "seed", argument, 0, 1e9);
		return 0;
	case KEY_TOLERANCE:
		settings->tolerance = usage_number(state, "tolerance", argument, 0, 100) / 100;
		return 0;
	case KEY_REPEATS:
		settings->repeats =
			(unsigned int)usage_count(state, "repeats", argument, 0, TUNE_MOST_REPEATS);
		return 0;
	case KEY_TIMEOUT:
		options->trial_timeout_s =
			usage_number(state, "trial-timeout", argument, 1e-3, 1e9);
		return 0;
	default:
		return parse_flag(options, key);
	}
}

/* ---- what belongs together ---- */

static void check_command(const struct tune_options *options, struct argp_state *state)
{
	const char *lacking, *unknown;
	int length;

	if (!options->command)
		usage_fail(state,
			   "no program given: rooflinectl tune --param NAME=LIST [OPTION...] "
			   "-- PROGRAM [ARG...]");
	lacking = tune_command_lacks(options->command, &options->space);
	if (lacking)
		usage_fail(state,
			   "the command does not use --param %s: write {%s} where its value goes",
			   lacking, lacking);
	unknown = tune_command_unknown(options->command, &options->space, &length);
	if (unknown)
		usage_fail(
			state,
			"the command has {%.*s}, and there is no --param %.*s: name one, or write "
			"{ %.*s } where the program is to get it",
			length, unknown, length, unknown, length, unknown);
}

static void check_objective(const struct tune_options *options, struct argp_state *state)
{
	if (options->objective.is_maximized && options->objective.kind != TUNE_OBJECTIVE_STDOUT)
		usage_fail(state,
			   "--maximize is for --objective stdout:REGEX: of a time less is better");
	if (options->is_explained && options->source)
		usage_fail(state, "--explain runs the program, --from runs nothing; give one");
	if (options->is_explained && options->objective.kind != TUNE_OBJECTIVE_KERNEL)
		usage_fail(state, "--explain is for --objective kernel:NAME");
}

static void set_budget(struct tune_options *options)
{
	struct tune_settings *settings = &options->settings;
	size_t points = options->space.point_count;
	size_t usual = (size_t)ceil(USUAL_SHARE * (double)points);

	if (!settings->search)
		settings->search = tune_search_find(points <= FEW_POINTS ? "exhaustive" : "model");
	if (!settings->most_trials)
		settings->most_trials = settings->search->next == tune_search_exhaustive ? points
					: usual < LEAST_TRIALS ? LEAST_TRIALS
							       : usual;
	if (settings->most_trials > points)
		settings->most_trials = points;
}

static void finish(struct tune_options *options, struct argp_state *state)
{
	struct tune_space *space = &options->space;
	struct err err = {""};

	require(tune_space_close(space, options->conditions, options->condition_count, &err), &err,
		state);
	check_command(options, state);
	check_objective(options, state);
	if (options->first_text)
		require(tune_space_parse_point(space, options->first_text,
					       &options->settings.first_point, &err),
			&err, state);
	set_budget(options);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct tune_options *options = state->input;
	bool is_maximized = options->objective.is_maximized;
	struct err err = {""};

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case KEY_PARAM:
		require(tune_space_add(&options->space, argument, &err), &err, state);
		return 0;
	case KEY_WHERE:
		add_condition(options, argument, state);
		return 0;
	case KEY_DEFAULT:
		options->first_text = argument;
		return 0;
	case KEY_OBJECTIVE:
		tune_objective_free(&options->objective);
		require(tune_objective_parse(&options->objective, argument, &err), &err, state);
		options->objective.is_maximized = is_maximized;
		return 0;
	case KEY_SEARCH:
		choose_search(options, argument, state);
		return 0;
	case KEY_OUTPUT:
		options->output = argument;
		return 0;
	case KEY_FROM:
		options->source = argument;
		return 0;
	case KEY_CEILINGS:
		options->ceilings_path = argument;
		return 0;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		finish(options, state);
		return 0;
	default:
		return parse_figure(options, key, argument, state);
	}
}

/* The list of searches in --help comes from the table. */
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
	fputs("Objectives:\n", out);
#define PRINT_OBJECTIVE(name, prefix, argument, meaning) \
	fprintf(out, "  %-14s %s\n", prefix argument, meaning);
	TUNE_OBJECTIVES(PRINT_OBJECTIVE)
#undef PRINT_OBJECTIVE
	fputs("\nSearches:\n", out);
	for (const struct tune_search_kind *kind = tune_searches; kind->name; kind++)
		fprintf(out, "  %-14s %s\n", kind->name, kind->summary);
	fprintf(out, "\n%s", text);
	help = memory_file_close(&file);
	return help ? help : (char *)text;
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Find the parameters with which a program is fastest.  Each trial runs the program with "
	       "the values of one point in place of {NAME}.\v"
	       "A trial that fails is told and skipped.  Programs get no input.",
	.help_filter = help_filter,
};

bool tune_options_parse(struct tune_options *options, int argc, char **argv)
{
	struct err err = {""};

	*options = (struct tune_options){
		.trial_timeout_s = USUAL_TIMEOUT_S,
		.settings = {.seed = 1,
			     .repeats = USUAL_REPEATS,
			     .tolerance = 0.01,
			     .first_point = TUNE_NO_POINT},
	};
	(void)tune_objective_parse(&options->objective, "wall", &err);
	return usage_parse(&parser, argc, argv, ARGP_IN_ORDER, options) == 0;
}

void tune_options_free(struct tune_options *options)
{
	tune_objective_free(&options->objective);
	tune_space_free(&options->space);
}
