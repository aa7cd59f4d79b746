#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/distribution.h"
#include "base/radix.h"
#include "base/spans.h"
#include "analysis/statistics/statistics.h"
#include "profile_builder.h"

static struct statistics *collect(struct builder *b)
{
	struct statistics *statistics = NULL;
	struct err err = {""};

	assert_int_equal(statistics_collect(&statistics, builder_finish(b), NULL, &err), 0);
	return statistics;
}

static void done(struct builder *b, struct statistics *statistics)
{
	statistics_free(statistics);
	free(b);
}

static void test_empty(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics = collect(b);

	(void)state;
	assert_int_equal(statistics->kernel_count, 0);
	assert_int_equal(statistics->range_count, 0);
	assert_int_equal(statistics->graph_count, 0);
	assert_int_equal(statistics->launch_call_count, 0);
	done(b, statistics);
}

static void test_percentiles(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;
	const struct distribution *time;

	(void)state;
	for (int i = 0; i < 200; i++) /* 1...200 ns, shuffled */
		builder_kernel(b, 0, "k", i * 1000, i * 1000 + 1 + i * 77 % 200, PROFILE_NONE);
	statistics = collect(b);
	time = &statistics->kernels[0].time;
	assert_int_equal(time->count, 200);
	assert_int_equal(time->total_ns, 200 * 201 / 2);
	assert_int_equal(time->min_ns, 1);
	assert_int_equal(time->max_ns, 200);
	assert_int_equal(time->p50_ns, 100);
	assert_int_equal(time->p99_ns, 198);
	assert_true(fabs(time->mean_ns - 100.5) < 1e-9);
	done(b, statistics);
}

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* One set of durations by selection and by sorting. */
static void check_selection(const int64_t *values, size_t count)
{
	struct durations durations;
	struct distribution time;
	int64_t *sorted = malloc(count * sizeof(*sorted));

	assert_int_equal(durations_open(&durations, 2), 0);
	for (size_t i = 0; i < count; i++)
		durations_count(&durations, 1);
	assert_int_equal(durations_lay_out(&durations), 0);
	for (size_t i = 0; i < count; i++)
		durations_add(&durations, 1, values[i]);
	time = durations_distribution(&durations, 1);
	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_ns);
	assert_int_equal(time.p50_ns, sorted[(count * 50 + 99) / 100 - 1]);
	assert_int_equal(time.p99_ns, sorted[(count * 99 + 99) / 100 - 1]);
	assert_int_equal(durations_percentile(&durations, 1, 10),
			 sorted[(count * 10 + 99) / 100 - 1]);
	assert_int_equal(durations_percentile(&durations, 0, 10), 0);
	assert_int_equal(durations_distribution(&durations, 0).count, 0);
	free(sorted);
	durations_free(&durations);
}

static void test_selection(void **state)
{
	int64_t values[3000];

	(void)state;
	srand(20240604);
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + (size_t)rand() % (round < 100 ? 40 : 3000);
		int range = round % 3 == 0 ? 3 : 1000000;

		for (size_t i = 0; i < count; i++)
			values[i] = rand() % range;
		check_selection(values, count);
	}
	for (size_t i = 0; i < 3000; i++) /* an organ pipe: bad pivots */
		values[i] = (int64_t)(i < 1500 ? i : 3000 - i);
	check_selection(values, 3000);
	memset(values, 0, sizeof(values));
	check_selection(values, 3000);
}

static void test_attributes(void **state)
{
	struct profile_launch launches[] = {{.call = 0, .is_cooperative = true},
					    {.call = 1, .is_dependent = true},
					    {.call = 2, .has_priority = true, .priority = -3}};
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;

	(void)state;
	b->streams[0].priority = (uint32_t)-1;
	for (int i = 0; i < 3; i++)
		builder_kernel(b, 0, "kernel", 100 * i, 100 * i + 50,
			       builder_launch(b, 0, 100 * i - 20, 100 * i - 10));
	builder_kernel(b, 0, "z other", 1000, 1010, PROFILE_NONE);
	b->profile.launches = launches;
	b->profile.launch_count = 3;
	statistics = collect(b);
	assert_int_equal(statistics->kernels[0].dependent_count, 1);
	assert_int_equal(statistics->kernels[0].cooperative_count, 1);
	assert_int_equal(statistics->kernels[0].highest_priority, -3);
	assert_int_equal(statistics->kernels[0].lowest_priority, -1);
	assert_int_equal(statistics->kernels[1].dependent_count, 0);
	assert_int_equal(statistics->kernels[1].cooperative_count, 0);
	assert_int_equal(statistics->kernels[1].highest_priority, -1);
	done(b, statistics);
}

