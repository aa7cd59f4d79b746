/*
 * costs.h - what the techniques cost on this GPU, from its measured ceilings.
 */
#ifndef ROOFLINE_COSTS_H
#define ROOFLINE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/counters/ceilings.h"

/* ns */
struct costs {
	int64_t launch_call_ns;	    /* the host's time in one launch */
	int64_t launch_to_start_ns; /* that call entered to the operation started, on an idle stream */
	int64_t synchronize_ns;	    /* operation ended to the wait for it returned */
	int64_t graph_launch_ns;    /* the host's time in launching a graph */
	int64_t graph_to_start_ns; /* that call entered to the first node started */
	int64_t graph_gap_ns;	   /* an operation ended to a queued graph's first node started */
	int64_t graph_node_gap_ns; /* a node ended to the next one started */
	int64_t empty_kernel_ns;   /* from the start to the end of a kernel without work */
	int64_t graph_copy_gap_ns; /* likewise before and after a copy to the host */
	int64_t graph_copy_in_gap_ns;	/* and from it */
	int64_t graph_copy_to_start_ns; /* graph launch call entered to such a first node started */
	int64_t graph_copy_in_to_start_ns; /* and from it */
	int64_t barrier_ns;	  /* a grid-wide barrier in place of the gap between two kernels */
	int64_t dependent_gap_ns; /* a kernel ended to a programmatic dependent launch going on */
	/* Dynamic parallelism; 0 where the ceilings lack it (costs_has_children). */
	int64_t child_start_ns;	 /* a kernel ended to a child started that waits for that */
	int64_t child_next_ns;	 /* a child ended to the next one of its thread started */
	int64_t child_beside_ns; /* a child started to another one that need not wait for it */
	int64_t child_return_ns; /* the last child ended to the next operation of its parent's stream */
	int64_t updated_node_ns; /* that each updated node makes the next launch longer */
	int64_t stream_wait_ns; /* the host's time to have a stream wait for another; 0: not measured */
	int64_t node_update_ns; /* the host's time to give a kernel of a graph another grid */
	int64_t iteration_ns; /* a WHILE node's own, in place of the gap before each iteration of its body */
	int64_t conditional_ns; /* an IF node's own, in place of the gap before its body, and again of that behind it */
	int64_t skip_ns; /* and in place of the gap behind the kernel that decided, where the body is left out */
	int64_t device_graph_ns;       /* likewise of a graph that the graph before it launches */
	int64_t trace_launch_ns;       /* that recording added to a call that submits work */
	int64_t trace_call_ns;	       /* and to one that submits nothing: for its record */
	int64_t trace_graph_launch_ns; /* and to one that launches a graph */
	int64_t trace_graph_start_ns;  /* and until that graph's first node starts */
	int64_t trace_wait_ns; /* and between the end of an operation and the return of the wait for it */
	int64_t trace_copy_wait_ns;   /* likewise of a copy to the host */
	int64_t trace_node_ns;	      /* and to a node of a graph after another one, on the GPU */
	int64_t trace_kernel_ns;      /* likewise to a kernel of a stream */
	int64_t trace_graph_ns;	      /* and to a graph */
	int64_t trace_whole_graph_ns; /* that is recorded as a whole */
	double host_times; /* as long as on the host of the ceilings calls take on that of the recording */
	const struct ceilings *ceilings; /* borrowed, for costs_graph_ns; NULL: without */
};

/* What a changed call may cost.  COST(constant, member of struct costs, whether for each node of the call's graph) */
#define COSTS(COST)                                      \
	COST(LAUNCH_CALL, launch_call_ns, false)         \
	COST(LAUNCH_TO_START, launch_to_start_ns, false) \
	COST(SYNCHRONIZE, synchronize_ns, false)         \
	COST(GRAPH_LAUNCH, graph_launch_ns, false)       \
	COST(GRAPH_TO_START, graph_to_start_ns, false)   \
	COST(GRAPH_NODE_GAP, graph_node_gap_ns, false)   \
	COST(BARRIER, barrier_ns, false)                 \
	COST(DEPENDENT_GAP, dependent_gap_ns, false)     \
	COST(ITERATION, iteration_ns, false)             \
	COST(CONDITIONAL, conditional_ns, false)         \
	COST(SKIP, skip_ns, false)                       \
	COST(DEVICE_GRAPH, device_graph_ns, false)       \
	COST(NODE_UPDATES, node_update_ns, true)         \
	COST(UPDATED_NODES, updated_node_ns, true)

