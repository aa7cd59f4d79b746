/*
 * once.h - what the host did in the part of a run that does not repeat.
 *
 * Every nanosecond of it is told once: of all that the threads of a process did at a moment, the row below that
 * stands first.  Calls that were made during the steady state are left out, as they are part of it.
 *
 * To tell another thing apart: one ONCE row, and the case in once.c that says which calls it is.
 */
#ifndef ROOFLINE_ONCE_H
#define ROOFLINE_ONCE_H

#include "analysis/loops/submissions.h"
#include "base/spans.h"
#include "trace/profile.h"

/* ONCE(constant, json key, title) */
#define ONCE_CAUSES(ONCE)                                                  \
	ONCE(PROFILER, "profiler", "profiler")                             \
	ONCE(CONTEXT, "context", "context")                                \
	ONCE(JIT, "jit", "JIT compilation")                                \
	ONCE(MODULE, "module_load", "module load")                         \
	ONCE(INSTANTIATION, "instantiation", "graph instantiation")        \
	ONCE(CAPTURE, "graph_management", "capture and changes of graphs") \
	ONCE(ALLOCATION, "allocation", "allocation")                       \
	ONCE(FIRST_LAUNCH, "first_launch", "first launches")               \
	ONCE(LAUNCH, "launch", "other launches")                           \
	ONCE(COPY, "copy", "copies")                                       \
	ONCE(WAIT, "synchronization", "synchronization")                   \
	ONCE(CALL, "other_calls", "other calls")                           \
	ONCE(START, "before_calls", "before the first call")               \
	ONCE(HOST, "host_compute", "host compute")

#define ONCE_CONSTANT(constant, key, title) ONCE_##constant,
enum once_cause { ONCE_CAUSES(ONCE_CONSTANT) ONCE_CAUSE_COUNT };
#undef ONCE_CONSTANT

/* A process from when it was first seen to its last event, and the sealed set of its repeating part. */
struct once_span {
	uint32_t process; /* processes[] */
	int64_t start_ns, end_ns;
	const struct spans *steady;
};

/* by_cause_ns adds up to what of the span is not steady.  Returns 0 or -ENOMEM. */
int once_measure(int64_t by_cause_ns[ONCE_CAUSE_COUNT], const struct profile *profile,
		 const struct submissions *submissions, const struct once_span *span);

const char *once_cause_title(enum once_cause cause);

#endif
