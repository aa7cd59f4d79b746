/* Gaps by what the host did: calls, overheads, copies, decisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_gaps.h"
#include "trace/api_class.h"

static void test_queued(void **state)
{
	(void)state;
	gaps_expect(gap_launched(-6000, -5000), GAP_DEVICE, 10000, -1);
}

static void test_launch(void **state)
{
	(void)state;
	gaps_expect(gap_launched(500, 8000), GAP_LAUNCH, 10000, -1);
}

static void test_host(void **state)
{
	(void)state;
	gaps_expect(gap_launched(7000, 9000), GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_sync(void **state)
{
	struct builder *b = gap_launched(7000, 9000);

	(void)state;
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, -300, 3000);
	gaps_expect(b, GAP_SYNC, 2000, GAP_HOST, 4000, GAP_LAUNCH, 4000, -1);
}

static void test_classes(void **state)
{
	struct builder *b = gap_launched(10000, 11000);

	(void)state;
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 1000, 1100);
	builder_call(b, 0, "cudaMemcpy", CALL_COPY, 1200, 1400);
	builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 1400, 1700);
	builder_call(b, 0, "cudaGraphInstantiate", CALL_GRAPH_MANAGE, 2000, 2400);
	builder_call(b, 0, "cuModuleLoadData", CALL_MODULE, 3000, 3500);
	builder_call(b, 0, "cudaEventRecord", CALL_EVENT, 4000, 4600);
	builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 5000, 5700);
	builder_call(b, 0, "cudaGetDevice", CALL_OTHER, 6000, 6800);
	gaps_expect(b, GAP_ALLOCATION, 100, GAP_COPY, 200, GAP_INSTANTIATE, 400, GAP_MODULE, 500,
		    GAP_LAUNCH, 300 + 600 + 700 + 1000, GAP_HOST,
		    9000 - 300 - 400 - 500 - 300 - 600 - 700, -1);
}

static void test_other_thread(void **state)
{
	struct builder *b = gap_launched(7000, 9000);
	uint32_t other = builder_thread(b, 0);

	(void)state;
	builder_call(b, other, "cudaStreamSynchronize", CALL_SYNC, -300, 10000);
	gaps_expect(b, GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_blocking_copy_launches(void **state)
{
	(void)state;
	gaps_expect(gap_before("cudaMemcpy", CALL_COPY, 500, 11500), GAP_COPY, 10000, -1);
	gaps_expect(gap_before("cudaMemcpyAsync", CALL_COPY, 500, 11500), GAP_LAUNCH, 10000, -1);
	gaps_expect(gap_before("cudaMemset", CALL_COPY, 500, 11500), GAP_LAUNCH, 10000, -1);
	gaps_expect(gap_before("cuModuleLoad", CALL_MODULE, 500, 11500), GAP_MODULE, 10000, -1);
}

static void test_late_start(void **state)
{
	(void)state;
	/* no launch was on time: 5 us are on the way */
	gaps_expect(gap_launched(500, 2000), GAP_LAUNCH, 10000, -1);
	{
		struct builder *b = builder_new(1, 1);

		builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
		builder_kernel(b, 0, "N", 101000, 102000, builder_launch(b, 0, 500, 2000));
		gaps_expect(b, GAP_LAUNCH, 1000 + GAP_LATENCY_NS, GAP_DEVICE,
			    100000 - 1000 - GAP_LATENCY_NS, -1);
	}
}

static void test_latency_is_measured(void **state)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	(void)state;
	/* 11 launches take 2 us, 9 take 15 us: the median is 2 us */
	builder_kernel(b, 0, "k", now, now + 1000, builder_launch(b, 0, now - 500, now - 400));
	for (int i = 0; i < 20; i++) {
		int64_t latency = i < 11 ? 2000 : 15000;

		builder_kernel(b, 0, "k", now + 3000 + latency, now + 4000 + latency,
			       builder_launch(b, 0, now + 1000, now + 3000));
		now += 3000 + latency;
	}
	gaps_expect(b, GAP_LAUNCH, 20 * (2000 + 2000), GAP_DEVICE, 9 * 13000, -1);
}

/* P runs until 1000 behind much that was queued; N, launched by a call [100, 700), starts at 11000.  Three launches
 * before take 3 us from their calls' return to their start. */
