#include "replay/replay_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "replay/child_kernels.h"
#include "replay/graph_calls.h"
#include "replay/latencies.h"
#include "replay/recording_overhead.h"

struct thread_clock {
	int64_t recorded_ns, replayed_ns; /* the end of its last call; equal before the first */
	bool has_begun;
	int64_t graph_start_ns; /* of the graph that its calls are part of: the launch call's start */
	uint32_t graph_first_op;       /* the first operation of that graph, or PROFILE_NONE */
	struct child_kernels children; /* that the device launched last in its place */
};

/* What has become of an operation until now. */
enum placed { NOT_PLACED, PLACED, PLACED_IN_GRAPH /* a node of one that the change made */ };

struct run {
	struct replay *replay;
	const struct model *model;
	const struct profile *profile;
	const struct change *change;
	const struct costs *costs; /* NULL: as recorded */
	bool is_typical;	   /* without rest */
	struct thread_clock *threads;
	struct lanes lanes;
	uint8_t *placed; /* by op: enum placed */
	bool keeps_calls;
	struct part_time *part_times;
	size_t part_time_count;
	int64_t work_end_ns; /* of the last operation of the call that is taken; INT64_MIN: none yet */
};

static enum call_change change_of(const struct run *run, size_t call)
{
	return run->change && run->change->calls ? run->change->calls[call] : CALL_KEPT;
}

static int64_t recorded_length_ns(const struct profile_op *op)
{
	return op->end_ns - op->start_ns;
}

/* Whether the change says how long it takes. */
static bool is_changed(const struct run *run, uint32_t op)
{
	return run->change && run->change->op_ns && run->change->op_ns[op] >= 0;
}

static int64_t length_ns(const struct run *run, uint32_t op)
{
	return is_changed(run, op) ? run->change->op_ns[op]
				   : recorded_length_ns(&run->profile->ops[op]);
}

/* ---- operations ---- */

/* Where it waits in its stream or lane. */
static uint32_t predecessor_of(const struct run *run, uint32_t op)
{
	const struct lane *lane = lanes_of(&run->lanes, op);

	return lane ? lane->tail : run->model->predecessor[op];
}

/* When what waits for an operation that was placed can go on: after what the device launched, when its whole family
 * has ended. */
static int64_t over_ns(const struct run *run, uint32_t op)
{
	uint32_t call = run->profile->ops[op].call;
	int64_t end_ns = run->replay->op_end_ns[op];

	if (change_of(run, call) != CALL_BY_DEVICE)
		return end_ns;
	return max_ns(end_ns, run->threads[run->profile->calls[call].thread].children.end_ns);
}

/* When all that it waits for has ended, and the gap after that. */
static int64_t ready_ns(const struct run *run, uint32_t predecessor, uint32_t cross_stream,
			int64_t predecessor_gap_ns, int64_t cross_stream_gap_ns)
{
	int64_t ready = INT64_MIN;

	if (predecessor != PROFILE_NONE && run->placed[predecessor])
		ready = over_ns(run, predecessor) + predecessor_gap_ns;
	if (cross_stream != PROFILE_NONE && run->placed[cross_stream])
		ready = max_ns(ready, over_ns(run, cross_stream) + cross_stream_gap_ns);
	return ready;
}

/* What the steps before an operation that is as it was usually take. */
struct usual {
	int64_t launch_ns, predecessor_gap_ns, cross_stream_gap_ns;
};

static struct usual usual_of(const struct model *model, uint32_t index)
{
	uint32_t predecessor = model->predecessor[index], cross_stream = model->cross_stream[index];

	return (struct usual){
		.launch_ns = latencies_launch_ns(model, index),
		.predecessor_gap_ns = predecessor != PROFILE_NONE
					      ? latencies_gap_ns(model, predecessor, index)
					      : 0,
		.cross_stream_gap_ns = cross_stream != PROFILE_NONE
					       ? latencies_gap_ns(model, cross_stream, index)
					       : 0,
	};
}