/* CUPTI calls nodes so that were captured from dependent launches. */
static void test_nodes(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;

	(void)state;
	builder_kernel(b, 0, "kernel", 0, 50, PROFILE_NONE);
	builder_ids(b, builder_kernel(b, 0, "kernel", 100, 150, PROFILE_NONE))->graph_node = 7;
	b->signatures[0].launch_type = LAUNCH_IS_COOPERATIVE;
	statistics = collect(b);
	assert_int_equal(statistics->kernels[0].cooperative_count, 1);
	done(b, statistics);
}

static void test_kernels(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct statistics *statistics;

	(void)state;
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "twice", 8), 0, 10, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, builder_signature(b, "twice", 64), 20, 90, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 1, builder_signature(b, "twice", 8), 0, 20, PROFILE_NONE);
	builder_kernel(b, 0, "long", 100, 1100, PROFILE_NONE);
	builder_kernel(b, 0, "b same", 2000, 2100, PROFILE_NONE);
	builder_signature(b, "never ran", 1);
	statistics = collect(b);
	assert_int_equal(statistics->kernel_count, 3);
	assert_string_equal(statistics->kernels[0].name, "long");
	assert_string_equal(statistics->kernels[1].name, "b same"); /* 100 ns as well: by name */
	assert_string_equal(statistics->kernels[2].name, "twice");
	assert_int_equal(statistics->kernels[2].time.total_ns, 100);
	assert_int_equal(statistics->kernels[2].signature_count, 2);
	assert_int_equal(b->signatures[statistics->kernels[2].signature].grid[0], 64);
	assert_int_equal(statistics->kernels[2].device_count, 2);
	assert_int_equal(statistics->kernels[0].device_count, 1);
	done(b, statistics);
}

static void test_copies(void **state)
{
	struct builder *b = builder_new(1, 1);
	const struct profile_copy pinned = {
		.kind = 1, .src_memory = 2, .dst_memory = 3, .bytes = 1000, .is_async = true};
	const struct profile_copy pageable = {.kind = 1,
					      .src_memory = 1,
					      .dst_memory = 3,
					      .bytes = 500};
	struct statistics *statistics;

	(void)state;
	builder_copy(b, 0, pinned, 0, 100, PROFILE_NONE);
	builder_copy(b, 0, pinned, 100, 400, PROFILE_NONE);
	builder_copy(b, 0, pageable, 400, 500, PROFILE_NONE);
	builder_memset(b, 0, (struct profile_memset){.bytes = 64, .memory = 3}, 500, 510,
		       PROFILE_NONE);
	builder_memset(b, 0, (struct profile_memset){.bytes = 36, .memory = 3}, 510, 530,
		       PROFILE_NONE);
	statistics = collect(b);
	assert_int_equal(statistics->copy_count, 2);
	assert_int_equal(statistics->copies[0].src_memory, 2);
	assert_true(statistics->copies[0].is_async);
	assert_int_equal(statistics->copies[0].bytes, 2000);
	assert_int_equal(statistics->copies[0].time.count, 2);
	assert_true(fabs(statistics->copies[0].byte_per_s - 5e9) < 1);
	assert_int_equal(statistics->copies[1].src_memory, 1);
	assert_int_equal(statistics->memset_count, 1);
	assert_int_equal(statistics->memsets[0].bytes, 100);
	assert_int_equal(statistics->memsets[0].time.total_ns, 30);
	done(b, statistics);
}

static void test_calls(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;

	(void)state;
	builder_launch(b, 0, 0, 10);
	b->calls[builder_launch(b, 0, 20, 50)].result = 1;
	builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 60, 61);
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, 70, 170);
	b->calls[builder_call(b, 0, "cudaEventQuery", CALL_EVENT, 180, 190)].result = 600;
	statistics = collect(b);
	assert_int_equal(statistics->call_count, 4);
	assert_string_equal(b->call_names[statistics->calls[0].name].text, "cudaStreamSynchronize");
	assert_string_equal(b->call_names[statistics->calls[1].name].text, "cudaLaunchKernel");
	assert_int_equal(statistics->calls[1].time.total_ns, 40);
	assert_int_equal(statistics->calls[1].failed_count, 1);
	assert_int_equal(statistics->calls[2].failed_count, 0); /* not ready is an answer */
	assert_int_equal(statistics->launch_call_count, 3);
	assert_int_equal(statistics->sync_call_count, 1);
	done(b, statistics);
}

