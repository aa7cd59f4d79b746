#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/gaps.h"
#include "profile_builder.h"

struct result {
	struct timeline *timeline;
	struct gap_analysis *gaps;
};

static struct result analyze(struct builder *b, size_t keep)
{
	const struct profile *profile = builder_finish(b);
	struct result result = {0};
	struct err err = {""};

	assert_int_equal(timeline_build(&result.timeline, profile, &err), 0);
	assert_int_equal(gaps_analyze(&result.gaps, profile, result.timeline, keep, &err), 0);
	return result;
}

static void done(struct builder *b, struct result result)
{
	gaps_free(result.gaps);
	timeline_free(result.timeline);
	free(b);
}

/* Nothing but the expected causes: pairs of cause and time, ended by -1. */
static void expect(struct builder *b, ...)
{
	struct result result = analyze(b, 10);
	int64_t expected[GAP_CAUSE_COUNT] = {0};
	va_list arguments;

	va_start(arguments, b);
	for (int cause = va_arg(arguments, int); cause >= 0; cause = va_arg(arguments, int))
		expected[cause] = va_arg(arguments, int);
	va_end(arguments);
	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (result.gaps->devices[0].by_cause_ns[i] != expected[i])
			fail_msg("%s: %lld, expected %lld", gap_cause_key(i),
				 (long long)result.gaps->devices[0].by_cause_ns[i],
				 (long long)expected[i]);
	done(b, result);
}

/* Kernel P runs [0, 1000); N starts at 11000, launched by a call [start_ns, end_ns) of thread 0. */
static struct builder *one_gap(const char *name, enum profile_call_class class, int64_t start_ns,
			       int64_t end_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t first = builder_launch(b, 0, -500, -400);

	builder_kernel(b, 0, "P", 0, 1000, first);
	builder_kernel(b, 0, "N", 11000, 12000, builder_call(b, 0, name, class, start_ns, end_ns));
	return b;
}

static struct builder *launched(int64_t start_ns, int64_t end_ns)
{
	return one_gap("cudaLaunchKernel", CALL_LAUNCH, start_ns, end_ns);
}

static void test_queued(void **state)
{
	(void)state;
	expect(launched(500, 1000), GAP_DEVICE, 10000, -1);
}

static void test_launch(void **state)
{
	(void)state;
	expect(launched(500, 8000), GAP_LAUNCH, 10000, -1);
}

static void test_host(void **state)
{
	(void)state;
	expect(launched(7000, 9000), GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_sync(void **state)
{
	struct builder *b = launched(7000, 9000);

	(void)state;
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, -300, 3000);
	expect(b, GAP_SYNC, 2000, GAP_HOST, 4000, GAP_LAUNCH, 4000, -1);
}

static void test_classes(void **state)
{
	struct builder *b = launched(10000, 11000);

	(void)state;
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 1000, 1100);
	builder_call(b, 0, "cudaMemcpy", CALL_COPY, 1200, 1400);
	builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 1400, 1700);
	builder_call(b, 0, "cudaGraphInstantiate", CALL_GRAPH_MANAGE, 2000, 2400);
	builder_call(b, 0, "cuModuleLoadData", CALL_MODULE, 3000, 3500);
	builder_call(b, 0, "cudaEventRecord", CALL_EVENT, 4000, 4600);
	builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 5000, 5700);
	builder_call(b, 0, "cudaGetDevice", CALL_OTHER, 6000, 6800);
	expect(b, GAP_MEMORY, 300, GAP_GRAPH, 400, GAP_MODULE, 500, GAP_LAUNCH,
	       300 + 600 + 700 + 1000, GAP_HOST, 9000 - 300 - 400 - 500 - 300 - 600 - 700, -1);
}