/* What the formula of replay.h says of the recorded times. */
static int64_t expected_start_ns(const struct run *run, uint32_t index, const struct usual *usual)
{
	const struct model *model = run->model;
	const struct profile_op *ops = run->profile->ops, *op = &ops[index];
	int64_t start_ns = run->profile->calls[op->call].start_ns + usual->launch_ns;
	uint32_t predecessor = model->predecessor[index], cross_stream = model->cross_stream[index];

	if (predecessor != PROFILE_NONE)
		start_ns = max_ns(start_ns, ops[predecessor].end_ns + usual->predecessor_gap_ns);
	if (cross_stream != PROFILE_NONE)
		start_ns = max_ns(start_ns, ops[cross_stream].end_ns + usual->cross_stream_gap_ns);
	return start_ns;
}

static void place_op(struct run *run, uint32_t op, int64_t start_ns, int64_t length)
{
	bool is_in_lane = lanes_of(&run->lanes, op);

	if (is_in_lane)
		start_ns = lanes_start_ns(&run->lanes, op, start_ns);
	run->replay->op_start_ns[op] = start_ns;
	run->replay->op_end_ns[op] = start_ns + length;
	run->placed[op] = PLACED;
	run->work_end_ns = max_ns(run->work_end_ns, start_ns + length);
	if (is_in_lane)
		lanes_take(&run->lanes, op, start_ns, start_ns + length);
}

/* The gap before an operation that is as it was, but perhaps in a lane. */
static int64_t kept_gap_ns(const struct run *run, uint32_t predecessor, uint32_t index,
			   const struct usual *usual)
{
	if (predecessor == PROFILE_NONE)
		return 0;
	if (change_of(run, run->profile->ops[index].call) == CALL_DEPENDENT)
		return run->costs->dependent_gap_ns;
	if (lanes_of(&run->lanes, index))
		return lanes_gap_ns(&run->lanes, predecessor, index);
	return usual->predecessor_gap_ns - overhead_gap_ns(run->model, run->costs, predecessor,
							   index, usual->predecessor_gap_ns);
}

/* After a launch that was counted the next one waits until counters are set back: 75 us in
 * tests/recordings/work_queue_mild.naive.counted. */
static bool is_after_counted(const struct run *run, uint32_t index)
{
	uint32_t predecessor = run->model->predecessor[index];

	return predecessor != PROFILE_NONE && run->profile->ops[predecessor].counted != NOT_COUNTED;
}

/* Where what recording added is taken out, so is that. */
static bool is_set_back_sooner(const struct run *run, uint32_t index)
{
	return run->costs && is_after_counted(run, index);
}

/* Whether a copy engine does it, from the host or to it. */
static bool is_host_copy(const struct run *run, uint32_t index, unsigned int *kind)
{
	const struct profile *profile = run->profile;
	const struct profile_op *op = &profile->ops[index];

	if (op->kind != OP_COPY || length_ns(run, index) == OP_GONE)
		return false;
	*kind = profile->copies[op->detail].kind;
	return *kind == COPY_TO_HOST || *kind == COPY_TO_DEVICE;
}

/* Of the first node of a graph. */
static int64_t graph_start_ns(const struct run *run, uint32_t op)
{
	const struct costs *costs = run->costs;
	unsigned int kind;

	if (!is_host_copy(run, op, &kind))
		return costs->graph_to_start_ns;
	return kind == COPY_TO_DEVICE ? costs->graph_copy_in_to_start_ns
				      : costs->graph_copy_to_start_ns;
}

/* What updated nodes make a graph's launch longer. */
static int64_t updated_ns(const struct run *run, size_t launch)
{
	return (int64_t)graph_call_node_count(run->model, launch) * run->costs->updated_node_ns;
}

