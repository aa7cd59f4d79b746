/*
 * clocks.h - how much the clock of each host of a summary differs from the others', by the collectives that they had in
 * common.
 *
 * All ranks leave a collective that blocks at about the same time: two hosts' ends of the same collectives tell how much
 * their clocks differ (clock_offset.h).  Hosts that have a group of collectives in common are compared with its host of the lowest name, and
 * over further groups with hosts that are compared already.  Pure.
 */
#ifndef ROOFLINE_CLOCKS_H
#define ROOFLINE_CLOCKS_H

#include "base/clock_offset.h"
#include "summary/summary.h"

struct clock {
	uint32_t
		island; /* equal for hosts that could be compared: the lowest of them, of hosts[] */
	struct clock_offset offset; /* ahead of that one's clock */
	uint64_t common_count;	    /* collectives that it stands on; 0: of that host itself */
};

/* One for each of summary->hosts[], which the caller frees; NULL without memory. */
struct clock *clocks_compare(const struct summary *summary);

/* parts[] by group, and within one by the name of the host; count of them.  The caller frees it; NULL without memory. */
uint32_t *clocks_order_parts(const struct summary *summary);

#endif
