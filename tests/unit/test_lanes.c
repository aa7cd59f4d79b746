/* Spans that overlap are put side by side; those of one lane are properly nested. */
#include "exchange/export/lanes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int place(struct lanes *lanes, int64_t start_ns, int64_t end_ns, bool may_nest)
{
	int64_t end = end_ns;

	return lanes_place(lanes, start_ns, &end, may_nest);
}

static void spans_that_follow_each_other_share_a_lane(void **state)
{
	struct lanes lanes = {.count = 0};

	(void)state;
	assert_int_equal(place(&lanes, 0, 10, false), 0);
	assert_int_equal(place(&lanes, 10, 20, false), 0);
	assert_int_equal(place(&lanes, 20, 20, false), 0);
	lanes_clear(&lanes);
}

static void spans_that_overlap_have_a_lane_each(void **state)
{
	struct lanes lanes = {.count = 0};

	(void)state;
	assert_int_equal(place(&lanes, 0, 10, false), 0);
	assert_int_equal(place(&lanes, 2, 8, false), 1);
	assert_int_equal(place(&lanes, 3, 20, false), 2);
	assert_int_equal(place(&lanes, 9, 12, false), 1);
	lanes_clear(&lanes);
}

static void a_span_within_another_nests_where_it_may(void **state)
{
	struct lanes lanes = {.count = 0};

	(void)state;
	assert_int_equal(place(&lanes, 0, 10, true), 0);
	assert_int_equal(place(&lanes, 0, 10, true), 0);
	assert_int_equal(place(&lanes, 2, 8, true), 0);
	assert_int_equal(place(&lanes, 3, 11, true), 1); /* it would cross */
	lanes_clear(&lanes);
}

static void where_no_lane_is_free_the_end_is_brought_forward(void **state)
{
	struct lanes lanes = {.count = 0};
	int64_t end_ns = 2000;

	(void)state;
	for (int i = 0; i < LANE_LIMIT; i++)
		assert_int_equal(place(&lanes, i, 1000 + i, false), i);
	assert_int_equal(lanes_place(&lanes, LANE_LIMIT, &end_ns, false), LANE_LIMIT - 1);
	assert_int_equal(end_ns, 1000 + LANE_LIMIT - 1);
	lanes_clear(&lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_that_follow_each_other_share_a_lane),
		cmocka_unit_test(spans_that_overlap_have_a_lane_each),
		cmocka_unit_test(a_span_within_another_nests_where_it_may),
		cmocka_unit_test(where_no_lane_is_free_the_end_is_brought_forward),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
