/* When the child kernels of a parent kernel start, and when its stream goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/child_kernels.h"

static const struct costs costs = {.child_start_ns = 100,
				   .child_next_ns = 50,
				   .child_beside_ns = 10,
				   .child_return_ns = 30};

static void test_series(void **state)
{
	struct child_kernels children = {0};

	(void)state;
	child_kernels_begin(&children, 1000, 7);
	assert_int_equal(child_kernels_over_ns(&children, &costs, 7),
			 INT64_MIN); /* it has none yet */
	assert_int_equal(child_kernels_add(&children, &costs, false, 200, 100), 1100);
	assert_int_equal(child_kernels_add(&children, &costs, false, 200, 100), 1350);
	assert_int_equal(child_kernels_over_ns(&children, &costs, 7), 1580);
	assert_int_equal(child_kernels_over_ns(&children, &costs, 8),
			 INT64_MIN); /* another stream */
}

static void test_beside(void **state)
{
	struct child_kernels children = {0};

	(void)state;
	child_kernels_begin(&children, 1000, 7);
	assert_int_equal(child_kernels_add(&children, &costs, true, 200, 40), 1100);
	assert_int_equal(child_kernels_add(&children, &costs, true, 20, 40), 1110);
	/* three do not fit: this one waits for both */
	assert_int_equal(child_kernels_add(&children, &costs, true, 200, 40), 1300);
	assert_int_equal(child_kernels_add(&children, &costs, true, 10, 40), 1310);
	assert_int_equal(child_kernels_over_ns(&children, &costs, 7), 1530);
}

/* A child that is a parent itself: its child kernels begin when all of the one before have ended. */
static void test_generations(void **state)
{
	struct child_kernels children = {0};

	(void)state;
	child_kernels_begin(&children, 1000, 7);
	child_kernels_add(&children, &costs, true, 500, 40);
	child_kernels_add(&children, &costs, true, 10, 40);
	child_kernels_begin(&children, 1120, 7);
	assert_int_equal(child_kernels_add(&children, &costs, true, 10, 40), 1700);
	child_kernels_begin(&children, 1650, 8);
	assert_int_equal(child_kernels_add(&children, &costs, true, 10, 40), 1750);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"child kernels in a row follow each other", test_series, NULL, NULL, NULL},
		{"child kernels side by side take what there is of the GPU", test_beside, NULL,
		 NULL, NULL},
		{"child kernels of child kernels come after all of their generation",
		 test_generations, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