static void test_ranges(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t other = builder_thread(b, 0), call;
	struct statistics *statistics;
	char copy_of_name[] = "step";

	(void)state;
	builder_range(b, 0, "step", 0, 100);
	builder_range(b, 0, copy_of_name, 200, 300)->is_open = true;
	builder_range(b, 0, "outer", 0, 1000);
	call = builder_launch(b, 0, 10, 20); /* two operations of one call */
	builder_kernel(b, 0, "a", 50, 60, call);
	builder_kernel(b, 0, "a", 500, 550, call);
	builder_kernel(b, 0, "b", 600, 700, builder_launch(b, 0, 99, 120));
	builder_kernel(b, 0, "c", 800, 801, builder_launch(b, 0, 100, 110));	/* just outside */
	builder_kernel(b, 0, "d", 900, 1900, builder_launch(b, other, 50, 60)); /* not its thread */
	builder_kernel(b, 0, "e", 2000, 2007, builder_launch(b, 0, 250, 260));
	builder_kernel(b, 0, "f", 2010, 2020, PROFILE_NONE);
	statistics = collect(b);
	assert_int_equal(statistics->range_count, 2);
	assert_string_equal(statistics->ranges[0].name, "outer");
	assert_int_equal(statistics->ranges[0].op_count, 5);
	assert_int_equal(statistics->ranges[0].span_ns, 2007 - 50);
	assert_string_equal(statistics->ranges[1].name, "step");
	assert_int_equal(statistics->ranges[1].time.count, 2);
	assert_int_equal(statistics->ranges[1].op_count, 4);
	assert_int_equal(statistics->ranges[1].gpu_ns, 10 + 50 + 100 + 7);
	assert_int_equal(statistics->ranges[1].span_ns, (700 - 50) + 7);
	assert_int_equal(statistics->ranges[1].open_count, 1);
	done(b, statistics);
}

static uint32_t launch(struct builder *b, int64_t start_ns)
{
	return builder_call(b, 0, "cudaLaunchKernel", CALL_LAUNCH, start_ns, start_ns + 5);
}

/* The innermost operator counts, not ranges that the program's author named. */
static void test_operators(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;
	const struct kernel_statistics *kernels;

	(void)state;
	builder_range(b, 0, "step", 0, 2000);
	builder_range(b, 0, "aten::linear", 10, 500);
	builder_range(b, 0, "aten::addmm", 20, 400);
	builder_range(b, 0, "my part", 30, 300);
	builder_range(b, 0, "AddmmBackward0", 600, 700)->recorded_name = "AddmmBackward0, seq = 3";
	b->threads[0].range_count = 5;
	builder_kernel(b, 0, "gemm", 1000, 1600, launch(b, 100));
	builder_kernel(b, 0, "gemm", 2000, 2300, launch(b, 450));
	builder_kernel(b, 0, "backward", 3000, 3200, launch(b, 650));
	builder_kernel(b, 0, "halved", 4000, 4050, launch(b, 660));
	builder_kernel(b, 0, "halved", 5000, 5050, launch(b, 800));
	builder_kernel(b, 0, "own", 6000, 6010, launch(b, 900));
	statistics = collect(b);
	kernels = statistics->kernels;
	assert_int_equal(statistics->kernel_count, 4);
	assert_string_equal(kernels[0].name, "gemm");
	assert_string_equal(kernels[0].operator_name, "aten::addmm");
	assert_int_equal(kernels[0].operator_ns, 600);
	assert_string_equal(kernels[1].operator_name, "AddmmBackward0");
	assert_int_equal(kernels[1].operator_ns, 200);
	assert_null(kernels[2].operator_name); /* no more than half of it */
	assert_null(kernels[3].operator_name);
	done(b, statistics);
}

