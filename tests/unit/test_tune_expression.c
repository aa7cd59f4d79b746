/* test_tune_expression.c - conditions on parameters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tune/expression.h"

static const char *const names[] = {"a", "block", "tile"};
static const int64_t values[] = {2, 64, 0};

static int value_of(const char *text, int64_t *result)
{
	struct expression *expression;
	struct err err = {""};
	int rc;

	assert_int_equal(expression_parse(&expression, text, names, 3, &err), 0);
	rc = expression_evaluate(expression, values, result);
	expression_free(expression);
	return rc;
}

static void assert_value(const char *text, int64_t expected)
{
	int64_t result;

	assert_int_equal(value_of(text, &result), 0);
	assert_int_equal(result, expected);
}

static void products_bind_tighter_than_sums_and_sums_than_comparisons(void **state)
{
	(void)state;
	assert_value("1 + 2*3", 7);
	assert_value("(1+2)*3", 9);
	assert_value("10 - 4 - 3", 3);
	assert_value("7/2*2", 6);
	assert_value("-7 % 4", -3);
	assert_value("-a*3", -6);
	assert_value("block*a <= 128", 1);
	assert_value("block*a + 1 <= 128", 0);
	assert_value("2 - -a", 4);
}

static void conditions_are_joined_by_and_or_not_or_as_c_writes_them(void **state)
{
	(void)state;
	assert_value("a == 2 and block > 63", 1);
	assert_value("a == 1 or block != 64", 0);
	assert_value("a == 1 && a == 2 || block", 1);
	assert_value("not a == 1", 1);
	assert_value("not a == 2 or a == 2", 1);
	assert_value("!a + 1", 1);
	assert_value("block and a", 1);
	assert_value("1<2 and 2>=2 and 3!=4", 1);
}

static void what_does_not_matter_is_not_evaluated(void **state)
{
	int64_t result;

	(void)state;
	assert_value("tile and block % tile == 0", 0);
	assert_value("tile == 0 or block / tile > 1", 1);
	assert_int_equal(value_of("block / tile", &result), -EDOM);
	assert_int_equal(value_of("block % tile", &result), -EDOM);
}

static void a_result_that_needs_more_than_64_bits_is_told(void **state)
{
	int64_t result;

	(void)state;
	assert_int_equal(value_of("9223372036854775807 + 1", &result), -EDOM);
	assert_int_equal(value_of("9223372036854775807 * a", &result), -EDOM);
	assert_int_equal(value_of("(0-9223372036854775807-1) / (0-1)", &result), -EDOM);
	assert_int_equal(value_of("-(0-9223372036854775807-1)", &result), -EDOM);
}

static void assert_wrong(const char *text, const char *what)
{
	struct expression *expression;
	struct err err = {""};

	assert_int_equal(expression_parse(&expression, text, names, 3, &err), -EINVAL);
	assert_null(expression);
	assert_non_null(strstr(err.text, what));
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	char deep[300];

	(void)state;
	assert_wrong("", "missing at 'the end'");
	assert_wrong("a <", "missing at 'the end'");
	assert_wrong("(a", "')' is missing");
	assert_wrong("a b", "no operator at 'b'");
	assert_wrong("width < 3", "no parameter with numbers of that name at 'width < 3'");
	assert_wrong("a < 1.5", "no whole number at '1.5'");
	assert_wrong("a < 99999999999999999999", "too large");
	assert_wrong("1 <= a <= 3", "two comparisons in a row");
	assert_wrong("a = 3", "no operator at '= 3'");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_wrong(deep, "too deep");
	memset(deep, '-', sizeof(deep) - 1);
	assert_wrong(deep, "too deep");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_bind_tighter_than_sums_and_sums_than_comparisons),
		cmocka_unit_test(conditions_are_joined_by_and_or_not_or_as_c_writes_them),
		cmocka_unit_test(what_does_not_matter_is_not_evaluated),
		cmocka_unit_test(a_result_that_needs_more_than_64_bits_is_told),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
