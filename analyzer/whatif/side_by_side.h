/*
 * side_by_side.h - a few iterations without a change and with it, to look at.
 *
 * A whole run has too much in it for anybody to see why it gets faster, so this is a stretch of it: the
 * first iterations of the loop that changes and takes most time.  Both sides are replays, as those that
 * a prediction stands on, without what recording added.  Only what runs meanwhile is kept, so memory goes
 * with the stretch and not with the recording.
 */
#ifndef ROOFLINE_SIDE_BY_SIDE_H
#define ROOFLINE_SIDE_BY_SIDE_H

#include "whatif/what_if.h"

/* Iterations submit so many times together; as many as that are, but not more, nor fewer, than these.
 * More than a few cannot be told apart; copies beside kernels need some to be seen. */
#define STRETCH_SUBMITS 24
#define STRETCH_ITERATIONS_LEAST 4
#define STRETCH_ITERATIONS_MOST 16

/* What both sides show. */
struct stretch {
	uint32_t thread;	/* threads[] */
	size_t first, end;	/* calls[] of it; both 0: there is nothing to show */
	size_t first_iteration; /* of its loop, from 1 */
	size_t iteration_count; /* 0: what changes is in no loop */
	size_t loop_iteration_count;
};

/* A call or an operation of one side. */
struct side_span {
	int64_t start_ns, end_ns;
	uint32_t index;			    /* calls[] or ops[] */
	enum profile_call_class call_class; /* of a call: what it has become on this side */
	bool is_own;			    /* of the stretch; else it runs meanwhile */
};

struct side {
	int64_t start_ns,
		end_ns;	      /* from the stretch's first call to the end of all that it submits */
	int64_t run_start_ns; /* the device's first operation */
	struct side_span *calls; /* owned; of the stretch's thread, by start */
	struct side_span *ops;	 /* owned; of all devices, by start */
	size_t call_count, op_count;
};

struct side_by_side {
	struct stretch stretch;
	struct side before, after;
};

/* A change and the loops that it is for. */
struct side_request {
	const struct what_ifs *all;
	const struct change *change;
	const bool *is_changed; /* by call: a technique has changed the iteration that it is of */
	size_t device;
	int64_t from_ns, to_ns; /* recorded: the stretch begins and ends there */
};

/* Returns 0 or -ENOMEM; the caller frees with side_by_side_free, also after a failure.  The predictor
 * must be usable. */
int side_by_side_replay(struct side_by_side *out, const struct side_request *request);
void side_by_side_free(struct side_by_side *sides);

#endif
