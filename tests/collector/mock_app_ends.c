/*
 * mock_app_ends.c - the steps of mock_app that end it, one way or another.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "mock_app.h"

static void step_exit(const char *argument)
{
	exit((int)number(argument));
}

/* Fails when the program has ever had more memory than that, as known after the exit handlers. */
static long most_mib;

static void check_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (usage.ru_maxrss / 1024 >= most_mib) {
		dprintf(STDERR_FILENO, "mock_app: took %ld MiB\n", usage.ru_maxrss / 1024);
		_exit(97);
	}
}

static void step_memory_limit_mib(const char *argument)
{
	most_mib = number(argument);
	atexit(check_memory);
}

static void step_underscore_exit(const char *argument)
{
	_exit((int)number(argument));
}

static void step_quick_exit(const char *argument)
{
	quick_exit((int)number(argument));
}

static void step_abort(const char *argument)
{
	(void)argument;
	abort();
}

static void step_signal(const char *argument)
{
	raise((int)number(argument));
}

/* block:SIGNAL */
static void step_block(const char *argument)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, (int)number(argument));
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void exit_from_handler(int signal_number)
{
	exit(signal_number);
}

/* exit() in a signal handler: not allowed, and often done */
static void step_exit_in_handler(const char *argument)
{
	signal(SIGTERM, exit_from_handler);
	step_signal(argument);
}

static sigjmp_buf before_jump;

static void jump(int unused)
{
	(void)unused;
	siglongjmp(before_jump, 1);
}

static void set_timer(int signal_number, long ms)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
	struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
		fail("timer", "cannot be set");
}

/* jump:SIGNAL:MS:STEP - a handler leaves the step, or what waits after it, by siglongjmp after so long; of 0 ms only when
 * the step itself raises the signal */
static void step_jump(const char *argument)
{
	const char *ms = strchr(argument, ':') + 1, *step = strchr(ms, ':') + 1;

	signal((int)number(argument), jump);
	if (sigsetjmp(before_jump, 1))
		return;
	if (number(ms))
		set_timer((int)number(argument), number(ms));
	run_step(step);
	while (number(ms))
		pause();
}

/* ---- signals at any time ---- */

static void (*storm_end)(int);
static long storm_left;			    /* handlers that are still to leave by siglongjmp */
static volatile unsigned long begun, ended; /* calls of the storm */

/* A line that the test reads, after the program's own end is sure. */
static void tell_storm(void)
{
	dprintf(STDOUT_FILENO, "storm: %lu calls begun, %lu ended\n", begun, ended);
}

static void on_storm(int unused)
{
	(void)unused;
	if (!storm_end && storm_left-- > 0)
		siglongjmp(before_jump, 1);
	if (!storm_end)
		return;
	tell_storm();
	storm_end(7);
}

/* Calls that the collector follows, until a signal ends the program or has left so many of them. */
static void call_in_storm(void)
{
	static const uint32_t text = 0x0a2f2f; /* PTX */
	cuEventRecord_params record = {(CUevent)5, (CUstream)7};
	cuModuleLoadData_params load = {.image = &text};

	while (storm_end || storm_left > 0) {
		begun++;
		if (mock.mock_program_call)
			mock.mock_program_call(CUPTI_CB_DOMAIN_DRIVER_API,
					       begun % 8 ? CUPTI_DRIVER_TRACE_CBID_cuEventRecord
							 : CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
					       begun % 8 ? (const void *)&record : &load, 0, NULL);
		ended++;
	}
}

/* storm:HOW:US[:COUNT] - a handler that interrupts calls after so long exits (exit, _exit), or leaves by siglongjmp so many
 * times (jump) */
static void step_storm(const char *argument)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	const char *us = strchr(argument, ':') + 1, *count = strchr(us, ':');
	long ns = number(us) * 1000;
	struct itimerspec when = {{0, ns}, {0, ns}};
	timer_t timer;

	storm_end = !strncmp(argument, "exit", 4)    ? exit
		    : !strncmp(argument, "_exit", 5) ? _exit
						     : NULL;
	storm_left = count ? number(count + 1) : 1;
	signal(SIGALRM, on_storm);
	if (!sigsetjmp(before_jump, 1) &&
	    (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL)))
		fail("timer", "cannot be set");
	call_in_storm();
	signal(SIGALRM, SIG_IGN);
	tell_storm();
}

static void *exit_main(void *argument)
{
	step_exit(argument);
	return NULL;
}

static void step_exit_in_thread(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_main, (void *)argument);
	for (;;)
		pause();
}

static void *cancelled_exit_main(void *argument)
{
	pthread_cancel(pthread_self());
	step_exit(argument);
	return NULL;
}

/* cancelled_exit:STATUS - exit() on a thread whose cancellation is pending; exit() ignores that */
static void step_cancelled_exit(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled_exit_main, (void *)argument);
	pthread_join(thread, NULL);
}

static void *cancelled_cuda_main(void *unused)
{
	pthread_cancel(pthread_self());
	step_cuda(unused);
	puts("still there"); /* and only now canceled */
	return NULL;
}

/* CUDA starts on a thread whose cancellation is pending. */
static void step_cancelled_cuda(const char *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled_cuda_main, (void *)argument);
	pthread_join(thread, NULL);
}

/* A program keeps the SIGPIPE that it has blocked and raised itself. */
static void check_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	printf("SIGPIPE is pending: %d\n", sigismember(&pending, SIGPIPE));
}

static void step_pending_sigpipe(const char *argument)
{
	sigset_t set;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	atexit(check_pending);
}

static void *underscore_exit_main(void *argument)
{
	step_underscore_exit(argument);
	return NULL;
}

/* _exit_in_threads:STATUS - four at once */
static void step_underscore_exit_in_threads(const char *argument)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, underscore_exit_main, (void *)argument);
	for (;;)
		pause();
}

static void step_exec(const char *argument)
{
	execlp(argument, argument, "after exec", NULL);
	fail(argument, "cannot be executed");
}

const struct step end_steps[] = {
	{"exit", step_exit},
	{"memory_limit_mib", step_memory_limit_mib},
	{"_exit", step_underscore_exit},
	{"quick_exit", step_quick_exit},
	{"abort", step_abort},
	{"signal", step_signal},
	{"block", step_block},
	{"exit_in_handler", step_exit_in_handler},
	{"jump", step_jump},
	{"storm", step_storm},
	{"exit_in_thread", step_exit_in_thread},
	{"cancelled_exit", step_cancelled_exit},
	{"cancelled_cuda", step_cancelled_cuda},
	{"pending_sigpipe", step_pending_sigpipe},
	{"_exit_in_threads", step_underscore_exit_in_threads},
	{"exec", step_exec},
	{0},
};
