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
	expect(b, GAP_ALLOCATION, 100, GAP_COPY, 200, GAP_INSTANTIATE, 400, GAP_MODULE, 500,
	       GAP_LAUNCH, 300 + 600 + 700 + 1000, GAP_HOST,
	       9000 - 300 - 400 - 500 - 300 - 600 - 700, -1);
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
	expect(one_gap("cudaMemcpy", CALL_COPY, 500, 11500), GAP_COPY, 10000, -1);
	expect(one_gap("cudaMemcpyAsync", CALL_COPY, 500, 11500), GAP_LAUNCH, 10000, -1);
	expect(one_gap("cudaMemset", CALL_COPY, 500, 11500), GAP_LAUNCH, 10000, -1);
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
	expect(b, GAP_MODULE, 5000, GAP_JIT, 200, GAP_HOST, 800, GAP_LAUNCH, 4000, -1);
}

/* An overhead of that name within the launch call. */
static struct builder *with_overhead(const char *name)
{
	struct builder *b = launched(1000, 9000);

	builder_overhead(b, 0, 0, false, 3000, 4000);
	b->overheads[0].name = name;
	return b;
}

static void test_compiling(void **state)
{
	struct builder *b = with_overhead("driver compiler");

	(void)state;
	builder_overhead(b, 0, 0, false, 3500, 4500); /* loading what was compiled */
	expect(b, GAP_JIT, 1000, GAP_MODULE, 500, GAP_LAUNCH, 8500, -1);
	expect(with_overhead("lazy function loading"), GAP_MODULE, 1000, GAP_LAUNCH, 9000, -1);
	expect(with_overhead("command buffer full"), GAP_LAUNCH, 10000, -1);
}

/* ---- copies by memory ---- */

enum { UNKNOWN_MEMORY, PAGEABLE, PINNED, ON_DEVICE };
enum { TO_DEVICE = 1, TO_HOST = 2, DEVICE_TO_DEVICE = 8 };

/* As one_gap, where N is a copy. */
static struct builder *copied(const char *name, uint32_t from, uint32_t to, int64_t end_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call;

	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	call = builder_call(b, 0, name, CALL_COPY, 500, end_ns);
	builder_copy(b, 0,
		     (struct profile_copy){.bytes = 1 << 20,
					   .kind = from != ON_DEVICE ? TO_DEVICE
						   : to == ON_DEVICE ? DEVICE_TO_DEVICE
								     : TO_HOST,
					   .src_memory = from,
					   .dst_memory = to},
		     11000, 12000, call);
	return b;
}

static void test_copies_by_memory(void **state)
{
	(void)state;
	expect(copied("cudaMemcpy", PINNED, ON_DEVICE, 12500), GAP_COPY, 10000, -1);
	expect(copied("cudaMemcpy", UNKNOWN_MEMORY, ON_DEVICE, 12500), GAP_COPY, 10000, -1);
	expect(copied("cudaMemcpy", PAGEABLE, ON_DEVICE, 12500), GAP_STAGING, 10000, -1);
	expect(copied("cudaMemcpyAsync", ON_DEVICE, PAGEABLE, 12500), GAP_STAGING, 10000, -1);
	expect(copied("cudaMemcpyAsync", PINNED, ON_DEVICE, 12500), GAP_LAUNCH, 10000, -1);
	expect(copied("cudaMemcpy", ON_DEVICE, ON_DEVICE, 12500), GAP_LAUNCH, 10000, -1);
	/* once the call has returned its memory no longer matters */
	expect(copied("cudaMemcpyAsync", PAGEABLE, ON_DEVICE, 8000), GAP_STAGING, 7000, GAP_LAUNCH,
	       3000, -1);
}

/* ---- decisions of the host ---- */

/* Kernel P, then bytes of its result are copied to the host [2000, 3000) by a call that returns at
 * returned_ns; N starts at 11000, launched by a call [7000, 9000).  1000 ns of launch before. */
static struct builder *read_by(const char *name, uint32_t kind, uint64_t bytes, int64_t returned_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call;

	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	call = builder_call(b, 0, name, CALL_COPY, 1000, returned_ns);
	builder_copy(b, 0,
		     (struct profile_copy){.bytes = bytes,
					   .kind = kind,
					   .src_memory = kind == TO_HOST ? ON_DEVICE : PINNED,
					   .dst_memory = kind == TO_HOST ? PINNED : ON_DEVICE},
		     2000, 3000, call);
	return b;
}