/* From a call to the first operation of what it submits. */
static int64_t kept_launch_ns(const struct run *run, uint32_t index, int64_t usual_ns)
{
	uint32_t call = run->profile->ops[index].call;

	if (change_of(run, call) == CALL_AGAIN)
		return graph_start_ns(run, index) + updated_ns(run, call);
	return usual_ns - overhead_start_ns(run->model, run->costs, index, usual_ns);
}

/* The first operation of a call that is as it was. */
static int64_t kept_start_ns(const struct run *run, uint32_t index, int64_t call_start_ns)
{
	const struct profile_op *op = &run->profile->ops[index];
	const struct usual usual = usual_of(run->model, index);
	uint32_t predecessor = predecessor_of(run, index),
		 cross_stream = run->model->cross_stream[index];
	int64_t launch_ns = kept_launch_ns(run, index, usual.launch_ns);
	int64_t rest_ns = run->is_typical && !is_after_counted(run, index)
				  ? 0
				  : op->start_ns - expected_start_ns(run, index, &usual);
	bool is_after_graph =
		predecessor != PROFILE_NONE && run->placed[predecessor] == PLACED_IN_GRAPH;
	int64_t start_ns;

	if (rest_ns > 0 &&
	    (is_after_graph || lanes_of(&run->lanes, index) || is_set_back_sooner(run, index) ||
	     change_of(run, op->call) == CALL_DEPENDENT))
		rest_ns = 0;
	start_ns = max_ns(call_start_ns + launch_ns,
			  ready_ns(run, predecessor, cross_stream,
				   kept_gap_ns(run, predecessor, index, &usual),
				   usual.cross_stream_gap_ns)) +
		   rest_ns;
	start_ns = max_ns(
		start_ns,
		child_kernels_over_ns(&run->threads[run->profile->calls[op->call].thread].children,
				      run->costs, op->stream));
	return max_ns(max_ns(start_ns, call_start_ns),
		      ready_ns(run, predecessor, cross_stream, 0, 0));
}

