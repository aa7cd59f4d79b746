/*
 * counters.h - hardware counters of some launches of every kernel, beside the trace.
 *
 * Launches arrive as driver callbacks; counter_policy.h says which are counted, counter_session.h
 * counts them, and their values become rows of metrics.csv, counted.csv and counters.csv, which our thread
 * writes.  Launches that are not counted take no lock (counter_gate.h, counter_launches.h).  A failure
 * is said once and recorded; the trace goes on without counters.
 */
#ifndef ROOFLINE_COUNTERS_H
#define ROOFLINE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_api.h"
#include "options.h"

/* Enables the callbacks.  Called once, when the recording is open; options are borrowed. */
void counters_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		    const struct options *options);

/* Every driver callback. */
void counters_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

/* A context is about to go. */
void counters_on_context_end(CUcontext context);

/* A module is about to be unloaded. */
void counters_on_module_unload(void);

/* On our thread: a kernel's record says how long it ran; rows that launches left are to be written, for the last time before
 * the recording is sealed. */
void counters_note_kernel_time(uint32_t correlation, int64_t ns);
void counters_write_rows(void);
void counters_write_last_rows(void);

/* On a thread that exits, perhaps in a signal handler that has interrupted a launch. */
void counters_on_exit(void);

/* Reads the open pass and counts no more: the program ends. */
void counters_stop(void);

/* True while launches are repeated: then kernel records are neither usable nor may they be forced out. */
bool counters_are_replaying(void);

/* True for a kernel that CUPTI itself launches to count others. */
bool counters_is_own_kernel(const char *name);

#endif
