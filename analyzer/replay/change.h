/*
 * change.h - what is different in a replay: of each call and of each operation, as a technique (techniques/) sets it.
 *
 * What becomes of a call is a few fields that do not depend on each other, so a new technique combines them and the
 * engine stays as it is.  Costs are named (costs.h) and not figures: a prediction replays with each at the low
 * and at the high end of what was measured.
 */
#ifndef ROOFLINE_CHANGE_H
#define ROOFLINE_CHANGE_H

#include "analysis/time/gaps.h"
#include "replay/costs.h"
#include "replay/model.h"

/* The host's own time before a call. */
enum host_pause {
	PAUSE_KEPT,
	PAUSE_GONE,
	PAUSE_SHARED, /* the mean of those of the graph's other calls is gone: what it takes to make one call */
};

/* What a call submits, and how. */
enum submission {
	SUBMITS_AS_RECORDED,
	SUBMITS_NOTHING,
	SUBMITS_GRAPH,	  /* the launch of a graph that begins with its operations */
	SUBMITS_NODES,	  /* its operations are nodes of the graph that its thread launched last */
	SUBMITS_FUSED,	  /* the kernel before in the stream goes on with its work */
	SUBMITS_PARENT,	  /* a readback that is gone; what ran last before it is a parent kernel */
	SUBMITS_CHILDREN, /* that parent launches its kernels */
};

/* What becomes of a call; all 0: as recorded.  Small, as a change has tables of them that are compared bytewise. */
struct call_change {
	uint8_t pause; /* enum host_pause */
	uint8_t prepare; /* enum cost: the host's time before it submits, on top; COST_RECORDED: none */
	uint8_t host; /* enum cost: its own time; COST_RECORDED: as recorded, with what it waits for */
	uint8_t submission; /* enum submission */
	uint8_t waits; /* whether that time begins when the last of its own operations has ended */
	uint8_t start; /* enum cost: from the call to its first operation's start on an idle stream */
	uint8_t gap;   /* enum cost: before its first operation, behind the predecessor of that */
	uint8_t awaited_streams; /* before it the host has its stream wait for so many others, by events */
};

/* Different ones of a change: few, as there are few techniques. */
#define CALL_CHANGES_MOST 64
enum { CALL_KEPT, CALL_DROPPED /* takes no time, waits for nothing, submits nothing */ };

/* The host's own time between two calls, if longer, may be its work, which a graph does not spare. */
#define LONG_HOST_NS GAP_HOST_WORK_NS

#define LANE_NONE UINT8_MAX
#define LANE_JOINED 0x80U
#define LANES_LIMIT 0x7f
#define OP_GONE (-1) /* such an operation takes no time, and there is no gap before it either */

/* Arrays that are NULL change nothing. */
struct change {
	uint8_t *calls;					    /* by call: call_changes[] */
	struct call_change call_changes[CALL_CHANGES_MOST]; /* CALL_KEPT, CALL_DROPPED, others */
	size_t call_change_count;
	int64_t *
		op_ns; /* by op: how long it takes; 0: as recorded, so that what stays takes no memory; OP_GONE */
	uint8_t *lanes;	     /* by op: the stream that it runs in, from 0; LANE_NONE: its own.
			  * Operations in lanes share the engines: one copy in each direction,
			  * and kernels as far as they fit together; with LANE_JOINED it waits for
			  * all that is in lanes */
	uint32_t lane_count; /* of them */
	bool starts_early; /* who depends on whom is in the lanes: a kernel starts when there is room, also before others
			    * that were launched before it */
	uint8_t *
		fill; /* by op: percent of the GPU that it takes in a lane; 0, and NULL: all of it */
	bool are_beside; /* child kernels run side by side, as far as they fit (fill) */
};

/* Room for a change of calls, and of operations' lengths where with_ops; nothing is changed yet.
 * Returns 0 or -ENOMEM; the caller frees with change_free, also after a failure. */
int change_begin(struct change *change, const struct model *model, bool with_ops);

/* Room for so many lanes, LANES_LIMIT at most, as yet none.  Returns 0 or -ENOMEM. */
int change_begin_lanes(struct change *change, const struct model *model, uint32_t lane_count);
void change_free(struct change *change);

/* The number by which calls[] refers to that: a new one where there is none yet. */
uint8_t change_number(struct change *change, const struct call_change *what);

extern const struct call_change call_change_kept;

/* How long an operation takes by op_ns of a change, which may be NULL: 0 where it is gone, negative where it takes as long
 * as recorded. */
static inline int64_t change_op_ns(const int64_t *op_ns, size_t op)
{
	if (!op_ns || !op_ns[op])
		return -1;
	return op_ns[op] == OP_GONE ? 0 : op_ns[op];
}

/* Whether some call submits like that. */
bool change_has(const struct change *change, enum submission submission);

/* What becomes of a call; change may be NULL. */
static inline const struct call_change *change_of_call(const struct change *change, size_t call)
{
	return change && change->calls ? &change->call_changes[change->calls[call]]
				       : &call_change_kept;
}

/* Whether it becomes the launch of a graph, or a part of one that is launched before. */
static inline bool call_change_is_graph(const struct call_change *what)
{
	return what->submission == SUBMITS_GRAPH;
}

static inline bool call_change_is_node(const struct call_change *what)
{
	return what->submission == SUBMITS_NODES;
}

/* Whether the host does not make the call any more. */
static inline bool call_change_is_gone(const struct call_change *what)
{
	return what->host == COST_NONE;
}

#endif
