#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "advice/advice.h"
#include "advice/rules/rules.h"
#include "profile_builder.h"

static struct device_work device_work;
static struct ceilings *ceilings; /* NULL: nothing is predicted */

/* The ids of the advice, joined by spaces; what is expected to be in the evidence, or NULL. */
static void expect(struct builder *b, const char *expected, const char *evidence)
{
	struct roofline roofline = {0};
	struct report report = {.profile = &b->profile,
				.device_work = &device_work,
				.roofline = &roofline,
				.ceilings = ceilings};
	struct advice *advice = NULL;
	struct err err = {""};
	char ids[256] = "", said[4096] = "";

	builder_finish(b);
	assert_int_equal(timeline_build(&report.timeline, report.profile, &err), 0);
	assert_int_equal(statistics_collect(&report.statistics, report.profile, NULL, &err), 0);
	assert_int_equal(jit_build(&report.jit, report.profile, &err), 0);
	assert_int_equal(gaps_analyze(&report.gaps, report.profile, report.timeline, 0, &err), 0);
	assert_int_equal(counted_build(&report.counted, report.profile, &err), 0);
	assert_int_equal(collectives_build(&report.collectives, report.profile, &err), 0);
	assert_int_equal(managed_memory_build(&report.managed_memory, report.profile, &err), 0);
	assert_int_equal(device_graphs_build(&report.device_graphs, report.profile, &err), 0);
	assert_int_equal(advice_find(&advice, &report, NULL, &err), 0);
	for (size_t i = 0; i < advice->count; i++) {
		const struct recommendation *item = &advice->items[i];

		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%s", i ? " " : "",
			 item->id);
		for (size_t j = 0; j < item->evidence_count; j++)
			snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n",
				 item->evidence[j]);
		assert_true(item->evidence_count > 0 && *item->pattern && *item->risk);
	}
	assert_string_equal(ids, expected);
	if (evidence && !strstr(said, evidence))
		fail_msg("'%s' is not in '%s'", evidence, said);
	advice_free(advice);
	device_graphs_free(report.device_graphs);
	collectives_free(report.collectives);
	jit_free(report.jit);
	managed_memory_free(report.managed_memory);
	counted_free(report.counted);
	gaps_free(report.gaps);
	statistics_free(report.statistics);
	timeline_free(report.timeline);
	free(b);
}

/* A call of 1 us at the end of all calls. */
static struct profile_call *call(struct builder *b, uint32_t thread, const char *name,
				 enum profile_call_class class, uint32_t result)
{
	int64_t start_ns = 1000 + 1000 * (int64_t)b->profile.call_count;
	uint32_t i = builder_call(b, thread, name, class, start_ns, start_ns + 900);

	b->calls[i].result = result;
	return &b->calls[i];
}

/* A process with a kernel on each device, which is busy from the first moment to the last. */
static struct builder *busy(size_t process_count, size_t device_count)
{
	struct builder *b = builder_new(process_count, device_count);

	for (uint32_t i = 0; i < process_count; i++)
		builder_kernel(b, builder_stream(b, i, i % (uint32_t)device_count), "k", 1,
			       100000000, PROFILE_NONE);
	return b;
}

/* ---- captures ---- */

static struct builder *capture(uint32_t result, uint32_t end)
{
	struct builder *b = busy(1, 1);

	call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 0);
	call(b, 0, "cudaLaunchKernel", CALL_LAUNCH, result);
	call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, end);
	call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 0);
	call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 0);
	return b;
}

static void test_legacy_stream(void **state)
{
	(void)state;
	expect(capture(0, 0), "", NULL);
	expect(capture(906, 901), "legacy_stream_capture", "1 of 2 captures ended without a graph");
	expect(capture(906, 901), "legacy_stream_capture", "the first a cudaLaunchKernel");
	/* an error that has nothing to do with captures */
	expect(capture(719, 0), "", NULL);
}

static void test_refused(void **state)
{
	struct builder *b = busy(1, 1);
	uint32_t other = builder_thread(b, 0);

	(void)state;
	call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 0);
	call(b, other, "cudaMalloc", CALL_MEMORY, 900);
	call(b, 0, "cudaLaunchKernel", CALL_LAUNCH, 901);
	call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 901);
	expect(b, "refused_in_capture",
	       "calls refused while a stream was captured: 1, the first a cudaMalloc\n"
	       "1 of 1 captures ended");
}

