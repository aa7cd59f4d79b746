#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "advice/advice.h"
#include "advice/rules/rules.h"
#include "fixture_predict.h"
#include "profile_builder.h"

/* What the device launched itself, in the tests that say so. */
static struct device_work device_work;

/* Nothing was counted. */
static struct roofline roofline;

/* Measured roofs, in the tests that predict. */
static struct ceilings *ceilings;

static struct advice *advise(struct builder *b, struct report *report)
{
	struct advice *advice = NULL;
	struct err err = {""};

	*report = (struct report){.profile = &b->profile,
				  .device_work = &device_work,
				  .roofline = &roofline,
				  .ceilings = ceilings};
	builder_finish(b);
	assert_int_equal(timeline_build(&report->timeline, report->profile, &err), 0);
	assert_int_equal(statistics_collect(&report->statistics, report->profile, NULL, &err), 0);
	assert_int_equal(jit_build(&report->jit, report->profile, &err), 0);
	assert_int_equal(gaps_analyze(&report->gaps, report->profile, report->timeline, 10, &err),
			 0);
	assert_int_equal(steady_state_build(&report->steady_state, report->profile,
					    report->timeline, report->gaps, &err),
			 0);
	assert_int_equal(collectives_build(&report->collectives, report->profile, &err), 0);
	assert_int_equal(managed_memory_build(&report->managed_memory, report->profile, &err), 0);
	assert_int_equal(device_graphs_build(&report->device_graphs, report->profile, &err), 0);
	assert_int_equal(advice_find(&advice, report, NULL, &err), 0);
	return advice;
}

static void done(struct builder *b, struct report *report, struct advice *advice)
{
	advice_free(advice);
	device_graphs_free(report->device_graphs);
	collectives_free(report->collectives);
	jit_free(report->jit);
	managed_memory_free(report->managed_memory);
	steady_state_free(report->steady_state);
	gaps_free(report->gaps);
	statistics_free(report->statistics);
	timeline_free(report->timeline);
	free(b);
}

/* The ids in order, joined by spaces. */
static void expect(struct builder *b, const char *expected)
{
	struct report report;
	struct advice *advice = advise(b, &report);
	char ids[256] = "";

	for (size_t i = 0; i < advice->count; i++) {
		const struct recommendation *item = &advice->items[i];

		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%s", i ? " " : "",
			 item->id);
		assert_non_null(item->strategy);
		assert_non_null(item->title);
		assert_non_null(item->pattern);
		assert_non_null(item->risk);
		assert_true(item->evidence_count > 0);
		assert_true(item->at_stake_ns > 0 &&
			    item->at_stake_ns <= report.timeline->devices[0].wall_ns);
	}
	assert_string_equal(ids, expected);
	done(b, &report, advice);
}

/*
 * count iterations of: launch, kernel of busy_ns that starts when the launch
 * returns, wait_ns of waiting beyond the kernel's end (none when negative: the
 * host goes on at once), pause of host code.
 */
static struct builder *loop(int count, int64_t launch_ns, int64_t busy_ns, int64_t wait_ns,
			    int64_t host_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < count; i++) {
		uint32_t call = builder_launch(b, 0, now, now + launch_ns);

		now += launch_ns;
		builder_kernel(b, 0, "step", now, now + busy_ns, call);
		if (wait_ns >= 0) {
			builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now + 1,
				     now + busy_ns + wait_ns);
			now += busy_ns + wait_ns;
		} else {
			now += busy_ns;
		}
		now += host_ns;
	}
	return b;
}

static void test_launch_bound(void **state)
{
	(void)state;
	expect(loop(200, 4000, 5000, -1, 3000), "launch_bound_graph");
}

/* Pauses are compared with the time without what reading counters took, which is 40 times as long. */
static void test_counted_time(void **state)
{
	struct builder *b = loop(200, 4000, 5000, -1, 3000);
	int64_t now = 200 * INT64_C(12000);

	(void)state;
	builder_overhead(b, 0, 0, true, now, now + 96000000);
	now += 96000000;
	builder_kernel(b, 0, "last", now + 4000, now + 5000, builder_launch(b, 0, now, now + 4000))
		->counted = COUNTED;
	expect(b, "launch_bound_graph");
}

