/* The two runs of --graphs=both: the same launches, or which launch differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/compare/graph_join.h"
#include "profile_builder.h"

/* A launch as the first run sees it: each name is a kernel node. */
static void launch_nodes(struct builder *b, uint32_t stream, uint32_t graph, uint32_t correlation,
			 int64_t start_ns, const char *first, const char *second)
{
	const char *const names[] = {first, second};

	for (uint32_t i = 0; i < 2 && names[i]; i++) {
		struct profile_op *op = builder_kernel(b, stream, names[i], start_ns + 10 * i,
						       start_ns + 10 * i + 5, PROFILE_NONE);

		builder_ids(b, op)->graph = graph;
		builder_ids(b, op)->graph_node = 100 * graph + i + 1;
		builder_ids(b, op)->correlation = correlation;
	}
}

/* The same as the second run sees it, and a launch by the device: mode 1, 2 or 3. */
static void launch_graph(struct builder *b, uint32_t stream, uint32_t graph, uint32_t correlation,
			 uint32_t mode, int64_t start_ns)
{
	struct profile_op *op =
		builder_graph(b, stream, mode, start_ns, start_ns + 15, PROFILE_NONE);

	builder_ids(b, op)->graph = graph;
	builder_ids(b, op)->correlation = correlation;
}

static struct graph_join *join_runs(struct builder *first, struct builder *second)
{
	struct graph_join *join = NULL;
	struct err err = {""};

	first->profile.graph_run = (struct profile *)builder_finish(second);
	assert_int_equal(graph_join_build(&join, builder_finish(first), &err), 0);
	assert_non_null(join);
	return join;
}

static void done(struct builder *first, struct builder *second, struct graph_join *join)
{
	graph_join_free(join);
	free(first);
	free(second);
}

static void test_once(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct graph_join *join = (struct graph_join *)b;
	struct err err = {""};

	(void)state;
	assert_int_equal(graph_join_build(&join, builder_finish(b), &err), 0);
	assert_null(join);
	assert_null(graph_join_find(NULL, 0, 5));
	graph_join_free(NULL);
	free(b);
}

static void test_same(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	const struct graph_pair *pair;
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 1000, "a", "b");
	launch_nodes(first, 0, 8, 12, 2000, "c", NULL);
	launch_nodes(first, 0, 5, 13, 3000, "a", "b");
	launch_graph(second, 0, 30, 7, 0, 1000);
	launch_graph(second, 0, 9, 0, 1, 1005); /* by the device */
	launch_graph(second, 0, 20, 9, 0, 2000);
	launch_graph(second, 0, 30, 10, 0, 3000);
	join = join_runs(first, second);
	assert_string_equal(join->difference, "");
	assert_int_equal(join->pair_count, 2);
	assert_int_equal(join->launch_count, 3);
	pair = graph_join_find(join, 0, 30);
	assert_non_null(pair);
	assert_int_equal(pair->graph, 5);
	assert_int_equal(pair->launch_count, 2);
	assert_int_equal(pair->node_count, 2);
	assert_string_equal(first->signatures[pair->signature].name, "a");
	assert_int_equal(graph_join_find(join, 0, 20)->graph, 8);
	assert_int_equal(graph_join_find(join, 0, 20)->node_count, 1);
	assert_null(graph_join_find(join, 0, 9));
	assert_null(graph_join_find(join, 1, 30));
	done(first, second, join);
}

/* On the GPU launches of two streams may run in another order than they were made in. */
static void test_call_order(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 4000, "a", NULL);
	launch_nodes(first, 0, 8, 12, 2000, "c", NULL);
	launch_graph(second, 0, 5, 11, 0, 1000);
	launch_graph(second, 0, 8, 12, 0, 2000);
	join = join_runs(first, second);
	assert_string_equal(join->difference, "");
	assert_int_equal(graph_join_find(join, 0, 5)->graph, 5);
	done(first, second, join);
}

static void test_other_graph(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 0, 8, 12, 2000, "b", NULL);
	launch_nodes(first, 0, 8, 13, 3000, "b", NULL);
	launch_graph(second, 0, 6, 11, 0, 1000);
	launch_graph(second, 0, 9, 12, 0, 2000);
	launch_graph(second, 0, 6, 13, 0, 3000);
	join = join_runs(first, second);
	assert_string_equal(join->difference,
			    "graph launch 3 is of graph number 2 (id 8) in the first run and of "
			    "graph number 1 (id 6) in the second");
	assert_int_equal(join->pair_count, 0);
	assert_null(graph_join_find(join, 0, 6));
	done(first, second, join);
}

static void test_count(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_graph(second, 0, 6, 11, 0, 1000);
	launch_graph(second, 0, 6, 12, 0, 2000);
	join = join_runs(first, second);
	assert_string_equal(join->difference,
			    "graph launch 2, of graph number 1 (id 6), is in the second run only: "
			    "1 graph launches in the first and 2 in the second");
	done(first, second, join);
}