static void test_other_thread(void **state)
{
	struct builder *b = launched(7000, 9000);
	uint32_t other = builder_thread(b, 0);

	(void)state;
	builder_call(b, other, "cudaStreamSynchronize", CALL_SYNC, -300, 10000);
	expect(b, GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_blocking_copy_launches(void **state)
{
	(void)state;
	expect(one_gap("cudaMemcpy", CALL_COPY, 500, 11500), GAP_MEMORY, 10000, -1);
	expect(one_gap("cudaMemcpyAsync", CALL_COPY, 500, 11500), GAP_LAUNCH, 10000, -1);
	expect(one_gap("cuModuleLoad", CALL_MODULE, 500, 11500), GAP_MODULE, 10000, -1);
}

static void test_late_start(void **state)
{
	(void)state;
	/* no launch was on time: the limit is its least, 5 us */
	expect(launched(500, 2000), GAP_LAUNCH, 10000, -1);
	{
		struct builder *b = builder_new(1, 1);

		builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
		builder_kernel(b, 0, "N", 101000, 102000, builder_launch(b, 0, 500, 2000));
		expect(b, GAP_LAUNCH, 1000 + GAP_LATENCY_MIN_NS, GAP_DEVICE,
		       100000 - 1000 - GAP_LATENCY_MIN_NS, -1);
	}
}

static void test_latency_is_measured(void **state)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	(void)state;
	/* 18 launches take 8 us, 2 take 15 us: the 90th percentile is 8 us */
	builder_kernel(b, 0, "k", now, now + 1000, builder_launch(b, 0, now - 500, now - 400));
	for (int i = 0; i < 20; i++) {
		int64_t latency = i < 18 ? 8000 : 15000;

		builder_kernel(b, 0, "k", now + 3000 + latency, now + 4000 + latency,
			       builder_launch(b, 0, now + 1000, now + 3000));
		now += 3000 + latency;
	}
	expect(b, GAP_LAUNCH, 20 * (2000 + 8000), GAP_DEVICE, 2 * 7000, -1);
}

static void test_profiler_first(void **state)
{
	struct builder *b = launched(7000, 9000);

	(void)state;
	builder_overhead(b, 0, 0, true, 2000, 3000);
	builder_overhead(b, 0, 0, true, 2500, 3500);
	builder_overhead(b, 0, 0, true, 9500, 20000); /* after the launch it holds nothing up */
	builder_overhead(b, 0, 0, false, 3000, 4000); /* half of it is the profiler's */
	expect(b, GAP_PROFILER, 1500, GAP_MODULE, 500, GAP_HOST, 4000, GAP_LAUNCH, 4000, -1);
}

static void test_profiler_of_other_thread(void **state)
{
	struct builder *b = builder_new(2, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 7000, 9000));
	builder_overhead(b, 1, 1, true, 0, 20000);
	builder_overhead(b, 0, PROFILE_NONE, true, 0, 20000);
	expect(b, GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_lazy_loading(void **state)
{
	struct builder *b = launched(2000, 9000);

	(void)state;
	builder_overhead(b, 0, 0, false, 3000, 8000);
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 1500, .end_ns = 1700, .thread = 0};
	/* what happens on the thread after the launch does not hold the kernel up */
	builder_overhead(b, 0, 0, false, 9500, 10000);
	expect(b, GAP_MODULE, 5200, GAP_HOST, 800, GAP_LAUNCH, 4000, -1);
}

static void test_graph_nodes(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, -500, 50);

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct profile_op *op =
			builder_kernel(b, 0, "n", (int64_t)i * 20, (int64_t)i * 20 + 10, call);

		op->graph = 7;
		op->graph_node = i + 1;
	}
	expect(b, GAP_DEVICE, 20, -1);
}

static void test_graph_launches_apart(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					     i * 1000 - 100, i * 1000 - 50);
		struct profile_op *op = builder_kernel(b, 0, "n", i * 1000, i * 1000 + 100, call);

		op->graph = 7;
		op->graph_node = 1;
	}
	expect(b, GAP_HOST, 800, GAP_LAUNCH, 100, -1);
}

static void test_conditional_body(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, -500, -400);
	struct profile_op *op;

	(void)state;
	op = builder_kernel(b, 0, "n", 0, 10, call);
	op->graph = 7;
	op->graph_node = 1;
	op = builder_kernel(b, 0, "n", 30, 40, PROFILE_NONE); /* correlation 0 */
	op->graph = 7;
	op->graph_node = 2;
	op = builder_kernel(b, 0, "n", 90, 100, PROFILE_NONE);
	op->graph = 8; /* nothing tells who launched this one */
	op->graph_node = 3;
	expect(b, GAP_DEVICE, 20, GAP_UNKNOWN, 50, -1);
}