static void test_few_launches(void **state)
{
	(void)state;
	expect(loop(60, 4000, 5000, -1, 3000), "");
}

static void test_long_kernels(void **state)
{
	(void)state;
	/* the same share of pauses, but neither kernels nor pauses are short */
	expect(loop(200, 80000, SHORT_KERNEL_NS + 1, -1, 30000), "");
}

static void test_busy_control(void **state)
{
	(void)state;
	expect(loop(200, 400, 9000, 200, 300), "");
}

static void test_sync(void **state)
{
	(void)state;
	/* waits and launches dominate; host code between is next to nothing */
	expect(loop(200, 1000, 5000, 3000, 10), "sync_every_kernel");
	expect(loop(200, 4000, 5000, 3000, 10), "sync_every_kernel launch_bound_graph");
}

/* loop(200, 4000, 5000, 3000, 10) in whose pauses of 7 us, but for the last of them, every so manieth the GPU worked as
 * samples show. */
static struct builder *sampled_loop(int every)
{
	struct builder *b = loop(200, 4000, 5000, 3000, 10);

	b->devices[0].sm_count = 132;
	b->devices[0].sampled = 1u << SAMPLED_sm_cycles;
	builder_span(b, 0, 4000, INT64_C(12010) * 200 + 4000);
	for (int i = 0; i < 200 * 12; i++) {
		bool is_last = i % 12 == 11, is_busy = i / 12 % every == 0 && i % 12 >= 5;
		struct profile_sample *sample =
			builder_sample(b, 0, 4000 + INT64_C(12010) * (i / 12) + 1000 * (i % 12),
				       is_last ? 1010 : 1000);

		sample->sm = is_busy && !is_last ? 0.5F : 0;
		sample->dispatches = is_busy && i % 12 == 5;
		sample->blocks = is_busy && i % 12 == 5 ? 50 : 0;
	}
	return b;
}

static void test_untraced_work(void **state)
{
	(void)state;
	expect(sampled_loop(1), "");
	/* half of the pauses: less is at stake, and it is said */
	expect(sampled_loop(2), "sync_every_kernel");
	expect(loop(200, 4000, 5000, 3000, 10), "sync_every_kernel launch_bound_graph");
}

static void test_rare_sync(void **state)
{
	struct builder *b = loop(200, 600, 5000, -1, 200);

	(void)state;
	for (int i = 0; i < 50; i++)
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, 2000000 + i, 2000000 + i);
	expect(b, "");
}

/* Kernels and copies of a memory kind in turn, or side by side. */
static struct builder *copies(int count, uint32_t memory, int64_t copy_ns, bool is_overlapped)
{
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < count; i++) {
		int64_t start = i * 100000;
		const struct profile_copy copy = {.kind = 1,
						  .src_memory = memory,
						  .dst_memory = 3,
						  .bytes = 1 << 20};

		builder_kernel(b, 0, "k", start, start + 80000, PROFILE_NONE);
		start += is_overlapped ? 0 : 80000;
		builder_copy(b, 0, copy, start, start + copy_ns, PROFILE_NONE);
	}
	return b;
}

static void test_pageable(void **state)
{
	(void)state;
	expect(copies(20, 1, 15000, false), "pageable_copy");
	expect(copies(20, 2, 15000, false), "");
	expect(copies(20, 1, 15000, true), "");
	expect(copies(20, 1, 4000, false), "");
}

static void test_few_copies(void **state)
{
	(void)state;
	expect(copies(10, 1, 15000, false), "pageable_copy");
	expect(copies(9, 1, 15000, false), "");
}

static void test_exposed_time(void **state)
{
	struct builder *b = builder_new(1, 1);
	const struct profile_copy copy = {.kind = 1, .src_memory = 1, .dst_memory = 3, .bytes = 1};
	struct report report;
	struct advice *advice;

	(void)state;
	for (int i = 0; i < 10; i++)
		builder_copy(b, 0, copy, i * 100, (i + 1) * 100, PROFILE_NONE);
	builder_kernel(b, 0, "k", 200, 500, PROFILE_NONE);
	builder_kernel(b, 0, "k", 300, 400, PROFILE_NONE); /* inside the other */
	builder_kernel(b, 0, "k", 450, 600, PROFILE_NONE);
	advice = advise(b, &report);
	assert_int_equal(advice->count, 1);
	assert_int_equal(advice->items[0].at_stake_ns, 600);
	done(b, &report, advice);
}

