/* Holding signals for a program that runs again and again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

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

/* Ctrl-C, of which the program ends before we have taken it. */
static void interrupt_both(void *user, bool is_asked)
{
	const pid_t *program = user;
	siginfo_t ended;

	(void)is_asked;
	assert_int_equal(kill(getpid(), SIGINT), 0);
	assert_int_equal(kill(*program, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)*program, &ended, WEXITED | WNOWAIT), 0);
}

static void test_interrupted_in_tick(void **state)
{
	struct signals_watch watch = {.period_ms = 1, .tick = interrupt_both};
	pid_t program;
	sigset_t all;
	int status, number;

	(void)state;
	signals_hold();
	program = fork();
	if (program == 0)
		for (;;)
			pause();
	assert_true(program > 0);
	watch.user = &program;
	assert_int_equal(signals_wait(program, &status, &watch), 0);
	sigfillset(&all);
	while ((number = sigtimedwait(&all, NULL, &(struct timespec){0})) > 0)
		assert_true(number == SIGINT || number == SIGCHLD);
	signals_restore();
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_true(signals_are_end_asked());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"signals are held in each run, and are as they were behind it", test_again, NULL,
		 NULL, NULL},
		{"an interrupt is seen that came with the program's end during a tick",
		 test_interrupted_in_tick, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
