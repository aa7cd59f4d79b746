/* base/clock_offset.h: how far a clock is ahead of another, and how sure that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock_offset.h"

static void the_median_of_an_even_number_is_the_lower_of_both(void **state)
{
	int64_t odd[] = {7, -3, 5}, even[] = {9, 1, 4, 2}, one[] = {-8};

	(void)state;
	assert_int_equal(clock_median_ns(odd, 3), 5);
	assert_int_equal(clock_median_ns(even, 4), 2);
	assert_int_equal(clock_median_ns(one, 1), -8);
}

static void one_late_collective_changes_neither_offset_nor_error(void **state)
{
	int64_t differences[] = {1003, 1000, 5000, 998, 1001}; /* one collective ended late */
	struct clock_offset found = clock_offset_of(differences, 5);

	(void)state;
	assert_int_equal(found.ahead_ns, 1001);
	assert_int_equal(found.error_ns, 2); /* of 0, 1, 2, 3 and 3999 */
}

static void offsets_add_up_and_the_greater_error_stays(void **state)
{
	struct clock_offset sum =
		clock_offset_add((struct clock_offset){100, 3}, (struct clock_offset){-40, 7});

	(void)state;
	assert_int_equal(sum.ahead_ns, 60);
	assert_int_equal(sum.error_ns, 7);
	sum = clock_offset_add((struct clock_offset){100, 9}, (struct clock_offset){-40, 7});
	assert_int_equal(sum.error_ns, 9);
}

static void times_that_are_damaged_neither_overflow_nor_wrap_the_error(void **state)
{
	int64_t differences[] = {clock_difference_ns(INT64_MIN, 1), INT64_MIN, 0};
	struct clock_offset found = clock_offset_of(differences, 3);

	(void)state;
	assert_int_equal(clock_difference_ns(INT64_MIN, 1), INT64_MAX);
	assert_int_equal(found.ahead_ns, 0);
	assert_int_equal(found.error_ns, INT64_MAX); /* and no more, however far apart */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_of_an_even_number_is_the_lower_of_both),
		cmocka_unit_test(one_late_collective_changes_neither_offset_nor_error),
		cmocka_unit_test(offsets_add_up_and_the_greater_error_stays),
		cmocka_unit_test(times_that_are_damaged_neither_overflow_nor_wrap_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
