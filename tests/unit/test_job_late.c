/* What made the rank late that others waited for: what it had more of than they. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_job.h"

static const char other[] = "nvshmemi_proxy_kernel";
static const struct profile_copy in = {.bytes = 8192, .kind = COPY_TO_DEVICE},
				 out = {.bytes = 8192, .kind = COPY_TO_HOST},
				 peer = {.bytes = 4096,
					 .kind = COPY_BETWEEN_DEVICES,
					 .src_device = 1,
					 .dst_device = 0};

/* Rank 0 waits in the collective from 0 on, rank 1 comes at 800. */
static struct builder *waiting(void)
{
	struct builder *b = builder_new(2, 2);

	for (uint32_t i = 0; i < 2; i++)
		b->processes[i].rank = i;
	job_run(b, 0, JOB_REDUCE, 0, 1000);
	return b;
}

/* What is not said of a cause is 0. */
static void expect_blame(struct builder *b, const int64_t by_cause_ns[JOB_LATE_CAUSE_COUNT])
{
	struct built_job it = job_of(b);
	const struct job_late *late = &it.job->ranks[1].late;
	int64_t sum_ns = 0;

	for (int cause = 0; cause < JOB_LATE_CAUSE_COUNT; cause++) {
		assert_int_equal(late->by_cause_ns[cause], by_cause_ns[cause]);
		sum_ns += by_cause_ns[cause];
	}
	assert_int_equal(late->caused_wait_ns, sum_ns);
	job_done(&it);
}

#define BLAME(...) ((const int64_t[JOB_LATE_CAUSE_COUNT]){__VA_ARGS__})

static void copies_of_every_kind_are_copies(void **state)
{
	const struct profile_copy kinds[] = {in, out, peer};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct builder *b = waiting();

		job_copy(b, 1, kinds[i], 0, 800);
		job_run(b, 1, JOB_REDUCE, 800, 1000);
		expect_blame(b, BLAME([JOB_LATE_COPIES] = 800));
	}
}

/* What rank 0 sent through the host: the copy is communication, and still a copy. */
static void copies_through_the_host_are_copies(void **state)
{
	struct builder *b = waiting();

	(void)state;
	job_copy(b, 0, out, 1100, 1200);
	job_copy(b, 1, in, 1300, 1700);
	job_run(b, 0, JOB_REDUCE, 1300, 1800);
	job_run(b, 1, JOB_REDUCE, 0, 1000);
	job_run(b, 1, JOB_REDUCE, 1700, 1800);
	/* 300 more of copies and 100 more of waiting for what no call is known to have launched */
	expect_blame(b, BLAME([JOB_LATE_COPIES] = 300, [JOB_LATE_UNKNOWN] = 100));
}

static void beside_kernels_only_these_count_and_beside_copies_no_communication(void **state)
{
	struct builder *b = waiting();

	(void)state;
	job_run(b, 1, "k", 0, 500);
	job_copy(b, 1, in, 100, 700);
	job_run(b, 1, other, 200, 800);
	job_run(b, 1, JOB_REDUCE, 800, 1000);
	/* of 800 as 500, 200 and 100 */
	expect_blame(b, BLAME([JOB_LATE_KERNELS] = 500, [JOB_LATE_COPIES] = 200,
			      [JOB_LATE_COMMUNICATION] = 100));
}

/* The collective of rank 1, behind a kernel until 500, launched by a call. */
static struct builder *launched(int64_t call_ns, int64_t return_ns)
{
	struct builder *b = waiting();

	job_run(b, 1, "k", 0, 500);
	builder_kernel(b, builder_stream(b, 1, 1), JOB_REDUCE, 800, 1000,
		       builder_launch(b, 1, call_ns, return_ns));
	return b;
}

static void idle_time_is_the_hosts_where_it_launched_after_that_had_begun(void **state)
{
	(void)state;
	expect_blame(launched(600, 700), BLAME([JOB_LATE_KERNELS] = 500, [JOB_LATE_HOST] = 300));
	/* the call returned then, or before */
	expect_blame(launched(450, 501), BLAME([JOB_LATE_KERNELS] = 500, [JOB_LATE_HOST] = 300));
	expect_blame(launched(450, 500), BLAME([JOB_LATE_KERNELS] = 500, [JOB_LATE_DEVICE] = 300));
	expect_blame(launched(10, 20), BLAME([JOB_LATE_KERNELS] = 500, [JOB_LATE_DEVICE] = 300));
}

