/* collector/sampling/sample_pace.h: how often samples can be taken.  The figures are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/sampling/sample_pace.c"

#define US INT64_C(1000)

static struct sample_pace every_10_us(void)
{
	struct sample_pace pace = {0};

	sample_pace_begin(&pace, 10 * US);
	return pace;
}

/* So many decodings of 2,000 samples that take cost_ns each. */
static void note(struct sample_pace *pace, int count, int64_t cost_ns)
{
	for (int i = 0; i < count; i++)
		sample_pace_note(pace, 2000, 2000 * cost_ns, false);
}

static void test_decoding_keeps_up_with_four_fifths_of_the_time(void **state)
{
	(void)state;
	assert_true(sample_pace_keeps_up(8000, 10 * US));
	assert_false(sample_pace_keeps_up(8001, 10 * US));
	assert_true(sample_pace_keeps_up(0, 250));				/* not known */
	assert_false(sample_pace_keeps_up(sample_pace_busy_ns(6000), 10 * US)); /* of an idle GPU */
	assert_true(sample_pace_keeps_up(sample_pace_busy_ns(5000), 10 * US));
}

static void test_the_finest_interval_leaves_a_fifth_and_has_two_digits(void **state)
{
	static const struct {
		double decode_ns;
		int64_t interval_ns;
	} wanted[] = {{8000, 10 * US},	{8001, 11 * US},   {12300, 16 * US},   {13599, 17 * US},
		      {13601, 18 * US}, {79.5, 100},	   {76, 95},	       {600, 750},
		      {1000, 1300},	{96000, 120 * US}, {8e8, 1000000 * US}};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		int64_t interval_ns = sample_pace_finest(wanted[i].decode_ns);

		assert_int_equal(interval_ns, wanted[i].interval_ns);
		assert_true(sample_pace_keeps_up(wanted[i].decode_ns, interval_ns));
	}
}

static void test_six_decodings_in_a_row_that_take_95_percent_are_too_slow(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	note(&pace, 5, 9500);
	assert_false(sample_pace_is_behind(&pace));
	note(&pace, 1, 9500);
	assert_true(sample_pace_is_behind(&pace));
	note(&pace, 1, 9499);
	assert_false(sample_pace_is_behind(&pace));
	note(&pace, 5, 90000);
	assert_false(sample_pace_is_behind(&pace));
}

static void test_one_that_filled_its_image_is_enough_if_it_was_slow_and_most_are(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	sample_pace_note(&pace, 8000, 8000 * 6 * US, true); /* was late, but is fast */
	assert_false(sample_pace_is_behind(&pace));
	sample_pace_note(&pace, 8000, 8000 * 12 * US, true); /* may have been held up */
	assert_false(sample_pace_is_behind(&pace));
	sample_pace_note(&pace, 8000, 8000 * 12 * US, false);
	assert_true(sample_pace_is_behind(&pace));
}

static void test_a_decoding_of_nothing_says_nothing(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	for (int i = 0; i < 10; i++)
		sample_pace_note(&pace, 0, 1000000, true);
	assert_false(sample_pace_is_behind(&pace));
	assert_float_equal(sample_pace_decode_ns(&pace), 0, 1e-6);
}

static void test_the_cost_is_the_median_of_the_last_six(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	note(&pace, 20, 50000);
	note(&pace, 3, 6000);
	note(&pace, 2, 7000);
	note(&pace, 1, 900000); /* held up */
	assert_float_equal(sample_pace_decode_ns(&pace), 6000, 1e-6);
	note(&pace, 2, 8000);
	assert_float_equal(sample_pace_decode_ns(&pace), 7000, 1e-6);
}

static void test_a_new_interval_begins_anew(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	note(&pace, 6, 12000);
	sample_pace_begin(&pace, 15 * US);
	assert_false(sample_pace_is_behind(&pace));
	assert_float_equal(sample_pace_decode_ns(&pace), 0, 1e-6);
	note(&pace, 6, 14000); /* of 15 us: 93% */
	assert_false(sample_pace_is_behind(&pace));
}

static void test_an_overflow_of_slow_decoding_makes_intervals_as_long_as_it_takes(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	note(&pace, 2, 13000);
	assert_int_equal(sample_pace_after_overflow(&pace), 17 * US);
	sample_pace_begin(&pace, 17 * US);
	note(&pace, 2, 20000);
	assert_int_equal(sample_pace_after_overflow(&pace), 25 * US);
}

static void test_one_that_was_held_up_is_forgiven_once_and_then_intervals_double(void **state)
{
	struct sample_pace pace = every_10_us();

	(void)state;
	note(&pace, 3, 6000);
	assert_int_equal(sample_pace_after_overflow(&pace), 10 * US);
	sample_pace_begin(&pace, 10 * US);
	assert_int_equal(sample_pace_after_overflow(&pace), 20 * US);
	sample_pace_begin(&pace, 20 * US);
	note(&pace, 3, 6000);
	assert_int_equal(sample_pace_after_overflow(&pace), 40 * US);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("decoding keeps up with four fifths of the time",
		     test_decoding_keeps_up_with_four_fifths_of_the_time),
		TEST("the finest interval leaves a fifth and has two digits",
		     test_the_finest_interval_leaves_a_fifth_and_has_two_digits),
		TEST("six decodings in a row that take 95% are too slow",
		     test_six_decodings_in_a_row_that_take_95_percent_are_too_slow),
		TEST("one that filled its image is enough, if it was slow and most are",
		     test_one_that_filled_its_image_is_enough_if_it_was_slow_and_most_are),
		TEST("a decoding of nothing says nothing", test_a_decoding_of_nothing_says_nothing),
		TEST("the cost is the median of the last six",
		     test_the_cost_is_the_median_of_the_last_six),
		TEST("a new interval begins anew", test_a_new_interval_begins_anew),
		TEST("an overflow of slow decoding makes intervals as long as it takes",
		     test_an_overflow_of_slow_decoding_makes_intervals_as_long_as_it_takes),
		TEST("one that was held up is forgiven once, and then intervals double",
		     test_one_that_was_held_up_is_forgiven_once_and_then_intervals_double),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
