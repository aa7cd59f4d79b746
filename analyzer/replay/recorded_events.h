/*
 * recorded_events.h - what a stream waits for by cudaStreamWaitEvent, where the recording tells which event it was.
 *
 * Known to dependencies.c only, which goes through the calls of a recording by start.
 */
#ifndef ROOFLINE_RECORDED_EVENTS_H
#define ROOFLINE_RECORDED_EVENTS_H

#include "trace/profile.h"

struct recorded_events {
	const struct profile *profile;
	uint32_t *numbers; /* as profile->event_calls: equal ones for equal events of a process */
	uint32_t *behind;  /* by number: the operation that the event stands behind */
	bool *is_recorded; /* by number */
	uint32_t *awaited; /* by stream: an operation that its next one waits for */
};

/* Returns 0 or -ENOMEM; recorded_events_close in either case. */
int recorded_events_open(struct recorded_events *events, const struct profile *profile);
void recorded_events_close(struct recorded_events *events);

/* Of a call that records an event or makes a stream wait for one: what the recording tells of it, NULL for nothing. */
const struct profile_event_call *recorded_events_of(const struct recorded_events *events,
						    uint32_t call);

/* An event is recorded behind an operation, PROFILE_NONE where its stream was idle. */
void recorded_events_record(struct recorded_events *events, const struct profile_event_call *row,
			    uint32_t op);

/* A stream waits for an event; false where the recording does not tell of it having been recorded. */
bool recorded_events_wait(struct recorded_events *events, const struct profile_event_call *row);

/* What the next operation of a stream waits for, PROFILE_NONE for nothing: the one after it does not. */
uint32_t recorded_events_take(struct recorded_events *events, uint32_t stream);

#endif
