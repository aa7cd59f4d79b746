/*
 * mock_app_process.c - the steps of mock_app that change the process: memory, time zone, descriptors, children.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mock_app.h"

#define FIRST_OWN_DESCRIPTOR 3

static void step_sleep_ms(const char *argument)
{
	usleep((useconds_t)number(argument) * 1000);
}

/* Lines with a text, NULL for any, in all files that a pattern matches. */
static long count_lines(const char *pattern, const char *text)
{
	glob_t found;
	long count = 0;

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			FILE *file = fopen(found.gl_pathv[i], "re");
			char *line = NULL;
			size_t size = 0;

			while (file && getline(&line, &size, file) > 0)
				count += strchr(line, '\n') && (!text || strstr(line, text));
			free(line);
			if (file)
				fclose(file);
		}
	globfree(&found);
	return count;
}

/*
 * until_lines:COUNT:PATTERN[:TEXT] - waits until files hold so many lines, those with a text alone.  What the collector and
 * its stand-ins write so tells a test that something has happened, however busy the machine is.  Without a collector nothing
 * would come.
 */
static void step_until_lines(const char *argument)
{
	char words[512], *rest = words;
	const char *count, *pattern;

	if (!mock.mock_emit)
		return;
	snprintf(words, sizeof(words), "%s", argument);
	count = strsep(&rest, ":");
	pattern = strsep(&rest, ":");
	for (int ms = 0; count_lines(pattern, rest) < number(count); ms++) {
		if (ms == 60000)
			fail(argument, "not there within a minute");
		usleep(1000);
	}
}

static void step_print(const char *argument)
{
	puts(argument);
}

static void step_locale(const char *argument)
{
	if (!setlocale(LC_ALL, argument))
		fail(argument, "no such locale");
}

static void step_dlopen(const char *argument)
{
	if (!dlopen(argument, RTLD_NOW))
		fail(argument, dlerror());
}

static void step_not_loaded(const char *argument)
{
	if (dlopen(argument, RTLD_NOW | RTLD_NOLOAD))
		fail(argument, "is loaded");
}

/* memory:none - from now on there is no more; memory:again - there is */
static void step_memory(const char *argument)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = strcmp(argument, "none") ? RLIM_INFINITY : 1;
	setrlimit(RLIMIT_AS, &limit);
}

/* What the C library knows of time zones is read once: at the first call, which must be this one. */
static void step_time_zone(const char *argument)
{
	time_t epoch = 0;
	struct tm local;

	setenv("TZ", argument, 1);
	localtime_r(&epoch, &local);
	printf("the epoch began at %d:%02d\n", local.tm_hour, local.tm_min);
}

static void step_errno(const char *argument)
{
	(void)argument;
	printf("errno was %d\n", errno_at_start);
}

static void step_chdir(const char *argument)
{
	if (chdir(argument))
		fail(argument, "is no folder");
}

static void step_shell(const char *argument)
{
	printf("shell ended with %d\n", WEXITSTATUS(system(argument)));
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0)
		fail("fork", "failed");
	waitpid(child, &status, 0);
	printf("child ended with %d\n",
	       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* fork:N - so many children, each ends by exit() with its handlers, while another thread emits */
static void step_fork(const char *argument)
{
	pthread_t thread;
	bool has_thread = mock.mock_emit && !pthread_create(&thread, NULL, kernels_main, "40000");

	for (long i = number(argument); i > 0; i--) {
		pid_t child = fork();

		if (child == 0)
			exit(5);
		wait_for(child);
	}
	if (has_thread)
		pthread_join(thread, NULL);
}

static void step_vfork(const char *argument)
{
	pid_t child = vfork();

	if (child == 0)
		_exit((int)number(argument));
	wait_for(child);
}

static volatile sig_atomic_t ended_count;

static void count_ended(int signal_number)
{
	(void)signal_number;
	ended_count++;
}

/* Whoever counts its children: none that it has not started, none that goes unseen, and no signal but for its own. */
static void step_count_children(const char *argument)
{
	int status, own, none;
	pid_t child;

	signal(SIGCHLD, count_ended);
	none = waitpid(-1, &status, __WALL) < 0 && errno == ECHILD;
	usleep((useconds_t)number(argument) * 1000);
	printf("no children: %d, ended: %d\n", none, (int)ended_count);
	child = fork();
	if (child == 0)
		_exit(7);
	while ((own = wait(&status)) < 0 && errno == EINTR)
		;
	none = wait(NULL) < 0 && errno == ECHILD;
	printf("own child: %d, with %d; then none: %d, ended: %d\n", own == child,
	       WEXITSTATUS(status), none, (int)ended_count);
}

static rlim_t first_limit;
static bool has_limit_changed; /* atomic */

static void *watch_limit_main(void *unused)
{
	struct rlimit limit;

	for (;;)
		if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur != first_limit)
			__atomic_store_n(&has_limit_changed, true, __ATOMIC_RELAXED);
	return unused;
}

