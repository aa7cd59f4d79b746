/* record.c - runs a program with the collector in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/usage.h"
#include "roofline/collector_env.h"
#include "roofline/duration.h"
#include "roofline/metrics.h"
#include "roofline/sampled.h"

#define VARIABLE_NAME(constant, name, fallback, meaning) [constant] = name,
static const char *const variable_names[] = {ROOFLINE_VARIABLES(VARIABLE_NAME)};

enum {
	OPTION_GRAPHS = 256,
	OPTION_DELAY,
	OPTION_DURATION,
	OPTION_PROFILER,
	OPTION_SYNCS,
	OPTION_API,
	OPTION_COUNTERS,
	OPTION_REPLAY,
	OPTION_SHARE,
	OPTION_SAMPLE,
	OPTION_SAMPLE_METRICS,
	OPTION_SAMPLE_WINDOWS,
	OPTION_SAMPLE_RANGE,
};

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "folder of the recording (roofline.<time>.<pid>)", 0},
	{"graphs", OPTION_GRAPHS, "node|graph|both", 0,
	 "record every node of a CUDA graph (default), or every launch as one and what the device "
	 "launches; both runs the program twice, and reports join the two",
	 0},
	{"kernels", 'k', "REGEX", 0, "only kernels whose name matches this extended regex", 0},
	{"delay", OPTION_DELAY, "SECONDS", 0, "begin so long after the program has started CUDA",
	 0},
	{"duration", OPTION_DURATION, "SECONDS", 0, "record for so long", 0},
	{"profiler-api", OPTION_PROFILER, NULL, 0,
	 "only between cudaProfilerStart and cudaProfilerStop", 0},
	{"syncs", OPTION_SYNCS, NULL, 0, "also which stream or event every wait was for (dear)", 0},
	{"counters", OPTION_COUNTERS, "SET,...", OPTION_ARG_OPTIONAL,
	 "also read hardware counters of some launches of every kernel: roofline (default), atomics, "
	 "shared, sm, stalls, or names of CUPTI's metrics",
	 0},
	{"counters-share", OPTION_SHARE, "PERCENT", 0,
	 "of the program's time that counting may take (10); 100 for no limit", 0},
	{"replay", OPTION_REPLAY, NULL, 0,
	 "repeat every launch for every pass of the counters: exact, slow, and not for kernels that "
	 "wait for others",
	 0},
	{"sample", OPTION_SAMPLE, "INTERVAL", OPTION_ARG_OPTIONAL,
	 "also sample what the whole GPU does, so often (1us): work that the GPU launches itself shows "
	 "nowhere else",
	 0},
	{"sample-metrics", OPTION_SAMPLE_METRICS, "SET,...", 0,
	 "of front, sm, dram, tensor, l2 and nvlink (all that can be decoded in time)", 0},
	{"sample-windows", OPTION_SAMPLE_WINDOWS, "LENGTH/PERIOD", 0,
	 "sample for LENGTH in every PERIOD, as 100ms/1s; continuous: without end; auto: as decoding "
	 "keeps up (default)",
	 0},
	{"sample-range", OPTION_SAMPLE_RANGE, "REGEX", 0,
	 "sample only inside NVTX ranges whose name matches", 0},
	{"api", OPTION_API, "chosen|all|none", 0,
	 "API calls: those that matter (default), all, or none: cheapest, but idle time has no causes",
	 0},
	{0},
};

static bool is_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && !*end && value >= 0 && value <= 1e9;
}

/* Each option becomes the environment variable that the collector reads. */
static void pass_on(enum roofline_variable variable, const char *value)
{
	setenv(variable_names[variable], value, 1);
}

static void pass_on_number(struct argp_state *state, const char *option,
			   enum roofline_variable variable, const char *text)
{
	if (!is_number(text))
		usage_fail(state, "--%s takes seconds from 0 to 1e9, not '%s'", option, text);
	pass_on(variable, text);
}

static void pass_on_regex(struct argp_state *state, const char *option,
			  enum roofline_variable variable, const char *text)
{
	char problem[256];
	regex_t regex;
	int rc = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (rc) {
		regerror(rc, &regex, problem, sizeof(problem));
		usage_fail(state, "--%s '%s': %s", option, text, problem);
	}
	regfree(&regex);
	pass_on(variable, text);
}

