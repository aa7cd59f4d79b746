#include "replay/replay_graphs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/ns.h"
#include "base/search.h"
#include "replay/calls.h"
#include "replay/dependencies.h"
#include "replay/replay_ops.h"

/* ---- which launches there are ---- */

static bool is_part(const struct change *change, size_t call)
{
	const struct call_change *what = change_of_call(change, call);

	return call_change_is_graph(what) || call_change_is_node(what);
}

static bool is_nothing(const struct change *change, size_t call)
{
	return change_of_call(change, call)->submission == SUBMITS_NOTHING;
}

/* The end of a launch that begins there: calls that submit nothing any more may be between its nodes'. */
static size_t launch_end(const struct change *change, size_t first, size_t end_call)
{
	size_t last = first;

	for (size_t i = first + 1; i < end_call; i++) {
		if (call_change_is_node(change_of_call(change, i)))
			last = i;
		else if (!is_nothing(change, i))
			break;
	}
	return last + 1;
}

static int find_in_thread(struct graph_launches *launches, size_t *capacity,
			  const struct change *change, const struct profile_thread *thread)
{
	size_t end_call = thread->first_call + thread->call_count;

	for (size_t i = thread->first_call; i < end_call; i++) {
		struct graph_launch *next;

		if (!is_part(change, i))
			continue;
		next = ARRAY_NEXT(launches->items, *capacity, launches->count);
		if (!next)
			return -ENOMEM;
		*next = (struct graph_launch){(uint32_t)i,
					      (uint32_t)launch_end(change, i, end_call),
					      PROFILE_NONE};
		launches->count++;
		i = next->end_call - 1;
	}
	return 0;
}

static size_t most_nodes(const struct graph_launches *launches,
			 const struct submissions *submissions)
{
	size_t most = 0;

	for (size_t i = 0; i < launches->count; i++) {
		const struct graph_launch *launch = &launches->items[i];
		size_t count = submissions_first(submissions, launch->end_call) -
			       submissions_first(submissions, launch->first_call);

		most = count > most ? count : most;
	}
	return most;
}

static int allocate(struct graph_launches *launches, const struct model *model)
{
	const struct profile *profile = model->profile;
	size_t node_count = most_nodes(launches, &model->submissions);

	launches->nodes = malloc((node_count + 1) * sizeof(*launches->nodes));
	launches->branches = malloc((profile->stream_count + 1) * sizeof(*launches->branches));
	launches->branch_of_stream = dependencies_none(profile->stream_count);
	launches->engines = malloc((profile->thread_count + 1) * sizeof(*launches->engines));
	if (!launches->nodes || !launches->branches || !launches->branch_of_stream ||
	    !launches->engines)
		return -ENOMEM;
	for (size_t i = 0; i < profile->thread_count; i++)
		engines_open(&launches->engines[i]);
	return 0;
}

int graph_launches_find(struct graph_launches *launches, const struct model *model,
			const struct change *change)
{
	const struct profile *profile = model->profile;
	size_t capacity = 0;
	int rc = 0;

	*launches = (struct graph_launches){0};
	if (!change || (!change_has(change, SUBMITS_GRAPH) && !change_has(change, SUBMITS_NODES)))
		return 0;
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		rc = find_in_thread(launches, &capacity, change, &profile->threads[i]);
	return rc == 0 && launches->count ? allocate(launches, model) : rc;
}

void graph_launches_free(struct graph_launches *launches)
{
	free(launches->items);
	free(launches->nodes);
	free(launches->branches);
	free(launches->branch_of_stream);
	free(launches->engines);
	*launches = (struct graph_launches){0};
}

struct launch_call {
	const struct graph_launch *items;
	size_t call;
};

static bool ends_behind(size_t index, const void *context)
{
	const struct launch_call *look = context;

	return look->items[index].end_call > look->call;
}

struct graph_launch *graph_launches_find_of(const struct graph_launches *launches, size_t call)
{
	return &launches->items[search_first(0, launches->count, ends_behind,
					     &(struct launch_call){launches->items, call})];
}

/* ---- what a launch waits for ---- */

/* Launches of a thread that are looked back at for one of the same executable graph. */
#define LAUNCHES_LOOKED_AT 8

static uint32_t first_op(const struct run *run, const struct graph_launch *launch)
{
	const struct submissions *submissions = &run->model->submissions;

	return submissions_first(submissions, launch->first_call) ==
			       submissions_first(submissions, launch->end_call)
		       ? PROFILE_NONE
		       : submissions_op(submissions,
					submissions_first(submissions, launch->first_call));
}

