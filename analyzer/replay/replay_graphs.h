/*
 * replay_graphs.h - the launches of graphs that a change makes of calls: when each node starts.
 *
 * A launch is a whole.  It waits for all of what its stream did before it, also for all branches of the graph that was
 * launched there; two launches of one executable graph never run side by side; and what follows it waits for all of it.
 * Within it a node waits for what it waited for in the recording, and gets its engine in the order in which nodes are
 * ready (engines.h), as far as one thread's launches go.
 *
 * Known to replay.c and replay_ops.c only: replay.h is what others ask.
 */
#ifndef ROOFLINE_REPLAY_GRAPHS_H
#define ROOFLINE_REPLAY_GRAPHS_H

#include "replay/change.h"
#include "replay/engines.h"

/* What is launched at once: the calls from one that launches a graph, or that goes on with it after a call that stays,
 * to the last one whose operations are nodes. */
struct graph_launch {
	uint32_t first_call, end_call; /* calls[] */
	uint32_t
		last_op; /* of its nodes until now the one that ends last; PROFILE_NONE: none was placed yet */
};

struct graph_node {
	uint32_t op;	/* ops[] */
	uint32_t next;	/* nodes[] in the same stream, or PROFILE_NONE */
	int64_t gap_ns; /* before it, behind another node of the graph */
};

/* Nodes of a stream. */
struct graph_branch {
	uint32_t next, last; /* nodes[]: the next one to start, and the last one */
	int64_t ready_ns; /* when that can start; NODE_WAITS: not known before something else has its time */
};
#define NODE_WAITS INT64_MAX

struct graph_launches {
	struct graph_launch *items; /* owned; by first_call */
	size_t count;
	struct graph_node *nodes;	 /* owned; room for those of the largest */
	struct graph_branch *branches;	 /* likewise, of all streams */
	uint32_t *branch_of_stream;	 /* owned; PROFILE_NONE: no node of this launch is in it */
	struct engines *engines;	 /* owned; by thread */
	size_t node_count, branch_count; /* of the launch that is placed now */
	size_t current; /* items[]: that launch; what is asked for is mostly near it */
};

struct run;

/* Of a change, which may be NULL.  Returns 0 or -ENOMEM; graph_launches_free also after a failure. */
int graph_launches_find(struct graph_launches *launches, const struct model *model,
			const struct change *change);
void graph_launches_free(struct graph_launches *launches);

static inline bool graph_launch_has(const struct graph_launch *launch, size_t call)
{
	return call >= launch->first_call && call < launch->end_call;
}

/* Known to graph_launches_of only: of a call that is far from the launch that is placed now. */
struct graph_launch *graph_launches_find_of(const struct graph_launches *launches, size_t call);

/* The launch that such a call is part of.  Most of what is asked for is of the one that is placed now, or of the one before. */
static inline struct graph_launch *graph_launches_of(const struct graph_launches *launches,
						     size_t call)
{
	struct graph_launch *current = &launches->items[launches->current];

	if (graph_launch_has(current, call))
		return current;
	if (launches->current > 0 && graph_launch_has(current - 1, call))
		return current - 1;
	return graph_launches_find_of(launches, call);
}

/* With the first call of a launch all of its nodes are placed, but for those that wait for what another thread submits
 * later; these are placed with their own calls. */
void replay_submit_nodes(struct run *run, size_t call);

#endif
