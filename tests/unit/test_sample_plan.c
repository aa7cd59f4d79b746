/* collector/sampling/sample_plan.h: how much of a GPU is sampled at once.  The figures are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/sampling/sample_pace.c"
#include "collector/sampling/sample_plan.c"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define MIB ((size_t)1 << 20)

/* Samples of 6,000 bytes, as those with one counter of each SM are: 44,739 of them in 256 MiB. */
static const struct sample_facts per_sm = {6000, 10, 16, 0};
/* Of the whole GPU: 184,365 of them. */
static const struct sample_facts whole = {1456, 7, 16, 0};

static struct options every(int64_t sample_ns, enum options_windows windows)
{
	return (struct options){.sample_ns = sample_ns,
				.sample_windows = windows,
				.sample_buffer_bytes = 256 * MIB};
}

static struct options in_windows(int64_t sample_ns, int64_t window_ns, int64_t period_ns)
{
	struct options options = every(sample_ns, WINDOWS_PERIODIC);

	options.window_ns = window_ns;
	options.window_period_ns = period_ns;
	return options;
}

static void test_decoding_takes_longer_the_more_a_sample_takes_of_an_image(void **state)
{
	(void)state;
	assert_float_equal(sample_plan_decode_ns(1), 500, 1e-6);
	assert_float_equal(sample_plan_decode_ns(1536), 500, 1e-6);
	assert_float_equal(sample_plan_decode_ns(1636), 620, 1e-6);
	assert_float_equal(sample_plan_decode_ns(6000), 5856.8, 1e-6);
}

static void test_decoding_may_take_four_fifths_of_the_time_until_the_next_sample(void **state)
{
	struct options fits = every(7322, WINDOWS_AUTO), does_not = every(7320, WINDOWS_AUTO);
	struct options tenth = in_windows(733, 100 * MS, 1000 * MS);
	struct options ninth = in_windows(733, 112 * MS, 1000 * MS);

	(void)state;
	assert_true(sample_plan_fits(&fits, 6000)); /* 5,857.6 ns */
	assert_false(sample_plan_fits(&does_not, 6000));
	assert_true(sample_plan_fits(&tenth, 6000)); /* 5,864 */
	assert_false(sample_plan_fits(&ninth, 6000));
}

static void test_without_end_an_image_holds_four_times_what_is_sampled_in_20_ms(void **state)
{
	struct options options = every(10 * US, WINDOWS_AUTO);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_true(plan.is_continuous);
	assert_true(plan.keeps_up);
	assert_int_equal(plan.batch_ns, 20 * MS);
	assert_int_equal(plan.capacity, 8000);
	/* 2 + 10 counters x 1,050 ns in 10,000 */
	assert_int_equal(plan.worker_count, 3);
	assert_int_equal(plan.image_count, 5);
}

static void test_two_images_in_reserve_share_the_memory_of_a_window(void **state)
{
	struct options options = every(10 * US, WINDOWS_AUTO);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_int_equal(plan.reserve_count, 2);
	assert_int_equal(plan.reserve_capacity, 22369); /* 223 ms */
	assert_int_equal(plan.buffer_bytes, 268428000); /* two of them */
}

static void test_with_more_memory_those_in_reserve_hold_a_quarter_of_a_second(void **state)
{
	struct options options = every(10 * US, WINDOWS_AUTO);
	struct sample_plan plan;

	(void)state;
	options.sample_buffer_bytes = 1024 * MIB;
	plan = sample_plan_make(&options, &per_sm);
	assert_int_equal(plan.reserve_count, 2);
	assert_int_equal(plan.reserve_capacity, 25000);
	assert_int_equal(plan.buffer_bytes, 300000000);
}

static void test_one_is_in_reserve_where_two_would_be_hardly_larger_than_the_others(void **state)
{
	struct options options = every(1 * US, WINDOWS_AUTO);
	struct sample_plan plan = sample_plan_make(&options, &whole);

	(void)state;
	assert_true(plan.is_continuous);
	assert_int_equal(plan.capacity, 80000);
	assert_int_equal(plan.reserve_count, 1);
	assert_int_equal(plan.reserve_capacity, 184365);
	assert_int_equal(plan.buffer_bytes, 256 * MIB); /* less than two of it */
	assert_int_equal(plan.worker_count, 8);		/* of the 9 that it would take */
	assert_int_equal(plan.image_count, 10);
}

static void test_none_is_in_reserve_where_memory_has_room_for_none(void **state)
{
	struct options options = every(10 * US, WINDOWS_CONTINUOUS);
	struct sample_plan plan;

	(void)state;
	options.sample_buffer_bytes = 16 * MIB;
	plan = sample_plan_make(&options, &per_sm);
	assert_int_equal(plan.batch_ns, 6990 * US); /* a quarter of the 2,796 samples */
	assert_int_equal(plan.capacity, 2796);
	assert_int_equal(plan.reserve_count, 0);
	assert_int_equal(plan.reserve_capacity, 0);
	assert_int_equal(plan.buffer_bytes, 33552000);
}