static void test_in_flight(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	for (int i = 3; i > 0; i--)
		builder_kernel(b, 0, "k", -40000 * i, -40000 * i + 1000,
			       builder_launch(b, 0, -40000 * i - 4000, -40000 * i - 3000));
	builder_kernel(b, 0, "P", -1000, 1000, builder_launch(b, 0, -5000, -4000));
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 100, 700));
	/* 2700 ns of the last gap, before which launches took 1000 + 3000 ns each */
	gaps_expect(b, GAP_HOST, 2 * 35000 + 34000, GAP_LAUNCH, 3 * 4000 + 2700, GAP_DEVICE,
		    10000 - 2700, -1);
}

static void test_in_flight_to_the_end(void **state)
{
	(void)state;
	/* 5 us after the call's return, where nothing tells more: until 5800 */
	gaps_expect(gap_launched(300, 800), GAP_LAUNCH, 4800, GAP_DEVICE, 5200, -1);
	gaps_expect(gap_launched(-6000, -5000), GAP_DEVICE, 10000, -1);
}

/* ---- first launches ---- */

/* Kernel N is launched by a call of so many ns; two later launches of it take 400 ns each. */
static struct builder *first_launched(int64_t first_ns)
{
	struct builder *b = builder_new(1, 1);

	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 10000 - first_ns, 10000));
	builder_kernel(b, 0, "N", 12000, 13000, builder_launch(b, 0, 10500, 10900));
	builder_kernel(b, 0, "N", 13000, 14000, builder_launch(b, 0, 11500, 11900));
	return b;
}

static void test_first_launch(void **state)
{
	struct builder *b;

	(void)state;
	/* far longer than both others: all beyond 400 ns is loading */
	gaps_expect(first_launched(6400), GAP_HOST, 9000 - 6400, GAP_MODULE, 6000, GAP_LAUNCH,
		    400 + 1000, -1);
	gaps_expect(first_launched(800), GAP_HOST, 9000 - 800, GAP_LAUNCH, 800 + 1000, -1);
	/* CUPTI saw code loaded in the call, or right before it, and told a part */
	b = first_launched(800);
	builder_overhead(b, 0, 0, false, 9300, 9400);
	gaps_expect(b, GAP_HOST, 9000 - 800, GAP_MODULE, 400, GAP_LAUNCH, 400 + 1000, -1);
	b = first_launched(800);
	builder_overhead(b, 0, 0, false, 9000, 9100);
	gaps_expect(b, GAP_HOST, 9000 - 800 - 100, GAP_MODULE, 100 + 400, GAP_LAUNCH, 400 + 1000,
		    -1);
}

static void test_only_launch(void **state)
{
	struct builder *b = gap_launched(4000, 10000);

	(void)state;
	/* N is launched once: what others take tells how much of its call is loading */
	builder_kernel(b, 0, "P", 12000, 13000, builder_launch(b, 0, 10500, 10800));
	builder_overhead(b, 0, 0, false, 5000, 5500);
	gaps_expect(b, GAP_HOST, 3000, GAP_MODULE, 6000 - 300, GAP_LAUNCH, 300 + 1000, -1);
	/* and without a sign of loading it was slow for reasons of its own */
	b = gap_launched(4000, 10000);
	builder_kernel(b, 0, "P", 12000, 13000, builder_launch(b, 0, 10500, 10800));
	gaps_expect(b, GAP_HOST, 3000, GAP_LAUNCH, 6000 + 1000, -1);
}

/* ---- calls that make what work needs ---- */

