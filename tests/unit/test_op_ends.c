#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/time/op_ends.h"

#define OPS 200
#define SECOND_NS INT64_C(1000000000)

static struct profile_op ops[OPS];
static const struct profile profile = {.ops = ops, .op_count = OPS};

static void fill_ops(void)
{
	for (int i = 0; i < OPS; i++) /* an hour passes in the middle of a block */
		ops[i].end_ns = 1000 * i + (i > 100 ? 3600 * SECOND_NS : 0);
}

static int64_t later_ns(int op)
{
	return 90 * SECOND_NS - 7 * op;
}

static void set_all(struct op_ends *ends)
{
	for (int i = OPS; i-- > 0;)
		assert_int_equal(op_ends_set(ends, (size_t)i, ops[i].end_ns + later_ns(i)), 0);
}

static size_t whole_count(const struct op_ends *ends)
{
	size_t count = 0;

	for (size_t i = 0; i <= ends->count / OP_ENDS_BLOCK; i++)
		count += ends->blocks[i].whole_ns != NULL;
	return count;
}

static void test_near(void **state)
{
	struct op_ends ends = {0};

	(void)state;
	fill_ops();
	assert_int_equal(op_ends_open(&ends, &profile), 0);
	set_all(&ends);
	assert_int_equal(whole_count(&ends), 0);
	for (int i = 0; i < OPS; i++)
		assert_int_equal(op_ends_ns(&ends, (size_t)i), ops[i].end_ns + later_ns(i));
	op_ends_free(&ends);
}

static void test_far(void **state)
{
	struct op_ends ends = {0};

	(void)state;
	fill_ops();
	assert_int_equal(op_ends_open(&ends, &profile), 0);
	set_all(&ends);
	assert_int_equal(op_ends_set(&ends, 120, 5), 0); /* sooner by an hour */
	assert_int_equal(op_ends_ns(&ends, 120), 5);
	for (int i = 0; i < OPS; i++)
		if (i != 120)
			assert_int_equal(op_ends_ns(&ends, (size_t)i), ops[i].end_ns + later_ns(i));
	assert_int_equal(op_ends_set(&ends, 121, INT64_MIN / 2), 0);
	assert_int_equal(op_ends_ns(&ends, 121), INT64_MIN / 2);
	assert_int_equal(whole_count(&ends), 1);

	assert_int_equal(op_ends_open(&ends, &profile), 0);
	set_all(&ends);
	assert_int_equal(whole_count(&ends), 0);
	op_ends_free(&ends);
}

/* The first of a block to be set, and another one of it that moved by so much more. */
static void test_ends_of_range(void **state)
{
	static const struct {
		int64_t further_ns;
		bool is_whole;
	} cases[] = {{0, false},	{-1, false},	  {65535, false},	{65536, false},
		     {-65536, false},	{-65537, false},  {8388607, false},	{8388608, true},
		     {-8388608, false}, {-8388609, true}, {INT64_MAX / 2, true}};

	(void)state;
	fill_ops();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct op_ends ends = {0};

		assert_int_equal(op_ends_open(&ends, &profile), 0);
		assert_int_equal(op_ends_set(&ends, 2, ops[2].end_ns + 7), 0);
		assert_int_equal(op_ends_set(&ends, 1, ops[1].end_ns + 7 + cases[i].further_ns), 0);
		assert_int_equal(op_ends_ns(&ends, 2), ops[2].end_ns + 7);
		assert_int_equal(op_ends_ns(&ends, 1), ops[1].end_ns + 7 + cases[i].further_ns);
		assert_int_equal(whole_count(&ends), cases[i].is_whole);
		op_ends_free(&ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"ends that moved like those around them take 3 bytes, whatever pauses there are",
		 test_near, NULL, NULL, NULL},
		{"an end is what was set at both ends of what 3 bytes hold", test_ends_of_range,
		 NULL, NULL, NULL},
		{"an end that moved otherwise is kept as it is, and so are all others", test_far,
		 NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
