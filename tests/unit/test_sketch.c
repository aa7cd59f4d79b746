/* Quantiles from sketches: within 1%, and the same in any order of merging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/distribution.h"
#include "summary/sketch.h"

#define COUNT 20000

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return *state >> 16;
}

/* From 0 ns to minutes, all orders of magnitude alike. */
static int64_t some_duration(uint64_t *state)
{
	return (int64_t)(next_random(state) & ((UINT64_C(1) << (next_random(state) % 38)) - 1));
}

static void assert_close(double got, int64_t wanted_ns)
{
	double error = got - (double)wanted_ns;

	assert_true(error <= SKETCH_ERROR * (double)wanted_ns + 1e-9);
	assert_true(-error <= SKETCH_ERROR * (double)wanted_ns + 1e-9);
}

static void test_each_percentile_is_within_one_percent_of_the_exact_one(void **unused)
{
	struct sketch sketch = {0};
	struct durations exact = {0};
	uint64_t state = 1;

	(void)unused;
	assert_int_equal(durations_open(&exact, 1), 0);
	for (int i = 0; i < COUNT; i++)
		durations_count(&exact, 0);
	assert_int_equal(durations_lay_out(&exact), 0);
	for (int i = 0; i < COUNT; i++) {
		int64_t duration_ns = some_duration(&state);

		durations_add(&exact, 0, duration_ns);
		assert_int_equal(sketch_add(&sketch, duration_ns), 0);
	}
	for (unsigned percent = 1; percent <= 100; percent++)
		assert_close(sketch_percentile(&sketch, percent),
			     durations_percentile(&exact, 0, percent));
	durations_free(&exact);
	sketch_free(&sketch);
}

static void test_every_single_duration_is_within_one_percent_of_itself(void **unused)
{
	(void)unused;
	for (int64_t duration_ns = 0; duration_ns < INT64_MAX / 2;
	     duration_ns += duration_ns / 7 + 1) {
		struct sketch sketch = {0};

		assert_int_equal(sketch_add(&sketch, duration_ns), 0);
		assert_close(sketch_percentile(&sketch, 50), duration_ns);
		sketch_free(&sketch);
	}
}

static void test_the_longest_and_a_negative_duration_have_a_bucket(void **unused)
{
	struct sketch sketch = {0};

	(void)unused;
	assert_int_equal(sketch_add(&sketch, INT64_MAX), 0);
	assert_close(sketch_percentile(&sketch, 50), INT64_MAX);
	assert_int_equal(sketch_add(&sketch, INT64_MIN), 0);
	assert_true(sketch_percentile(&sketch, 50) == 0);
	sketch_free(&sketch);
}

static void test_merging_in_any_order_gives_the_counts_of_all_durations(void **unused)
{
	struct sketch all = {0}, parts[3] = {{0}}, forth = {0}, back = {0};
	uint64_t state = 7;

	(void)unused;
	for (int i = 0; i < 3000; i++) {
		int64_t duration_ns = some_duration(&state);

		assert_int_equal(sketch_add(&all, duration_ns), 0);
		assert_int_equal(sketch_add(&parts[i % 3], duration_ns), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sketch_merge(&forth, &parts[i]), 0);
		assert_int_equal(sketch_merge(&back, &parts[2 - i]), 0);
	}
	assert_int_equal(forth.first, all.first);
	assert_int_equal(forth.length, all.length);
	assert_int_equal(back.length, all.length);
	assert_memory_equal(forth.counts, all.counts, all.length * sizeof(*all.counts));
	assert_memory_equal(back.counts, all.counts, all.length * sizeof(*all.counts));
	sketch_free(&all);
	sketch_free(&forth);
	sketch_free(&back);
	for (int i = 0; i < 3; i++)
		sketch_free(&parts[i]);
}

static void test_an_empty_sketch_tells_zero(void **unused)
{
	struct sketch sketch = {0}, other = {0};

	(void)unused;
	assert_int_equal(sketch_merge(&sketch, &other), 0);
	assert_true(sketch_percentile(&sketch, 99) == 0);
	assert_int_equal(sketch_used(&sketch), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_percentile_is_within_one_percent_of_the_exact_one),
		cmocka_unit_test(test_every_single_duration_is_within_one_percent_of_itself),
		cmocka_unit_test(test_the_longest_and_a_negative_duration_have_a_bucket),
		cmocka_unit_test(test_merging_in_any_order_gives_the_counts_of_all_durations),
		cmocka_unit_test(test_an_empty_sketch_tells_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
