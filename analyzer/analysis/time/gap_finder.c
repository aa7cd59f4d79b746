#include "analysis/time/gap_finder.h"

#include "analysis/time/gap_children.h"
#include "analysis/time/first_launches.h"
#include "analysis/time/gap_calls.h"
#include "base/ns.h"
#include "base/search.h"
#include "base/spans.h"
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What threads did in host time, by calls and by overheads; made once per recording. */
struct gap_finder {
	const struct profile *profile;
	struct gap_calls calls;
	struct spans *profiler; /* by thread: tracing's own overhead */
	struct spans *jit;	/* by thread: code compiled, without the above */
	struct spans *module;	/* by thread: code loaded, without both */
	struct spans
		*moved; /* by device: its managed memory moved to the host, which had touched it */
	int64_t *latency_ns; /* by device: how long a launch takes to reach it */
	struct gap_children children;
};

/* ---- preparation ---- */

/* Whether code is loaded meanwhile. */
static bool is_load(const struct profile_overhead *overhead)
{
	return !overhead->is_profiler && strcmp(overhead->name, "command buffer full") &&
	       strcmp(overhead->name, "driver compiler");
}

/* Where an overhead counts; NULL when the call in which it happened is the better cause. */
static struct spans *spans_of(const struct gap_finder *finder,
			      const struct profile_overhead *overhead)
{
	if (overhead->is_profiler)
		return finder->profiler;
	if (!strcmp(overhead->name, "command buffer full"))
		return NULL;
	return is_load(overhead) ? finder->module : finder->jit;
}

static int add_overheads(struct gap_finder *finder)
{
	const struct profile *profile = finder->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];
		struct spans *spans = spans_of(finder, overhead);

		if (spans && overhead->thread != PROFILE_NONE)
			rc = spans_add(&spans[overhead->thread], overhead->start_ns,
				       overhead->end_ns);
	}
	for (size_t i = 0; rc == 0 && i < profile->jit_count; i++)
		if (profile->jits[i].thread != PROFILE_NONE)
			rc = spans_add(&finder->jit[profile->jits[i].thread],
				       profile->jits[i].start_ns, profile->jits[i].end_ns);
	return rc;
}

static int seal_overheads(struct gap_finder *finder)
{
	const struct profile *profile = finder->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		spans_seal(&finder->profiler[i]);
		spans_seal(&finder->jit[i]);
		spans_seal(&finder->module[i]);
		rc = spans_subtract(&finder->jit[i], &finder->profiler[i]);
		if (rc == 0)
			rc = spans_subtract(&finder->module[i], &finder->profiler[i]);
		if (rc == 0)
			rc = spans_subtract(&finder->module[i], &finder->jit[i]);
	}
	return rc;
}

static int find_overheads(struct gap_finder *finder)
{
	size_t thread_count = finder->profile->thread_count;
	int rc;

	finder->profiler = calloc(thread_count + 1, sizeof(struct spans));
	finder->jit = calloc(thread_count + 1, sizeof(struct spans));
	finder->module = calloc(thread_count + 1, sizeof(struct spans));
	if (!finder->profiler || !finder->jit || !finder->module)
		return -ENOMEM;
	rc = add_overheads(finder);
	if (rc == 0)
		rc = first_launches_add(finder->module, finder->profile, is_load);
	return rc < 0 ? rc : seal_overheads(finder);
}

/* What is asked for (a prefetch, a copy) nobody waits for on the way. */
static int find_moved(struct gap_finder *finder)
{
	const struct profile *profile = finder->profile;
	int rc = 0;

	finder->moved = calloc(profile->device_count + 1, sizeof(struct spans));
	if (!finder->moved)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->managed_count; i++) {
		const struct profile_managed *managed = &profile->manageds[i];

		if (managed->kind == MANAGED_TO_HOST && managed->source != PROFILE_NONE &&
		    (managed->cause == MANAGED_FOR_FAULT ||
		     managed->cause == MANAGED_EXPECTED_FAULT))
			rc = spans_add(&finder->moved[managed->source], managed->start_ns,
				       managed->end_ns);
	}
	for (size_t i = 0; i < profile->device_count; i++)
		spans_seal(&finder->moved[i]);
	return rc;
}

