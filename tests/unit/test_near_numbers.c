#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/near_numbers.h"

#define COUNT 1000

/* Near each other, but for those of one block, and one in seven is none. */
static uint32_t number_of(size_t index)
{
	if (index % 7 == 3)
		return NEAR_NUMBERS_NONE;
	return index / NEAR_NUMBERS_BLOCK == 5 ? (uint32_t)(index * 123456789)
					       : (uint32_t)(3000000000 + index * 2);
}

static void test_all_are_kept(void **state)
{
	struct near_numbers numbers;

	(void)state;
	assert_int_equal(near_numbers_open(&numbers, COUNT), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(near_numbers_get(&numbers, i), NEAR_NUMBERS_NONE);
	for (size_t i = COUNT; i-- > 0;)
		assert_int_equal(near_numbers_set(&numbers, i, number_of(i)), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(near_numbers_get(&numbers, i), number_of(i));
	for (size_t i = 0; i < numbers.block_count; i++)
		assert_int_equal(numbers.blocks[i].whole != NULL, i == 5);
	near_numbers_free(&numbers);
}

/* On both sides of what 2 bytes hold from the first number of a block on, and back. */
static void test_ends_of_range(void **state)
{
	static const uint32_t steps[] = {0, 1, 16383, 16384, 49150, 49151, 49152, 70000};
	struct near_numbers numbers;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		for (int sign = -1; sign <= 1; sign += 2) {
			uint32_t other = (uint32_t)(100000 + sign * (int64_t)steps[i]);

			assert_int_equal(near_numbers_open(&numbers, 4), 0);
			assert_int_equal(near_numbers_set(&numbers, 0, 100000), 0);
			assert_int_equal(near_numbers_set(&numbers, 1, other), 0);
			assert_int_equal(near_numbers_set(&numbers, 2, 0), 0);
			assert_int_equal(near_numbers_set(&numbers, 3, UINT32_MAX - 1), 0);
			assert_int_equal(near_numbers_set(&numbers, 2, NEAR_NUMBERS_NONE), 0);
			assert_int_equal(near_numbers_get(&numbers, 0), 100000);
			assert_int_equal(near_numbers_get(&numbers, 1), other);
			assert_int_equal(near_numbers_get(&numbers, 2), NEAR_NUMBERS_NONE);
			assert_int_equal(near_numbers_get(&numbers, 3), UINT32_MAX - 1);
			near_numbers_free(&numbers);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"each number is what was set, also where they are far apart", test_all_are_kept,
		 NULL, NULL, NULL},
		{"numbers at the ends of what 2 bytes hold are kept", test_ends_of_range, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