/* count graphs that were launched at once, each of which keeps the next waiting for gap_ns; a function of the host that was
 * captured (or, where is_streamed, enqueued before each of as many kernels) unless has_function is false. */
static struct builder *calling_back(int count, int64_t gap_ns, bool is_streamed, bool has_function)
{
	struct builder *b = builder_new(1, 1);
	int64_t start_ns = 1000000;

	call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 0);
	if (has_function && !is_streamed)
		call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, 0);
	call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 0);
	for (int i = 0; i < count; i++, start_ns += 30000 + gap_ns) {
		uint32_t launch;

		if (has_function && is_streamed)
			call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, 0);
		call(b, 0, is_streamed ? "cudaLaunchKernel" : "cudaGraphLaunch",
		     is_streamed ? CALL_LAUNCH : CALL_GRAPH_LAUNCH, 0);
		launch = (uint32_t)b->profile.call_count - 1;
		builder_ids(b, builder_kernel(b, 0, "k", start_ns, start_ns + 30000, launch))
			->graph = !is_streamed;
	}
	return b;
}

static void test_host_functions(void **state)
{
	(void)state;
	expect(calling_back(40, 50000, false, true), "host_node",
	       "functions of the host that are nodes of graphs: 1\n"
	       "39 times work that had been submitted waited for more than 20.0 us, 50.0 us on average");
	expect(calling_back(40, 50000, true, true), "host_node",
	       "functions of the host that were enqueued in streams: 40");
	expect(calling_back(40, 50000, false, false), "", NULL); /* something else holds it up */
	expect(calling_back(40, 15000, false, true), "", NULL);	 /* a wait, as the GPU's own */
	expect(calling_back(15, 50000, false, true), "host_node",
	       NULL); /* few, and most of the time */
}

static struct builder *captured_allocation(const char *name, bool is_inside, int launches)
{
	struct builder *b = busy(1, 1);

	call(b, 0, "cudaStreamBeginCapture", CALL_GRAPH_MANAGE, 0);
	if (is_inside)
		call(b, 0, name, CALL_MEMORY, 0);
	call(b, 0, "cudaStreamEndCapture", CALL_GRAPH_MANAGE, 0);
	if (!is_inside)
		call(b, 0, name, CALL_MEMORY, 0);
	for (int i = 0; i < launches; i++)
		call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0);
	return b;
}

static void test_allocation(void **state)
{
	(void)state;
	expect(captured_allocation("cudaMallocAsync", true, 20), "allocation_in_capture",
	       "allocations that were captured: 1, for 20 launches of graphs");
	expect(captured_allocation("cuMemAllocFromPoolAsync", true, 20), "allocation_in_capture",
	       NULL);
	expect(captured_allocation("cudaFreeAsync", true, 20), "", NULL);
	expect(captured_allocation("cudaMallocAsync", false, 20), "", NULL);
	expect(captured_allocation("cudaMallocAsync", true, 19), "", NULL);
	/* at once, and no node: in relaxed mode */
	expect(captured_allocation("cudaMalloc", true, 20), "", NULL);
}

/* ---- updates ---- */

static struct builder *update(uint32_t result, bool is_followed)
{
	struct builder *b = busy(1, 1);

	call(b, 0, "cudaGraphInstantiate", CALL_GRAPH_MANAGE, 0);
	for (int i = 0; i < 3; i++) {
		call(b, 0, "cudaGraphExecUpdate", CALL_GRAPH_MANAGE, i == 1 ? result : 0);
		if (is_followed && i == 1 && result)
			call(b, 0, "cudaGraphInstantiate", CALL_GRAPH_MANAGE, 0);
		call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0);
	}
	return b;
}

static void test_updates(void **state)
{
	(void)state;
	expect(update(0, false), "", NULL);
	expect(update(910, true), "refused_update", "updates of graphs that were refused: 1 of 3");
	expect(update(910, true), "refused_update",
	       "after 1 of them a graph was instantiated: 1.80 us of the host");
	expect(update(910, false), "refused_update",
	       "after 1 of them a graph was launched as if nothing had happened");
}

/* ---- graphs that are left ---- */

