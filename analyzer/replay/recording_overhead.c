#include "replay/recording_overhead.h"

#include "base/ns.h"
#include "replay/graph_calls.h"
#include "replay/latencies.h"

/* A recorded call keeps at least this share of its time when what recording added is taken out. */
#define LEAST_SHARE 4

/* Recording added at most so many times what such a call takes without: the rest is its own.  Medians of
 * tests/pairs/graph_update.naive are 0.4 (instantiated) to 1.1 times (destroyed) above the ceilings of that machine. */
#define GRAPH_CALL_MOST 2
/* Of an update, "graph_update" of docs/results/traced-steps.txt: 2.9 times of 1 node, 1.9 of 100. */
#define GRAPH_UPDATE_MOST 3

/* What recording added, of a time that it is part of. */
static int64_t part_ns(int64_t added_ns, int64_t own_ns)
{
	return min_ns(added_ns, own_ns - own_ns / LEAST_SHARE);
}

static bool is_graph_launch(const struct model *model, size_t call)
{
	return model_call_class(model, call) == CALL_GRAPH_LAUNCH;
}

/* A call that submits nothing has a record of itself, too: of what makes graphs, memory and events, and of launches
 * and copies that a stream captures.  Waits are as long as what they wait for. */
static enum call_slowed slowed_without_work(const struct model *model, size_t call)
{
	switch (model_call_class(model, call)) {
	case CALL_LAUNCH:
	case CALL_COPY:
	case CALL_GRAPH_MANAGE:
	case CALL_MEMORY:
	case CALL_EVENT:
	case CALL_CREATE:
		return CALL_SLOWED_BY_RECORD;
	default:
		return CALL_NOT_SLOWED;
	}
}

static enum call_slowed slowed_as(const struct model *model, size_t call)
{
	switch (graph_call_of(model, call)) {
	case GRAPH_CALL_INSTANTIATES:
	case GRAPH_CALL_UPDATES:
	case GRAPH_CALL_DESTROYS:
		return CALL_SLOWED_AS_GRAPH;
	default:
		break;
	}
	if (!submissions_count(&model->submissions, call))
		return slowed_without_work(model, call);
	return is_graph_launch(model, call) ? CALL_SLOWED_AS_GRAPH : CALL_SLOWED_AS_LAUNCH;
}

static enum op_delayed delayed_as(const struct model *model, const struct profile_op *op)
{
	if (op->call == PROFILE_NONE)
		return OP_NOT_DELAYED;
	switch (model_call_class(model, op->call)) {
	case CALL_LAUNCH:
		return op->kind == OP_KERNEL ? OP_DELAYED_KERNEL : OP_NOT_DELAYED;
	case CALL_GRAPH_LAUNCH:
		return op->kind == OP_GRAPH ? OP_DELAYED_WHOLE_GRAPH : OP_DELAYED_GRAPH;
	default:
		return OP_NOT_DELAYED;
	}
}

void overhead_classify(struct model *model)
{
	const struct profile *profile = model->profile;

	for (size_t i = 0; i < profile->call_count; i++)
		model->call_traits[i].slowed = slowed_as(model, i) & 3;
	for (size_t i = 0; i < profile->op_count; i++)
		model->op_traits[i].delayed = delayed_as(model, &profile->ops[i]) & 3;
}

/* Of a launch: the first one of an executable graph, or the first one after an update. */
static int64_t untraced_launch_ns(const struct model *model, const struct costs *costs,
				  size_t launch)
{
	uint64_t node_count = graph_call_node_count(model, launch);

	switch (graph_call_before(model, launch)) {
	case GRAPH_CALL_INSTANTIATES:
		return costs_graph_ns(costs, CEILING_graph_first_launch, node_count);
	case GRAPH_CALL_UPDATES:
	case GRAPH_CALL_SETS_NODE:
		return node_count && costs->updated_node_ns
			       ? costs->graph_launch_ns +
					 (int64_t)node_count * costs->updated_node_ns
			       : 0;
	default:
		return 0;
	}
}

/* What own_ns is longer than without recording, as far as that can be added. */
static int64_t longer_ns(int64_t own_ns, int64_t without_ns, int most)
{
	int64_t added_ns = max_ns(own_ns - without_ns, 0);

	return part_ns(min_ns(added_ns, most * without_ns), own_ns);
}

/* Calls about an executable graph that take the longer the more nodes it has. */
static const struct {
	enum graph_call call;
	enum ceiling_id row;
	int most;
} graph_rows[] = {
	{GRAPH_CALL_INSTANTIATES, CEILING_graph_instantiate, GRAPH_CALL_MOST},
	{GRAPH_CALL_UPDATES, CEILING_graph_update, GRAPH_UPDATE_MOST},
	{GRAPH_CALL_DESTROYS, CEILING_graph_destroy, GRAPH_CALL_MOST},
};