static void test_ranges_against_counting(void **state)
{
	(void)state;
	srand(20240605);
	for (int round = 0; round < 100; round++) {
		struct builder *b = builder_new(1, 1);
		static char names[50][16];
		struct statistics *statistics;

		for (int i = 0; i < 300; i++) {
			uint32_t call = builder_launch(b, 0, i * 10, i * 10 + 5);

			for (int j = rand() % 3; j > 0; j--) {
				int64_t start = rand() % 5000;

				builder_kernel(b, 0, "k", start, start + rand() % 100, call);
			}
		}
		for (int i = 0; i < 50; i++) {
			int64_t start = rand() % 3000;

			snprintf(names[i], sizeof(names[i]), "%d", i);
			builder_range(b, 0, names[i], start, start + rand() % 3000);
		}
		statistics = collect(b);
		for (size_t i = 0; i < statistics->range_count; i++) {
			const struct range_statistics *range = &statistics->ranges[i];
			const struct profile_range *from = &b->ranges[atoi(range->name)];
			int64_t gpu_ns = 0, first = INT64_MAX, last = INT64_MIN;

			for (size_t j = 0; j < b->profile.op_count; j++) {
				const struct profile_op *op = &b->ops[j];
				int64_t called = b->calls[op->call].start_ns;

				if (called < from->start_ns || called >= from->end_ns)
					continue;
				gpu_ns += op->end_ns - op->start_ns;
				first = op->start_ns < first ? op->start_ns : first;
				last = op->end_ns > last ? op->end_ns : last;
			}
			assert_int_equal(range->gpu_ns, gpu_ns);
			assert_int_equal(range->span_ns, last > first ? last - first : 0);
		}
		done(b, statistics);
	}
}

static void add_node(struct builder *b, uint32_t graph, uint64_t node, int64_t start, int64_t end,
		     uint32_t call)
{
	struct profile_op *op = builder_kernel(b, 0, "n", start, end, call);

	builder_ids(b, op)->graph = graph;
	builder_ids(b, op)->graph_node = node;
}

static void test_graphs(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					     i * 1000 - 20, i * 1000 - 10);

		add_node(b, 5, 1, i * 1000, i * 1000 + 10, call);
		add_node(b, 5, 1ull << 40, i * 1000 + 5, i * 1000 + 50 + i, call);
	}
	add_node(b, 5, 3, 60, 65, PROFILE_NONE); /* the body of a conditional node */
	add_node(b, 6, 1, 10000, 10001, builder_launch(b, 0, 9000, 9001));
	builder_kernel(b, 0, "no graph", 11000, 12000, PROFILE_NONE);
	statistics = collect(b);
	assert_int_equal(statistics->graph_count, 2);
	assert_int_equal(statistics->graphs[0].graph, 5);
	assert_int_equal(statistics->graphs[0].launch_count, 3);
	assert_int_equal(statistics->graphs[0].op_count, 7);
	assert_int_equal(statistics->graphs[0].node_count, 3);
	assert_int_equal(statistics->graphs[0].time.count, 3);
	assert_int_equal(statistics->graphs[0].time.total_ns, 50 + 51 + 52);
	assert_int_equal(statistics->graphs[0].node_ns, 3 * 10 + 45 + 46 + 47 + 5);
	assert_false(statistics->graphs[0].is_device_launched);
	assert_int_equal(statistics->graphs[1].launch_count, 1);
	done(b, statistics);
}

static void test_whole_graphs(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct statistics *statistics;

	(void)state;
	builder_ids(b, builder_graph(b, 0, 0, 0, 100, builder_launch(b, 0, -10, -5)))->graph = 1;
	builder_ids(b, builder_graph(b, 0, 2, 100, 150, PROFILE_NONE))->graph = 2;
	builder_ids(b, builder_graph(b, 0, 2, 150, 190, PROFILE_NONE))->graph = 2;
	statistics = collect(b);
	assert_int_equal(statistics->graph_count, 2);
	assert_int_equal(statistics->graphs[0].graph, 1);
	assert_int_equal(statistics->graphs[0].op_count, 0);
	assert_int_equal(statistics->graphs[1].launch_count, 2);
	assert_true(statistics->graphs[1].is_device_launched);
	assert_int_equal(statistics->graphs[1].time.total_ns, 90);
	done(b, statistics);
}