/* ---- finding gaps ---- */

/* Walks over a device's operations and stops at each gap. */
struct cursor {
	const struct profile *profile;
	size_t next, end; /* ops[] still to come */
	size_t last;	  /* the operation that ended last so far */
	size_t after;	  /* of a part of a recording the operation behind it, else SIZE_MAX */
	int64_t busy_until_ns, to_ns;
};

static struct cursor cursor_open(const struct profile *profile, size_t device)
{
	const struct profile_device *slice = &profile->devices[device];
	struct cursor cursor = {.profile = profile,
				.next = slice->first_op,
				.end = slice->first_op + slice->op_count,
				.last = slice->first_op,
				.after = SIZE_MAX};

	if (!timeline_span(profile, device, &cursor.busy_until_ns, &cursor.to_ns) ||
	    !profile->window.is_part)
		return cursor;
	if (slice->outside.before != PROFILE_NONE)
		cursor.last = slice->outside.before;
	if (slice->outside.after != PROFILE_NONE)
		cursor.after = slice->outside.after;
	return cursor;
}

/* Of the operations that start together at ops[first], the one whose call came first: it was the
 * first that could have ended the gap. */
static size_t earliest_launched(const struct cursor *cursor, size_t first)
{
	const struct profile *profile = cursor->profile;
	const struct profile_op *ops = profile->ops;
	size_t best = first;

	for (size_t i = first + 1; i < cursor->end && ops[i].start_ns == ops[first].start_ns; i++) {
		if (ops[i].call == PROFILE_NONE)
			continue;
		if (ops[best].call == PROFILE_NONE ||
		    profile->calls[ops[i].call].start_ns < profile->calls[ops[best].call].start_ns)
			best = i;
	}
	return best;
}

/* Up to the end of a part, where the operation behind it ends the gap. */
static bool cursor_end(struct cursor *cursor, struct gap *gap)
{
	if (cursor->after == SIZE_MAX || cursor->busy_until_ns >= cursor->to_ns)
		return false;
	*gap = (struct gap){.start_ns = cursor->busy_until_ns,
			    .end_ns = cursor->to_ns,
			    .before = cursor->last,
			    .after = cursor->after};
	cursor->busy_until_ns = cursor->to_ns;
	return true;
}

static bool cursor_next(struct cursor *cursor, struct gap *gap)
{
	const struct profile_op *ops = cursor->profile->ops;
	bool found = false;

	for (; !found && cursor->next < cursor->end; cursor->next++) {
		const struct profile_op *op = &ops[cursor->next];

		if (op->start_ns > cursor->busy_until_ns) {
			*gap = (struct gap){.start_ns = cursor->busy_until_ns,
					    .end_ns = op->start_ns,
					    .before = cursor->last,
					    .after = earliest_launched(cursor, cursor->next)};
			found = true;
		}
		if (op->end_ns >= cursor->busy_until_ns) {
			cursor->busy_until_ns = op->end_ns;
			cursor->last = cursor->next;
		}
	}
	return found || cursor_end(cursor, gap);
}

/* ---- giving causes ---- */

/* Both are nodes of one launch of one graph.  Bodies of conditional nodes carry no correlation. */
static bool is_same_graph_launch(const struct profile *profile, const struct profile_op *before,
				 const struct profile_op *after)
{
	struct profile_op_ids left, right;

	if (!profile_op_node(profile, before) || !profile_op_node(profile, after) ||
	    profile_op_process(profile, before) != profile_op_process(profile, after))
		return false;
	left = profile_op_ids(profile, before);
	right = profile_op_ids(profile, after);
	if (right.correlation)
		return left.correlation == right.correlation;
	return right.graph && left.graph == right.graph;
}

