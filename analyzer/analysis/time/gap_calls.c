#include "analysis/time/gap_calls.h"

#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- causes by name ---- */

/* Causes that depend on the name, not only on the class; the first row whose text the name contains decides. */
static const struct {
	enum profile_call_class call_class;
	const char *text;
	enum gap_cause cause;
} finer_causes[] = {
	{CALL_COPY, "Prefetch", GAP_MANAGED},
	{CALL_MEMORY, "MemAdvise", GAP_MANAGED},
	{CALL_MEMORY, "MemDiscard", GAP_MANAGED},
	{CALL_COPY, "Async", GAP_LAUNCH},
	{CALL_COPY, "Memset", GAP_LAUNCH}, /* returns before the device has set anything */
	{CALL_COPY, "", GAP_COPY},
	{CALL_GRAPH_MANAGE, "Captur", GAP_CAPTURE}, /* also cudaStreamIsCapturing */
	{CALL_GRAPH_MANAGE, "GraphInstantiate", GAP_INSTANTIATE},
	{CALL_GRAPH_MANAGE, "Update", GAP_UPDATE},
	{CALL_GRAPH_MANAGE, "SetParams", GAP_UPDATE},
	{CALL_GRAPH_MANAGE, "SetEnabled", GAP_UPDATE},
	{CALL_GRAPH_MANAGE, "SetAttribute", GAP_UPDATE},
};

static enum gap_cause cause_of_name(const struct profile_call_name *name)
{
	static const enum gap_cause causes[CALL_CLASS_COUNT] = {
		[CALL_OTHER] = GAP_HOST,	  [CALL_LAUNCH] = GAP_LAUNCH,
		[CALL_GRAPH_LAUNCH] = GAP_LAUNCH, [CALL_GRAPH_MANAGE] = GAP_GRAPH,
		[CALL_COPY] = GAP_COPY,		  [CALL_SYNC] = GAP_SYNC,
		[CALL_EVENT] = GAP_LAUNCH,	  [CALL_MEMORY] = GAP_ALLOCATION,
		[CALL_MODULE] = GAP_MODULE,	  [CALL_CREATE] = GAP_CREATION,
	};

	for (size_t i = 0; i < sizeof(finer_causes) / sizeof(*finer_causes); i++)
		if (finer_causes[i].call_class == name->call_class &&
		    strstr(name->text, finer_causes[i].text))
			return finer_causes[i].cause;
	return causes[name->call_class];
}

static const struct profile_call_name *name_of(const struct gap_calls *calls, uint32_t call)
{
	return &calls->profile->call_names[calls->profile->calls[call].name];
}

/* ---- preparation ---- */

static bool is_small_read(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST &&
	       profile->copies[op->detail].bytes <= GAP_DECISION_BYTES;
}

static void mark_calls(struct gap_calls *calls)
{
	const struct profile *profile = calls->profile;

	for (size_t i = 0; i < profile->op_count + profile->outside_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->call == PROFILE_NONE)
			continue;
		marks_set(&calls->submitted, op->call);
		if (op->kind == OP_COPY)
			marks_set(&calls->copied, op->call);
	}
}

/* Of a call's copies (a graph has many) the last small one to the host is the most relevant, then the last of all. */
static void keep_copies(struct gap_calls *calls)
{
	const struct profile *profile = calls->profile;

	for (size_t i = 0; i < profile->op_count + profile->outside_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t *best;

		if (op->call == PROFILE_NONE || op->kind != OP_COPY)
			continue;
		best = &calls->copies[marks_rank(&calls->copied, op->call)];
		if (*best == PROFILE_NONE || is_small_read(profile, op) ||
		    !is_small_read(profile, &profile->ops[*best]))
			*best = (uint32_t)i;
	}
}

static int find_ops(struct gap_calls *calls)
{
	size_t count;

	if (marks_open(&calls->submitted, calls->profile->call_count) < 0 ||
	    marks_open(&calls->copied, calls->profile->call_count) < 0)
		return -ENOMEM;
	mark_calls(calls);
	count = marks_seal(&calls->copied);
	calls->copies = malloc((count + 1) * sizeof(*calls->copies));
	if (!calls->copies)
		return -ENOMEM;
	memset(calls->copies, 0xff, count * sizeof(*calls->copies)); /* PROFILE_NONE */
	keep_copies(calls);
	return 0;
}

/* The most relevant copy of a call; NULL: it submitted none. */
static const struct profile_op *copy_of(const struct gap_calls *calls, uint32_t call)
{
	return marks_has(&calls->copied, call)
		       ? &calls->profile->ops[calls->copies[marks_rank(&calls->copied, call)]]
		       : NULL;
}

