/* Graphs that the device launched: by whom, how, how soon. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/statistics/device_graphs.h"
#include "profile_builder.h"

/* A launch by the host has no launcher. */
static void launch(struct builder *b, uint32_t stream, uint32_t launcher, uint32_t graph,
		   uint32_t mode, int64_t start_ns, int64_t end_ns)
{
	struct profile_op *op = builder_graph(b, stream, mode, start_ns, end_ns, PROFILE_NONE);

	builder_ids(b, op)->graph = graph;
	b->graph_launches[op->detail].launcher_graph = launcher;
	if (mode == LAUNCH_BY_HOST)
		builder_ids(b, op)->correlation = (uint32_t)b->profile.op_count;
}

static struct device_graphs *build(struct builder *b)
{
	struct device_graphs *graphs = NULL;
	struct err err = {""};

	assert_int_equal(device_graphs_build(&graphs, builder_finish(b), &err), 0);
	return graphs;
}

static void done(struct builder *b, struct device_graphs *graphs)
{
	device_graphs_free(graphs);
	free(b);
}

static const struct device_launches *find(const struct device_graphs *graphs, uint32_t launcher,
					  uint32_t graph, uint32_t mode)
{
	for (size_t i = 0; i < graphs->count; i++)
		if (graphs->launches[i].launcher_graph == launcher &&
		    graphs->launches[i].graph == graph && graphs->launches[i].launch_mode == mode)
			return &graphs->launches[i];
	fail_msg("no launch of %u by %u in mode %u", graph, launcher, mode);
	return NULL;
}

static void test_none(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	builder_kernel(b, 0, "k", 10, 20, PROFILE_NONE);
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 100, 200);
	graphs = build(b);
	assert_int_equal(graphs->count, 0);
	assert_int_equal(graphs->launch_count, 0);
	done(b, graphs);
}

static void test_modes(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 1000, 2000);
	launch(b, 0, 5, 2, LAUNCH_FIRE_AND_FORGET, 1600, 2500);
	launch(b, 0, 5, 2, LAUNCH_SIBLING, 1700, 2700);
	launch(b, 0, 5, 2, LAUNCH_TAIL, 3000, 3100);
	graphs = build(b);
	assert_int_equal(graphs->count, 3);
	assert_int_equal(graphs->launch_count, 3);
	assert_int_equal(find(graphs, 5, 2, LAUNCH_FIRE_AND_FORGET)->latency.p50_ns, 600);
	assert_int_equal(find(graphs, 5, 2, LAUNCH_SIBLING)->latency.p50_ns, 700);
	assert_int_equal(find(graphs, 5, 2, LAUNCH_TAIL)->latency.p50_ns, 1000);
	assert_int_equal(find(graphs, 5, 2, LAUNCH_TAIL)->time.total_ns, 100);
	/* the longest first */
	assert_int_equal(graphs->launches[0].launch_mode, LAUNCH_SIBLING);
	assert_int_equal(graphs->launches[1].launch_mode, LAUNCH_FIRE_AND_FORGET);
	done(b, graphs);
}

static void test_last_launcher(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;
	const struct device_launches *row;

	(void)state;
	for (int i = 0; i < 100; i++) { /* another graph runs beside them all the time */
		launch(b, 0, 0, 5, LAUNCH_BY_HOST, 10000 * i + 1000, 10000 * i + 2000);
		launch(b, 0, 0, 6, LAUNCH_BY_HOST, 10000 * i + 1500, 10000 * i + 9000);
		launch(b, 0, 5, 2, LAUNCH_TAIL, 10000 * i + 2100 + i, 10000 * i + 2300);
	}
	graphs = build(b);
	assert_int_equal(graphs->count, 1);
	row = find(graphs, 5, 2, LAUNCH_TAIL);
	assert_int_equal(row->latency.count, 100);
	assert_int_equal(row->latency.min_ns, 100);
	assert_int_equal(row->latency.p50_ns, 149);
	assert_int_equal(row->latency.max_ns, 199);
	done(b, graphs);
}

