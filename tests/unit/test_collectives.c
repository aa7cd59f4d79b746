/* How long ranks wait for each other in NCCL's collectives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/time/collectives.h"
#include "profile_builder.h"

static const char reduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
static const char gather[] = "ncclDevKernel_AllGather_RING_LL";

static struct collectives *build(struct builder *b)
{
	struct collectives *all = NULL;
	struct err err = {""};

	assert_int_equal(collectives_build(&all, builder_finish(b), &err), 0);
	return all;
}

static void done(struct builder *b, struct collectives *all)
{
	collectives_free(all);
	free(b);
}

/* On the GPU of the same number; launched when it starts. */
static struct profile_op *collective(struct builder *b, uint32_t process, const char *name,
				     int64_t start_ns, int64_t end_ns)
{
	uint32_t call = builder_launch(b, process, start_ns, start_ns + 1);

	return builder_kernel(b, builder_stream(b, process, process), name, start_ns, end_ns, call);
}

static void expect_wait(const struct collectives *all, size_t device, int64_t wait_ns)
{
	assert_true(all->devices[device].is_known);
	assert_int_equal(all->devices[device].wait_ns, wait_ns);
}

static void programs_without_nccl_have_none(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct collectives *all;

	(void)state;
	collective(b, 0, "k", 0, 100);
	collective(b, 1, "ncclDevKernel_SendRecv", 50, 100);
	all = build(b);
	assert_int_equal(all->count, 0);
	assert_int_equal(all->rank_count, 0);
	assert_false(all->devices[0].is_known || all->devices[1].is_known);
	done(b, all);
}

static void a_rank_waits_until_the_last_one_arrives(void **state)
{
	struct builder *b = builder_new(3, 3);
	struct collectives *all;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		builder_kernel(b, builder_stream(b, i, i), "k", 0, 50, PROFILE_NONE);
	collective(b, 0, reduce, 100, 1100);
	collective(b, 1, reduce, 300, 1100);
	collective(b, 2, reduce, 1000, 1100);
	collective(b, 0, gather, 2000, 2500); /* this time it is the last */
	collective(b, 1, gather, 1900, 2500);
	collective(b, 2, gather, 1980, 2500);
	all = build(b);
	expect_wait(all, 0, 900);
	expect_wait(all, 1, 700 + 100);
	expect_wait(all, 2, 20);
	assert_int_equal(all->items[all->ranks[1].first].awaited, 2);
	assert_int_equal(all->items[all->ranks[1].first + 1].awaited, 0);
	assert_int_equal(all->items[all->ranks[0].first + 1].awaited, PROFILE_NONE);
	done(b, all);
}

/* The root of a broadcast is done before the others begin. */
static void a_rank_that_comes_after_the_end_was_not_waited_for(void **state)
{
	struct builder *b = builder_new(3, 3);
	struct collectives *all;

	(void)state;
	collective(b, 0, reduce, 100, 200);
	collective(b, 1, reduce, 130, 900);
	collective(b, 2, reduce, 800, 900);
	all = build(b);
	expect_wait(all, 0, 30);
	expect_wait(all, 1, 670);
	expect_wait(all, 2, 0);
	done(b, all);
}

static struct collectives *two_ranks(struct builder *b, const char *const *one, size_t one_count,
				     const char *const *other, size_t other_count)
{
	for (size_t i = 0; i < one_count; i++)
		collective(b, 0, one[i], 1000 * (int64_t)i, 1000 * (int64_t)i + 500);
	for (size_t i = 0; i < other_count; i++)
		collective(b, 1, other[i], 1000 * (int64_t)i + 400, 1000 * (int64_t)i + 500);
	return build(b);
}

