/* record_options.c - record's command line, which becomes the environment that the collector reads. */
#define _GNU_SOURCE
#include "cmd/record_options.h"

#include <argp.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/usage.h"
#include "roofline/byte_size.h"
#include "roofline/duration.h"
#include "roofline/last.h"
#include "roofline/metrics.h"
#include "roofline/sampled.h"

#define VARIABLE_NAME(constant, name, fallback, meaning) [constant] = name,
static const char *const variable_names[] = {ROOFLINE_VARIABLES(VARIABLE_NAME)};

#define REPEATS_MOST 1000

enum {
	OPTION_GRAPHS = 256,
	OPTION_DELAY,
	OPTION_DURATION,
	OPTION_PROFILER,
	OPTION_SYNCS,
	OPTION_POWER,
	OPTION_MANAGED,
	OPTION_ARGS,
	OPTION_API,
	OPTION_COUNTERS,
	OPTION_REPLAY,
	OPTION_SHARE,
	OPTION_SAMPLE,
	OPTION_SAMPLE_METRICS,
	OPTION_SAMPLE_WINDOWS,
	OPTION_SAMPLE_RANGE,
	OPTION_MAX_SIZE,
	OPTION_NO_COMMAND_LINE,
	OPTION_YIELD,
	OPTION_LAST,
	OPTION_RING,
	OPTION_SLOWER,
	OPTION_LIVE,
	OPTION_REPEATS,
	OPTION_UNTRACED,
};

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "folder of the recording (roofline.<time>.<pid>)", 0},
	{"graphs", OPTION_GRAPHS, "node|graph|both", 0,
	 "record every node of a CUDA graph (default), or every launch as one and what the device "
	 "launches; both runs the program twice, and reports join the two",
	 0},
	{"repeats", OPTION_REPEATS, "N", 0,
	 "run the program N times, into DIR/1 to DIR/N: compare tells noise by them", 0},
	{"untraced", OPTION_UNTRACED, "N", OPTION_ARG_OPTIONAL,
	 "then run the program N times (1) without recording, and keep when it launched and waited: "
	 "verify and predictions know what recording added by them",
	 0},
	{"kernels", 'k', "REGEX", 0,
	 "record only kernels whose name matches this extended regular expression", 0},
	{"delay", OPTION_DELAY, "SECONDS", 0,
	 "begin recording so long after the program starts CUDA", 0},
	{"duration", OPTION_DURATION, "SECONDS", 0, "record for so long, from then on", 0},
	{"profiler-api", OPTION_PROFILER, NULL, 0,
	 "record only between cudaProfilerStart and cudaProfilerStop", 0},
	{"syncs", OPTION_SYNCS, NULL, 0,
	 "also record which stream or event each wait was for (expensive)", 0},
	{"args", OPTION_ARGS, NULL, 0,
	 "also record which memory each kernel is given: which kernels depend on which", 0},
	{"power", OPTION_POWER, NULL, 0,
	 "also read clocks, power, temperature and why clocks were lowered, ten times a second", 0},
	{"managed", OPTION_MANAGED, NULL, 0,
	 "also record page faults and migrations of managed memory", 0},
	{"counters", OPTION_COUNTERS, "SET,...", OPTION_ARG_OPTIONAL,
	 "also read hardware counters of some launches of every kernel: roofline (default), atomics, "
	 "shared, global, sm, stalls, or names of CUPTI metrics",
	 0},
	{"counters-share", OPTION_SHARE, "PERCENT", 0,
	 "how much of the program's time counting may take (10); 100: no limit", 0},
	{"replay", OPTION_REPLAY, NULL, 0,
	 "repeat every launch once for each pass of the counters: exact, slow, and not for kernels "
	 "that wait for other kernels",
	 0},
	{"sample", OPTION_SAMPLE, "INTERVAL", OPTION_ARG_OPTIONAL,
	 "also sample hardware counters of the whole GPU at this interval (1us): they show the work "
	 "that the GPU launches itself, which no trace does",
	 0},
	{"sample-metrics", OPTION_SAMPLE_METRICS, "SET,...", 0,
	 "what to sample: front, sm, dram, tensor, l2, nvlink (as many as can be decoded in time)",
	 0},
	{"sample-windows", OPTION_SAMPLE_WINDOWS, "LENGTH/PERIOD", 0,
	 "LENGTH in every PERIOD, such as 100ms/1s; continuous; or auto: continuous where decoding "
	 "keeps up, else windows (default)",
	 0},
	{"sample-range", OPTION_SAMPLE_RANGE, "REGEX", 0,
	 "sample only inside NVTX ranges whose name matches", 0},
	{"yield", OPTION_YIELD, NULL, 0,
	 "record nothing where the program or another profiler uses CUPTI itself", 0},
	{"api", OPTION_API, "chosen|all|none", 0,
	 "API calls to record: the chosen ones (default), all, or none: cheapest, but idle time then "
	 "has no causes",
	 0},
	{"max-size", OPTION_MAX_SIZE, "SIZE", 0,
	 "end the recording of a process when it is so large, such as 500M; the program goes on",
	 0},
	{"last", OPTION_LAST, "30s|200M", 0,
	 "keep only the newest, a time or a size, and make a recording of it at the end, on SIGUSR2, "
	 "and when rooflinectl ctl asks",
	 0},
	{"ring", OPTION_RING, "DIR", 0, "keep it in this folder, such as /dev/shm", 0},
	{"when-slower", OPTION_SLOWER, "RANGE=50ms", 0,
	 "with --last: make a recording also when an NVTX range of that name took longer", 0},
	{"live", OPTION_LIVE, NULL, 0,
	 "show on the terminal once a second what the program does now", 0},
	{"no-command-line", OPTION_NO_COMMAND_LINE, NULL, 0,
	 "record the program's name without its arguments, which may hold secrets", 0},
	{0},
};

