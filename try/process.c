#define _GNU_SOURCE
#include "process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "checksums.h"
#include "counts.h"
#include "deferred.h"
#include "lookup.h"
#include "pinned.h"
#include "pool.h"
#include "registering.h"
#include "run_time.h"
#include "waits.h"

static bool is_wanted[TRY_STRATEGY_COUNT];
static bool is_any_wanted, is_stubborn, is_unwatched, has_events_at_once, has_one_connection;
static bool is_started;
static pid_t self; /* a child of vfork shares all of this, and is another process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const strategies[] = {
#define STRATEGY_NAME(constant, name, meaning) name,
	TRY_STRATEGIES(STRATEGY_NAME)
#undef STRATEGY_NAME
};

/* At the start, while nobody changes the environment. */
__attribute__((constructor)) static void read_strategies(void)
{
	const char *list = getenv("ROOFLINE_TRY"), *always = getenv("ROOFLINE_TRY_ALWAYS");
	const char *watch = getenv("ROOFLINE_TRY_WATCH"), *calls = getenv("ROOFLINE_TRY_CALLS");
	const char *unwatched = getenv("ROOFLINE_TRY_UNWATCHED");
	const char *at_once = getenv("ROOFLINE_TRY_EVENTS_AT_ONCE");

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		for (int i = 0; i < TRY_STRATEGY_COUNT; i++)
			if (strlen(strategies[i]) == strcspn(list, ",") &&
			    !strncmp(list, strategies[i], strlen(strategies[i])))
				is_wanted[i] = is_any_wanted = true;
	is_any_wanted |= (watch && *watch) || (calls && *calls);
	is_stubborn = always && *always;
	is_unwatched = unwatched && *unwatched;
	has_events_at_once = at_once && *at_once;
	if (!is_any_wanted)
		return;
	counts_open(getenv("ROOFLINE_TRY_OUTPUT"));
	checksums_open(getenv("ROOFLINE_TRY_MEMORY"));
	calls_open(calls);
}

bool process_is_wanted(void)
{
	return is_any_wanted;
}

bool process_wants(enum try_strategy strategy)
{
	return is_wanted[strategy];
}

bool process_is_stubborn(void)
{
	return is_stubborn;
}

bool process_has_events_at_once(void)
{
	return has_events_at_once;
}

bool process_has_one_connection(void)
{
	return has_one_connection;
}

bool process_is_unwatched(void)
{
	return is_unwatched;
}

/* Who holds the lock of deferred.c may look up a function, so the lock of that comes last.  It is held for moments only. */
static void before_fork(void)
{
	registering_before_fork();
	deferred_before_fork();
	lookup_before_fork();
}

static void after_fork(void)
{
	lookup_after_fork();
	deferred_after_fork();
	registering_after_fork();
}

static void forked(void)
{
	self = getpid();
	lookup_after_fork();
	deferred_forked();
	pool_forked();
	pinned_forked();
	checksums_forked();
	waits_forked();
	run_time_forked();
	calls_forked();
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && atoi(value) == 1;
}

/* As late as the driver reads them: programs may set them themselves. */
static void read_driver_variables(void)
{
	has_one_connection = is_set("CUDA_DEVICE_MAX_CONNECTIONS");
	if (!is_set("CUDA_LAUNCH_BLOCKING"))
		return;
	is_wanted[TRY_FEWER_WAITS] = false;
	deferred_stop(TRY_LAUNCH_BLOCKING);
}

static void start(void)
{
	is_started = true;
	self = getpid();
	read_driver_variables();
	pthread_atfork(before_fork, after_fork, forked);
	atexit(process_end);
	(void)at_quick_exit(process_end);
}

void process_start(void)
{
	pthread_once(&once, start);
}

void process_before_exec(void)
{
	if (!is_started || getpid() != self)
		return;
	deferred_flush_before_exec();
	waits_end();
	counts_write();
}

void process_end(void)
{
	if (!is_started || getpid() != self)
		return;
	deferred_end();
	waits_end();
	checksums_end();
	counts_write();
	calls_write();
}
