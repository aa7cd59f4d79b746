#include "replay/replay_ops.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "replay/dependencies.h"
#include "replay/graph_calls.h"
#include "replay/recording_overhead.h"

/* ---- calls ---- */

/* When what is awaited has ended; in a lane, all that was put into lanes until now. */
static int64_t awaited_end_ns(const struct run *run, uint32_t awaited)
{
	int64_t end_ns = replay_over_ns(run, awaited);

	return lanes_of(&run->lanes, awaited) ? max_ns(end_ns, lanes_end_ns(&run->lanes)) : end_ns;
}

/* A call that waits: until what it waits for has ended, and as long after as it took then.  Where
 * that had ended before, waiting took the call's own time, and the host sees the end no sooner than
 * it would waiting for it. */
static int64_t waited_until_ns(const struct run *run, size_t index, int64_t start_ns)
{
	const struct profile_call *call = &run->profile->calls[index];
	uint32_t awaited = model_awaited(run->model, index);
	int64_t own_ns = call->end_ns - call->start_ns, waited_ns, after_ns;

	if (awaited == PROFILE_NONE || !replay_placed(run, awaited))
		return start_ns + own_ns - overhead_call_ns(run->model, run->costs, index, own_ns);
	waited_ns = run->profile->ops[awaited].end_ns - call->start_ns;
	after_ns = own_ns - waited_ns;
	if (waited_ns <= 0) {
		own_ns -= overhead_call_ns(run->model, run->costs, index, own_ns);
		after_ns = run->costs ? min_ns(after_ns, run->costs->synchronize_ns) : after_ns;
	} else {
		own_ns = run->costs ? min_ns(min_ns(own_ns, waited_ns), run->costs->synchronize_ns)
				    : 0;
		after_ns -= overhead_wait_ns(run->model, run->costs, awaited, after_ns);
	}
	/* Of damaged times: where work ended decades before its wait, each wait would add them. */
	return min_ns(max_ns(start_ns + own_ns, awaited_end_ns(run, awaited) + after_ns),
		      INT64_MAX / 2);
}

static int64_t call_end_ns(const struct run *run, size_t index, int64_t start_ns)
{
	const struct profile_call *call = &run->profile->calls[index];
	int64_t own_ns = call->end_ns - call->start_ns;

	if (run->model->call_traits[index].behavior != CALL_WORKS)
		return waited_until_ns(run, index, start_ns);
	return start_ns + own_ns - overhead_call_ns(run->model, run->costs, index, own_ns);
}

/* How much later a thread is at a moment than recorded, as of its last call: where that had not ended yet, as of its start. */
static int64_t later_ns(const struct run *run, uint32_t thread, int64_t moment_ns)
{
	const struct thread_clock *clock = &run->threads[thread];
	const struct profile_call *call = &run->profile->calls[clock->last_call];

	return moment_ns < call->end_ns ? clock->started_ns - call->start_ns
					: clock->replayed_ns - call->end_ns;
}

/* A thread begins as much sooner as the one that called last in its process, which made it.  And a process as much as those
 * before it have ended sooner, where none of them had anything left to do: a script runs one after the other. */
static int64_t begun_ns(struct run *run, const struct profile_call *call)
{
	uint32_t process = run->profile->threads[call->thread].process;
	uint32_t maker = run->processes[process].last_thread;
	int64_t others_end_ns = run->begun_end_ns;

	run->begun_end_ns = max_ns(others_end_ns, run->processes[process].end_ns);
	if (maker != PROFILE_NONE)
		return call->start_ns + later_ns(run, maker, call->start_ns);
	if (others_end_ns == INT64_MIN || others_end_ns > call->start_ns)
		return call->start_ns;
	return call->start_ns + run->replayed_end_ns - others_end_ns;
}

