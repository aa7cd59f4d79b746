#include "analysis/time/once.h"

#include "base/ns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ONCE_TITLE(constant, key, title) title,
static const char *const titles[] = {ONCE_CAUSES(ONCE_TITLE)};
#undef ONCE_TITLE

const char *once_cause_title(enum once_cause cause)
{
	return titles[cause];
}

/* The moments of each cause, collected call by call. */
struct once {
	const struct profile *profile;
	const struct submissions *submissions;
	const struct once_span *span;
	uint32_t
		*first_launch; /* by kernel name: calls[] that launched it first, or PROFILE_NONE */
	struct spans causes[ONCE_CAUSE_COUNT];
	int64_t first_call_ns;
};

/* ---- which cause ---- */

/* Names by what they contain: the driver's and the runtime's. */
static bool is_context_call(const char *name)
{
	static const char *const parts[] = {"cuInit", "PrimaryCtx", "CtxCreate", "cudaSetDevice",
					    "cudaInitDevice"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static int find_first_launches(struct once *once)
{
	const struct profile *profile = once->profile;

	once->first_launch = malloc((profile->kernel_name_count + 1) * sizeof(*once->first_launch));
	if (!once->first_launch)
		return -ENOMEM;
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		once->first_launch[i] = PROFILE_NONE;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t *first;

		if (op->kind != OP_KERNEL || op->call == PROFILE_NONE ||
		    profile_op_process(profile, op) != once->span->process)
			continue;
		first = &once->first_launch[profile->signatures[op->detail].kernel];
		if (*first == PROFILE_NONE)
			*first = op->call;
	}
	return 0;
}

/* Whether the call launches a kernel that was not launched before. */
static bool is_first_launch(const struct once *once, size_t call)
{
	const struct submissions *submissions = once->submissions;
	const struct profile *profile = once->profile;

	for (uint32_t i = submissions_first(submissions, call);
	     i < submissions_first(submissions, call + 1); i++) {
		const struct profile_op *op = &profile->ops[submissions_op(submissions, i)];

		if (op->kind == OP_KERNEL &&
		    once->first_launch[profile->signatures[op->detail].kernel] == call)
			return true;
	}
	return false;
}

static enum once_cause cause_of(const struct once *once, size_t call)
{
	static const enum once_cause causes[CALL_CLASS_COUNT] = {
		[CALL_OTHER] = ONCE_CALL,	   [CALL_LAUNCH] = ONCE_LAUNCH,
		[CALL_GRAPH_LAUNCH] = ONCE_LAUNCH, [CALL_GRAPH_MANAGE] = ONCE_CAPTURE,
		[CALL_COPY] = ONCE_COPY,	   [CALL_SYNC] = ONCE_WAIT,
		[CALL_EVENT] = ONCE_CALL,	   [CALL_MEMORY] = ONCE_ALLOCATION,
		[CALL_MODULE] = ONCE_MODULE,
	};
	const struct profile_call_name *name =
		&once->profile->call_names[once->profile->calls[call].name];

	if (name->call_class == CALL_OTHER && is_context_call(name->text))
		return ONCE_CONTEXT;
	if (name->call_class == CALL_LAUNCH && is_first_launch(once, call))
		return ONCE_FIRST_LAUNCH;
	if (name->call_class == CALL_GRAPH_MANAGE && strstr(name->text, "Instantiate"))
		return ONCE_INSTANTIATION;
	return causes[name->call_class];
}

/* ---- collecting ---- */

/* What of [start_ns, end_ns) lies in the span. */
static int add_moments(struct once *once, enum once_cause cause, int64_t start_ns, int64_t end_ns)
{
	return spans_add(&once->causes[cause], max_ns(start_ns, once->span->start_ns),
			 min_ns(end_ns, once->span->end_ns));
}

/* Calls of a thread come by start.  Those that are all in the steady state are most, and part of it. */
static int add_thread(struct once *once, const struct profile_thread *thread)
{
	const struct profile *profile = once->profile;
	size_t next = 0;
	int rc = 0;

	for (size_t i = thread->first_call; rc == 0 && i < thread->first_call + thread->call_count;
	     i++) {
		const struct profile_call *call = &profile->calls[i];
		int64_t covered_ns =
			spans_covered_next(once->span->steady, &next, call->start_ns, call->end_ns);

		once->first_call_ns = min_ns(once->first_call_ns, call->start_ns);
		if (covered_ns < call->end_ns - call->start_ns)
			rc = add_moments(once, cause_of(once, i), call->start_ns, call->end_ns);
	}
	return rc;
}

static int add_calls(struct once *once)
{
	const struct profile *profile = once->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		if (profile->threads[i].process == once->span->process)
			rc = add_thread(once, &profile->threads[i]);
	return rc;
}

static enum once_cause cause_of_overhead(const struct profile_overhead *overhead)
{
	if (overhead->is_profiler)
		return ONCE_PROFILER;
	return strcmp(overhead->name, "driver compiler") ? ONCE_MODULE : ONCE_JIT;
}

/* What a profiler did, and code that was loaded or compiled, is no part of the call in which it was.  Threads that
 * call nothing are the profiler's own, and hold nobody up. */
static bool is_overhead(const struct once *once, const struct profile_overhead *overhead)
{
	return overhead->process == once->span->process && overhead->thread != PROFILE_NONE &&
	       once->profile->threads[overhead->thread].call_count &&
	       strcmp(overhead->name, "command buffer full") != 0;
}

static int add_overheads(struct once *once)
{
	const struct profile *profile = once->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (is_overhead(once, overhead))
			rc = add_moments(once, cause_of_overhead(overhead), overhead->start_ns,
					 overhead->end_ns);
	}
	for (size_t i = 0; rc == 0 && i < profile->jit_count; i++) {
		uint32_t thread = profile->jits[i].thread;

		if (thread != PROFILE_NONE &&
		    profile->threads[thread].process == once->span->process)
			rc = add_moments(once, ONCE_JIT, profile->jits[i].start_ns,
					 profile->jits[i].end_ns);
	}
	return rc;
}