/* Whether two launches are of one executable graph, by what they begin with: an update may have changed its sizes. */
static bool is_same_graph(const struct run *run, const struct graph_launch *left,
			  const struct graph_launch *right)
{
	const struct profile *profile = run->profile;
	uint32_t a = first_op(run, left), b = first_op(run, right);
	const struct profile_op *ops = profile->ops;

	if (a == PROFILE_NONE || b == PROFILE_NONE || ops[a].kind != ops[b].kind ||
	    profile->calls[left->first_call].thread != profile->calls[right->first_call].thread)
		return false;
	if (ops[a].kind == OP_COPY)
		return profile->copies[ops[a].detail].kind == profile->copies[ops[b].detail].kind;
	return ops[a].kind != OP_KERNEL || profile->signatures[ops[a].detail].kernel ==
						   profile->signatures[ops[b].detail].kernel;
}

/* When it can start: after the launch of the same executable graph before it, and after what the stream did that it is
 * launched in, that of its first node. */
static int64_t launch_ready_ns(const struct run *run, const struct graph_launch *launch)
{
	const struct graph_launch *first = run->graphs.items, *before = launch;
	int64_t gap_ns = run->costs->graph_gap_ns, ready = INT64_MIN;
	uint32_t op = first_op(run, launch);

	if (op != PROFILE_NONE)
		ready = replay_ready_ns(run, op, gap_ns, 0);
	for (int i = 0; i < LAUNCHES_LOOKED_AT && before > first; i++) {
		before--;
		if (before->last_op != PROFILE_NONE && is_same_graph(run, before, launch))
			return max_ns(ready,
				      replay_op_end_ns(run->replay, before->last_op) + gap_ns);
	}
	return ready;
}

/* ---- nodes ---- */

static void add_node(struct graph_launches *launches, uint32_t op, uint32_t stream, int64_t gap_ns)
{
	uint32_t index = (uint32_t)launches->node_count++;
	uint32_t *branch = &launches->branch_of_stream[stream];

	launches->nodes[index] = (struct graph_node){op, PROFILE_NONE, gap_ns};
	if (*branch == PROFILE_NONE) {
		*branch = (uint32_t)launches->branch_count++;
		launches->branches[*branch] = (struct graph_branch){index, index, NODE_WAITS};
		return;
	}
	launches->nodes[launches->branches[*branch].last].next = index;
	launches->branches[*branch].last = index;
}

/* Returns whether their order is to be found: those in lanes keep the one in which they were submitted. */
static bool collect_nodes(struct run *run, const struct graph_launch *launch)
{
	const struct submissions *submissions = &run->model->submissions;
	struct graph_launches *launches = &run->graphs;
	bool has_lanes = false;

	launches->node_count = launches->branch_count = 0;
	for (size_t i = launch->first_call; i < launch->end_call; i++) {
		int64_t gap_ns = costs_ns(run->costs, change_of_call(run->change, i)->gap, 0);
		uint32_t j = submissions_first(submissions, i),
			 end = is_part(run->change, i) ? submissions_first(submissions, i + 1) : j;

		for (; j < end; j++) {
			uint32_t op = submissions_op(submissions, j);

			has_lanes = has_lanes || lanes_of(&run->lanes, op);
			add_node(launches, op, run->profile->ops[op].stream, gap_ns);
			gap_ns = run->costs->graph_node_gap_ns;
		}
	}
	for (size_t i = 0; i < launches->node_count; i++)
		launches->branch_of_stream[run->profile->ops[launches->nodes[i].op].stream] =
			PROFILE_NONE;
	return !has_lanes;
}

static bool is_of(const struct run *run, const struct graph_launch *launch, uint32_t op)
{
	uint32_t call = run->profile->ops[op].call;

	return call != PROFILE_NONE && call >= launch->first_call && call < launch->end_call;
}

/* Going over from the SMs to a copy engine, or back, takes at least so long.  What is gone was the SMs': a read that is
 * decided by follows a kernel. */
static int64_t engines_gap_ns(const struct run *run, uint32_t predecessor, uint32_t op,
			      int64_t gap_ns)
{
	const struct costs *costs = run->costs;
	unsigned int kind = COPY_TO_HOST;
	bool was_copy = replay_is_host_copy(run, predecessor, &kind),
	     is_copy = replay_is_host_copy(run, op, &kind);

	if (was_copy == is_copy)
		return gap_ns;
	return max_ns(gap_ns, kind == COPY_TO_DEVICE ? costs->graph_copy_in_gap_ns
						     : costs->graph_copy_gap_ns);
}

static bool is_unplaced(const struct run *run, uint32_t op)
{
	return op != PROFILE_NONE && !replay_placed(run, op);
}