/* The host's own time since the call before. */
static int64_t host_ns(struct run *run, struct thread_clock *clock, const struct profile_call *call)
{
	int64_t pause_ns;

	if (!clock->has_begun) {
		clock->has_begun = true;
		clock->recorded_ns = call->start_ns;
		clock->replayed_ns = begun_ns(run, call);
	}
	pause_ns = max_ns(call->start_ns - clock->recorded_ns, 0);
	if (!pause_ns)
		return 0;
	if (run->model->profiler)
		pause_ns -= overhead_counting_ns(run->model, run->costs, call->thread,
						 clock->recorded_ns, call->start_ns);
	return pause_ns -
	       overhead_behind_call_ns(run->model, run->costs, clock->last_call, pause_ns);
}

/* Of the nodes that a call submits. */
static uint64_t beside_count(const struct run *run, size_t call)
{
	const struct submissions *submissions = &run->model->submissions;
	uint64_t count = 0;

	for (uint32_t i = submissions_first(submissions, call);
	     run->lanes.count && i < submissions_first(submissions, call + 1); i++) {
		uint8_t lane = run->change->lanes[submissions_op(submissions, i)];

		count += lane != LANE_NONE && !(lane & LANE_JOINED);
	}
	return count;
}

static struct graph_calls find_graph_calls(const struct run *run, size_t first)
{
	const struct profile *profile = run->profile;
	const struct profile_thread *thread = &profile->threads[profile->calls[first].thread];
	size_t end = thread->first_call + thread->call_count;
	struct graph_calls graph = {
		.first = first,
		.node_count = submissions_count(&run->model->submissions, first),
		.beside_count = beside_count(run, first),
	};
	int64_t pause_count = 0, longest_ns = 0;