static void test_device_launched(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_graph(b, 0, 0, 0, 10, builder_call(b, 0, "l", CALL_GRAPH_LAUNCH, -9, -8));
	builder_graph(b, 0, 2, 30, 40, PROFILE_NONE);
	expect(b, GAP_DEVICE, 20, -1);
}

static void test_unknown(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 10, PROFILE_NONE);
	builder_kernel(b, 0, "N", 30, 40, PROFILE_NONE);
	builder_overhead(b, 0, 0, true, 12, 15); /* nobody knows that it was this thread */
	expect(b, GAP_UNKNOWN, 20, -1);
}

static void test_earliest_launch(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = builder_thread(b, 0);
	struct result result;

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "late", 11000, 11500, builder_launch(b, 0, 9000, 10000));
	builder_kernel(b, 0, "early", 11000, 12000, builder_launch(b, other, 8000, 10000));
	result = analyze(b, 1);
	assert_string_equal(b->signatures[b->ops[result.gaps->longest[0].after].detail].name,
			    "early");
	assert_int_equal(result.gaps->devices[0].by_cause_ns[GAP_HOST], 7000);
	done(b, result);
}

static void test_skewed_clock(void **state)
{
	(void)state;
	/* the kernel starts before its launch, as interpolated clocks may say */
	expect(launched(11200, 11900), GAP_HOST, 10000, -1);
}

static void test_longest(void **state)
{
	struct builder *b = builder_new(1, 1);
	static const int lengths[] = {5, 90, 30, 70, 30, 10, 80, 20};
	struct result result;
	int64_t now = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		builder_kernel(b, 0, "k", now, now + 10, PROFILE_NONE);
		now += 10 + lengths[i];
	}
	builder_kernel(b, 0, "k", now, now + 10, PROFILE_NONE);
	result = analyze(b, 5);
	assert_int_equal(result.gaps->longest_count, 5);
	for (size_t i = 0; i < 5; i++) {
		static const int expected[] = {90, 80, 70, 30, 30};
		const struct gap *gap = &result.gaps->longest[i];

		assert_int_equal(gap->end_ns - gap->start_ns, expected[i]);
		assert_int_equal(b->ops[gap->before].end_ns, gap->start_ns);
		assert_int_equal(b->ops[gap->after].start_ns, gap->end_ns);
	}
	assert_true(result.gaps->longest[3].start_ns < result.gaps->longest[4].start_ns);
	assert_int_equal(result.gaps->devices[0].gap_count, 8);
	assert_int_equal(result.gaps->devices[0].gap_count_by_cause[GAP_UNKNOWN], 8);
	done(b, result);
}

static void test_before_ended_last(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct result result;

	(void)state;
	builder_kernel(b, 0, "long", 0, 100, PROFILE_NONE);
	builder_kernel(b, 0, "short", 10, 20, PROFILE_NONE);
	builder_kernel(b, 0, "next", 150, 160, PROFILE_NONE);
	result = analyze(b, 5);
	assert_string_equal(b->signatures[b->ops[result.gaps->longest[0].before].detail].name,
			    "long");
	done(b, result);
}

static int stop_at_second(const struct gap *gap, void *context)
{
	int *seen = context;

	(void)gap;
	return ++*seen == 2 ? 42 : 0;
}

static void test_visit_stops(void **state)
{
	struct builder *b = builder_new(1, 1);
	int seen = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		builder_kernel(b, 0, "k", i * 20, i * 20 + 10, PROFILE_NONE);
	assert_int_equal(gaps_visit(builder_finish(b), NULL, 0, stop_at_second, &seen), 42);
	assert_int_equal(seen, 2);
	free(b);
}

/* ---- random profiles ---- */

static const struct {
	const char *name;
	enum profile_call_class class;
	enum gap_cause inside, launching;
} random_calls[] = {
	{"cudaLaunchKernel", CALL_LAUNCH, GAP_LAUNCH, GAP_LAUNCH},
	{"cudaMemcpyAsync", CALL_COPY, GAP_LAUNCH, GAP_LAUNCH},
	{"cudaMemcpy", CALL_COPY, GAP_MEMORY, GAP_MEMORY},
	{"cudaStreamSynchronize", CALL_SYNC, GAP_SYNC, GAP_MEMORY},
	{"cudaMalloc", CALL_MEMORY, GAP_MEMORY, GAP_MEMORY},
	{"cudaGraphInstantiate", CALL_GRAPH_MANAGE, GAP_GRAPH, GAP_GRAPH},
	{"cuModuleLoad", CALL_MODULE, GAP_MODULE, GAP_MODULE},
	{"cudaGetDevice", CALL_OTHER, GAP_HOST, GAP_LAUNCH},
};

