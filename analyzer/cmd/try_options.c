/* try_options.c - try's command line. */
#include "cmd/try_options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/usage.h"
#include "trial/trial.h"

#define USUAL_REPEATS 3
#define USUAL_WARM_UPS 1

enum {
	KEY_REPEATS = 'r',
	KEY_WARM_UP = 'w',
	KEY_COMPARE = 'c',
	KEY_FORMAT = 'f',
	KEY_STRATEGY = 256, /* and those behind it: of enum try_strategy */
	KEY_TIMEOUT = KEY_STRATEGY + TRY_STRATEGY_COUNT,
	KEY_INPUT,
	KEY_IGNORE,
	KEY_IGNORE_OUTPUT,
	KEY_CHECK_MEMORY,
	KEY_IGNORE_FAILURE,
	KEY_RECORD,
	KEY_TRACE,
	KEY_CEILINGS,
	KEY_GATE,
	KEY_KEEP,
	KEY_SHOW,
	KEY_QUIET,
};

static const struct argp_option option_table[] = {
#define STRATEGY_OPTION(constant, name, meaning) \
	{name, KEY_STRATEGY + constant, NULL, 0, meaning, 1},
	TRY_STRATEGIES(STRATEGY_OPTION)
#undef STRATEGY_OPTION
		{"repeats", KEY_REPEATS, "N", 0,
		 "measure N runs without the strategy and N with it (3)", 2},
	{"warmup", KEY_WARM_UP, "N", 0,
	 "before that, N runs without the strategy that are not measured (1)", 2},
	{"timeout", KEY_TIMEOUT, "S", 0,
	 "end a run after S seconds (without this option: no limit without the strategy, and with it three times the longest run without plus a minute)",
	 2},
	{"input", KEY_INPUT, "FILE", 0, "what each run gets on stdin (nothing)", 2},
	{"compare", KEY_COMPARE, "FILE", 0,
	 "a file that the program writes, to be compared as well", 3},
	{"check-memory", KEY_CHECK_MEMORY, NULL, 0,
	 "compare what memory of the GPU contained as well, in three more runs that are not timed",
	 3},
	{"ignore-output", KEY_IGNORE_OUTPUT, NULL, 0, "do not compare what it prints on stdout", 3},
	{"ignore", KEY_IGNORE, "REGEX", 0,
	 "what matches this extended regular expression is not compared, such as '[0-9.]+ ms'", 3},
	{"ignore-failure", KEY_IGNORE_FAILURE, NULL, 0,
	 "try also a program that ends with another exit code than 0", 3},
	{"record", KEY_RECORD, "DIR", 0,
	 "also record a bare run and one with the strategy, into DIR/bare and DIR/tried, and compare with what was predicted",
	 4},
	{"trace", KEY_TRACE, "DIR", 0, "predict from this recording of the program", 4},
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "for predictions: roofs that 'rooflinectl ceilings' measured; without it those stored for the GPU, else its datasheet's",
	 4},
	{"gate", KEY_GATE, "SPEEDUP", OPTION_ARG_OPTIONAL,
	 "exit with code 3 unless results are equal and the speedup is at least SPEEDUP (1)", 5},
	{"keep", KEY_KEEP, NULL, 0, "also print the command line that has the strategy", 5},
	OPTION_FORMAT("for people (the default), or for programs"),
	{"show-output", KEY_SHOW, NULL, 0, "print on stderr what the program prints", 6},
	{"quiet", KEY_QUIET, NULL, 0, "print no line for each run", 6},
	{0},
};

