#include "analysis/time/gaps.h"

#include "analysis/time/gap_calls.h"
#include "base/spans.h"
#include "base/ns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAUSE_KEY(constant, key, title, meaning) key,
#define CAUSE_TITLE(constant, key, title, meaning) title,
#define CAUSE_MEANING(constant, key, title, meaning) meaning,
static const char *const cause_keys[] = {GAP_CAUSES(CAUSE_KEY)};
static const char *const cause_titles[] = {GAP_CAUSES(CAUSE_TITLE)};
static const char *const cause_meanings[] = {GAP_CAUSES(CAUSE_MEANING)};
#undef CAUSE_KEY
#undef CAUSE_TITLE
#undef CAUSE_MEANING

const char *gap_cause_key(enum gap_cause cause)
{
	return cause_keys[cause];
}

const char *gap_cause_title(enum gap_cause cause)
{
	return cause_titles[cause];
}

const char *gap_cause_meaning(enum gap_cause cause)
{
	return cause_meanings[cause];
}

/* What the recording says beside calls about where host time went; made once per recording. */
struct attribution {
	const struct profile *profile;
	struct gap_calls calls;
	struct spans *profiler; /* by thread: tracing's own overhead */
	struct spans *jit;	/* by thread: code compiled, without the above */
	struct spans *module;	/* by thread: code loaded, without both */
	uint32_t *latencies;	/* how often each launch latency up to the limit was seen */
};

/* ---- preparation ---- */

/* Where an overhead counts; NULL when the call that it happened in says more. */
static struct spans *spans_of(const struct attribution *attribution,
			      const struct profile_overhead *overhead)
{
	if (overhead->is_profiler)
		return attribution->profiler;
	if (!strcmp(overhead->name, "command buffer full"))
		return NULL;
	return strcmp(overhead->name, "driver compiler") ? attribution->module : attribution->jit;
}

static int add_overheads(struct attribution *attribution)
{
	const struct profile *profile = attribution->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];
		struct spans *spans = spans_of(attribution, overhead);

		if (spans && overhead->thread != PROFILE_NONE)
			rc = spans_add(&spans[overhead->thread], overhead->start_ns,
				       overhead->end_ns);
	}
	for (size_t i = 0; rc == 0 && i < profile->jit_count; i++)
		if (profile->jits[i].thread != PROFILE_NONE)
			rc = spans_add(&attribution->jit[profile->jits[i].thread],
				       profile->jits[i].start_ns, profile->jits[i].end_ns);
	return rc;
}

static int seal_overheads(struct attribution *attribution)
{
	const struct profile *profile = attribution->profile;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		spans_seal(&attribution->profiler[i]);
		spans_seal(&attribution->jit[i]);
		spans_seal(&attribution->module[i]);
		rc = spans_subtract(&attribution->jit[i], &attribution->profiler[i]);
		if (rc == 0)
			rc = spans_subtract(&attribution->module[i], &attribution->profiler[i]);
		if (rc == 0)
			rc = spans_subtract(&attribution->module[i], &attribution->jit[i]);
	}
	return rc;
}

static void threads_close(struct spans *spans, size_t thread_count)
{
	for (size_t i = 0; spans && i < thread_count; i++)
		spans_free(&spans[i]);
	free(spans);
}

static void attribution_close(struct attribution *attribution)
{
	size_t thread_count = attribution->profile->thread_count;

	gap_calls_close(&attribution->calls);
	threads_close(attribution->profiler, thread_count);
	threads_close(attribution->jit, thread_count);
	threads_close(attribution->module, thread_count);
	free(attribution->latencies);
}

static int attribution_open(struct attribution *attribution, const struct profile *profile)
{
	int rc;

	*attribution = (struct attribution){.profile = profile};
	rc = gap_calls_open(&attribution->calls, profile);
	if (rc < 0)
		return rc;
	attribution->profiler = calloc(profile->thread_count + 1, sizeof(struct spans));
	attribution->jit = calloc(profile->thread_count + 1, sizeof(struct spans));
	attribution->module = calloc(profile->thread_count + 1, sizeof(struct spans));
	attribution->latencies = calloc(GAP_LATENCY_MAX_NS + 1, sizeof(uint32_t));
	if (!attribution->profiler || !attribution->jit || !attribution->module ||
	    !attribution->latencies)
		return -ENOMEM;
	rc = add_overheads(attribution);
	return rc < 0 ? rc : seal_overheads(attribution);
}

/* ---- finding gaps ---- */

