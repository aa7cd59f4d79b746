/* collector/progress.h and slow_ranges.h: what is counted, and which ranges were slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/progress.c"
#undef lock
#define lock slow_lock
#include "collector/slow_ranges.c"

static void add_kernel(int64_t start_ns, int64_t end_ns, uint32_t graph, uint32_t correlation)
{
	progress_add_operation(PROGRESS_KERNEL, 0, start_ns, end_ns, graph, correlation);
}

static int forget(void **state)
{
	(void)state;
	is_counting = false;
	progress = (struct progress){0};
	memset(busy_until_ns, 0, sizeof(busy_until_ns));
	last_graph_launch = 0;
	return 0;
}

static void nothing_is_counted_until_somebody_asks(void **state)
{
	(void)state;
	add_kernel(10, 20, 0, 1);
	progress_add_call();
	assert_int_equal(progress_read().kernels, 0);
	add_kernel(30, 40, 0, 2);
	progress_add_call();
	assert_int_equal(progress_read().kernels, 1);
	assert_int_equal(progress_read().calls, 1);
}

static void the_nodes_of_a_graph_launch_are_one_launch(void **state)
{
	(void)state;
	progress_read();
	for (uint32_t launch = 1; launch <= 3; launch++)
		for (int node = 0; node < 5; node++)
			add_kernel(10, 20, 7, launch);
	progress_add_operation(PROGRESS_COPY, 0, 10, 20, 0, 4);
	add_kernel(10, 20, 0, 5);
	assert_int_equal(progress_read().kernels, 16);
	assert_int_equal(progress_read().launches, 4);
	assert_int_equal(progress_read().copies, 1);
}

static void busy_time_counts_what_overlaps_once_and_never_too_much(void **state)
{
	(void)state;
	progress_read();
	add_kernel(100, 200, 0, 1);
	add_kernel(150, 250, 0, 2);
	add_kernel(160, 170, 0, 3);
	add_kernel(300, 310, 0, 4);
	assert_int_equal(progress_read().busy_ns[0], 160);
	progress_add_operation(PROGRESS_KERNEL, CONTROL_DEVICES, 0, 10, 0,
			       5); /* beyond the table */
	assert_int_equal(progress_read().busy_ns[0], 160);
}

static void only_ranges_of_the_name_that_took_longer_are_slow(void **state)
{
	struct slow_range range;

	(void)state;
	slow_ranges_init("step=50ns");
	slow_ranges_on_start(1, "step", 100);
	slow_ranges_on_start(2, "steps", 100);
	slow_ranges_on_start(3, "step", 120);
	slow_ranges_on_end(3, 170);
	slow_ranges_on_end(2, 1000);
	assert_false(slow_ranges_take(&range));
	slow_ranges_on_end(1, 200);
	assert_true(slow_ranges_take(&range));
	assert_int_equal(range.start_ns, 100);
	assert_int_equal(range.end_ns, 200);
	assert_int_equal(range.other_count, 0);
	assert_false(slow_ranges_take(&range));
}

static void of_several_slow_ranges_the_first_is_told_and_the_others_are_counted(void **state)
{
	struct slow_range range;

	(void)state;
	slow_ranges_init("step=50ns");
	for (uint32_t id = 10; id < 13; id++) {
		slow_ranges_on_start(id, "step", id);
		slow_ranges_on_end(id, id + 1000);
	}
	assert_true(slow_ranges_take(&range));
	assert_int_equal(range.start_ns, 10);
	assert_int_equal(range.other_count, 2);
	slow_ranges_init(NULL);
	slow_ranges_on_start(20, "step", 1);
	slow_ranges_on_end(20, 1000);
	assert_false(slow_ranges_take(&range));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_counted_until_somebody_asks, forget),
		cmocka_unit_test_setup(the_nodes_of_a_graph_launch_are_one_launch, forget),
		cmocka_unit_test_setup(busy_time_counts_what_overlaps_once_and_never_too_much,
				       forget),
		cmocka_unit_test(only_ranges_of_the_name_that_took_longer_are_slow),
		cmocka_unit_test(
			of_several_slow_ranges_the_first_is_told_and_the_others_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