static void test_first_longer(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 0, 5, 12, 2000, "a", NULL);
	launch_graph(second, 0, 6, 11, 0, 1000);
	join = join_runs(first, second);
	assert_non_null(strstr(join->difference, "graph launch 2, of graph number 1 (id 5), is in "
						 "the first run only"));
	done(first, second, join);
}

static void test_ranks(void **state)
{
	struct builder *first = builder_new(2, 1), *second = builder_new(2, 1);
	struct graph_join *join;

	(void)state;
	first->processes[0].rank = second->processes[1].rank = 0;
	first->processes[1].rank = second->processes[0].rank = 1;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 1, 5, 11, 1000, "b", "c");
	launch_graph(second, 0, 7, 11, 0, 1000);
	launch_graph(second, 1, 8, 11, 0, 1000);
	join = join_runs(first, second);
	assert_string_equal(join->difference, "");
	assert_int_equal(graph_join_find(join, 0, 7)->process, 1);
	assert_int_equal(graph_join_find(join, 0, 7)->node_count, 2);
	assert_int_equal(graph_join_find(join, 1, 8)->process, 0);
	done(first, second, join);
}

static void test_rank_told(void **state)
{
	struct builder *first = builder_new(2, 1), *second = builder_new(2, 1);
	struct graph_join *join;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		first->processes[i].rank = second->processes[i].rank = i;
		launch_nodes(first, i, 5, 11, 1000, "a", NULL);
		launch_graph(second, i, 5, 11, 0, 1000);
	}
	launch_graph(second, 1, 5, 12, 0, 2000);
	join = join_runs(first, second);
	assert_non_null(strstr(join->difference, "graph launch 2 of rank 1, of graph number 1"));
	graph_join_free(join);
	second->processes[1].rank = 2;
	join = join_runs(first, second);
	assert_string_equal(join->difference, "rank 1 launched graphs in the first run only");
	done(first, second, join);
}

/* Without ranks processes are matched as they started, whatever their folders are called. */
static void test_start_order(void **state)
{
	struct builder *first = builder_new(2, 1), *second = builder_new(2, 1);
	struct graph_join *join;

	(void)state;
	first->processes[0].start_ns = second->processes[1].start_ns = 100;
	first->processes[1].start_ns = second->processes[0].start_ns = 200;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 1, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 1, 5, 12, 2000, "a", NULL);
	launch_graph(second, 1, 8, 11, 0, 1000);
	launch_graph(second, 0, 7, 11, 0, 1000);
	launch_graph(second, 0, 7, 12, 0, 2000);
	join = join_runs(first, second);
	assert_string_equal(join->difference, "");
	assert_int_equal(graph_join_find(join, 1, 8)->process, 0);
	done(first, second, join);
}

static void test_process_count(void **state)
{
	struct builder *first = builder_new(2, 1), *second = builder_new(2, 1);
	struct graph_join *join;

	(void)state;
	launch_nodes(first, 0, 5, 11, 1000, "a", NULL);
	launch_nodes(first, 1, 5, 11, 1000, "a", NULL);
	launch_graph(second, 0, 5, 11, 0, 1000); /* the other one launches no graph */
	join = join_runs(first, second);
	assert_string_equal(join->difference, "2 processes launched graphs in the first run and 1 "
					      "in the second");
	done(first, second, join);
}

static void test_no_launch(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	builder_ids(first, builder_kernel(first, 0, "a", 10, 20, PROFILE_NONE))->correlation =
		5;					  /* in no graph */
	launch_nodes(first, 0, 5, 0, 1000, "body", NULL); /* of a conditional node */
	launch_graph(second, 0, 5, 0, 2, 1000);
	join = join_runs(first, second);
	assert_string_equal(join->difference, "");
	assert_int_equal(join->pair_count, 0);
	done(first, second, join);
}

static void test_doubt(void **state)
{
	struct builder *first = builder_new(1, 1), *second = builder_new(1, 1);
	struct graph_join *join;

	(void)state;
	launch_graph(second, 0, 5, 11, 0, 1000);
	second->losses[0] = (struct profile_loss){0, "dropped_records", 3, ""};
	second->profile.loss_count = 1;
	join = join_runs(first, second);
	assert_non_null(strstr(join->difference, "; records were lost"));
	graph_join_free(join);
	first->processes[0].is_filtered = true;
	join = join_runs(first, second);
	assert_non_null(strstr(join->difference, "; only a part was recorded"));
	done(first, second, join);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a program that was recorded once has nothing to join", test_once),
		TEST("equal sequences are joined although the ids differ", test_same),
		TEST("launches are compared in the order of their calls", test_call_order),
		TEST("a launch of another graph is named by its number", test_other_graph),
		TEST("a launch more is told", test_count),
		TEST("a launch less is told", test_first_longer),
		TEST("processes are matched by rank", test_ranks),
		TEST("the rank that differed is named", test_rank_told),
		TEST("processes without ranks are matched by their start", test_start_order),
		TEST("a process less is told", test_process_count),
		TEST("what no call launched is no launch", test_no_launch),
		TEST("limits and losses are named as what may be why", test_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
