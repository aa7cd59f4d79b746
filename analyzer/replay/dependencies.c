#include "replay/dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/worker.h"
#include "replay/orders.h"
#include "replay/recorded_events.h"

uint32_t *dependencies_none(size_t count)
{
	uint32_t *ops = malloc((count + 1) * sizeof(*ops));

	if (ops)
		memset(ops, 0xff, count * sizeof(*ops));
	return ops;
}

/* ---- calls ---- */

static bool has_text(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

/* Such a copy returns only once it has ended (CUDA Runtime API, "API synchronization behavior"). */
static bool is_to_pageable(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST &&
	       profile->copies[op->detail].dst_memory == MEMORY_PAGEABLE;
}

static enum call_behavior behavior_of(const struct model *model, size_t index)
{
	const struct profile *profile = model->profile;
	const struct profile_call_name *name = &profile->call_names[profile->calls[index].name];
	uint32_t op;

	if (name->call_class == CALL_SYNC)
		return CALL_WAITS;
	if (name->call_class == CALL_MEMORY)
		return has_text(name->text, "Free") && !has_text(name->text, "Async") ? CALL_WAITS
										      : CALL_WORKS;
	if (name->call_class != CALL_COPY || submissions_count(&model->submissions, index) == 0)
		return CALL_WORKS;
	op = submissions_op(&model->submissions,
			    submissions_first(&model->submissions, index + 1) - 1);
	if (has_text(name->text, "Async") && !is_to_pageable(profile, &profile->ops[op]))
		return CALL_WORKS;
	return profile->ops[op].end_ns <= profile->calls[index].end_ns ? CALL_WAITS_OWN
								       : CALL_WORKS;
}

static int find_behavior(void *context, size_t first, size_t end)
{
	struct model *model = context;

	for (size_t i = first; i < end; i++)
		model->call_traits[i].behavior = behavior_of(model, i) & 3;
	return 0;
}

/* Tells of each call how it spends its time; returns how many wait for operations of others. */
static size_t find_waits(struct model *model)
{
	(void)worker_slices(model->profile->call_count, MODEL_SLICE, find_behavior, model);
	for (size_t i = 0; i < model->profile->call_count; i++) {
		if (model->call_traits[i].behavior == CALL_WAITS)
			marks_set(&model->waiting, i);
	}
	return marks_seal(&model->waiting);
}

static int find_awaited(struct model *model, struct ends *ends)
{
	const struct profile *profile = model->profile;
	size_t rank = 0;

	if (marks_open(&model->waiting, profile->call_count) < 0)
		return -ENOMEM;
	model->awaited = malloc((find_waits(model) + 1) * sizeof(*model->awaited));
	if (!model->awaited)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];

		if (model->call_traits[i].behavior == CALL_WAITS)
			model->awaited[rank++] =
				ends_last(ends, profile->threads[call->thread].process,
					  PROFILE_NONE, call->end_ns, call->start_ns);
	}
	return 0;
}

/* ---- operations ---- */

struct walk {
	struct model *model;
	struct ends *ends;
	uint32_t *stream_tail;	/* by stream: the operation submitted last */
	uint32_t *previous;	/* by op: submitted to its stream before it */
	uint32_t *cross_stream; /* by op: of another stream that it waits for, or PROFILE_NONE */
	uint32_t *
		pairs; /* by stream: a number of its process and device; most processes use few devices */
	/* by pair: the one submitted last in the legacy default stream, and the one
	 * that ended last of those in streams that it waits for */
	uint32_t *null_tail, *blocking_tail;
	struct recorded_events events;
	bool *has_stream_wait; /* by thread: since its last operation a cudaStreamWaitEvent of which events tells nothing */
	bool *is_capturing;    /* by thread: its events order nodes, not operations */
	uint32_t *last_stream; /* by thread: of its last operation */
	uint32_t *
		callback_stream; /* by thread: of cudaLaunchHostFunc, taken to be that of the operation before */
	uint32_t *graph_tail;	/* by thread: of its last graph launch what ended last */
	uint32_t *graph_stream; /* by thread: of that launch */
	int rc;			/* 0 or -ENOMEM */
};

static bool is_blocking(const struct profile_stream *stream)
{
	return stream->flag != STREAM_NON_BLOCKING;
}

