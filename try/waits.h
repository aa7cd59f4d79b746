/*
 * waits.h - waits of the host for the GPU that are left out, because the host could see nothing of what they wait for.
 *
 * That is certain where no memory exists that both see (pinned, registered, managed, mapped, shared with another process or
 * library), no code can print, and all that the GPU was given since the last wait for everything works on memory of the GPU
 * alone.  Then a wait does two things, and both are kept.  What the program gives to the GPU next comes after what it waited
 * for: in another stream an event is waited for first, on the GPU.  And when it asks, or reads, what it waited for is done:
 * the wait that was left out is made before any function that could tell (the third column of functions.h), for exactly what
 * the program would have waited for, so that nothing else can make it wait for ever.
 */
#ifndef ROOFLINE_TRY_WAITS_H
#define ROOFLINE_TRY_WAITS_H

#include <cuda.h>
#include <stdbool.h>

#include "functions.h"
#include "roofline/try.h"

/* The third column's part of what is to be done before a function. */
void waits_before(enum function_wait wait);

/* The same before a capture, of which deferred_begin_capture() has told: nothing is left out from there on. */
void waits_begin_capture(void);

/* The program gives the GPU work in a stream that the host cannot see.  NULL: the legacy default stream; is_of_thread: where
 * it names none it is the calling thread's. */
void waits_note_work(CUstream stream, bool is_of_thread);

/* An event is recorded again. */
void waits_note_record(CUevent event);

/* Nothing is in the stream any more that is known by its handle. */
void waits_forget_stream(CUstream stream);

/* Before a library is loaded, which may give memory of the GPU to other devices without a call of the driver: stubs.c. */
void try_before_dlopen(void);

/* Others may see the GPU's memory from now on without a call of the driver (onlookers.h): what was left out is made, and no
 * wait is left out any more.  The driver is not opened for that. */
void waits_end_for(enum try_reason reason);

/* Whether that may still come. */
bool waits_may_be_left_out(void);

/* From now on no wait is left out. */
void waits_stop(enum try_reason reason);

/* Whether a wait is left out; else it is to be made, behind what was put off.  What was put off may stay so. */
bool waits_leave_out_stream(CUstream stream, bool is_of_thread);
bool waits_leave_out_event(CUevent event); /* what was put off must be given to the driver before */
bool waits_leave_out_context(void);

/* After it all that this thread gave to the GPU is done, wherever that was. */
void waits_have_waited_for_context(void);

/* At the end of the process: what was left out is made. */
void waits_end(void);

/* In the child of a fork. */
void waits_forked(void);

#endif