/* A node of a graph after the first one; kept_ns: at its distance to that.  In a lane it has none. */
static int64_t kept_node_start_ns(const struct run *run, uint32_t op, uint32_t first,
				  int64_t kept_ns)
{
	uint32_t predecessor = predecessor_of(run, op), cross_stream = run->model->cross_stream[op];

	if (!lanes_of(&run->lanes, op))
		return max_ns(kept_ns, ready_ns(run, predecessor, cross_stream, 0, 0));
	return max_ns(run->replay->op_start_ns[first],
		      ready_ns(run, predecessor, cross_stream,
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
	uint32_t first = submissions->first[call], end = submissions->first[call + 1], op;
	int64_t start_ns, recorded_ns;
	struct overhead_nodes added = {0};

	if (first == end)
		return;
	op = submissions->ops[first];
	recorded_ns = ops[op].start_ns;
	added.last_end_ns = ops[op].end_ns;
	start_ns = kept_start_ns(run, op, call_start_ns);
	place_op(run, op, start_ns, length_ns(run, op));
	for (uint32_t i = first + 1; i < end; i++) {
		int64_t kept_ns, length, shorter_ns;

		op = submissions->ops[i];
		length = length_ns(run, op);
		shorter_ns = run->costs ? overhead_add_node(&added, run->costs, &ops[op]) : 0;
		kept_ns = start_ns + (ops[op].start_ns - recorded_ns) - added.before_ns;
		place_op(run, op,
			 kept_node_start_ns(run, op, submissions->ops[first],
					    max_ns(call_start_ns, kept_ns)),
			 is_changed(run, op) ? length : length - shorter_ns);
	}
}

/* Whether the operation belongs to the graph that the thread has launched last. */
static bool is_in_graph(const struct run *run, const struct thread_clock *clock, uint32_t op)
{
	return op != PROFILE_NONE && run->placed[op] == PLACED_IN_GRAPH &&
	       clock->graph_first_op != PROFILE_NONE && op >= clock->graph_first_op;
}

/* Going over from the SMs to a copy engine, or back, takes at least so long.  What is gone was the SMs': a read that is
 * decided by follows a kernel. */
static int64_t engines_gap_ns(const struct run *run, uint32_t predecessor, uint32_t op,
			      int64_t gap_ns)
{
	const struct costs *costs = run->costs;
	unsigned int kind = COPY_TO_HOST;
	bool was_copy = is_host_copy(run, predecessor, &kind),
	     is_copy = is_host_copy(run, op, &kind);

	if (was_copy == is_copy)
		return gap_ns;
	return max_ns(gap_ns, kind == COPY_TO_DEVICE ? costs->graph_copy_in_gap_ns
						     : costs->graph_copy_gap_ns);
}

/* gap_ns: after a node of the same graph. */
static void submit_node(struct run *run, uint32_t op, struct thread_clock *clock, int64_t gap_ns)
{
	uint32_t predecessor = predecessor_of(run, op), cross_stream = run->model->cross_stream[op];
	int64_t predecessor_gap_ns =
		is_in_graph(run, clock, predecessor) ? gap_ns : run->costs->graph_gap_ns;
	int64_t to_start_ns = clock->graph_first_op == PROFILE_NONE ? graph_start_ns(run, op)
								    : run->costs->graph_to_start_ns;
	int64_t start_ns;

	if (predecessor != PROFILE_NONE)
		predecessor_gap_ns = engines_gap_ns(run, predecessor, op, predecessor_gap_ns);
	if (length_ns(run, op) == OP_GONE)
		predecessor_gap_ns = gap_ns = 0;
	start_ns = max_ns(clock->graph_start_ns + to_start_ns,
			  ready_ns(run, predecessor, cross_stream, predecessor_gap_ns, gap_ns));
	if (clock->graph_first_op == PROFILE_NONE)
		clock->graph_first_op = op;
	place_op(run, op, start_ns, length_ns(run, op));
	run->placed[op] = PLACED_IN_GRAPH;
}

static int64_t first_gap_ns(const struct run *run, size_t call)
{
	switch (change_of(run, call)) {
	case CALL_IN_BODY:
		return run->change->decision_ns;
	case CALL_IN_KERNEL:
		return run->costs->barrier_ns;
	default:
		return run->costs->graph_node_gap_ns;
	}
}

/* Operations that become nodes of the graph that the thread has launched. */
static void submit_nodes(struct run *run, size_t call, struct thread_clock *clock)
{
	const struct submissions *submissions = &run->model->submissions;
	int64_t gap_ns = first_gap_ns(run, call);

	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		submit_node(run, submissions->ops[i], clock, gap_ns);
		gap_ns = run->costs->graph_node_gap_ns;
	}
}

/* Work that the kernel before goes on with. */
static void submit_fused(struct run *run, size_t call, int64_t call_start_ns)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		uint32_t op = submissions->ops[i];
		int64_t ready =
			ready_ns(run, predecessor_of(run, op), run->model->cross_stream[op], 0, 0);

		place_op(run, op, max_ns(ready, call_start_ns), length_ns(run, op));
	}
}

/* What the host asked for is gone, and the kernel before it knows. */
static void submit_question(struct run *run, size_t call, struct thread_clock *clock)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		uint32_t op = submissions->ops[i];
		int64_t end_ns =
			ready_ns(run, predecessor_of(run, op), run->model->cross_stream[op], 0, 0);

		if (end_ns == INT64_MIN) /* nothing ran before it */
			end_ns = clock->replayed_ns;
		child_kernels_begin(&clock->children, end_ns, run->profile->ops[op].stream);
		place_op(run, op, clock->children.parent_end_ns, length_ns(run, op));
	}
}

static void submit_children(struct run *run, size_t call, struct thread_clock *clock)
{
	const struct submissions *submissions = &run->model->submissions;

	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++) {
		uint32_t op = submissions->ops[i];
		int64_t length = length_ns(run, op);

		place_op(run, op,
			 child_kernels_add(&clock->children, run->costs, run->change->are_beside,
					   length, run->change->fill[op]),
			 length);
	}
}

