/*
 * thread_sanitizer.h - comes before everything else in a build with ThreadSanitizer.
 *
 * That of GCC 12 does not know pthread_mutex_clocklock: it would take what such a lock guards for races.
 */
#ifndef ROOFLINE_TESTS_THREAD_SANITIZER_H
#define ROOFLINE_TESTS_THREAD_SANITIZER_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static inline int known_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					const struct timespec *until)
{
	struct timespec now;

	while (pthread_mutex_trylock(mutex)) {
		clock_gettime(clock, &now);
		if (now.tv_sec > until->tv_sec ||
		    (now.tv_sec == until->tv_sec && now.tv_nsec > until->tv_nsec))
			return ETIMEDOUT;
		sched_yield();
	}
	return 0;
}

#define pthread_mutex_clocklock known_mutex_clocklock

#endif
