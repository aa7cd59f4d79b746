#include "techniques/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/calls.h"
#include "replay/loop_steps.h"

/* A sequence of which fewer iterations can be captured is not one graph launched again and again. */
#define LEAST_CAPTURED 0.9
/* Sizes and grids of a loop that are those of the usual iteration less often than that need updates of its graph. */
#define LEAST_ALIKE 0.9
/* A loop of one operation becomes graphs of so many iterations: one each would save nothing. */
#define UNROLLED_ITERATIONS 8
/* An interpreter takes so many of its usual pauses for a step now and then: 25 to 65 in a training loop of PyTorch
 * (tests/gpu/torch_programs.py, training). */
#define LONG_PAUSES 80
#define LEAST_COPY_NS 10000 /* shorter copies are launch latency, which streams do not hide */
#define OVERLAP_LANES 3	    /* one copies in, one computes, one copies out */

#define REFUSAL_TEXT(constant, text) [REFUSED_##constant] = (text),
static const char *const refusals[] = {REFUSALS(REFUSAL_TEXT)};
#undef REFUSAL_TEXT

const char *refusal_text(enum refusal refusal)
{
	return refusals[refusal];
}

int change_begin(struct change *change, const struct model *model, bool with_ops)
{
	const struct profile *profile = model->profile;

	*change = (struct change){.calls = calloc(profile->call_count + 1, 1)};
	if (with_ops) {
		change->op_ns = malloc((profile->op_count + 1) * sizeof(*change->op_ns));
		if (change->op_ns)
			memset(change->op_ns, 0xff, profile->op_count * sizeof(*change->op_ns));
	}
	return change->calls && (change->op_ns || !with_ops) ? 0 : -ENOMEM;
}

void change_free(struct change *change)
{
	free(change->calls);
	free(change->op_ns);
	free(change->lanes);
	free(change->fill);
	*change = (struct change){0};
}

int change_begin_lanes(struct change *change, const struct model *model, uint32_t lane_count)
{
	size_t op_count = model->profile->op_count;

	change->lanes = malloc((op_count + 1) * sizeof(*change->lanes));
	change->fill = calloc(op_count + 1, 1);
	if (!change->lanes || !change->fill)
		return -ENOMEM;
	memset(change->lanes, 0xff, op_count * sizeof(*change->lanes));
	change->lane_count = lane_count;
	return 0;
}

/* ---- waits ---- */

size_t change_drop_waits(struct change *change, const struct model *model, size_t first, size_t end)
{
	size_t dropped_count = 0, last = end;
	bool is_read = false;

	while (last > first && model_call_class(model, last - 1) != CALL_SYNC)
		last--;
	for (size_t i = first; i + 1 < last; i++) {
		is_read = is_read || call_copies_to_host(model, i);
		if (model_call_class(model, i) != CALL_SYNC)
			continue;
		if (!is_read && change->calls[i] == CALL_KEPT) {
			change->calls[i] = CALL_DROPPED;
			dropped_count++;
		}
		is_read = false;
	}
	return dropped_count;
}

/* ---- graphs ---- */

static bool is_host_function(const struct model *model, size_t call)
{
	const struct profile *profile = model->profile;
	const char *name = profile->call_names[profile->calls[call].name].text;

	return strstr(name, "LaunchHostFunc") || strstr(name, "StreamAddCallback");
}

static bool loads_code(const struct model *model, size_t call)
{
	const struct profile_call *what = &model->profile->calls[call];

	return model_call_class(model, call) == CALL_MODULE &&
	       what->end_ns - what->start_ns > LONG_HOST_NS;
}

/* Why the calls [first, end) cannot be captured; submitting ones follow at both ends.  What another strategy has
 * dropped is not there. */
static enum refusal why_not_captured(const struct change *change, const struct model *model,
				     size_t first, size_t end)
{
	bool is_read = false;

	for (size_t i = first; i < end; i++) {
		enum profile_call_class class = model_call_class(model, i);

		if (change->calls[i] == CALL_DROPPED)
			continue;
		if (class == CALL_GRAPH_LAUNCH || class == CALL_GRAPH_MANAGE)
			return REFUSED_HAS_GRAPHS;
		if (class == CALL_MEMORY)
			return REFUSED_ALLOCATES;
		if (is_host_function(model, i))
			return REFUSED_CALLS_BACK;
		if (i > first && loads_code(model, i))
			return REFUSED_LOADS_CODE;
		if (class == CALL_COPY && !call_is_capturable_copy(model, i))
			return REFUSED_BLOCKING_COPY;
		is_read = is_read || call_copies_to_host(model, i);
		if (class == CALL_SYNC && is_read)
			return REFUSED_READS_BACK;
	}
	return REFUSED_NONE;
}

/* Capturing a loop. */
struct capturing {
	enum call_change launch;
	int64_t work_ns;    /* the host's pauses from here on stay */
	size_t usual_waits; /* between what an iteration launches first and last */
	struct captured *captured;
};