static void test_itself(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;
	const struct device_launches *row;

	(void)state;
	launch(b, 0, 0, 14, LAUNCH_BY_HOST, 1000, 1500);
	launch(b, 0, 14, 14, LAUNCH_TAIL, 1530, 2000);
	launch(b, 0, 14, 14, LAUNCH_TAIL, 2040, 2500);
	graphs = build(b);
	row = find(graphs, 14, 14, LAUNCH_TAIL);
	assert_int_equal(row->time.count, 2);
	assert_int_equal(row->latency.min_ns, 30);
	assert_int_equal(row->latency.max_ns, 40);
	assert_true(row->is_host_launched);
	done(b, graphs);
}

/* A graph that starts at the moment of a launch of itself is not its own launcher. */
static void test_not_its_own(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(b, 0, 14, 14, LAUNCH_SIBLING, 1000, 1500);
	graphs = build(b);
	assert_int_equal(graphs->launches[0].latency.count, 0);
	done(b, graphs);
}

/* Records are good for about 100 ns. */
static void test_tail_before_end(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 10000, 20000);
	launch(b, 0, 5, 2, LAUNCH_TAIL, 19904, 30000);
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 40000, 50000);
	launch(b, 0, 5, 2, LAUNCH_TAIL, 49936, 60000);
	graphs = build(b);
	assert_int_equal(graphs->launches[0].latency.count, 2);
	assert_int_equal(graphs->launches[0].latency.max_ns, 0);
	done(b, graphs);
}

static void test_unrecorded_launcher(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;
	const struct device_launches *row;

	(void)state;
	launch(b, 0, 5, 2, LAUNCH_FIRE_AND_FORGET, 500, 600); /* before any launch of 5 */
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 1000, 2000);
	launch(b, 0, 5, 2, LAUNCH_FIRE_AND_FORGET, 1600, 2500);
	launch(b, 0, 5, 3, LAUNCH_TAIL, 1700, 1800); /* 5 has not ended */
	launch(b, 0, 77, 2, LAUNCH_TAIL, 2800, 2900);
	graphs = build(b);
	row = find(graphs, 5, 2, LAUNCH_FIRE_AND_FORGET);
	assert_int_equal(row->time.count, 2);
	assert_int_equal(row->latency.count, 1);
	assert_int_equal(row->latency.p50_ns, 600);
	assert_int_equal(find(graphs, 5, 3, LAUNCH_TAIL)->latency.count, 0);
	assert_int_equal(find(graphs, 77, 2, LAUNCH_TAIL)->latency.count, 0);
	assert_false(find(graphs, 77, 2, LAUNCH_TAIL)->is_launcher_host_launched);
	done(b, graphs);
}

static void test_device_only(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 1000, 2000);
	launch(b, 0, 5, 2, LAUNCH_TAIL, 2100, 2500);
	launch(b, 0, 2, 3, LAUNCH_TAIL, 2600, 2700);
	launch(b, 0, 0, 3, LAUNCH_BY_HOST, 5000, 5100);
	graphs = build(b);
	assert_false(find(graphs, 5, 2, LAUNCH_TAIL)->is_host_launched);
	assert_true(find(graphs, 5, 2, LAUNCH_TAIL)->is_launcher_host_launched);
	assert_true(find(graphs, 2, 3, LAUNCH_TAIL)->is_host_launched);
	assert_false(find(graphs, 2, 3, LAUNCH_TAIL)->is_launcher_host_launched);
	assert_int_equal(find(graphs, 2, 3, LAUNCH_TAIL)->latency.p50_ns, 100);
	done(b, graphs);
}