static void test_making(void **state)
{
	static const struct {
		const char *name;
		enum gap_cause cause;
	} calls[] = {
		{"cudaStreamCreateWithFlags", GAP_CREATION},
		{"cudaStreamDestroy", GAP_CREATION},
		{"cudaEventCreateWithFlags", GAP_CREATION},
		{"cuEventDestroy", GAP_CREATION},
		{"cudaFuncSetAttribute", GAP_MODULE},
		{"cuKernelSetAttribute", GAP_MODULE},
		{"cudaMemPoolCreate", GAP_ALLOCATION},
		{"cudaMemPoolDestroy", GAP_ALLOCATION},
		{"cudaDeviceSetMemPool", GAP_ALLOCATION},
		{"cudaHostRegister", GAP_ALLOCATION},
		{"cuMemHostUnregister", GAP_ALLOCATION},
		{"cudaMemAdvise", GAP_MANAGED},
		{"cudaMemPrefetchAsync", GAP_MANAGED},
		{"cuMemDiscardAndPrefetchBatchAsync", GAP_MANAGED},
		{"cudaGraphCreate", GAP_GRAPH},
		{"cudaGraphAddMemcpyNode", GAP_GRAPH},
		{"cudaGraphDestroy", GAP_GRAPH},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct builder *b = gap_launched(7000, 9000);

		builder_call(b, 0, calls[i].name, api_class(calls[i].name), 2000, 4500);
		gaps_expect(b, calls[i].cause, 2500, GAP_HOST, 3500, GAP_LAUNCH, 4000, -1);
	}
}

static void test_prefetch_is_waited_for(void **state)
{
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_call(b, 0, "cudaMemPrefetchAsync", CALL_COPY, 1000, 3000);
	/* the pages that it moves are no operation */
	builder_kernel(b, 0, "N", 101000, 102000, builder_launch(b, 0, 3000, 4000));
	gaps_expect(b, GAP_MANAGED, 2000 + 100000 - 3000 - GAP_LATENCY_NS, GAP_LAUNCH,
		    1000 + GAP_LATENCY_NS, -1);
}

static void test_touched_by_host(void **state)
{
	struct profile_managed moves[] = {
		/* 1000 before the gap, 500 in it; 700 in the launch call are the launch's */
		{.kind = MANAGED_TO_HOST, .cause = 2, .start_ns = 0, .end_ns = 1500},
		{.kind = MANAGED_TO_HOST, .cause = 3, .start_ns = 2000, .end_ns = 3000},
		{.kind = MANAGED_TO_HOST, .cause = 2, .start_ns = 6900, .end_ns = 7700},
		/* nobody waits: what the program asked for, the other direction, another device's */
		{.kind = MANAGED_TO_HOST, .cause = 1, .start_ns = 4000, .end_ns = 5000},
		{.kind = MANAGED_TO_DEVICE, .cause = 2, .start_ns = 4000, .end_ns = 5000},
		{.kind = MANAGED_TO_HOST,
		 .cause = 2,
		 .start_ns = 4000,
		 .end_ns = 5000,
		 .source = 1},
	};
	struct builder *b = builder_new(1, 2);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 7000, 9000));
	b->profile.manageds = moves;
	b->profile.managed_count = sizeof(moves) / sizeof(*moves);
	gaps_expect(b, GAP_MANAGED, 500 + 1000 + 100, GAP_HOST, 6000 - 1600, GAP_LAUNCH, 4000, -1);
}

static void test_profiler_first(void **state)
{
	struct builder *b = gap_launched(7000, 9000);

	(void)state;
	builder_overhead(b, 0, 0, true, 2000, 3000);
	builder_overhead(b, 0, 0, true, 2500, 3500);
	builder_overhead(b, 0, 0, true, 9500, 20000); /* after the launch it holds nothing up */
	builder_overhead(b, 0, 0, false, 3000, 4000); /* half of it is the profiler's */
	gaps_expect(b, GAP_PROFILER, 1500, GAP_MODULE, 500, GAP_HOST, 4000, GAP_LAUNCH, 4000, -1);
}

static void test_profiler_of_other_thread(void **state)
{
	struct builder *b = builder_new(2, 1);

	(void)state;
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	builder_kernel(b, 0, "N", 11000, 12000, builder_launch(b, 0, 7000, 9000));
	builder_overhead(b, 1, 1, true, 0, 20000);
	builder_overhead(b, 0, PROFILE_NONE, true, 0, 20000);
	gaps_expect(b, GAP_HOST, 6000, GAP_LAUNCH, 4000, -1);
}

static void test_lazy_loading(void **state)
{
	struct builder *b = gap_launched(2000, 9000);

	(void)state;
	builder_overhead(b, 0, 0, false, 3000, 8000);
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 1500, .end_ns = 1700, .thread = 0};
	/* what happens on the thread after the launch does not hold the kernel up */
	builder_overhead(b, 0, 0, false, 9500, 10000);
	gaps_expect(b, GAP_MODULE, 5000, GAP_JIT, 200, GAP_HOST, 800, GAP_LAUNCH, 4000, -1);
}

