/* Gaps by what work waited for on the device, and which gaps are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_gaps.h"

/* ---- dependencies across streams ---- */

/* P runs on one stream until 1000, N on another from 3000, in a process with a legacy stream. */
static struct builder *on_streams(bool is_null_before, bool is_null_after, uint32_t flag,
				  bool has_event)
{
	struct builder *b = builder_new(1, 1);
	struct profile_stream *second = &b->streams[b->profile.stream_count++];

	*second = b->streams[0];
	b->streams[0].is_null = is_null_before;
	second->is_null = is_null_after;
	b->streams[0].flag = is_null_before ? 3 : flag;
	second->flag = is_null_after ? 3 : flag;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -9500, -9400));
	if (has_event)
		builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, -9300, -9250);
	builder_kernel(b, 1, "N", 3000, 4000, builder_launch(b, 0, -9200, -9100));
	return b;
}

static void test_dependencies(void **state)
{
	(void)state;
	gaps_expect(on_streams(false, false, 1, true), GAP_DEPENDENCY, 2000, -1);
	gaps_expect(on_streams(false, false, 1, false), GAP_DEVICE, 2000, -1);
	gaps_expect(on_streams(true, false, 1, false), GAP_DEPENDENCY, 2000, -1);
	gaps_expect(on_streams(false, true, 1, false), GAP_DEPENDENCY, 2000, -1);
	/* cudaStreamNonBlocking */
	gaps_expect(on_streams(true, false, 2, false), GAP_DEVICE, 2000, -1);
	gaps_expect(on_streams(false, true, 2, false), GAP_DEVICE, 2000, -1);
}

/* P and N in one stream. */
static struct builder *in_one_stream(size_t device_count)
{
	struct builder *b = builder_new(1, device_count);

	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -9500, -9400));
	builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, -9300, -9250);
	builder_kernel(b, 0, "N", 3000, 4000, builder_launch(b, 0, -9200, -9100));
	return b;
}

static void test_wait_in_one_stream(void **state)
{
	(void)state;
	/* P ended last: whatever the event stood for had ended before */
	gaps_expect(in_one_stream(1), GAP_DEVICE, 2000, -1);
	/* unless it was the work of another device */
	gaps_expect(in_one_stream(2), GAP_DEPENDENCY, 2000, -1);
}

static void test_waited_before_another_launch(void **state)
{
	struct builder *b = on_streams(false, false, 1, true);

	(void)state;
	/* the wait was for N: what the thread launched after it waits for nobody */
	builder_kernel(b, 1, "M", 6000, 7000, builder_launch(b, 0, -9090, -9050));
	gaps_expect(b, GAP_DEPENDENCY, 2000, GAP_DEVICE, 2000, -1);
}

static void test_not_yet_launched_depends_on_nobody(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, 1000, 1500);
	builder_kernel(b, 0, "N", 3000, 4000, builder_launch(b, 0, 1500, 2500));
	gaps_expect(b, GAP_LAUNCH, 2000, -1);
}

/* ---- graphs ---- */

static void test_graph_calls(void **state)
{
	static const struct {
		const char *name;
		enum gap_cause cause;
	} calls[] = {
		{"cudaStreamBeginCapture", GAP_CAPTURE},
		{"cudaStreamIsCapturing", GAP_CAPTURE},
		{"cuStreamUpdateCaptureDependencies", GAP_CAPTURE},
		{"cudaGraphInstantiateWithFlags", GAP_INSTANTIATE},
		{"cudaGraphExecUpdate", GAP_UPDATE},
		{"cudaGraphExecKernelNodeSetParams", GAP_UPDATE},
		{"cudaGraphNodeSetEnabled", GAP_UPDATE},
		{"cudaGraphAddKernelNode", GAP_GRAPH},
		{"cudaGraphUpload", GAP_GRAPH},
		{"cudaGraphExecDestroy", GAP_GRAPH},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct builder *b = gap_launched(7000, 9000);

		builder_call(b, 0, calls[i].name, CALL_GRAPH_MANAGE, 2000, 4500);
		gaps_expect(b, calls[i].cause, 2500, GAP_HOST, 3500, GAP_LAUNCH, 4000, -1);
	}
}