static bool is_device_launched(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_GRAPH && profile->graph_launches[op->detail].launch_mode != 0;
}

static void add_ns(struct gap *gap, int cause, int64_t ns)
{
	gap->by_cause_ns[cause] += ns;
	gap->causes |= 1U << cause;
}

/* Gives [start_ns, end_ns) of the gap to cause. */
static void assign(struct gap *gap, enum gap_cause cause, int64_t start_ns, int64_t end_ns)
{
	if (end_ns > start_ns)
		add_ns(gap, cause, end_ns - start_ns);
}

static bool has_overheads(const struct gap_finder *finder, uint32_t thread)
{
	return finder->profiler[thread].count || finder->jit[thread].count ||
	       finder->module[thread].count;
}

/* The same for a time in which a thread was on its way to the launch: what tracing, compiling and
 * loading code took of it on that thread is theirs. */
static void assign_on_thread(const struct gap_finder *finder, uint32_t thread, struct gap *gap,
			     enum gap_cause cause, int64_t start_ns, int64_t end_ns)
{
	int64_t profiler_ns, jit_ns, module_ns;

	if (end_ns <= start_ns)
		return;
	if (!has_overheads(finder, thread)) {
		add_ns(gap, cause, end_ns - start_ns);
		return;
	}
	profiler_ns = spans_covered(&finder->profiler[thread], start_ns, end_ns);
	jit_ns = spans_covered(&finder->jit[thread], start_ns, end_ns);
	module_ns = spans_covered(&finder->module[thread], start_ns, end_ns);
	add_ns(gap, GAP_PROFILER, profiler_ns);
	add_ns(gap, GAP_JIT, jit_ns);
	add_ns(gap, GAP_MODULE, module_ns);
	add_ns(gap, (int)cause, end_ns - start_ns - profiler_ns - jit_ns - module_ns);
}

/* The host's own code: it waits where memory that it touches has to come from the device first. */
static void assign_host_code(const struct gap_finder *finder, uint32_t thread, struct gap *gap,
			     int64_t start_ns, int64_t end_ns)
{
	const struct profile_op *after = &finder->profile->ops[gap->after];
	int64_t host_ns = gap->by_cause_ns[GAP_HOST], moved_ns;

	if (end_ns <= start_ns)
		return;
	assign_on_thread(finder, thread, gap, GAP_HOST, start_ns, end_ns);
	moved_ns = min_ns(spans_covered(&finder->moved[profile_op_device(finder->profile, after)],
					start_ns, end_ns),
			  gap->by_cause_ns[GAP_HOST] - host_ns);
	gap->by_cause_ns[GAP_HOST] -= moved_ns;
	add_ns(gap, GAP_MANAGED, moved_ns);
}

/* Splits the part of the gap before the launching call over what its thread did then.  Walks back
 * from that call, so that all gaps of a device together look at each call about once. */
static void assign_host_part(const struct gap_finder *finder, struct gap *gap, uint32_t launch,
			     int64_t end_ns)
{
	const struct profile *profile = finder->profile;
	uint32_t thread = profile->calls[launch].thread;
	const struct profile_call *begin = profile->calls + profile->threads[thread].first_call;
	const struct profile_call *last = profile->calls + launch, *call = last;
	int64_t cursor_ns = gap->start_ns;

	while (call > begin && call[-1].end_ns > gap->start_ns)
		call--;
	for (; call < last && cursor_ns < end_ns; call++) {
		int64_t from_ns = call->start_ns > cursor_ns ? call->start_ns : cursor_ns;
		int64_t to_ns = call->end_ns < end_ns ? call->end_ns : end_ns;
		enum gap_cause cause;

		if (to_ns <= from_ns)
			continue;
		assign_host_code(finder, thread, gap, cursor_ns, from_ns);
		cause = gap_calls_inside(&finder->calls, (uint32_t)(call - profile->calls));
		assign_on_thread(finder, thread, gap, cause, from_ns, to_ns);
		cursor_ns = to_ns;
	}
	assign_host_code(finder, thread, gap, cursor_ns, end_ns);
}