static size_t random_call_of(const char *name)
{
	size_t i = 0;

	while (strcmp(random_calls[i].name, name))
		i++;
	return i;
}

/* Calls one after the other on each thread; each may launch some kernels somewhat later. */
static struct builder *random_profile(int scale)
{
	struct builder *b = builder_new(2, 2);

	builder_thread(b, 0);
	for (uint32_t thread = 0; thread < 3; thread++) {
		int64_t now = rand() % (10 * scale);

		for (int i = 0; i < 12; i++) {
			size_t kind = (size_t)rand() % 8;
			int64_t end = now + 1 + rand() % (8 * scale);
			uint32_t call = builder_call(b, thread, random_calls[kind].name,
						     random_calls[kind].class, now, end);

			for (int j = rand() % 3; j > 0; j--) {
				int64_t start = now + rand() % (20 * scale) - scale;
				uint32_t device = rand() % 4 == 0;

				builder_kernel(b,
					       builder_stream(b, b->threads[thread].process,
							      device),
					       "k", start, start + rand() % (6 * scale),
					       rand() % 10 ? call : PROFILE_NONE);
			}
			now = end + rand() % (6 * scale);
		}
	}
	for (int i = 0; i < 6; i++) {
		int64_t start = rand() % (100 * scale);
		uint32_t thread = (uint32_t)rand() % 3;

		builder_overhead(b, b->threads[thread].process, rand() % 4 ? thread : PROFILE_NONE,
				 rand() % 2, start, start + rand() % (5 * scale));
	}
	return b;
}

static void test_sums(void **state)
{
	(void)state;
	srand(20240602);
	for (int round = 0; round < 2000; round++) {
		struct builder *b = random_profile(round % 2 ? 4 : 2000);
		struct result result = analyze(b, 7);

		for (size_t i = 0; i < 2; i++) {
			const struct gap_device *device = &result.gaps->devices[i];
			int64_t sum = 0;

			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
				assert_true(device->by_cause_ns[cause] >= 0);
				sum += device->by_cause_ns[cause];
			}
			assert_int_equal(sum, device->idle_ns);
			assert_int_equal(device->wall_ns, device->busy_ns + device->idle_ns);
		}
		for (size_t i = 0; i < result.gaps->longest_count; i++) {
			const struct gap *gap = &result.gaps->longest[i];
			int64_t sum = 0;

			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
				sum += gap->by_cause_ns[cause];
			assert_int_equal(sum, gap->end_ns - gap->start_ns);
		}
		done(b, result);
	}
}

/* The rule for one nanosecond, written down a second time without any arithmetic on spans. */
static enum gap_cause cause_of_moment(const struct profile *profile, const struct profile_op *after,
				      int64_t gap_start, int64_t t)
{
	const struct profile_call *call;
	bool in_call = false;
	enum gap_cause cause;

	if (after->call == PROFILE_NONE)
		return GAP_UNKNOWN;
	call = &profile->calls[after->call];
	if (call->end_ns <= gap_start)
		return GAP_DEVICE;
	if (t >= call->end_ns + GAP_LATENCY_MIN_NS)
		return GAP_DEVICE;
	for (size_t i = 0; t < call->end_ns && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (overhead->is_profiler && overhead->start_ns <= t && t < overhead->end_ns &&
		    overhead->thread == call->thread)
			return GAP_PROFILER;
	}
	for (size_t i = 0; t < call->end_ns && i < profile->overhead_count; i++) {
		const struct profile_overhead *overhead = &profile->overheads[i];

		if (!overhead->is_profiler && overhead->start_ns <= t && t < overhead->end_ns &&
		    overhead->thread == call->thread)
			return GAP_MODULE;
	}
	if (t >= call->start_ns)
		return random_calls[random_call_of(profile->call_names[call->name].text)].launching;
	cause = GAP_HOST;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *other = &profile->calls[i];

		if (other->thread != call->thread || other->start_ns > t || t >= other->end_ns)
			continue;
		assert_false(in_call);
		in_call = true;
		cause = random_calls[random_call_of(profile->call_names[other->name].text)].inside;
	}
	return cause;
}

