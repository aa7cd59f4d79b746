/*
 * events.h - the operations and the calls of a recording together, in the order in which they began.
 *
 * For who wants to read what happened, not what it adds up to; made only where it is asked for by name.
 */
#ifndef ROOFLINE_EVENTS_H
#define ROOFLINE_EVENTS_H

#include "trace/profile.h"

struct event {
	int64_t start_ns;
	uint32_t index; /* ops[], or calls[] */
	bool is_call;
};

struct events {
	struct event *events; /* by start_ns; a call before what it launches */
	size_t event_count;
	size_t op_count; /* of those */
};

/* The caller frees with events_free.  Fails with -ENOMEM. */
int events_build(struct events **out, const struct profile *profile, struct err *err);

void events_free(struct events *events);

#endif
