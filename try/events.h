/*
 * events.h - the events that the program created without timing: recording one, and waiting for it in a stream, can be put off.
 *
 * The driver does not tell how an event was created.  So one that was not seen to be created without timing (the time of
 * others can be asked for), or that others may use, is not known here.  All under the lock of the queue.
 */
#ifndef ROOFLINE_TRY_EVENTS_H
#define ROOFLINE_TRY_EVENTS_H

#include <cuda.h>

struct kernel;

/* It was created with these flags, in this context. */
void events_add(CUevent event, unsigned flags, CUcontext context);
void events_remove(CUevent event);

/* What stands for it in the queue; NULL where it is not known, or of another context. */
struct kernel *events_record(CUevent event, CUcontext context);
struct kernel *events_wait(CUevent event, CUcontext context);

/* Contexts, and their events, may be gone. */
void events_forget(void);

#endif