/* ---- calls ---- */

/* When what is awaited has ended; in a lane, all that was put into lanes until now. */
static int64_t awaited_end_ns(const struct run *run, uint32_t awaited)
{
	int64_t end_ns = over_ns(run, awaited);

	return lanes_of(&run->lanes, awaited) ? max_ns(end_ns, lanes_end_ns(&run->lanes)) : end_ns;
}

/* A call that waits: until what it waits for has ended, and as long after as it took then.  Where
 * that had ended before, waiting took the call's own time, and the host sees the end no sooner than
 * it would waiting for it. */
static int64_t waited_until_ns(const struct run *run, size_t index, int64_t start_ns)
{
	const struct profile_call *call = &run->profile->calls[index];
	uint32_t awaited = run->model->awaited[index];
	int64_t own_ns = call->end_ns - call->start_ns, waited_ns, after_ns;

	if (awaited == PROFILE_NONE || !run->placed[awaited])
		return start_ns + own_ns - overhead_call_ns(run->model, run->costs, index, own_ns);
	waited_ns = run->profile->ops[awaited].end_ns - call->start_ns;
	after_ns = own_ns - waited_ns;
	if (waited_ns <= 0) {
		own_ns -= overhead_call_ns(run->model, run->costs, index, own_ns);
		after_ns = run->costs ? min_ns(after_ns, run->costs->synchronize_ns) : after_ns;
	} else {
		own_ns = run->costs ? min_ns(min_ns(own_ns, waited_ns), run->costs->synchronize_ns)
				    : 0;
	}
	return max_ns(start_ns + own_ns, awaited_end_ns(run, awaited) + after_ns);
}

static int64_t call_end_ns(const struct run *run, size_t index, int64_t start_ns)
{
	const struct profile_call *call = &run->profile->calls[index];
	int64_t own_ns = call->end_ns - call->start_ns;

	if (run->model->behavior[index] != CALL_WORKS)
		return waited_until_ns(run, index, start_ns);
	return start_ns + own_ns - overhead_call_ns(run->model, run->costs, index, own_ns);
}

/* The host's own time since the call before. */
static int64_t host_ns(const struct run *run, struct thread_clock *clock,
		       const struct profile_call *call)
{
	int64_t pause_ns;

	if (!clock->has_begun) {
		clock->has_begun = true;
		clock->recorded_ns = clock->replayed_ns = call->start_ns;
		clock->graph_first_op = PROFILE_NONE;
	}
	pause_ns = max_ns(call->start_ns - clock->recorded_ns, 0);
	return pause_ns ? pause_ns - overhead_counting_ns(run->model, run->costs, call->thread,
							  clock->recorded_ns, call->start_ns)
			: 0;
}

static bool is_in_graph_change(enum call_change change)
{
	return change == CALL_IN_GRAPH || change == CALL_AFTER_WORK || change == CALL_IN_BODY ||
	       change == CALL_IN_KERNEL;
}

/* Of the graph that begins with a call. */
struct graph_calls {
	int64_t node_count;
	/* The host's own time before each call after the first: the mean, or the longest where a long one is gone. */
	int64_t pause_ns;
};

static struct graph_calls graph_calls_of(const struct run *run, const struct profile_call *call)
{
	const struct profile *profile = run->profile;
	const struct profile_thread *thread = &profile->threads[call->thread];
	size_t first = (size_t)(call - profile->calls),
	       end = thread->first_call + thread->call_count;
	struct graph_calls graph = {.node_count =
					    submissions_count(&run->model->submissions, first)};
	int64_t pause_count = 0, longest_ns = 0;