/* An overhead of that name within the launch call. */
static struct builder *with_overhead(const char *name)
{
	struct builder *b = gap_launched(1000, 9000);

	builder_overhead(b, 0, 0, false, 3000, 4000);
	b->overheads[0].name = name;
	return b;
}

static void test_compiling(void **state)
{
	struct builder *b = with_overhead("driver compiler");

	(void)state;
	builder_overhead(b, 0, 0, false, 3500, 4500); /* loading what was compiled */
	gaps_expect(b, GAP_JIT, 1000, GAP_MODULE, 500, GAP_LAUNCH, 8500, -1);
	gaps_expect(with_overhead("lazy function loading"), GAP_MODULE, 1000, GAP_LAUNCH, 9000, -1);
	gaps_expect(with_overhead("command buffer full"), GAP_LAUNCH, 10000, -1);
}

/* ---- copies by memory ---- */

enum { UNKNOWN_MEMORY, PAGEABLE, PINNED, ON_DEVICE };
enum { TO_DEVICE = 1, TO_HOST = 2, DEVICE_TO_DEVICE = 8 };

/* As gap_before, where N is a copy. */
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
	gaps_expect(copied("cudaMemcpy", PINNED, ON_DEVICE, 12500), GAP_COPY, 10000, -1);
	gaps_expect(copied("cudaMemcpy", UNKNOWN_MEMORY, ON_DEVICE, 12500), GAP_COPY, 10000, -1);
	gaps_expect(copied("cudaMemcpy", PAGEABLE, ON_DEVICE, 12500), GAP_STAGING, 10000, -1);
	gaps_expect(copied("cudaMemcpyAsync", ON_DEVICE, PAGEABLE, 12500), GAP_STAGING, 10000, -1);
	gaps_expect(copied("cudaMemcpyAsync", PINNED, ON_DEVICE, 12500), GAP_LAUNCH, 10000, -1);
	gaps_expect(copied("cudaMemcpy", ON_DEVICE, ON_DEVICE, 12500), GAP_LAUNCH, 10000, -1);
	/* once the call has returned its memory no longer matters */
	gaps_expect(copied("cudaMemcpyAsync", PAGEABLE, ON_DEVICE, 8000), GAP_STAGING, 7000,
		    GAP_LAUNCH, 3000, -1);
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
	gaps_expect(then_launched(then_waited(read_async(TO_HOST, 256), 1500, 5000)), GAP_LAUNCH,
		    1000, GAP_DECISION, 8000, -1);
	gaps_expect(then_launched(read_by("cudaMemcpy", TO_HOST, 4, 5000)), GAP_COPY, 1000,
		    GAP_DECISION, 8000, -1);
}

static void test_late_decision(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);

	(void)state;
	builder_kernel(b, 0, "N", 101000, 102000, builder_launch(b, 0, 7000, 9000));
	gaps_expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 98000, -1);
}

/* The wait's 2000 and 4000 of the launch, but not what the host worked between them. */
static void test_work_after_read(void **state)
{
	static const int64_t pauses_ns[] = {GAP_HOST_WORK_NS, GAP_HOST_WORK_NS + 1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);
		int64_t at_ns = 5000 + pauses_ns[i];

		builder_kernel(b, 0, "N", at_ns + 4000, at_ns + 5000,
			       builder_launch(b, 0, at_ns, at_ns + 2000));
		if (i)
			gaps_expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 6000, GAP_HOST, pauses_ns[i],
				    -1);
		else
			gaps_expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 6000 + pauses_ns[i], -1);
	}
}

