#include "model/costs.h"

/* What recording adds to a call that submits work, and to any other: docs/results/collector-cost.txt,
 * "launch" and the difference of "api_all" to it, of a driver 580 on an H200's host. */
#define TRACE_LAUNCH_NS 750
#define TRACE_CALL_NS 100
/* Gaps between nodes, and before a queued graph, against that between kernels of a stream. */
#define NODE_GAP_SAVED_NS 900
#define GRAPH_GAP_ADDED_NS 1000

static int64_t value_at(const struct ceilings *ceilings, enum ceiling_id id, enum costs_end end)
{
	const struct ceiling *row = ceilings_get(ceilings, id, 0);

	if (!row)
		return 0;
	return (int64_t)(end == COSTS_LOW ? row->low : end == COSTS_HIGH ? row->high : row->value);
}

bool costs_of(struct costs *costs, const struct ceilings *ceilings, int64_t kernel_gap_ns,
	      enum costs_end end)
{
	static const enum ceiling_id needed[] = {CEILING_launch_call, CEILING_launch_to_start,
						 CEILING_synchronize, CEILING_graph_launch};

	if (!ceilings || ceilings->is_datasheet)
		return false;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!ceilings_get(ceilings, needed[i], 0))
			return false;
	*costs = (struct costs){
		.launch_call_ns = value_at(ceilings, CEILING_launch_call, end),
		.synchronize_ns = value_at(ceilings, CEILING_synchronize, end),
		.event_wait_ns = value_at(ceilings, CEILING_event_wait, end),
		.graph_launch_ns = value_at(ceilings, CEILING_graph_launch, end),
		.graph_to_start_ns = value_at(ceilings, CEILING_launch_to_start, end),
		.graph_gap_ns = kernel_gap_ns + GRAPH_GAP_ADDED_NS,
		.graph_node_gap_ns =
			kernel_gap_ns > NODE_GAP_SAVED_NS ? kernel_gap_ns - NODE_GAP_SAVED_NS : 0,
		.condition_ns = value_at(ceilings, CEILING_conditional_iteration, end),
		.wait_call_ns = 1000,
		.trace_launch_ns = TRACE_LAUNCH_NS,
		.trace_call_ns = TRACE_CALL_NS,
	};
	return true;
}

double costs_instantiate_ns(const struct ceilings *ceilings, uint64_t node_count)
{
	return ceilings_at(ceilings, CEILING_graph_instantiate, node_count);
}

double costs_update_ns(const struct ceilings *ceilings, uint64_t node_count)
{
	return ceilings_at(ceilings, CEILING_graph_update, node_count);
}
