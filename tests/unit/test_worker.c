/* A piece of work on a thread of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/worker.h"

struct sum {
	int from, until, sum;
};

static int add_up(void *context)
{
	struct sum *sum = context;

	for (int i = sum->from; i < sum->until; i++)
		sum->sum += i;
	return sum->sum ? 0 : -EINVAL;
}

static void test_work(void **state)
{
	struct sum here = {0, 50, 0}, there = {50, 101, 0};
	struct worker worker;

	(void)state;
	worker_start(&worker, WORKER_ALWAYS, add_up, &there);
	assert_int_equal(add_up(&here), 0);
	assert_int_equal(worker_join(&worker), 0);
	assert_int_equal(here.sum + there.sum, 5050);
}

static void test_few(void **state)
{
	struct sum few = {0, 101, 0};
	struct worker worker;

	(void)state;
	worker_start(&worker, 101, add_up, &few);
	assert_false(worker.is_running);
	assert_int_equal(few.sum, 5050);
	assert_int_equal(worker_join(&worker), 0);
	few.sum = 0;
	worker_start(&worker, 1000000, add_up, &few);
	assert_true(worker.is_running);
	assert_int_equal(worker_join(&worker), 0);
	assert_int_equal(few.sum, 5050);
}

static void test_failure(void **state)
{
	struct sum none = {0};
	struct worker worker;

	(void)state;
	worker_start(&worker, 50, add_up, &none);
	assert_int_equal(worker_join(&worker), -EINVAL);
}

struct counted {
	int visits[1000];
	size_t failing; /* item */
};

static int visit(void *context, size_t first, size_t end)
{
	struct counted *counted = context;

	for (size_t i = first; i < end; i++)
		counted->visits[i]++;
	return first <= counted->failing && counted->failing < end ? -EIO : 0;
}

static void test_slices(void **state)
{
	static const size_t least[] = {1, 7, 100, 999, 1000, 5000};

	(void)state;
	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		struct counted counted = {.failing = SIZE_MAX};

		assert_int_equal(worker_slices(1000, least[i], visit, &counted), 0);
		for (size_t j = 0; j < 1000; j++)
			assert_int_equal(counted.visits[j], 1);
		for (counted.failing = 0; counted.failing < 1000; counted.failing += 111)
			assert_int_equal(worker_slices(1000, least[i], visit, &counted), -EIO);
	}
	assert_int_equal(worker_slices(0, 1, visit, &(struct counted){.failing = 1}), 0);
}

static void test_cores(void **state)
{
	(void)state;
	assert_int_equal(worker_cores(1), 1);
	assert_true(worker_cores(1000) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"what was done is there when it was waited for", test_work, NULL, NULL, NULL},
		{"few items are worked on at once, many on a thread", test_few, NULL, NULL, NULL},
		{"whoever waits is told that it failed", test_failure, NULL, NULL, NULL},
		{"slices have each item once, and fail where any of them does", test_slices, NULL,
		 NULL, NULL},
		{"there is a core, and no more than are wanted", test_cores, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
