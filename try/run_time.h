/*
 * run_time.h - how long the program works with the GPU: from its first launch to the end of its last wait.
 */
#ifndef ROOFLINE_TRY_RUN_TIME_H
#define ROOFLINE_TRY_RUN_TIME_H

#include <stdint.h>

/* A launch begins; only the first one of a process counts. */
void run_time_begin(void);

/* A wait for the GPU has ended; before the first launch it tells nothing. */
void run_time_end(void);

/* A wait that was left out is made later, and takes so long: as if it had taken that where it was left out.  What the program
 * itself does between is no more part of its work with the GPU than where the wait is made. */
void run_time_wait_later(uint64_t took_ns);

/* In the child of a fork. */
void run_time_forked(void);

#endif
