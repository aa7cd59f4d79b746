#include "replay/replay_ops.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "replay/latencies.h"
#include "replay/recording_overhead.h"

static const struct call_change *change_of(const struct run *run, size_t call)
{
	return change_of_call(run->change, call);
}

/* Whether the change says how long it takes. */
static bool is_changed(const struct run *run, uint32_t op)
{
	return run->change && change_op_ns(run->change->op_ns, op) >= 0;
}

/* ---- operations ---- */

int64_t replay_over_ns(const struct run *run, uint32_t op)
{
	uint32_t call = run->profile->ops[op].call;
	int64_t end_ns = replay_op_end_ns(run->replay, op);

	if (replay_placed(run, op) == PLACED_IN_GRAPH)
		return replay_op_end_ns(run->replay,
					graph_launches_of(&run->graphs, call)->last_op);
	if (change_of(run, call)->submission != SUBMITS_CHILDREN)
		return end_ns;
	return max_ns(end_ns, run->threads[run->profile->calls[call].thread].children.end_ns);
}

/* Whether both are nodes of one launch of a graph. */
static bool are_nodes(const struct run *run, uint32_t op, uint32_t before)
{
	const struct profile_op *ops = run->profile->ops;
	const struct graph_launch *launch;

	if (replay_placed(run, before) != PLACED_IN_GRAPH || ops[op].call == PROFILE_NONE)
		return false;
	launch = graph_launches_of(&run->graphs, ops[before].call);
	return ops[op].call >= launch->first_call && ops[op].call < launch->end_call;
}

/* When that has ended for an operation that waits for it: what follows lanes, or the launch of a graph, waits for all of
 * it. */
static int64_t over_ns(const struct run *run, uint32_t op, uint32_t before)
{
	int64_t end_ns;

	if (run->is_plain)
		return replay_op_end_ns(run->replay, before);
	end_ns = are_nodes(run, op, before) ? replay_op_end_ns(run->replay, before)
					    : replay_over_ns(run, before);
	return lanes_of(&run->lanes, before) && !lanes_of(&run->lanes, op)
		       ? max_ns(end_ns, lanes_end_ns(&run->lanes))
		       : end_ns;
}

/* When what its stream did before its lanes began has ended, and the gap after that; not what it ran beside then. */
static int64_t stream_over_ns(const struct run *run, uint32_t op)
{
	const struct profile_op *ops = run->profile->ops;
	uint32_t before =
		lanes_of(&run->lanes, op) ? run->stream_tail[ops[op].stream] : PROFILE_NONE;

	return before == PROFILE_NONE || ops[before].end_ns > ops[op].start_ns
		       ? INT64_MIN
		       : replay_over_ns(run, before) + lanes_gap_ns(&run->lanes, before, op);
}

/* When what an operation waits for is over; INT64_MIN: it waits for nothing of that kind. */
struct awaited {
	int64_t stream_ns, predecessor_ns, cross_stream_ns;
};

/* predecessor, cross_stream: that it waits for, or PROFILE_NONE. */
static struct awaited awaited_by(const struct run *run, uint32_t op, uint32_t predecessor,
				 uint32_t cross_stream)
{
	struct awaited awaited = {INT64_MIN, INT64_MIN, INT64_MIN};

	if (!run->is_plain)
		awaited.stream_ns = stream_over_ns(run, op);
	if (predecessor != PROFILE_NONE && replay_placed(run, predecessor))
		awaited.predecessor_ns = over_ns(run, op, predecessor);
	if (cross_stream != PROFILE_NONE && replay_placed(run, cross_stream))
		awaited.cross_stream_ns = over_ns(run, op, cross_stream);
	return awaited;
}

static int64_t ready_ns(const struct awaited *awaited, int64_t predecessor_gap_ns,
			int64_t cross_stream_gap_ns)
{
	int64_t ready = awaited->stream_ns;

	if (awaited->predecessor_ns != INT64_MIN)
		ready = max_ns(ready, awaited->predecessor_ns + predecessor_gap_ns);
	if (awaited->cross_stream_ns != INT64_MIN)
		ready = max_ns(ready, awaited->cross_stream_ns + cross_stream_gap_ns);
	return ready;
}

int64_t replay_ready_ns(const struct run *run, uint32_t op, int64_t predecessor_gap_ns,
			int64_t cross_stream_gap_ns)
{
	const struct awaited awaited = awaited_by(run, op, replay_predecessor_of(run, op),
						  model_cross_stream(run->model, op));

	return ready_ns(&awaited, predecessor_gap_ns, cross_stream_gap_ns);
}

/* What an operation that is as it was waits for, if it is in no lane, and what the steps before it usually take. */
struct usual {
	uint32_t predecessor, cross_stream; /* or PROFILE_NONE */
	int64_t launch_ns, predecessor_gap_ns, cross_stream_gap_ns;
};

