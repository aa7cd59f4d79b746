/* Holding signals for a program that runs again and again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/record_signals.h"

static bool is_blocked(int number)
{
	sigset_t blocked;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	return sigismember(&blocked, number) == 1;
}

static void test_again(void **state)
{
	(void)state;
	for (int run = 0; run < 3; run++) {
		assert_false(is_blocked(SIGCHLD));
		signals_hold();
		signals_hold();
		assert_true(is_blocked(SIGCHLD));
		assert_true(is_blocked(SIGTERM));
		signals_restore();
	}
	assert_false(is_blocked(SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"signals are held in each run, and are as they were behind it", test_again, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
