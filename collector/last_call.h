/*
 * last_call.h - keeps the call in which each thread is where it can be read once the program has died
 * (roofline/last_call.h).
 */
#ifndef ROOFLINE_COLLECTOR_LAST_CALL_H
#define ROOFLINE_COLLECTOR_LAST_CALL_H

#include <cupti.h>

#include "options.h"

/* Once the recording is open.  Nothing is kept where the program does not run under record, or the disk has no room. */
void last_call_start(const struct options *options);

/* Around what the collector does in a callback. */
void last_call_enter(CUpti_CallbackDomain domain, const void *data);
void last_call_leave(CUpti_CallbackDomain domain, const void *data);

/* The recording is complete. */
void last_call_end(void);

#endif