static struct usual usual_of(const struct model *model, uint32_t index)
{
	uint32_t predecessor = model_predecessor(model, index),
		 cross_stream = model_cross_stream(model, index);

	return (struct usual){
		.predecessor = predecessor,
		.cross_stream = cross_stream,
		.launch_ns = latencies_launch_ns(model, index),
		.predecessor_gap_ns =
			predecessor != PROFILE_NONE ? latencies_own_gap_ns(model, index) : 0,
		.cross_stream_gap_ns = cross_stream != PROFILE_NONE
					       ? latencies_gap_ns(model, cross_stream, index)
					       : 0,
	};
}

/* What the formula of replay.h says of the recorded times. */
static int64_t expected_start_ns(const struct run *run, uint32_t index, const struct usual *usual)
{
	const struct profile_op *ops = run->profile->ops, *op = &ops[index];
	int64_t start_ns = run->profile->calls[op->call].start_ns + usual->launch_ns;

	if (usual->predecessor != PROFILE_NONE)
		start_ns = max_ns(start_ns,
				  ops[usual->predecessor].end_ns + usual->predecessor_gap_ns);
	if (usual->cross_stream != PROFILE_NONE)
		start_ns = max_ns(start_ns,
				  ops[usual->cross_stream].end_ns + usual->cross_stream_gap_ns);
	return start_ns;
}

/* Until now all took as long as is known of them. */
static int keep_starts(struct run *run)
{
	struct replay *replay = run->replay;

	replay->op_start_ns = malloc((replay->op_count + 1) * sizeof(*replay->op_start_ns));
	if (!replay->op_start_ns)
		return -ENOMEM;
	for (size_t i = 0; i < replay->op_count; i++)
		if (replay_placed(run, (uint32_t)i))
			replay->op_start_ns[i] =
				replay_op_end_ns(replay, i) - replay_op_length_ns(replay, i);
	return 0;
}

static void keep_op(struct run *run, uint32_t op, int64_t start_ns, int64_t length)
{
	struct replay *replay = run->replay;

	if (op_ends_set(&replay->op_ends, op, start_ns + length) < 0)
		run->rc = -ENOMEM;
	if (!replay->op_start_ns && run->rc == 0 && length != replay_op_length_ns(replay, op))
		run->rc = keep_starts(run);
	if (replay->op_start_ns)
		replay->op_start_ns[op] = start_ns;
}

int64_t replay_place_op(struct run *run, uint32_t op, int64_t start_ns, int64_t length)
{
	bool is_in_lane = lanes_of(&run->lanes, op);

	if (is_in_lane)
		start_ns = lanes_start_ns(&run->lanes, op, start_ns);
	keep_op(run, op, start_ns, length);
	replay_set_placed(run, op, PLACED);
	run->placed_count++;
	run->work_end_ns = max_ns(run->work_end_ns, start_ns + length);
	if (is_in_lane)
		lanes_add(&run->lanes, op, start_ns, start_ns + length);
	else if (run->stream_tail)
		run->stream_tail[run->profile->ops[op].stream] = op;
	return start_ns;
}

/* Whether the change says what gap is before the operation of a call that submits as it did. */
static bool has_gap(const struct run *run, uint32_t op)
{
	return change_of(run, run->profile->ops[op].call)->gap != COST_RECORDED;
}

static bool is_gone(const struct run *run, uint32_t op)
{
	return is_changed(run, op) && change_op_ns(run->change->op_ns, op) == 0;
}

/* The gap behind one that is gone is that behind what was before it, and no longer than it was: less work makes nothing later. */
static int64_t usual_gap_ns(const struct run *run, uint32_t predecessor, uint32_t index,
			    const struct usual *usual)
{
	if (!is_gone(run, predecessor))
		return usual->predecessor_gap_ns;
	while (predecessor != PROFILE_NONE && is_gone(run, predecessor))
		predecessor = model_predecessor(run->model, predecessor);
	if (predecessor == PROFILE_NONE)
		return 0;
	return min_ns(usual->predecessor_gap_ns, latencies_gap_ns(run->model, predecessor, index));
}

/* The gap before an operation that is as it was, but perhaps in a lane. */
static int64_t kept_gap_ns(const struct run *run, uint32_t predecessor, uint32_t index,
			   const struct usual *usual)
{
	int64_t gap_ns;

	if (predecessor == PROFILE_NONE)
		return 0;
	if (has_gap(run, index))
		return costs_ns(run->costs, change_of(run, run->profile->ops[index].call)->gap, 0);
	if (lanes_of(&run->lanes, index))
		return lanes_gap_ns(&run->lanes, predecessor, index);
	gap_ns = usual_gap_ns(run, predecessor, index, usual);
	return gap_ns - overhead_gap_ns(run->model, run->costs, predecessor, index, gap_ns);
}

