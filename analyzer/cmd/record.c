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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/record_options.h"

/* The folder has to be the same for every process that the program starts. */
static int choose_output(char *folder, size_t size)
{
	const char *wanted = record_variable(ENV_OUTPUT);
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
	record_set_variable(ENV_OUTPUT, folder);
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

static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int signal_number)
{
	(void)signal_number;
	is_interrupted = 1;
}

/* What nohup ignores stays ignored.  A handler, and not SIG_IGN: exec resets it, so that a program
 * that is run a second time can be interrupted as well. */
static void note_interrupts(int signal_number)
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
	note_interrupts(SIGINT);
	note_interrupts(SIGQUIT);
	*is_started = has_started(ends);
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
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
	else if (is_interrupted)
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
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
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
	char folder[2 * PATH_MAX];
	char **program = NULL;
	bool is_started = true;
	int status = 0;

	if (!record_options_parse(argc, argv, &program))
		return EXIT_USAGE;
	if (choose_output(folder, sizeof(folder)) < 0 || inject() < 0)
		return EXIT_FAILED;
	if ((is_both() ? run_both(program, folder, &is_started, &status)
		       : run(program, &is_started, &status)) < 0)
		return EXIT_FAILED;
	if (is_started)
		print_result(folder);
	return end_as_program(status);
}