static int64_t node_ready_ns(const struct run *run, const struct graph_launch *launch,
			     const struct graph_node *node)
{
	uint32_t predecessor = replay_predecessor_of(run, node->op);
	int64_t predecessor_gap_ns = run->costs->graph_gap_ns;

	if (!replay_length_ns(run, node->op))
		return replay_ready_ns(run, node->op, 0, 0);
	if (predecessor != PROFILE_NONE && is_of(run, launch, predecessor))
		predecessor_gap_ns = node->gap_ns;
	if (predecessor != PROFILE_NONE)
		predecessor_gap_ns = engines_gap_ns(run, predecessor, node->op, predecessor_gap_ns);
	return replay_ready_ns(run, node->op, predecessor_gap_ns, node->gap_ns);
}

/* index: nodes[], of which the first one is what the launch begins with. */
static void place_node(struct run *run, struct graph_launch *launch, uint32_t index,
		       int64_t ready_ns)
{
	uint32_t op = run->graphs.nodes[index].op;
	const struct profile_op *what = &run->profile->ops[op];
	uint32_t thread = run->profile->calls[what->call].thread;
	struct engines *engines = &run->graphs.engines[thread];
	int64_t length = replay_length_ns(run, op),
		start_ns = max_ns(run->threads[thread].nodes_start_ns, ready_ns);
	unsigned int fill = call_fill(run->profile, what);
	bool is_working = length && !lanes_of(&run->lanes, op);

	if (is_working)
		start_ns = engines_start_ns(engines, run->profile, op, fill, start_ns);
	(void)replay_place_op(run, op, start_ns, length);
	replay_set_placed(run, op, PLACED_IN_GRAPH);
	if (is_working)
		engines_add(engines, run->profile, op, fill, start_ns, start_ns + length);
	if (launch->last_op == PROFILE_NONE ||
	    replay_op_end_ns(run->replay, launch->last_op) < replay_op_end_ns(run->replay, op))
		launch->last_op = op;
}

/* The branch whose next node is ready first, of several the one that was submitted first; NULL: all wait. */
static struct graph_branch *next_branch(struct run *run, const struct graph_launch *launch)
{
	struct graph_launches *launches = &run->graphs;
	struct graph_branch *next = NULL;

	for (size_t i = 0; i < launches->branch_count; i++) {
		struct graph_branch *branch = &launches->branches[i];
		const struct graph_node *node = &launches->nodes[branch->next];

		if (branch->ready_ns == NODE_WAITS &&
		    !is_unplaced(run, replay_predecessor_of(run, node->op)) &&
		    !is_unplaced(run, model_cross_stream(run->model, node->op)))
			branch->ready_ns = node_ready_ns(run, launch, node);
		if (branch->ready_ns != NODE_WAITS &&
		    (!next || branch->ready_ns < next->ready_ns ||
		     (branch->ready_ns == next->ready_ns && branch->next < next->next)))
			next = branch;
	}
	return next;
}

static void place_ready(struct run *run, struct graph_launch *launch)
{
	struct graph_launches *launches = &run->graphs;
	struct graph_branch *branch;

	while ((branch = next_branch(run, launch))) {
		place_node(run, launch, branch->next, branch->ready_ns);
		branch->next = launches->nodes[branch->next].next;
		branch->ready_ns = NODE_WAITS;
		if (branch->next == PROFILE_NONE)
			*branch = launches->branches[--launches->branch_count];
	}
}

/* What it begins with is a copy, or a kernel, which starts after another time. */
static void launch_graph(struct run *run, struct graph_launch *launch)
{
	struct thread_clock *clock = &run->threads[run->profile->calls[launch->first_call].thread];
	uint32_t op = first_op(run, launch);
	int64_t to_start_ns =
		op == PROFILE_NONE ? run->costs->graph_to_start_ns : replay_graph_start_ns(run, op);

	clock->nodes_start_ns =
		max_ns(clock->graph_start_ns + to_start_ns, launch_ready_ns(run, launch));
	if (collect_nodes(run, launch))
		place_ready(run, launch);
}

/* Those of a call that had to wait for another thread's, in the order in which they were submitted. */
static void place_late(struct run *run, struct graph_launch *launch, size_t call)
{
	const struct submissions *submissions = &run->model->submissions;
	int64_t gap_ns = costs_ns(run->costs, change_of_call(run->change, call)->gap, 0);

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++) {
		struct graph_node *node = &run->graphs.nodes[0];

		*node = (struct graph_node){submissions_op(submissions, i), PROFILE_NONE, gap_ns};
		gap_ns = run->costs->graph_node_gap_ns;
		if (!replay_placed(run, node->op))
			place_node(run, launch, 0, node_ready_ns(run, launch, node));
	}
}

void replay_submit_nodes(struct run *run, size_t call)
{
	struct graph_launches *launches = &run->graphs;
	struct graph_launch *launch = graph_launches_of(launches, call);

	if (launch->first_call == call) {
		launches->current = (size_t)(launch - launches->items);
		launch_graph(run, launch);
	}
	place_late(run, launch, call);
}
