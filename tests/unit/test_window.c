/* collector/window.h: what lies in the spans that a program marks, by the calls that submitted it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/guard.c"

#include "collector/window.c"

static int set_up(void **state)
{
	(void)state;
	marked.count = pauses.count = 0;
	window_init(0, 0, 0, true);
	window_open(1000, 10);
	window_close(2000, 20);
	window_open(5000, 50);
	return 0;
}

static void operations_belong_to_the_span_of_their_call_whenever_they_begin(void **state)
{
	(void)state;
	assert_true(window_contains_operation(1500, 15));
	assert_true(window_contains_operation(9000, 15)); /* long after the span */
	assert_false(window_contains_operation(5500,
					       25)); /* from between the spans, within the second */
	assert_false(window_contains_operation(5500, 9));
	assert_true(window_contains_operation(6000, 60));
}

static void what_no_call_submitted_is_judged_by_its_time(void **state)
{
	(void)state;
	assert_true(window_contains_operation(1500, 0));
	assert_false(window_contains_operation(3000, 0));
	assert_true(window_contains(5500));
	assert_false(window_contains(999));
}

static void spans_without_correlation_ids_are_of_time_alone(void **state)
{
	(void)state;
	marked.count = pauses.count = 0;
	window_open(1000, 0);
	window_close(2000, 0);
	assert_true(window_contains_operation(1500, 15));
	assert_false(window_contains_operation(2500, 15));
}

static void without_marked_spans_a_call_changes_nothing(void **state)
{
	(void)state;
	window_init(0, 100, 1000, false);
	assert_true(window_contains_operation(500, 5));
	assert_false(window_contains_operation(2000, 5));
}

static void what_begins_while_it_is_paused_is_left_out_and_before_nothing_is(void **state)
{
	(void)state;
	window_init(0, 100, 1000, false);
	assert_true(window_contains(500));
	window_pause(500, true);
	assert_true(window_contains(499));
	assert_false(window_contains(500));
	assert_false(window_contains_operation(1000, 5));
	window_pause(700, false);
	assert_false(window_contains(600));
	assert_true(window_contains(701));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			operations_belong_to_the_span_of_their_call_whenever_they_begin, set_up),
		cmocka_unit_test_setup(what_no_call_submitted_is_judged_by_its_time, set_up),
		cmocka_unit_test_setup(spans_without_correlation_ids_are_of_time_alone, set_up),
		cmocka_unit_test_setup(without_marked_spans_a_call_changes_nothing, set_up),
		cmocka_unit_test_setup(
			what_begins_while_it_is_paused_is_left_out_and_before_nothing_is, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
