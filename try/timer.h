/*
 * timer.h - a program that waits without calling anything, for memory that a kernel writes, gets what it put off done.
 */
#ifndef ROOFLINE_TRY_TIMER_H
#define ROOFLINE_TRY_TIMER_H

/* Something was put off. */
void timer_start(void);

/* Threads do not live on in the child of a fork. */
void timer_forked(void);

#endif
