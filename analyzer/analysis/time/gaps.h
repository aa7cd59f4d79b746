/*
 * gaps.h - every idle nanosecond of a device gets exactly one cause.
 *
 * A device is idle when none of its operations runs, between its first and its
 * last operation.  Each gap ends with an operation; what its launching thread
 * did during the gap explains why the device waited.  Pure: reads a profile,
 * allocates its result, prints nothing.  It must not know any output format.
 *
 * The rule, for a gap [g0, g1) between operation P, which ended last before it,
 * and N, which starts at g1 (of several, the one whose call came first):
 *
 *  1. P and N are nodes of one graph launch, or N is a graph that the device
 *     launched: `device scheduling`, but `pageable staging` where N copies pageable
 *     memory or P copied to it.
 *  2. N's launching call is not in the recording, or an imported file lacks what was launched between P and N:
 *     `unknown`.
 *  3. Otherwise, by what the calling thread did, as far as that lies in the gap:
 *     - until the call returns, what the profiler's overhead on that thread covers
 *       is `profiler` (its other threads delay no launch); code compiled or loaded
 *       on that thread, also inside other calls, is `JIT` or `module load`, and so is
 *       what the first launch of a kernel takes beyond later ones (first_launches.h);
 *     - before the call: inside calls by their class and name (gap_calls.c): waits
 *       `synchronization`; copies that wait `blocking copy`; copies of pageable
 *       memory `pageable staging`; what allocates, frees, registers or maps memory
 *       `allocation`; what moves or advises managed memory `managed memory`; graphs
 *       by what is done with them, and what a captured graph takes up `graph capture`;
 *       modules and attributes of kernels `module load`; streams and events that are
 *       made or destroyed `stream or event creation`; launches, other copies and
 *       events `launch`; outside them and in calls of no class `host compute`, but
 *       `managed memory` while memory of this device that the host had touched was
 *       moved to it (--managed);
 *     - from the call's start until N starts, at most the launch latency beyond the
 *       call's return: `launch`, or `blocking copy` when the
 *       call is a wait, or its class's cause as above; after an asynchronous copy's
 *       return pageable memory no longer matters: `launch`;
 *     - what N starts later than that, it had reached the device and waited there.
 *       When the call had returned by g0: `cross-stream dependency`
 *       when the thread had called cudaStreamWaitEvent since its last operation and P
 *       was in another stream, or P or N ran on the legacy default stream and the other
 *       on a stream that this one waits for.  `pageable staging` where N is a copy of
 *       pageable memory in a graph; `managed memory` where the thread had submitted a
 *       prefetch right before N; `device scheduling` otherwise.
 *  4. The same from the end of a copy C of at most GAP_DECISION_BYTES to the host,
 *     when N is no copy to the host and C was the last work that the thread had
 *     submitted, in a call that waited or followed by a wait: of that time all that
 *     would be synchronization, host compute, blocking copy, pageable staging,
 *     launch or device scheduling is `host decision`.  But host code of more than
 *     GAP_HOST_WORK_NS is `host compute`: the host works there, whatever it decides.
 *
 *  5. Where P is a kernel that may have launched kernels or graphs itself
 *     (gap_children.h), what would be synchronization or device scheduling, and of a
 *     copy that waits what is longer than the launch latency, is `possibly child
 *     kernels`; so is what samples show that the device worked.
 *
 *  6. Where an imported file has operations before their launches, its clocks differ, and so much of each gap is
 *     `unknown`.
 *
 * The launch latency comes from the recording, per device: the median of (N's start -
 * call's return) over the gaps that began before the call's return, where it is positive
 * and at most GAP_LATENCY_MAX_NS.
 *
 * So `synchronization` is the time inside a wait after the GPU had already gone
 * idle; the pause between the wait's return and the next launch is `host
 * compute`, however short, unless a decision needs both.
 *
 * To add a cause: one CAUSE row, the case in gap_finder.c or gap_calls.c that assigns it, and its color:
 * a letter in charts/chart_colors.c, a value in plots/style.gp.
 */
#ifndef ROOFLINE_GAPS_H
#define ROOFLINE_GAPS_H

#include "trace/profile.h"
#include "analysis/time/timeline.h"