/* Of those that are not long. */
static int64_t usual_pause_ns(const struct model *model, const struct loop *loop)
{
	int64_t sum_ns = 0, count = 0;

	for (size_t i = loop->first_call + 1; i < loop->first_call + loop->call_count; i++) {
		int64_t ns = call_pause_ns(model, i);

		if (ns > LONG_HOST_NS)
			continue;
		sum_ns += ns;
		count++;
	}
	return count ? sum_ns / count : 0;
}

static int64_t work_ns(const struct model *model, const struct loop *loop, bool is_least)
{
	int64_t pauses_ns = is_least ? 0 : LONG_PAUSES * usual_pause_ns(model, loop);

	return pauses_ns > LONG_HOST_NS ? pauses_ns : LONG_HOST_NS;
}

static enum call_change captured_as(const struct capturing *capturing, const struct model *model,
				    size_t first, size_t call)
{
	int64_t ns;

	if (call == first)
		return capturing->launch;
	ns = call_pause_ns(model, call);
	if (ns > capturing->work_ns)
		return CALL_AFTER_WORK;
	capturing->captured->is_supposed |= ns > LONG_HOST_NS;
	return CALL_IN_GRAPH;
}

static size_t wait_count(const struct model *model, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += model_call_class(model, i) == CALL_SYNC;
	return count;
}

/* The end of calls [first, end) without those after the last one that submits. */
static size_t last_submitting(const struct model *model, size_t first, size_t end)
{
	while (end > first + 1 && !call_is_submitting(model, end - 1))
		end--;
	return end;
}

/* Of the second one, or of as many from it on as become one graph. */
static size_t usual_waits(const struct model *model, const struct loop *loop, size_t step)
{
	size_t from = loop->iteration_count > step ? 1 : 0;
	size_t first = loop->iterations[from];
	size_t next = from + step < loop->iteration_count ? from + step : loop->iteration_count;

	return wait_count(model, first, last_submitting(model, first, loop->iterations[next]));
}

/* One iteration: its submitting calls and all between them are the graph.  A wait after them stays
 * when the host reads what was copied to it. */
static enum refusal capture(struct change *change, const struct model *model, size_t first,
			    size_t end, const struct capturing *capturing)
{
	size_t last = last_submitting(model, first, end);
	uint64_t nodes = 0;
	enum refusal refusal = why_not_captured(change, model, first, last);
	bool is_read = false;

	if (refusal == REFUSED_NONE && wait_count(model, first, last) > capturing->usual_waits)
		refusal = REFUSED_IRREGULAR; /* the wait is not the loop's, and stays */
	if (refusal != REFUSED_NONE)
		return refusal;
	for (size_t i = first; i < last; i++) {
		change->calls[i] = captured_as(capturing, model, first, i);
		nodes += submissions_count(&model->submissions, i);
		is_read = is_read || call_copies_to_host(model, i);
	}
	for (size_t i = last; i < end; i++)
		if (model_call_class(model, i) == CALL_SYNC && !is_read)
			change->calls[i] = CALL_DROPPED;
	if (nodes > capturing->captured->node_count)
		capturing->captured->node_count = nodes;
	return REFUSED_NONE;
}

/* Calls [first, end) wait no more where they did not, but for the last wait. */
static void keep_last_wait(struct change *change, const struct model *model, size_t first,
			   size_t end)
{
	for (size_t i = end; i-- > first;)
		if (model_call_class(model, i) == CALL_SYNC) {
			if (change->calls[i] == CALL_DROPPED)
				change->calls[i] = CALL_KEPT;
			return;
		}
}

static void keep_waits(struct change *change, const struct model *model, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (model_call_class(model, i) == CALL_SYNC && change->calls[i] == CALL_DROPPED)
			change->calls[i] = CALL_KEPT;
}

/* Waits of an iteration that waits more often than the second one are not the loop's, as those around a part that
 * is timed; and after the whole sequence somebody reads the results.  These waits stay. */
static void keep_other_waits(struct change *change, const struct model *model,
			     const struct loop *loop)
{
	const uint32_t *at = loop->iterations;
	size_t last = loop->iteration_count - 1;
	size_t usual_count = wait_count(model, at[1], at[2]);

	for (size_t i = 0; i < last; i++)
		if (wait_count(model, at[i], at[i + 1]) > usual_count)
			keep_waits(change, model, at[i], at[i + 1]);
	keep_last_wait(change, model, at[last], at[last + 1]);
}

bool change_needs_updates(const struct loop *loop)
{
	return loop->exactness < LEAST_ALIKE * loop->regularity;
}

/* The iterations of one graph: a step of the program, or several where an iteration is a single call.  That pauses
 * part the steps is supposed: not so where is_least. */
static struct loop_step graph_stride(const struct model *model, const struct loop *loop,
				     bool is_least)
{
	size_t usual_count = loop->period == 1 ? UNROLLED_ITERATIONS : 1;
	struct loop_step loop_step = {.iteration_count = 1};

	if (!is_least)
		loop_step = loop_step_of(model, loop);
	if (loop_step.iteration_count < usual_count)
		loop_step = (struct loop_step){.iteration_count = usual_count};
	return loop_step;
}

