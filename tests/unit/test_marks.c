#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/marks.h"

#define ITEMS 1000

static void test_rank(void **state)
{
	struct marks marks;
	size_t count = 0;

	(void)state;
	assert_int_equal(marks_open(&marks, ITEMS), 0);
	for (size_t i = 0; i < ITEMS; i++)
		if (i * i % 7 == 2 || i / 64 == 3) /* one block of them whole */
			marks_set(&marks, i);
	count = marks_seal(&marks);
	for (size_t i = 0, before = 0; i < ITEMS; i++) {
		bool is_marked = i * i % 7 == 2 || i / 64 == 3;

		assert_int_equal(marks_has(&marks, i), is_marked);
		assert_int_equal(marks_rank(&marks, i), before);
		before += is_marked;
		assert_true(before <= count);
		if (i + 1 == ITEMS)
			assert_int_equal(before, count);
	}
	marks_free(&marks);
}

static void test_none(void **state)
{
	struct marks marks;

	(void)state;
	assert_int_equal(marks_open(&marks, 0), 0);
	assert_int_equal(marks_seal(&marks), 0);
	marks_free(&marks);
	marks_free(&marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"an item's rank is how many before it are marked", test_rank, NULL, NULL, NULL},
		{"of no items none is marked, and freeing twice is fine", test_none, NULL, NULL,
		 NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