static void test_launches_into_a_capture(void **state)
{
	struct builder *b = gap_launched(7000, 9000);
	uint32_t other = builder_thread(b, 0);

	(void)state;
	builder_call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 1000, 1100);
	builder_launch(b, 0, 1200, 1500);
	builder_call(b, 0, "cudaMallocAsync", CALL_MEMORY, 1600, 1800);
	builder_call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 2000, 2200);
	builder_launch(b, 0, 3000, 3300); /* after it, to the device again */
	gaps_expect(b, GAP_CAPTURE, 100 + 300 + 200 + 200, GAP_LAUNCH, 300 + 4000, GAP_HOST,
		    10000 - 800 - 4300, -1);
	b = gap_launched(7000, 9000);
	builder_call(b, other, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 1000, 1100);
	builder_launch(b, 0, 1200, 1500); /* this thread captures nothing */
	builder_call(b, other, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 2000, 2200);
	builder_thread(b, 0);
	gaps_expect(b, GAP_LAUNCH, 300 + 4000, GAP_HOST, 5700, -1);
}

static void test_graph_nodes(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, -500, 50);

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct profile_op *op =
			builder_kernel(b, 0, "n", (int64_t)i * 20, (int64_t)i * 20 + 10, call);

		builder_ids(b, op)->graph = 7;
		builder_ids(b, op)->graph_node = i + 1;
	}
	gaps_expect(b, GAP_DEVICE, 20, -1);
}

/* A kernel and then a copy of one graph, 20 ns apart, or the other way round. */
static struct builder *copied_in_graph(uint32_t kind, uint32_t memory, bool is_copy_first)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, -500, -50);
	struct profile_copy copy = {.bytes = 1 << 20,
				    .kind = kind,
				    .src_memory = kind == COPY_TO_DEVICE ? memory : 3,
				    .dst_memory = kind == COPY_TO_HOST ? memory : 3};
	struct profile_op *op =
		builder_kernel(b, 0, "n", is_copy_first ? 30 : 0, is_copy_first ? 40 : 10, call);

	builder_ids(b, op)->graph = 7;
	builder_ids(b, op)->graph_node = 1;
	op = builder_copy(b, 0, copy, is_copy_first ? 0 : 30, is_copy_first ? 10 : 40, call);
	builder_ids(b, op)->graph = 7;
	builder_ids(b, op)->graph_node = 2;
	return b;
}

static void test_pageable_in_graph(void **state)
{
	(void)state;
	gaps_expect(copied_in_graph(COPY_TO_DEVICE, MEMORY_PAGEABLE, false), GAP_STAGING, 20, -1);
	gaps_expect(copied_in_graph(COPY_TO_HOST, MEMORY_PAGEABLE, false), GAP_STAGING, 20, -1);
	/* what came out of a buffer has been carried on before the next node */
	gaps_expect(copied_in_graph(COPY_TO_HOST, MEMORY_PAGEABLE, true), GAP_STAGING, 20, -1);
	gaps_expect(copied_in_graph(COPY_TO_DEVICE, MEMORY_PAGEABLE, true), GAP_DEVICE, 20, -1);
	gaps_expect(copied_in_graph(COPY_TO_DEVICE, MEMORY_PINNED, false), GAP_DEVICE, 20, -1);
}

/* ---- child kernels ---- */

/* Kernel P four times, all queued long before, with so much time behind each but the last. */
static struct builder *parents(const int64_t pauses_ns[3])
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < 4; i++) {
		builder_kernel(b, 0, "P", now, now + 1000,
			       builder_launch(b, 0, -90000 + 100 * i, -90000 + 100 * i + 50));
		now += 1000 + (i < 3 ? pauses_ns[i] : 0);
	}
	return b;
}

static void test_children(void **state)
{
	struct builder *b;

	(void)state;
	gaps_expect(parents((int64_t[]){14000, 30000, 25000}), GAP_CHILDREN, 69000, -1);
	/* what is queued behind any kernel starts within microseconds */
	gaps_expect(parents((int64_t[]){6000, 5000, 6000}), GAP_DEVICE, 17000, -1);
	gaps_expect(parents((int64_t[]){6000, 500000, 6000}), GAP_DEVICE, 512000, -1);
	/* a host function may run meanwhile */
	b = parents((int64_t[]){14000, 30000, 25000});
	builder_call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, -95000, -94000);
	gaps_expect(b, GAP_DEVICE, 69000, -1);
}

