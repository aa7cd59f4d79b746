#include "whatif/side_by_side.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* ---- which stretch ---- */

static bool is_changed_op(const struct change *change, uint32_t op)
{
	return change_op_ns(change->op_ns, op) >= 0 ||
	       (change->lanes && change->lanes[op] != LANE_NONE);
}

static bool is_changed_call(const struct side_request *request, size_t call)
{
	const struct submissions *submissions = &request->all->run.model->submissions;

	if (request->change->calls[call] != CALL_KEPT)
		return true;
	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++)
		if (is_changed_op(request->change, submissions_op(submissions, i)))
			return true;
	return false;
}

static bool has_change(const struct side_request *request, const struct stretch *stretch)
{
	for (size_t i = stretch->first; i < stretch->end; i++)
		if (is_changed_call(request, i))
			return true;
	return false;
}

static bool is_within(const struct side_request *request, size_t call)
{
	const struct profile_call *what = &request->all->run.model->profile->calls[call];

	return what->start_ns >= request->from_ns && what->end_ns <= request->to_ns;
}

/* How many iterations show what there is to see. */
static size_t wanted_count(const struct loop *loop)
{
	size_t count = loop->period ? STRETCH_SUBMITS / loop->period : 0;

	return count < STRETCH_ITERATIONS_LEAST	 ? STRETCH_ITERATIONS_LEAST
	       : count > STRETCH_ITERATIONS_MOST ? STRETCH_ITERATIONS_MOST
						 : count;
}

/* The next iterations [first, last) from *next on that are within the time that is asked for, and of which
 * techniques have changed all or none; without the loop's first one, which stays as it was (loop_parts.h). */
static struct stretch next_stretch(const struct side_request *request, const struct loop *loop,
				   size_t *next)
{
	const uint32_t *at = loop->iterations;
	size_t first = *next, last;

	while (first < loop->iteration_count && !is_within(request, at[first]))
		first++;
	last = first;
	while (last < loop->iteration_count && is_within(request, at[last + 1] - 1) &&
	       request->is_changed[at[last]] == request->is_changed[at[first]])
		last++;
	*next = last;
	if (last == first)
		return (struct stretch){0};
	return (struct stretch){.thread = loop->thread,
				.first = at[first],
				.end = at[last],
				.first_iteration = first + 1,
				.iteration_count = last - first,
				.loop_iteration_count = loop->iteration_count};
}

static void shorten(struct stretch *stretch, const struct loop *loop)
{
	size_t wanted = wanted_count(loop);

	if (stretch->iteration_count <= wanted)
		return;
	stretch->iteration_count = wanted;
	stretch->end = loop->iterations[stretch->first_iteration - 1 + wanted];
}

/* What changes of loops and takes most time on the replayed side. */
struct largest {
	struct stretch stretch;
	int64_t ns;
};

static void look_in_loop(struct largest *largest, const struct side_request *request,
			 const struct loop *loop, const struct replay *replay)
{
	struct stretch stretch;
	size_t next = 1;

	while ((stretch = next_stretch(request, loop, &next)).end) {
		int64_t ns;

		if (!request->is_changed[stretch.first] && !has_change(request, &stretch))
			continue;
		ns = replay_end_ns(replay, request->all->run.model, stretch.first, stretch.end) -
		     replay->call_start_ns[stretch.first];
		if (ns <= largest->ns)
			continue;
		largest->ns = ns;
		largest->stretch = stretch;
		shorten(&largest->stretch, loop);
	}
}

static struct stretch find_in_loops(const struct side_request *request, const struct replay *replay)
{
	const struct loops *loops = &request->all->loops;
	struct largest largest = {.ns = -1};

	for (size_t i = 0; i < loops->count; i++)
		look_in_loop(&largest, request, &loops->items[i], replay);
	return largest.stretch;
}

/* What changes outside of loops: from the first such call to the last that submits something. */
static struct stretch find_in_thread(const struct side_request *request, uint32_t index)
{
	const struct model *model = request->all->run.model;
	const struct profile_thread *thread = &model->profile->threads[index];
	size_t last = thread->first_call + thread->call_count, first = thread->first_call, end;
	size_t submit_count = 0;

	while (first < last && !(is_within(request, first) && is_changed_call(request, first)))
		first++;
	if (first == last)
		return (struct stretch){0};
	end = first + 1;
	for (size_t i = first; i < last && is_within(request, i) && submit_count < STRETCH_SUBMITS;
	     i++)
		if (submissions_count(&model->submissions, i)) {
			submit_count++;
			end = i + 1;
		}
	return (struct stretch){.thread = index, .first = first, .end = end};
}

static struct stretch find_stretch(const struct side_request *request, const struct replay *replay)
{
	const struct profile *profile = request->all->run.model->profile;
	struct stretch found = find_in_loops(request, replay);

	for (uint32_t i = 0; i < profile->thread_count && !found.end; i++)
		found = find_in_thread(request, i);
	return found;
}

