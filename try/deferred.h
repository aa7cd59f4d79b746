/*
 * deferred.h - launches that were put off, in the order in which the program made them, and when they are given to the driver.
 *
 * One queue for all threads, under one lock: what a thread launched before it told another one to go on is before what that
 * one does.  Whatever could notice calls deferred_before() first.  try_pending falls to 0 only after the driver has it all.
 */
#ifndef ROOFLINE_TRY_DEFERRED_H
#define ROOFLINE_TRY_DEFERRED_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "functions.h"
#include "kernels.h"

struct launch {
	struct kernel
		*kernel; /* of a memset or a copy (work.h), which are launches as well; else NULL */
	CUfunction function;
	CUstream stream;
	void **parameters;
	struct shape shape;
};

/* Puts a launch off and returns true, or says why it must be made now: known, when that is a reason, or what is found.  late
 * is what an earlier launch would have returned, where the driver refused that when it was made. */
bool deferred_put(const struct launch *launch, enum try_reason known, enum try_reason *reason,
		  CUresult *late);

/* Whether anything may still be put off; and whether the last launch was. */
bool deferred_is_on(void);
bool deferred_is_putting_off(void);

/* The same for an event that is recorded in the stream, or for which that waits: only as long as launches are put off. */
bool deferred_put_event(CUevent event, CUstream stream, bool is_wait);

/* The program created an event with these flags; or it is going to destroy it: whether it may. */
void deferred_add_event(CUevent event, unsigned flags);
bool deferred_lose_event(CUevent event);

/* Whether anything is put off that this stream is to do. */
bool deferred_has_work_of(CUstream stream);

/* The driver took so long for a launch that was passed on for that reason, and accepted it or not. */
void deferred_note_passed(const struct launch *launch, enum try_reason reason, bool is_accepted,
			  uint64_t took_ns);

/* Before the function in front of which the stub stands is called. */
void deferred_before(unsigned stub, enum function_kind kind);

/* Around a call that gives a stream something and is passed on; of one that was not put off it has begun already.  What the
 * thread's call does must not come between the parts of what stands for a graph of several streams (graph_events.h), so
 * none is launched while another thread is in one. */
void deferred_begin_passing(void);
void deferred_end_passing(void);

/* Gives everything to the driver. */
void deferred_flush(void);

/* Gives everything to the driver; what is known of kernels and graphs may not hold any more. */
void deferred_forget(void);

/* Between these nothing is put off. */
void deferred_begin_capture(void);
void deferred_end_capture(void);

/* How many streams are captured. */
int deferred_count_captures(void);

/* This thread is in a call of the driver that gives it what was put off, or asks it about a kernel. */
bool deferred_is_inside(void);

/* From now on nothing is put off. */
void deferred_stop(enum try_reason reason);

/* For the timer: gives everything to the driver when nothing was put off since the last call.  Whether there was anything. */
bool deferred_flush_if_quiet(void);

/* Before the process becomes another program: everything is given to the driver. */
void deferred_flush_before_exec(void);

/* At the end of the process: everything is given to the driver, and nothing is put off any more. */
void deferred_end(void);

/* Around a fork, and in the child. */
void deferred_before_fork(void);
void deferred_after_fork(void);
void deferred_forked(void);

#endif