/* Walks over a device's operations and stops at each gap. */
struct cursor {
	const struct profile *profile;
	size_t next, end; /* ops[] still to come */
	size_t last;	  /* the operation that ended last so far */
	int64_t busy_until_ns;
};

static struct cursor cursor_open(const struct profile *profile, size_t device)
{
	const struct profile_device *slice = &profile->devices[device];
	struct cursor cursor = {profile, slice->first_op, slice->first_op + slice->op_count,
				slice->first_op, 0};

	if (slice->op_count)
		cursor.busy_until_ns = profile->ops[slice->first_op].start_ns;
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
	return found;
}

/* ---- giving causes ---- */

/* Both are nodes of one launch of one graph.  Bodies of conditional nodes carry no correlation. */
static bool is_same_graph_launch(const struct profile *profile, const struct profile_op *before,
				 const struct profile_op *after)
{
	if (!before->graph_node || !after->graph_node ||
	    profile_op_process(profile, before) != profile_op_process(profile, after))
		return false;
	if (after->correlation)
		return before->correlation == after->correlation;
	return after->graph && before->graph == after->graph;
}

static bool is_device_launched(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_GRAPH && profile->graph_launches[op->detail].launch_mode != 0;
}

/* Gives [start_ns, end_ns) of the gap to cause. */
static void assign(struct gap *gap, enum gap_cause cause, int64_t start_ns, int64_t end_ns)
{
	if (end_ns > start_ns)
		gap->by_cause_ns[cause] += end_ns - start_ns;
}

/* The same for a time in which a thread was on its way to the launch: what tracing, compiling and
 * loading code took of it on that thread is theirs. */
static void assign_on_thread(const struct attribution *attribution, uint32_t thread,
			     struct gap *gap, enum gap_cause cause, int64_t start_ns,
			     int64_t end_ns)
{
	int64_t profiler_ns, jit_ns, module_ns;

	if (end_ns <= start_ns)
		return;
	profiler_ns = spans_covered(&attribution->profiler[thread], start_ns, end_ns);
	jit_ns = spans_covered(&attribution->jit[thread], start_ns, end_ns);
	module_ns = spans_covered(&attribution->module[thread], start_ns, end_ns);
	gap->by_cause_ns[GAP_PROFILER] += profiler_ns;
	gap->by_cause_ns[GAP_JIT] += jit_ns;
	gap->by_cause_ns[GAP_MODULE] += module_ns;
	gap->by_cause_ns[cause] += end_ns - start_ns - profiler_ns - jit_ns - module_ns;
}

/* Splits the part of the gap before the launching call over what its thread did then.  Walks back
 * from that call, so that all gaps of a device together look at each call about once. */
static void assign_host_part(const struct attribution *attribution, struct gap *gap,
			     uint32_t launch, int64_t end_ns)
{
	const struct profile *profile = attribution->profile;
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
		assign_on_thread(attribution, thread, gap, GAP_HOST, cursor_ns, from_ns);
		cause = gap_calls_inside(&attribution->calls, (uint32_t)(call - profile->calls));
		assign_on_thread(attribution, thread, gap, cause, from_ns, to_ns);
		cursor_ns = to_ns;
	}
	assign_on_thread(attribution, thread, gap, GAP_HOST, cursor_ns, end_ns);
}

/* For a call that was still running, or to come, when the gap began. */
static void assign_launched(const struct attribution *attribution, struct gap *gap, uint32_t launch,
			    int64_t latency_ns)
{
	const struct profile_call *call = &attribution->profile->calls[launch];
	enum gap_cause cause = gap_calls_launching(&attribution->calls, launch);
	int64_t host_end_ns = min_ns(max_ns(call->start_ns, gap->start_ns), gap->end_ns);
	int64_t call_end_ns = min_ns(call->end_ns, gap->end_ns);
	int64_t late_ns = call_end_ns + min_ns(latency_ns, gap->end_ns - call_end_ns);

	assign_host_part(attribution, gap, launch, host_end_ns);
	assign_on_thread(attribution, call->thread, gap, cause, host_end_ns, call_end_ns);
	/* what an asynchronous copy read from pageable memory is in a buffer of the driver by now */
	assign(gap, cause == GAP_STAGING ? GAP_LAUNCH : cause, call_end_ns, late_ns);
	assign(gap, GAP_DEVICE, late_ns, gap->end_ns);
}

