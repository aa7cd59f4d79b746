/*
 * steady_split.h - any time of a run divided into what lies in the steady state and what happens once.
 *
 * Operations are divided by when their device's steady state is, calls and ranges by when that of their process is: from the first
 * call of an iteration on (steady_state.h).  Where there is none, nothing is known of it, nor of a sum that it is part of.
 * The two parts of a sum add up to it.
 */
#ifndef ROOFLINE_STEADY_SPLIT_H
#define ROOFLINE_STEADY_SPLIT_H

#include "analysis/time/steady_state.h"

struct steady_part {
	int64_t time_ns;
	uint64_t count; /* of what begins in it */
};

struct steady_split {
	struct steady_part steady, once;
	bool is_unknown; /* some of it is where nothing repeats, or no steady state was looked for */
};

/* Where times that come by device or thread, and then by start, are looked up: linear in all of them.  Zeroed at first, but
 * for state. */
struct steady_cursor {
	const struct steady_state *state; /* NULL: nothing is known */
	const struct spans *when;	  /* of where it stands; NULL: that has no steady state */
	size_t next;
	uint32_t at; /* device or thread, and one more */
};

/* The next operation. */
void steady_split_op(struct steady_split *split, struct steady_cursor *cursor,
		     const struct profile *profile, const struct profile_op *op);

/* The next time of a device, in which nothing begins. */
void steady_split_device(struct steady_split *split, struct steady_cursor *cursor, uint32_t device,
			 int64_t start_ns, int64_t end_ns);

/* The next time of a thread: a call, or a range. */
void steady_split_host(struct steady_split *split, struct steady_cursor *cursor,
		       const struct profile *profile, uint32_t thread, int64_t start_ns,
		       int64_t end_ns);

/* Something of a device wherever it is: log n. */
void steady_split_any(struct steady_split *split, const struct steady_state *state, uint32_t device,
		      int64_t start_ns, int64_t end_ns);

#endif
