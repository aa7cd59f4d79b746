/* How long parts of a run take together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile_builder.h"
#include "replay/part_times.h"

/* Two calls of each of two threads, and two places in each of these. */
static struct part_time two_threads(struct builder **b, const struct place *places)
{
	struct part_time part_time;

	*b = builder_new(2, 1);
	for (uint32_t thread = 0; thread < 2; thread++)
		for (int64_t i = 0; i < 2; i++)
			builder_launch(*b, thread, 20 * i, 20 * i + 10);
	builder_finish(*b);
	assert_int_equal(part_time_open(&part_time, places, 4, &(*b)->profile), 0);
	return part_time;
}

static const struct place each_call[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};

/* The second place is submitted while the work of the first still runs. */
static void test_overlapping(void **state)
{
	struct builder *b;
	struct part_time part_time = two_threads(&b, each_call);

	(void)state;
	part_time_add_call(&part_time, 0, 0, 0, 10, 100);
	part_time_add_call(&part_time, 0, 1, 20, 30, 150);
	assert_int_equal(part_time_ns(&part_time), 150);
	part_time_free(&part_time);
	free(b);
}

static void test_apart(void **state)
{
	struct builder *b;
	struct part_time part_time = two_threads(&b, each_call);

	(void)state;
	part_time_add_call(&part_time, 0, 0, 0, 10, INT64_MIN);
	part_time_add_call(&part_time, 0, 1, 20, 30, 50);
	assert_int_equal(part_time_ns(&part_time), 10 + 30);
	part_time_free(&part_time);
	free(b);
}

/* The other thread's come in between, and later than they were recorded. */
static void test_threads(void **state)
{
	struct builder *b;
	struct part_time part_time = two_threads(&b, each_call);

	(void)state;
	part_time_add_call(&part_time, 0, 0, 0, 10, 100);
	part_time_add_call(&part_time, 1, 2, 50, 60, 120);
	part_time_add_call(&part_time, 0, 1, 200, 210, 230);
	part_time_add_call(&part_time, 1, 3, 130, 140, INT64_MIN);
	assert_int_equal(part_time_ns(&part_time), 120 + 10 + 30);
	part_time_free(&part_time);
	free(b);
}

static void test_nothing(void **state)
{
	struct builder *b;
	struct part_time part_time = two_threads(&b, each_call);

	(void)state;
	assert_int_equal(part_time_ns(&part_time), 0);
	part_time_free(&part_time);
	free(b);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a place starts no sooner than the one before it ends", test_overlapping),
		SENTENCE("what lies between places does not count", test_apart),
		SENTENCE("places of several threads count once where they run side by side",
			 test_threads),
		SENTENCE("a part of which nothing was replayed takes no time", test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