	for (size_t i = first + 1; i < end && is_in_graph_change(change_of(run, i)); i++) {
		int64_t from_ns = profile->calls[i - 1].end_ns,
			until_ns = profile->calls[i].start_ns;
		int64_t pause_ns = max_ns(until_ns - from_ns, 0);

		if (pause_ns)
			pause_ns -= overhead_counting_ns(run->model, run->costs, call->thread,
							 from_ns, until_ns);
		graph.node_count += submissions_count(&run->model->submissions, i);
		if (change_of(run, i) == CALL_AFTER_WORK)
			continue;
		longest_ns = max_ns(longest_ns, pause_ns);
		graph.pause_ns += pause_ns;
		pause_count++;
	}
	if (longest_ns > LONG_HOST_NS)
		graph.pause_ns = longest_ns;
	else if (pause_count)
		graph.pause_ns /= pause_count;
	return graph;
}

/* A graph's launch in place of a call.  What the host does before each call of an iteration, to make it, it does
 * before the first one as well: of pause_ns, that much is gone, too. */
static int64_t take_graph(struct run *run, uint32_t index, int64_t *start_ns, int64_t pause_ns)
{
	const struct profile_call *call = &run->profile->calls[index];
	struct thread_clock *clock = &run->threads[call->thread];
	const struct graph_calls graph = graph_calls_of(run, call);

	*start_ns -= min_ns(pause_ns, graph.pause_ns);
	clock->graph_start_ns = *start_ns;
	if (change_of(run, index) == CALL_AS_UPDATED)
		clock->graph_start_ns += run->change->update_ns * graph.node_count;
	clock->graph_first_op = PROFILE_NONE;
	submit_nodes(run, index, clock);
	return clock->graph_start_ns + run->costs->graph_launch_ns;
}

/* Of all nodes of the graph that was instantiated. */
static int64_t update_ns(const struct run *run, size_t call)
{
	uint32_t launch = graph_call_launch(run->model, call);

	return costs_graph_ns(run->costs, CEILING_graph_update,
			      graph_call_node_count(run->model, launch));
}

static void tell_of_call(struct run *run, uint32_t index, int64_t start_ns, int64_t end_ns)
{
	uint32_t thread = run->profile->calls[index].thread;

	if (run->keeps_calls) {
		run->replay->call_start_ns[index] = start_ns;
		run->replay->call_end_ns[index] = end_ns;
	}
	for (size_t i = 0; i < run->part_time_count; i++)
		part_time_add_call(&run->part_times[i], thread, index, start_ns, end_ns,
				   run->work_end_ns);
}

static void take_call(struct run *run, uint32_t index)
{
	const struct profile_call *call = &run->profile->calls[index];
	struct thread_clock *clock = &run->threads[call->thread];
	int64_t pause_ns = host_ns(run, clock, call), start_ns = clock->replayed_ns + pause_ns,
		end_ns;
	enum call_change what = change_of(run, index);

	run->work_end_ns = INT64_MIN;
	switch (what) {
	case CALL_AS_GRAPH:
	case CALL_AS_UPDATED:
		end_ns = take_graph(run, index, &start_ns, pause_ns);
		break;
	case CALL_IN_GRAPH:
	case CALL_AFTER_WORK:
	case CALL_IN_BODY:
	case CALL_IN_KERNEL:
		start_ns = end_ns = clock->replayed_ns + (what == CALL_AFTER_WORK ? pause_ns : 0);
		submit_nodes(run, index, clock);
		break;
	case CALL_FUSED:
		start_ns = end_ns = clock->replayed_ns;
		submit_fused(run, index, start_ns);
		break;
	case CALL_ASKS:
		start_ns = end_ns = clock->replayed_ns;
		submit_question(run, index, clock);
		break;
	case CALL_BY_DEVICE:
		start_ns = end_ns = clock->replayed_ns;
		submit_children(run, index, clock);
		break;
	case CALL_DROPPED:
		end_ns = start_ns;
		break;
	case CALL_UPDATES:
		end_ns = start_ns + update_ns(run, index);
		break;
	case CALL_AGAIN:
		submit_kept(run, index, start_ns);
		end_ns = start_ns + run->costs->graph_launch_ns + updated_ns(run, index);
		break;
	case CALL_MADE_ASYNC:
		submit_kept(run, index, start_ns);
		end_ns = start_ns + run->costs->launch_call_ns;
		break;
	default:
		submit_kept(run, index, start_ns);
		end_ns = call_end_ns(run, index, start_ns);
	}
	tell_of_call(run, index, start_ns, end_ns);
	clock->recorded_ns = max_ns(clock->recorded_ns, call->end_ns);
	clock->replayed_ns = end_ns;
}