static bool is_set(const char *word)
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

/* Whether a counter exists only the GPU's own library knows; what cannot be one is told here. */
static void pass_on_counters(struct argp_state *state, const char *text)
{
	char *words = strdup(text), *rest = words, *word;

	if (!words || !*text)
		usage_fail(state, "--counters takes roofline, atomics, shared, sm, stalls or names "
				  "of CUPTI's metrics, separated by commas");
	while ((word = strsep(&rest, ",")))
		if (!is_set(word) && !strstr(word, "__"))
			usage_fail(
				state,
				"--counters '%s' is no set and no metric of CUPTI; sets are roofline, "
				"atomics, shared, sm and stalls, and a metric looks like dram__bytes_read.sum",
				word);
	free(words);
	pass_on(ENV_COUNTERS, text);
}

static void pass_on_share(struct argp_state *state, const char *text)
{
	if (!is_number(text) || strtod(text, NULL) > 100)
		usage_fail(state, "--counters-share takes percent from 0 to 100, not '%s'", text);
	pass_on(ENV_COUNTERS_SHARE, text);
}

/* ---- sampling ---- */

static void pass_on_interval(struct argp_state *state, const char *text)
{
	int64_t ns = duration_ns(text, NULL);

	if (ns < SAMPLE_NS_MIN || ns > SAMPLE_NS_MAX)
		usage_fail(state, "--sample takes a time from %d ns to %d s, such as 1us, not '%s'",
			   SAMPLE_NS_MIN, SAMPLE_NS_MAX / 1000000000, text);
	pass_on(ENV_SAMPLE, text);
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

static void pass_on_sample_metrics(struct argp_state *state, const char *text)
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
	pass_on(ENV_SAMPLE_METRICS, text);
}

static void pass_on_windows(struct argp_state *state, const char *text)
{
	int64_t length_ns, period_ns;

	if (strcmp(text, "continuous") && strcmp(text, "auto") &&
	    duration_window(text, &length_ns, &period_ns) < 0)
		usage_fail(state,
			   "--sample-windows takes continuous, auto, or a length and a period not "
			   "shorter, such as 100ms/1s, not '%s'",
			   text);
	pass_on(ENV_SAMPLE_WINDOWS, text);
}

/* What only means something together, or not at all. */
static void check_together(struct argp_state *state)
{
	bool is_sampling = getenv(variable_names[ENV_SAMPLE]);

	if (is_sampling && getenv(variable_names[ENV_COUNTERS]))
		usage_fail(state,
			   "--sample and --counters use the same hardware: make two recordings");
	if (getenv(variable_names[ENV_SAMPLE_RANGE]) && getenv(variable_names[ENV_SAMPLE_WINDOWS]))
		usage_fail(state, "--sample-range and --sample-windows both say when: choose one");
	if (!is_sampling && (getenv(variable_names[ENV_SAMPLE_RANGE]) ||
			     getenv(variable_names[ENV_SAMPLE_WINDOWS]) ||
			     getenv(variable_names[ENV_SAMPLE_METRICS])))
		pass_on(ENV_SAMPLE, "1us");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	char ***program = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		pass_on(ENV_OUTPUT, argument);
		return 0;
	case 'k':
		pass_on_regex(state, "kernels", ENV_KERNELS, argument);
		return 0;
	case OPTION_GRAPHS:
		if (strcmp(argument, "node") && strcmp(argument, "graph") &&
		    strcmp(argument, "both"))
			usage_fail(state, "--graphs takes node, graph or both, not '%s'", argument);
		pass_on(ENV_GRAPHS, argument);
		return 0;
	case OPTION_DELAY:
		pass_on_number(state, "delay", ENV_DELAY, argument);
		return 0;
	case OPTION_DURATION:
		pass_on_number(state, "duration", ENV_DURATION, argument);
		return 0;
	case OPTION_PROFILER:
		pass_on(ENV_PROFILER_API, "1");
		return 0;
	case OPTION_SYNCS:
		pass_on(ENV_SYNCS, "1");
		return 0;
	case OPTION_COUNTERS:
		pass_on_counters(state, argument ? argument : "roofline");
		return 0;
	case OPTION_SHARE:
		pass_on_share(state, argument);
		return 0;
	case OPTION_REPLAY:
		pass_on(ENV_REPLAY, "1");
		if (!getenv(variable_names[ENV_COUNTERS]))
			pass_on(ENV_COUNTERS, "roofline");
		return 0;
	case OPTION_API:
		if (strcmp(argument, "chosen") && strcmp(argument, "all") &&
		    strcmp(argument, "none"))
			usage_fail(state, "--api takes chosen, all or none, not '%s'", argument);
		pass_on(ENV_API, argument);
		return 0;
	case OPTION_SAMPLE:
		pass_on_interval(state, argument ? argument : "1us");
		return 0;
	case OPTION_SAMPLE_METRICS:
		pass_on_sample_metrics(state, argument);
		return 0;
	case OPTION_SAMPLE_WINDOWS:
		pass_on_windows(state, argument);
		return 0;
	case OPTION_SAMPLE_RANGE:
		pass_on_regex(state, "sample-range", ENV_SAMPLE_RANGE, argument);
		return 0;
	case ARGP_KEY_ARGS:
		check_together(state);
		*program = state->argv + state->next;
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
	.doc = "Run a program and record what its GPU work does.  stdout, stderr and the exit code are "
	       "the program's own.",
};