/* Without the decision none of these would be in the way. */
static bool is_of_decision(int cause)
{
	return cause == GAP_LAUNCH || cause == GAP_SYNC || cause == GAP_HOST || cause == GAP_COPY ||
	       cause == GAP_STAGING || cause == GAP_DEVICE;
}

/* The same for a launch by what the host has known since decided_from_ns: the gap in two parts. */
static void assign_decided(const struct attribution *attribution, struct gap *gap, uint32_t launch,
			   int64_t latency_ns, int64_t decided_from_ns)
{
	int64_t from_ns = min_ns(max_ns(decided_from_ns, gap->start_ns), gap->end_ns);
	struct gap before = {.start_ns = gap->start_ns, .end_ns = from_ns};
	struct gap decided = {.start_ns = from_ns, .end_ns = gap->end_ns};

	if (before.end_ns > before.start_ns)
		assign_launched(attribution, &before, launch, latency_ns);
	if (decided.end_ns > decided.start_ns)
		assign_launched(attribution, &decided, launch, latency_ns);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		gap->by_cause_ns[i] += before.by_cause_ns[i];
		gap->by_cause_ns[is_of_decision(i) ? GAP_DECISION : i] += decided.by_cause_ns[i];
	}
}

static void name_cause(struct gap *gap)
{
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (gap->by_cause_ns[i] > gap->by_cause_ns[gap->cause])
			gap->cause = i;
}

static void attribute(const struct attribution *attribution, struct gap *gap, int64_t latency_ns)
{
	const struct profile *profile = attribution->profile;
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];
	const struct gap_calls *calls = &attribution->calls;
	uint32_t launch = gap_calls_launch_of(calls, after);

	if (is_same_graph_launch(profile, before, after) || is_device_launched(profile, after))
		assign(gap, GAP_DEVICE, gap->start_ns, gap->end_ns);
	else if (launch == PROFILE_NONE)
		assign(gap, GAP_UNKNOWN, gap->start_ns, gap->end_ns);
	else if (profile->calls[launch].end_ns <= gap->start_ns)
		assign(gap,
		       gap_calls_is_dependent(calls, launch, before, after) ? GAP_DEPENDENCY
									    : GAP_DEVICE,
		       gap->start_ns, gap->end_ns);
	else
		assign_decided(attribution, gap, launch, latency_ns,
			       gap_calls_decision(calls, launch, after));
	name_cause(gap);
}

/* ---- how long a launch takes to reach the GPU ---- */

static int64_t percentile_90(const uint32_t *latencies, uint64_t count)
{
	uint64_t rank = (count * 9 + 9) / 10, seen = 0;

	for (int64_t latency_ns = 0; latency_ns <= GAP_LATENCY_MAX_NS; latency_ns++) {
		seen += latencies[latency_ns];
		if (seen >= rank)
			return latency_ns;
	}
	return GAP_LATENCY_MAX_NS;
}

static int64_t launch_latency(struct attribution *attribution, size_t device)
{
	const struct profile *profile = attribution->profile;
	struct cursor cursor = cursor_open(profile, device);
	uint64_t count = 0;
	struct gap gap;

	memset(attribution->latencies, 0, (GAP_LATENCY_MAX_NS + 1) * sizeof(uint32_t));
	while (cursor_next(&cursor, &gap)) {
		const struct profile_op *after = &profile->ops[gap.after];
		uint32_t launch = gap_calls_launch_of(&attribution->calls, after);
		int64_t end_ns, latency_ns;

		if (launch == PROFILE_NONE ||
		    is_same_graph_launch(profile, &profile->ops[gap.before], after))
			continue;
		end_ns = profile->calls[launch].end_ns;
		latency_ns = gap.end_ns - end_ns;
		if (end_ns > gap.start_ns && latency_ns > 0 && latency_ns <= GAP_LATENCY_MAX_NS) {
			attribution->latencies[latency_ns]++;
			count++;
		}
	}
	return count ? max_ns(percentile_90(attribution->latencies, count), GAP_LATENCY_MIN_NS)
		     : GAP_LATENCY_MIN_NS;
}

static int visit_device(struct attribution *attribution, size_t device, gap_visitor visit,
			void *context)
{
	struct cursor cursor = cursor_open(attribution->profile, device);
	int64_t latency_ns = launch_latency(attribution, device);
	struct gap gap;
	int rc = 0;

	while (rc == 0 && cursor_next(&cursor, &gap)) {
		attribute(attribution, &gap, latency_ns);
		rc = visit(&gap, context);
	}
	return rc;
}