/* ---- what runs meanwhile ---- */

/* What one side is taken from. */
struct side_source {
	const struct replay *replay;
	const struct model *model;
	const struct change *change; /* NULL: before */
	const struct stretch *stretch;
	size_t device;
};

static bool is_meanwhile(const struct side *side, int64_t start_ns, int64_t end_ns)
{
	return end_ns >= side->start_ns && start_ns <= side->end_ns;
}

static bool is_gone_call(const struct side_source *source, size_t call)
{
	return call_change_is_gone(change_of_call(source->change, call));
}

static enum profile_call_class class_of(const struct side_source *source, size_t call)
{
	const struct profile *profile = source->model->profile;

	if (call_change_is_graph(change_of_call(source->change, call)))
		return CALL_GRAPH_LAUNCH;
	return profile->call_names[profile->calls[call].name].call_class;
}

static bool is_own(const struct stretch *stretch, size_t call)
{
	return call >= stretch->first && call < stretch->end;
}

static int find_calls(struct side *side, const struct side_source *source)
{
	const struct profile_thread *thread =
		&source->model->profile->threads[source->stretch->thread];
	size_t end = thread->first_call + thread->call_count, capacity = 0;

	for (size_t i = thread->first_call; i < end; i++) {
		int64_t start_ns = source->replay->call_start_ns[i];
		int64_t end_ns = source->replay->call_end_ns[i];
		struct side_span *span;

		if (is_gone_call(source, i) || !is_meanwhile(side, start_ns, end_ns))
			continue;
		span = ARRAY_NEXT(side->calls, capacity, side->call_count);
		if (!span)
			return -ENOMEM;
		*span = (struct side_span){start_ns, end_ns, (uint32_t)i, class_of(source, i),
					   is_own(source->stretch, i)};
		side->call_count++;
	}
	return 0;
}

static bool is_gone_op(const struct side_source *source, size_t op)
{
	return source->change && change_op_ns(source->change->op_ns, op) == 0;
}

static int compare_starts(const void *left, const void *right)
{
	const struct side_span *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int find_ops(struct side *side, const struct side_source *source)
{
	const struct profile *profile = source->model->profile;
	size_t capacity = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		int64_t start_ns = source->replay->op_start_ns[i];
		int64_t end_ns = replay_op_end_ns(source->replay, i);
		uint32_t call = profile->ops[i].call;
		struct side_span *span;

		if (is_gone_op(source, i) || !is_meanwhile(side, start_ns, end_ns))
			continue;
		span = ARRAY_NEXT(side->ops, capacity, side->op_count);
		if (!span)
			return -ENOMEM;
		*span = (struct side_span){.start_ns = start_ns,
					   .end_ns = end_ns,
					   .index = (uint32_t)i,
					   .is_own = call != PROFILE_NONE &&
						     is_own(source->stretch, call)};
		side->op_count++;
	}
	if (side->op_count)
		qsort(side->ops, side->op_count, sizeof(*side->ops), compare_starts);
	return 0;
}

/* Of a device with operations. */
static int64_t run_start_ns(const struct side_source *source)
{
	const struct profile_device *device = &source->model->profile->devices[source->device];
	int64_t first_ns = INT64_MAX;

	for (size_t i = device->first_op; i < device->first_op + device->op_count; i++)
		if (source->replay->op_start_ns[i] < first_ns)
			first_ns = source->replay->op_start_ns[i];
	return first_ns;
}

static int cut_side(struct side *side, const struct side_source *source)
{
	const struct stretch *stretch = source->stretch;
	int rc;

	side->start_ns = source->replay->call_start_ns[stretch->first];
	side->end_ns = replay_end_ns(source->replay, source->model, stretch->first, stretch->end);
	side->run_start_ns = run_start_ns(source);
	rc = find_calls(side, source);
	return rc == 0 ? find_ops(side, source) : rc;
}

int side_by_side_replay(struct side_by_side *out, const struct side_request *request)
{
	const struct predictor *predictor = &request->all->predictor;
	const struct costs *costs = &predictor->costs[COSTS_MIDDLE];
	struct side_source source = {.replay = predictor->works,
				     .model = request->all->run.model,
				     .stretch = &out->stretch,
				     .device = request->device};
	int rc = replay_run(predictor->works, source.model, NULL, costs);

	*out = (struct side_by_side){0};
	if (rc == 0)
		out->stretch = find_stretch(request, predictor->works);
	if (rc < 0 || !out->stretch.end)
		return rc;
	rc = cut_side(&out->before, &source);
	source.change = request->change;
	if (rc == 0)
		rc = replay_run(predictor->works, source.model, source.change, costs);
	return rc == 0 ? cut_side(&out->after, &source) : rc;
}

void side_by_side_free(struct side_by_side *sides)
{
	free(sides->before.calls);
	free(sides->before.ops);
	free(sides->after.calls);
	free(sides->after.ops);
	*sides = (struct side_by_side){0};
}
