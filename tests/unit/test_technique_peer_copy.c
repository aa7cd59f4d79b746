/* Copies through the host become copies between GPUs, on recordings of two of them; measured: docs/results/workloads-links.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_two_gpus.h"

static double measured(const char *variant)
{
	return two_gpus_measured_us("p2p_overlap", variant);
}

static void test_naive(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.naive");
	found = two_gpus_try(&two, TECHNIQUE_peer_copy, 0);
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count,
			 80); /* 20 iterations, a warm-up of 20, two GPUs */
	assert_true(found.effect.is_assuming);
	two_gpus_expect(&found.prediction, measured("naive") / measured("peer"), 0.25);
	two_gpus_close(&two);
}

static void test_nothing_staged(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.peer");
	found = two_gpus_try(&two, TECHNIQUE_peer_copy, 0);
	assert_string_equal(found.effect.refusal, "no copy goes from GPU to GPU through the host");
	two_gpus_close(&two);
}

/* Of a GPU that no datasheet tells of, where nobody measured: whichever of the two it is. */
static void test_unknown_gpu(void **state)
{
	static char unknown[] = "GPU of tomorrow";
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "p2p_overlap.naive");
	for (size_t i = 0; i < two.report->ceilings->count; i++) {
		struct ceiling *row = &two.report->ceilings->rows[i];

		if (row->id == CEILING_peer_copy || row->id == CEILING_peer_out)
			row->value = 0;
	}
	found = two_gpus_try(&two, TECHNIQUE_peer_copy, 0);
	assert_null(found.effect.refusal);
	for (int i = 0; i < 2; i++) {
		char *name = two.report->profile->devices[i].name;

		two.report->profile->devices[i].name = unknown;
		found = two_gpus_try(&two, TECHNIQUE_peer_copy, 0);
		two.report->profile->devices[i].name = name;
		assert_string_equal(found.effect.refusal,
				    "what copies between these GPUs take nobody measured: "
				    "rooflinectl ceilings --links does");
	}
	two_gpus_close(&two);
}

static void test_one_gpu(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "copy_overlap.naive");
	found = two_gpus_try(&two, TECHNIQUE_peer_copy, 0);
	assert_string_equal(found.effect.refusal, "only one GPU has work in the recording");
	two_gpus_close(&two);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("copies through the host are predicted as peer copies", test_naive),
		SENTENCE("it is refused where nothing goes through the host", test_nothing_staged),
		SENTENCE("it is refused where the rate to one of the GPUs is unknown",
			 test_unknown_gpu),
		SENTENCE("it is refused on one GPU", test_one_gpu),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
