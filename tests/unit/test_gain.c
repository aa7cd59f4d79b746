/* What a change is judged by, and how that is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "output/gain_text.h"
#include "techniques/techniques.h"

static const struct predicted_gain loop_of_long_run = {.program = {1.09, 1.05, 1.12},
						       .place = {2.8, 2.2, 3.3},
						       .steady = {2.71, 2.14, 3.17}};

static void test_part(void **state)
{
	struct predicted_gain gain = loop_of_long_run;

	(void)state;
	assert_int_equal(gain_part_of(&gain, false), GAIN_STEADY);
	assert_int_equal(gain_part_of(&gain, true), GAIN_PLACE);
	gain.program.speedup = 3; /* what happens once gets shorter, too */
	assert_int_equal(gain_part_of(&gain, false), GAIN_PROGRAM);
	gain.program.speedup = 1.09;
	gain.steady = (struct predicted_speedup){0}; /* nothing repeats */
	assert_int_equal(gain_part_of(&gain, false), GAIN_PROGRAM);
}

static void test_expected(void **state)
{
	struct predicted_gain gain = {.program = {1.2, 1.1, 1.3}, .steady = {4, 2, 5}};

	(void)state;
	assert_float_equal(gain_expected_speedup(&gain, false), 4, 1e-9);
	gain.place = (struct predicted_speedup){3, 2.5, 3.5};
	assert_float_equal(gain_expected_speedup(&gain, true), 3,
			   1e-9); /* of a range that was asked for */
	gain.is_assuming = true;
	assert_float_equal(gain_expected_speedup(&gain, false), 2, 1e-9);
	gain.keeps_results = true; /* only how much it gains is not known: 0.75 and 0.5 saved */
	assert_float_equal(gain_expected_speedup(&gain, false), 1 / (1 - 0.625), 1e-9);
	gain.steady = (struct predicted_speedup){0};
	gain.is_assuming = false;
	assert_float_equal(gain_expected_speedup(&gain, false), 1.2, 1e-9);
}

static void expect_whole(const struct predicted_gain *gain, enum gain_part part, const char *text)
{
	assert_string_equal(gain_text_whole(gain, part).text, text);
}

static void test_text(void **state)
{
	struct predicted_gain gain = loop_of_long_run;

	(void)state;
	expect_whole(&gain, GAIN_STEADY,
		     "2.71x (2.14x to 3.17x) in the steady state, 1.09x of this run");
	expect_whole(&gain, GAIN_PLACE, "the range 2.80x (2.20x to 3.30x), 1.09x of this run");
	expect_whole(&gain, GAIN_PROGRAM, "the whole run 1.09x (1.05x to 1.12x)");
	gain.is_assuming = true;
	expect_whole(&gain, GAIN_STEADY,
		     "up to 2.71x (2.14x to 3.17x) in the steady state, 1.09x of this run");
	expect_whole(&gain, GAIN_PROGRAM, "the whole run up to 1.09x (1.05x to 1.12x)");
}

/* Where nobody knows what operations need of each other. */
static void test_low_end_first(void **state)
{
	const struct predicted_gain gain = {.program = {5.23, 1.5, 6.61},
					    .place = {6.05, 1.56, 8.07},
					    .steady = {6.05, 1.56, 8.07},
					    .is_up_to = true,
					    .is_assuming = true};

	(void)state;
	assert_string_equal(gain_text_short(&gain, GAIN_STEADY).text, "1.56x, up to 6.05x");
	assert_string_equal(gain_text_interval(&gain, GAIN_PLACE).text,
			    "1.56x, up to 6.05x (1.56x to 8.07x)");
	expect_whole(&gain, GAIN_STEADY,
		     "1.56x, up to 6.05x (1.56x to 8.07x) in the steady state, 1.50x, up to 5.23x "
		     "of this run");
	expect_whole(
		&gain, GAIN_PLACE,
		"the range 1.56x, up to 6.05x (1.56x to 8.07x), 1.50x, up to 5.23x of this run");
	expect_whole(&gain, GAIN_PROGRAM, "the whole run 1.50x, up to 5.23x (1.50x to 6.61x)");
}

static void test_techniques(void **state)
{
	static const enum technique_id unknown[] = {
		TECHNIQUE_concurrent_kernels,  TECHNIQUE_dynamic_queue, TECHNIQUE_fuse,
		TECHNIQUE_dynamic_parallelism, TECHNIQUE_fill_gpu,	TECHNIQUE_batch_launches,
		TECHNIQUE_balance_ranks,       TECHNIQUE_pad_shared};
	bool is_unknown[TECHNIQUE_COUNT] = {false};

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		is_unknown[unknown[i]] = true;
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		assert_int_equal(techniques[i]->is_up_to, is_unknown[i]);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a change is judged by the steady state, or by the run if that gains more",
			 test_part),
		SENTENCE(
			"what is expected of a change is its low end where its results may be wrong",
			test_expected),
		SENTENCE("a gain is told with its interval, and with what it is of the run",
			 test_text),
		SENTENCE("where no recording tells what operations need the low end comes first",
			 test_low_end_first),
		SENTENCE(
			"these are concurrency, queues, fusion, padding, and work that is split, batched or stolen",
			test_techniques),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