static bool is_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && !*end && value >= 0 && value <= 1e9;
}

const char *record_variable_name(enum roofline_variable variable)
{
	return variable_names[variable];
}

const char *record_variable(enum roofline_variable variable)
{
	return getenv(variable_names[variable]);
}

void record_set_variable(enum roofline_variable variable, const char *value)
{
	setenv(variable_names[variable], value, 1);
}

void record_unset_variable(enum roofline_variable variable)
{
	unsetenv(variable_names[variable]);
}

void record_set_run(enum roofline_run run)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)run);
	record_set_variable(ENV_RUN, number);
}

static void set_number(struct argp_state *state, const char *option,
		       enum roofline_variable variable, const char *text)
{
	if (!is_number(text))
		usage_fail(state, "--%s takes seconds from 0 to 1e9, not '%s'", option, text);
	record_set_variable(variable, text);
}

static void set_regex(struct argp_state *state, const char *option, enum roofline_variable variable,
		      const char *text)
{
	char problem[256];
	regex_t regex;
	int rc = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (rc) {
		regerror(rc, &regex, problem, sizeof(problem));
		usage_fail(state, "--%s '%s': %s", option, text, problem);
	}
	regfree(&regex);
	record_set_variable(variable, text);
}

bool record_is_counter_set(const char *word)
{
	static const char *const sets[] = {
#define SET_NAME(name, meaning) #name,
		COUNTER_SETS(SET_NAME)
#undef SET_NAME
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (!strcmp(word, sets[i]))
			return true;
	return false;
}

/* Only CUPTI knows which counters the GPU has; what cannot be the name of one is refused here. */
static void set_counters(struct argp_state *state, const char *text)
{
	char *words = strdup(text), *rest = words, *word;

	if (!words || !*text)
		usage_fail(
			state,
			"--counters takes roofline, atomics, shared, global, sm, stalls or names "
			"of CUPTI metrics, separated by commas");
	while ((word = strsep(&rest, ",")))
		if (!record_is_counter_set(word) && !strstr(word, "__"))
			usage_fail(
				state,
				"--counters: '%s' is neither a set (roofline, atomics, shared, global, sm, stalls) nor "
				"the name of a CUPTI metric, such as dram__bytes_read.sum",
				word);
	free(words);
	record_set_variable(ENV_COUNTERS, text);
}

static void set_share(struct argp_state *state, const char *text)
{
	if (!is_number(text) || strtod(text, NULL) > 100)
		usage_fail(state, "--counters-share takes percent from 0 to 100, not '%s'", text);
	record_set_variable(ENV_COUNTERS_SHARE, text);
}

static void set_max_size(struct argp_state *state, const char *text)
{
	int64_t bytes = byte_size(text);

	if (bytes && bytes < SIZE_LIMIT_BYTES_MIN)
		usage_fail(
			state,
			"--max-size takes a size of at least %dK, such as 500M, or 0 for no limit, "
			"not '%s'",
			SIZE_LIMIT_BYTES_MIN / 1024, text);
	record_set_variable(ENV_MAX_SIZE, text);
}

/* ---- sampling ---- */

static void set_interval(struct argp_state *state, const char *text)
{
	int64_t ns = duration_ns(text, NULL);

	if (ns < SAMPLE_NS_MIN || ns > SAMPLE_NS_MAX)
		usage_fail(state, "--sample takes a time from %d ns to %d s, such as 1us, not '%s'",
			   SAMPLE_NS_MIN, SAMPLE_NS_MAX / 1000000000, text);
	record_set_variable(ENV_SAMPLE, text);
}

static bool is_sample_set(const char *word)
{
	static const char *const sets[] = {
#define SET_NAME(name, meaning) #name,
		SAMPLE_SETS(SET_NAME)
#undef SET_NAME
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (!strcmp(word, sets[i]))
			return true;
	return false;
}

static void set_sample_metrics(struct argp_state *state, const char *text)
{
	char *words = strdup(text), *rest = words, *word;

	if (!words)
		usage_fail(state, "out of memory");
	while ((word = strsep(&rest, ",")))
		if (!is_sample_set(word))
			usage_fail(state,
				   "--sample-metrics takes front, sm, dram, tensor, l2 and nvlink, "
				   "separated by commas, not '%s'",
				   word);
	free(words);
	record_set_variable(ENV_SAMPLE_METRICS, text);
}

static void set_windows(struct argp_state *state, const char *text)
{
	int64_t length_ns, period_ns;

	if (strcmp(text, "continuous") && strcmp(text, "auto") &&
	    duration_window(text, &length_ns, &period_ns) < 0)
		usage_fail(state,
			   "--sample-windows takes continuous, auto, or a length and a period not "
			   "shorter, such as 100ms/1s, not '%s'",
			   text);
	record_set_variable(ENV_SAMPLE_WINDOWS, text);
}

/* ---- a flight recorder ---- */

static void set_last(struct argp_state *state, const char *text)
{
	int64_t span_ns, bytes;

	if (last_parse(text, &span_ns, &bytes) < 0)
		usage_fail(state,
			   "--last takes a time of at least 1s, such as 30s, or a size of at least "
			   "1M, such as 200M, not '%s'",
			   text);
	record_set_variable(ENV_LAST, text);
}

static void set_slower(struct argp_state *state, const char *text)
{
	int64_t limit_ns;

	if (!slower_parse(text, &limit_ns))
		usage_fail(state,
			   "--when-slower takes the name of a range and a time, such as "
			   "step=50ms, not '%s'",
			   text);
	record_set_variable(ENV_WHEN_SLOWER, text);
}

/* What needs the whole of a recording cannot be had of its end. */
static void check_last(struct argp_state *state, const struct record_choices *choices)
{
	const char *graphs = record_variable(ENV_GRAPHS);

	if (!record_variable(ENV_LAST)) {
		if (choices->ring || record_variable(ENV_WHEN_SLOWER))
			usage_fail(state, "--ring and --when-slower are for --last");
		return;
	}
	if (record_variable(ENV_COUNTERS) || record_variable(ENV_ARGS) ||
	    record_variable(ENV_MAX_SIZE) || (graphs && !strcmp(graphs, "both")))
		usage_fail(state,
			   "--last does not go with --counters, --replay, --args, --max-size and "
			   "--graphs=both, which need the whole of a recording");
}

/* option: --repeats or --untraced. */
static unsigned parse_runs(struct argp_state *state, const char *option, const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || count < 1 || count > REPEATS_MOST)
		usage_fail(state, "%s takes a number of runs from 1 to %d, not '%s'", option,
			   REPEATS_MOST, text);
	return (unsigned)count;
}

static void check_repeats(struct argp_state *state, const struct record_choices *choices)
{
	const char *graphs = record_variable(ENV_GRAPHS);

	if (choices->repeat_count &&
	    (record_variable(ENV_LAST) || (graphs && !strcmp(graphs, "both"))))
		usage_fail(state, "--repeats does not go with --last and --graphs=both");
	if (choices->untraced_count && record_variable(ENV_LAST))
		usage_fail(state,
			   "--untraced does not go with --last, which keeps a part of the run");
}

/* Options that exclude each other, and those that imply --sample. */
static void check_together(struct argp_state *state, const struct record_choices *choices)
{
	bool is_sampling = record_variable(ENV_SAMPLE);

	check_last(state, choices);
	check_repeats(state, choices);
	if (is_sampling && record_variable(ENV_COUNTERS))
		usage_fail(
			state,
			"--sample and --counters use the same hardware counters: make two recordings");
	if (record_variable(ENV_SAMPLE_RANGE) && record_variable(ENV_SAMPLE_WINDOWS))
		usage_fail(
			state,
			"--sample-range and --sample-windows both choose when to sample: give one of them");
	if (!is_sampling &&
	    (record_variable(ENV_SAMPLE_RANGE) || record_variable(ENV_SAMPLE_WINDOWS) ||
	     record_variable(ENV_SAMPLE_METRICS)))
		record_set_variable(ENV_SAMPLE, "1us");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct record_choices *choices = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		record_set_variable(ENV_OUTPUT, argument);
		return 0;
	case 'k':
		set_regex(state, "kernels", ENV_KERNELS, argument);
		return 0;
	case OPTION_GRAPHS:
		if (strcmp(argument, "node") && strcmp(argument, "graph") &&
		    strcmp(argument, "both"))
			usage_fail(state, "--graphs takes node, graph or both, not '%s'", argument);
		record_set_variable(ENV_GRAPHS, argument);
		return 0;
	case OPTION_DELAY:
		set_number(state, "delay", ENV_DELAY, argument);
		return 0;
	case OPTION_DURATION:
		set_number(state, "duration", ENV_DURATION, argument);
		return 0;
	case OPTION_PROFILER:
		record_set_variable(ENV_PROFILER_API, "1");
		return 0;
	case OPTION_SYNCS:
		record_set_variable(ENV_SYNCS, "1");
		return 0;
	case OPTION_ARGS:
		record_set_variable(ENV_ARGS, "1");
		return 0;
	case OPTION_POWER:
		record_set_variable(ENV_POWER, "1");
		return 0;
	case OPTION_MANAGED:
		record_set_variable(ENV_MANAGED, "1");
		return 0;
	case OPTION_COUNTERS:
		set_counters(state, argument ? argument : "roofline");
		return 0;
	case OPTION_SHARE:
		set_share(state, argument);
		return 0;
	case OPTION_REPLAY:
		record_set_variable(ENV_REPLAY, "1");
		if (!record_variable(ENV_COUNTERS))
			record_set_variable(ENV_COUNTERS, "roofline");
		return 0;
	case OPTION_API:
		if (strcmp(argument, "chosen") && strcmp(argument, "all") &&
		    strcmp(argument, "none"))
			usage_fail(state, "--api takes chosen, all or none, not '%s'", argument);
		record_set_variable(ENV_API, argument);
		return 0;
	case OPTION_SAMPLE:
		set_interval(state, argument ? argument : "1us");
		return 0;
	case OPTION_SAMPLE_METRICS:
		set_sample_metrics(state, argument);
		return 0;
	case OPTION_SAMPLE_WINDOWS:
		set_windows(state, argument);
		return 0;
	case OPTION_SAMPLE_RANGE:
		set_regex(state, "sample-range", ENV_SAMPLE_RANGE, argument);
		return 0;
	case OPTION_MAX_SIZE:
		set_max_size(state, argument);
		return 0;
	case OPTION_LAST:
		set_last(state, argument);
		return 0;
	case OPTION_RING:
		choices->ring = argument;
		return 0;
	case OPTION_SLOWER:
		set_slower(state, argument);
		return 0;
	case OPTION_REPEATS:
		choices->repeat_count = parse_runs(state, "--repeats", argument);
		return 0;
	case OPTION_UNTRACED:
		choices->untraced_count = argument ? parse_runs(state, "--untraced", argument) : 1;
		return 0;
	case OPTION_LIVE:
		choices->is_live = true;
		return 0;
	case OPTION_NO_COMMAND_LINE:
		record_set_variable(ENV_COMMAND_LINE, "0");
		return 0;
	case OPTION_YIELD:
		record_set_variable(ENV_YIELD, "1");
		return 0;
	case ARGP_KEY_ARGS:
		check_together(state, choices);
		choices->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state,
			   "no program given: rooflinectl record [OPTION...] -- PROGRAM [ARG...]");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Run a program and record its work on the GPU.  stdout, stderr and the exit code are "
	       "the program's own.",
};

bool record_options_parse(int argc, char **argv, struct record_choices *choices)
{
	*choices = (struct record_choices){.program = NULL};
	return usage_parse(&parser, argc, argv, ARGP_IN_ORDER, choices) == 0 && choices->program;
}