/* CAUSE(constant, json key, title, meaning), in the order that reports show them */
#define GAP_CAUSES(CAUSE)                                                                         \
	CAUSE(LAUNCH, "launch", "launch",                                                         \
	      "the launch call was running, or its work on the way to the GPU")                   \
	CAUSE(SYNC, "synchronization", "synchronization",                                         \
	      "the launching thread was still inside a wait for work that had already ended")     \
	CAUSE(DECISION, "host_decision", "host decision",                                         \
	      "the launching thread read a few bytes of a result and launched what follows")      \
	CAUSE(HOST, "host_compute", "host compute",                                               \
	      "the launching thread ran its own code, outside CUDA")                              \
	CAUSE(COPY, "blocking_copy", "blocking copy",                                             \
	      "the launching thread was inside a copy that it waits for")                         \
	CAUSE(STAGING, "pageable_staging", "pageable staging",                                    \
	      "pageable memory was copied through a buffer of the driver")                        \
	CAUSE(DEPENDENCY, "cross_stream_dependency", "cross-stream dependency",                   \
	      "work that had been submitted waited for an event or the legacy default stream")    \
	CAUSE(ALLOCATION, "allocation", "allocation",                                             \
	      "the launching thread allocated, freed, registered or mapped memory")               \
	CAUSE(MANAGED, "managed_memory", "managed memory",                                        \
	      "managed memory was moved or advised, and the work waited for it")                  \
	CAUSE(CREATION, "stream_creation", "stream or event creation",                            \
	      "the launching thread created or destroyed streams or events")                      \
	CAUSE(MODULE, "module_load", "module load", "code was loaded")                            \
	CAUSE(JIT, "jit", "JIT compilation", "code was compiled")                                 \
	CAUSE(CAPTURE, "graph_capture", "graph capture", "the launching thread captured a graph") \
	CAUSE(INSTANTIATE, "graph_instantiation", "graph instantiation",                          \
	      "the launching thread instantiated a graph")                                        \
	CAUSE(UPDATE, "graph_update", "graph update",                                             \
	      "the launching thread changed an instantiated graph, or nodes of a graph")          \
	CAUSE(GRAPH, "graph_management", "graph management",                                      \
	      "the launching thread built, uploaded, destroyed or queried a graph")               \
	CAUSE(DEVICE, "device_scheduling", "device scheduling",                                   \
	      "the work had been submitted before the gap began: the GPU itself took the time")   \
	CAUSE(CHILDREN, "child_kernels", "possibly child kernels",                                \
	      "what a kernel launched itself seems to have run, which no trace shows")            \
	CAUSE(PROFILER, "profiler", "profiler", "tracing itself took the time")                   \
	CAUSE(UNKNOWN, "unknown", "unknown", "the recording does not show it")

#define GAP_CAUSE_CONSTANT(constant, key, title, meaning) GAP_##constant,
enum gap_cause { GAP_CAUSES(GAP_CAUSE_CONSTANT) GAP_CAUSE_COUNT };
#undef GAP_CAUSE_CONSTANT

/* The host's own time, if longer, is rather its work than what lies between two calls anyway. */
#define GAP_HOST_WORK_NS 100000
/* What a host reads to decide by: a flag, a count, a loss; anything longer is a result. */
#define GAP_DECISION_BYTES 256

/* The launch latency where the recording has none to measure: submissions take a few microseconds.  A start later than
 * 20 us after the call's return was held up by something else. */
#define GAP_LATENCY_NS 5000
#define GAP_LATENCY_MAX_NS 20000

/* One idle span and the two operations beside it. */
struct gap {
	int64_t start_ns, end_ns;
	int64_t by_cause_ns[GAP_CAUSE_COUNT]; /* adds up to end_ns - start_ns exactly */
	uint32_t causes;		      /* bits of those that are not 0: mostly two */
	size_t before, after;		      /* profile->ops[] */
	enum gap_cause cause;		      /* the largest share */
};

/* Over the causes that a gap has: left is a uint32_t of the caller's, cause an int. */
#define GAP_EACH_CAUSE(left, cause, gap) \
	for (left = (gap)->causes; left && (cause = __builtin_ctz(left), true); left &= left - 1)
_Static_assert(GAP_CAUSE_COUNT <= 32, "causes are bits of 32");

struct gap_device {
	int64_t wall_ns, busy_ns, idle_ns;    /* wall = busy + idle */
	int64_t by_cause_ns[GAP_CAUSE_COUNT]; /* adds up to idle_ns exactly */
	uint64_t gap_count;
	uint64_t gap_count_by_cause[GAP_CAUSE_COUNT]; /* gaps whose largest share it is */
};

struct gap_analysis {
	struct gap_device *devices; /* as profile->devices[] */
	size_t device_count;
	struct gap *longest; /* longest first, over all devices */
	size_t longest_count;
	const struct gap_finder *finder; /* of gaps_visit */
	struct gap_finder *own_finder;	 /* owned; NULL where it was given one */
};

/* Sees one gap of a device after the other, in time order; a non-zero return stops and is passed on. */
typedef int (*gap_visitor)(const struct gap *gap, void *context);

/* keep: how many of the longest gaps to keep, at least 0.  Borrows the profile. */
int gaps_analyze(struct gap_analysis **out, const struct profile *profile,
		 const struct timeline *timeline, size_t keep, struct err *err);
/* The same with a finder of the profile, which is borrowed as long as the gaps are.  visit, unless it is NULL, sees all
 * gaps as well: to find their causes takes most of the time. */
int gaps_analyze_by(struct gap_analysis **out, const struct profile *profile,
		    const struct gap_finder *finder, const struct timeline *timeline, size_t keep,
		    gap_visitor visit, void *context, struct err *err);
void gaps_free(struct gap_analysis *gaps);

/* Shows every gap of a device. */
int gaps_visit(const struct gap_analysis *gaps, size_t device, gap_visitor visit, void *context);

const char *gap_cause_key(enum gap_cause cause);     /* "launch", for JSON and CSV */
const char *gap_cause_title(enum gap_cause cause);   /* for people */
const char *gap_cause_meaning(enum gap_cause cause); /* one sentence */

#endif
