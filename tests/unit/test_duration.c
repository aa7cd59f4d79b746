/* roofline/duration.h: lengths of time as people write them. */
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "roofline/duration.h"

static void expect(const char *text, int64_t wanted_ns)
{
	int64_t ns = duration_ns(text, NULL);

	if (ns != wanted_ns)
		fail_msg("'%s' is %lld and not %lld", text, (long long)ns, (long long)wanted_ns);
}

static void every_unit_is_known_and_points_are_allowed(void **state)
{
	(void)state;
	expect("1ns", 1);
	expect("1us", 1000);
	expect("100ms", 100000000);
	expect("2s", 2000000000);
	expect("1.5s", 1500000000);
	expect("0.25us", 250);
	expect(".5ms", 500000);
	expect("5.ms", 5000000);
	expect("007us", 7000);
	expect("1.6ns", 2); /* to the nearest */
}

static void the_limits_are_a_nanosecond_and_thirty_years(void **state)
{
	(void)state;
	expect("0.9ns", -1);
	expect("0.001us", 1);
	expect("0s", -1);
	expect("1000000000s", INT64_C(1000000000000000000));
	expect("1000000001s", -1);
	expect("99999999999999999999999999999999999999999999999999s", -1);
	expect("0.00000000000000000000000000000000000000000000000001s", -1);
}

/* More digits than a double has room for: neither infinite nor not a number. */
static void numbers_without_end_are_none(void **state)
{
	char text[1000];

	(void)state;
	memset(text, '9', sizeof(text));
	strcpy(text + sizeof(text) - 3, "ns");
	expect(text, -1);
	text[1] = '.';
	expect(text, -1);
}

static void what_is_no_length_is_refused(void **state)
{
	static const char *const junk[] = {"",	     "1",    "us",    ".us",  ".",     "1 us",
					   " 1us",   "1us ", "-1us",  "+1us", "1e3us", "1us1",
					   "1.2.3s", "1,5s", "0x1us", "infs", "nans",  "1US",
					   "1m",     "1min", "1ks",   "1uss", "s1",    "1us/1s"};

	(void)state;
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++)
		expect(junk[i], -1);
}

static void with_an_end_text_may_go_on(void **state)
{
	const char *text = "10us/1ms", *end = NULL;

	(void)state;
	assert_int_equal(duration_ns(text, &end), 10000);
	assert_ptr_equal(end, text + 4);
}

static void the_point_does_not_follow_the_locale(void **state)
{
	(void)state;
	setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one */
	expect("1.5us", 1500);
	expect("1,5us", -1);
	setlocale(LC_ALL, "C");
}

static void a_window_is_a_length_and_a_period_that_is_not_shorter(void **state)
{
	static const char *const junk[] = {"",		"100ms",       "100ms/", "/1s",
					   "1s/100ms",	"1s/1",	       "1/1s",	 "100ms:1s",
					   "100ms/1sx", "100ms/1s/1s", "0s/1s",	 "100ms/0s",
					   "100ms /1s", "auto"};
	int64_t length_ns, period_ns;

	(void)state;
	assert_int_equal(duration_window("100ms/1s", &length_ns, &period_ns), 0);
	assert_int_equal(length_ns, 100000000);
	assert_int_equal(period_ns, 1000000000);
	assert_int_equal(duration_window("1.5us/1500ns", &length_ns, &period_ns), 0);
	assert_int_equal(length_ns, period_ns);
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++)
		if (duration_window(junk[i], &length_ns, &period_ns) != -1)
			fail_msg("'%s' is taken for a window", junk[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unit_is_known_and_points_are_allowed),
		cmocka_unit_test(the_limits_are_a_nanosecond_and_thirty_years),
		cmocka_unit_test(numbers_without_end_are_none),
		cmocka_unit_test(what_is_no_length_is_refused),
		cmocka_unit_test(with_an_end_text_may_go_on),
		cmocka_unit_test(the_point_does_not_follow_the_locale),
		cmocka_unit_test(a_window_is_a_length_and_a_period_that_is_not_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
