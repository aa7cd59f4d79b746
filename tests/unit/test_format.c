#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/format.h"

static void test_times(void **state)
{
	(void)state;
	assert_string_equal(format_ns(0).text, "0 ns");
	assert_string_equal(format_ns(999).text, "999 ns");
	assert_string_equal(format_ns(1000).text, "1.00 us");
	assert_string_equal(format_ns(9996).text, "10.0 us");
	assert_string_equal(format_ns(999600).text, "1.00 ms");
	assert_string_equal(format_ns(34500000).text, "34.5 ms");
	assert_string_equal(format_ns(7.2e9).text, "7.20 s");
	assert_string_equal(format_ns(5e12).text, "5000 s");
	assert_string_equal(format_ns(-1500).text, "-1.50 us");
}

static void test_moments(void **state)
{
	(void)state;
	assert_string_equal(format_moment(2804127).text, "2.804127ms");
	assert_string_equal(format_moment(-5497181).text, "-5.497181ms");
	assert_string_equal(format_moment(-80).text, "-80ns");
	assert_string_equal(format_moment(0).text, "0ns");
}

static void test_sizes(void **state)
{
	(void)state;
	assert_string_equal(format_bytes(512).text, "512 B");
	assert_string_equal(format_bytes(1 << 20).text, "1.00 MiB");
	assert_string_equal(format_rate(27.14e9).text, "27.1 GB/s");
	assert_string_equal(format_rate(0).text, "-");
	assert_string_equal(format_per_s(61.24e12, "FLOP/s").text, "61.2 TFLOP/s");
	assert_string_equal(format_per_s(812, "op/s").text, "812 op/s");
	assert_string_equal(format_per_s(1.979e15, "FLOP/s").text, "1.98 PFLOP/s");
	assert_string_equal(format_count(0).text, "0");
	assert_string_equal(format_count(999).text, "999");
	assert_string_equal(format_count(1234567).text, "1,234,567");
	assert_string_equal(format_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(format_percent(1, 8).text, "12.5%");
	assert_string_equal(format_percent(1, 0).text, "-");
	assert_string_equal(format_speedup(3.912).text, "3.91x");
	assert_string_equal(format_speedup(127.6).text, "128x");
	assert_string_equal(format_speedup(0).text, "-");
	assert_string_equal(format_cuda_version(13010).text, "13.1");
}

static void test_text(void **state)
{
	char buffer[16];

	(void)state;
	assert_int_equal(format_text(buffer, sizeof(buffer), "a\x1b[2J\nb", 10), 7);
	assert_string_equal(buffer, "a?[2J?b");
	/* three code points of two bytes each, cut after the second */
	assert_int_equal(format_text(buffer, sizeof(buffer), "\xc3\xa4\xc3\xb6\xc3\xbc", 2), 2);
	assert_string_equal(buffer, "\xc3\xa4\xc3\xb6");
	assert_int_equal(format_text(buffer, 4, "abcdef", 10), 3);
}

static void test_foreign_bytes(void **state)
{
	char buffer[64];

	(void)state;
	assert_int_equal(format_text(buffer, sizeof(buffer), "a\xff\xc2\x9b\xe2\x82", 20), 6);
	assert_string_equal(buffer, "a?????");
	assert_int_equal(format_character("\xed\xa0\x80"), 0);	   /* half of a pair */
	assert_int_equal(format_character("\xc0\xaf"), 0);	   /* a slash, too long */
	assert_int_equal(format_character("\xf4\x90\x80\x80"), 0); /* beyond Unicode */
	assert_int_equal(format_character("\xf0\x9f\x98\x80"), 4);
	assert_int_equal(format_character("\xc2\xa0"), 2);
	assert_int_equal(format_text(buffer, 4, "\xc3\xa9\xc3\xa9", 20), 1); /* no half one */
	assert_string_equal(buffer, "\xc3\xa9");
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("moments are exact, also those before the first operation", test_moments),
		SENTENCE("times have three digits and the unit that fits", test_times),
		SENTENCE("sizes, rates, counts and shares read well", test_sizes),
		SENTENCE("control characters in names cannot move the cursor", test_text),
		SENTENCE(
			"what is no UTF-8 is shown byte by byte, and no character is cut in the middle",
			test_foreign_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
