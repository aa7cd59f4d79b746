/* test_sides.c - what of two or more sides is compared, and what is noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/compare/sides.h"
#include "base/distribution.h"

/* One figure of a repeat. */
static struct measure figure(const char *name, enum measure_unit unit, double value)
{
	return (struct measure){.group = MEASURE_RUN,
				.name = (char *)name,
				.quantity = "time",
				.unit = unit,
				.value = value,
				.low = NAN,
				.high = NAN};
}

static void add_repeat(struct sides *sides, size_t side, const struct measure *measure,
		       struct compared_side steady)
{
	struct measures measures = {.steady = steady};

	assert_int_equal(measure_add(&measures, measure), 0);
	assert_int_equal(sides_add_measures(sides, side, &measures), 0);
	measures_free(&measures);
}

static void add(struct sides *sides, size_t side, struct measure measure)
{
	add_repeat(sides, side, &measure, (struct compared_side){0});
}

static struct sides two_sides(void)
{
	struct sides sides = {0};

	assert_int_equal(sides_add(&sides, "before"), 0);
	assert_int_equal(sides_add(&sides, "after"), 0);
	return sides;
}

static enum change compared(struct sides *sides)
{
	assert_int_equal(sides_compare(sides), 0);
	return sides->rows[0].values[1].change;
}

static void repeats_that_do_not_meet_differ_for_sure(void **state)
{
	struct sides sides = two_sides();

	(void)state;
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 0, figure("wall", UNIT_NS, 104));
	add(&sides, 1, figure("wall", UNIT_NS, 105));
	add(&sides, 1, figure("wall", UNIT_NS, 109));
	assert_int_equal(compared(&sides), CHANGE_MORE);
	assert_float_equal(sides.rows[0].values[0].value, 102, 1e-9);
	assert_float_equal(sides.rows[0].values[0].low, 100, 0);
	assert_float_equal(sides.rows[0].values[0].high, 104, 0);
	assert_float_equal(sides.rows[0].values[1].ratio, 107.0 / 102, 1e-9);
	assert_true(sides_is_slower(&sides, 1, 0.04));
	assert_false(sides_is_slower(&sides, 1, 0.05));
	sides_free(&sides);
}

static void repeats_that_meet_are_noise(void **state)
{
	struct sides sides = two_sides();

	(void)state;
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 0, figure("wall", UNIT_NS, 104));
	add(&sides, 1, figure("wall", UNIT_NS, 104));
	add(&sides, 1, figure("wall", UNIT_NS, 120));
	assert_int_equal(compared(&sides), CHANGE_NOISE);
	assert_false(sides_is_slower(&sides, 1, 0.01));
	sides_free(&sides);
	sides = two_sides(); /* from below */
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 0, figure("wall", UNIT_NS, 104));
	add(&sides, 1, figure("wall", UNIT_NS, 90));
	add(&sides, 1, figure("wall", UNIT_NS, 100));
	assert_int_equal(compared(&sides), CHANGE_NOISE);
	sides_free(&sides);
}

static void what_takes_no_time_is_not_judged(void **state)
{
	struct sides sides = two_sides();

	(void)state;
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 1, figure("wall", UNIT_NS, 0));
	(void)compared(&sides);
	assert_null(sides_judged(&sides, 1));
	assert_false(sides_is_slower(&sides, 1, 0));
	sides_free(&sides);
}

static void one_recording_tells_nothing_of_a_time_but_counts_are_exact(void **state)
{
	struct sides sides = two_sides();

	(void)state;
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 1, figure("wall", UNIT_NS, 90));
	assert_int_equal(compared(&sides), CHANGE_UNSURE);
	sides_free(&sides);
	sides = two_sides(); /* nor where one side has repeats; the difference itself is judged */
	add(&sides, 0, figure("wall", UNIT_NS, 100));
	add(&sides, 0, figure("wall", UNIT_NS, 104));
	add(&sides, 1, figure("wall", UNIT_NS, 110));
	assert_int_equal(compared(&sides), CHANGE_UNSURE);
	assert_true(sides_is_slower(&sides, 1, 0.05));
	sides_free(&sides);
	sides = two_sides();
	add(&sides, 0, figure("launches", UNIT_COUNT, 100));
	add(&sides, 1, figure("launches", UNIT_COUNT, 90));
	assert_int_equal(compared(&sides), CHANGE_LESS);
	sides_free(&sides);
}