static void nothing_is_said_of_ranks_that_are_not_alike(void **state)
{
	const char *const one[] = {reduce, reduce, gather}, *const other[] = {reduce, gather,
									      reduce};
	struct builder *b = builder_new(2, 2);
	struct collectives *all = two_ranks(b, one, 3, one, 3);

	(void)state;
	expect_wait(all, 0, 1200);
	done(b, all);
	b = builder_new(2, 2);
	all = two_ranks(b, one, 3, other, 3);
	assert_int_equal(all->rank_count, 2);
	assert_false(all->devices[0].is_known || all->devices[1].is_known);
	assert_int_equal(all->devices[0].wait_ns, 0);
	done(b, all);
	b = builder_new(2, 2);
	all = two_ranks(b, one, 3, one, 2);
	assert_false(all->devices[0].is_known || all->devices[1].is_known);
	done(b, all);
	b = builder_new(2, 2);
	b->processes[1].host = "elsewhere";
	all = two_ranks(b, one, 3, one, 3);
	assert_false(all->devices[0].is_known || all->devices[1].is_known);
	done(b, all);
}

/* In two streams: one rank runs first what the other runs last. */
static void ranks_are_matched_as_the_host_launched_them(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct collectives *all;
	uint32_t first[2], second[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		first[i] = builder_launch(b, i, 0, 1);
		second[i] = builder_launch(b, i, 10, 11);
	}
	builder_kernel(b, builder_stream(b, 0, 0), reduce, 5000, 5500, first[0]);
	builder_kernel(b, builder_stream(b, 0, 0), gather, 1000, 5800, second[0]);
	builder_kernel(b, builder_stream(b, 1, 1), reduce, 400, 5500, first[1]);
	builder_kernel(b, builder_stream(b, 1, 1), gather, 5700, 5800, second[1]);
	all = build(b);
	expect_wait(all, 0, 4700);
	expect_wait(all, 1, 4600);
	done(b, all);
}

static void waits_at_once_count_once(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct collectives *all;

	(void)state;
	collective(b, 0, reduce, 100, 1000);
	collective(b, 0, gather, 200, 1000);
	collective(b, 1, reduce, 600, 1000);
	collective(b, 1, gather, 700, 1000);
	all = build(b);
	expect_wait(all, 0, 600);
	done(b, all);
}

static void a_collective_in_a_graph_waits_as_well(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct collectives *all;

	(void)state;
	builder_ids(b, collective(b, 0, reduce, 100, 1000))->graph = 5;
	builder_ids(b, collective(b, 1, reduce, 600, 1000))->graph = 7;
	all = build(b);
	expect_wait(all, 0, 500);
	assert_true(all->items[0].is_in_graph);
	done(b, all);
}

/* Against a search over all pairs, with groups that lie in turns. */
static void many_ranks_wait_as_long_as_counted_one_by_one(void **state)
{
	enum { RANKS = 7, ROUNDS = 40 };
	struct builder *b = builder_new(RANKS, RANKS);
	static int64_t start_ns[RANKS][ROUNDS], end_ns[RANKS][ROUNDS];
	int64_t expected_ns[RANKS] = {0};
	struct collectives *all;

	(void)state;
	srand(3);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < ROUNDS; i++) {
			start_ns[rank][i] = 10000 * i + rand() % 4000;
			end_ns[rank][i] = start_ns[rank][i] + rand() % 5000;
			collective(b, rank, rank % 2 ? reduce : gather, start_ns[rank][i],
				   end_ns[rank][i]);
		}
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < ROUNDS; i++) {
			int64_t latest_ns = start_ns[rank][i];

			for (int other = rank % 2; other < RANKS; other += 2)
				if (start_ns[other][i] < end_ns[rank][i] &&
				    start_ns[other][i] > latest_ns)
					latest_ns = start_ns[other][i];
			expected_ns[rank] += latest_ns - start_ns[rank][i];
		}
	all = build(b);
	assert_int_equal(all->rank_count, RANKS);
	for (size_t rank = 0; rank < RANKS; rank++)
		expect_wait(all, rank, expected_ns[rank]);
	done(b, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_without_nccl_have_none),
		cmocka_unit_test(a_rank_waits_until_the_last_one_arrives),
		cmocka_unit_test(a_rank_that_comes_after_the_end_was_not_waited_for),
		cmocka_unit_test(nothing_is_said_of_ranks_that_are_not_alike),
		cmocka_unit_test(ranks_are_matched_as_the_host_launched_them),
		cmocka_unit_test(waits_at_once_count_once),
		cmocka_unit_test(a_collective_in_a_graph_waits_as_well),
		cmocka_unit_test(many_ranks_wait_as_long_as_counted_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
