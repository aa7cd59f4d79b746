/* Hand-overs by signals, on a recording of two GPUs whose hosts do it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_two_gpus.h"

static struct ceilings *without_signal(struct two_gpus *two)
{
	struct ceilings *ceilings = (struct ceilings *)two->what_ifs.run.ceilings;
	size_t kept = 0;

	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].id != CEILING_peer_signal &&
		    ceilings->rows[i].id != CEILING_nvshmem_store_signal)
			ceilings->rows[kept++] = ceilings->rows[i];
	ceilings->count = kept;
	return ceilings;
}

/* Any time: what is tested is what becomes of it. */
static void measure_signal(struct two_gpus *two, double ns)
{
	struct ceilings *ceilings = without_signal(two);
	const struct ceiling row = {.id = CEILING_peer_signal, .value = ns};

	assert_int_equal(ceilings_add(ceilings, &row), 0);
	assert_null(ceilings_sort(ceilings));
}

static void test_not_measured(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nvshmem_signal.naive");
	without_signal(&two);
	found = two_gpus_try(&two, TECHNIQUE_device_signals, 0);
	assert_string_equal(
		found.effect.refusal,
		"what a signal between these GPUs takes nobody measured: rooflinectl ceilings --links does");
	two_gpus_close(&two);
}

/* Kernels of 1.1 us and signals of 1.5 us, three ways for each hand-over, on one GPU after the other: 11.2 us an iteration;
 * at the high end one way. */
static void test_measured(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nvshmem_signal.naive");
	measure_signal(&two, 1500);
	found = two_gpus_try(&two, TECHNIQUE_device_signals, 0);
	assert_null(found.effect.refusal);
	assert_in_range((uint64_t)found.prediction.place_after_ns, 20 * 11200 - 5000,
			20 * 11200 + 5000);
	assert_true(found.prediction.place.high >
		    (double)found.prediction.place_before_ns / (20 * 5200.0 + 5000));
	two_gpus_close(&two);
}

/* The same with hand-overs of 7 us, whatever their bytes: 16.2 us an iteration. */
static void test_whole_measured(void **state)
{
	const struct ceiling row = {.id = CEILING_nvshmem_store_signal,
				    .parameter = 1 << 20,
				    .value = 7000};
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nvshmem_signal.naive");
	measure_signal(&two, 1500);
	assert_int_equal(ceilings_add((struct ceilings *)two.what_ifs.run.ceilings, &row), 0);
	assert_null(ceilings_sort((struct ceilings *)two.what_ifs.run.ceilings));
	found = two_gpus_try(&two, TECHNIQUE_device_signals, 0);
	assert_null(found.effect.refusal);
	assert_in_range((uint64_t)found.prediction.place_after_ns, 20 * 16200 - 5000,
			20 * 16200 + 5000);
	two_gpus_close(&two);
}

static void test_nothing_handed(void **state)
{
	struct two_gpus two;
	struct what_if found;

	(void)state;
	two_gpus_open(&two, "nvshmem_signal.persistent");
	measure_signal(&two, 4000);
	found = two_gpus_try(&two, TECHNIQUE_device_signals, 0);
	assert_non_null(found.effect.refusal);
	assert_string_equal(
		found.effect.refusal,
		"no host waits for a short copy between GPUs before the next work is launched");
	two_gpus_close(&two);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("nothing is predicted while nobody measured a signal", test_not_measured),
		SENTENCE("an iteration takes the kernel and a signal of each GPU", test_measured),
		SENTENCE("a hand-over takes what one was measured to take", test_whole_measured),
		SENTENCE("it is refused where no host hands over", test_nothing_handed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
