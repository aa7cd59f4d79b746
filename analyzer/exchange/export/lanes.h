/*
 * lanes.h - puts spans that overlap side by side, so that each lane is properly nested.
 */
#ifndef ROOFLINE_LANES_H
#define ROOFLINE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANE_LIMIT 64 /* side by side; further ones share the last lane, shortened by the caller */
#define LANE_DEPTH 512

struct lane {
	int64_t *ends_ns; /* of what is open, outermost first */
	size_t capacity, depth;
};

struct lanes {
	struct lane lanes[LANE_LIMIT];
	size_t count;
};

/* Spans come in order of their starts.  may_nest: within one that lasts as long or longer.  Returns the lane, or
 * -ENOMEM; *end_ns is brought forward where no lane has room, so that nesting stays proper. */
int lanes_place(struct lanes *lanes, int64_t start_ns, int64_t *end_ns, bool may_nest);

void lanes_clear(struct lanes *lanes);

#endif