static void test_no_decision(void **state)
{
	(void)state;
	/* too much for a decision */
	gaps_expect(then_launched(then_waited(read_async(TO_HOST, 257), 1500, 5000)), GAP_LAUNCH,
		    1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
	/* not to the host */
	gaps_expect(then_launched(then_waited(read_async(TO_DEVICE, 4), 1500, 5000)), GAP_LAUNCH,
		    1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
	/* not waited for, or for something else */
	gaps_expect(then_launched(read_async(TO_HOST, 4)), GAP_LAUNCH, 1000 + 4000, GAP_HOST, 4000,
		    -1);
	gaps_expect(then_launched(then_waited(read_async(TO_HOST, 4), 1500, 2500)), GAP_LAUNCH,
		    1000 + 4000, GAP_HOST, 4000, -1);
}

static void test_decision_once(void **state)
{
	struct builder *b = then_launched(then_waited(read_async(TO_HOST, 4), 1500, 5000));

	(void)state;
	/* the next launch follows no read of its own */
	builder_kernel(b, 0, "M", 16000, 17000, builder_launch(b, 0, 13000, 15000));
	gaps_expect(b, GAP_LAUNCH, 1000 + 3000, GAP_DECISION, 8000, GAP_HOST, 1000, -1);
}

static void test_reading_on(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);
	struct profile_copy copy = {.bytes = 4, .kind = TO_HOST};

	(void)state;
	builder_copy(b, 0, copy, 11000, 12000,
		     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 7000, 9000));
	gaps_expect(b, GAP_LAUNCH, 1000 + 4000, GAP_SYNC, 2000, GAP_HOST, 2000, -1);
}

static void test_decision_of_other_thread(void **state)
{
	struct builder *b = then_waited(read_async(TO_HOST, 4), 1500, 5000);

	(void)state;
	builder_kernel(b, 0, "N", 11000, 12000,
		       builder_launch(b, builder_thread(b, 0), 7000, 9000));
	gaps_expect(b, GAP_LAUNCH, 1000 + 4000, GAP_HOST, 4000, -1);
}

static void test_decision_from_the_copy_on(void **state)
{
	struct builder *b = then_launched(then_waited(read_async(TO_HOST, 4), 1500, 5000));
	static const struct profile_copy flag = {.bytes = 4, .kind = TO_HOST};

	(void)state;
	/* of a gap that began before the read, and what else is done meanwhile stays what it is */
	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 5000, 5600);
	builder_overhead(b, 0, 0, true, 6000, 6300);
	gaps_expect(b, GAP_LAUNCH, 1000, GAP_DECISION, 8000 - 600 - 300, GAP_ALLOCATION, 600,
		    GAP_PROFILER, 300, -1);
	b = builder_new(1, 2);
	builder_kernel(b, 0, "P", 0, 1000, builder_launch(b, 0, -500, -400));
	/* the flag comes from another device: this one is idle from 1000 on */
	builder_copy(b, 1, flag, 2000, 3000,
		     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 1000, 1500));
	gaps_expect(then_launched(then_waited(b, 1500, 5000)), GAP_LAUNCH, 500, GAP_SYNC, 1500,
		    GAP_DECISION, 8000, -1);
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
		SENTENCE("a wait that goes on after the GPU is idle is synchronization", test_sync),
		SENTENCE("calls before the launch count by their class", test_classes),
		SENTENCE("calls of other threads do not matter", test_other_thread),
		SENTENCE("a launching call that blocks is no launch", test_blocking_copy_launches),
		SENTENCE("what starts long after its call returned waits for the device",
			 test_late_start),
		SENTENCE("the launch latency is the recording's median", test_latency_is_measured),
		SENTENCE(
			"work that is on its way when the gap begins is launch until it can be there",
			test_in_flight),
		SENTENCE("work that had time to arrive before the gap waits for the device alone",
			 test_in_flight_to_the_end),
		SENTENCE("what a first launch takes beyond later ones is module load",
			 test_first_launch),
		SENTENCE("a kernel that is launched once loads for what others do not take",
			 test_only_launch),
		SENTENCE(
			"calls that make streams, events, pools and graphs have causes of their own",
			test_making),
		SENTENCE("while memory that the host touches comes from the device, it waits",
			 test_touched_by_host),
		SENTENCE("work behind a prefetch waits for managed memory",
			 test_prefetch_is_waited_for),
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
		SENTENCE("what the host works for long after it has read is no decision",
			 test_work_after_read),
		SENTENCE("many bytes, to the device, or not waited for: no decision",
			 test_no_decision),
		SENTENCE("a decision ends with the launch that follows it", test_decision_once),
		SENTENCE("what reads on has not decided yet", test_reading_on),
		SENTENCE("what another thread read decides nothing here",
			 test_decision_of_other_thread),
		SENTENCE("a decision begins with its copy's end and leaves other work its own",
			 test_decision_from_the_copy_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