/* What the device launched itself, or what has no call: as far from the operation that started
 * before it as in the recording. */
static void place_the_rest(struct run *run)
{
	const struct profile *profile = run->profile;

	for (size_t d = 0; d < profile->device_count; d++) {
		const struct profile_device *device = &profile->devices[d];
		int64_t shift_ns = 0;

		for (size_t i = device->first_op; i < device->first_op + device->op_count; i++) {
			if (!run->placed[i])
				place_op(run, (uint32_t)i, profile->ops[i].start_ns + shift_ns,
					 length_ns(run, (uint32_t)i));
			shift_ns = run->replay->op_start_ns[i] - profile->ops[i].start_ns;
		}
	}
}

/* ---- the whole ---- */

/* What an earlier run left is of the right size. */
static int allocate_times(int64_t **start_ns, int64_t **end_ns, size_t count)
{
	if (!*start_ns)
		*start_ns = malloc((count + 1) * sizeof(**start_ns));
	if (!*end_ns)
		*end_ns = malloc((count + 1) * sizeof(**end_ns));
	return *start_ns && *end_ns ? 0 : -ENOMEM;
}

static int allocate(struct run *run)
{
	const struct profile *profile = run->profile;
	struct replay *replay = run->replay;
	int rc = allocate_times(&replay->op_start_ns, &replay->op_end_ns, profile->op_count);

	if (rc == 0 && run->keeps_calls)
		rc = allocate_times(&replay->call_start_ns, &replay->call_end_ns,
				    profile->call_count);
	replay->call_count = profile->call_count;
	replay->op_count = profile->op_count;
	run->threads = calloc(profile->thread_count + 1, sizeof(*run->threads));
	run->placed = calloc(profile->op_count + 1, 1);
	return run->threads && run->placed ? rc : -ENOMEM;
}

static int run_all(struct run *run)
{
	int rc = lanes_open(&run->lanes, run->model, run->change, run->costs);

	if (rc == 0)
		rc = allocate(run);
	if (rc == 0) {
		for (size_t i = 0; i < run->profile->call_count; i++)
			take_call(run, run->model->order[i]);
		place_the_rest(run);
	}
	free(run->threads);
	lanes_free(&run->lanes);
	free(run->placed);
	return rc;
}

int replay_run(struct replay *replay, const struct model *model, const struct change *change,
	       const struct costs *costs)
{
	return run_all(&(struct run){.replay = replay,
				     .model = model,
				     .profile = model->profile,
				     .change = change,
				     .costs = costs,
				     .keeps_calls = true});
}

int replay_time(struct replay *replay, const struct model *model, const struct change *change,
		const struct costs *costs, struct part_time *part_times, size_t part_time_count)
{
	return run_all(&(struct run){.replay = replay,
				     .model = model,
				     .profile = model->profile,
				     .change = change,
				     .costs = costs,
				     .part_times = part_times,
				     .part_time_count = part_time_count});
}

int replay_run_typical(struct replay *replay, const struct model *model)
{
	return run_all(&(struct run){
		.replay = replay, .model = model, .profile = model->profile, .is_typical = true});
}

void replay_free(struct replay *replay)
{
	free(replay->call_start_ns);
	free(replay->call_end_ns);
	free(replay->op_start_ns);
	free(replay->op_end_ns);
	*replay = (struct replay){0};
}
