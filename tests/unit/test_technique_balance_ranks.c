/* Ranks that take work from each other; measured: docs/results/workloads-shmem.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_job.h"
#include "fixture_two_gpus.h"
#include "techniques/balance_ranks.h"

static void test_fixed_shares(void **state)
{
	double measured = two_gpus_measured_us("nvshmem_steal", "naive") /
			  two_gpus_measured_us("nvshmem_steal", "steal");
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nvshmem_steal.naive");
	found = two_gpus_try(&two, TECHNIQUE_balance_ranks, 0);
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count, 78); /* the first launch takes longer */
	two_gpus_expect(&found.prediction, measured, 0.1);
	assert_true(found.prediction.place.low < 1.2);
	two_gpus_close(&two);
}

static void expect_refusal(const char *name, const char *refusal)
{
	struct two_gpus two;
	struct what_if found;

	two_gpus_open(&two, name);
	found = two_gpus_try(&two, TECHNIQUE_balance_ranks, 0);
	assert_string_equal(found.effect.refusal, refusal);
	two_gpus_close(&two);
}

static void test_equal(void **state)
{
	(void)state;
	expect_refusal("nvshmem_steal.steal", "no kernel that all ranks launch equally often takes "
					      "longer on one of them");
	expect_refusal("copy_overlap.naive", "only one GPU has work in the recording");
}

/* Two launches of each rank, of which the second ones are unequal. */
static void add_launches(struct builder *b, uint32_t process, const char *name, int64_t second_ns)
{
	job_run(b, process, name, 1000, 2000);
	job_run(b, process, name, 3000, 3000 + second_ns);
}

static struct rank_balance find(struct builder *b)
{
	struct rank_balance balance;

	assert_int_equal(rank_balance_find(&balance, builder_finish(b)), 0);
	return balance;
}

static void test_launch_by_launch(void **state)
{
	struct builder *b = builder_new(3, 3);
	struct rank_balance balance;

	(void)state;
	for (uint32_t rank = 0; rank < 3; rank++)
		add_launches(b, rank, "work", 1000 * (rank + 1));
	balance = find(b);
	assert_int_equal(balance.rank_count, 3);
	assert_int_equal(balance.kernel_count, 1);
	assert_int_equal(balance.kernels[0].launch_count, 2);
	assert_float_equal(balance.kernels[0].longest_ns, 1000 + 3000, 0.1);
	assert_float_equal(balance.kernels[0].mean_ns, 1000 + 2000, 0.1);
	rank_balance_free(&balance);
	free(b);
}

/* The first launch waits for its code on one rank only: neither it nor its like is compared. */
static void test_outlier(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct rank_balance balance;

	(void)state;
	for (uint32_t rank = 0; rank < 2; rank++)
		for (int64_t i = 0; i < 20; i++)
			job_run(b, rank, "work", 1000000 * i,
				1000000 * i + (rank == 0 && i == 0 ? 900000 : 2000));
	balance = find(b);
	assert_int_equal(balance.kernel_count, 0);
	rank_balance_free(&balance);
	free(b);
}

/* More launches on one rank are other work, and a collective takes longer where it waits. */
static void test_other_work(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct rank_balance balance;

	(void)state;
	for (uint32_t rank = 0; rank < 2; rank++) {
		add_launches(b, rank, "work", 1000 * (rank + 1));
		add_launches(b, rank, JOB_REDUCE, 1000 * (rank + 1));
	}
	job_run(b, 1, "work", 9000, 10000);
	balance = find(b);
	assert_int_equal(balance.kernel_count, 0);
	rank_balance_free(&balance);
	free(b);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"fixed shares from one counter for all are predicted as measured, up to that",
			test_fixed_shares),
		SENTENCE("it is refused where ranks take equally long, and on one GPU", test_equal),
		SENTENCE("launches are compared one by one, of any number of ranks",
			 test_launch_by_launch),
		SENTENCE("a launch that is none of the usual ones is not compared", test_outlier),
		SENTENCE("what ranks launch unequally often, and collectives, are left alone",
			 test_other_work),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
