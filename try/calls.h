/*
 * calls.h - when a watched program launched work and waited for it, kept as a run of a recording without its operations
 * (roofline/runs.h, RUN_UNTRACED): ROOFLINE_TRY_CALLS names the recording's folder.
 *
 * A call costs two readings of the clock and 24 bytes.
 */
#ifndef ROOFLINE_TRY_CALLS_H
#define ROOFLINE_TRY_CALLS_H

#include <stdint.h>

/* CALL(constant, name in api.csv) */
#define WATCHED_CALLS(CALL)                                           \
	CALL(WATCHED_LAUNCH, "cuLaunchKernel")                        \
	CALL(WATCHED_LAUNCH_EX, "cuLaunchKernelEx")                   \
	CALL(WATCHED_LAUNCH_COOPERATIVE, "cuLaunchCooperativeKernel") \
	CALL(WATCHED_GRAPH_LAUNCH, "cuGraphLaunch")                   \
	CALL(WATCHED_STREAM_WAIT, "cuStreamSynchronize")              \
	CALL(WATCHED_CONTEXT_WAIT, "cuCtxSynchronize")                \
	CALL(WATCHED_EVENT_WAIT, "cuEventSynchronize")

#define WATCHED_CONSTANT(constant, name) constant,
enum watched_call { WATCHED_CALLS(WATCHED_CONSTANT) WATCHED_CALL_COUNT };
#undef WATCHED_CONSTANT

/* folder: NULL or "": calls are not kept. */
void calls_open(const char *folder);

/* Before the driver's function, and after it with what calls_begin returned: 0 where calls are not kept. */
int64_t calls_begin(void);
void calls_end(enum watched_call call, int64_t begin_ns);

/* Writes the process's folder; without calls none. */
void calls_write(void);

/* In a child of fork: what was kept is its parent's. */
void calls_forked(void);

#endif
