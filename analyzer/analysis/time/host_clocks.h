/*
 * host_clocks.h - a recording of several hosts with all of its times by one clock, as far as collectives tell.
 *
 * All ranks leave a collective that blocks at about the same time: two hosts' ends of the same collectives tell how much
 * their clocks differ (clock_offset.h), as summary/clocks.h has it for summaries.  Ranks on different hosts whose collectives are alike are
 * taken for ranks of one job; where the differences themselves differ by as much as a fourth of what lies between two collectives, they are not.
 * The host of the lowest name that has a rank in common is the base of those that can be compared with it.
 */
#ifndef ROOFLINE_HOST_CLOCKS_H
#define ROOFLINE_HOST_CLOCKS_H

#include "trace/profile.h"
#include "trace/tables.h"

struct host_clocks {
	struct host_clock *
		items; /* owned; of hosts that were compared, and of their bases; names are the profile's */
	size_t count;
};

/* Returns 0 or -ENOMEM; the caller frees with host_clocks_free, also after a failure.  None are found where all is of one
 * host. */
int host_clocks_find(struct host_clocks *out, const struct profile *profile, struct err *err);
void host_clocks_free(struct host_clocks *clocks);

/* As profile_load_tables, by such clocks: where there are several hosts it is read twice, and so not from stdin. */
int host_clocks_load(struct profile **out, const char *path, uint64_t tables, struct err *err);

#endif
