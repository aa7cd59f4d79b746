/* Several ranks as one job: which operations are communication, what it hides behind, and what leads to the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_job.h"

static void one_gpu_of_one_process_is_no_job(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct built_job it;

	(void)state;
	job_run(b, 0, "k", 0, 100);
	it = job_of(b);
	assert_int_equal(it.job->rank_count, 0);
	job_done(&it);
}

/* Two programs of a script. */
static void processes_on_one_gpu_are_a_job_where_a_launcher_numbers_them(void **state)
{
	(void)state;
	for (int64_t numbered = 0; numbered < 2; numbered++) {
		struct builder *b = builder_new(2, 1);
		struct built_job it;

		for (uint32_t i = 0; i < 2; i++) {
			b->processes[i].rank = numbered ? 1 - (int64_t)i : -1;
			builder_kernel(b, builder_stream(b, i, 0), "k", 100 * i, 100 * i + 50,
				       PROFILE_NONE);
		}
		it = job_of(b);
		assert_int_equal(it.job->rank_count, 2 * numbered);
		if (numbered) { /* by the launcher's number; idle causes are the GPU's, not a rank's */
			assert_int_equal(it.job->ranks[0].process, 1);
			assert_false(it.job->ranks[0].has_causes);
			assert_int_equal(it.job->all.busy_ns, 100);
		}
		job_done(&it);
	}
}

static void communication_beside_computation_is_not_exposed(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		job_run(b, i, "k", 0, 400);
		job_run(b, i, JOB_REDUCE, 300, 1000);
		job_run(b, i, "nvshmemi_proxy_kernel", 1100, 1200);
		job_run(b, i, "k", 900, 950);
	}
	it = job_of(b);
	assert_int_equal(it.job->rank_count, 2);
	assert_int_equal(it.job->ranks[0].times.computation_ns, 450);
	assert_int_equal(it.job->ranks[0].times.communication_ns, 800);
	assert_int_equal(it.job->ranks[0].times.overlapped_ns, 150);
	assert_int_equal(it.job->ranks[0].times.exposed_ns, 650);
	assert_int_equal(it.job->all.exposed_ns, 1300);
	assert_int_equal(it.job->all.wall_ns, 2400);
	job_done(&it);
}

/* One process with three GPUs: 0 sends to 1 by a peer copy, on a stream of GPU 0. */
static void peer_copies_are_communication_and_lead_the_path_to_the_sender(void **state)
{
	struct builder *b = builder_new(1, 3);
	struct built_job it;

	(void)state;
	builder_kernel(b, builder_stream(b, 0, 0), "k", 0, 500, PROFILE_NONE);
	builder_copy(b, builder_stream(b, 0, 0),
		     (struct profile_copy){.bytes = 4096,
					   .kind = COPY_BETWEEN_DEVICES,
					   .src_device = 0,
					   .dst_device = 1},
		     500, 700, PROFILE_NONE);
	builder_kernel(b, builder_stream(b, 0, 1), "k", 10, 20, PROFILE_NONE);
	builder_kernel(b, builder_stream(b, 0, 1), "k", 710, 1000, PROFILE_NONE);
	it = job_of(b);
	assert_int_equal(it.job->rank_count, 2); /* the third GPU ran nothing */
	assert_int_equal(it.job->ranks[0].times.peer_copy_ns, 200);
	assert_int_equal(it.job->ranks[0].times.exposed_ns, 200);
	assert_int_equal(it.job->transfer_count, 1);
	assert_int_equal(it.job->transfers[0].from, 0);
	assert_int_equal(it.job->transfers[0].to, 1);
	assert_int_equal(it.job->transfers[0].bytes, 4096);
	assert_int_equal(it.job->path_hop_count, 1);
	assert_int_equal(it.job->ranks[1].path_ns[JOB_PATH_COMPUTATION], 290);
	assert_int_equal(it.job->ranks[1].path_ns[JOB_PATH_IDLE], 10);
	assert_int_equal(it.job->ranks[0].path_ns[JOB_PATH_COMMUNICATION], 200);
	assert_int_equal(it.job->ranks[0].path_ns[JOB_PATH_COMPUTATION], 500);
	job_done(&it);
}

/* Two on a GPU each. */
static struct builder *launched_ranks(void)
{
	struct builder *b = builder_new(2, 2);

	for (uint32_t i = 0; i < 2; i++)
		b->processes[i].rank = i;
	return b;
}