struct made {
	int count, launches; /* graphs, and launches of each as soon as it was made */
	int rounds;	     /* and of all in turn, at the end */
	bool is_destroyed;
};

static void launch_graph(struct builder *b, uint32_t graph)
{
	int64_t start_ns = call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0)->start_ns;
	struct profile_op *op = builder_kernel(b, 0, "node", start_ns, start_ns + 10,
					       (uint32_t)b->profile.call_count - 1);

	builder_ids(b, op)->graph = graph;
	builder_ids(b, op)->graph_node = 1;
}

static struct builder *graphs(struct made made)
{
	struct builder *b = busy(1, 1);

	for (int i = 1; i <= made.count; i++) {
		call(b, 0, "cudaGraphInstantiate", CALL_GRAPH_MANAGE, 0);
		for (int j = 0; j < made.launches; j++)
			launch_graph(b, (uint32_t)i);
		if (made.is_destroyed)
			call(b, 0, "cudaGraphExecDestroy", CALL_GRAPH_MANAGE, 0);
	}
	for (int i = 0; i < made.rounds * made.count; i++)
		launch_graph(b, (uint32_t)(i % made.count + 1));
	return b;
}

static void test_leaks(void **state)
{
	struct builder *b = graphs((struct made){20, 3, 0, false});

	(void)state;
	expect(graphs((struct made){20, 3, 0, false}), "leaked_graphs",
	       "20 executable graphs were made and 0 destroyed: 20 were left");
	expect(graphs((struct made){20, 3, 0, true}), "", NULL);
	expect(graphs((struct made){19, 3, 0, false}), "", NULL);
	expect(graphs((struct made){20, 0, 3, false}), "", NULL); /* made before, then used */
	expect(graphs((struct made){20, 3, 1, false}), "", NULL); /* it came back to them */
	b->processes[0].sealed_ns = 0;				  /* how it went on is not known */
	expect(b, "", NULL);
}

/* ---- copies that block ---- */

/* Kernels of 5 us and copies of 10 us in turn; the host sees the end of a copy wait_ns late. */
static void add_copies(struct builder *b, uint32_t process, int count, struct profile_copy copy,
		       const char *name, int64_t wait_ns)
{
	uint32_t stream = builder_stream(b, process, process);
	int64_t now = 0;

	copy.kind = 1;
	for (int i = 0; i < count; i++) {
		uint32_t launch = builder_launch(b, process, now, now + 1000), copied;

		builder_kernel(b, stream, "k", now + 1000, now + 5000, launch);
		copied = builder_call(b, process, name, CALL_COPY, now + 1000,
				      now + 16000 + wait_ns);
		builder_copy(b, stream, copy, now + 6000, now + 16000, copied);
		now += 16000 + wait_ns;
	}
}

static struct builder *copies(int count, struct profile_copy copy, const char *name,
			      int64_t wait_ns)
{
	struct builder *b = builder_new(1, 1);

	add_copies(b, 0, count, copy, name, wait_ns);
	return b;
}

static void test_blocking_copies(void **state)
{
	const struct profile_copy pinned = {.src_memory = 2, .dst_memory = 3, .bytes = 4096};
	struct profile_copy other = pinned;

	(void)state;
	expect(copies(30, pinned, "cudaMemcpy", 3000), "blocking_copy",
	       "29 copies of pinned memory, 116 KiB, that the host waited for");
	expect(copies(30, pinned, "cudaMemcpy", 500), "", NULL); /* next to no time */
	expect(copies(20, pinned, "cudaMemcpy", 3000), "", NULL);
	expect(copies(30, pinned, "cudaMemcpyAsync", 3000), "", NULL);
	other.is_async = true;
	expect(copies(30, other, "cudaMemcpy", 3000), "", NULL);
	other = pinned;
	other.bytes = GAP_DECISION_BYTES;
	expect(copies(30, other, "cudaMemcpy", 3000), "", NULL);
	other = pinned;
	other.src_memory = 3; /* within the device */
	expect(copies(30, other, "cudaMemcpy", 3000), "", NULL);
	other.dst_memory = 1; /* another rule's */
	expect(copies(30, other, "cudaMemcpy", 3000), "pageable_copy", NULL);
}