/* Idle time begins with the end of the operation that ends last, not with that of the one that began last. */
static void a_short_operation_beside_a_long_one_begins_no_idle_time(void **state)
{
	struct builder *b = waiting();

	(void)state;
	job_run(b, 1, "k", 0, 700);
	job_run(b, 1, "k", 100, 200);
	builder_kernel(b, builder_stream(b, 1, 1), JOB_REDUCE, 800, 1000,
		       builder_launch(b, 1, 600, 650));
	expect_blame(b, BLAME([JOB_LATE_KERNELS] = 700, [JOB_LATE_DEVICE] = 100));
}

/* What rounding leaves is the largest cause's. */
static void causes_add_up_to_the_wait(void **state)
{
	struct builder *b = builder_new(2, 2);

	(void)state;
	job_run(b, 0, JOB_REDUCE, 1, 1000);
	job_run(b, 1, "k", 0, 600);
	job_copy(b, 1, in, 600, 800);
	job_run(b, 1, JOB_REDUCE, 800, 1000);
	expect_blame(b, BLAME([JOB_LATE_KERNELS] = 600, [JOB_LATE_COPIES] = 199));
}

/* Before a collective counts what ran since the one before it, or since that began where the two run side by side. */
static void each_collective_has_its_own_time_before_it(void **state)
{
	struct builder *b = waiting();

	(void)state;
	job_run(b, 1, "k", 0, 800);
	job_run(b, 1, JOB_REDUCE, 800, 1000);
	job_run(b, 0, JOB_REDUCE, 1000, 1500);
	job_copy(b, 1, in, 1000, 1400);
	job_run(b, 1, JOB_REDUCE, 1400, 1500);
	expect_blame(b, BLAME([JOB_LATE_KERNELS] = 800, [JOB_LATE_COPIES] = 400));
	b = builder_new(2, 2);
	for (uint32_t i = 0; i < 2; i++)
		job_run(b, i, JOB_REDUCE, 0, 1000);
	job_run(b, 0, JOB_REDUCE, 100, 1000);
	job_run(b, 1, "k", 50, 400);
	job_run(b, 1, JOB_REDUCE, 400, 1000);
	expect_blame(b, BLAME([JOB_LATE_KERNELS] = 300));
}

static void the_longest_wait_and_the_one_that_came_last_first_are_told(void **state)
{
	static const char gather[] = "ncclDevKernel_AllGather_RING_LL";
	struct builder *b = waiting();
	struct built_job it;

	(void)state;
	job_run(b, 1, JOB_REDUCE, 800, 1000);
	job_run(b, 0, JOB_REDUCE, 1000, 1200);
	job_run(b, 1, JOB_REDUCE, 1100, 1200);
	for (uint32_t i = 0; i < 2; i++)
		job_run(b, i, gather, 2000, 9000);
	it = job_of(b);
	assert_int_equal(it.job->ranks[1].late.most_ns, 800);
	assert_int_equal(it.job->collective_count, 2);
	assert_true(it.job->collectives[0].time_ns == 14000);  /* the one with most time first */
	assert_int_equal(it.job->collectives[0].most_late, 0); /* of two that come together */
	assert_int_equal(it.job->collectives[1].most_late, 1);
	job_done(&it);
}

#define TEST(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(copies_of_every_kind_are_copies),
		TEST(copies_through_the_host_are_copies),
		TEST(beside_kernels_only_these_count_and_beside_copies_no_communication),
		TEST(idle_time_is_the_hosts_where_it_launched_after_that_had_begun),
		TEST(a_short_operation_beside_a_long_one_begins_no_idle_time),
		TEST(causes_add_up_to_the_wait),
		TEST(each_collective_has_its_own_time_before_it),
		TEST(the_longest_wait_and_the_one_that_came_last_first_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