static int find_captures(struct gap_calls *calls, const struct profile_thread *thread,
			 struct spans *captures)
{
	const struct profile *profile = calls->profile;
	const struct profile_call *call = profile->calls + thread->first_call;
	const struct profile_call *end = call + thread->call_count, *begin = NULL;
	int rc = 0;

	for (; rc == 0 && call < end; call++) {
		const struct profile_call_name *name = &profile->call_names[call->name];

		if (calls->causes[call->name] != GAP_CAPTURE)
			continue;
		if (strstr(name->text, "BeginCapture")) {
			begin = call;
		} else if (begin && strstr(name->text, "EndCapture")) {
			rc = spans_add(captures, begin->start_ns, call->end_ns);
			begin = NULL;
		}
	}
	spans_seal(captures);
	return rc;
}

/* A call beside its time, because qsort passes no profile to its comparison. */
struct unseen_launch {
	uint32_t process;
	int64_t start_ns;
	uint32_t call;
};

static int compare_unseen(const void *left, const void *right)
{
	const struct unseen_launch *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool is_unseen(const struct gap_calls *calls, uint32_t call)
{
	return !marks_has(&calls->submitted, call) &&
	       name_of(calls, call)->call_class == CALL_GRAPH_LAUNCH;
}

static uint32_t process_of(const struct profile *profile, uint32_t call)
{
	return profile->threads[profile->calls[call].thread].process;
}

static int find_unseen(struct gap_calls *calls)
{
	const struct profile *profile = calls->profile;
	struct unseen_launch *found;
	size_t count = 0;

	for (size_t i = 0; i < profile->call_count; i++)
		count += is_unseen(calls, (uint32_t)i);
	found = calloc(count + 1, sizeof(*found));
	calls->unseen = calloc(count + 1, sizeof(*calls->unseen));
	if (!found || !calls->unseen) {
		free(found);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->call_count; i++)
		if (is_unseen(calls, (uint32_t)i))
			found[calls->unseen_count++] =
				(struct unseen_launch){process_of(profile, (uint32_t)i),
						       profile->calls[i].start_ns, (uint32_t)i};
	qsort(found, count, sizeof(*found), compare_unseen);
	for (size_t i = 0; i < count; i++)
		calls->unseen[i] = found[i].call;
	free(found);
	return 0;
}

/* ---- causes of a call ---- */

static bool is_pageable(const struct profile_copy *copy)
{
	return copy->src_memory == MEMORY_PAGEABLE || copy->dst_memory == MEMORY_PAGEABLE;
}

/* The cause of a call that copies, by its memory, where its operation was recorded. */
static enum gap_cause cause_of_copy(const struct gap_calls *calls, uint32_t call,
				    enum gap_cause cause)
{
	const struct profile *profile = calls->profile;
	const struct profile_op *op = copy_of(calls, call);
	const struct profile_copy *copy;

	if (!op)
		return cause;
	copy = &profile->copies[op->detail];
	if (is_pageable(copy))
		return GAP_STAGING;
	return copy->kind == COPY_ON_DEVICE ? GAP_LAUNCH : cause; /* the host does not wait */
}

/* While a graph is captured nothing is launched or allocated: the call becomes a node. */
static bool is_captured(const struct gap_calls *calls, const struct profile_call *call)
{
	return spans_covered(&calls->captures[call->thread], call->start_ns, call->end_ns) > 0;
}

enum gap_cause gap_calls_inside(const struct gap_calls *calls, uint32_t call)
{
	const struct profile_call *found = &calls->profile->calls[call];
	enum gap_cause cause = (enum gap_cause)calls->causes[found->name];

	if ((cause == GAP_LAUNCH || cause == GAP_ALLOCATION) && is_captured(calls, found))
		return GAP_CAPTURE;
	return name_of(calls, call)->call_class == CALL_COPY ? cause_of_copy(calls, call, cause)
							     : cause;
}

enum gap_cause gap_calls_launching(const struct gap_calls *calls, uint32_t call)
{
	enum gap_cause cause = gap_calls_inside(calls, call);

	if (cause == GAP_SYNC) /* it waits, and something is moved meanwhile */
		return GAP_COPY;
	return cause == GAP_HOST ? GAP_LAUNCH : cause;
}

/* ---- which call launched ---- */

struct moment {
	const struct gap_calls *calls;
	uint32_t process;
	int64_t ns;
};

static bool is_unseen_after(size_t index, const void *context)
{
	const struct moment *moment = context;
	uint32_t call = moment->calls->unseen[index];
	uint32_t process = process_of(moment->calls->profile, call);

	if (process != moment->process)
		return process > moment->process;
	return moment->calls->profile->calls[call].start_ns > moment->ns;
}

uint32_t gap_calls_launch_of(const struct gap_calls *calls, const struct profile_op *op)
{
	const struct profile *profile = calls->profile;
	struct moment start = {calls, profile_op_process(profile, op), op->start_ns};
	size_t behind;

	if (op->call != PROFILE_NONE || !profile_op_node(profile, op) ||
	    profile_op_ids(profile, op).correlation)
		return op->call;
	behind = search_first(0, calls->unseen_count, is_unseen_after, &start);
	if (behind == 0 || process_of(profile, calls->unseen[behind - 1]) != start.process)
		return PROFILE_NONE;
	return calls->unseen[behind - 1];
}

/* ---- what came before a launch on its thread ---- */

static bool is_submitting(const struct gap_calls *calls, uint32_t call)
{
	enum profile_call_class class = name_of(calls, call)->call_class;

	return marks_has(&calls->submitted, call) || class == CALL_LAUNCH ||
	       class == CALL_GRAPH_LAUNCH || class == CALL_COPY;
}

/* Whether the walk ends with this call; the calls of a thread are walked over backwards. */
static bool step_back(const struct gap_calls *calls, uint32_t call, struct approach *approach)
{
	if (is_submitting(calls, call)) {
		approach->submitting = call;
		return true;
	}
	if (name_of(calls, call)->call_class == CALL_SYNC && approach->waited_until_ns == INT64_MIN)
		approach->waited_until_ns = calls->profile->calls[call].end_ns;
	approach->has_stream_wait |= calls->is_stream_wait[calls->profile->calls[call].name];
	return false;
}

/* What is known of the calls before the one where the walk is. */
static void go_on_from(struct approach *approach, const struct approach *known)
{
	approach->submitting = known->submitting;
	if (approach->waited_until_ns == INT64_MIN)
		approach->waited_until_ns = known->waited_until_ns;
	approach->has_stream_wait |= known->has_stream_wait;
}

/* Many operations of one launch, or launches behind many calls that submit nothing, do not make the walk longer: every
 * so many calls it is known how it goes on. */
struct approach gap_calls_approach(const struct gap_calls *calls, uint32_t launch)
{
	const struct profile *profile = calls->profile;
	size_t first = profile->threads[profile->calls[launch].thread].first_call;
	struct approach approach = {PROFILE_NONE, INT64_MIN, false};

	for (uint32_t call = launch; call > first; call--) {
		if (call % GAP_CALLS_KNOWN == 0 && call != calls->unknown_from) {
			go_on_from(&approach, &calls->known[call / GAP_CALLS_KNOWN]);
			break;
		}
		if (step_back(calls, call - 1, &approach))
			break;
	}
	return approach;
}

static int find_known(struct gap_calls *calls)
{
	size_t count = calls->profile->call_count;

	calls->known = malloc((count / GAP_CALLS_KNOWN + 1) * sizeof(*calls->known));
	if (!calls->known)
		return -ENOMEM;
	for (size_t call = 0; call < count; call += GAP_CALLS_KNOWN) {
		calls->unknown_from = (uint32_t)call;
		calls->known[call / GAP_CALLS_KNOWN] = gap_calls_approach(calls, (uint32_t)call);
	}
	calls->unknown_from = PROFILE_NONE;
	return 0;
}

/* A copy call of a name without Async, or of pageable memory, returns when it is done. */
static bool is_waiting_copy(const struct gap_calls *calls, uint32_t call)
{
	enum gap_cause cause = gap_calls_inside(calls, call);

	return cause == GAP_COPY || cause == GAP_STAGING;
}

int64_t gap_calls_waited(const struct gap_calls *calls, uint32_t launch, const struct gap *gap)
{
	const struct profile *profile = calls->profile;
	uint32_t call = launch,
		 first = (uint32_t)profile->threads[profile->calls[launch].thread].first_call;
	int64_t end_ns;

	while (call > first && profile->calls[call - 1].end_ns > gap->start_ns)
		call--;
	if (profile->calls[call].start_ns > gap->start_ns)
		return 0;
	if (call == launch)
		return is_waiting_copy(calls, call) ? gap->end_ns - gap->start_ns : 0;
	end_ns = profile->calls[call].end_ns;
	if (name_of(calls, call)->call_class != CALL_SYNC)
		return 0;
	return (end_ns < gap->end_ns ? end_ns : gap->end_ns) - gap->start_ns;
}

int64_t gap_calls_decision(const struct gap_calls *calls, const struct approach *approach,
			   const struct profile_op *op)
{
	const struct profile *profile = calls->profile;
	const struct profile_op *read;
	int64_t known_ns = approach->waited_until_ns;

	if (approach->submitting == PROFILE_NONE)
		return INT64_MAX;
	read = copy_of(calls, approach->submitting);
	if (!read || !is_small_read(profile, read))
		return INT64_MAX;
	if (known_ns == INT64_MIN && is_waiting_copy(calls, approach->submitting))
		known_ns = profile->calls[approach->submitting].end_ns;
	/* what reads on has not decided yet */
	if (op->kind == OP_COPY && profile->copies[op->detail].kind == COPY_TO_HOST)
		return INT64_MAX;
	return known_ns >= read->end_ns ? read->end_ns : INT64_MAX;
}

/* The legacy default stream waits for all other streams of its process, and they for it. */
static bool is_held_by_null_stream(const struct profile *profile, const struct profile_op *before,
				   const struct profile_op *after)
{
	const struct profile_stream *from = &profile->streams[before->stream];
	const struct profile_stream *to = &profile->streams[after->stream];

	return from != to && from->process == to->process && from->is_null != to->is_null &&
	       (from->is_null || from->flag != STREAM_NON_BLOCKING) &&
	       (to->is_null || to->flag != STREAM_NON_BLOCKING);
}

/* Work before that ended last on the device is in the same stream: what the event stood for had ended before it, unless
 * it was of another device. */
static bool is_held_by_event(const struct gap_calls *calls, const struct approach *approach,
			     const struct profile_op *before, const struct profile_op *after)
{
	return (before->stream != after->stream || calls->profile->device_count > 1) &&
	       approach->has_stream_wait;
}

bool gap_calls_is_dependent(const struct gap_calls *calls, const struct approach *approach,
			    const struct profile_op *before, const struct profile_op *after)
{
	return is_held_by_null_stream(calls->profile, before, after) ||
	       is_held_by_event(calls, approach, before, after);
}

/* A copy in a graph that the driver carries through a buffer of its own. */
static bool is_staged_node(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_COPY && profile_op_node(profile, op) &&
	       is_pageable(&profile->copies[op->detail]);
}

enum gap_cause gap_calls_waiting(const struct gap_calls *calls, const struct approach *approach,
				 const struct profile_op *after)
{
	if (is_staged_node(calls->profile, after))
		return GAP_STAGING;
	if (approach->submitting != PROFILE_NONE &&
	    gap_calls_inside(calls, approach->submitting) == GAP_MANAGED)
		return GAP_MANAGED;
	return GAP_DEVICE;
}

/* What was copied to the host has to be carried on before the next node. */
enum gap_cause gap_calls_between_nodes(const struct profile *profile,
				       const struct profile_op *before,
				       const struct profile_op *after)
{
	if (is_staged_node(profile, after) ||
	    (is_staged_node(profile, before) &&
	     profile->copies[before->detail].kind == COPY_TO_HOST))
		return GAP_STAGING;
	return GAP_DEVICE;
}

/* ---- all of it ---- */

int gap_calls_open(struct gap_calls *calls, const struct profile *profile)
{
	int rc;

	*calls = (struct gap_calls){.profile = profile};
	calls->causes = calloc(profile->call_name_count + 1, sizeof(*calls->causes));
	calls->is_stream_wait = calloc(profile->call_name_count + 1, sizeof(bool));
	calls->captures = calloc(profile->thread_count + 1, sizeof(*calls->captures));
	if (!calls->causes || !calls->is_stream_wait || !calls->captures)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_name_count; i++) {
		calls->causes[i] = (uint8_t)cause_of_name(&profile->call_names[i]);
		calls->is_stream_wait[i] =
			strstr(profile->call_names[i].text, "StreamWait") != NULL;
	}
	rc = find_ops(calls);
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		rc = find_captures(calls, &profile->threads[i], &calls->captures[i]);
	if (rc == 0)
		rc = find_unseen(calls);
	return rc < 0 ? rc : find_known(calls);
}

void gap_calls_close(struct gap_calls *calls)
{
	for (size_t i = 0; calls->captures && i < calls->profile->thread_count; i++)
		spans_free(&calls->captures[i]);
	free(calls->causes);
	free(calls->is_stream_wait);
	marks_free(&calls->submitted);
	marks_free(&calls->copied);
	free(calls->copies);
	free(calls->captures);
	free(calls->unseen);
	free(calls->known);
}
