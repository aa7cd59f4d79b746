/*
 * attach.h - one thread attaches to CUPTI, no other waits for it, and forks stay out of its way.
 *
 * Attaching takes as long as CUDA takes to start, and whoever does it may wait for what any other thread holds: CUPTI
 * takes the dynamic linker's lock, which a thread has while constructors run, and it initializes CUDA, which calls us
 * back on the same thread or waits for the one that is in there.  So the others leave word of what they want, and go on.
 *
 * A module's first NVTX call holds its other threads back until the tool is there, and a child that is forked in
 * between has them wait for a thread that it does not have.  Without us that takes microseconds.  So a fork waits for
 * the threads that are in there, but at most 3 s, and once in vain: they may need what the forking thread holds.
 */
#ifndef ROOFLINE_ATTACH_H
#define ROOFLINE_ATTACH_H

#include <stdbool.h>

/* From now on forks wait.  Once is enough; later calls change nothing. */
void attach_watch_forks(void);

/* Has this thread do it, unless one has begun to; once is given what to do, and then what others may have asked for
 * meanwhile.  Returns whether it is over: done, or out of reach (attach_is_forked). */
bool attach_once(void (*once)(void), void (*then)(void));

/* Whether it is done, so that nobody will look again at what others leave. */
bool attach_is_done(void);

/* Whether this thread is the one that is at it: what CUPTI calls meanwhile is none of the program's. */
bool attach_is_own(void);

/* Whether a signal handler of the program has left while its thread was attaching: nobody knows what of CUPTI is there. */
bool attach_was_left(void);

/* Whether this process was forked from one that had attached, or was about to. */
bool attach_is_forked(void);
void attach_set_forked(void);

/* Around what a module's first NVTX call does here, and around handing modules to CUPTI. */
void attach_enter_nvtx(void);
void attach_leave_nvtx(void);

/* Waits until no other thread is between these two, for 0.1 s at most. */
void attach_wait_for_nvtx(void);

/* The process that calls is the one that is recorded from now on.  The kernel clears a page of its memory in each child, as a child
 * in a PID namespace of its own may have its parent's number. */
void attach_note_process(void);
bool attach_is_process(void);

#endif