/* Findings are of one device, also where all rules share the walks over operations and gaps. */
static void test_devices(void **state)
{
	const struct profile_copy pinned = {.src_memory = 2, .dst_memory = 3, .bytes = 4096};
	const struct profile_copy pageable = {.src_memory = 1, .dst_memory = 3, .bytes = 4096};
	struct builder *b = builder_new(2, 2);

	(void)state;
	add_copies(b, 0, 30, pageable, "cudaMemcpy", 3000);
	add_copies(b, 1, 24, pinned, "cudaMemcpy", 3000);
	expect(b, "pageable_copy blocking_copy",
	       "23 copies of pinned memory, 92.0 KiB, that the host waited for");
}

/* Where the copies can run beside the kernels, that is what to do, and asynchronous they are then. */
static void test_said_by_another(void **state)
{
	const struct profile_copy pinned = {.src_memory = 2, .dst_memory = 3, .bytes = 500000};
	static const struct ceiling roofs[] = {
		{.id = CEILING_h2d_pinned, .value = 50e9},
		{.id = CEILING_d2h_pinned, .value = 50e9},
		{.id = CEILING_launch_call, .value = 1000},
		{.id = CEILING_launch_to_start, .value = 1000},
		{.id = CEILING_synchronize, .value = 1000},
		{.id = CEILING_graph_launch, .value = 4000},
		{.id = CEILING_graph_to_start, .value = 6000},
		{.id = CEILING_kernel_gap, .value = 100},
		{.id = CEILING_graph_node_gap, .value = 700},
		{.id = CEILING_graph_gap, .value = 1200},
		{.id = CEILING_grid_barrier, .value = 1300},
	};

	(void)state;
	expect(copies(60, pinned, "cudaMemcpy", 3000), "blocking_copy", NULL);
	ceilings = calloc(1, sizeof(*ceilings));
	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(roofs) / sizeof(roofs[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &roofs[i]), 0);
	assert_null(ceilings_sort(ceilings));
	expect(copies(60, pinned, "cudaMemcpy", 3000), "copy_overlap", NULL);
	/* 60 kernels of 4 us are all that can run beside copies */
	expect(copies(60, pinned, "cudaMemcpy", 30000), "copy_overlap",
	       "of what is saved at most 240 us comes from work side by side");
	ceilings_free(ceilings);
	ceilings = NULL;
}

/* ---- managed memory ---- */

/* 20 kernels of 90 us, 10 us apart, each with page faults for so long; nothing of it without a recording of them. */
static struct builder *touch(struct profile_managed *managed, size_t count, int64_t fault_ns)
{
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < 20; i++) {
		int64_t start_ns = 100000 * i + 10000;

		builder_kernel(b, 0, "k", start_ns, start_ns + 90000,
			       builder_launch(b, 0, start_ns - 9000, start_ns - 8000));
		managed[i] = (struct profile_managed){.start_ns = start_ns,
						      .end_ns = start_ns + fault_ns,
						      .kind = MANAGED_GPU_FAULTS,
						      .value = 3};
	}
	managed[20] = (struct profile_managed){.kind = MANAGED_TO_DEVICE,
					       .cause = MANAGED_EXPECTED_FAULT,
					       .source = PROFILE_NONE,
					       .value = 1 << 20};
	b->profile.manageds = managed;
	b->profile.managed_count = count;
	return b;
}

static void test_page_faults(void **state)
{
	struct profile_managed managed[21];

	(void)state;
	expect(touch(managed, 21, 40000), "page_faults",
	       "page faults are served for 800 us within kernels");
	expect(touch(managed, 21, 40000), "page_faults",
	       "they moved 1.00 MiB to the GPU and 0 B to the host");
	expect(touch(managed, 21, 4000), "", NULL); /* next to no time */
	expect(touch(managed, 0, 40000), "", NULL); /* not recorded */
}

/* ---- code that is loaded late ---- */

/* Kernels of 9 us, each 1 us after the one before; the one with that number is loaded for 200 us. */
static struct builder *load(int count, int loaded)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < count; i++) {
		uint32_t launch;

		if (i == loaded) {
			builder_call(b, 0, "cuLibraryLoadData", CALL_MODULE, now, now + 200000);
			now += 200000;
		}
		launch = builder_launch(b, 0, now, now + 1000);
		builder_kernel(b, 0, "k", now + 1000, now + 10000, launch);
		now += 10000;
	}
	return b;
}

