/* tune_run.c - one run of the program that is tuned. */
#define _GNU_SOURCE
#include "cmd/tune_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_file.h"

#define GRACE_S 2 /* between TERM and KILL */
#define MOST_OUTPUT (16 << 20)

/* ---- the command ---- */

/* The parameter whose {NAME} stands at the front, or the number of parameters. */
static size_t parameter_at(const struct tune_space *space, const char *text)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		size_t length = strlen(space->parameters[i].name);

		if (*text == '{' && !strncmp(text + 1, space->parameters[i].name, length) &&
		    text[length + 1] == '}')
			return i;
	}
	return space->parameter_count;
}

static char *fill_word(const char *word, const struct tune_space *space, size_t point)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);

	if (!out)
		return NULL;
	while (*word) {
		size_t parameter = parameter_at(space, word);

		if (parameter == space->parameter_count) {
			putc(*word++, out);
			continue;
		}
		fputs(tune_space_value(space, point, parameter), out);
		word += strlen(space->parameters[parameter].name) + 2;
	}
	return memory_file_close(&file);
}

char **tune_command_of(char **command, const struct tune_space *space, size_t point)
{
	size_t count = 0;
	char **filled;

	while (command[count])
		count++;
	filled = calloc(count + 1, sizeof(*filled));
	for (size_t i = 0; filled && i < count; i++) {
		filled[i] = fill_word(command[i], space, point);
		if (!filled[i]) {
			tune_command_free(filled);
			return NULL;
		}
	}
	return filled;
}

void tune_command_free(char **command)
{
	for (size_t i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

const char *tune_command_lacks(char **command, const struct tune_space *space)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		bool is_found = false;

		for (char **word = command; *word && !is_found; word++)
			for (const char *at = *word; *at && !is_found; at++)
				is_found = parameter_at(space, at) == i;
		if (!is_found)
			return space->parameters[i].name;
	}
	return NULL;
}

/* ---- the process ---- */

struct files {
	int output, errors; /* in memory */
};

static void start_program(const struct tune_run *run, const struct files *files,
			  const sigset_t *before, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(files->output, STDOUT_FILENO);
	dup2(files->errors, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, before, NULL);
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
static void wait_for(struct tune_run *run, pid_t program, const sigset_t *wanted)
{
	double begin = now_s(), limit = run->timeout_s;
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

static int run_with(struct tune_run *run, const struct files *files)
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
		start_program(run, files, &before, parent);
	if (program > 0) {
		setpgid(program, program); /* whoever of the two comes first */
		wait_for(run, program, &wanted);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return program > 0 ? 0 : -errno;
}

/* ---- what it printed ---- */

static char *read_back(int descriptor)
{
	struct stat status;
	size_t size = fstat(descriptor, &status) == 0 ? (size_t)status.st_size : 0;
	size_t from = size > MOST_OUTPUT ? size - MOST_OUTPUT : 0;
	char *text = calloc(size - from + 1, 1);

	if (text && pread(descriptor, text, size - from, (off_t)from) < 0)
		*text = '\0';
	for (size_t i = 0; text && i < size - from; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

/* The last line with something in it, alone. */
static void keep_last_line(char *text)
{
	size_t end = strlen(text), begin;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	text[end] = '\0';
	begin = end;
	while (begin && text[begin - 1] != '\n')
		begin--;
	memmove(text, text + begin, end - begin + 1);
}

static int keep_output(struct tune_run *run, const struct files *files)
{
	run->output = read_back(files->output);
	run->complaint = read_back(files->errors);
	if (!run->output || !run->complaint)
		return -ENOMEM;
	if (run->is_shown)
		fprintf(stderr, "%s%s", run->output, run->complaint);
	keep_last_line(run->complaint);
	return 0;
}

int tune_run(struct tune_run *run, struct err *err)
{
	struct files files = {memfd_create("stdout", MFD_CLOEXEC),
			      memfd_create("stderr", MFD_CLOEXEC)};
	int rc = files.output < 0 || files.errors < 0 ? -errno : run_with(run, &files);

	if (rc == 0)
		rc = keep_output(run, &files);
	if (files.output >= 0)
		close(files.output);
	if (files.errors >= 0)
		close(files.errors);
	return rc < 0 ? err_set(err, rc, "cannot run %s: %s", run->command[0], strerror(-rc)) : 0;
}

void tune_run_free(struct tune_run *run)
{
	free(run->output);
	free(run->complaint);
	run->output = run->complaint = NULL;
}