/* The folder has to be the same for every process that the program starts. */
static int settle_output(char *folder, size_t size)
{
	const char *wanted = getenv(variable_names[ENV_OUTPUT]);
	char cwd[PATH_MAX], when[32];
	time_t now = time(NULL);
	struct tm local;

	if (!getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "rooflinectl record: the current folder is gone: %s\n",
			strerror(errno));
		return -1;
	}
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (!wanted || !*wanted)
		snprintf(folder, size, "%s/roofline.%s.%d", cwd, when, (int)getpid());
	else
		snprintf(folder, size, "%s%s%s", *wanted == '/' ? "" : cwd,
			 *wanted == '/' ? "" : "/", wanted);
	pass_on(ENV_OUTPUT, folder);
	return 0;
}

/* Puts value in front of what a list in the environment holds. */
static void prepend(const char *variable, const char *value, char separator)
{
	const char *before = getenv(variable);
	char list[4 * PATH_MAX];

	if (!before || !*before)
		setenv(variable, value, 1);
	else if ((size_t)snprintf(list, sizeof(list), "%s%c%s", value, separator, before) <
		 sizeof(list))
		setenv(variable, list, 1);
}

/* CUDA and NVTX load the library that the first two name.  Preloaded, it also sees _exit; a program
 * built with ASan would refuse to start with a library before its own, so it is told not to look. */
static int inject(void)
{
	char library[PATH_MAX];
	const char *other = getenv("CUDA_INJECTION64_PATH");

	if (path_resource(library, sizeof(library), "lib/librooflinecollector.so") < 0) {
		fprintf(stderr,
			"rooflinectl record: %s is missing: build it with `make collector`, which needs "
			"the CUDA toolkit's headers\n",
			library);
		return -1;
	}
	if (other && *other && strcmp(other, library))
		fprintf(stderr, "rooflinectl record: replacing CUDA_INJECTION64_PATH=%s\n", other);
	setenv("CUDA_INJECTION64_PATH", library, 1);
	setenv("NVTX_INJECTION64_PATH", library, 1);
	if (strpbrk(library, ": ")) /* the loader would take it for two */
		return 0;
	prepend("LD_PRELOAD", library, ':');
	prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
	return 0;
}

/* A program that starts closes the pipe; one that cannot leaves a byte in it. */
static void start_program(char **program, int pipe_end)
{
	int code;

	execvp(program[0], program);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "rooflinectl record: cannot run %s: %s%s\n", program[0], strerror(errno),
		is_set(program[0]) ? " (a set is named as --counters=SET)" : "");
	if (write(pipe_end, "", 1) != 1)
		code = 126;
	_exit(code);
}

