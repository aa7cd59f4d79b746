/* record_run.c - one run of a program with the collector in it. */
#define _GNU_SOURCE
#include "cmd/record_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/record_options.h"
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

/* What a list in the environment holds with value in front of it, once: record may run under record.  Owned; NULL without
 * memory. */
static char *prepended(const char *variable, const char *value, char separator)
{
	const char *before = getenv(variable);
	char *list;

	if (!before || !*before)
		return strdup(value);
	if (is_listed(before, value, separator))
		return strdup(before);
	return asprintf(&list, "%s%c%s", value, separator, before) < 0 ? NULL : list;
}

static void prepend(const char *variable, const char *value, char separator)
{
	char *list = prepended(variable, value, separator);

	if (list)
		setenv(variable, list, 1);
	free(list);
}

char *record_preload_list(const char *library)
{
	return prepended("LD_PRELOAD", library, ':');
}

/* A program built with ASan would refuse to start with a library before its own, so ASan is told not to check. */
int record_preload(const char *library)
{
	if (strpbrk(library, ": \t\n")) /* the loader would take it for two */
		return -EINVAL;
	prepend("LD_PRELOAD", library, ':');
	prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
	return 0;
}

/* CUDA and NVTX load one library each. */
static void take_place(const char *variable, const char *library, const char *who)
{
	const char *other = getenv(variable);

	if (other && *other && strcmp(other, library))
		fprintf(stderr, "%s: replacing %s=%s\n", who, variable, other);
	setenv(variable, library, 1);
}

/* CUDA and NVTX load the library that the first two name.  Preloaded, it also sees _exit. */
int record_inject(const char *who)
{
	char library[PATH_MAX];

	if (path_resource(library, sizeof(library), "lib/librooflinecollector.so") < 0) {
		fprintf(stderr,
			"%s: %s is missing: build it with `make collector`, which needs the CUDA "
			"toolkit's headers\n",
			who, library);
		return -1;
	}
	take_place("CUDA_INJECTION64_PATH", library, who);
	take_place("NVTX_INJECTION64_PATH", library, who);
	(void)record_preload(library);
	return 0;
}

/* A program that starts closes the pipe; one that cannot leaves a byte in it.  Who kills us with KILL, which
 * cannot be passed on, means the program. */
static void start_program(const struct record_run *run, int pipe_end, pid_t parent)
{
	char **program = run->program;
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	signals_restore();
	execvp(program[0], program);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "%s: cannot run %s: %s%s\n", run->who, program[0], strerror(errno),
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

int record_run(struct record_run *run)
{
	pid_t parent = getpid(), child;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		fprintf(stderr, "%s: cannot start a process: %s\n", run->who, strerror(errno));
		return -1;
	}
	if (child == 0)
		start_program(run, ends[1], parent);
	run->is_started = has_started(ends);
	rc = signals_wait(child, &run->status, &run->watch);
	if (rc == 0 && run->is_started)
		record_fault_look(&run->fault, run->who, run->folder, child, run->status);
	return rc;
}

void record_describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "exit code %d", WEXITSTATUS(status));
}

bool record_is_worth_repeating(const struct record_run *run)
{
	char found[PATH_MAX], end[64];

	record_describe_end(run->status, end, sizeof(end));
	if (!run->is_started)
		fprintf(stderr, "%s: the program did not start, so there is no %s\n", run->who,
			run->next);
	else if (run->status)
		fprintf(stderr, "%s: the program ended with %s, so there is no %s\n", run->who, end,
			run->next);
	else if (signals_are_end_asked())
		fprintf(stderr, "%s: interrupted, so there is no %s\n", run->who, run->next);
	else
		return path_newest_recording(found, sizeof(found), run->folder) == 0;
	return false;
}

int record_end_as_program(int status)
{
	if (WIFSIGNALED(status)) {
		signals_die_of(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}
