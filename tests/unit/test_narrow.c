/* Lines that are broken for narrow terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/narrow.h"

static void assert_put(const char *text, size_t width, const char *expected)
{
	char *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	narrow_put(out, text, strlen(text), width);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(written, expected);
	free(written);
}

static void test_lines_that_fit_stay_as_they_are(void **state)
{
	(void)state;
	assert_put("Kernels\n\n  a  1 us\n", 20, "Kernels\n\n  a  1 us\n");
	assert_put("without an end", 20, "without an end");
	assert_put("", 20, "");
}

static void test_a_number_stays_with_its_unit_and_columns_with_their_blanks(void **state)
{
	(void)state;
	assert_put("  a name      12.3 us    4.00 us\n", 22,
		   "  a name      12.3 us\n        4.00 us\n");
	assert_put("  a name      12.3 us    4.00 us\n", 18,
		   "  a name\n          12.3 us\n        4.00 us\n");
	assert_put("  head          mean     median\n", 22,
		   "  head          mean\n         median\n");
}

static void test_a_bar_that_does_not_fit_is_left_out(void **state)
{
	(void)state;
	assert_put("  launch  12.3%  ####\n", 16, "  launch  12.3%\n");
	assert_put("  launch  12.3%  #\n", 18, "  launch  12.3%  #\n");
}

static void test_a_text_at_the_right_goes_below_in_one_piece(void **state)
{
	(void)state;
	assert_put("  step    grid 4 block 2, 16 regs\n", 28,
		   "  step\n     grid 4 block 2, 16 regs\n");
}

static void test_a_kept_line_and_a_word_that_is_too_long_are_not_broken(void **state)
{
	(void)state;
	assert_put("\001  a command to copy\n", 8, "  a command to copy\n");
	assert_put("0123456789abcdef\n", 8, "0123456789abcdef\n");
	assert_put("  ab 0123456789abcdef c\n", 8, "  ab\n    0123456789abcdef\n     c\n");
}

static void test_escapes_take_no_column_and_characters_one(void **state)
{
	(void)state;
	assert_put("\033[1mabcd\033[0m efg\n", 8, "\033[1mabcd\033[0m efg\n");
	assert_put("\033[2mabcd efgh\033[0m\n", 8, "\033[2mabcd\n    efgh\033[0m\n");
	assert_put("\303\244\303\244\303\244 \303\244\303\244\303\244\n", 7,
		   "\303\244\303\244\303\244 \303\244\303\244\303\244\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_that_fit_stay_as_they_are),
		cmocka_unit_test(test_a_number_stays_with_its_unit_and_columns_with_their_blanks),
		cmocka_unit_test(test_a_bar_that_does_not_fit_is_left_out),
		cmocka_unit_test(test_a_text_at_the_right_goes_below_in_one_piece),
		cmocka_unit_test(test_a_kept_line_and_a_word_that_is_too_long_are_not_broken),
		cmocka_unit_test(test_escapes_take_no_column_and_characters_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