/* After a launch that was counted the next one waits until counters are set back: 75 us in
 * tests/recordings/work_queue_mild.naive.counted. */
static bool is_after_counted(const struct run *run, uint32_t index)
{
	uint32_t predecessor = model_predecessor(run->model, index);

	return predecessor != PROFILE_NONE && run->profile->ops[predecessor].counted != NOT_COUNTED;
}

/* Where what recording added is taken out, so is that. */
static bool is_set_back_sooner(const struct run *run, uint32_t index)
{
	return run->costs && is_after_counted(run, index);
}

bool replay_is_host_copy(const struct run *run, uint32_t index, unsigned int *kind)
{
	const struct profile *profile = run->profile;
	const struct profile_op *op = &profile->ops[index];

	if (op->kind != OP_COPY || !replay_length_ns(run, index))
		return false;
	*kind = profile->copies[op->detail].kind;
	return *kind == COPY_TO_HOST || *kind == COPY_TO_DEVICE;
}

int64_t replay_graph_start_ns(const struct run *run, uint32_t op)
{
	const struct costs *costs = run->costs;
	unsigned int kind;

	if (!replay_is_host_copy(run, op, &kind))
		return costs->graph_to_start_ns;
	return kind == COPY_TO_DEVICE ? costs->graph_copy_in_to_start_ns
				      : costs->graph_copy_to_start_ns;
}

/* From a call to the first operation of what it submits. */
static int64_t kept_launch_ns(const struct run *run, uint32_t index, int64_t usual_ns)
{
	enum cost start = change_of(run, run->profile->ops[index].call)->start;

	if (start == COST_GRAPH_TO_START)
		return replay_graph_start_ns(run, index);
	if (start != COST_RECORDED)
		return costs_ns(run->costs, start, 0);
	return usual_ns - overhead_start_ns(run->model, run->costs, index, usual_ns);
}

/* What it took beyond its usual time says nothing of a copy whose call stages nothing any more. */
static bool is_unstaged(const struct run *run, uint32_t index)
{
	return change_of(run, run->profile->ops[index].call)->start == COST_LAUNCH_TO_START;
}

/* The first operation of a call that is as it was. */
static int64_t kept_start_ns(const struct run *run, uint32_t index, int64_t call_start_ns)
{
	const struct profile_op *op = &run->profile->ops[index];
	const struct usual usual = usual_of(run->model, index);
	uint32_t predecessor = lanes_of(&run->lanes, index) ? replay_predecessor_of(run, index)
							    : usual.predecessor;
	int64_t launch_ns = kept_launch_ns(run, index, usual.launch_ns);
	int64_t rest_ns = run->is_typical && !is_after_counted(run, index)
				  ? 0
				  : op->start_ns - expected_start_ns(run, index, &usual);
	bool is_after_graph =
		predecessor != PROFILE_NONE && replay_placed(run, predecessor) == PLACED_IN_GRAPH;
	const struct awaited awaited = awaited_by(run, index, predecessor, usual.cross_stream);
	int64_t start_ns;

	if (rest_ns > 0 && (is_after_graph || lanes_of(&run->lanes, index) ||
			    is_set_back_sooner(run, index) || has_gap(run, index)))
		rest_ns = 0;
	if (is_unstaged(run, index))
		rest_ns = 0;
	start_ns = max_ns(call_start_ns + launch_ns,
			  ready_ns(&awaited, kept_gap_ns(run, predecessor, index, &usual),
				   usual.cross_stream_gap_ns)) +
		   rest_ns;
	start_ns = max_ns(
		start_ns,
		child_kernels_over_ns(&run->threads[run->profile->calls[op->call].thread].children,
				      run->costs, op->stream));
	return max_ns(max_ns(start_ns, call_start_ns), ready_ns(&awaited, 0, 0));
}

/* A node of a graph after the first one, which starts at first_ns; kept_ns: at its distance to that.  In a lane it has
 * none. */
static int64_t kept_node_start_ns(const struct run *run, uint32_t op, int64_t first_ns,
				  int64_t kept_ns)
{
	uint32_t predecessor = replay_predecessor_of(run, op);

	if (!lanes_of(&run->lanes, op))
		return max_ns(kept_ns, replay_ready_ns(run, op, 0, 0));
	return max_ns(first_ns, replay_ready_ns(run, op,
						predecessor != PROFILE_NONE
							? lanes_gap_ns(&run->lanes, predecessor, op)
							: 0,
						0));
}