/* Of two operations the one that ended later; PROFILE_NONE is none. */
static uint32_t later(const struct profile *profile, uint32_t left, uint32_t right)
{
	if (left == PROFILE_NONE || right == PROFILE_NONE)
		return left == PROFILE_NONE ? right : left;
	return profile->ops[left].end_ns >= profile->ops[right].end_ns ? left : right;
}

/* An operation, or PROFILE_NONE if it had not ended when another one began. */
static uint32_t ended(const struct profile *profile, uint32_t index, const struct profile_op *op)
{
	return index != PROFILE_NONE && profile->ops[index].end_ns <= op->start_ns ? index
										   : PROFILE_NONE;
}

static int find_pairs(struct walk *walk)
{
	const struct profile *profile = walk->model->profile;
	struct groups pairs = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->stream_count; i++) {
		const uint32_t key[2] = {profile->streams[i].process, profile->streams[i].device};

		rc = groups_find(&pairs, key, sizeof(key), &walk->pairs[i]);
	}
	groups_free(&pairs);
	return rc;
}

/* Whether an operation waits for a launch of a graph as a whole: another launch of the same one, as no graph runs beside
 * itself, and what follows in the stream that it was launched in, which is that of its first node. */
static bool follows_graph(const struct walk *walk, const struct profile_op *op)
{
	const struct profile *profile = walk->model->profile;
	const struct submissions *submissions = &walk->model->submissions;
	uint32_t thread = profile->calls[op->call].thread, tail = walk->graph_tail[thread];
	uint32_t graph = profile_op_graph(profile, op);

	return (graph && profile_op_graph(profile, &profile->ops[tail]) == graph) ||
	       profile->ops[submissions_op(submissions, submissions_first(submissions, op->call))]
			       .stream == walk->graph_stream[thread];
}

/* What ended last of the thread's launch of a graph before that an operation waits for, whose branches have streams of
 * their own in the records. */
static uint32_t launch_before(const struct walk *walk, const struct profile_op *op)
{
	const struct profile *profile = walk->model->profile;
	uint32_t tail = walk->graph_tail[profile->calls[op->call].thread];

	return tail != PROFILE_NONE && follows_graph(walk, op) &&
			       profile->ops[tail].stream != op->stream &&
			       profile->ops[tail].end_ns <= op->start_ns
		       ? tail
		       : PROFILE_NONE;
}

/* The legacy default stream and the blocking streams of its device wait for each other. */
static uint32_t find_other(const struct walk *walk, uint32_t index, bool has_wait, uint32_t awaited)
{
	const struct profile *profile = walk->model->profile;
	const struct profile_op *op = &profile->ops[index];
	const struct profile_stream *stream = &profile->streams[op->stream];
	uint32_t barrier = PROFILE_NONE, other = launch_before(walk, op);

	if (has_wait)
		other = later(profile, other,
			      ends_last(walk->ends, stream->process, op->stream, op->start_ns,
					profile->calls[op->call].start_ns));
	if (stream->is_null)
		barrier = walk->blocking_tail[walk->pairs[op->stream]];
	else if (is_blocking(stream))
		barrier = walk->null_tail[walk->pairs[op->stream]];
	return later(profile, other,
		     later(profile, ended(profile, barrier, op), ended(profile, awaited, op)));
}

static void note_tail(struct walk *walk, uint32_t index)
{
	const struct profile *profile = walk->model->profile;
	const struct profile_stream *stream = &profile->streams[profile->ops[index].stream];
	uint32_t pair = walk->pairs[profile->ops[index].stream];

	walk->stream_tail[profile->ops[index].stream] = index;
	if (stream->is_null)
		walk->null_tail[pair] = index;
	else if (is_blocking(stream))
		walk->blocking_tail[pair] = later(profile, walk->blocking_tail[pair], index);
}

/* The operation submitted last to its stream that had ended: branches of a graph may share a stream in the
 * records and run side by side, and a dependent launch starts before the kernel before it has ended. */
static uint32_t find_before(const struct walk *walk, uint32_t index)
{
	const struct model *model = walk->model;
	const struct profile_op *ops = model->profile->ops;
	uint32_t before = walk->stream_tail[ops[index].stream];

	walk->previous[index] = before;
	for (int i = 0; i < 2 * LOOK_BACK && before != PROFILE_NONE; i++) {
		if (ops[before].end_ns <= ops[index].start_ns)
			return before;
		/* after so many in longer steps: to what that one waited for */
		before = i < LOOK_BACK ? walk->previous[before] : model_predecessor(model, before);
	}
	return PROFILE_NONE;
}