static void test_loads(void **state)
{
	struct builder *b = load(60, -1);

	(void)state;
	expect(load(60, 40), "late_module_load",
	       "while code was loaded or compiled: 1, for 200 us and 0 ns");
	expect(load(60, 6), "", NULL); /* the start: a tenth has not run yet */
	expect(load(60, 7), "late_module_load", NULL);
	expect(load(900, 400), "", NULL); /* next to no time */
	expect(b, "", NULL);
	b = load(60, -1);
	builder_launch(b, 0, 600000, 700000); /* inside it code is compiled */
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 600000, .end_ns = 690000};
	builder_kernel(b, 0, "late", 700000, 708000, (uint32_t)b->profile.call_count - 1);
	expect(b, "late_module_load", "while code was loaded or compiled: 1, for 0 ns and 90.0 us");
}

/* Every so manieth of count steps compiles for host_ns, loads code for 20 us, and unloads it behind its launch, or does not
 * where host_ns is negative. */
static struct builder *compiling(int count, int every, int last, int64_t host_ns)
{
	bool is_unloading = host_ns >= 0;
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < count; i++) {
		bool is_loading = i % every == 0 && i <= last;
		uint32_t launch;

		if (is_loading) {
			now += is_unloading ? host_ns : 0;
			builder_call(b, 0, "cuModuleLoadData", CALL_MODULE, now, now + 20000);
			now += 20000;
		}
		launch = builder_launch(b, 0, now, now + 1000);
		builder_kernel(b, 0, "k", now + 1000, now + 10000, launch);
		now += 10000;
		if (is_loading && is_unloading) {
			builder_call(b, 0, "cuModuleUnload", CALL_MODULE, now, now + 1000);
			now += 1000;
		}
	}
	return b;
}

static void test_compiling(void **state)
{
	(void)state;
	/* 17 of 20 loads after the first tenth */
	expect(compiling(200, 10, 200, 0), "repeated_module_load",
	       "17 times code was loaded after a tenth of the operations, and 18 times unloaded");
	expect(compiling(200, 10, 200, 0), "repeated_module_load", "340 us of loading and 0 ns");
	expect(compiling(200, 10, 200, 500000), "repeated_module_load",
	       "and for 8.50 ms of host code right before, which is when a compiler such as "
	       "NVRTC runs");
	/* not for long, or none in the end: it is the start of something */
	expect(compiling(200, 5, 100, 0), "late_module_load", NULL);
	/* kept: different code each time */
	expect(compiling(200, 10, 200, -1), "late_module_load", NULL);
	/* a few */
	expect(compiling(200, 20, 200, 0), "late_module_load", NULL);
}

/* Every tenth of 200 steps loads code of that number, after host code; what is 0 is the step's own number. */
static struct builder *loading(uint64_t code)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < 200; i++) {
		if (i % 10 == 0) {
			now += 500000;
			builder_load(b, IMAGE_MACHINE_CODE, code ? code : (uint64_t)i + 1, now,
				     now + 20000);
			now += 20000;
		}
		builder_kernel(b, 0, "k", now + 1000, now + 10000,
			       builder_launch(b, 0, now, now + 1000));
		now += 10000;
	}
	return b;
}

static void test_known_code(void **state)
{
	(void)state;
	expect(loading(7), "repeated_module_load",
	       "17 of these loads were of code that had been loaded before");
	expect(loading(0), "", NULL); /* different code each time, as a library unpacks it */
}

/* Code is made for 500 us at the start, and 200 steps follow; the driver's cache on disk may keep what it compiles. */
static struct builder *starting(int64_t host_ns, int operation, bool is_seen)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = host_ns + 1000;

	builder_kernel(b, 0, "k", 100, 1000, builder_launch(b, 0, 0, 100));
	if (is_seen)
		b->jits[b->profile.jit_count++] =
			(struct profile_jit){.start_ns = now - host_ns / 2,
					     .end_ns = now - 1000,
					     .operation = 3};
	builder_load(b, operation ? IMAGE_PTX : IMAGE_MACHINE_CODE, 1, now, now + 400000);
	if (operation) {
		for (int what = 3; what >= operation; what--)
			b->jits[b->profile.jit_count++] =
				(struct profile_jit){.start_ns = now + 10000 * (3 - what) + 1,
						     .end_ns = now + 300000,
						     .operation = (uint32_t)what};
	}
	now += 400000;
	for (int i = 0; i < 200; i++, now += 10000)
		builder_kernel(b, 0, "k", now + 1000, now + 10000,
			       builder_launch(b, 0, now, now + 1000));
	return b;
}