/* Graph ids are those of a process. */
static void test_processes(void **state)
{
	struct builder *b = builder_new(2, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(b, 0, 0, 5, LAUNCH_BY_HOST, 1000, 2000);
	launch(b, 1, 0, 5, LAUNCH_BY_HOST, 1100, 2100);
	launch(b, 0, 5, 2, LAUNCH_FIRE_AND_FORGET, 1400, 2500);
	launch(b, 1, 5, 2, LAUNCH_FIRE_AND_FORGET, 1500, 2500);
	graphs = build(b);
	assert_int_equal(graphs->count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(graphs->launches[i].latency.p50_ns, 400);
	assert_int_equal(graphs->launches[0].process + graphs->launches[1].process, 1);
	done(b, graphs);
}

/* The host launches 5 launcher_count times; each time it launches count graphs in that mode. */
static struct builder *many(int launcher_count, int count, uint32_t mode)
{
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < launcher_count; i++) {
		int64_t now_ns = 100000 * (int64_t)i;
		int64_t first_ns = now_ns + (mode == LAUNCH_TAIL ? 50000 : 1);

		launch(b, 0, 0, 5, LAUNCH_BY_HOST, now_ns, now_ns + 50000);
		for (int k = 0; k < count; k++)
			launch(b, 0, 5, 100 + (uint32_t)k, mode, first_ns + 100 * k,
			       first_ns + 100 * k + 50);
	}
	return b;
}

static void test_limits(void **state)
{
	static const struct {
		int count;
		uint32_t mode;
		size_t limit_count;
	} cases[] = {
		{119, LAUNCH_FIRE_AND_FORGET, 0},
		{120, LAUNCH_FIRE_AND_FORGET, 1},
		{254, LAUNCH_TAIL, 0},
		{255, LAUNCH_TAIL, 1},
		{300, LAUNCH_SIBLING, 0},
		{300, 77, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builder *b = many(3, cases[i].count, cases[i].mode);
		struct device_graphs *graphs = build(b);

		assert_int_equal(graphs->limit_count, cases[i].limit_count);
		if (graphs->limit_count) {
			assert_int_equal(graphs->limits[0].launcher_graph, 5);
			assert_int_equal(graphs->limits[0].launch_mode, cases[i].mode);
			assert_int_equal(graphs->limits[0].launch_count, 3);
			assert_int_equal(graphs->limits[0].most, cases[i].count);
		}
		done(b, graphs);
	}
}

static void test_second_run(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct device_graphs *graphs;

	(void)state;
	launch(second, 0, 5, 2, LAUNCH_TAIL, 2100, 2500);
	first->profile.graph_run = (struct profile *)builder_finish(second);
	graphs = build(first);
	assert_ptr_equal(graphs->profile, &second->profile);
	assert_int_equal(graphs->count, 1);
	free(second);
	done(first, graphs);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(device_graphs_mode_name(LAUNCH_FIRE_AND_FORGET), "fire and forget");
	assert_string_equal(device_graphs_mode_key(LAUNCH_FIRE_AND_FORGET), "fire_and_forget");
	assert_string_equal(device_graphs_mode_name(LAUNCH_TAIL), "tail");
	assert_string_equal(device_graphs_mode_key(LAUNCH_SIBLING), "sibling");
	assert_string_equal(device_graphs_mode_name(99), "other");
	assert_string_equal(device_graphs_mode_key(UINT32_MAX), "other");
	device_graphs_free(NULL);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("launches by the host are no launches by the device", test_none),
		TEST("latency counts from the launcher's start, of tails from its end", test_modes),
		TEST("the launcher is its last launch before", test_last_launcher),
		TEST("a graph that launches itself follows itself", test_itself),
		TEST("a launch is not its own launcher", test_not_its_own),
		TEST("a launch that launched all that it may has come to the limit", test_limits),
		TEST("a tail launch may start a little before its launcher's recorded end",
		     test_tail_before_end),
		TEST("a launch whose launcher was not recorded has no latency",
		     test_unrecorded_launcher),
		TEST("graphs that only the device launches are known", test_device_only),
		TEST("graphs of two processes with the same ids are two", test_processes),
		TEST("of two runs the second is looked at", test_second_run),
		TEST("modes have names", test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
