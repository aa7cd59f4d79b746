/*
 * timer.h - a program that waits without calling anything, for memory that a kernel writes, gets what it put off done.
 */
#ifndef ROOFLINE_TRY_TIMER_H
#define ROOFLINE_TRY_TIMER_H

#include <stdbool.h>

/* Start the thread if there is none yet.  Return false where none can be made: then nothing may be deferred, since
 * nothing would give it to the GPU in a program that calls nothing any more. */
bool timer_is_there(void);

/* Something was deferred. */
void timer_wake(void);

/* Threads do not live on in the child of a fork. */
void timer_forked(void);

#endif
