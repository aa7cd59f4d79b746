/*
 * gap_children.h - after which kernels the GPU seems to run what they launched themselves, which no trace shows.
 *
 * Work of a stream begins once the kernel before it and all that this one launched are done, and so returns a wait.  A
 * trace tells when the kernel ended, not when its children did: meanwhile the GPU looks idle.  A kernel may have
 * children when
 *
 * - of the pauses after its launches at whose beginning other work was already queued, both outside of graphs, most are
 *   longer than CHILD_QUEUED_NS, and at least CHILD_QUEUED_LEAST are.  On an H200 such work begins within 5.6 us of the end of a
 *   kernel without children, copies later than kernels, and not within 13.8 us of one with the shortest children there are;
 * - or, when that says nothing against it, most waits in which the host already was end later than CHILD_WAIT_NS after
 *   it.  A wait returns 5 to 25 us after the last operation, and later by the wake-up of its thread when that slept.
 *
 * Host functions in streams hold work up as well, and so do pools that shrink in a wait: a process that uses these tells
 * nothing, nor does one of which some kernels were left out on request.
 *
 * Samples show such work itself: gap_children_sampled().  Private to gap_finder.c.
 */
#ifndef ROOFLINE_GAP_CHILDREN_H
#define ROOFLINE_GAP_CHILDREN_H

#include "analysis/time/gap_calls.h"
#include "base/spans.h"

#define CHILD_QUEUED_NS 10000
#define CHILD_QUEUED_LEAST 3
#define CHILD_WAIT_NS 100000

/* Pauses after one kernel. */
struct child_evidence {
	uint64_t queued_count, long_queued_count;
	uint64_t waited_count, long_waited_count;
};

struct gap_children {
	const struct gap_calls *calls;
	struct child_evidence *kernels; /* as profile->kernel_names[] */
	bool *is_silent;		/* by process: its pauses tell nothing */
	struct spans *bursts;		/* by device: what samples show that the device launched */
};

struct device_work;

/* work: of the same profile, or NULL: then it is found for this.  Fails as device_work_build() does; close it also then. */
int gap_children_open(struct gap_children *children, const struct gap_calls *calls,
		      const struct device_work *work);
void gap_children_close(struct gap_children *children);

/* Takes in a gap whose operation was launched by that call and, once it had reached the device, waited for nothing that
 * is known (GAP_DEVICE). */
void gap_children_look(struct gap_children *children, const struct gap *gap, uint32_t launch,
		       int64_t latency_ns);

/* After all of them: whether the gap follows a kernel that may have children. */
bool gap_children_may_run(const struct gap_children *children, const struct gap *gap);

/* How long in the gap samples show such work. */
int64_t gap_children_sampled(const struct gap_children *children, const struct gap *gap);

#endif
