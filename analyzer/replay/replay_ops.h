/*
 * replay_ops.h - when the operations start that a call submits, in a replay that is under way.
 *
 * Known to replay.c and replay_*.c only: replay.h is what others ask.
 */
#ifndef ROOFLINE_REPLAY_OPS_H
#define ROOFLINE_REPLAY_OPS_H

#include "replay/child_kernels.h"
#include "replay/replay.h"
#include "replay/replay_graphs.h"
#include "replay/replay_lanes.h"

struct thread_clock {
	int64_t recorded_ns, replayed_ns; /* the end of its last call; equal before the first */
	bool has_begun;
	uint32_t last_call;	/* calls[]; once it has begun */
	int64_t started_ns;	/* of that call, replayed */
	int64_t graph_start_ns; /* of the graph that its calls are part of: the launch call's start */
	int64_t nodes_start_ns;	       /* no node of that graph starts before */
	struct child_kernels children; /* that the device launched last in its place */
};

struct process_clock {
	int64_t end_ns;	      /* when its last call ended, recorded */
	uint32_t last_thread; /* of its last call until now; PROFILE_NONE: none yet */
};

/* What has become of an operation until now. */
enum placed {
	NOT_PLACED,
	PLACED,
	PLACED_IN_GRAPH = PLACED | 2 /* a node of one that the change made */
};

/* Of the graph that a call launches. */
struct graph_calls {
	size_t first; /* that call; 0 with no nodes: none yet */
	int64_t node_count;
	uint64_t beside_count; /* of its nodes: those that need not wait for all before them */
	/* The host's own time before each call after the first: the mean, or the longest where a long one is gone. */
	int64_t pause_ns;
};

struct run {
	struct replay *replay;
	const struct model *model;
	const struct profile *profile;
	const struct change *change;
	const struct costs *costs; /* NULL: as recorded */
	bool is_typical;	   /* without rest */
	struct thread_clock *threads;
	struct process_clock *processes;
	int64_t begun_end_ns; /* the latest end of processes that have begun; INT64_MIN: none has */
	int64_t replayed_end_ns; /* likewise of all calls until now, replayed */
	struct lanes lanes;
	struct graph_launches graphs;	/* that the change makes */
	struct graph_calls graph_calls; /* of the graph that was asked for last */
	uint32_t *
		stream_tail; /* by stream: what was placed last in it and in no lane; NULL: without lanes */
	uint8_t *placed; /* enum placed, in 2 bits: of 4 operations in a byte */
	bool keeps_calls;
	struct call_watch watch;
	/* Nothing is in lanes, becomes a node or is launched by a kernel: what is awaited is over when it has ended. */
	bool is_plain;
	size_t placed_count;
	int rc;		     /* 0 or -ENOMEM */
	int64_t work_end_ns; /* of the last operation of the call that is replayed; INT64_MIN: none yet */
};

static inline enum placed replay_placed(const struct run *run, uint32_t op)
{
	return (enum placed)(run->placed[op / 4] >> op % 4 * 2 & 3);
}

/* It was not placed before, or not in a graph. */
static inline void replay_set_placed(struct run *run, uint32_t op, enum placed placed)
{
	run->placed[op / 4] |= (uint8_t)((unsigned int)placed << op % 4 * 2);
}

/* Places what a call submits that is made at that moment, as its change says. */
void replay_submit(struct run *run, size_t call, int64_t call_start_ns);

/* When what waits for an operation that was placed can go on: after child kernels, when all of them have ended, and after
 * a node of a graph, when all of that launch have. */
int64_t replay_over_ns(const struct run *run, uint32_t op);

/* Of an operation that is placed now: where it waits in its stream or lane, how long it takes, and when all that it
 * waits for has ended and that long has passed after it; INT64_MIN: it waits for nothing. */
static inline uint32_t replay_predecessor_of(const struct run *run, uint32_t op)
{
	const struct lane *lane = lanes_of(&run->lanes, op);

	return lane ? lane->tail : model_predecessor(run->model, op);
}

static inline int64_t replay_length_ns(const struct run *run, uint32_t op)
{
	return replay_op_length_ns(run->replay, op);
}

int64_t replay_ready_ns(const struct run *run, uint32_t op, int64_t predecessor_gap_ns,
			int64_t cross_stream_gap_ns);
/* Returns when it starts, which in a lane may be later. */
int64_t replay_place_op(struct run *run, uint32_t op, int64_t start_ns, int64_t length_ns);

/* Whether a copy engine does it, from the host or to it: kind, which is left alone otherwise. */
bool replay_is_host_copy(const struct run *run, uint32_t op, unsigned int *kind);

/* From the launch of a graph to its first node. */
int64_t replay_graph_start_ns(const struct run *run, uint32_t op);

/* Once all calls are replayed: what the device launched itself, or what has no call, is as far from the operation
 * that started before it as in the recording. */
void replay_place_rest(struct run *run);

#endif
