/*
 * wait.h - waiting until a moment of CLOCK_MONOTONIC, with what glibc 2.17 has.
 *
 * The functions that take a clock came with glibc 2.30 and 2.31; the others follow the wall clock, which may be set.
 */
#ifndef ROOFLINE_WAIT_H
#define ROOFLINE_WAIT_H

#include <pthread.h>
#include <time.h>

/* A condition whose pthread_cond_timedwait takes times of CLOCK_MONOTONIC. */
void wait_init_condition(pthread_cond_t *condition);

/* Takes a lock.  Returns 0, or ETIMEDOUT: looks again and again, for locks that are free nearly always. */
int wait_lock(pthread_mutex_t *lock, const struct timespec *until);

/* Joins a thread.  Returns 0, or ETIMEDOUT. */
int wait_join(pthread_t thread, const struct timespec *until);

#endif
