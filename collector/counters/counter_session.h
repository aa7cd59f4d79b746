/*
 * counter_session.h - CUPTI's range profiler on one context: open a pass, count launches, read them.
 *
 * Every counted launch is a range of its own, so that launches beside it run as they would have; what
 * is not inside a range costs nothing.  Passes follow each other in CUPTI's order, round and round.
 * docs/collector.md has the costs that were measured.  Calls for one session must not overlap.
 */
#ifndef ROOFLINE_COUNTER_SESSION_H
#define ROOFLINE_COUNTER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/counter_config.h"
#include "cupti_api.h"

/* Launches that one open pass holds: opening the first takes 0.5 ms longer for each (H200). */
#define SESSION_RANGES 64

enum session_mode {
	SESSION_ROTATION, /* launches that are marked carry the open pass */
	SESSION_REPLAY,	  /* every launch is repeated for every pass, memory saved and restored */
};

struct counter_session;

/* Takes over config.  Returns what CUPTI said, and a session to close only when it is CUPTI_SUCCESS. */
CUptiResult counter_session_open(struct counter_session **out, const struct cupti_api *cupti,
				 CUcontext context, enum session_mode mode,
				 struct counter_config *config);

/* What is asked for and in how many passes. */
const struct counter_config *counter_session_config(const struct counter_session *session);

/* Around the call that launches.  In SESSION_REPLAY there is nothing to mark: each launch is a range. */
CUptiResult counter_session_begin_range(struct counter_session *session);
CUptiResult counter_session_end_range(struct counter_session *session);

/* A value that became known: of the nth range since the pass was opened, of config->list.choices[]. */
typedef void (*session_value)(void *context, size_t range, size_t choice, double value);

/* Closes the open pass, hands over its values, and opens the next unless is_last. */
CUptiResult counter_session_read(struct counter_session *session, bool is_last, session_value take,
				 void *context);

/* Opens a pass again after a read that was the last. */
CUptiResult counter_session_resume(struct counter_session *session);

/* has_device: the context still exists.  NULL is fine. */
void counter_session_close(struct counter_session *session, bool has_device);

#endif