static void test_compile_cache(void **state)
{
	(void)state;
	expect(starting(500000, 0, true), "compile_cache", "after 501 us of host code");
	expect(starting(500000, 0, false), "", NULL); /* a library that unpacks its code */
	expect(starting(90000, 0, true), "", NULL);   /* too short for a compiler */
	expect(starting(1000, 3, false), "compile_cache",
	       "and its cache on disk kept nothing of it");
	expect(starting(1000, 2, false), "", NULL); /* kept for the next run */
}

static void test_refused_code(void **state)
{
	struct builder *b = starting(1000, 0, false);

	(void)state;
	b->calls[1].result = 209;
	expect(b, "refused_code",
	       "1 loads were refused, as their code is for another architecture");
	b = starting(500000, 0, false);
	b->calls[1].result = 222;
	expect(b, "refused_code", "as their PTX is newer than this driver");
	b = starting(1000, 0, false);
	b->calls[1].result = 209;
	b->loads[0].is_embedded = true; /* a library asks */
	expect(b, "", NULL);
}

/* ---- kernels ---- */

static struct builder *spills_beside(uint32_t registers, uint32_t bytes, int64_t kernel_ns)
{
	struct builder *b = builder_new(1, 1);

	builder_kernel(b, 0, "k", 0, kernel_ns, PROFILE_NONE);
	builder_kernel(b, 0, "small", 99000, 100000, PROFILE_NONE);
	b->signatures[0].local_bytes_per_thread = bytes;
	b->signatures[0].registers_per_thread = registers;
	return b;
}

static struct builder *spills(uint32_t bytes, int64_t kernel_ns)
{
	return spills_beside(255, bytes, kernel_ns);
}

static void test_spills(void **state)
{
	(void)state;
	expect(spills(400, 95000), "register_spills",
	       "k: 400 bytes of local memory for each thread, beside 255 registers");
	expect(spills(31, 95000), "", NULL);
	expect(spills(32, 95000), "register_spills", NULL);
	expect(spills(400, 9000), "", NULL);
}

/* 66 registers are no limit of a compiler, and 32 KiB of any: both are arrays.  1,224 bytes beside 40 registers are
 * those of a kernel that needs 168: values that are not live at once have slots of their own. */
static void test_local_arrays(void **state)
{
	(void)state;
	expect(spills_beside(64, 400, 95000), "register_spills", NULL);
	expect(spills_beside(40, 1224, 95000), "register_spills", NULL);
	expect(spills_beside(66, 400, 95000), "", NULL);
	expect(spills_beside(32, 32768, 95000), "", NULL);
	expect(spills_beside(255, 32768, 95000), "register_spills", NULL);
}

/* A kernel of 1 ms whose SMs, at 1 GHz, spend so many cycles each on shared memory. */
static struct builder *shared(double wavefronts, double conflicts)
{
	struct builder *b = builder_new(1, 1);

	b->devices[0].sm_count = 100;
	b->devices[0].sm_clock_khz = 1000000;
	builder_kernel(b, 0, "transpose", 0, 1000000, PROFILE_NONE);
	builder_counter(b, false, 0, METRIC_shared_wavefronts, 1, 100 * wavefronts);
	builder_counter(b, false, 0, METRIC_shared_conflicts, 1, 100 * conflicts);
	return b;
}

static void test_bank_conflicts(void **state)
{
	struct builder *b = shared(800000, 750000);

	(void)state;
	expect(b, "bank_conflicts",
	       "transpose: 94% of its wavefronts to shared memory are bank conflicts\n"
	       "they take an SM 750 us of the 1.00 ms");
	expect(shared(800000, 390000), "", NULL); /* less than half */
	expect(shared(80000, 75000), "bank_conflicts", NULL);
	expect(shared(40000, 39000), "", NULL); /* next to no time */
	expect(shared(0, 0), "", NULL);
	/* more cycles than the kernel has: no more than its time is at stake */
	expect(shared(8000000, 4000000), "bank_conflicts", "they take an SM 500 us of the 1.00 ms");
}

