/*
 * counter_context.h - the contexts whose launches are counted: their chip, session and policy.
 *
 * counters.c decides when a launch is counted; here a context's session is opened at its first launch,
 * goes from pass to pass, and is closed for good when CUPTI refuses something.  Under counters.c's lock.
 */
#ifndef ROOFLINE_COUNTER_CONTEXT_H
#define ROOFLINE_COUNTER_CONTEXT_H

#include "counters/counter_policy.h"
#include "counters/counter_rows.h"
#include "counters/counter_session.h"
#include "options.h"

struct counter_context {
	CUcontext context; /* NULL: unused */
	char chip[64];
	uint8_t *availability;
	struct counter_session *session; /* NULL after a failure */
	struct policy *policy;
	enum metric_scope scope;
	struct counter_rows rows;
	bool is_paused;	    /* replay: a launch that must not be repeated is under way */
	bool is_range_open; /* of a launch that did not end in time */
};

/* Both are borrowed. */
void counter_contexts_init(const struct cupti_api *cupti, const struct options *options);

/* The entry of the call's context, opened when it is new; then since_ns becomes the time after that.  NULL
 * when it has no session. */
struct counter_context *counter_context_find(const CUpti_CallbackData *data, int64_t *since_ns);

/* The entry of a context; NULL when it has none. */
struct counter_context *counter_context_of(CUcontext context);

/* Warns once why there are no counters, and records it.  The trace goes on. */
void counter_context_fail(struct counter_context *context, const char *what, CUptiResult result);

/* Reads the open pass; opens the next unless is_last. */
bool counter_context_read_pass(struct counter_context *context, bool is_last);

/* Reads the open pass and goes on with the next one of the policy, or with more counters. */
bool counter_context_advance(struct counter_context *context);

/* Ends the counted launch's range.  Returns false when CUPTI would not. */
bool counter_context_end_range(struct counter_context *context);

/* True when nothing of an earlier counted launch is left. */
bool counter_context_is_free(struct counter_context *context);

void counter_context_close(struct counter_context *context);

/* At the end of the program: reads what is open. */
void counter_contexts_finish(void);

bool counter_contexts_are_replaying(void); /* any thread */

#endif