static void copies_of_equal_size_through_the_host_are_a_pair(void **state)
{
	static const struct profile_copy out = {.bytes = 8192, .kind = COPY_TO_HOST},
					 in = {.bytes = 8192, .kind = COPY_TO_DEVICE},
					 other = {.bytes = 9000, .kind = COPY_TO_DEVICE},
					 small_out = {.bytes = 4, .kind = COPY_TO_HOST},
					 small_in = {.bytes = 4, .kind = COPY_TO_DEVICE};
	struct builder *b = launched_ranks();
	struct built_job it;

	(void)state;
	job_run(b, 0, "k", 0, 1000);
	job_copy(b, 0, out, 1000, 1200);
	job_copy(b, 0, small_out, 1200, 1210);
	job_copy(b, 1, other, 10, 20);
	job_copy(b, 1, in, 1100, 1150); /* before the other had ended: it cannot be that data */
	job_copy(b, 1, in, 1300, 1500);
	job_copy(b, 1, small_in, 1500, 1510); /* a value that the host read */
	job_run(b, 1, "k", 1510, 2000);
	it = job_of(b);
	assert_int_equal(it.job->transfer_count, 1);
	assert_true(it.job->transfers[0].is_through_host);
	assert_int_equal(it.job->transfers[0].count, 1);
	assert_int_equal(it.job->transfers[0].time_ns, 400);
	assert_int_equal(it.job->ranks[0].times.host_copy_ns, 200);
	assert_int_equal(it.job->ranks[1].times.host_copy_ns, 200);
	assert_int_equal(it.job->ranks[0].path_ns[JOB_PATH_COMPUTATION], 1000);
	assert_int_equal(it.job->ranks[1].path_ns[JOB_PATH_IDLE], 100);
	job_done(&it);
}

static void a_rank_does_not_send_to_itself(void **state)
{
	static const struct profile_copy out = {.bytes = 8192, .kind = COPY_TO_HOST},
					 in = {.bytes = 8192, .kind = COPY_TO_DEVICE};
	struct builder *b = launched_ranks();
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		for (int64_t at = 0; at < 3; at++) {
			job_copy(b, i, in, 1000 * at + 10 * i, 1000 * at + 100);
			if (i == 0)
				job_copy(b, i, out, 1000 * at + 500, 1000 * at + 600);
		}
	it = job_of(b);
	assert_int_equal(it.job->transfer_count, 1);
	assert_int_equal(it.job->transfers[0].from, 0);
	assert_int_equal(it.job->transfers[0].to, 1);
	assert_int_equal(it.job->transfers[0].count, 2);
	job_done(&it);
}

/* Each computes on its own data, of one size. */
static void programs_that_no_launcher_numbered_pair_no_copies(void **state)
{
	static const struct profile_copy out = {.bytes = 8192, .kind = COPY_TO_HOST},
					 in = {.bytes = 8192, .kind = COPY_TO_DEVICE};
	struct builder *b = builder_new(2, 2);
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		for (int64_t at = 0; at < 3; at++) {
			job_copy(b, i, in, 1000 * at + 10 * i, 1000 * at + 100);
			job_copy(b, i, out, 1000 * at + 500, 1000 * at + 600);
		}
	it = job_of(b);
	assert_int_equal(it.job->rank_count, 2);
	assert_int_equal(it.job->transfer_count, 0);
	assert_int_equal(it.job->all.communication_ns, 0);
	job_done(&it);
}

static void a_collective_leads_the_path_to_the_rank_that_came_last(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct built_job it;

	(void)state;
	job_run(b, 0, "k", 0, 100);
	job_run(b, 0, JOB_REDUCE, 100, 1000);
	job_run(b, 0, "k", 1000, 1100);
	job_run(b, 1, "k", 0, 900);
	job_run(b, 1, JOB_REDUCE, 900, 1000);
	it = job_of(b);
	assert_int_equal(it.job->ranks[0].path_ns[JOB_PATH_COMPUTATION], 100);
	assert_int_equal(it.job->ranks[0].path_ns[JOB_PATH_COMMUNICATION], 100);
	assert_int_equal(it.job->ranks[1].path_ns[JOB_PATH_COMPUTATION], 900);
	assert_int_equal(it.job->ranks[1].late.last_count, 1);
	assert_int_equal(it.job->ranks[1].late.caused_wait_ns, 800);
	assert_int_equal(it.job->ranks[1].late.by_cause_ns[JOB_LATE_KERNELS], 800);
	assert_ptr_equal(job_latest(it.job), &it.job->ranks[1]);
	assert_int_equal(it.job->collective_count, 1);
	assert_int_equal(it.job->collectives[0].most_skew_ns, 800);
	assert_int_equal(it.job->collectives[0].most_late, 1);
	job_done(&it);
}