static void test_a_batch_has_256_samples_at_least_and_the_buffer_16_mib(void **state)
{
	struct options options = every(10 * US, WINDOWS_CONTINUOUS);
	struct sample_plan plan;

	(void)state;
	options.sample_buffer_bytes = 1 * MIB;
	plan = sample_plan_make(&options, &per_sm);
	assert_int_equal(plan.batch_ns, 2560 * US);
	assert_int_equal(plan.capacity, 1024);
	assert_int_equal(plan.buffer_bytes, 16 * MIB);
	options = every(1 * MS, WINDOWS_CONTINUOUS);
	plan = sample_plan_make(&options, &per_sm);
	assert_int_equal(plan.batch_ns, 256 * MS);
	assert_int_equal(plan.reserve_count, 0); /* the others hold a second */
}

static void test_what_decoding_does_not_keep_up_with_is_sampled_in_windows(void **state)
{
	struct options options = every(1 * US, WINDOWS_AUTO);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_false(plan.is_continuous);
	assert_false(plan.keeps_up);
	assert_int_equal(plan.window_ns, 44739 * US);
	assert_int_equal(plan.period_ns, 0);
	assert_false(plan.is_window_cut);
	assert_int_equal(plan.capacity, 56923); /* one in four more, and 1,000 */
	assert_int_equal(plan.buffer_bytes, 341538000);
	assert_int_equal(plan.image_count, 2);
	assert_int_equal(plan.reserve_count, 0);
}

static void test_it_is_not_kept_up_with_where_it_goes_on_without_end_all_the_same(void **state)
{
	struct options options = every(1 * US, WINDOWS_CONTINUOUS);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_true(plan.is_continuous);
	assert_false(plan.keeps_up);
}

/* Of 12.3 us for each: 15.375 us, rounded up. */
static void
test_without_end_the_interval_is_the_finest_that_was_measured_to_be_kept_up_with(void **state)
{
	struct options options = every(10 * US, WINDOWS_CONTINUOUS);
	struct sample_facts measured = per_sm;
	struct sample_plan plan;

	(void)state;
	measured.decode_ns = 12300;
	plan = sample_plan_make(&options, &measured);
	assert_true(plan.is_continuous);
	assert_false(plan.keeps_up);
	assert_int_equal(plan.interval_ns, 16 * US);
	assert_int_equal(plan.batch_ns, 20 * MS);
	assert_int_equal(plan.capacity, 5000);
	assert_int_equal(plan.reserve_capacity, 15625); /* 250 ms */
	measured.decode_ns = 7900;
	assert_int_equal(sample_plan_make(&options, &measured).interval_ns, 10 * US);
}

static void test_it_is_windows_where_decoding_was_measured_not_to_keep_up(void **state)
{
	struct options options = every(10 * US, WINDOWS_AUTO);
	struct sample_facts measured = per_sm;
	struct sample_plan plan;

	(void)state;
	measured.decode_ns = 8100;
	plan = sample_plan_make(&options, &measured);
	assert_false(plan.is_continuous);
	assert_int_equal(plan.interval_ns, 10 * US); /* that was asked for */
	measured.decode_ns = 7900;
	assert_true(sample_plan_make(&options, &measured).is_continuous);
}

static void test_a_trial_is_a_batch_or_what_takes_40_ms_to_decode(void **state)
{
	struct options options = every(10 * US, WINDOWS_CONTINUOUS);

	(void)state;
	assert_int_equal(sample_plan_make(&options, &per_sm).trial_samples, 2000);
	options.sample_ns = 1 * US;
	assert_int_equal(sample_plan_make(&options, &whole).trial_samples, 20000);
	assert_int_equal(sample_plan_make(&options, &per_sm).trial_samples,
			 6829); /* of 5,856.8 ns */
	options.sample_ns = 1 * MS;
	assert_int_equal(sample_plan_make(&options, &per_sm).trial_samples, 20);
	options.sample_ns = 2 * MS; /* the call itself takes a millisecond */
	assert_int_equal(sample_plan_make(&options, &per_sm).trial_samples, 0);
}

static void test_slower_samples_come_in_batches_of_20_ms_or_256(void **state)
{
	struct options options = every(10 * US, WINDOWS_CONTINUOUS);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	sample_plan_slow_down(&plan, 17 * US);
	assert_int_equal(plan.interval_ns, 17 * US);
	assert_int_equal(plan.batch_ns, 1176 * 17 * US);
	assert_int_equal(plan.capacity, 8000); /* images stay as they are */
	sample_plan_slow_down(&plan, 500 * US);
	assert_int_equal(plan.batch_ns, 128 * MS);
	options.sample_buffer_bytes = 16 * MIB; /* an image has room for 4 x 699 */
	plan = sample_plan_make(&options, &per_sm);
	sample_plan_slow_down(&plan, 11 * US);
	assert_int_equal(plan.batch_ns, 699 * 11 * US);
}