/* The moment, or the end of the gap that is nearer to it. */
static int64_t within(const struct gap *gap, int64_t ns)
{
	return min_ns(max_ns(ns, gap->start_ns), gap->end_ns);
}

/* For a known call: what its thread did until it returned, the way to the device, which may lie before the gap in part
 * or as a whole, and then what the submitted work waited for. */
static void assign_launched(const struct gap_finder *finder, struct gap *gap, uint32_t launch,
			    int64_t latency_ns, enum gap_cause waiting)
{
	const struct profile_call *call = &finder->profile->calls[launch];
	enum gap_cause cause = gap_calls_launching(&finder->calls, launch);
	int64_t host_end_ns = within(gap, call->start_ns);
	int64_t call_end_ns = within(gap, call->end_ns);
	int64_t late_ns = within(gap, call->end_ns + latency_ns);

	assign_host_part(finder, gap, launch, host_end_ns);
	assign_on_thread(finder, call->thread, gap, cause, host_end_ns, call_end_ns);
	/* what an asynchronous copy read from pageable memory is in a buffer of the driver by now */
	assign(gap, cause == GAP_STAGING ? GAP_LAUNCH : cause, call_end_ns, late_ns);
	assign(gap, waiting, late_ns, gap->end_ns);
}

/* Without the decision none of these would be in the way, but what the host works for long. */
static bool is_of_decision(int cause, int64_t ns)
{
	if (cause == GAP_HOST)
		return ns <= GAP_HOST_WORK_NS;
	return cause == GAP_LAUNCH || cause == GAP_SYNC || cause == GAP_COPY ||
	       cause == GAP_STAGING || cause == GAP_DEVICE;
}

/* The same for a launch by what the host has known since decided_from_ns: the gap in two parts. */
static void assign_decided(const struct gap_finder *finder, struct gap *gap, uint32_t launch,
			   int64_t latency_ns, enum gap_cause waiting, int64_t decided_from_ns)
{
	int64_t from_ns = within(gap, decided_from_ns);
	struct gap before = {.start_ns = gap->start_ns, .end_ns = from_ns, .after = gap->after};
	struct gap decided = {.start_ns = from_ns, .end_ns = gap->end_ns, .after = gap->after};
	uint32_t left;
	int cause;

	if (before.end_ns > before.start_ns)
		assign_launched(finder, &before, launch, latency_ns, waiting);
	if (decided.end_ns > decided.start_ns)
		assign_launched(finder, &decided, launch, latency_ns, waiting);
	GAP_EACH_CAUSE(left, cause, &before)
	add_ns(gap, cause, before.by_cause_ns[cause]);
	GAP_EACH_CAUSE(left, cause, &decided)
	add_ns(gap, is_of_decision(cause, decided.by_cause_ns[cause]) ? GAP_DECISION : cause,
	       decided.by_cause_ns[cause]);
}

static void name_cause(struct gap *gap)
{
	uint32_t left;
	int cause;

	GAP_EACH_CAUSE(left, cause, gap)
	if (gap->by_cause_ns[cause] > gap->by_cause_ns[gap->cause])
		gap->cause = (enum gap_cause)cause;
}

/* What launch submitted and did not start once it could have reached the device. */
static enum gap_cause waiting_of(const struct gap_finder *finder, const struct gap *gap,
				 uint32_t launch, const struct approach *approach)
{
	const struct profile *profile = finder->profile;
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];

	if (profile->calls[launch].end_ns <= gap->start_ns &&
	    gap_calls_is_dependent(&finder->calls, approach, before, after))
		return GAP_DEPENDENCY;
	return gap_calls_waiting(&finder->calls, approach, after);
}

