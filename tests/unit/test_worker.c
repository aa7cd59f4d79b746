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
	worker_start(&worker, add_up, &there);
	assert_int_equal(add_up(&here), 0);
	assert_int_equal(worker_join(&worker), 0);
	assert_int_equal(here.sum + there.sum, 5050);
}

static void test_failure(void **state)
{
	struct sum none = {0};
	struct worker worker;

	(void)state;
	worker_start(&worker, add_up, &none);
	assert_int_equal(worker_join(&worker), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"what was done is there when it was waited for", test_work, NULL, NULL, NULL},
		{"whoever waits is told that it failed", test_failure, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