enum refusal change_to_graph(struct change *change, const struct model *model,
			     const struct loop *loop, bool is_least, struct captured *captured)
{
	const struct loop_step loop_step = graph_stride(model, loop, is_least);
	size_t graph_count = 0, captured_count = 0, next;
	const struct capturing capturing = {
		.launch = change_needs_updates(loop) ? CALL_AS_UPDATED : CALL_AS_GRAPH,
		.work_ns = work_ns(model, loop, is_least),
		.usual_waits =
			usual_waits(model, loop, loop->period == 1 ? UNROLLED_ITERATIONS : 1),
		.captured = captured,
	};
	enum refusal refusal = REFUSED_NOTHING, found;

	*captured = (struct captured){0};
	for (size_t i = 0; i < loop->iteration_count; i = next) {
		next = loop_step_next(&loop_step, loop, i);
		found = capture(change, model, loop->iterations[i], loop->iterations[next],
				&capturing);
		graph_count++;
		captured_count += found == REFUSED_NONE;
		if (found != REFUSED_NONE)
			refusal = found;
	}
	if ((double)captured_count < LEAST_CAPTURED * (double)graph_count) {
		memset(&change->calls[loop->first_call], CALL_KEPT, loop->call_count);
		return refusal;
	}
	keep_other_waits(change, model, loop);
	return REFUSED_NONE;
}

/* ---- allocations ---- */

static bool is_allocating(const struct model *model, size_t call)
{
	return model_call_class(model, call) == CALL_MEMORY;
}

/* A wait right before memory is freed or allocated is for that. */
size_t change_drop_allocations(struct change *change, const struct model *model,
			       const struct loop *loop)
{
	size_t end = loop->first_call + loop->call_count, dropped_count = 0;

	for (size_t i = loop->first_call; i < end; i++) {
		bool is_wait_for_it = model_call_class(model, i) == CALL_SYNC && i + 1 < end &&
				      is_allocating(model, i + 1);

		if ((!is_allocating(model, i) && !is_wait_for_it) || change->calls[i] != CALL_KEPT)
			continue;
		change->calls[i] = CALL_DROPPED;
		dropped_count += is_allocating(model, i);
	}
	keep_other_waits(change, model, loop);
	return dropped_count;
}

/* ---- copies beside kernels ---- */

bool change_is_streamed(const struct model *model, const struct loop *loop, bool only_kernels,
			size_t stream_count)
{
	uint32_t streams[OVERLAP_LANES];
	size_t end = loop->first_call + loop->call_count, found = 0;

	for (uint32_t i = model->submissions.first[loop->first_call];
	     i < model->submissions.first[end] && found < stream_count; i++) {
		const struct profile_op *op = &model->profile->ops[model->submissions.ops[i]];
		size_t j = 0;

		if (only_kernels && op->kind != OP_KERNEL)
			continue;
		while (j < found && streams[j] != op->stream)
			j++;
		if (j == found)
			streams[found++] = op->stream;
	}
	return found >= stream_count;
}

/* Whether the first iteration has kernels, and copies that take long enough to be hidden. */
static bool has_copies_and_kernels(const struct model *model, const struct loop *loop)
{
	bool has_copy = false, has_kernel = false;

	for (size_t i = loop->iterations[0]; i < loop->iterations[1]; i++) {
		const struct profile_op *copy = call_op(model, i, OP_COPY);

		has_copy = has_copy || (copy && copy->end_ns - copy->start_ns >= LEAST_COPY_NS);
		has_kernel = has_kernel || call_op(model, i, OP_KERNEL);
	}
	return has_copy && has_kernel;
}

static void overlap_call(struct change *change, const struct model *model, size_t call,
			 uint32_t lane)
{
	const struct submissions *submissions = &model->submissions;

	if (model_call_class(model, call) == CALL_SYNC)
		change->calls[call] = CALL_DROPPED;
	else if (call_is_submitting(model, call))
		change->calls[call] = CALL_MADE_ASYNC;
	for (uint32_t i = submissions->first[call]; i < submissions->first[call + 1]; i++)
		change->lanes[submissions->ops[i]] = lane;
}

enum refusal change_to_overlapped(struct change *change, const struct model *model,
				  const struct loop *loop)
{
	if (!has_copies_and_kernels(model, loop))
		return REFUSED_NO_COPIES;
	if (change_is_streamed(model, loop, false, OVERLAP_LANES))
		return REFUSED_STREAMED;
	for (size_t i = loop->first_call; i < loop->first_call + loop->call_count; i++)
		if (model_call_class(model, i) == CALL_GRAPH_LAUNCH)
			return REFUSED_HAS_GRAPHS;
		else if (model_call_class(model, i) == CALL_MEMORY)
			return REFUSED_ALLOCATES;
	for (size_t i = 0; i < loop->iteration_count; i++)
		for (size_t j = loop->iterations[i]; j < loop->iterations[i + 1]; j++)
			overlap_call(change, model, j,
				     (uint32_t)(i % OVERLAP_LANES) % change->lane_count);
	keep_other_waits(change, model, loop);
	return REFUSED_NONE;
}