static void waiting_beside_computation_is_not_exposed(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct built_job it;

	(void)state;
	job_run(b, 0, JOB_REDUCE, 100, 1000);
	job_run(b, 0, "k", 200, 500);
	job_run(b, 1, "k", 0, 900);
	job_run(b, 1, JOB_REDUCE, 900, 1000);
	it = job_of(b);
	assert_int_equal(it.job->ranks[0].times.wait_ns, 800);
	assert_int_equal(it.job->ranks[0].times.exposed_wait_ns, 500);
	assert_int_equal(it.job->all.exposed_wait_ns, 500);
	job_done(&it);
}

/* As only a damaged recording, or a clock of microseconds, has them. */
static void operations_that_take_no_time_end_the_path(void **state)
{
	static const struct profile_copy there = {.bytes = 4096,
						  .kind = COPY_BETWEEN_DEVICES,
						  .src_device = 0,
						  .dst_device = 1},
					 back = {.bytes = 4096,
						 .kind = COPY_BETWEEN_DEVICES,
						 .src_device = 1,
						 .dst_device = 0};
	struct builder *b = builder_new(1, 2);
	struct built_job it;

	(void)state;
	for (int i = 0; i < 20; i++) {
		builder_copy(b, builder_stream(b, 0, 0), there, 100, 100, PROFILE_NONE);
		builder_copy(b, builder_stream(b, 0, 1), back, 100, 100, PROFILE_NONE);
	}
	it = job_of(b);
	assert_int_equal(it.job->path_ns[JOB_PATH_COMMUNICATION], 0);
	job_done(&it);
}

static void recordings_that_were_cut_off_are_compared_up_to_the_first_end(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		b->processes[i].sealed_ns = 0;
		b->processes[i].rank = i;
		for (int64_t at = 0; at < 3 + i; at++)
			job_run(b, i, JOB_REDUCE, 1000 * at + 100 * i, 1000 * at + 500);
	}
	it = job_of(b);
	assert_true(it.job->ranks[0].has_waits && it.job->ranks[1].has_waits);
	assert_int_equal(it.job->ranks[0].times.wait_ns, 300);
	assert_int_equal(it.job->collectives[0].count, 3);
	assert_int_equal(it.job->problems.count, 1);
	assert_string_equal(
		it.job->problems.items[0],
		"rank 0 ended 3 collectives, others 4, until the recording was cut off");
	job_done(&it);
}

static void groups_of_ranks_are_not_compared_with_each_other(void **state)
{
	static const char gather[] = "ncclDevKernel_AllGather_RING_LL";
	struct builder *b = builder_new(4, 4);
	struct built_job it;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		b->processes[i].rank = i;
		b->processes[i].sealed_ns = 0;
		for (int64_t at = 0; at < (i < 2 ? 2 : 5); at++)
			job_run(b, i, i < 2 ? JOB_REDUCE : gather, 1000 * at, 1000 * at + 500);
	}
	it = job_of(b);
	assert_true(it.job->ranks[0].has_waits && it.job->ranks[3].has_waits);
	assert_int_equal(it.job->problems.count, 0);
	job_done(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gpu_of_one_process_is_no_job),
		cmocka_unit_test(processes_on_one_gpu_are_a_job_where_a_launcher_numbers_them),
		cmocka_unit_test(communication_beside_computation_is_not_exposed),
		cmocka_unit_test(peer_copies_are_communication_and_lead_the_path_to_the_sender),
		cmocka_unit_test(copies_of_equal_size_through_the_host_are_a_pair),
		cmocka_unit_test(a_rank_does_not_send_to_itself),
		cmocka_unit_test(programs_that_no_launcher_numbered_pair_no_copies),
		cmocka_unit_test(a_collective_leads_the_path_to_the_rank_that_came_last),
		cmocka_unit_test(waiting_beside_computation_is_not_exposed),
		cmocka_unit_test(operations_that_take_no_time_end_the_path),
		cmocka_unit_test(recordings_that_were_cut_off_are_compared_up_to_the_first_end),
		cmocka_unit_test(groups_of_ranks_are_not_compared_with_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