static void link_op(struct walk *walk, uint32_t index, bool has_wait, uint32_t awaited)
{
	if (near_numbers_set(&walk->model->predecessors, index, find_before(walk, index)) < 0)
		walk->rc = -ENOMEM;
	walk->cross_stream[index] = find_other(walk, index, has_wait, awaited);
	note_tail(walk, index);
}

/* Of the operations of a launch of a graph what ended last. */
static uint32_t launch_tail(const struct walk *walk, uint32_t call)
{
	const struct submissions *submissions = &walk->model->submissions;
	const struct profile *profile = walk->model->profile;
	uint32_t tail = PROFILE_NONE;

	for (uint32_t i = submissions_first(submissions, call),
		      end = submissions_first(submissions, call + 1);
	     i < end; i++)
		if (profile_op_graph(profile, &profile->ops[submissions_op(submissions, i)]))
			tail = later(profile, submissions_op(submissions, i), tail);
	return tail;
}

/* What an event that is recorded in a stream now stands behind: all branches of a graph, and all blocking streams where
 * it is recorded in the legacy default stream. */
static uint32_t stream_end(struct walk *walk, uint32_t stream)
{
	const struct profile *profile = walk->model->profile;
	uint32_t tail = walk->stream_tail[stream];

	if (tail != PROFILE_NONE && profile_op_graph(profile, &profile->ops[tail]))
		tail = launch_tail(walk, profile->ops[tail].call);
	if (profile->streams[stream].is_null)
		tail = later(profile, tail, walk->blocking_tail[walk->pairs[stream]]);
	return later(profile, tail, walk->events.awaited[stream]);
}

/* False where the recording does not tell what a stream waits for. */
static bool note_event(struct walk *walk, uint32_t index)
{
	const struct profile_event_call *row = recorded_events_of(&walk->events, index);

	if (!row)
		return false;
	if (walk->is_capturing[walk->model->profile->calls[index].thread])
		return true;
	if (row->kind == EVENT_RECORDED)
		recorded_events_record(&walk->events, row, stream_end(walk, row->stream));
	return row->kind != EVENT_AWAITED_BY_STREAM || recorded_events_wait(&walk->events, row);
}

static void note_capture(struct walk *walk, uint32_t thread, const char *text)
{
	if (has_text(text, "StreamBeginCapture"))
		walk->is_capturing[thread] = true;
	if (has_text(text, "StreamEndCapture"))
		walk->is_capturing[thread] = false;
}

/* What a call that submits nothing means for later operations of its thread. */
static void note_call(struct walk *walk, uint32_t index)
{
	const struct profile_call *call = &walk->model->profile->calls[index];
	const struct profile_call_name *name = &walk->model->profile->call_names[call->name];
	const char *text = name->text;

	if (name->call_class == CALL_GRAPH_MANAGE)
		note_capture(walk, call->thread, text);
	if (!note_event(walk, index) && has_text(text, "StreamWait"))
		walk->has_stream_wait[call->thread] = true;
	if (has_text(text, "LaunchHostFunc") || has_text(text, "StreamAddCallback"))
		walk->callback_stream[call->thread] = walk->last_stream[call->thread];
}

static void note_graph(struct walk *walk, uint32_t call)
{
	const struct submissions *submissions = &walk->model->submissions;
	const struct profile *profile = walk->model->profile;
	uint32_t tail = launch_tail(walk, call);

	if (tail == PROFILE_NONE)
		return;
	walk->graph_tail[profile->calls[call].thread] = tail;
	walk->graph_stream[profile->calls[call].thread] =
		profile->ops[submissions_op(submissions, submissions_first(submissions, call))]
			.stream;
}

/* What the operations of a call wait for because of events. */
static uint32_t take_awaited(struct walk *walk, uint32_t index)
{
	const struct submissions *submissions = &walk->model->submissions;
	const struct profile *profile = walk->model->profile;
	uint32_t awaited = PROFILE_NONE;

	for (uint32_t i = submissions_first(submissions, index),
		      end = submissions_first(submissions, index + 1);
	     i < end; i++)
		awaited = later(
			profile, awaited,
			recorded_events_take(&walk->events,
					     profile->ops[submissions_op(submissions, i)].stream));
	return awaited;
}

