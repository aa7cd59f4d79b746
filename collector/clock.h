/*
 * clock.h - a clock as one number.
 */
#ifndef ROOFLINE_CLOCK_H
#define ROOFLINE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct timespec clock_timespec(int64_t ns)
{
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

#endif
