/* Who sent to whom through the host: what can be told of three ranks and more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/job/staged_copies.h"
#include "fixture_job.h"

static const struct profile_copy out = {.bytes = 8192, .kind = COPY_TO_HOST};
static const struct profile_copy in = {.bytes = 8192, .kind = COPY_TO_DEVICE};

static struct builder *launched(size_t rank_count)
{
	struct builder *b = builder_new(rank_count, rank_count);

	for (uint32_t i = 0; i < rank_count; i++)
		b->processes[i].rank = i;
	return b;
}

static void expect_unknown(const struct job *job, uint64_t count)
{
	assert_int_equal(job->transfer_count, 1);
	assert_int_equal(job->transfers[0].from, PROFILE_NONE);
	assert_int_equal(job->transfers[0].to, PROFILE_NONE);
	assert_true(job->transfers[0].is_through_host);
	assert_int_equal(job->transfers[0].count, count);
	assert_int_equal(job->unknown_transfer_count, count);
	assert_int_equal(job->path_hop_count, 0);
}

/* Each hands on what it received: the other way round, rank 1 would receive before rank 2 sends. */
static void the_one_ring_that_time_leaves_is_taken(void **state)
{
	struct builder *b = launched(3);
	struct built_job it;

	(void)state;
	for (int64_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < 3; i++) {
			int64_t at = 1000 * turn + 200 * i;

			job_copy(b, i, out, at, at + 100);
			job_copy(b, (i + 1) % 3, in, at + 110, at + 190);
		}
	it = job_of(b);
	assert_int_equal(it.job->unknown_transfer_count, 0);
	assert_int_equal(it.job->transfer_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct job_transfer *transfer = &it.job->transfers[i];

		assert_int_equal(transfer->to, (transfer->from + 1) % 3);
		assert_int_equal(transfer->count, 2);
		assert_int_equal(transfer->time_ns, 2 * 180);
	}
	assert_true(it.job->path_hop_count > 0);
	job_done(&it);
}

/* All send, and then all receive: every ring fits. */
static void where_several_rings_fit_none_is_told(void **state)
{
	struct builder *b = launched(3);
	struct built_job it;

	(void)state;
	for (int64_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < 3; i++) {
			job_copy(b, i, out, 1000 * turn + i, 1000 * turn + 100);
			job_copy(b, i, in, 1000 * turn + 200 + i, 1000 * turn + 300);
		}
	it = job_of(b);
	expect_unknown(it.job, 6);
	assert_true(it.job->ranks[0].times.host_copy_ns > 0); /* but that they are halves is told */
	job_done(&it);
}

static void what_one_rank_sends_two_is_not_divided_among_them(void **state)
{
	struct builder *b = launched(3);
	struct built_job it;

	(void)state;
	for (int64_t i = 0; i < 2; i++)
		job_copy(b, 0, out, 100 * i, 100 * i + 90);
	for (uint32_t i = 1; i < 3; i++)
		job_copy(b, i, in, 200 + i, 300);
	it = job_of(b);
	expect_unknown(it.job, 2);
	job_done(&it);
}

/* The third has data from its host first and gives a result in the end, which nobody takes. */
static void ranks_that_nobody_can_receive_from_are_no_partners(void **state)
{
	struct builder *b = launched(3);
	struct built_job it;

	(void)state;
	job_copy(b, 2, in, 0, 10);
	job_copy(b, 0, out, 100, 200);
	job_copy(b, 1, in, 300, 400);
	job_copy(b, 2, out, 500, 600);
	it = job_of(b);
	assert_int_equal(it.job->unknown_transfer_count, 0);
	assert_int_equal(it.job->transfer_count, 1);
	assert_int_equal(it.job->transfers[0].from, 0);
	assert_int_equal(it.job->transfers[0].to, 1);
	assert_int_equal(it.job->transfers[0].count, 1);
	job_done(&it);
}

/* One ring fits, but of more ranks than are told apart; all on one GPU. */
static void of_too_many_ranks_nothing_is_told(void **state)
{
	const uint32_t count = STAGED_RANKS_MOST + 1;
	struct builder *b = builder_new(count, 1);
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < count; i++)
		b->processes[i].rank = i;
	for (uint32_t i = 0; i < count; i++) {
		builder_copy(b, builder_stream(b, i, 0), out, 1000 * i, 1000 * i + 100,
			     PROFILE_NONE);
		builder_copy(b, builder_stream(b, (i + 1) % count, 0), in, 1000 * i + 110,
			     1000 * i + 190, PROFILE_NONE);
	}
	it = job_of(b);
	expect_unknown(it.job, count);
	job_done(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_ring_that_time_leaves_is_taken),
		cmocka_unit_test(where_several_rings_fit_none_is_told),
		cmocka_unit_test(what_one_rank_sends_two_is_not_divided_among_them),
		cmocka_unit_test(ranks_that_nobody_can_receive_from_are_no_partners),
		cmocka_unit_test(of_too_many_ranks_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