/* After a kernel that may have children what was submitted, and the host in a wait, waited for these. */
static void assign_children(const struct gap_finder *finder, struct gap *gap, uint32_t launch,
			    int64_t latency_ns)
{
	const struct profile_call *call = &finder->profile->calls[launch];
	enum gap_cause cause = gap_calls_launching(&finder->calls, launch);
	int64_t late_ns = within(gap, call->start_ns) + latency_ns, copying_ns = 0;

	if (!gap_children_may_run(&finder->children, gap))
		return;
	if (cause == GAP_COPY || cause == GAP_STAGING)
		copying_ns = max_ns(0, within(gap, call->end_ns) - late_ns);
	copying_ns = min_ns(copying_ns, gap->by_cause_ns[cause]);
	add_ns(gap, GAP_CHILDREN,
	       copying_ns + gap->by_cause_ns[GAP_SYNC] + gap->by_cause_ns[GAP_DEVICE]);
	gap->by_cause_ns[cause] -= copying_ns;
	gap->by_cause_ns[GAP_SYNC] = gap->by_cause_ns[GAP_DEVICE] = 0;
}

/* Samples show that the device worked for some of the gap: that is idle of no other cause. */
static void assign_sampled(const struct gap_finder *finder, struct gap *gap)
{
	int64_t more_ns =
		gap_children_sampled(&finder->children, gap) - gap->by_cause_ns[GAP_CHILDREN];
	int64_t rest_ns = gap->end_ns - gap->start_ns - gap->by_cause_ns[GAP_CHILDREN];

	if (more_ns <= 0)
		return;
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		int64_t ns = gap->by_cause_ns[i];

		if (i == GAP_CHILDREN)
			continue;
		gap->by_cause_ns[i] -= (int64_t)((double)more_ns / (double)rest_ns * (double)ns);
		add_ns(gap, GAP_CHILDREN, ns - gap->by_cause_ns[i]);
	}
}

/* A call that had returned decided nothing by what was read since. */
static void assign_call(const struct gap_finder *finder, struct gap *gap, uint32_t launch,
			int64_t latency_ns)
{
	const struct approach approach = gap_calls_approach(&finder->calls, launch);
	enum gap_cause waiting = waiting_of(finder, gap, launch, &approach);
	int64_t decided_ns = INT64_MAX;

	if (finder->profile->calls[launch].end_ns > gap->start_ns)
		decided_ns = gap_calls_decision(&finder->calls, &approach,
						&finder->profile->ops[gap->after]);
	if (decided_ns >= gap->end_ns)
		assign_launched(finder, gap, launch, latency_ns, waiting);
	else
		assign_decided(finder, gap, launch, latency_ns, waiting, decided_ns);
	if (waiting == GAP_DEVICE)
		assign_children(finder, gap, launch, latency_ns);
}

/* ---- what an imported file cannot show ---- */

struct lost_search {
	const struct profile *profile;
	uint32_t process;
	int64_t ns;
};

static bool is_lost_from(size_t index, const void *context)
{
	const struct lost_search *search = context;
	const struct profile_lost_launch *lost = &search->profile->lost_launches[index];

	return lost->process != search->process ? lost->process > search->process
						: lost->start_ns >= search->ns;
}

static bool has_lost(const struct profile *profile, uint32_t process, int64_t from_ns,
		     int64_t to_ns)
{
	const struct lost_search search = {profile, process, from_ns};
	size_t found = search_first(0, profile->lost_launch_count, is_lost_from, &search);

	return found < profile->lost_launch_count &&
	       profile->lost_launches[found].process == process &&
	       profile->lost_launches[found].start_ns <= to_ns;
}

/* Return true if an operation that the file lost may have run in the gap: it was launched there, or between the operations
 * before and after it. */
