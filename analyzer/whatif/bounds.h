/*
 * bounds.h - what a run takes at least after a change, whatever a replay says: the last line of defense.
 *
 * A replay is a model, and may be wrong.  These bounds follow from the recording and from what a technique declares that
 * it does to operations (enum bound of technique.h), and know nothing of calls, latencies and costs.  Time after a change
 * is no less than each of these:
 *
 *   streams  of a stream, the time of its operations that stay in it: they run one after the other
 *   SMs      the time of kernels by the share of the blocks that fit on all SMs; where more ran at a time, all SMs
 *   copies   in each direction, the time of its copies: there is one engine for it
 *   DRAM     the time that the roof takes for the bytes that were counted, without those that the techniques take away
 *   rest     the run without the part that changes
 *
 * An operation counts as long as it was recorded.  A kernel that a technique may shorten counts as its floor, its
 * arithmetic at the roof; a copy as long as the change says, and no less than its bytes at the rate of pinned memory.
 *
 * An iteration of the steady state takes no less than the host's launches of it that are left: in a short recording the
 * GPU may have got them all at once, and goes on for hours only as fast as they come.
 *
 * A prediction beyond its bounds by more than a replay may be off is not shown: the technique is refused.  An interval ends at
 * them, and what is told of the steady state does.
 */
#ifndef ROOFLINE_BOUNDS_H
#define ROOFLINE_BOUNDS_H

#include "replay/prediction.h"
#include "techniques/application.h"

/* What techniques that were applied say of themselves, together. */
struct bound_terms {
	unsigned int bounds;   /* of enum bound */
	double vanished_bytes; /* of DRAM */
	uint64_t fewer_bytes;  /* of kernels, as many times; 0 and 1: as many as before */
	int64_t trace_node_ns; /* that recording added to a node of a graph, at most */
};

/* At least, after the change. */
struct bounds {
	double program_ns, place_ns;
	double steady_ns; /* of a usual iteration of the steady state; 0: there is none */
};

/* part: what is asked for.  Returns 0 or -ENOMEM. */
int bounds_find(struct bounds *out, const struct application *application,
		const struct bound_terms *terms, const struct part *part);

/* Whether a prediction keeps within them, but for what a replay may be off. */
bool bounds_hold(const struct bounds *bounds, const struct prediction *prediction);

/* What the host takes to submit an iteration at least, after the change; each launch takes it launch_ns. */
double bounds_steady_ns(const struct application *application, const struct steady_loop *steady,
			const struct loops *loops, int64_t launch_ns);

/* No iteration of the steady state is shorter. */
void bounds_limit_steady(struct prediction *prediction, double least_ns);

/* The high ends go no further than the bounds do, and that of the run no further than that of the part that changes. */
void bounds_limit(const struct bounds *bounds, struct prediction *prediction);

#endif