static const try_writer writers[] = {
#define WRITER(name, summary) try_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

const char *try_strategy_name(enum try_strategy strategy)
{
#define STRATEGY_NAME(constant, name, meaning) name,
	static const char *const names[] = {TRY_STRATEGIES(STRATEGY_NAME)};
#undef STRATEGY_NAME

	return names[strategy];
}

/* ---- values ---- */

static void add_file(struct try_options *options, const char *path, struct argp_state *state)
{
	if (options->file_count == TRY_MOST_FILES)
		usage_fail(state, "--compare: there can be %d of them", TRY_MOST_FILES);
	options->files[options->file_count++] = path;
}

static void add_mask(struct try_options *options, const char *text, struct argp_state *state)
{
	char problem[256];
	int rc;

	if (options->mask_count == TRY_MOST_FILES)
		usage_fail(state, "--ignore: there can be %d of them", TRY_MOST_FILES);
	rc = regcomp(&options->masks[options->mask_count], text, REG_EXTENDED);
	if (rc) {
		regerror(rc, &options->masks[options->mask_count], problem, sizeof(problem));
		usage_fail(state, "--ignore '%s': %s", text, problem);
	}
	options->mask_count++;
}

static error_t parse_flag(struct try_options *options, int key)
{
	switch (key) {
	case KEY_IGNORE_OUTPUT:
		options->is_output_ignored = true;
		return 0;
	case KEY_CHECK_MEMORY:
		options->is_memory_checked = true;
		return 0;
	case KEY_IGNORE_FAILURE:
		options->is_failure_ignored = true;
		return 0;
	case KEY_KEEP:
		options->is_kept = true;
		return 0;
	case KEY_SHOW:
		options->is_shown = true;
		return 0;
	case KEY_QUIET:
		options->is_quiet = true;
		return 0;
	default:
		if (key < KEY_STRATEGY || key >= KEY_STRATEGY + TRY_STRATEGY_COUNT)
			return ARGP_ERR_UNKNOWN;
		options->is_chosen[key - KEY_STRATEGY] = true;
		return 0;
	}
}

static error_t parse_value(struct try_options *options, int key, const char *argument,
			   struct argp_state *state)
{
	switch (key) {
	case KEY_REPEATS:
		options->repeats = usage_count(state, "repeats", argument, 1, TRIAL_MOST_REPEATS);
		return 0;
	case KEY_WARM_UP:
		options->warm_ups = usage_count(state, "warmup", argument, 0, TRIAL_MOST_REPEATS);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_s = usage_number(state, "timeout", argument, 1e-3, 1e9);
		return 0;
	case KEY_GATE:
		options->is_gated = true;
		options->least_speedup =
			argument ? usage_number(state, "gate", argument, 0, 1e9) : 1;
		return 0;
	case KEY_COMPARE:
		add_file(options, argument, state);
		return 0;
	case KEY_IGNORE:
		add_mask(options, argument, state);
		return 0;
	case KEY_FORMAT:
		options->write = writers[usage_format(state, argument)];
		return 0;
	default:
		return parse_flag(options, key);
	}
}

/* ---- what belongs together ---- */

static void join_strategies(struct try_options *options, struct argp_state *state)
{
	for (int i = 0; i < TRY_STRATEGY_COUNT; i++) {
		size_t used = strlen(options->strategies);

		if (options->is_chosen[i])
			snprintf(options->strategies + used, sizeof(options->strategies) - used,
				 "%s%s", used ? "," : "", try_strategy_name((enum try_strategy)i));
	}
#define LIST_STRATEGY(constant, name, meaning) " --" name
	if (!*options->strategies)
		usage_fail(state, "which strategy? there are" TRY_STRATEGIES(LIST_STRATEGY));
#undef LIST_STRATEGY
}

static void finish(struct try_options *options, struct argp_state *state)
{
	join_strategies(options, state);
	if (!options->command)
		usage_fail(state, "no program given: " TRY_WHO
				  " --STRATEGY [OPTION...] -- PROGRAM [ARG...]");
	if (options->record && options->trace)
		usage_fail(
			state,
			"--record makes a recording to predict from, --trace names one: give one");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct try_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case KEY_INPUT:
		options->input = argument;
		return 0;
	case KEY_RECORD:
		options->record = argument;
		return 0;
	case KEY_TRACE:
		options->trace = argument;
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
		return parse_value(options, key, argument, state);
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Run a program with and without a strategy in turn, and tell how much faster it gets, "
	       "whether its results are equal, and what the strategy reached.  The program is not "
	       "changed: a library that is preloaded makes its calls of CUDA in another way.",
};

bool try_options_parse(struct try_options *options, int argc, char **argv)
{
	*options = (struct try_options){.repeats = USUAL_REPEATS,
					.warm_ups = USUAL_WARM_UPS,
					.write = try_write_text};
	return usage_parse(&parser, argc, argv, ARGP_IN_ORDER, options) == 0;
}

void try_options_free(struct try_options *options)
{
	for (size_t i = 0; i < options->mask_count; i++)
		regfree(&options->masks[i]);
}