static void test_order(void **state)
{
	struct builder *b = loop(200, 4000, 5000, 3000, 10);
	const struct profile_copy copy = {.kind = 1, .src_memory = 1, .dst_memory = 3, .bytes = 1};
	struct report report;
	struct advice *advice;

	(void)state;
	for (int i = 10; i > 0; i--)
		builder_copy(b, 0, copy, i * -200000, (i - 1) * -200000 - 1000, PROFILE_NONE);
	advice = advise(b, &report);
	assert_int_equal(advice->count, 3);
	assert_string_equal(advice->items[0].id, "pageable_copy");
	assert_true(advice->items[1].at_stake_ns >= advice->items[2].at_stake_ns);
	done(b, &report, advice);
}

/* ---- ranks ---- */

static const struct ceiling roofs[] = {
	{.id = CEILING_launch_call, .value = 4000},
	{.id = CEILING_launch_to_start, .value = 5000},
	{.id = CEILING_synchronize, .value = 3000},
	{.id = CEILING_graph_launch, .value = 4000},
	{.id = CEILING_graph_to_start, .value = 6000},
	{.id = CEILING_kernel_gap, .value = 1000},
	{.id = CEILING_graph_node_gap, .value = 900},
	{.id = CEILING_graph_gap, .value = 1200},
	{.id = CEILING_grid_barrier, .value = 1300},
};

static struct builder *device_of_132(void)
{
	struct builder *b = builder_new(1, 1);
	struct profile_device *device = &b->devices[0];

	device->compute_major = 9;
	device->sm_count = 132;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = 32;
	device->max_registers_per_sm = 65536;
	device->max_shared_bytes_per_sm = 233472;
	return b;
}

/* Iterations of eight kernels of 10 us on one SM each, a wait, and 30 us of the host's own. */
static struct builder *small_kernels(void)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct builder *b = device_of_132();
	int64_t now = 0, gpu;

	for (int i = 0; i < 20; i++) {
		gpu = now + 5000;
		for (int j = 0; j < 8; j++, now += 4000, gpu += 11000)
			builder_kernel(b, 0, names[j], gpu, gpu + 10000,
				       builder_launch(b, 0, now, now + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now, gpu + 2000);
		now = gpu + 32000;
	}
	return b;
}

static void measure_roofs(void)
{
	ceilings = calloc(1, sizeof(*ceilings));
	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(roofs) / sizeof(roofs[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &roofs[i]), 0);
	assert_null(ceilings_sort(ceilings));
}

static void forget_roofs(void)
{
	ceilings_free(ceilings);
	ceilings = NULL;
}

/* Iterations of eight launches with 10 us between them, but for one pause, and a longer one before the next. */
static struct builder *interpreted(int64_t pause_ns)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct builder *b = builder_new(1, 1);
	int64_t now = 0;

	for (int i = 0; i < 20; i++, now += pause_ns)
		for (int j = 0; j < 8; j++) {
			builder_kernel(b, 0, names[j], now + 5000, now + 7000,
				       builder_launch(b, 0, now, now + 4000));
			now += 4000 + (j == 4 ? pause_ns : 10000);
		}
	return b;
}

/* Whether the first advice is a graph, and says what is assumed. */
static void expect_assumed_graph(int64_t pause_ns, bool is_assuming)
{
	struct builder *b = interpreted(pause_ns);
	struct report report;
	struct advice *advice;
	const struct recommendation *graph;
	bool is_said = false;

	measure_roofs();
	advice = advise(b, &report);
	assert_true(advice->count >= 1);
	graph = &advice->items[0];
	assert_string_equal(graph->id, "launch_bound_graph");
	assert_int_equal(graph->gain.is_assuming, is_assuming);
	for (size_t i = 0; i < graph->evidence_count; i++)
		is_said = is_said || strstr(graph->evidence[i], "assumes: pauses of the host");
	assert_int_equal(is_said, is_assuming);
	done(b, &report, advice);
	forget_roofs();
}