static void test_ranges_have_windows_even_where_decoding_keeps_up(void **state)
{
	struct options options = every(100 * US, WINDOWS_CONTINUOUS);
	struct sample_plan plan;

	(void)state;
	options.sample_range = "train";
	plan = sample_plan_make(&options, &per_sm);
	assert_false(plan.is_continuous);
	assert_int_equal(plan.window_ns, 4473900 * US);
}

static void test_a_window_is_as_long_as_was_asked_for(void **state)
{
	struct options options = in_windows(1 * US, 100 * MS, 1000 * MS);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_false(plan.is_continuous);
	assert_true(plan.keeps_up);
	assert_int_equal(plan.window_ns, 100 * MS);
	assert_int_equal(plan.period_ns, 1000 * MS);
	assert_false(plan.is_window_cut);
	assert_int_equal(plan.capacity, 126000);
	assert_int_equal(plan.buffer_bytes, 756000000);
}

static void test_a_window_is_cut_at_four_times_the_memory(void **state)
{
	struct options options = in_windows(1 * US, 178957 * US, 10000 * MS);
	struct sample_plan plan = sample_plan_make(&options, &per_sm);

	(void)state;
	assert_true(plan.is_window_cut);
	assert_int_equal(plan.window_ns, 178956 * US);
	options.window_ns = 178956 * US;
	assert_false(sample_plan_make(&options, &per_sm).is_window_cut);
}

static void test_a_record_of_the_hardware_takes_1_kib_at_least(void **state)
{
	struct options options = every(1 * US, WINDOWS_AUTO);
	struct sample_facts small = {500, 3, 16, 0};

	(void)state;
	assert_int_equal(sample_plan_record_bytes(500), 1024);
	assert_int_equal(sample_plan_record_bytes(1025), 1025);
	options.sample_range = "train";
	assert_int_equal(sample_plan_make(&options, &small).window_ns, 262144 * US);
}

static void test_at_most_half_of_the_processors_evaluate(void **state)
{
	static const struct {
		size_t processors, workers;
	} wanted[] = {{1, 1}, {2, 1}, {3, 1}, {4, 2}, {12, 6}, {16, 8}, {64, 8}};
	struct options options = every(1 * US, WINDOWS_CONTINUOUS);

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		struct sample_facts facts = {1456, 7, wanted[i].processors, 0};

		assert_int_equal(sample_plan_make(&options, &facts).worker_count,
				 wanted[i].workers);
	}
	options.sample_ns = 1 * MS;
	assert_int_equal(sample_plan_make(&options, &per_sm).worker_count, 2);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("decoding takes longer the more a sample takes of an image",
		     test_decoding_takes_longer_the_more_a_sample_takes_of_an_image),
		TEST("decoding may take four fifths of the time until the next sample",
		     test_decoding_may_take_four_fifths_of_the_time_until_the_next_sample),
		TEST("without end an image holds four times what is sampled in 20 ms",
		     test_without_end_an_image_holds_four_times_what_is_sampled_in_20_ms),
		TEST("two images in reserve share the memory of a window",
		     test_two_images_in_reserve_share_the_memory_of_a_window),
		TEST("with more memory those in reserve hold a quarter of a second",
		     test_with_more_memory_those_in_reserve_hold_a_quarter_of_a_second),
		TEST("one is in reserve where two would be hardly larger than the others",
		     test_one_is_in_reserve_where_two_would_be_hardly_larger_than_the_others),
		TEST("none is in reserve where memory has room for none",
		     test_none_is_in_reserve_where_memory_has_room_for_none),
		TEST("a batch has 256 samples at least and the buffer 16 MiB",
		     test_a_batch_has_256_samples_at_least_and_the_buffer_16_mib),
		TEST("what decoding does not keep up with is sampled in windows",
		     test_what_decoding_does_not_keep_up_with_is_sampled_in_windows),
		TEST("it is not kept up with where it goes on without end all the same",
		     test_it_is_not_kept_up_with_where_it_goes_on_without_end_all_the_same),
		TEST("without end the interval is the finest that was measured to be kept up with",
		     test_without_end_the_interval_is_the_finest_that_was_measured_to_be_kept_up_with),
		TEST("it is windows where decoding was measured not to keep up",
		     test_it_is_windows_where_decoding_was_measured_not_to_keep_up),
		TEST("a trial is a batch, or what takes 40 ms to decode",
		     test_a_trial_is_a_batch_or_what_takes_40_ms_to_decode),
		TEST("slower samples come in batches of 20 ms, or 256",
		     test_slower_samples_come_in_batches_of_20_ms_or_256),
		TEST("ranges have windows even where decoding keeps up",
		     test_ranges_have_windows_even_where_decoding_keeps_up),
		TEST("a window is as long as was asked for",
		     test_a_window_is_as_long_as_was_asked_for),
		TEST("a window is cut at four times the memory",
		     test_a_window_is_cut_at_four_times_the_memory),
		TEST("a record of the hardware takes 1 KiB at least",
		     test_a_record_of_the_hardware_takes_1_kib_at_least),
		TEST("at most half of the processors evaluate",
		     test_at_most_half_of_the_processors_evaluate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