static bool has_started(const int ends[2])
{
	char byte;
	ssize_t length;

	close(ends[1]);
	while ((length = read(ends[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return length != 1;
}

static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int signal_number)
{
	(void)signal_number;
	is_interrupted = 1;
}

/* What nohup ignores stays ignored.  A handler, and not SIG_IGN: exec resets it, so that a program
 * that is run a second time can be interrupted as well. */
static void survive(int signal_number)
{
	struct sigaction action = {.sa_handler = note_interrupt};
	struct sigaction before;

	if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(signal_number, &action, NULL);
}

/* Ctrl-C and Ctrl-\ reach the program through the terminal; we wait for what it makes of them. */
static int run(char **program, bool *is_started, int *status)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		fprintf(stderr, "rooflinectl record: cannot start a process: %s\n",
			strerror(errno));
		return -1;
	}
	if (child == 0)
		start_program(program, ends[1]);
	survive(SIGINT);
	survive(SIGQUIT);
	*is_started = has_started(ends);
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

/* ---- --graphs=both ---- */

static bool is_both(void)
{
	const char *graphs = getenv(variable_names[ENV_GRAPHS]);

	return graphs && !strcmp(graphs, "both");
}

/* "exit code 3", "signal 15 (Terminated)" */
static void describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "exit code %d", WEXITSTATUS(status));
}

/* Whether the first run is one that a second can be compared with; says why not. */
static bool is_worth_repeating(bool is_started, int status, const char *folder)
{
	char found[PATH_MAX], end[64];

	describe_end(status, end, sizeof(end));
	if (!is_started)
		fputs("rooflinectl record: the program did not start, so there is no second run\n",
		      stderr);
	else if (status)
		fprintf(stderr,
			"rooflinectl record: the program ended with %s, so there is no "
			"second run\n",
			end);
	else if (is_interrupted)
		fputs("rooflinectl record: interrupted, so there is no second run\n", stderr);
	else /* with nothing recorded, what tell_result says is enough */
		return path_newest_recording(found, sizeof(found), folder) == 0;
	return false;
}

/* The second run has only graph launches to tell: the first one had the counters. */
static void run_again(char **program)
{
	bool is_started = true;
	char end[64];
	int status = 0;

	fputs("rooflinectl record: the program runs a second time, for what its device launches\n",
	      stderr);
	pass_on(ENV_RUN, "2");
	pass_on(ENV_GRAPHS, "graph");
	unsetenv(variable_names[ENV_COUNTERS]);
	if (run(program, &is_started, &status) < 0 || !status)
		return;
	describe_end(status, end, sizeof(end));
	fprintf(stderr, "rooflinectl record: the second run ended with %s\n", end);
}

/* The exit code is the first run's, whatever becomes of the second.  A stdin that can be read again
 * is. */
static int run_both(char **program, const char *folder, bool *is_started, int *status)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);

	pass_on(ENV_RUN, "1");
	pass_on(ENV_GRAPHS, "node");
	if (run(program, is_started, status) < 0)
		return -1;
	if (!is_worth_repeating(*is_started, *status, folder))
		return 0;
	if (input >= 0)
		lseek(STDIN_FILENO, input, SEEK_SET);
	run_again(program);
	return 0;
}

/* Ends as the program ended, so that scripts see no difference. */
static int pass_on_status(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static void tell_result(const char *folder)
{
	char found[PATH_MAX];

	if (path_newest_recording(found, sizeof(found), folder) == 0)
		fprintf(stderr, "rooflinectl record: %s\nrooflinectl report %s\n", folder, folder);
	else
		fprintf(stderr,
			"rooflinectl record: nothing was recorded: the program did not use CUDA, or "
			"the collector said above why it could not record\n");
}

int cmd_record(int argc, char **argv)
{
	char folder[2 * PATH_MAX];
	char **program = NULL;
	bool is_started = true;
	int status = 0;

	if (argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &program) || !program)
		return EXIT_USAGE;
	if (settle_output(folder, sizeof(folder)) < 0 || inject() < 0)
		return EXIT_FAILED;
	if ((is_both() ? run_both(program, folder, &is_started, &status)
		       : run(program, &is_started, &status)) < 0)
		return EXIT_FAILED;
	if (is_started)
		tell_result(folder);
	return pass_on_status(status);
}