static void test_assumed_pauses(void **state)
{
	(void)state;
	expect_assumed_graph(300000, true);
	expect_assumed_graph(90000, false);
	/* of more than 80 usual ones: work, which stays, and too much for a graph to gain a tenth of the rest */
	measure_roofs();
	expect(interpreted(900000), "host_code");
	forget_roofs();
}

/* That kernels need nothing from each other is assumed: its low end ranks it, behind what gains less. */
static void test_assumed_rank(void **state)
{
	struct builder *b = small_kernels();
	struct report report;
	const struct recommendation *first, *last;
	struct advice *advice;

	(void)state;
	measure_roofs();
	advice = advise(b, &report);
	assert_true(advice->count >= 2);
	first = last = &advice->items[0];
	while (last < &advice->items[advice->count - 1] && strcmp(last->id, "underfilled_gpu"))
		last++;
	assert_string_equal(last->id, "underfilled_gpu");
	assert_false(first->gain.is_assuming);
	assert_true(last->gain.is_assuming);
	assert_true(last->gain.program.speedup > first->gain.program.speedup);
	assert_true(last->gain.program.low < first->gain.program.speedup);
	done(b, &report, advice);
	forget_roofs();
}

/* A graph gains a little more than fewer waits do; by less than predictions are off these come first. */
static void test_nearly_equal(void **state)
{
	struct builder *b = loop(200, 1000, 15000, 3000, 10);
	struct report report;
	const struct recommendation *waits, *graph;
	struct advice *advice;

	(void)state;
	measure_roofs();
	advice = advise(b, &report);
	assert_int_equal(advice->count, 2);
	waits = &advice->items[0];
	graph = &advice->items[1];
	assert_string_equal(waits->id, "sync_every_kernel");
	assert_string_equal(graph->id, "launch_bound_graph");
	assert_true(graph->gain.steady.speedup > waits->gain.steady.speedup);
	assert_true(graph->gain.steady.speedup < LEAST_PLACE_SPEEDUP * waits->gain.steady.speedup);
	done(b, &report, advice);
	forget_roofs();
}

/* Iterations of two launches of a kernel for so many of 132 SMs, and a wait. */
static struct builder *pairs(uint32_t blocks)
{
	struct builder *b = device_of_132();
	int64_t now = 0;

	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 2; j++, now += 4000)
			builder_kernel(b, 0, "k", now + 5000 + 46000 * j, now + 55000 + 46000 * j,
				       builder_launch(b, 0, now, now + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now, now + 100000);
		now += 101000;
	}
	b->signatures[0].grid[0] = blocks;
	return b;
}

static bool has_batch(uint32_t blocks)
{
	struct builder *b = pairs(blocks);
	struct report report;
	struct advice *advice;
	bool is_said = false;

	measure_roofs();
	advice = advise(b, &report);
	for (size_t i = 0; i < advice->count; i++)
		is_said = is_said || !strcmp(advice->items[i].id, "batch_launches");
	done(b, &report, advice);
	forget_roofs();
	return is_said;
}

static void test_small_batch(void **state)
{
	(void)state;
	assert_true(has_batch(40));
	assert_false(has_batch(30)); /* 60 of 132 SMs would have a block: fill_gpu is for that */
}

/* A second of start-up, then a loop of 2 ms that a graph would make faster. */
static struct builder *long_start(void)
{
	struct builder *b = loop(200, 4000, 5000, -1, 3000);

	builder_kernel(b, 0, "first", -999995000, -999990000,
		       builder_launch(b, 0, -1000000000, -999996000));
	return b;
}

static void test_long_start(void **state)
{
	struct builder *b = long_start();
	struct report report;
	struct advice *advice;

	(void)state;
	measure_roofs();
	advice = advise(b, &report);
	assert_int_equal(advice->count, 1);
	assert_string_equal(advice->items[0].id, "launch_bound_graph");
	assert_true(advice->items[0].gain.steady.speedup > 1.5);
	assert_true(advice->items[0].gain.steady.low <= advice->items[0].gain.steady.speedup);
	assert_true(advice->items[0].gain.steady.high >= advice->items[0].gain.steady.speedup);
	assert_true(advice->items[0].gain.program.speedup < LEAST_PROGRAM_SPEEDUP);
	done(b, &report, advice);
	forget_roofs();
}

