/* The names of metrics that Nsight Compute is to count: each once, also where one begins as another does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exchange/import/ncu.c"

static bool lists(const char *list, const char *name)
{
	return is_listed(list, name, strlen(name));
}

static void a_metric_that_another_begins_with_is_another_one(void **state)
{
	static const char list[] = "first,dram__bytes.sum.per_second,sm__inst.sum,last";

	(void)state;
	assert_true(lists(list, "dram__bytes.sum.per_second"));
	assert_true(lists(list, "sm__inst.sum"));
	assert_true(lists(list, "last"));
	assert_false(lists(list, "dram__bytes.sum"));
	assert_false(lists(list, "sm__inst.sum.per_second"));
	assert_false(lists(list, "inst.sum"));
	assert_false(lists(list, "la"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_metric_that_another_begins_with_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