/* The host is in a wait when P ends at 1000, and until so long after it; then it launches N. */
static struct builder *waited_for(int64_t long_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t end_ns = 1000 + long_ns;

	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_call(b, 0, "cudaDeviceSynchronize", CALL_SYNC, -300, end_ns);
	builder_kernel(b, 0, "N", end_ns + 4000, end_ns + 5000,
		       builder_launch(b, 0, end_ns + 1000, end_ns + 3000));
	return b;
}

static void test_waited_for_children(void **state)
{
	struct builder *b;

	(void)state;
	gaps_expect(waited_for(500000), GAP_CHILDREN, 500000, GAP_HOST, 1000, GAP_LAUNCH, 3000, -1);
	/* as long as it may take until a thread runs again */
	gaps_expect(waited_for(60000), GAP_SYNC, 60000, GAP_HOST, 1000, GAP_LAUNCH, 3000, -1);
	/* some of what ran was left out on request */
	b = waited_for(500000);
	b->processes[0].is_filtered = true;
	gaps_expect(b, GAP_SYNC, 500000, GAP_HOST, 1000, GAP_LAUNCH, 3000, -1);
}

static void test_graph_launches_apart(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					     i * 1000 - 100, i * 1000 - 50);
		struct profile_op *op = builder_kernel(b, 0, "n", i * 1000, i * 1000 + 100, call);

		builder_ids(b, op)->graph = 7;
		builder_ids(b, op)->graph_node = 1;
	}
	gaps_expect(b, GAP_HOST, 800, GAP_LAUNCH, 100, -1);
}

static void test_conditional_body(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, -500, -400);
	struct profile_op *op;

	(void)state;
	op = builder_kernel(b, 0, "n", 0, 10, call);
	builder_ids(b, op)->graph = 7;
	builder_ids(b, op)->graph_node = 1;
	op = builder_kernel(b, 0, "n", 30, 40, PROFILE_NONE); /* correlation 0 */
	builder_ids(b, op)->graph = 7;
	builder_ids(b, op)->graph_node = 2;
	op = builder_kernel(b, 0, "n", 90, 100, PROFILE_NONE);
	builder_ids(b, op)->graph = 8; /* nothing tells who launched this one */
	builder_ids(b, op)->graph_node = 3;
	gaps_expect(b, GAP_DEVICE, 20, GAP_UNKNOWN, 50, -1);
}

static void test_body_comes_first(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct profile_op *op;

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	/* no operation names this launch */
	builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 2000, 2500);
	op = builder_kernel(b, 0, "n", 3000, 4000, PROFILE_NONE);
	builder_ids(b, op)->graph = 7;
	builder_ids(b, op)->graph_node = 1;
	gaps_expect(b, GAP_HOST, 1000, GAP_LAUNCH, 1000, -1);
}

static void test_device_launched(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_graph(b, 0, 0, 0, 10, builder_call(b, 0, "l", CALL_GRAPH_LAUNCH, -9, -8));
	builder_graph(b, 0, 2, 30, 40, PROFILE_NONE);
	gaps_expect(b, GAP_DEVICE, 20, -1);
}

static void test_unknown(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 10, PROFILE_NONE);
	builder_kernel(b, 0, "N", 30, 40, PROFILE_NONE);
	builder_overhead(b, 0, 0, true, 12, 15); /* nobody knows that it was this thread */
	gaps_expect(b, GAP_UNKNOWN, 20, -1);
}

static void test_earliest_launch(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = builder_thread(b, 0);
	struct gaps_result result;

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "late", 11000, 11500, builder_launch(b, 0, 9000, 10000));
	builder_kernel(b, 0, "early", 11000, 12000, builder_launch(b, other, 8000, 10000));
	result = gaps_of(b, 1);
	assert_string_equal(b->signatures[b->ops[result.gaps->longest[0].after].detail].name,
			    "early");
	assert_int_equal(result.gaps->devices[0].by_cause_ns[GAP_HOST], 7000);
	gaps_done(b, result);
}

static void test_skewed_clock(void **state)
{
	(void)state;
	/* the kernel starts before its launch, as interpolated clocks may say */
	gaps_expect(gap_launched(11200, 11900), GAP_HOST, 10000, -1);
}