/* ---- ranks ---- */

static const char reduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
static const char gather[] = "ncclDevKernel_AllGather_RING_LL";
static const char send[] = "ncclDevKernel_SendRecv";

static void collectives(struct builder *b, uint32_t process, uint32_t device,
			const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t start_ns =
			call(b, process, "cudaLaunchKernelExC", CALL_LAUNCH, 0)->start_ns;

		/* they end in the order in which they were launched, or not: that tells nothing */
		builder_kernel(b, builder_stream(b, process, device), names[i], 90000000 - start_ns,
			       90000500 - start_ns, (uint32_t)b->profile.call_count - 1);
	}
}

static struct builder *two_ranks(const char *const *one, size_t one_count, const char *const *other,
				 size_t other_count, bool is_one_process)
{
	struct builder *b = busy(2, 2);

	if (is_one_process) { /* with both devices */
		collectives(b, 0, 0, one, one_count);
		collectives(b, 0, 1, other, other_count);
	} else {
		collectives(b, 0, 0, one, one_count);
		collectives(b, 1, 1, other, other_count);
	}
	return b;
}

static void test_ranks(void **state)
{
	const char *const one[] = {reduce, reduce, gather}, *const other[] = {reduce, gather,
									      reduce};
	const char *const more[] = {reduce, gather, reduce, gather};
	const char *const sends[] = {send, reduce, reduce, gather};

	(void)state;
	expect(two_ranks(one, 3, one, 3, false), "", NULL);
	expect(two_ranks(one, 3, other, 3, false), "collective_order",
	       "the orders differ from collective 2 of 3 on\n"
	       "GPU 0 of host.1 launches ncclDevKernel_AllReduce_Sum_f32_RING_LL there\n"
	       "GPU 1 of host.1 launches ncclDevKernel_AllGather_RING_LL there");
	expect(two_ranks(one, 3, other, 3, true), "collective_order", NULL);
	expect(two_ranks(one, 3, more, 4, false), "", NULL);	 /* other work */
	expect(two_ranks(one, 3, sends, 4, false), "", NULL);	 /* sends are no collectives */
	expect(two_ranks(one, 3, more + 1, 2, false), "", NULL); /* fewer */
}

/* Ten collectives of 5 ms each on two GPUs, to which the other comes late_ns late, and for one of
 * them the first. */
static struct builder *late_rank(int64_t late_ns)
{
	struct builder *b = busy(2, 2);

	for (int i = 0; i < 10; i++) {
		int64_t start_ns = 2000000 + i * 9000000;

		for (uint32_t rank = 0; rank < 2; rank++)
			builder_kernel(b, builder_stream(b, rank, rank), reduce,
				       start_ns + (i == 9 ? 1000 * !rank : rank * late_ns),
				       start_ns + 5000000,
				       builder_launch(b, rank, start_ns - 2000, start_ns - 1500));
	}
	return b;
}

/* 8.1 ms of waits in 88 ms, of which recording took 14 or nothing. */
static struct builder *held_up(bool by_recording)
{
	struct builder *b = late_rank(900000);

	for (uint32_t rank = 0; rank < 2; rank++)
		b->ops[rank].end_ns = 1000; /* nothing runs beside the collectives */
	for (int i = 0; by_recording && i < 4; i++)
		builder_overhead(b, 0, 0, true, 7000000 + i * 9000000, 10500000 + i * 9000000);
	return b;
}

static void test_late_ranks(void **state)
{
	struct builder *b = late_rank(2000000);

	(void)state;
	b->processes[1].folder = (char *)"host.2";
	expect(b, "collective_wait",
	       "9 of the 10 collectives on GPU 0 of host.1 wait for another rank: 18.0 ms in all\n"
	       "GPU 1 of host.2 arrives last in 9 of them, 2.00 ms later on average");
	expect(late_rank(1000000), "", NULL); /* 9% of wall time */
	expect(held_up(false), "", NULL);
	expect(held_up(true), "collective_wait", NULL);
	b = late_rank(2000000);
	b->ops[3].detail = builder_signature(b, gather, 1); /* not alike */
	expect(b, "", NULL);
}

/* ---- launches from the device ---- */

