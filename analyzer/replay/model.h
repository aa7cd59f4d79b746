/*
 * model.h - the run as what waits for what, found once in a recording.
 *
 * An operation waits for its launching call, for the last operation of its stream
 * that had ended when it started (a dependent launch starts beside those after that),
 * and for at most one of another stream (an event, the legacy default stream, the
 * launch of the same graph before).  A call waits for the calls of its thread before
 * it; a wait, a blocking copy and a free return after one operation has ended.  What
 * time each such step typically takes says latencies.h; what a single step took beyond
 * that stays with it (replay.h).
 *
 * What is not known from the records is inferred from times and said here:
 * - a wait waits for the operation of its process that ended last before the wait
 *   returned: CUPTI tells a wait's stream only with --syncs;
 * - the first operation after cudaStreamWaitEvent waits for the one of another
 *   stream that ended last before it started, unless the recording tells what the
 *   event was recorded behind (recorded_events.h);
 * - the operations of one graph launch keep their distances to the first.
 */
#ifndef ROOFLINE_MODEL_H
#define ROOFLINE_MODEL_H

#include "base/marks.h"
#include "base/near_numbers.h"
#include "base/spans.h"
#include "analysis/loops/submissions.h"
#include "replay/untraced_launches.h"
#include "trace/profile.h"

/* How a call spends its time. */
enum call_behavior {
	CALL_WORKS,	/* the host's own time, whatever the GPU does */
	CALL_WAITS,	/* until an operation has ended */
	CALL_WAITS_OWN, /* until its own operation has: a blocking copy */
};

/* What recording added to a call goes by (recording_overhead.h). */
enum call_slowed {
	CALL_NOT_SLOWED,
	CALL_SLOWED_AS_LAUNCH,
	CALL_SLOWED_AS_GRAPH,  /* it launches, makes, updates or destroys a graph */
	CALL_SLOWED_BY_RECORD, /* it submits nothing: its own record is all */
};

/* And likewise to a kernel or a graph behind another one. */
enum op_delayed { OP_NOT_DELAYED, OP_DELAYED_KERNEL, OP_DELAYED_GRAPH, OP_DELAYED_WHOLE_GRAPH };

/* Fewer calls or operations are classified by one thread. */
#define MODEL_SLICE 65536

/* What every replay asks of a call, and of an operation, found once: they are read as often as there are replays. */
struct call_traits {
	uint8_t behavior : 2; /* enum call_behavior */
	uint8_t class : 4;    /* enum profile_call_class */
	uint8_t slowed : 2;   /* enum call_slowed */
};

struct op_traits {
	uint8_t is_called_back : 1; /* a function of the host ran in its stream before it */
	uint8_t is_idle : 1;	    /* all that it waits for had ended before its call began */
	uint8_t is_unrecorded : 1;  /* what it waited for is not recorded (latencies.h) */
	uint8_t gap : 3;	    /* enum latency_gap: behind its predecessor, if it has one */
	uint8_t delayed : 2;	    /* enum op_delayed */
};

struct device_latencies;

struct model {
	const struct profile *profile; /* borrowed */
	struct submissions submissions;
	uint32_t *order;		 /* all calls by start_ns; NULL: as they are */
	struct call_traits *call_traits; /* by call */
	uint8_t *graph_calls;		 /* by call_names[]: enum graph_call (graph_calls.h) */
	struct marks waiting;		 /* calls that wait for operations of others */
	uint32_t *awaited; /* of those: ops[], PROFILE_NONE where there was none to wait for */
	/* By op: ops[] before it in its stream that had ended, or PROFILE_NONE; model_predecessor tells. */
	struct near_numbers predecessors;
	struct op_traits *op_traits;	   /* by op */
	struct marks crossing;		   /* operations that wait for one of another stream */
	struct near_numbers cross_streams; /* of those: ops[] of that */
	struct device_latencies
		*devices; /* as profile->devices[]: how long steps take (latencies.h) */
	struct untraced_launches
		untraced;	/* what recording added to launches, where that was measured */
	struct spans *profiler; /* by thread: in which counters were read; NULL: none were */
};

/* Linear in calls and operations.  The profile must outlive the model.  Fails with -ENOMEM only;
 * the caller frees with model_free. */
int model_build(struct model **out, const struct profile *profile, struct err *err);
void model_free(struct model *model);

/* When everything that an operation waits for on the GPU had ended in the recording; INT64_MIN when
 * it waits for nothing there. */
int64_t model_ready_ns(const struct model *model, size_t op);

/* Of all calls by start. */
static inline uint32_t model_call_at(const struct model *model, size_t index)
{
	return model->order ? model->order[index] : (uint32_t)index;
}

static inline uint32_t model_predecessor(const struct model *model, size_t op)
{
	return near_numbers_get(&model->predecessors, op);
}

/* What an operation waits for in another stream, or PROFILE_NONE. */
static inline uint32_t model_cross_stream(const struct model *model, size_t op)
{
	return marks_has(&model->crossing, op)
		       ? near_numbers_get(&model->cross_streams, marks_rank(&model->crossing, op))
		       : PROFILE_NONE;
}

static inline enum profile_call_class model_call_class(const struct model *model, size_t call)
{
	return (enum profile_call_class)model->call_traits[call].class;
}

/* The operation whose end a call waits for, or PROFILE_NONE. */
static inline uint32_t model_awaited(const struct model *model, size_t call)
{
	if (model->call_traits[call].behavior == CALL_WORKS)
		return PROFILE_NONE;
	if (model->call_traits[call].behavior == CALL_WAITS_OWN)
		return submissions_op(&model->submissions,
				      submissions_first(&model->submissions, call + 1) - 1);
	return model->awaited[marks_rank(&model->waiting, call)];
}

/* How much of [start_ns, end_ns) of a thread went to reading hardware counters. */
static inline int64_t model_profiler_ns(const struct model *model, uint32_t thread,
					int64_t start_ns, int64_t end_ns)
{
	return model->profiler ? spans_covered(&model->profiler[thread], start_ns, end_ns) : 0;
}

/* Whether all that it waits for on the GPU had ended before its call began. */
static inline bool model_is_idle(const struct model *model, size_t op)
{
	return model->op_traits[op].is_idle;
}

#endif