	for (size_t i = first + 1; i < end && call_change_is_node(change_of_call(run->change, i));
	     i++) {
		int64_t from_ns = profile->calls[i - 1].end_ns,
			until_ns = profile->calls[i].start_ns;
		int64_t pause_ns = max_ns(until_ns - from_ns, 0);

		if (pause_ns)
			pause_ns -= overhead_counting_ns(run->model, run->costs,
							 profile->calls[first].thread, from_ns,
							 until_ns);
		graph.node_count += submissions_count(&run->model->submissions, i);
		graph.beside_count += beside_count(run, i);
		if (change_of_call(run->change, i)->pause == PAUSE_KEPT)
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

/* Several things are asked of it, one after the other. */
static const struct graph_calls *graph_calls_of(struct run *run, size_t first)
{
	if (run->graph_calls.first != first || !run->graph_calls.node_count)
		run->graph_calls = find_graph_calls(run, first);
	return &run->graph_calls;
}

/* The host's own time before a call.  What it does before each call of a graph, to make that, it does before the
 * graph's launch as well: that much is gone, too. */
static int64_t kept_pause_ns(struct run *run, size_t index, int64_t pause_ns)
{
	switch (change_of_call(run->change, index)->pause) {
	case PAUSE_GONE:
		return 0;
	case PAUSE_SHARED:
		return pause_ns - min_ns(pause_ns, graph_calls_of(run, index)->pause_ns);
	default:
		return pause_ns;
	}
}

/* Nodes of the graph that a call launches, or that it is about. */
static uint64_t node_count_of(struct run *run, size_t index)
{
	if (change_of_call(run->change, index)->submission == SUBMITS_GRAPH)
		return (uint64_t)graph_calls_of(run, index)->node_count;
	if (graph_call_of(run->model, index) == GRAPH_CALL_LAUNCHES)
		return graph_call_node_count(run->model, index);
	return graph_call_node_count(run->model, graph_call_launch(run->model, index));
}

/* A cost of a changed call. */
static int64_t cost_ns(struct run *run, size_t index, enum cost cost)
{
	if (cost == COST_RECORDED || cost == COST_NONE)
		return 0;
	return costs_ns(run->costs, cost, costs_is_by_node(cost) ? node_count_of(run, index) : 0);
}

/* From the start of a call to when it submits something. */
static int64_t prepare_ns(struct run *run, size_t index)
{
	const struct call_change *what = change_of_call(run->change, index);
	int64_t ns = cost_ns(run, index, what->prepare);

	return what->awaited_streams ? ns + what->awaited_streams * run->costs->stream_wait_ns : ns;
}

/* When a blocking copy from pageable memory begins to have its bytes staged: first it waits for its stream (CUDA Driver API,
 * 'API synchronization behavior').  INT64_MIN: it is none, or what it waited for then is part of its time. */
static int64_t staged_from_ns(const struct run *run, size_t index)
{
	const struct profile *profile = run->profile;
	const struct submissions *submissions = &run->model->submissions;
	const struct call_change *change = change_of_call(run->change, index);
	const struct profile_copy *copy;
	uint32_t op;

	if (model_call_class(run->model, index) != CALL_COPY ||
	    !submissions_count(submissions, index) || change->host != COST_RECORDED ||
	    change->start != COST_RECORDED)
		return INT64_MIN;
	op = submissions_op(submissions, submissions_first(submissions, index));
	if (profile->ops[op].kind != OP_COPY || !model_is_idle(run->model, op))
		return INT64_MIN;
	copy = &profile->copies[profile->ops[op].detail];
	if (copy->is_async || copy->kind != COPY_TO_DEVICE || copy->src_memory != MEMORY_PAGEABLE)
		return INT64_MIN;
	return replay_ready_ns(run, op, 0, 0);
}

/* What the launch of a graph takes longer where its nodes are branches. */
static int64_t branches_ns(struct run *run, size_t index)
{
	uint64_t count;

	if (!run->lanes.count || !call_change_is_graph(change_of_call(run->change, index)))
		return 0;
	count = graph_calls_of(run, index)->beside_count;
	if (count > run->lanes.count) /* then each lane is a branch of several */
		count = run->lanes.count;
	return costs_branches_ns(run->costs, count);
}

/* When a call returns that takes a time of its own, or returns so long after what it submitted has ended. */
static int64_t changed_end_ns(struct run *run, size_t index, int64_t submit_ns)
{
	const struct call_change *change = change_of_call(run->change, index);
	int64_t from_ns = change->waits ? max_ns(submit_ns, run->work_end_ns) : submit_ns;

	return from_ns + cost_ns(run, index, change->host) + branches_ns(run, index);
}

static void add_call(struct run *run, uint32_t index, int64_t start_ns, int64_t end_ns)
{
	uint32_t thread = run->profile->calls[index].thread;

	if (run->keeps_calls) {
		run->replay->call_start_ns[index] = start_ns;
		run->replay->call_end_ns[index] = end_ns;
	}
	for (size_t i = 0; i < run->watch.part_time_count; i++)
		part_time_add_call(&run->watch.part_times[i], thread, index, start_ns, end_ns,
				   run->work_end_ns);
	if (run->watch.call_times)
		call_times_add(run->watch.call_times, thread, index, start_ns, end_ns,
			       run->work_end_ns);
}

static void replay_call(struct run *run, uint32_t index)
{
	const struct profile_call *call = &run->profile->calls[index];
	const struct call_change *change = change_of_call(run->change, index);
	struct thread_clock *clock = &run->threads[call->thread];
	int64_t pause_ns = host_ns(run, clock, call), start_ns, submit_ns, end_ns;

	run->work_end_ns = INT64_MIN;
	start_ns = clock->replayed_ns + kept_pause_ns(run, index, pause_ns);
	submit_ns = max_ns(start_ns + prepare_ns(run, index), staged_from_ns(run, index));
	replay_submit(run, index, submit_ns);
	end_ns = change->host == COST_RECORDED ? call_end_ns(run, index, submit_ns)
					       : changed_end_ns(run, index, submit_ns);
	add_call(run, index, start_ns, end_ns);
	clock->recorded_ns = max_ns(clock->recorded_ns, call->end_ns);
	clock->started_ns = start_ns;
	clock->replayed_ns = end_ns;
	clock->last_call = index;
	run->processes[run->profile->threads[call->thread].process].last_thread = call->thread;
	run->replayed_end_ns = max_ns(run->replayed_end_ns, end_ns);
}

/* ---- the whole ---- */

/* What an earlier run left is of the right size. */
static int allocate_times(int64_t **times_ns, size_t count)
{
	if (!*times_ns)
		*times_ns = malloc((count + 1) * sizeof(**times_ns));
	return *times_ns ? 0 : -ENOMEM;
}

static int allocate_calls(struct replay *replay, size_t count)
{
	int rc = allocate_times(&replay->call_start_ns, count);

	return rc == 0 ? allocate_times(&replay->call_end_ns, count) : rc;
}

static int allocate_ops(struct replay *replay, const struct profile *profile, bool keeps_starts)
{
	int rc = op_ends_open(&replay->op_ends, profile);

	if (rc == 0 && keeps_starts)
		rc = allocate_times(&replay->op_start_ns, profile->op_count);
	return rc;
}

static int find_process_ends(struct run *run)
{
	const struct profile *profile = run->profile;

	run->processes = calloc(profile->process_count + 1, sizeof(*run->processes));
	if (!run->processes)
		return -ENOMEM;
	for (size_t i = 0; i < profile->process_count; i++)
		run->processes[i] =
			(struct process_clock){.end_ns = INT64_MIN, .last_thread = PROFILE_NONE};
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		int64_t *end_ns = &run->processes[thread->process].end_ns;

		if (thread->call_count)
			*end_ns = max_ns(
				*end_ns,
				profile->calls[thread->first_call + thread->call_count - 1].end_ns);
	}
	run->begun_end_ns = run->replayed_end_ns = INT64_MIN;
	return 0;
}

static int allocate(struct run *run)
{
	const struct profile *profile = run->profile;
	struct replay *replay = run->replay;
	int rc = allocate_ops(replay, profile, run->keeps_calls);

	if (rc == 0 && run->keeps_calls)
		rc = allocate_calls(replay, profile->call_count);
	replay->call_count = profile->call_count;
	replay->op_count = profile->op_count;
	replay->profile = profile;
	replay->changed_ns = run->change ? run->change->op_ns : NULL;
	run->threads = calloc(profile->thread_count + 1, sizeof(*run->threads));
	run->placed = calloc(profile->op_count / 4 + 1, 1);
	if (run->lanes.count) {
		run->stream_tail = dependencies_none(profile->stream_count);
		rc = run->stream_tail ? rc : -ENOMEM;
	}
	return run->threads && run->placed ? rc : -ENOMEM;
}

static int run_all(struct run *run)
{
	int rc = lanes_open(&run->lanes, run->model, run->change, run->costs);

	if (rc == 0)
		rc = graph_launches_find(&run->graphs, run->model, run->change);
	if (rc == 0)
		rc = allocate(run);
	if (rc == 0)
		rc = find_process_ends(run);
	run->is_plain = !run->lanes.count && !run->graphs.count &&
			!(run->change && change_has(run->change, SUBMITS_CHILDREN));
	if (rc == 0) {
		for (size_t i = 0; i < run->profile->call_count; i++)
			replay_call(run, model_call_at(run->model, i));
		replay_place_rest(run);
		rc = run->rc;
	}
	free(run->threads);
	free(run->processes);
	free(run->stream_tail);
	graph_launches_free(&run->graphs);
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
		const struct costs *costs, const struct call_watch *watch)
{
	return run_all(&(struct run){.replay = replay,
				     .model = model,
				     .profile = model->profile,
				     .change = change,
				     .costs = costs,
				     .watch = *watch});
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
	op_ends_free(&replay->op_ends);
	*replay = (struct replay){0};
}

int64_t replay_end_ns(const struct replay *replay, const struct model *model, size_t first,
		      size_t end)
{
	int64_t last_ns = replay->call_end_ns[end - 1];

	for (size_t i = first; i < end; i++)
		for (uint32_t j = submissions_first(&model->submissions, i);
		     j < submissions_first(&model->submissions, i + 1); j++)
			last_ns = max_ns(last_ns,
					 replay_op_end_ns(replay,
							  submissions_op(&model->submissions, j)));
	return last_ns;
}

int64_t replay_wall_ns(const struct replay *replay, const struct model *model, size_t device)
{
	const struct profile_device *what = &model->profile->devices[device];
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = what->first_op; i < what->first_op + what->op_count; i++) {
		first_ns = min_ns(first_ns, replay_op_start_ns(replay, i));
		last_ns = max_ns(last_ns, replay_op_end_ns(replay, i));
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}
