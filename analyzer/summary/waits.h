/*
 * waits.h - which ranks of a summary came late to collectives, and what that cost the others.
 *
 * Of a collective the wait of all ranks is count * last - sum of starts, and that of one rank over all collectives the sum
 * of their last starts less the sum of its own: both follow from sums, whatever the number of ranks.  Of those that a rank
 * may leave before others have come each rank's start and end are kept (summary_alone).  Starts on several
 * hosts are moved by how much clocks differ (clocks.h); hosts that no clock could be compared with are left out of a
 * group.  Pure.
 */
#ifndef ROOFLINE_WAITS_H
#define ROOFLINE_WAITS_H

#include "summary/clocks.h"
#include "summary/summary.h"

struct rank_waits {
	bool is_known;	 /* its collectives could be matched with another rank's */
	int64_t wait_ns; /* that it waited for ranks that came later, in collectives that were kept */
	uint64_t last_count;	/* collectives to which it came last */
	int64_t caused_wait_ns; /* of all others, in these */
	int64_t delay_ns; /* after the last but one, in these: what being in time would have saved */
	int64_t most_ns;  /* the longest of these */
};

struct group_waits {
	uint64_t matched_count;	    /* collectives that were kept, of at least two ranks */
	uint64_t arrival_count;	    /* of ranks at these */
	int64_t wait_ns;	    /* of all ranks */
	struct summary_times skews; /* from the first rank's start to the last one's */
	uint32_t latest;	    /* ranks[]: the last one of the largest skew */
	bool has_latest;
};

struct waits {
	struct rank_waits *ranks;   /* owned; as summary->ranks[] */
	struct group_waits *groups; /* owned; as summary->groups[] */
	size_t group_count;
};

/* Fails with -ENOMEM; waits_free in either case. */
int waits_find(struct waits *waits, const struct summary *summary, const struct clock *clocks);
void waits_free(struct waits *waits);

#endif