static struct builder *then_launched(struct builder *b)
{
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 7000, 9000));
	return b;
}

static struct builder *then_waited(struct builder *b, int64_t start_ns, int64_t end_ns)
{
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, start_ns, end_ns);
	return b;
}

static struct builder *read_async(uint32_t kind, uint64_t bytes)
{
	return read_by("cudaMemcpyAsync", kind, bytes, 1500);
}

static void test_decision(void **state)
{
	(void)state;
	/* the wait's 2000, the host's 2000, and 4000 until the launched kernel starts */
	expect(then_launched(then_waited(read_async(TO_HOST, 256), 1500, 5000)), GAP_LAUNCH, 1000,
	       GAP_DECISION, 8000, -1);
	expect(then_launched(read_by("cudaMemcpy", TO_HOST, 4, 5000)), GAP_COPY, 1000, GAP_DECISION,
	       8000, -1);
}

static void test_late_decision(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);

	(void)state;
	builder_kernel(b, 0, "N", 101000, 102000, builder_launch(b, 0, 7000, 9000));
	expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 98000, -1);
}

static void test_no_decision(void **state)
{
	(void)state;
	/* too much for a decision */
	expect(then_launched(then_waited(read_async(TO_HOST, 257), 1500, 5000)), GAP_LAUNCH,
	       1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
	/* not to the host */
	expect(then_launched(then_waited(read_async(TO_DEVICE, 4), 1500, 5000)), GAP_LAUNCH,
	       1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
	/* not waited for, or for something else */
	expect(then_launched(read_async(TO_HOST, 4)), GAP_LAUNCH, 1000 + 4000, GAP_HOST, 4000, -1);
	expect(then_launched(then_waited(read_async(TO_HOST, 4), 1500, 2500)), GAP_LAUNCH,
	       1000 + 4000, GAP_HOST, 4000, -1);
}

static void test_decision_once(void **state)
{
	struct builder *b = then_launched(then_waited(read_async(TO_HOST, 4), 1500, 5000));

	(void)state;
	/* the next launch follows no read of its own */
	builder_kernel(b, 0, "M", 16000, 17000, builder_launch(b, 0, 13000, 15000));
	expect(b, GAP_LAUNCH, 1000 + 3000, GAP_DECISION, 8000, GAP_HOST, 1000, -1);
}

static void test_reading_on(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);
	struct profile_copy copy = {.bytes = 4, .kind = TO_HOST};

	(void)state;
	builder_copy(b, 0, copy, 11000, 12000,
		     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 7000, 9000));
	expect(b, GAP_LAUNCH, 1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
}

static void test_decision_of_other_thread(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);

	(void)state;
	builder_kernel(b, 0, "N", 11000, 12000,
		       builder_launch(b, builder_thread(b, 0), 7000, 9000));
	expect(b, GAP_LAUNCH, 1000 + 4000, GAP_HOST, 4000, -1);
}

static void test_decision_from_the_copy_on(void **state)
{
	struct builder *b = then_launched(then_waited(read_async(TO_HOST, 4), 1500, 5000));
	static const struct profile_copy flag = {.bytes = 4, .kind = TO_HOST};

	(void)state;
	/* of a gap that began before the read, and what else is done meanwhile stays what it is */
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 5000, 5600);
	builder_overhead(b, 0, 0, true, 6000, 6300);
	expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 8000 - 600 - 300, GAP_ALLOCATION, 600,
	       GAP_PROFILER, 300, -1);
	b = builder_new(1, 2);
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	/* the flag comes from another device: this one is idle from 1000 on */
	builder_copy(b, 1, flag, 2000, 3000,
		     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 1000, 1500));
	expect(then_launched(then_waited(b, 1500, 5000)), GAP_LAUNCH, 500, GAP_SYNC, 1500,
	       GAP_DECISION, 8000, -1);
}

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
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	if (has_event)
		builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, -300, -250);
	builder_kernel(b, 1, "N", 3000, 4000, builder_launch(b, 0, -200, -100));
	return b;
}

