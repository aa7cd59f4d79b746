/*
 * call_times.h - when each call of a replay began, and when it and all that it submitted was over, in 4 or 5 bytes a call.
 *
 * The run before a change is the same for all changes, but each asks for the time of other parts of it.  So it is
 * replayed once, and parts are timed from what is kept here.
 */
#ifndef ROOFLINE_CALL_TIMES_H
#define ROOFLINE_CALL_TIMES_H

#include "replay/part_times.h"

/* Of a thread. */
struct thread_times {
	/* Owned.  Of each of its calls: from the start of the one before, and from its own start until it and all that it
	 * submitted is over; ns, 7 bits a byte, lowest first, all but the last of a number with the highest bit. */
	uint8_t *bytes;
	size_t byte_count, capacity;
	int64_t first_ns;	  /* start of its first call */
	int64_t start_ns, end_ns; /* of its last call until now */
};

struct call_times {
	const struct profile *profile; /* borrowed; NULL: it is not open */
	struct thread_times *threads;  /* owned; by thread */
	bool is_whole; /* false: calls of a thread overlap, or there was no memory for some; it cannot be asked */
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