int gaps_visit(const struct profile *profile, const struct timeline *timeline, size_t device,
	       gap_visitor visit, void *context)
{
	struct attribution attribution;
	int rc = attribution_open(&attribution, profile);

	(void)timeline; /* where the gaps lie follows from the operations alone */
	if (rc == 0)
		rc = visit_device(&attribution, device, visit, context);
	attribution_close(&attribution);
	return rc;
}

/* ---- adding up ---- */

/* Collects one device after the other; longest is a heap with the least of the kept on top. */
struct collection {
	struct gap_analysis *gaps;
	struct gap_device *device;
	size_t keep, capacity;
};

/* Whether a is listed before b: longer first, then by place, so that reports are stable. */
static bool is_listed_before(const struct gap *a, const struct gap *b)
{
	int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	return a_ns != b_ns ? a_ns > b_ns : a->after < b->after;
}

static int compare_listed(const void *left, const void *right)
{
	return is_listed_before(left, right) ? -1 : 1;
}

static void sift_down(struct gap *heap, size_t count, const struct gap *item)
{
	size_t i = 0;

	for (size_t child = 1; child < count; child = 2 * i + 1) {
		if (child + 1 < count && is_listed_before(&heap[child], &heap[child + 1]))
			child++;
		if (is_listed_before(&heap[child], item))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = *item;
}

static int heap_add(struct collection *collection, const struct gap *gap)
{
	struct gap_analysis *gaps = collection->gaps;
	size_t i = gaps->longest_count;

	if (i == collection->capacity) {
		size_t capacity = i ? 2 * i : 16;
		struct gap *longest = realloc(gaps->longest, capacity * sizeof(*longest));

		if (!longest)
			return -ENOMEM;
		gaps->longest = longest;
		collection->capacity = capacity;
	}
	gaps->longest_count++;
	for (; i > 0 && is_listed_before(&gaps->longest[(i - 1) / 2], gap); i = (i - 1) / 2)
		gaps->longest[i] = gaps->longest[(i - 1) / 2];
	gaps->longest[i] = *gap;
	return 0;
}

static int keep_longest(struct collection *collection, const struct gap *gap)
{
	struct gap_analysis *gaps = collection->gaps;

	if (gaps->longest_count < collection->keep)
		return heap_add(collection, gap);
	if (collection->keep && is_listed_before(gap, &gaps->longest[0]))
		sift_down(gaps->longest, gaps->longest_count, gap);
	return 0;
}

static int collect(const struct gap *gap, void *context)
{
	struct collection *collection = context;
	struct gap_device *device = collection->device;

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		device->by_cause_ns[i] += gap->by_cause_ns[i];
	device->gap_count++;
	device->gap_count_by_cause[gap->cause]++;
	return keep_longest(collection, gap);
}

static int collect_devices(struct collection *collection, const struct profile *profile,
			   const struct timeline *timeline)
{
	struct attribution attribution;
	int rc = attribution_open(&attribution, profile);

	for (size_t i = 0; rc == 0 && i < profile->device_count; i++) {
		collection->device = &collection->gaps->devices[i];
		collection->device->wall_ns = timeline->devices[i].wall_ns;
		collection->device->busy_ns = timeline->devices[i].busy_ns;
		collection->device->idle_ns = timeline->devices[i].idle_ns;
		rc = visit_device(&attribution, i, collect, collection);
	}
	attribution_close(&attribution);
	return rc;
}

int gaps_analyze(struct gap_analysis **out, const struct profile *profile,
		 const struct timeline *timeline, size_t keep, struct err *err)
{
	struct gap_analysis *gaps = calloc(1, sizeof(*gaps));
	struct collection collection = {.gaps = gaps, .keep = keep};
	int rc = -ENOMEM;

	if (gaps) {
		gaps->device_count = profile->device_count;
		gaps->devices = calloc(profile->device_count + 1, sizeof(*gaps->devices));
		if (gaps->devices)
			rc = collect_devices(&collection, profile, timeline);
	}
	if (rc < 0) {
		gaps_free(gaps);
		return err_set(err, rc, "out of memory for the gaps of the timeline");
	}
	if (gaps->longest_count)
		qsort(gaps->longest, gaps->longest_count, sizeof(*gaps->longest), compare_listed);
	*out = gaps;
	return 0;
}

void gaps_free(struct gap_analysis *gaps)
{
	if (!gaps)
		return;
	free(gaps->devices);
	free(gaps->longest);
	free(gaps);
}