static void test_streams(void **state)
{
	struct builder *b = builder_new(2, 1);
	struct statistics *statistics;

	(void)state;
	builder_kernel(b, 0, "a", 0, 100, PROFILE_NONE);
	builder_kernel(b, 0, "a", 20, 40, PROFILE_NONE);
	builder_kernel(b, 0, "a", 90, 120, PROFILE_NONE);
	builder_kernel(b, 1, "a", -50, 150, PROFILE_NONE);
	statistics = collect(b);
	assert_int_equal(statistics->stream_count, 2);
	assert_int_equal(statistics->streams[0].stream, 1);
	assert_int_equal(statistics->streams[0].busy_ns, 200);
	assert_int_equal(statistics->streams[1].busy_ns, 120);
	assert_int_equal(statistics->streams[1].op_count, 3);
	done(b, statistics);
}

static uint32_t key_of(uint32_t index, const void *context)
{
	return ((const uint32_t *)context)[index];
}

static void test_radix(void **state)
{
	static const uint32_t keys[] = {7, 0, UINT32_MAX, 7, 1u << 22, 1u << 11, 7, 3};
	static const uint32_t expected[] = {1, 7, 0, 3, 6, 5, 4, 2};
	uint32_t indices[8] = {0, 1, 2, 3, 4, 5, 6, 7}, scratch[8];

	(void)state;
	radix_sort(indices, scratch, 8, key_of, keys);
	assert_memory_equal(indices, expected, sizeof(expected));
}

static void test_spans(void **state)
{
	struct spans spans = {0}, other = {0};
	size_t next = 0;

	(void)state;
	assert_int_equal(spans_add(&spans, 50, 60), 0);
	assert_int_equal(spans_add(&spans, 0, 20), 0);
	assert_int_equal(spans_add(&spans, 10, 30), 0);
	assert_int_equal(spans_add(&spans, 70, 70), 0);
	spans_seal(&spans);
	assert_int_equal(spans.count, 2);
	assert_int_equal(spans_covered(&spans, INT64_MIN, INT64_MAX), 40);
	assert_int_equal(spans_covered(&spans, 25, 55), 10);
	assert_int_equal(spans_covered(&spans, 30, 50), 0);
	assert_int_equal(spans_covered(&spans, 55, 25), 0);
	assert_int_equal(spans_covered_next(&spans, &next, -5, 10), 10);
	assert_int_equal(spans_covered_next(&spans, &next, 25, 55), 10);
	assert_int_equal(spans_covered_next(&spans, &next, 25, 55), 10);
	assert_int_equal(spans_covered_next(&spans, &next, 60, 90), 0);
	spans_add(&other, 5, 10);
	spans_add(&other, 25, 52);
	spans_add(&other, 100, 200);
	spans_seal(&other);
	assert_int_equal(spans_subtract(&spans, &other), 0);
	assert_int_equal(spans.count, 3);
	assert_int_equal(spans_covered(&spans, 0, 100), 5 + 15 + 8);
	assert_int_equal(spans_covered(&spans, 5, 10), 0);
	spans_free(&spans);
	spans_free(&other);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("an empty recording has no statistics", test_empty),
		SENTENCE("percentiles are nearest rank", test_percentiles),
		SENTENCE("selected percentiles agree with sorting", test_selection),
		SENTENCE(
			"kernels have what their launches ask for, and else the priorities of their streams",
			test_attributes),
		SENTENCE("whether a node of a graph is cooperative is not known", test_nodes),
		SENTENCE("kernels are grouped by name, with the shape that took most time",
			 test_kernels),
		SENTENCE("copies are grouped by direction, memory and asynchrony", test_copies),
		SENTENCE("calls are counted by name and class; not ready is no failure",
			 test_calls),
		SENTENCE("a range has the work that its thread launched inside it", test_ranges),
		SENTENCE("the innermost operator that launched most of a kernel is told",
			 test_operators),
		SENTENCE("random ranges agree with looking at every operation",
			 test_ranges_against_counting),
		SENTENCE("graphs are counted by launch and by node", test_graphs),
		SENTENCE("graphs recorded whole have launches but no nodes", test_whole_graphs),
		SENTENCE("busy time of a stream counts overlapping branches once", test_streams),
		SENTENCE("radix sort is stable over all key bits", test_radix),
		SENTENCE("spans merge, subtract and measure", test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
