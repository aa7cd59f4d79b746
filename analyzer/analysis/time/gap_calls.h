/*
 * gap_calls.h - what API calls mean for the gaps of gaps.h: causes by name, and what a launch
 * followed or had to wait for.
 *
 * Made once per recording, in one pass over its calls and operations; every
 * look-up then visits a handful of calls.  Private to gap_finder.c.
 *
 * To give another call a cause: one row in the table of gap_calls.c.
 */
#ifndef ROOFLINE_GAP_CALLS_H
#define ROOFLINE_GAP_CALLS_H

#include "analysis/time/gaps.h"
#include "base/marks.h"
#include "base/spans.h"

/* The calls between a launch and the one that submitted work before it. */
struct approach {
	uint32_t submitting;	 /* that one, or PROFILE_NONE */
	int64_t waited_until_ns; /* the last wait's return, INT64_MIN without one */
	bool has_stream_wait;	 /* cudaStreamWaitEvent: the device waits */
};

#define GAP_CALLS_KNOWN 64

struct gap_calls {
	const struct profile *profile;
	uint8_t *causes;	/* by call name: enum gap_cause, of memory that is not pageable */
	bool *is_stream_wait;	/* by call name: cudaStreamWaitEvent */
	struct marks submitted; /* calls of operations */
	struct marks copied;	/* calls of copies, among others */
	uint32_t *copies;	/* of those: ops[], the most relevant copy */
	struct spans *captures; /* by thread: while it captured a graph */
	uint32_t *
		unseen; /* launches of graphs whose operations name no call, by process, then start */
	size_t unseen_count;
	struct approach *known; /* of every GAP_CALLS_KNOWN-th call */
	uint32_t unknown_from;	/* while known[] is filled in: the call that is next */
};

/* Fails with -ENOMEM only; close it also then. */
int gap_calls_open(struct gap_calls *calls, const struct profile *profile);
void gap_calls_close(struct gap_calls *calls);

/* What a call means for a gap that its thread spent in it; also for what it launched itself. */
enum gap_cause gap_calls_inside(const struct gap_calls *calls, uint32_t call);
enum gap_cause gap_calls_launching(const struct gap_calls *calls, uint32_t call);

/* The call that launched op, or PROFILE_NONE.  Bodies of conditional nodes name no call: they
 * belong to the last launch before them that has no operation of its own. */
uint32_t gap_calls_launch_of(const struct gap_calls *calls, const struct profile_op *op);

struct approach gap_calls_approach(const struct gap_calls *calls, uint32_t launch);

/* Since when the thread has known the few bytes by which it decided to launch op, or INT64_MAX. */
int64_t gap_calls_decision(const struct gap_calls *calls, const struct approach *approach,
			   const struct profile_op *op);

/* Whether after, which was queued before before ended, had to wait for another stream. */
bool gap_calls_is_dependent(const struct gap_calls *calls, const struct approach *approach,
			    const struct profile_op *before, const struct profile_op *after);

/* How long into the gap, at whose beginning it was already there, the launching thread was inside a wait or a copy that
 * waits; 0 otherwise. */
int64_t gap_calls_waited(const struct gap_calls *calls, uint32_t launch, const struct gap *gap);

/* What work that a launch submitted waits for once it has reached the device, when it is no other stream: memory that is
 * copied through a buffer of the driver or moved, or the device itself. */
enum gap_cause gap_calls_waiting(const struct gap_calls *calls, const struct approach *approach,
				 const struct profile_op *after);

/* The same for a node of a graph after another one of the same launch. */
enum gap_cause gap_calls_between_nodes(const struct profile *profile,
				       const struct profile_op *before,
				       const struct profile_op *after);

#endif
