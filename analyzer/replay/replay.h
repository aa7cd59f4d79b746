/*
 * replay.h - runs the model again, as recorded or with a change.
 *
 * Calls are taken in the order in which they were recorded.  Each thread's clock
 * goes on by the host's own time; an operation starts when its call has submitted
 * it and all that it waits for has ended:
 *
 *   start = max(call + launch_to_start, ready + gap) + rest
 *
 * where rest is what the recorded start was later (or earlier) than the same
 * formula on recorded times says, so a replay without a change gives every
 * recorded time again.  replay_run_typical leaves it out.  Nothing starts before what it waits for.  With costs, the
 * time that recording added to calls is left out.
 *
 * Replaying a task graph with changed tasks is Daydream's idea (Zhu et al., USENIX ATC 2020).
 * Pure: allocates its result, prints nothing.
 */
#ifndef ROOFLINE_REPLAY_H
#define ROOFLINE_REPLAY_H

#include "replay/costs.h"
#include "replay/model.h"
#include "replay/part_times.h"

enum call_change {
	CALL_KEPT,
	CALL_DROPPED,	 /* takes no time and waits for nothing; it submits nothing */
	CALL_AS_GRAPH,	 /* becomes the launch of a graph of its own and the following operations */
	CALL_AS_UPDATED, /* likewise, after an update of it by the host */
	CALL_IN_GRAPH,	 /* its operations belong to the graph launched before; it is gone, with the
			* host's time before it */
	CALL_AFTER_WORK, /* likewise, but the host's time before it stays: it computes */
	CALL_IN_BODY, /* as CALL_IN_GRAPH, and the first of them starts after a decision of the device */
	CALL_IN_KERNEL, /* likewise, after a barrier: a kernel whose blocks stay does its work */
	CALL_FUSED, /* gone: the kernel before in its stream goes on with the work of this one */
	CALL_DEPENDENT, /* its kernel has been set up when the one before in its stream ends: no gap */
	CALL_MADE_ASYNC, /* submits what it did, and waits for nothing */
	CALL_ASKS, /* gone: the host asked for what the device knows; what ran last before it is a parent */
	CALL_BY_DEVICE, /* gone: that parent launches its kernel */
	CALL_UPDATES, /* in place of making an executable graph it updates the one that there is */
	CALL_AGAIN,   /* so this launch of it is not the first, but one of updated nodes */
};

/* What the host does for so long between two calls may be its work, which a graph does not spare. */
#define LONG_HOST_NS 100000

#define LANE_JOINED 0x80000000U
#define OP_GONE 0 /* an operation of this length is gone: no gap before it either */

/* What is different; arrays that are NULL change nothing. */
struct change {
	uint8_t *calls;	     /* by call: enum call_change */
	int64_t *op_ns;	     /* by op: how long it takes; negative: as recorded */
	uint32_t *lanes;     /* by op: the stream that it runs in, from 0; PROFILE_NONE: its own.
			  * Operations in lanes share the engines: one copy in each direction,
			  * and kernels as far as they fit together; with LANE_JOINED it waits for
			  * all that is in lanes */
	uint32_t lane_count; /* of them */
	uint8_t *
		fill; /* by op: percent of the GPU that it takes in a lane; 0, and NULL: all of it */
	int64_t update_ns;   /* what an update of a graph takes the host for each node */
	int64_t decision_ns; /* what a decision takes before the first operation of a body */
	bool are_beside; /* kernels that the device launches run side by side, as far as they fit (fill) */
};

struct replay {
	/* By call; one that is gone has none of its own.  Where they are not kept: NULL, or of an earlier run. */
	int64_t *call_start_ns, *call_end_ns;
	int64_t *op_start_ns, *op_end_ns; /* by op */
	size_t call_count, op_count;
};

/* change and costs may be NULL: as recorded.  A change needs costs.  *replay is all 0, or what an
 * earlier run with this model left: then its memory is used again.  Returns 0 or -ENOMEM; the caller
 * frees with replay_free, also after a failure. */
int replay_run(struct replay *replay, const struct model *model, const struct change *change,
	       const struct costs *costs);
/* The same, but of calls only the stopwatches are told: their times are not kept. */
int replay_time(struct replay *replay, const struct model *model, const struct change *change,
		const struct costs *costs, struct part_time *part_times, size_t part_time_count);
/* As recorded, but without rest, but for what waited until counters were set back: how far what is known of steps
 * explains the recording.  Times of calls are not kept either. */
int replay_run_typical(struct replay *replay, const struct model *model);
void replay_free(struct replay *replay);

/* The end of the last of calls [first, end) of a thread, and of all that they submitted. */
int64_t replay_end_ns(const struct replay *replay, const struct model *model, size_t first,
		      size_t end);

/* From the first operation of a device to its last one's end; 0 without any. */
int64_t replay_wall_ns(const struct replay *replay, const struct model *model, size_t device);

#endif