/* Copies before the loop, which are one of their own: pinned memory would spare the run more than a graph would. */
static void test_steady_rank(void **state)
{
	const struct profile_copy copy = {.kind = COPY_TO_DEVICE,
					  .src_memory = MEMORY_PAGEABLE,
					  .dst_memory = 3,
					  .bytes = 4 << 20};
	struct builder *b = long_start();
	struct report report;
	struct advice *advice;

	(void)state;
	for (int64_t at = -900000000; at < -600000000; at += 10000000)
		builder_copy(b, 0, copy, at + 10000, at + 9000000,
			     builder_call(b, 0, "cudaMemcpy", CALL_COPY, at, at + 9001000));
	ceilings = predicted_ceilings(0);
	advice = advise(b, &report);
	assert_int_equal(advice->count, 2);
	assert_string_equal(advice->items[0].id, "launch_bound_graph");
	assert_string_equal(advice->items[1].id, "one_time_copy");
	assert_true(advice->items[1].is_once);
	assert_true(advice->items[1].at_stake_ns > 100 * advice->items[0].at_stake_ns);
	done(b, &report, advice);
	forget_roofs();
}

/* Where nothing is sure the order is by what is expected, and what may gain most is another one. */
static void test_perhaps(void **state)
{
	struct recommendation items[] = {
		{.is_unsure = true, .gain.program.speedup = 1.1},
		{.is_unsure = true, .gain = {.program.speedup = 1.05, .steady.speedup = 3}},
		{.is_unsure = true, .gain.program.speedup = 2},
		{.is_unsure = true, .is_once = true, .gain.program.speedup = 9},
	};
	struct advice advice = {.items = items, .count = 4};

	(void)state;
	assert_null(advice_first(&advice));
	assert_ptr_equal(advice_perhaps(&advice, false), &items[1]);
	items[2].gain.place.speedup = 1.5; /* of the range that was asked for */
	assert_ptr_equal(advice_perhaps(&advice, true), &items[2]);
	advice.count = 1;
	items[0].gain.program.speedup = 0; /* nothing is predicted */
	assert_ptr_equal(advice_perhaps(&advice, false), &items[0]);
	items[0].is_once = true;
	assert_null(advice_perhaps(&advice, false));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("short kernels with launch-bound pauses get a graph", test_launch_bound),
		SENTENCE("pauses count as a share of the time without counting", test_counted_time),
		SENTENCE("a graph does not pay for a few launches", test_few_launches),
		SENTENCE("long kernels get no graph", test_long_kernels),
		SENTENCE("a GPU that computes nearly all the time gets no advice",
			 test_busy_control),
		SENTENCE("a wait after every launch is told", test_sync),
		SENTENCE("a wait now and then is not", test_rare_sync),
		SENTENCE("a pause in which the device ran its own launches is not idle",
			 test_untraced_work),
		SENTENCE("what rests on an assumption ranks by its low end", test_assumed_rank),
		SENTENCE("of gains that are nearly the same that of dropped calls comes first",
			 test_nearly_equal),
		SENTENCE("a row of launches that would be small as one is no batch",
			 test_small_batch),
		SENTENCE("pauses that seem an interpreter's are said to be assumed",
			 test_assumed_pauses),
		SENTENCE("pageable copies are told unless kernels run beside them", test_pageable),
		SENTENCE("pinning does not pay for a few copies", test_few_copies),
		SENTENCE("what is at stake of copies is what no kernel covers", test_exposed_time),
		SENTENCE("advice comes with the most at stake first", test_order),
		SENTENCE("a long start-up does not hide what makes the steady state faster",
			 test_long_start),
		SENTENCE(
			"what makes the steady state faster stands before what spares start-up more",
			test_steady_rank),
		SENTENCE("where nothing is sure, what may gain most is named", test_perhaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
