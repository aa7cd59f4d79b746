/*
 * clock.h - the time, for what is measured in the process itself, and for locks that are not waited for without end.
 */
#ifndef ROOFLINE_TRY_CLOCK_H
#define ROOFLINE_TRY_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Lock it, within that time: a thread that waits in the driver may hold it for good.  By the monotonic clock, as a step of the
 * wall clock would make pthread_mutex_timedlock() wait for as long. */
static inline bool clock_lock(pthread_mutex_t *lock, unsigned milliseconds)
{
	const struct timespec between = {.tv_nsec = 50000};
	uint64_t start_ns = clock_ns();

	while (pthread_mutex_trylock(lock) != 0) {
		if (clock_ns() - start_ns > milliseconds * 1000000ull)
			return false;
		nanosleep(&between, NULL);
	}
	return true;
}

#endif