#define COST_CONSTANT(constant, member, is_by_node) COST_##constant,
enum cost {
	COST_RECORDED, /* what the recording says */
	COST_NONE,
	COST_GRAPH_UPDATE, /* cudaGraphExecUpdate of all nodes of the call's graph (costs_graph_ns) */
	COSTS(COST_CONSTANT) COST_COUNT
};
#undef COST_CONSTANT

/* Which end of the spread of every cost to take: for an interval. */
enum costs_end { COSTS_LOW, COSTS_MIDDLE, COSTS_HIGH };

/* What is usual in a recording; ns. */
struct recorded_latencies {
	int64_t kernel_gap_ns;	    /* between queued kernels, with what recording added */
	int64_t launch_call_ns;	    /* in one kernel launch; 0: there is none */
	int64_t graph_call_ns;	    /* in one launch of a graph; likewise */
	int64_t untraced_call_ns;   /* in one kernel launch without recording; 0: not known */
	bool is_added_measured;	    /* else added_to_launch_ns is not known */
	int64_t added_to_launch_ns; /* by recording to a kernel launch */
	int64_t graph_start_ns; /* that call entered to the first node started, on an idle stream; likewise */
};

/* False, and nothing filled in, when the ceilings lack a row or are a datasheet's: no prediction. */
bool costs_of(struct costs *costs, const struct ceilings *ceilings,
	      const struct recorded_latencies *recorded, enum costs_end end);

/* Of copies between GPUs of that name, bytes a second: as measured, or else so much of the datasheet's NVLink as others
 * reach; 0: neither is known. */
double costs_peer_rate(const struct ceilings *ceilings, const char *gpu);

/* Whether the ceilings have what children cost. */
bool costs_has_children(const struct ceilings *ceilings);

/* What a call for a graph of so many nodes takes, of the rows by nodes; ns.  0: the ceilings lack the row, or the
 * number of nodes is not known (0). */
int64_t costs_graph_ns(const struct costs *costs, enum ceiling_id row, uint64_t node_count);

/* What a launch of a graph takes longer where so many of its nodes are side by side; ns.  0: the ceilings lack the row. */
int64_t costs_branches_ns(const struct costs *costs, uint64_t node_count);

/* Known to the two functions below only: where COSTS has a cost in struct costs. */
struct cost_row {
	size_t offset;
	bool is_by_node;
};
extern const struct cost_row cost_rows[COST_COUNT];

/* Whether it needs node_count. */
static inline bool costs_is_by_node(enum cost cost)
{
	return cost == COST_GRAPH_UPDATE || cost_rows[cost].is_by_node;
}

/* A cost of a call whose graph has so many nodes; ns.  0 of what is as recorded. */
static inline int64_t costs_ns(const struct costs *costs, enum cost cost, uint64_t node_count)
{
	int64_t ns;

	if (cost == COST_RECORDED || cost == COST_NONE)
		return 0;
	if (cost == COST_GRAPH_UPDATE)
		return costs_graph_ns(costs, CEILING_graph_update, node_count);
	ns = *(const int64_t *)(const void *)((const char *)costs + cost_rows[cost].offset);
	return cost_rows[cost].is_by_node ? (int64_t)node_count * ns : ns;
}

/* Whether the ceilings have what a conditional node costs, or a graph that the device launches. */
bool costs_has_conditional(const struct ceilings *ceilings);
bool costs_has_device_graph(const struct ceilings *ceilings);

/* Whether the ceilings have all that keeping executable graphs changes. */
bool costs_has_rebuilt(const struct ceilings *ceilings);

/* cudaGraphInstantiate of so many nodes; ns. */
double costs_instantiate_ns(const struct ceilings *ceilings, uint64_t node_count);

#endif
