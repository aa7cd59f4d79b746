#include "model/costs.h"

/* What recording adds to a call that submits work, and on the GPU to a node of a graph:
 * docs/results/collector-cost.txt, "launch" and "graph node" by the collector, of a driver 580 on an
 * H200's host, rounded.  What it adds to other calls was not measured and stays in. */
#define TRACE_LAUNCH_NS 750
#define TRACE_NODE_NS 535

static int64_t value_at(const struct ceilings *ceilings, enum ceiling_id id, enum costs_end end)
{
	const struct ceiling *row = ceilings_get(ceilings, id, 0);

	if (!row)
		return 0;
	return (int64_t)(end == COSTS_LOW ? row->low : end == COSTS_HIGH ? row->high : row->value);
}

static int64_t not_negative(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

/*
 * The ceilings' gaps go from instruction to instruction, those of a recording from end to start as
 * CUPTI sees them, which lie before and after: kernel_gap_ns and its ceiling are the same gap, so
 * their difference is what lies between the two views, of every gap.
 */
bool costs_of(struct costs *costs, const struct ceilings *ceilings, int64_t kernel_gap_ns,
	      enum costs_end end)
{
	static const enum ceiling_id needed[] = {CEILING_launch_call,	 CEILING_launch_to_start,
						 CEILING_synchronize,	 CEILING_graph_launch,
						 CEILING_graph_to_start, CEILING_kernel_gap,
						 CEILING_graph_node_gap, CEILING_graph_gap,
						 CEILING_grid_barrier};
	int64_t edges_ns;

	if (!ceilings || ceilings->is_datasheet)
		return false;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!ceilings_get(ceilings, needed[i], 0))
			return false;
	edges_ns = value_at(ceilings, CEILING_kernel_gap, COSTS_MIDDLE) - kernel_gap_ns;
	*costs = (struct costs){
		.launch_call_ns = value_at(ceilings, CEILING_launch_call, end),
		.synchronize_ns = value_at(ceilings, CEILING_synchronize, end),
		.graph_launch_ns = value_at(ceilings, CEILING_graph_launch, end),
		.graph_to_start_ns = value_at(ceilings, CEILING_graph_to_start, end),
		.graph_gap_ns = not_negative(value_at(ceilings, CEILING_graph_gap, end) - edges_ns),
		.graph_node_gap_ns =
			not_negative(value_at(ceilings, CEILING_graph_node_gap, end) - edges_ns),
		.barrier_ns =
			not_negative(value_at(ceilings, CEILING_grid_barrier, end) - edges_ns),
		.trace_launch_ns = TRACE_LAUNCH_NS,
		.trace_node_ns = TRACE_NODE_NS,
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