static void what_one_side_lacks_has_appeared_or_gone(void **state)
{
	struct sides sides = two_sides();

	(void)state;
	add(&sides, 0, figure("old", UNIT_NS, 1));
	add(&sides, 1, figure("new", UNIT_NS, 1));
	assert_int_equal(compared(&sides), CHANGE_DISAPPEARED);
	assert_int_equal(sides.rows[1].values[1].change, CHANGE_APPEARED);
	assert_true(isnan(sides.rows[0].values[1].ratio));
	sides_free(&sides);
}

static struct measure iteration(double value, double noise)
{
	struct measure measure = figure("an iteration", UNIT_NS, value);

	measure.group = MEASURE_STEADY;
	measure.low = value - noise;
	measure.high = value + noise;
	return measure;
}

/* 80 of 10 ns before, 10 of 64 ns after: eight of the former do the work of one of the latter. */
static void as_many_iterations_are_compared_as_do_the_same_work(void **state)
{
	struct sides sides = two_sides();
	struct measure before = iteration(10, 0.1), after = iteration(64, 0.1);

	(void)state;
	add_repeat(&sides, 0, &before, (struct compared_side){.count = 80, .run_count = 1});
	add_repeat(&sides, 1, &after, (struct compared_side){.count = 10, .run_count = 1});
	assert_int_equal(compared(&sides), CHANGE_LESS);
	assert_float_equal(sides.rows[0].values[1].ratio, 0.8, 1e-9);
	assert_ptr_equal(sides_judged(&sides, 1), &sides.rows[0]);
	sides_free(&sides);
	sides = two_sides();
	add_repeat(&sides, 0, &before, (struct compared_side){.count = 80, .run_count = 1});
	add_repeat(&sides, 1, &after, (struct compared_side){.count = 33, .run_count = 1});
	assert_int_equal(compared(&sides), CHANGE_NONE);
	assert_null(sides_judged(&sides, 1)); /* nor is there a time of the run */
	sides_free(&sides);
}

/* Of 1 to 101 the ranks 50.5 - 9.8 and 50.5 + 9.8, and of few all. */
static void the_interval_of_a_median_is_that_of_its_ranks(void **state)
{
	struct durations durations;
	int64_t low_ns, high_ns;

	(void)state;
	assert_int_equal(durations_open(&durations, 2), 0);
	for (int i = 0; i < 101; i++)
		durations_count(&durations, 0);
	for (int i = 0; i < 3; i++)
		durations_count(&durations, 1);
	assert_int_equal(durations_lay_out(&durations), 0);
	for (int i = 0; i < 101; i++)
		durations_add(&durations, 0, 101 - i);
	for (int i = 0; i < 3; i++)
		durations_add(&durations, 1, 7 * i);
	durations_median_interval(&durations, 0, &low_ns, &high_ns);
	assert_int_equal(low_ns, 41);
	assert_int_equal(high_ns, 62);
	durations_median_interval(&durations, 1, &low_ns, &high_ns);
	assert_int_equal(low_ns, 0);
	assert_int_equal(high_ns, 14);
	durations_free(&durations);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeats_that_do_not_meet_differ_for_sure),
		cmocka_unit_test(repeats_that_meet_are_noise),
		cmocka_unit_test(what_takes_no_time_is_not_judged),
		cmocka_unit_test(one_recording_tells_nothing_of_a_time_but_counts_are_exact),
		cmocka_unit_test(what_one_side_lacks_has_appeared_or_gone),
		cmocka_unit_test(as_many_iterations_are_compared_as_do_the_same_work),
		cmocka_unit_test(the_interval_of_a_median_is_that_of_its_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