static bool may_hide_work(const struct profile *profile, const struct gap *gap)
{
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];
	uint32_t process = profile_op_process(profile, after);
	int64_t from_ns = gap->start_ns, to_ns = gap->end_ns;

	if (!profile->lost_launch_count)
		return false;
	if (has_lost(profile, process, from_ns, to_ns))
		return true;
	if (before->call != PROFILE_NONE && profile_op_process(profile, before) == process)
		from_ns = profile->calls[before->call].start_ns;
	if (after->call != PROFILE_NONE)
		to_ns = profile->calls[after->call].start_ns;
	return has_lost(profile, process, from_ns, to_ns);
}

/* If the clocks of host and GPU differ, times of the host are only known within that difference. */
static void blur(const struct gap_finder *finder, struct gap *gap)
{
	const struct profile *profile = finder->profile;
	const struct profile_op *after = &profile->ops[gap->after];
	int64_t off_ns = profile->processes[profile_op_process(profile, after)].early_ns;
	int64_t length_ns = gap->end_ns - gap->start_ns;

	if (!off_ns || length_ns <= 0)
		return;
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		int64_t ns = gap->by_cause_ns[i], kept_ns = 0;

		if (i == GAP_UNKNOWN)
			continue;
		if (off_ns < length_ns)
			kept_ns = (int64_t)((double)ns * (double)(length_ns - off_ns) /
					    (double)length_ns);
		gap->by_cause_ns[i] = kept_ns;
		add_ns(gap, GAP_UNKNOWN, ns - kept_ns);
	}
}

static void attribute(const struct gap_finder *finder, struct gap *gap, int64_t latency_ns)
{
	const struct profile *profile = finder->profile;
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];
	uint32_t launch = gap_calls_launch_of(&finder->calls, after);

	if (is_same_graph_launch(profile, before, after) || is_device_launched(profile, after))
		assign(gap, gap_calls_between_nodes(profile, before, after), gap->start_ns,
		       gap->end_ns);
	else if (launch == PROFILE_NONE || may_hide_work(profile, gap))
		assign(gap, GAP_UNKNOWN, gap->start_ns, gap->end_ns);
	else
		assign_call(finder, gap, launch, latency_ns);
	assign_sampled(finder, gap);
	blur(finder, gap);
	name_cause(gap);
}

/* ---- how long a launch takes to reach the GPU ---- */

static int64_t median(const uint32_t *counts, uint64_t count)
{
	uint64_t rank = count / 2 + 1, seen = 0;

	for (int64_t latency_ns = 0; latency_ns <= GAP_LATENCY_MAX_NS; latency_ns++) {
		seen += counts[latency_ns];
		if (seen >= rank)
			return latency_ns;
	}
	return GAP_LATENCY_MAX_NS;
}

/* counts: zeros; how often each latency up to the limit was seen. */
static int64_t find_latency(const struct gap_finder *finder, size_t device, uint32_t *counts)
{
	const struct profile *profile = finder->profile;
	struct cursor cursor = cursor_open(profile, device);
	uint64_t count = 0;
	int64_t latency_ns;
	struct gap gap;

	while (cursor_next(&cursor, &gap)) {
		const struct profile_op *after = &profile->ops[gap.after];
		uint32_t launch = gap_calls_launch_of(&finder->calls, after);
		int64_t end_ns;

		if (launch == PROFILE_NONE || gap.after >= profile->op_count ||
		    is_same_graph_launch(profile, &profile->ops[gap.before], after))
			continue;
		end_ns = profile->calls[launch].end_ns;
		latency_ns = gap.end_ns - end_ns;
		if (end_ns > gap.start_ns && latency_ns > 0 && latency_ns <= GAP_LATENCY_MAX_NS) {
			counts[latency_ns]++;
			count++;
		}
	}
	if (!count)
		return GAP_LATENCY_NS;
	latency_ns = median(counts, count);
	memset(counts, 0, (GAP_LATENCY_MAX_NS + 1) * sizeof(*counts));
	return latency_ns;
}

