#include "replay/replay_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "replay/latencies.h"
#include "replay/recording_overhead.h"

int lanes_open(struct lanes *lanes, const struct model *model, const struct change *change,
	       const struct costs *costs)
{
	*lanes = (struct lanes){.model = model,
				.change = change,
				.costs = costs,
				.count = change ? change->lane_count : 0};
	engines_open(&lanes->engines);
	lanes->engines.starts_early = change && change->starts_early;
	lanes->items = calloc(lanes->count + 1, sizeof(*lanes->items));
	if (!lanes->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes->count; i++)
		lanes->items[i] = (struct lane){PROFILE_NONE, INT64_MIN};
	return 0;
}

void lanes_free(struct lanes *lanes)
{
	free(lanes->items);
	*lanes = (struct lanes){0};
}

static unsigned int fill_of(const struct lanes *lanes, uint32_t op)
{
	const struct change *change = lanes->change;

	return change->fill && change->fill[op] ? change->fill[op] : 100;
}

static bool is_node(const struct lanes *lanes, uint32_t op)
{
	return model_call_class(lanes->model, lanes->model->profile->ops[op].call) ==
	       CALL_GRAPH_LAUNCH;
}

/* What lies between a node of a graph and the one that ended last before it. */
static int64_t node_gap_ns(const struct lanes *lanes, uint32_t op)
{
	const struct profile_op *ops = lanes->model->profile->ops;
	uint32_t before = model_predecessor(lanes->model, op);

	if (before == PROFILE_NONE || ops[before].call != ops[op].call)
		return 0;
	return max_ns(ops[op].start_ns - ops[before].end_ns - lanes->costs->trace_node_ns, 0);
}

/* Of a stream; op may be PROFILE_NONE. */
static int64_t stream_gap_ns(const struct lanes *lanes, uint32_t before, uint32_t op)
{
	int64_t gap_ns = latencies_gap_ns(lanes->model, before, op);

	return gap_ns - overhead_gap_ns(lanes->model, lanes->costs, before, op, gap_ns);
}

int64_t lanes_gap_ns(const struct lanes *lanes, uint32_t before, uint32_t op)
{
	const struct profile_op *ops = lanes->model->profile->ops;

	return is_node(lanes, op) && ops[before].call == ops[op].call
		       ? node_gap_ns(lanes, op)
		       : stream_gap_ns(lanes, before, op);
}

static bool is_kernel(const struct lanes *lanes, uint32_t op)
{
	return lanes->model->profile->ops[op].kind == OP_KERNEL;
}

/* Until whatever follows it has its engine: a block of another kernel runs as soon as there is room. */
static int64_t gap_behind_ns(const struct lanes *lanes, uint32_t op)
{
	return is_node(lanes, op) || is_kernel(lanes, op) ? 0
							  : stream_gap_ns(lanes, op, PROFILE_NONE);
}

/* Until its blocks run: as long as a kernel without work takes no SM is its own. */
static int64_t lead_ns(const struct lanes *lanes, uint32_t op)
{
	const struct profile_op *what = &lanes->model->profile->ops[op];

	return is_kernel(lanes, op)
		       ? min_ns(lanes->costs->empty_kernel_ns, what->end_ns - what->start_ns)
		       : 0;
}

static int64_t joined_ns(const struct lanes *lanes, uint32_t op, int64_t start_ns)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct lane *lane = &lanes->items[i];

		if (lane->tail != PROFILE_NONE)
			start_ns = max_ns(start_ns,
					  lane->end_ns + lanes_gap_ns(lanes, lane->tail, op));
	}
	return start_ns;
}

int64_t lanes_start_ns(const struct lanes *lanes, uint32_t op, int64_t start_ns)
{
	if (lanes->change->lanes[op] & LANE_JOINED)
		start_ns = joined_ns(lanes, op, start_ns);
	return engines_start_ns(&lanes->engines, lanes->model->profile, op, fill_of(lanes, op),
				start_ns + lead_ns(lanes, op)) -
	       lead_ns(lanes, op);
}

void lanes_add(struct lanes *lanes, uint32_t op, int64_t start_ns, int64_t end_ns)
{
	struct lane *lane = lanes_of(lanes, op);

	if (lanes->change->lanes[op] & LANE_JOINED)
		engines_forget(&lanes->engines, start_ns);
	lane->tail = op;
	lane->end_ns = end_ns;
	engines_add(&lanes->engines, lanes->model->profile, op, fill_of(lanes, op),
		    start_ns + lead_ns(lanes, op), end_ns + gap_behind_ns(lanes, op));
}

int64_t lanes_end_ns(const struct lanes *lanes)
{
	int64_t end_ns = INT64_MIN;

	for (uint32_t i = 0; i < lanes->count; i++)
		end_ns = max_ns(end_ns, lanes->items[i].end_ns);
	return end_ns;
}