static void link_call(struct walk *walk, uint32_t index)
{
	const struct profile *profile = walk->model->profile;
	const struct submissions *submissions = &walk->model->submissions;
	const struct profile_call *call = &profile->calls[index];
	bool *has_wait = &walk->has_stream_wait[call->thread];
	uint32_t *callback_stream = &walk->callback_stream[call->thread];
	uint32_t awaited = take_awaited(walk, index);

	if (!submissions_count(submissions, index))
		note_call(walk, index);
	for (uint32_t i = submissions_first(submissions, index),
		      end = submissions_first(submissions, index + 1);
	     i < end; i++) {
		uint32_t op = submissions_op(submissions, i), stream = profile->ops[op].stream;

		link_op(walk, op, *has_wait, awaited);
		*has_wait = false;
		awaited = PROFILE_NONE;
		walk->last_stream[call->thread] = stream;
		walk->model->op_traits[op].is_called_back = stream == *callback_stream;
		if (stream == *callback_stream)
			*callback_stream = PROFILE_NONE;
	}
	note_graph(walk, index);
}

/* Few wait for another stream: what they wait for moves together. */
static int keep_cross_streams(struct model *model, uint32_t *by_op)
{
	size_t op_count = model->profile->op_count, count = 0;
	int rc;

	if (marks_open(&model->crossing, op_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < op_count; i++)
		if (by_op[i] != PROFILE_NONE) {
			marks_set(&model->crossing, i);
			by_op[count++] = by_op[i];
		}
	(void)marks_seal(&model->crossing);
	rc = near_numbers_open(&model->cross_streams, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = near_numbers_set(&model->cross_streams, i, by_op[i]);
	return rc;
}

static int link_ops(struct model *model, struct ends *ends)
{
	const struct profile *profile = model->profile;
	struct walk walk = {
		.model = model,
		.ends = ends,
		.stream_tail = dependencies_none(profile->stream_count),
		.previous = dependencies_none(profile->op_count),
		.cross_stream = dependencies_none(profile->op_count),
		.pairs = dependencies_none(profile->stream_count),
		.null_tail = dependencies_none(profile->stream_count),
		.blocking_tail = dependencies_none(profile->stream_count),
		.has_stream_wait = calloc(profile->thread_count + 1, sizeof(bool)),
		.is_capturing = calloc(profile->thread_count + 1, sizeof(bool)),
		.last_stream = dependencies_none(profile->thread_count),
		.callback_stream = dependencies_none(profile->thread_count),
		.graph_tail = dependencies_none(profile->thread_count),
		.graph_stream = dependencies_none(profile->thread_count),
	};
	int rc = walk.stream_tail && walk.previous && walk.cross_stream && walk.pairs &&
				 walk.null_tail && walk.blocking_tail && walk.has_stream_wait &&
				 walk.is_capturing && walk.last_stream && walk.callback_stream &&
				 walk.graph_tail && walk.graph_stream
			 ? 0
			 : -ENOMEM;

	if (recorded_events_open(&walk.events, profile) < 0)
		rc = -ENOMEM;
	if (rc == 0)
		rc = find_pairs(&walk);
	for (size_t i = 0; rc == 0 && i < profile->call_count; i++)
		link_call(&walk, model_call_at(model, i));
	if (rc == 0)
		rc = walk.rc;
	if (rc == 0)
		rc = keep_cross_streams(model, walk.cross_stream);
	free(walk.stream_tail);
	free(walk.previous);
	free(walk.cross_stream);
	free(walk.pairs);
	free(walk.null_tail);
	free(walk.blocking_tail);
	recorded_events_close(&walk.events);
	free(walk.has_stream_wait);
	free(walk.is_capturing);
	free(walk.last_stream);
	free(walk.callback_stream);
	free(walk.graph_tail);
	free(walk.graph_stream);
	return rc;
}

int dependencies_find(struct model *model)
{
	const struct profile *profile = model->profile;
	struct ends ends = {0};
	int rc = order_of_calls(&model->order, profile);

	if (rc == 0)
		rc = ends_open(&ends, profile);
	if (rc == 0)
		rc = find_awaited(model, &ends);
	if (rc == 0)
		rc = link_ops(model, &ends);
	ends_close(&ends);
	return rc;
}