/* A launch by the host of graph 5, which launches count others by fire and forget. */
static struct builder *fire(int count)
{
	struct builder *b = busy(1, 1);

	builder_ids(b, builder_graph(b, 0, LAUNCH_BY_HOST, 1000, 90000000, PROFILE_NONE))->graph =
		5;
	for (int i = 0; i < count; i++) {
		struct profile_op *op = builder_graph(b, 0, LAUNCH_FIRE_AND_FORGET, 2000 + 1000 * i,
						      2500 + 1000 * i, PROFILE_NONE);

		builder_ids(b, op)->graph = 100 + (uint32_t)i;
		b->graph_launches[op->detail].launcher_graph = 5;
	}
	return b;
}

static void test_pending_launches(void **state)
{
	(void)state;
	expect(fire(119), "", NULL);
	expect(fire(120), "pending_launches",
	       "graph 5 of host.1: 1 of its launches launched 120 others by fire and forget, and 120 "
	       "is all that one may");
}

/* ---- profilers ---- */

static void test_profilers(void **state)
{
	struct profile_property problem = {(char *)"counters_problem", NULL};
	struct builder *b = busy(1, 1);

	(void)state;
	problem.value = (char *)"cannot count: CUPTI_ERROR_HARDWARE_BUSY (26)";
	b->processes[0].properties = &problem;
	b->processes[0].property_count = 1;
	expect(b, "other_profiler", "host.1: cannot count: CUPTI_ERROR_HARDWARE_BUSY (26)");
	b = busy(1, 1);
	problem.value = (char *)"cannot count: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)";
	b->processes[0].properties = &problem;
	b->processes[0].property_count = 1;
	expect(b, "", NULL);
}

/* Two devices: what a process did is told of the one that it uses most, and once. */
static void test_once(void **state)
{
	struct builder *b = builder_new(1, 2);

	(void)state;
	builder_kernel(b, builder_stream(b, 0, 0), "k", 1, 100000000, PROFILE_NONE);
	builder_kernel(b, builder_stream(b, 0, 1), "k", 1, 50000000, PROFILE_NONE);
	builder_kernel(b, builder_stream(b, 0, 1), "k", 50000000, 100000000, PROFILE_NONE);
	call(b, 0, "cudaGraphExecUpdate", CALL_GRAPH_MANAGE, 910);
	expect(b, "refused_update", NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a call into the legacy stream that ends a capture is told",
			 test_legacy_stream),
		SENTENCE("a call of another thread that ends a capture is told", test_refused),
		SENTENCE("allocations that each launch of a graph makes are told", test_allocation),
		SENTENCE("an update that was refused is told, and what the program made of it",
			 test_updates),
		SENTENCE(
			"graphs that are left behind are told, those that are kept for use are not",
			test_leaks),
		SENTENCE("copies of pinned memory that the host waits for are told",
			 test_blocking_copies),
		SENTENCE("what is found on one device is not said of another", test_devices),
		SENTENCE("that they block is not told where it is told to overlap them",
			 test_said_by_another),
		SENTENCE("page faults that kernels wait for are told", test_page_faults),
		SENTENCE("code that is loaded or compiled amid the work is told, at the start not",
			 test_loads),
		SENTENCE(
			"functions of the host that the GPU waits for are told, where there are some",
			test_host_functions),
		SENTENCE("code that is compiled again and again is to be kept", test_compiling),
		SENTENCE("whether it is the same code is known by modules", test_known_code),
		SENTENCE("what is compiled at each start is to be kept on disk",
			 test_compile_cache),
		SENTENCE("code that the driver refuses tells of a key without the architecture",
			 test_refused_code),
		SENTENCE("a long kernel with variables in local memory is named", test_spills),
		SENTENCE("local memory of a kernel that could have more registers holds arrays",
			 test_local_arrays),
		SENTENCE("bank conflicts are told with the time that they take",
			 test_bank_conflicts),
		SENTENCE("ranks that launch the same collectives in different orders are named",
			 test_ranks),
		SENTENCE("the rank for which collectives wait long is named", test_late_ranks),
		SENTENCE("a graph that launched all that it may is named", test_pending_launches),
		SENTENCE("counters that somebody else reads are told", test_profilers),
		SENTENCE("what a process did is told once", test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