static void tell_limit(void)
{
	if (__atomic_load_n(&has_limit_changed, __ATOMIC_RELAXED))
		puts("another thread has seen another limit");
}

/* watch_limit - what a child that another thread starts would see of the limit of open files */
static void step_watch_limit(const char *argument)
{
	struct rlimit limit;
	pthread_t thread;

	(void)argument;
	getrlimit(RLIMIT_NOFILE, &limit);
	first_limit = limit.rlim_cur;
	atexit(tell_limit);
	pthread_create(&thread, NULL, watch_limit_main, NULL);
	pthread_detach(thread);
}

static void step_close_output(const char *argument)
{
	(void)argument;
	close(STDOUT_FILENO);
}

/* clone_exit:STATUS - a child that no fork handler hears of, first of a PID namespace of its own, ends with _exit */
static void step_clone_exit(const char *argument)
{
	long child = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (child < 0)
		fail("clone", strerror(errno));
	if (child == 0)
		_exit((int)number(argument));
	waitpid((pid_t)child, &status, 0);
	printf("child exited with %d\n", WEXITSTATUS(status));
}

/* fork_run:STEP - the child does one more step and exits */
static void step_fork_run(const char *argument)
{
	pid_t child = fork();

	if (child == 0) {
		run_step(argument);
		exit(0);
	}
	wait_for(child);
}

static void step_fork_at(const char *argument)
{
	static const char *const places[] = {[MOCK_REQUEST] = "request",
					     [MOCK_COMPLETION] = "completion",
					     [MOCK_CALLBACK] = "callback"};

	for (enum mock_place place = MOCK_REQUEST; place <= MOCK_CALLBACK; place++)
		if (mock.mock_fork_at && !strcmp(argument, places[place]))
			mock.mock_fork_at(place);
}

static void close_descriptors(void)
{
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 4096; descriptor++)
		close(descriptor);
}

/* file_as_stderr:FILE - closes stderr, and opens a file of its own as the same descriptor */
static void step_file_as_stderr(const char *argument)
{
	close(STDERR_FILENO);
	if (open(argument, O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO)
		fail("file_as_stderr", argument);
}

static void step_close_descriptors(const char *argument)
{
	(void)argument;
	close_descriptors();
}

/* Puts an own file on every number that a library could have had, and writes to each at the end. */
static void step_replace_descriptors(const char *argument)
{
	int own;

	close_descriptors();
	own = open(argument, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (own < 0)
		fail(argument, "cannot be opened");
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 1000; descriptor++)
		if (descriptor != own)
			dup2(own, descriptor);
}

/* All the numbers that replace_descriptors replaced must still be the program's own. */
static void step_use_descriptors(const char *argument)
{
	(void)argument;
	for (int descriptor = FIRST_OWN_DESCRIPTOR; descriptor < 1000; descriptor++)
		if (write(descriptor, ".", 1) != 1)
			printf("descriptor %d is gone\n", descriptor);
}

static int open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* take_descriptors:N - all that the program may have, but for the last N */
static void step_take_descriptors(const char *argument)
{
	int count = 0, last, taken[4096];

	while (count < 4096 && (last = open_null()) >= 0)
		taken[count++] = last;
	for (long left = argument ? number(argument) : 0; left > 0 && count > 0; left--)
		close(taken[--count]);
	printf("%d descriptors taken\n", count);
}

static void step_descriptor_limit(const char *argument)
{
	struct rlimit limit;

	(void)argument;
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("%d descriptors allowed\n", (int)limit.rlim_cur);
}

/* The classic way into the background; the child goes on with the steps. */
static void step_daemon(const char *argument)
{
	pid_t child = fork();

	(void)argument;
	if (child > 0) {
		wait_for(child); /* so that the test knows when it is over */
		_exit(0);
	}
	setsid();
	for (int descriptor = 0; descriptor < 4096; descriptor++)
		close(descriptor);
	if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
		_exit(98);
}

const struct step process_steps[] = {
	{"sleep_ms", step_sleep_ms},
	{"until_lines", step_until_lines},
	{"print", step_print},
	{"locale", step_locale},
	{"dlopen", step_dlopen},
	{"not_loaded", step_not_loaded},
	{"memory", step_memory},
	{"time_zone", step_time_zone},
	{"errno", step_errno},
	{"chdir", step_chdir},
	{"shell", step_shell},
	{"fork", step_fork},
	{"vfork", step_vfork},
	{"watch_limit", step_watch_limit},
	{"close_output", step_close_output},
	{"clone_exit", step_clone_exit},
	{"fork_run", step_fork_run},
	{"count_children", step_count_children},
	{"fork_at", step_fork_at},
	{"close_descriptors", step_close_descriptors},
	{"file_as_stderr", step_file_as_stderr},
	{"replace_descriptors", step_replace_descriptors},
	{"use_descriptors", step_use_descriptors},
	{"take_descriptors", step_take_descriptors},
	{"descriptor_limit", step_descriptor_limit},
	{"daemon", step_daemon},
	{0},
};
