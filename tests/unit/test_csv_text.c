/* collector/writer/csv_text.h: what stands in a cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/writer/csv_text.c"

#define REPLACED "\xef\xbf\xbd"

static void assert_cell(const char *text, const char *wanted)
{
	char cell[256];
	char *end = csv_put_text(cell, text);

	*end = '\0';
	assert_string_equal(cell, wanted);
	assert_true((size_t)(end - cell) + 1 <= csv_text_room(text));
}

static void test_text_with_a_comma_a_quote_or_a_line_break_is_quoted(void **state)
{
	(void)state;
	assert_cell("plain", "plain");
	assert_cell("", "");
	assert_cell(NULL, "");
	assert_cell("a,b", "\"a,b\"");
	assert_cell("\"", "\"\"\"\"");
	assert_cell("a\nb", "\"a\nb\"");
}

static void test_utf8_stays_as_it_is(void **state)
{
	(void)state;
	assert_cell("caf\xc3\xa9", "caf\xc3\xa9");
	assert_cell("\xe2\x82\xac,", "\"\xe2\x82\xac,\"");
	assert_cell("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
	assert_cell("\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80",
		    "\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80");
}

static void test_what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	assert_cell("caf\xe9", "caf" REPLACED);
	assert_cell("\xff\"", "\"" REPLACED "\"\"\"");
	assert_cell("a\x80z", "a" REPLACED "z");
	assert_cell("\xe2\x82", REPLACED REPLACED);
	assert_cell("\xc0\xaf", REPLACED REPLACED);		 /* longer than it has to be */
	assert_cell("\xe0\x80\xaf", REPLACED REPLACED REPLACED); /* as well */
	assert_cell("\xed\xa0\x80", REPLACED REPLACED REPLACED); /* half of a pair */
	assert_cell("\xf4\x90\x80\x80",
		    REPLACED REPLACED REPLACED REPLACED); /* beyond the last one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_with_a_comma_a_quote_or_a_line_break_is_quoted),
		cmocka_unit_test(test_utf8_stays_as_it_is),
		cmocka_unit_test(test_what_is_not_utf8_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
