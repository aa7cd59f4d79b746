/* Recordings of two GPUs as tasks: run unchanged they give every recorded time again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "fixture_two_gpus.h"
#include "replay/job/job_run.h"

static void expect_recorded(const char *name, bool shares_sms)
{
	struct two_gpus two;
	struct job_run run;

	two_gpus_open(&two, name);
	assert_int_equal(job_run_open(&run, two.what_ifs.run.model, two.report->collectives,
				      shares_sms),
			 0);
	assert_int_equal(tasks_run(&run.tasks), 0);
	for (size_t i = 0; i < two.report->profile->op_count; i++) {
		const struct profile_op *op = &two.report->profile->ops[i];
		double off_ns = run.tasks.items[i].end_ns - (double)(op->end_ns - run.origin_ns);

		if (fabs(off_ns) > 2) /* shares are rounded */
			fail_msg("%s: operation %zu ends %.0f ns off", name, i, off_ns);
	}
	job_run_free(&run);
	two_gpus_close(&two);
}

static void test_unchanged(void **state)
{
	static const char *const names[] = {"p2p_overlap.naive",    "p2p_overlap.overlapped",
					    "nccl_bucketed.naive",  "nccl_bucketed.buckets",
					    "nvshmem_signal.naive", "nvshmem_steal.naive"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int shares_sms = 0; shares_sms < 2; shares_sms++)
			expect_recorded(names[i], shares_sms);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a job that is run again unchanged takes every time as recorded",
			 test_unchanged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
