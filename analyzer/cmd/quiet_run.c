/* quiet_run.c - one run of a program whose output is kept. */
#define _GNU_SOURCE
#include "cmd/quiet_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_S 2      /* between TERM and KILL */
#define NO_LIMIT_S 3e8 /* ten years */

static void start_program(const struct quiet_run *run, int input, const sigset_t *before,
			  pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	dup2(input, STDIN_FILENO);
	dup2(run->output, STDOUT_FILENO);
	dup2(run->errors, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, before, NULL);
	if (run->prepare)
		run->prepare(run->context);
	execvp(run->command[0], run->command);
	fprintf(stderr, "cannot run %s: %s\n", run->command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The next signal, or 0 when the time is over. */
static int next_signal(const sigset_t *wanted, double seconds)
{
	struct timespec wait = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	int number = seconds > 0 ? sigtimedwait(wanted, NULL, &wait) : -1;

	return number > 0 ? number : 0;
}

/* Returns when the program has ended, one way or the other. */
static void wait_for(struct quiet_run *run, pid_t program, const sigset_t *wanted)
{
	double begin = now_s(), limit = run->timeout_s > 0 ? run->timeout_s : NO_LIMIT_S;
	int number;

	while (waitpid(program, &run->status, WNOHANG) == 0) {
		number = next_signal(wanted, begin + limit - now_s());
		if (number == SIGCHLD)
			continue;
		if (number) {
			run->interrupted_by = number;
			kill(-program, number);
		} else if (now_s() - begin >= limit) {
			kill(-program, run->is_timed_out ? SIGKILL : SIGTERM);
			run->is_timed_out = true;
			limit += GRACE_S;
		}
	}
	run->seconds = now_s() - begin;
	if (run->is_timed_out)
		kill(-program, SIGKILL); /* what it started and left behind */
}

static int run_with(struct quiet_run *run, int input)
{
	pid_t parent = getpid(), program;
	sigset_t wanted, before;

	signal(SIGCHLD, SIG_DFL); /* whoever ignores it has no children to wait for */
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGQUIT);
	sigprocmask(SIG_BLOCK, &wanted, &before);
	program = fork();
	if (program == 0)
		start_program(run, input, &before, parent);
	if (program > 0) {
		setpgid(program, program); /* whoever of the two comes first */
		wait_for(run, program, &wanted);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return program > 0 ? 0 : -errno;
}

static int open_input(const struct quiet_run *run, struct err *err)
{
	const char *path = run->input ? run->input : "/dev/null";
	int input = open(path, O_RDONLY | O_CLOEXEC);

	return input >= 0 ? input
			  : err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
}

int quiet_run(struct quiet_run *run, struct err *err)
{
	int input, rc;

	run->output = memfd_create("stdout", MFD_CLOEXEC);
	run->errors = memfd_create("stderr", MFD_CLOEXEC);
	input = open_input(run, err);
	if (input < 0)
		return input;
	rc = run->output < 0 || run->errors < 0 ? -errno : run_with(run, input);
	close(input);
	return rc < 0 ? err_set(err, rc, "cannot run %s: %s", run->command[0], strerror(-rc)) : 0;
}

void quiet_run_close(struct quiet_run *run)
{
	if (run->output >= 0)
		close(run->output);
	if (run->errors >= 0)
		close(run->errors);
	run->output = run->errors = -1;
}