static void test_dependencies(void **state)
{
	(void)state;
	expect(on_streams(false, false, 1, true), GAP_DEPENDENCY, 2000, -1);
	expect(on_streams(false, false, 1, false), GAP_DEVICE, 2000, -1);
	expect(on_streams(true, false, 1, false), GAP_DEPENDENCY, 2000, -1);
	expect(on_streams(false, true, 1, false), GAP_DEPENDENCY, 2000, -1);
	/* cudaStreamNonBlocking */
	expect(on_streams(true, false, 2, false), GAP_DEVICE, 2000, -1);
	expect(on_streams(false, true, 2, false), GAP_DEVICE, 2000, -1);
}

static void test_waited_before_another_launch(void **state)
{
	struct builder *b = on_streams(false, false, 1, true);

	(void)state;
	/* the wait was for N: what the thread launched after it waits for nobody */
	builder_kernel(b, 1, "M", 6000, 7000, builder_launch(b, 0, -90, -50));
	expect(b, GAP_DEPENDENCY, 2000, GAP_DEVICE, 2000, -1);
}

static void test_not_yet_launched_depends_on_nobody(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_call(b, 0, "cudaStreamWaitEvent", CALL_EVENT, 1000, 1500);
	builder_kernel(b, 0, "N", 3000, 4000, builder_launch(b, 0, 1500, 2500));
	expect(b, GAP_LAUNCH, 2000, -1);
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
		struct builder *b = launched(7000, 9000);

		builder_call(b, 0, calls[i].name, CALL_GRAPH_MANAGE, 2000, 4500);
		expect(b, calls[i].cause, 2500, GAP_HOST, 3500, GAP_LAUNCH, 4000, -1);
	}
}

static void test_launches_into_a_capture(void **state)
{
	struct builder *b = launched(7000, 9000);
	uint32_t other = builder_thread(b, 0);

	(void)state;
	builder_call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 1000, 1100);
	builder_launch(b, 0, 1200, 1500);
	builder_call(b, 0, "cudaMallocAsync", CALL_MEMORY, 1600, 1800);
	builder_call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 2000, 2200);
	builder_launch(b, 0, 3000, 3300); /* after it, to the device again */
	expect(b, GAP_CAPTURE, 100 + 300 + 200 + 200, GAP_LAUNCH, 300 + 4000, GAP_HOST,
	       10000 - 800 - 4300, -1);
	b = launched(7000, 9000);
	builder_call(b, other, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 1000, 1100);
	builder_launch(b, 0, 1200, 1500); /* this thread captures nothing */
	builder_call(b, other, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 2000, 2200);
	builder_thread(b, 0);
	expect(b, GAP_LAUNCH, 300 + 4000, GAP_HOST, 5700, -1);
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

static void test_body_comes_first(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct profile_op *op;

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	/* no operation names this launch */
	builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 2000, 2500);
	op = builder_kernel(b, 0, "n", 3000, 4000, PROFILE_NONE);
	op->graph = 7;
	op->graph_node = 1;
	expect(b, GAP_HOST, 1000, GAP_LAUNCH, 1000, -1);
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
	{"cudaMemcpy", CALL_COPY, GAP_COPY, GAP_COPY},
	{"cudaStreamSynchronize", CALL_SYNC, GAP_SYNC, GAP_COPY},
	{"cudaMalloc", CALL_MEMORY, GAP_ALLOCATION, GAP_ALLOCATION},
	{"cudaGraphInstantiate", CALL_GRAPH_MANAGE, GAP_INSTANTIATE, GAP_INSTANTIATE},
	{"cudaGraphUpload", CALL_GRAPH_MANAGE, GAP_GRAPH, GAP_GRAPH},
	{"cudaStreamWaitEvent", CALL_EVENT, GAP_LAUNCH, GAP_LAUNCH},
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

/* A few bytes to the host, or too many of them to decide by. */
static void random_read(struct builder *b, uint32_t thread, uint32_t call, int64_t start_ns,
			int scale)
{
	struct profile_copy copy = {.bytes = 1 + (uint64_t)rand() % (2 * GAP_DECISION_BYTES),
				    .kind = TO_HOST};

	builder_copy(b, builder_stream(b, b->threads[thread].process, rand() % 4 == 0), copy,
		     start_ns, start_ns + rand() % (3 * scale), call);
}