/* Each moment to the first cause that has it: taken holds those before it. */
static int settle(struct once *once, int64_t by_cause_ns[ONCE_CAUSE_COUNT])
{
	struct spans taken = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < once->span->steady->count; i++)
		rc = spans_add(&taken, once->span->steady->items[i].start_ns,
			       once->span->steady->items[i].end_ns);
	for (int cause = 0; rc == 0 && cause < ONCE_CAUSE_COUNT; cause++) {
		struct spans *spans = &once->causes[cause];

		spans_seal(spans);
		spans_seal(&taken);
		rc = spans_subtract(spans, &taken);
		by_cause_ns[cause] = 0;
		for (size_t i = 0; rc == 0 && i < spans->count; i++) {
			by_cause_ns[cause] += spans->items[i].end_ns - spans->items[i].start_ns;
			rc = spans_add(&taken, spans->items[i].start_ns, spans->items[i].end_ns);
		}
	}
	spans_free(&taken);
	return rc;
}

int once_measure(int64_t by_cause_ns[ONCE_CAUSE_COUNT], const struct profile *profile,
		 const struct submissions *submissions, const struct once_span *span)
{
	struct once once = {.profile = profile,
			    .submissions = submissions,
			    .span = span,
			    .first_call_ns = span->end_ns};
	int rc = find_first_launches(&once);

	if (rc == 0)
		rc = add_calls(&once);
	if (rc == 0)
		rc = add_overheads(&once);
	if (rc == 0)
		rc = add_moments(&once, ONCE_START, span->start_ns, once.first_call_ns);
	if (rc == 0)
		rc = add_moments(&once, ONCE_HOST, span->start_ns, span->end_ns);
	if (rc == 0)
		rc = settle(&once, by_cause_ns);
	for (int cause = 0; cause < ONCE_CAUSE_COUNT; cause++)
		spans_free(&once.causes[cause]);
	free(once.first_launch);
	return rc;
}
