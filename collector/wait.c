#define _GNU_SOURCE
#include "wait.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#include "clock.h"

#define FIRST_LOOKS 16 /* until then the others run, and no time passes */
#define PAUSE_NS 50000

void wait_init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static bool is_over(const struct timespec *until)
{
	return clock_ns(CLOCK_MONOTONIC) >= until->tv_sec * INT64_C(1000000000) + until->tv_nsec;
}

static void pause_before(unsigned int look)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (look < FIRST_LOOKS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

int wait_lock(pthread_mutex_t *lock, const struct timespec *until)
{
	for (unsigned int look = 0; pthread_mutex_trylock(lock); look++) {
		if (is_over(until))
			return ETIMEDOUT;
		pause_before(look);
	}
	return 0;
}

int wait_join(pthread_t thread, const struct timespec *until)
{
	int rc;

	for (unsigned int look = 0; (rc = pthread_tryjoin_np(thread, NULL)) == EBUSY; look++) {
		if (is_over(until))
			return ETIMEDOUT;
		pause_before(look);
	}
	return rc;
}
