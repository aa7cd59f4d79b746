/* collector/writer/ring.h: which segments of a flight recorder are kept; roofline/last.h: how much that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/writer/ring.c"
#include "roofline/last.h"

#define S INT64_C(1000000000)

/* What the collector does each time: the next segment when it is due, then away with those that are old. */
static void turn(struct ring *ring, int64_t now_ns)
{
	if (ring_is_due(ring, now_ns))
		ring_turn(ring, now_ns);
	while (ring_has_old(ring, now_ns))
		ring_drop(ring);
}

/* When the oldest segment was begun. */
static int64_t begin_of(const struct ring *ring)
{
	return ring->oldest == 1 ? 0
				 : ring->closed[(ring->oldest - 1) % RING_CLOSED_MOST].closed_ns;
}

static void a_span_is_covered_at_each_moment_by_few_segments(void **state)
{
	struct ring ring;

	(void)state;
	ring_init(&ring, 30 * S, 0, 0);
	for (int64_t now_ns = 0; now_ns < 600 * S; now_ns += S / 4) {
		int64_t begin_ns;

		turn(&ring, now_ns);
		begin_ns = begin_of(&ring);
		assert_true(begin_ns <= (now_ns > 30 * S ? now_ns - 30 * S : 0));
		assert_true(now_ns - begin_ns <= 35 * S);
		assert_in_range(ring.newest - ring.oldest + 1, 1, RING_PARTS + 2);
	}
	assert_in_range(ring.newest, 140, 160);
}

static void a_span_in_which_nothing_was_looked_at_leaves_the_newest_alone(void **state)
{
	struct ring ring;

	(void)state;
	ring_init(&ring, 30 * S, 0, 0);
	turn(&ring, 4 * S);
	turn(&ring, 1000 * S);
	assert_int_equal(ring.newest, 3);
	assert_int_equal(ring.oldest, 2); /* what was in it may have been written a moment ago */
	turn(&ring, 1001 * S);
	assert_int_equal(ring.oldest, 2);
}

static void a_size_is_never_exceeded_and_three_quarters_of_it_stay(void **state)
{
	struct ring ring;
	int64_t kept;

	(void)state;
	ring_init(&ring, 0, 8 << 20, 0);
	for (int i = 0; i < 1000; i++) {
		turn(&ring, i);
		ring_add(&ring, 65536);
		kept = all_bytes(&ring);
		assert_true(kept <= (8 << 20));
		assert_true(kept >= 6 << 20 || i < 6 * 16);
		assert_in_range(ring.newest - ring.oldest + 1, 1, RING_PARTS);
	}
}

static void one_write_that_is_larger_than_all_that_is_kept_is_one_segment(void **state)
{
	struct ring ring;

	(void)state;
	ring_init(&ring, 0, 1 << 20, 0);
	for (int i = 0; i < 10; i++) {
		ring_add(&ring, 4 << 20);
		turn(&ring, i);
	}
	assert_int_equal(ring.newest, 11);
	assert_int_equal(ring.oldest, ring.newest);
}

static void times_and_sizes_are_told_apart_and_what_is_too_little_is_refused(void **state)
{
	int64_t span_ns, bytes;

	(void)state;
	assert_int_equal(last_parse("30s", &span_ns, &bytes), 0);
	assert_true(span_ns == 30 * S && bytes == 0);
	assert_int_equal(last_parse("1500ms", &span_ns, &bytes), 0);
	assert_true(span_ns == 3 * S / 2 && bytes == 0);
	assert_int_equal(last_parse("200M", &span_ns, &bytes), 0);
	assert_true(span_ns == 0 && bytes == 200 << 20);
	assert_int_equal(last_parse("200MB", &span_ns, &bytes), 0);
	for (const char *const *wrong =
		     (const char *[]){"999ms", "1000K", "0", "", "30", "s", "-1s", NULL};
	     *wrong; wrong++)
		if (last_parse(*wrong, &span_ns, &bytes) == 0)
			fail_msg("'%s' is taken", *wrong);
}

static void a_range_may_have_equals_signs_in_its_name_and_needs_a_time(void **state)
{
	int64_t limit_ns;

	(void)state;
	assert_int_equal(slower_parse("step=50ms", &limit_ns), 4);
	assert_int_equal(limit_ns, 50000000);
	assert_int_equal(slower_parse("a=b=1s", &limit_ns), 3);
	assert_int_equal(slower_parse("step", &limit_ns), 0);
	assert_int_equal(slower_parse("=1s", &limit_ns), 0);
	assert_int_equal(slower_parse("step=50", &limit_ns), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_is_covered_at_each_moment_by_few_segments),
		cmocka_unit_test(a_span_in_which_nothing_was_looked_at_leaves_the_newest_alone),
		cmocka_unit_test(a_size_is_never_exceeded_and_three_quarters_of_it_stay),
		cmocka_unit_test(one_write_that_is_larger_than_all_that_is_kept_is_one_segment),
		cmocka_unit_test(times_and_sizes_are_told_apart_and_what_is_too_little_is_refused),
		cmocka_unit_test(a_range_may_have_equals_signs_in_its_name_and_needs_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
