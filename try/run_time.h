/*
 * run_time.h - how long the program works with the GPU: from its first launch to the end of its last wait.
 */
#ifndef ROOFLINE_TRY_RUN_TIME_H
#define ROOFLINE_TRY_RUN_TIME_H

/* A launch begins; only the first one of a process counts. */
void run_time_begin(void);

/* A wait for the GPU has ended; before the first launch it tells nothing. */
void run_time_end(void);

/* In the child of a fork. */
void run_time_forked(void);

#endif