static const struct profile_op *after_of(const struct profile *profile, size_t device, int64_t end)
{
	const struct profile_op *best = NULL;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->device != device || op->start_ns != end)
			continue;
		if (!best ||
		    (op->call != PROFILE_NONE &&
		     (best->call == PROFILE_NONE ||
		      profile->calls[op->call].start_ns < profile->calls[best->call].start_ns)))
			best = op;
	}
	return best;
}

static bool is_busy(const struct profile *profile, size_t device, int64_t t)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].device == device && profile->ops[i].start_ns <= t &&
		    t < profile->ops[i].end_ns)
			return true;
	return false;
}

static void count_moments(const struct profile *profile, const struct timeline_device *times,
			  size_t device, int64_t *by_cause_ns)
{
	for (int64_t t = times->first_ns; t < times->last_ns;) {
		int64_t end = t;

		if (is_busy(profile, device, t)) {
			t++;
			continue;
		}
		/* operations of no length end a gap too */
		do
			end++;
		while (!is_busy(profile, device, end) && !after_of(profile, device, end) &&
		       end < times->last_ns);
		for (int64_t moment = t; moment < end; moment++)
			by_cause_ns[cause_of_moment(profile, after_of(profile, device, end), t,
						    moment)]++;
		t = end;
	}
}

static void test_against_counting(void **state)
{
	(void)state;
	srand(20240603);
	for (int round = 0; round < 300; round++) {
		struct builder *b = random_profile(4);
		struct result result = analyze(b, 0);

		for (size_t i = 0; i < 2; i++) {
			int64_t expected[GAP_CAUSE_COUNT] = {0};

			count_moments(&b->profile, &result.timeline->devices[i], i, expected);
			for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
				if (expected[cause] != result.gaps->devices[i].by_cause_ns[cause])
					fail_msg("round %d, %s: %lld, counted %lld", round,
						 gap_cause_key(cause),
						 (long long)result.gaps->devices[i]
							 .by_cause_ns[cause],
						 (long long)expected[cause]);
		}
		done(b, result);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("work that was queued before the gap waits for the device", test_queued),
		SENTENCE("a launch call that is still running when the gap begins is launch",
			 test_launch),
		SENTENCE("the thread's own code before the launch is host compute", test_host),
		SENTENCE("a wait that goes on after the GPU is idle is synchronisation", test_sync),
		SENTENCE("calls before the launch count by their class", test_classes),
		SENTENCE("calls of other threads do not matter", test_other_thread),
		SENTENCE("a launching call that blocks is no launch", test_blocking_copy_launches),
		SENTENCE("what starts long after its call returned waits for the device",
			 test_late_start),
		SENTENCE("the launch latency is the recording's 90th percentile",
			 test_latency_is_measured),
		SENTENCE("the profiler's overhead comes before every other cause",
			 test_profiler_first),
		SENTENCE("the profiler's overhead on another thread does not matter",
			 test_profiler_of_other_thread),
		SENTENCE("code loaded inside the launch call is module load", test_lazy_loading),
		SENTENCE("between nodes of one graph launch the device schedules",
			 test_graph_nodes),
		SENTENCE("between two launches of a graph the host's calls count",
			 test_graph_launches_apart),
		SENTENCE("bodies of conditional nodes follow their graph", test_conditional_body),
		SENTENCE("a graph launched by the device waits for the device",
			 test_device_launched),
		SENTENCE("without API calls the cause is unknown", test_unknown),
		SENTENCE("of operations that start together the first launched ended the gap",
			 test_earliest_launch),
		SENTENCE("a kernel that starts before its launch keeps the sum right",
			 test_skewed_clock),
		SENTENCE("the longest gaps are kept in order, with their neighbours", test_longest),
		SENTENCE("the neighbour before a gap is the operation that ended last",
			 test_before_ended_last),
		SENTENCE("a visitor can stop and pass its result on", test_visit_stops),
		SENTENCE("causes add up to idle time in random recordings", test_sums),
		SENTENCE("random recordings agree with judging every nanosecond",
			 test_against_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
