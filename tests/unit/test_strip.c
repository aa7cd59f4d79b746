/* test_strip.c - what is left of millions of samples: means, spikes, and where there were none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "charts/timelines/strip.h"
#include "charts/timelines/strip_shapes.h"

#define MANY 5000000
#define SAMPLE_NS 5000

static struct strip strip_new(int64_t from_ns, int64_t to_ns, int columns)
{
	struct strip strip;

	assert_int_equal(strip_open(&strip, from_ns, to_ns, columns), 0);
	return strip;
}

/* Within a billionth. */
static void assert_near(double value, double expected)
{
	double difference = value > expected ? value - expected : expected - value;

	if (difference > 1e-9 * (expected > 1 ? expected : 1))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void a_single_spike_among_five_million_samples_keeps_its_height(void **state)
{
	const int64_t origin_ns = INT64_C(1760000000000000000), spike = 3141592;
	struct strip strip = strip_new(origin_ns, origin_ns + (int64_t)MANY * SAMPLE_NS, 1000);
	clock_t begin = clock();
	int spikes = 0;

	(void)state;
	for (int64_t i = 0; i < MANY; i++)
		strip_add(&strip, origin_ns + i * SAMPLE_NS, origin_ns + (i + 1) * SAMPLE_NS,
			  i == spike ? 0.97 : 0.25, 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1);
	for (int i = 0; i < strip.column_count; i++) {
		spikes += strip.columns[i].most == 0.97;
		assert_near(strip.columns[i].least, 0.25);
		assert_near(strip_mean(&strip.columns[i]),
			    i == spike / 5000 ? 0.25 + 0.72 / 5000 : 0.25);
	}
	assert_int_equal(spikes, 1);
	assert_near(strip.columns[spike / 5000].most, 0.97);
	strip_close(&strip);
}

static void a_sample_counts_in_each_column_for_the_time_it_has_there(void **state)
{
	struct strip strip = strip_new(1000, 2000, 10);

	(void)state;
	strip_add(&strip, 1050, 1225, 0.8, 0.4);
	strip_add(&strip, 1225, 1300, 0.2, 0.2);
	assert_int_equal(strip.columns[0].sampled_ns, 50); /* the rest of it was not sampled */
	assert_near(strip_mean(&strip.columns[0]), 0.8);
	assert_near(strip_mean(&strip.columns[1]), 0.8);
	assert_near(strip_part(&strip.columns[1]), 0.4);
	assert_near(strip_mean(&strip.columns[2]), 0.8 * 0.25 + 0.2 * 0.75);
	assert_near(strip.columns[2].most, 0.8);
	assert_near(strip.columns[2].least, 0.2);
	assert_int_equal(strip.columns[3].sampled_ns, 0);
	strip_close(&strip);
}

static void time_that_was_not_sampled_is_not_a_sample_of_zero(void **state)
{
	struct strip strip = strip_new(0, 1000, 10);

	(void)state;
	strip_add(&strip, 0, 500, 0, 0);
	assert_int_equal(strip.columns[4].sampled_ns, 100);
	assert_int_equal(strip.columns[5].sampled_ns, 0);
	assert_string_equal(strip_character(&strip.columns[4], 1), "");
	assert_string_equal(strip_character(&strip.columns[5], 1), "/");
	strip_close(&strip);
}

static void what_lies_outside_the_window_is_left_out(void **state)
{
	struct strip strip = strip_new(1000, 2000, 10);

	(void)state;
	strip_add(&strip, 0, 1000, 1, 0);
	strip_add(&strip, 2000, 3000, 1, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(strip.columns[i].sampled_ns, 0);
	strip_add(&strip, 0, 3000, 0.5, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(strip.columns[i].sampled_ns, 100);
	strip_close(&strip);
}

/* Awkward quotients: whatever the widths are, every nanosecond is in just one column. */
static void columns_share_the_time_without_a_hole(void **state)
{
	static const int64_t lengths[] = {1, 7, 999, 1000, 1001, 123457, 86399999999999};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct strip strip = strip_new(77, 77 + lengths[i], 1000);
		int64_t sum_ns = 0;

		assert_true(strip.column_count <= lengths[i]);
		for (int k = 0; k < 13; k++)
			strip_add(&strip, 77 + lengths[i] * k / 13, 77 + lengths[i] * (k + 1) / 13,
				  1, 0);
		for (int column = 0; column < strip.column_count; column++) {
			assert_true(strip.columns[column].sampled_ns > 0);
			assert_true(strip_edge(&strip, column + 1) - strip_edge(&strip, column) ==
				    strip.columns[column].sampled_ns);
			sum_ns += strip.columns[column].sampled_ns;
		}
		assert_true(sum_ns == lengths[i]);
		strip_close(&strip);
	}
}

static void a_character_is_as_high_as_the_mean_and_never_hides_that_there_is_something(void **state)
{
	struct strip_column column = {.sampled_ns = 1000};

	(void)state;
	column.value_ns = 0.001 * 1000;
	assert_string_equal(strip_character(&column, 1), "▁");
	column.value_ns = 0.5 * 1000;
	assert_string_equal(strip_character(&column, 1), "▄");
	column.value_ns = 1000;
	assert_string_equal(strip_character(&column, 1), "█");
	column.value_ns = 3000; /* more than can be */
	assert_string_equal(strip_character(&column, 1), "█");
	assert_string_equal(strip_character(&column, 0), "");
}

/* ---- shapes ---- */
typedef void (*put_shape)(struct chart_file *file, const struct strip *strip,
			  const struct strip_place *place);

static void put_mean(struct chart_file *file, const struct strip *strip,
		     const struct strip_place *place)
{
	strip_put_area(file, strip, place, false);
}

static void put_peaks(struct chart_file *file, const struct strip *strip,
		      const struct strip_place *place)
{
	strip_put_peaks(file, strip, place, 7);
}

static void put_unsampled(struct chart_file *file, const struct strip *strip,
			  const struct strip_place *place)
{
	assert_int_equal(strip_put_unsampled(file, strip, place), 1);
}

/* Ten columns from 2000 to 3000 ns: zero, 0.5 with a spike of 1, nothing, 0.25; 1 is at y 4, 0 at
 * y 6, and the axis in units of 100 ns from 1000 ns. */
static void expect_shape(put_shape put, const char *expected)
{
	const struct strip_place place = {6, 4, 1, 1000, 100};
	struct strip strip = strip_new(2000, 3000, 10);
	struct chart_file file = {NULL, ""};
	char *text = NULL;
	size_t size;

	file.stream = open_memstream(&text, &size);
	assert_non_null(file.stream);
	strip_add(&strip, 2000, 2200, 0, 0);
	strip_add(&strip, 2200, 2250, 0, 0);
	strip_add(&strip, 2250, 2300, 1, 0);
	strip_add(&strip, 2300, 2400, 0.5, 0);
	strip_add(&strip, 2800, 3000, 0.25, 0);
	put(&file, &strip, &place);
	fclose(file.stream);
	assert_string_equal(text, expected);
	free(text);
	strip_close(&strip);
}

static void means_are_areas_with_a_step_for_each_change(void **state)
{
	(void)state;
	expect_shape(put_mean, "10\t6\t0\n"
			       "10\t6\t0\n12\t6\t0\n"
			       "12\t5\t0\n14\t5\t0\n"
			       "14\t6\t0\n\n"
			       "18\t6\t0\n"
			       "18\t5.5\t0\n20\t5.5\t0\n"
			       "20\t6\t0\n\n");
}

static void peaks_are_lines_that_stop_where_nothing_was_sampled(void **state)
{
	(void)state;
	expect_shape(put_peaks, "10\t6\t7\n12\t6\t7\n"
				"12\t4\t7\n13\t4\t7\n"
				"13\t5\t7\n14\t5\t7\n\n"
				"18\t5.5\t7\n20\t5.5\t7\n\n");
}

static void time_without_samples_is_a_shape_of_its_own(void **state)
{
	(void)state;
	expect_shape(put_unsampled, "14\t18\t6\t4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_spike_among_five_million_samples_keeps_its_height),
		cmocka_unit_test(a_sample_counts_in_each_column_for_the_time_it_has_there),
		cmocka_unit_test(time_that_was_not_sampled_is_not_a_sample_of_zero),
		cmocka_unit_test(what_lies_outside_the_window_is_left_out),
		cmocka_unit_test(columns_share_the_time_without_a_hole),
		cmocka_unit_test(
			a_character_is_as_high_as_the_mean_and_never_hides_that_there_is_something),
		cmocka_unit_test(means_are_areas_with_a_step_for_each_change),
		cmocka_unit_test(peaks_are_lines_that_stop_where_nothing_was_sampled),
		cmocka_unit_test(time_without_samples_is_a_shape_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
