/* roofline/byte_size.h: sizes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "roofline/byte_size.h"

static void test_units_are_powers_of_1024(void **state)
{
	(void)state;
	assert_int_equal(byte_size("0"), 0);
	assert_int_equal(byte_size("4096"), 4096);
	assert_int_equal(byte_size("64K"), 65536);
	assert_int_equal(byte_size("1.5M"), 1572864);
	assert_int_equal(byte_size("2GB"), INT64_C(2) << 30);
	assert_int_equal(byte_size("2GiB"), INT64_C(2) << 30);
	assert_int_equal(byte_size("1T"), INT64_C(1) << 40);
	assert_int_equal(byte_size("7B"), 7);
}

static void test_what_is_no_size_is_refused(void **state)
{
	static const char *const wrong[] = {"",	   "K",	 "-1",	"1k",  "5 M",	   "5Mi",  "5iB",
					    "1KK", "M5", "nan", "1e3", "9999999T", "12MBx"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(byte_size(wrong[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_are_powers_of_1024),
		cmocka_unit_test(test_what_is_no_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