/* Calls one after the other on each thread; each may launch some kernels somewhat later. */
static struct builder *random_profile(int scale)
{
	struct builder *b = builder_new(2, 2);

	builder_thread(b, 0);
	for (uint32_t thread = 0; thread < 3; thread++) {
		int64_t now = rand() % (10 * scale);

		for (int i = 0; i < 12; i++) {
			size_t kind = (size_t)rand() % 10;
			int64_t end = now + 1 + rand() % (8 * scale);
			uint32_t call = builder_call(b, thread, random_calls[kind].name,
						     random_calls[kind].class, now, end);

			if (random_calls[kind].class == CALL_COPY && rand() % 2)
				random_read(b, thread, call, now + rand() % (8 * scale), scale);
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

static const struct profile_op *small_read_of(const struct profile *profile, uint32_t call)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call == call && profile->ops[i].kind == OP_COPY &&
		    profile->copies[profile->ops[i].detail].bytes <= GAP_DECISION_BYTES)
			return &profile->ops[i];
	return NULL;
}

static bool submits(const struct profile *profile, uint32_t call)
{
	enum profile_call_class class = profile->call_names[profile->calls[call].name].call_class;

	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call == call)
			return true;
	return class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY;
}

/* The call of that name since the thread's last work before launch, or that work with NULL. */
static uint32_t last_before(const struct profile *profile, uint32_t launch, const char *name)
{
	for (uint32_t i = launch;
	     i-- > 0 && profile->calls[i].thread == profile->calls[launch].thread;) {
		const char *text = profile->call_names[profile->calls[i].name].text;

		if (submits(profile, i))
			return name ? PROFILE_NONE : i;
		if (name && !strcmp(text, name))
			return i;
	}
	return PROFILE_NONE;
}

static bool is_decided(const struct profile *profile, const struct profile_op *after, int64_t t)
{
	uint32_t work = last_before(profile, after->call, NULL);
	uint32_t wait = last_before(profile, after->call, "cudaStreamSynchronize");
	const struct profile_op *read = work == PROFILE_NONE ? NULL : small_read_of(profile, work);

	if (!read || t < read->end_ns || after->kind == OP_COPY)
		return false;
	if (wait != PROFILE_NONE)
		return profile->calls[wait].end_ns >= read->end_ns;
	return !strcmp(profile->call_names[profile->calls[work].name].text, "cudaMemcpy") &&
	       profile->calls[work].end_ns >= read->end_ns;
}

/* The rule for one nanosecond, without decisions, written down a second time without any arithmetic on spans. */
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
		return last_before(profile, after->call, "cudaStreamWaitEvent") != PROFILE_NONE
			       ? GAP_DEPENDENCY
			       : GAP_DEVICE;
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

static enum gap_cause decided_cause(const struct profile *profile, const struct profile_op *after,
				    int64_t gap_start, int64_t t)
{
	enum gap_cause cause = cause_of_moment(profile, after, gap_start, t);

	if (after->call == PROFILE_NONE || profile->calls[after->call].end_ns <= gap_start ||
	    !is_decided(profile, after, t))
		return cause;
	return cause == GAP_LAUNCH || cause == GAP_SYNC || cause == GAP_HOST || cause == GAP_COPY ||
			       cause == GAP_DEVICE
		       ? GAP_DECISION
		       : cause;
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
			by_cause_ns[decided_cause(profile, after_of(profile, device, end), t,
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
		SENTENCE("what is compiled is JIT, what is loaded module load", test_compiling),
		SENTENCE("copies that wait are told by their memory", test_copies_by_memory),
		SENTENCE("a few bytes read, waited for, then a launch: a decision", test_decision),
		SENTENCE("a decision lasts until what it launched starts, however late",
			 test_late_decision),
		SENTENCE("many bytes, to the device, or not waited for: no decision",
			 test_no_decision),
		SENTENCE("a decision ends with the launch that follows it", test_decision_once),
		SENTENCE("what reads on has not decided yet", test_reading_on),
		SENTENCE("what another thread read decides nothing here",
			 test_decision_of_other_thread),
		SENTENCE("a decision begins with its copy's end and leaves other work its own",
			 test_decision_from_the_copy_on),
		SENTENCE("queued work waits for events and the legacy default stream",
			 test_dependencies),
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