/* What recording added to one of those; 0: it is another one, or nobody knows. */
static int64_t added_by_row_ns(const struct model *model, const struct costs *costs, size_t call,
			       int64_t own_ns)
{
	enum graph_call what = graph_call_of(model, call);
	uint32_t launch = graph_call_launch(model, call);

	for (size_t i = 0; i < sizeof(graph_rows) / sizeof(graph_rows[0]); i++)
		if (graph_rows[i].call == what && launch != PROFILE_NONE) {
			int64_t without_ns = costs_graph_ns(costs, graph_rows[i].row,
							    graph_call_node_count(model, launch));

			return without_ns ? longer_ns(own_ns, without_ns, graph_rows[i].most) : 0;
		}
	return 0;
}

/* Nodes of a graph that follow another one of their stream in it. */
static int64_t follower_count(const struct model *model, size_t launch)
{
	const struct submissions *submissions = &model->submissions;
	int64_t count = 0;

	for (uint32_t i = submissions_first(submissions, launch);
	     i < submissions_first(submissions, launch + 1); i++) {
		uint32_t before = model_predecessor(model, submissions_op(submissions, i));

		count += before != PROFILE_NONE && model->profile->ops[before].call == launch;
	}
	return count;
}

/* What recording nodes added to the time from a launch's call, to its return or its first node, beyond one_ns, that of
 * a graph of one node while it is recorded.  Without recording a chain is launched as fast as one node
 * (docs/results/graph-latency.txt: 2.8 us for 1 and for 1000), with it the driver submits node by node: 0.6 to 1 us
 * each in tests/recordings, and no more than launches of their own would take.  Branches take their time in any case. */
static int64_t added_by_nodes_ns(const struct model *model, const struct costs *costs,
				 size_t launch, int64_t own_ns, int64_t one_ns)
{
	int64_t node_count = (int64_t)graph_call_node_count(model, launch), followers;

	if (node_count < 2 || own_ns <= one_ns)
		return 0;
	followers = follower_count(model, launch);
	return min_ns((own_ns - one_ns) * followers / (node_count - 1),
		      followers * costs->launch_call_ns);
}

/* Of a launch of a graph as it was: what nodes added, and what one node does. */
static int64_t added_to_graph_ns(const struct model *model, const struct costs *costs,
				 size_t launch, int64_t own_ns, int64_t one_ns, int64_t added_ns)
{
	int64_t nodes_ns = added_by_nodes_ns(model, costs, launch, own_ns, one_ns + added_ns);

	return nodes_ns + part_ns(added_ns, own_ns - nodes_ns);
}

/* As it was measured for launches of graphs of so many nodes; negative: it was not. */
static int64_t measured_ns(const struct model *model, size_t launch)
{
	return untraced_added_ns(&model->untraced, CALL_GRAPH_LAUNCH,
				 (uint32_t)submissions_count(&model->submissions, launch));
}

static int64_t added_to_launch_ns(const struct model *model, const struct costs *costs,
				  size_t launch, int64_t own_ns)
{
	int64_t without_ns = untraced_launch_ns(model, costs, launch);
	int64_t measured = measured_ns(model, launch);

	if (measured >= 0)
		return part_ns(measured, own_ns);
	return without_ns ? longer_ns(own_ns, without_ns, GRAPH_CALL_MOST)
			  : added_to_graph_ns(model, costs, launch, own_ns, costs->graph_launch_ns,
					      costs->trace_graph_launch_ns);
}

/* As it was measured for such calls, which are neither launches nor waits; negative: it was not. */
static int64_t measured_other_ns(const struct model *model, size_t call)
{
	return untraced_other_added_ns(&model->untraced, model->profile->calls[call].name);
}

/* What recording added to a call, out of its time, of which reading counters is taken out already. */
static int64_t added_ns(const struct model *model, const struct costs *costs, size_t call,
			int64_t own_ns)
{
	int64_t by_row_ns;

	if (!costs)
		return 0;
	if (measured_other_ns(model, call) >= 0)
		return part_ns(measured_other_ns(model, call), own_ns);
	switch ((enum call_slowed)model->call_traits[call].slowed) {
	case CALL_SLOWED_AS_LAUNCH:
		return part_ns(costs->trace_launch_ns, own_ns);
	case CALL_SLOWED_BY_RECORD:
		return part_ns(costs->trace_call_ns, own_ns);
	case CALL_SLOWED_AS_GRAPH:
		if (is_graph_launch(model, call))
			return added_to_launch_ns(model, costs, call, own_ns);
		by_row_ns = added_by_row_ns(model, costs, call, own_ns);
		return by_row_ns ? by_row_ns : part_ns(costs->trace_call_ns, own_ns);
	default:
		return 0;
	}
}

