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

/* The clock was set an hour forward 10 s ago, and back again 5 s ago. */
static void a_clock_that_is_set_changes_no_span(void **state)
{
	const int64_t s = INT64_C(1000000000), hour_ns = 3600 * s;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t offset_ns = clock_ns(CLOCK_REALTIME) - now_ns;

	(void)state;
	era_count = marked.count = pauses.count = 0;
	begin_era(now_ns - 20 * s, offset_ns);
	begin_era(now_ns - 10 * s, offset_ns + hour_ns);
	begin_era(now_ns - 5 * s, offset_ns);
	window_init(now_ns - 15 * s + offset_ns, 0, 12 * s, false);
	assert_true(window_contains(now_ns - 14 * s + offset_ns));
	assert_true(window_contains(now_ns - 7 * s + offset_ns + hour_ns));
	assert_true(window_contains(now_ns - 4 * s + offset_ns));
	assert_false(window_contains(now_ns - 2 * s + offset_ns));
	assert_true(window_is_over_since(2 * s));
	assert_false(window_is_over_since(4 * s));
	assert_false(window_contains(INT64_MAX));
	first_ns = INT64_MIN;
	last_ns = INT64_MAX;
	era_count = 0;
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
		cmocka_unit_test(a_clock_that_is_set_changes_no_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
