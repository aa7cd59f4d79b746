/*
 * recording_overhead.h - what recording added to a run: to calls, to what they submit, and to the nodes of graphs.
 *
 * costs, where it may be NULL: nothing is taken out, as recorded.
 */
#ifndef ROOFLINE_RECORDING_OVERHEAD_H
#define ROOFLINE_RECORDING_OVERHEAD_H

#include "replay/costs.h"
#include "replay/model.h"

/* Fills in what the traits of calls and operations tell of it: what they submit must be known. */
void overhead_classify(struct model *model);

/* Of a call, or of a pause: what reading counters took.  costs may be NULL. */
static inline int64_t overhead_counting_ns(const struct model *model, const struct costs *costs,
					   uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	return costs ? model_profiler_ns(model, thread, start_ns, end_ns) : 0;
}

/* Of a call (calls[]), out of its own time.  costs may be NULL. */
int64_t overhead_call_ns(const struct model *model, const struct costs *costs, size_t call,
			 int64_t own_ns);

/* And of the pause behind it, where more was measured than its own time can hold.  costs may be NULL. */
int64_t overhead_behind_call_ns(const struct model *model, const struct costs *costs, size_t call,
				int64_t pause_ns);

/* And of the time from a call to what it submits.  costs may be NULL. */
int64_t overhead_start_ns(const struct model *model, const struct costs *costs, uint32_t op,
			  int64_t launch_ns);

/* And of the time from the end of an operation (ops[]) to the return of the wait for it.  costs may be NULL. */
int64_t overhead_wait_ns(const struct model *model, const struct costs *costs, uint32_t awaited,
			 int64_t after_ns);

/* And of what usually lies between two kernels of a stream, or two graphs, gap_ns; op, the second one, may be
 * PROFILE_NONE: another one like that.  costs may be NULL. */
int64_t overhead_gap_ns(const struct model *model, const struct costs *costs, uint32_t before,
			uint32_t op, int64_t gap_ns);

/* And of the nodes of a graph. */
struct overhead_nodes {
	int64_t before_ns;   /* of all until the last one that followed another */
	int64_t last_ns;     /* of the length of that one */
	int64_t last_end_ns; /* recorded; of all nodes until now */
};

/* Takes in the next node, and returns how much shorter it is: what was added delays the start of a
 * node that follows another, and shows in its length as far as the gap before it is shorter. */
int64_t overhead_add_node(struct overhead_nodes *nodes, const struct costs *costs,
			  const struct profile_op *op);

#endif
