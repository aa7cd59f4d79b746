/* Communication in parts beside computation, on recordings of two GPUs; measured: docs/results/workloads-links.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_two_gpus.h"

static double gain(const char *workload, const char *before, const char *after)
{
	return two_gpus_measured_us(workload, before) / two_gpus_measured_us(workload, after);
}

static void expect_parts(const char *name, uint64_t number, double measured)
{
	struct two_gpus two;
	struct what_if found;

	two_gpus_open(&two, name);
	found = two_gpus_try(&two, TECHNIQUE_overlap_communication, number);
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count, 80);
	two_gpus_expect(&found.prediction, measured, 0.25);
	two_gpus_close(&two);
}

static void test_collectives(void **state)
{
	(void)state;
	expect_parts("nccl_bucketed.naive", 2, gain("nccl_bucketed", "naive", "halves"));
	expect_parts("nccl_bucketed.naive", 8, gain("nccl_bucketed", "naive", "buckets"));
}

static void test_copies(void **state)
{
	(void)state;
	expect_parts("p2p_overlap.peer", 8, gain("p2p_overlap", "peer", "overlapped"));
}

static void test_chosen(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nccl_bucketed.naive");
	found = two_gpus_try(&two, TECHNIQUE_overlap_communication, 0);
	assert_null(found.effect.refusal);
	assert_in_range(found.effect.number, 4, 16);
	two_gpus_close(&two);
}

static void test_together(void **state)
{
	const enum technique_id ids[] = {TECHNIQUE_peer_copy, TECHNIQUE_overlap_communication};
	struct prediction together;
	struct what_if parts[2];
	struct two_gpus two;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.naive");
	two.what_ifs.numbers[TECHNIQUE_overlap_communication] = 8;
	assert_int_equal(what_if_together(&together, parts, ids, 2, &two.what_ifs, 0), 0);
	assert_null(parts[0].effect.refusal);
	assert_null(parts[1].effect.refusal);
	two_gpus_expect(&together, gain("p2p_overlap", "naive", "overlapped"), 0.25);
	two_gpus_close(&two);
}

static void test_other_sort(void **state)
{
	const enum technique_id ids[] = {TECHNIQUE_peer_copy, TECHNIQUE_cuda_graph};
	struct prediction together;
	struct what_if parts[2];
	struct two_gpus two;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.naive");
	assert_int_equal(what_if_together(&together, parts, ids, 2, &two.what_ifs, 0), 0);
	assert_null(parts[0].effect.refusal);
	assert_ptr_equal(parts[1].effect.refusal, refused_other_sort);
	assert_int_equal(what_if_each_together(&together, parts, ids, 2, &two.what_ifs, 0), 0);
	assert_int_equal(together.place_before_ns, 0);
	two_gpus_close(&two);
}

static void expect_hidden(const char *name)
{
	struct two_gpus two;
	struct what_if found;

	two_gpus_open(&two, name);
	found = two_gpus_try(&two, TECHNIQUE_overlap_communication, 0);
	assert_string_equal(found.effect.refusal,
			    "most of what is communicated runs beside computation already");
	two_gpus_close(&two);
}

static void test_hidden(void **state)
{
	(void)state;
	expect_hidden("p2p_overlap.overlapped");
	expect_hidden("nccl_bucketed.buckets");
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("collectives in two and eight parts are predicted as measured",
			 test_collectives),
		SENTENCE("copies between GPUs in parts beside a kernel in as many are, too",
			 test_copies),
		SENTENCE("the fewest parts are chosen that bring nearly all", test_chosen),
		SENTENCE("peer copies and parts of them are predicted together", test_together),
		SENTENCE("what changes one GPU alone is refused beside what changes the job",
			 test_other_sort),
		SENTENCE("what is hidden already is left alone", test_hidden),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