static void test_longest(void **state)
{
	struct builder *b = builder_new(1, 1);
	static const int lengths[] = {5, 90, 30, 70, 30, 10, 80, 20};
	struct gaps_result result;
	int64_t now = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		builder_kernel(b, 0, "k", now, now + 10, PROFILE_NONE);
		now += 10 + lengths[i];
	}
	builder_kernel(b, 0, "k", now, now + 10, PROFILE_NONE);
	result = gaps_of(b, 5);
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
	gaps_done(b, result);
}

static void test_before_ended_last(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct gaps_result result;

	(void)state;
	builder_kernel(b, 0, "long", 0, 100, PROFILE_NONE);
	builder_kernel(b, 0, "short", 10, 20, PROFILE_NONE);
	builder_kernel(b, 0, "next", 150, 160, PROFILE_NONE);
	result = gaps_of(b, 5);
	assert_string_equal(b->signatures[b->ops[result.gaps->longest[0].before].detail].name,
			    "long");
	gaps_done(b, result);
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
	struct gaps_result result;
	int seen = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		builder_kernel(b, 0, "k", i * 20, i * 20 + 10, PROFILE_NONE);
	result = gaps_of(b, 0);
	assert_int_equal(gaps_visit(result.gaps, 0, stop_at_second, &seen), 42);
	assert_int_equal(seen, 2);
	gaps_done(b, result);
}

static int add_idle(const struct gap *gap, void *context)
{
	int64_t *idle_ns = context;

	*idle_ns += gap->by_cause_ns[GAP_LAUNCH];
	return 0;
}

/* The launch latency is each device's own, whichever is visited first and how often. */
static void test_visits_are_independent(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct gaps_result result;
	int64_t first_ns = 0, again_ns = 0, other_ns = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		int64_t at_ns = 100000 * i;

		builder_kernel(b, 0, "k", at_ns + 12000, at_ns + 13000,
			       builder_launch(b, 0, at_ns, at_ns + 1000));
		builder_kernel(b, 1, "k", at_ns + 50000, at_ns + 51000,
			       builder_launch(b, 0, at_ns + 40000, at_ns + 48000));
	}
	result = gaps_of(b, 0);
	assert_int_equal(gaps_visit(result.gaps, 1, add_idle, &other_ns), 0);
	assert_int_equal(gaps_visit(result.gaps, 0, add_idle, &first_ns), 0);
	assert_int_equal(gaps_visit(result.gaps, 0, add_idle, &again_ns), 0);
	assert_int_equal(first_ns, result.gaps->devices[0].by_cause_ns[GAP_LAUNCH]);
	assert_int_equal(again_ns, first_ns);
	/* the call of the other device, the own one, and what follows until the kernel starts */
	assert_int_equal(first_ns, 3 * (8000 + 1000 + 11000));
	assert_int_equal(other_ns, 3 * (1000 + 8000 + 2000));
	gaps_done(b, result);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("queued work waits for events and the legacy default stream",
			 test_dependencies),
		SENTENCE("a wait for an event holds nothing behind the last work of its own stream",
			 test_wait_in_one_stream),
		SENTENCE("a wait for an event holds the next operation, not all that follow",
			 test_waited_before_another_launch),
		SENTENCE("work that was not queued yet does not wait for an event",
			 test_not_yet_launched_depends_on_nobody),
		SENTENCE("graphs are told by what is done with them", test_graph_calls),
		SENTENCE("what goes into a captured graph is capture",
			 test_launches_into_a_capture),
		SENTENCE("a graph whose nodes name no call has its launch", test_body_comes_first),
		SENTENCE("between nodes of one graph launch the device schedules",
			 test_graph_nodes),
		SENTENCE("pageable memory that a graph copies goes through the driver's buffer",
			 test_pageable_in_graph),
		SENTENCE("kernels behind which queued work starts late may have children",
			 test_children),
		SENTENCE("a wait long after a kernel may be for its children",
			 test_waited_for_children),
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
		SENTENCE("the longest gaps are kept in order, with their neighbors", test_longest),
		SENTENCE("the neighbor before a gap is the operation that ended last",
			 test_before_ended_last),
		SENTENCE("a visitor can stop and pass its result on", test_visit_stops),
		SENTENCE("visits do not change what later visits find",
			 test_visits_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
