/*
 * call_times.h - when each call of a replay began, and when it and all that it submitted was over, in 8 bytes a call.
 *
 * The run before a change is the same for all changes, but each asks for the time of other parts of it.  So it is
 * replayed once, and parts are timed from what is kept here.
 */
#ifndef ROOFLINE_CALL_TIMES_H
#define ROOFLINE_CALL_TIMES_H

#include "replay/part_times.h"

struct call_time {
	uint32_t since_ns; /* from the start of the thread's call before */
	uint32_t over_ns;  /* from its own start until it and all that it submitted is over */
};

/* Of a thread. */
struct call_progress {
	int64_t first_ns;	  /* start of its first call */
	int64_t start_ns, end_ns; /* of its last call until now */
};

struct call_times {
	const struct profile *profile; /* borrowed; NULL: it is not open */
	struct call_time *items;       /* owned; by call */
	struct call_progress *threads; /* owned; by thread */
	bool is_whole; /* false: some time does not fit, or calls of a thread overlap; it cannot be asked */
};

/* Returns 0 or -ENOMEM; the caller frees with call_times_free, also after a failure. */
int call_times_open(struct call_times *times, const struct profile *profile);
void call_times_free(struct call_times *times);

/* Each call of a thread in turn.  work_end_ns: of the last operation that it submitted; INT64_MIN without any. */
void call_times_add(struct call_times *times, uint32_t thread, size_t call, int64_t start_ns,
		    int64_t end_ns, int64_t work_end_ns);

/* Hands all calls to a part time, as the replay would have. */
void call_times_tell(const struct call_times *times, struct part_time *part_time);

#endif