int64_t overhead_call_ns(const struct model *model, const struct costs *costs, size_t index,
			 int64_t own_ns)
{
	const struct profile_call *call = &model->profile->calls[index];
	int64_t counting = 0;

	if (model->profiler)
		counting = min_ns(overhead_counting_ns(model, costs, call->thread, call->start_ns,
						       call->end_ns),
				  own_ns);
	return counting + added_ns(model, costs, index, own_ns - counting);
}

int64_t overhead_behind_call_ns(const struct model *model, const struct costs *costs, size_t index,
				int64_t pause_ns)
{
	const struct profile_call *call = &model->profile->calls[index];
	int64_t own_ns = call->end_ns - call->start_ns, measured_ns;

	if (!costs)
		return 0;
	measured_ns = measured_other_ns(model, index);
	return measured_ns > 0
		       ? part_ns(measured_ns - part_ns(measured_ns, own_ns), max_ns(pause_ns, 0))
		       : 0;
}

/* And to the time until the first node of a graph that it launches starts. */
static int64_t added_to_start_ns(const struct model *model, const struct costs *costs, size_t call,
				 int64_t launch_ns)
{
	int64_t call_ns = untraced_launch_ns(model, costs, call);
	int64_t measured = measured_ns(model, call);

	if (measured >= 0)
		return part_ns(measured, launch_ns);
	return call_ns ? longer_ns(launch_ns,
				   call_ns + costs->graph_to_start_ns - costs->graph_launch_ns,
				   GRAPH_CALL_MOST)
		       : added_to_graph_ns(model, costs, call, launch_ns, costs->graph_to_start_ns,
					   costs->trace_graph_start_ns);
}

int64_t overhead_start_ns(const struct model *model, const struct costs *costs, uint32_t op,
			  int64_t launch_ns)
{
	const struct profile_op *what = &model->profile->ops[op];
	const struct profile_call *call = &model->profile->calls[what->call];
	int64_t counting = 0;

	if (model->profiler)
		counting = min_ns(overhead_counting_ns(model, costs, call->thread, call->start_ns,
						       what->start_ns),
				  latencies_extension_ns(model, what));
	launch_ns -= counting;
	if (costs && measured_other_ns(model, what->call) >= 0) /* no more than lies in the call */
		return counting + min_ns(added_ns(model, costs, what->call,
						  call->end_ns - call->start_ns - counting),
					 part_ns(launch_ns, launch_ns));
	return counting + (costs && is_graph_launch(model, what->call)
				   ? added_to_start_ns(model, costs, what->call, launch_ns)
				   : added_ns(model, costs, what->call, launch_ns));
}

int64_t overhead_wait_ns(const struct model *model, const struct costs *costs, uint32_t awaited,
			 int64_t after_ns)
{
	const struct profile *profile = model->profile;
	const struct profile_op *op = &profile->ops[awaited];
	bool is_copy = op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST;

	if (!costs || after_ns <= 0)
		return 0;
	return part_ns(is_copy ? costs->trace_copy_wait_ns : costs->trace_wait_ns, after_ns);
}

/* Of a kernel or a graph behind another one; 0: it is something else. */
static int64_t added_behind_ns(const struct model *model, const struct costs *costs, uint32_t op)
{
	switch (model->op_traits[op].delayed) {
	case OP_DELAYED_KERNEL:
		return costs->trace_kernel_ns;
	case OP_DELAYED_GRAPH:
		return costs->trace_graph_ns;
	case OP_DELAYED_WHOLE_GRAPH:
		return costs->trace_whole_graph_ns;
	default:
		return 0;
	}
}

int64_t overhead_gap_ns(const struct model *model, const struct costs *costs, uint32_t before,
			uint32_t op, int64_t gap_ns)
{
	int64_t added_ns;

	if (!costs)
		return 0;
	added_ns = added_behind_ns(model, costs, before);
	if (op != PROFILE_NONE && added_behind_ns(model, costs, op) != added_ns)
		return 0;
	return max_ns(min_ns(added_ns, gap_ns), 0);
}

int64_t overhead_add_node(struct overhead_nodes *nodes, const struct costs *costs,
			  const struct profile_op *op)
{
	int64_t gap_ns = op->start_ns - nodes->last_end_ns, length = op->end_ns - op->start_ns;
	bool is_after = gap_ns >= 0;

	nodes->last_end_ns = max_ns(nodes->last_end_ns, op->end_ns);
	if (!is_after)
		return 0;
	gap_ns = min_ns(gap_ns, costs->trace_node_ns);
	nodes->before_ns += nodes->last_ns + gap_ns;
	nodes->last_ns = min_ns(costs->trace_node_ns - gap_ns, length - length / LEAST_SHARE);
	return nodes->last_ns;
}