/* Operations of a call as it was: those of a graph keep their distance to the first, but for what
 * recording added, and wait for what they waited for. */
static void submit_kept(struct run *run, size_t call, int64_t call_start_ns)
{
	const struct submissions *submissions = &run->model->submissions;
	const struct profile_op *ops = run->profile->ops;
	uint32_t first = submissions_first(submissions, call),
		 end = submissions_first(submissions, call + 1), op;
	int64_t start_ns, first_ns, recorded_ns;
	struct overhead_nodes added = {0};

	if (first == end)
		return;
	op = submissions_op(submissions, first);
	recorded_ns = ops[op].start_ns;
	added.last_end_ns = ops[op].end_ns;
	start_ns = kept_start_ns(run, op, call_start_ns);
	first_ns = replay_place_op(run, op, start_ns, replay_length_ns(run, op));
	for (uint32_t i = first + 1; i < end; i++) {
		int64_t kept_ns, length, shorter_ns;

		op = submissions_op(submissions, i);
		length = replay_length_ns(run, op);
		shorter_ns = run->costs ? overhead_add_node(&added, run->costs, &ops[op]) : 0;
		kept_ns = start_ns + (ops[op].start_ns - recorded_ns) - added.before_ns;
		(void)replay_place_op(run, op,
				      kept_node_start_ns(run, op, first_ns,
							 max_ns(call_start_ns, kept_ns)),
				      is_changed(run, op) ? length : length - shorter_ns);
	}
}

/* Operations that become nodes of the graph that the thread has launched: all of them are placed when it is. */
static void submit_nodes(struct run *run, size_t call)
{
	const struct submissions *submissions = &run->model->submissions;

	replay_submit_nodes(run, call);
	run->work_end_ns = INT64_MIN;
	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++)
		run->work_end_ns =
			max_ns(run->work_end_ns,
			       replay_op_end_ns(run->replay, submissions_op(submissions, i)));
}

/* Work that the kernel before goes on with. */
static void submit_fused(struct run *run, size_t call, int64_t call_start_ns)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		uint32_t op = submissions_op(submissions, i);
		(void)replay_place_op(run, op,
				      max_ns(replay_ready_ns(run, op, 0, 0), call_start_ns),
				      replay_length_ns(run, op));
	}
}

/* The readback is gone, and the kernel before it becomes a parent kernel. */
static void submit_parent(struct run *run, size_t call, struct thread_clock *clock)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		uint32_t op = submissions_op(submissions, i);
		int64_t end_ns = replay_ready_ns(run, op, 0, 0);

		if (end_ns == INT64_MIN) /* nothing ran before it */
			end_ns = clock->replayed_ns;
		child_kernels_begin(&clock->children, end_ns, run->profile->ops[op].stream);
		(void)replay_place_op(run, op, clock->children.parent_end_ns,
				      replay_length_ns(run, op));
	}
}

static void submit_children(struct run *run, size_t call, struct thread_clock *clock)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		uint32_t op = submissions_op(submissions, i);
		int64_t length = replay_length_ns(run, op);

		(void)replay_place_op(run, op,
				      child_kernels_add(&clock->children, run->costs,
							run->change->are_beside, length,
							run->change->fill[op]),
				      length);
	}
}

void replay_submit(struct run *run, size_t call, int64_t call_start_ns)
{
	struct thread_clock *clock = &run->threads[run->profile->calls[call].thread];

	switch (change_of(run, call)->submission) {
	case SUBMITS_NOTHING:
		break;
	case SUBMITS_GRAPH:
		clock->graph_start_ns = call_start_ns;
		submit_nodes(run, call);
		break;
	case SUBMITS_NODES:
		submit_nodes(run, call);
		break;
	case SUBMITS_FUSED:
		submit_fused(run, call, call_start_ns);
		break;
	case SUBMITS_PARENT:
		submit_parent(run, call, clock);
		break;
	case SUBMITS_CHILDREN:
		submit_children(run, call, clock);
		break;
	default:
		submit_kept(run, call, call_start_ns);
	}
}

void replay_place_rest(struct run *run)
{
	const struct profile *profile = run->profile;

	if (run->placed_count == profile->op_count)
		return;
	for (size_t d = 0; d < profile->device_count; d++) {
		const struct profile_device *device = &profile->devices[d];
		int64_t shift_ns = 0;

		for (size_t i = device->first_op;
		     run->rc == 0 && i < device->first_op + device->op_count; i++) {
			if (!replay_placed(run, (uint32_t)i))
				(void)replay_place_op(run, (uint32_t)i,
						      profile->ops[i].start_ns + shift_ns,
						      replay_length_ns(run, (uint32_t)i));
			shift_ns = replay_op_start_ns(run->replay, i) - profile->ops[i].start_ns;
		}
	}
}
