/*
 * replay_lanes.h - the lanes of a change while it is replayed: streams that the recording did not have.
 *
 * Operations in lanes share the engines of the GPU: one copy in each direction, and kernels as far as
 * they fit together (struct change of replay.h).
 */
#ifndef ROOFLINE_REPLAY_LANES_H
#define ROOFLINE_REPLAY_LANES_H

#include "replay/engines.h"
#include "replay/replay.h"

/* The last operations of a lane. */
struct lane {
	uint32_t tail;
	int64_t end_ns; /* that has ended */
};

struct lanes {
	const struct model *model;   /* borrowed */
	const struct change *change; /* likewise; NULL: there are no lanes */
	const struct costs *costs;   /* likewise; NULL only without change */
	struct lane *items;
	uint32_t count;
	struct engines engines;
};

/* Returns 0 or -ENOMEM; the caller frees with lanes_free, also after a failure. */
int lanes_open(struct lanes *lanes, const struct model *model, const struct change *change,
	       const struct costs *costs);
void lanes_free(struct lanes *lanes);

/* The lane that an operation runs in; NULL: in its own stream. */
static inline struct lane *lanes_of(const struct lanes *lanes, uint32_t op)
{
	const struct change *change = lanes->change;

	if (!change || !change->lanes || change->lanes[op] == LANE_NONE)
		return NULL;
	return &lanes->items[change->lanes[op] & ~LANE_JOINED];
}

/* Between an operation and one that follows it in a lane.  Nodes of a graph keep what was before them, without
 * what recording added. */
int64_t lanes_gap_ns(const struct lanes *lanes, uint32_t before, uint32_t op);

/* Of an operation in a lane that could start then: when its engine has room. */
int64_t lanes_start_ns(const struct lanes *lanes, uint32_t op, int64_t start_ns);
void lanes_add(struct lanes *lanes, uint32_t op, int64_t start_ns, int64_t end_ns);

/* When all that was put into lanes until now has ended; INT64_MIN where nothing was. */
int64_t lanes_end_ns(const struct lanes *lanes);

#endif
