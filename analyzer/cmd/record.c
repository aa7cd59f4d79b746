/* record.c - runs a program with the collector in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/record_options.h"
#include "cmd/record_output.h"
#include "cmd/record_signals.h"

/* Whether value is one of a list; separators end each of them. */
static bool is_listed(const char *list, const char *value, char separator)
{
	size_t length = strlen(value);

	for (const char *at = list; (at = strstr(at, value)); at++)
		if ((at == list || at[-1] == separator) && (!at[length] || at[length] == separator))
			return true;
	return false;
}

/* Puts value in front of what a list in the environment holds, if it does not hold it: record may run under
 * record. */
static void prepend(const char *variable, const char *value, char separator)
{
	const char *before = getenv(variable);
	char *list;

	if (!before || !*before) {
		setenv(variable, value, 1);
	} else if (!is_listed(before, value, separator) &&
		   asprintf(&list, "%s%c%s", value, separator, before) >= 0) {
		setenv(variable, list, 1);
		free(list);
	}
}

/* CUDA and NVTX load the library that the first two name.  Preloaded, it also sees _exit; a program
 * built with ASan would refuse to start with a library before its own, so ASan is told not to check. */
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
	if (strpbrk(library, ": \t\n")) /* the loader would take it for two */
		return 0;
	prepend("LD_PRELOAD", library, ':');
	prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
	return 0;
}

/* A program that starts closes the pipe; one that cannot leaves a byte in it.  Who kills us with KILL, which
 * cannot be passed on, means the program. */
static void start_program(char **program, int pipe_end, pid_t parent)
{
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	signals_restore();
	execvp(program[0], program);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "rooflinectl record: cannot run %s: %s%s\n", program[0], strerror(errno),
		record_is_counter_set(program[0])
			? " (a set of counters needs an equals sign: --counters=SET)"
			: "");
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

static int run(char **program, bool *is_started, int *status)
{
	pid_t parent = getpid(), child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		fprintf(stderr, "rooflinectl record: cannot start a process: %s\n",
			strerror(errno));
		return -1;
	}
	if (child == 0)
		start_program(program, ends[1], parent);
	*is_started = has_started(ends);
	return signals_wait(child, status);
}

/* ---- --graphs=both ---- */

static bool is_both(void)
{
	const char *graphs = record_variable(ENV_GRAPHS);

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

/* Whether a second run can be compared with the first; prints why not. */
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
	else if (signals_are_end_asked())
		fputs("rooflinectl record: interrupted, so there is no second run\n", stderr);
	else /* when nothing was recorded, print_result says why */
		return path_newest_recording(found, sizeof(found), folder) == 0;
	return false;
}

/* The second run records graph launches alone: the first one had the counters. */
static void run_again(char **program)
{
	bool is_started = true;
	char end[64];
	int status = 0;

	fputs("rooflinectl record: the program runs a second time, to record what its device launches\n",
	      stderr);
	record_set_variable(ENV_RUN, "2");
	record_set_variable(ENV_GRAPHS, "graph");
	record_unset_variable(ENV_COUNTERS);
	if (run(program, &is_started, &status) < 0 || !status)
		return;
	describe_end(status, end, sizeof(end));
	fprintf(stderr, "rooflinectl record: the second run ended with %s\n", end);
}

/* The exit code is the first run's, however the second ends.  Where stdin can be rewound, both
 * runs read the same. */
static int run_both(char **program, const char *folder, bool *is_started, int *status)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);

	record_set_variable(ENV_RUN, "1");
	record_set_variable(ENV_GRAPHS, "node");
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
static int end_as_program(int status)
{
	if (WIFSIGNALED(status)) {
		signals_die_of(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static void print_result(const char *folder)
{
	char found[PATH_MAX];

	if (path_newest_recording(found, sizeof(found), folder) == 0)
		fprintf(stderr, "rooflinectl record: %s\nrooflinectl report %s\n", folder, folder);
	else
		fprintf(stderr,
			"rooflinectl record: nothing was recorded: the program did not use CUDA, or "
			"it could not be recorded, for the reason above\n");
}

int cmd_record(int argc, char **argv)
{
	struct record_output output;
	char **program = NULL;
	bool is_started = true;
	int status = 0, rc;

	record_output_note();
	if (!record_options_parse(argc, argv, &program))
		return EXIT_USAGE;
	rc = record_output_choose(&output);
	if (rc)
		return rc;
	if (inject() < 0)
		return EXIT_FAILED;
	signals_hold();
	if ((is_both() ? run_both(program, output.folder, &is_started, &status)
		       : run(program, &is_started, &status)) < 0)
		return EXIT_FAILED;
	if (is_started && !output.is_nested)
		print_result(output.folder);
	return end_as_program(status);
}