static int find_latencies(struct gap_finder *finder)
{
	size_t device_count = finder->profile->device_count;
	uint32_t *counts = calloc(GAP_LATENCY_MAX_NS + 1, sizeof(*counts));

	finder->latency_ns = calloc(device_count + 1, sizeof(*finder->latency_ns));
	if (!counts || !finder->latency_ns) {
		free(counts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < device_count; i++)
		finder->latency_ns[i] = find_latency(finder, i, counts);
	free(counts);
	return 0;
}

/* ---- what kernels launch themselves ---- */

static void look_for_children(struct gap_finder *finder, size_t device)
{
	const struct profile *profile = finder->profile;
	struct cursor cursor = cursor_open(profile, device);
	struct gap gap;

	while (cursor_next(&cursor, &gap)) {
		const struct profile_op *before = &profile->ops[gap.before];
		const struct profile_op *after = &profile->ops[gap.after];
		uint32_t launch = gap_calls_launch_of(&finder->calls, after);
		struct approach approach;

		if (launch == PROFILE_NONE || before->kind != OP_KERNEL ||
		    is_same_graph_launch(profile, before, after))
			continue;
		approach = gap_calls_approach(&finder->calls, launch);
		if (waiting_of(finder, &gap, launch, &approach) == GAP_DEVICE)
			gap_children_look(&finder->children, &gap, launch,
					  finder->latency_ns[device]);
	}
}

static int find_children(struct gap_finder *finder, const struct device_work *work)
{
	int rc = gap_children_open(&finder->children, &finder->calls, work);

	for (size_t i = 0; rc == 0 && i < finder->profile->device_count; i++)
		look_for_children(finder, i);
	return rc;
}

/* What was done in the time of calls, which nothing but causes is asked of. */
static int find_spans(void *finder)
{
	int rc = find_overheads(finder);

	return rc < 0 ? rc : find_moved(finder);
}

/* ---- from outside ---- */

int gap_finder_open(struct gap_finder **out, const struct profile *profile,
		    const struct device_work *work)
{
	struct gap_finder *finder = calloc(1, sizeof(*finder));
	struct worker spans;
	int rc, spans_rc;

	*out = NULL;
	if (!finder)
		return -ENOMEM;
	finder->profile = profile;
	worker_start(&spans, profile_item_count(profile), find_spans, finder);
	rc = gap_calls_open(&finder->calls, profile);
	if (rc == 0)
		rc = find_latencies(finder);
	if (rc == 0)
		rc = find_children(finder, work);
	spans_rc = worker_join(&spans);
	if (rc == 0)
		rc = spans_rc;
	if (rc < 0) {
		gap_finder_close(finder);
		return rc;
	}
	*out = finder;
	return 0;
}

int gap_finder_visit(const struct gap_finder *finder, size_t device, gap_visitor visit,
		     void *context)
{
	struct cursor cursor = cursor_open(finder->profile, device);
	struct gap gap;
	int rc = 0;

	while (rc == 0 && cursor_next(&cursor, &gap)) {
		attribute(finder, &gap, finder->latency_ns[device]);
		rc = visit(&gap, context);
	}
	return rc;
}

static void close_spans(struct spans *spans, size_t count)
{
	for (size_t i = 0; spans && i < count; i++)
		spans_free(&spans[i]);
	free(spans);
}

void gap_finder_close(struct gap_finder *finder)
{
	if (!finder)
		return;
	if (finder->children.calls)
		gap_children_close(&finder->children);
	gap_calls_close(&finder->calls);
	close_spans(finder->profiler, finder->profile->thread_count);
	close_spans(finder->jit, finder->profile->thread_count);
	close_spans(finder->module, finder->profile->thread_count);
	close_spans(finder->moved, finder->profile->device_count);
	free(finder->latency_ns);
	free(finder);
}
