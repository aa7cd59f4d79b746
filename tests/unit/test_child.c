/* base/child.h: work that crashes or hangs costs an answer, not the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

struct answer {
	int first, second;
};

static void work_answers(void *result, const void *context)
{
	struct answer *answer = result;

	answer->first = *(const int *)context;
	answer->second = 2;
}

static void work_crashes(void *result, const void *context)
{
	work_answers(result, context);
	signal(SIGSEGV, SIG_DFL); /* ASan's handler would print */
	raise(SIGSEGV);
}

static void work_exits(void *result, const void *context)
{
	work_answers(result, context);
	_exit(0);
}

static void work_hangs(void *result, const void *context)
{
	work_answers(result, context);
	for (;;)
		pause();
}

static void work_chats(void *result, const void *context)
{
	work_answers(result, context);
	dprintf(STDOUT_FILENO, "not ok 99 - the child wrote on our stdout\n");
}

static int call(child_work work, struct answer *answer, int timeout_ms)
{
	static const int one = 1;

	memset(answer, 0xff, sizeof(*answer));
	return child_call(work, &one, answer, sizeof(*answer), timeout_ms);
}

static void returns_what_the_child_found(void **state)
{
	struct answer answer;

	(void)state;
	assert_int_equal(call(work_answers, &answer, 60000), 0);
	assert_int_equal(answer.first, 1);
	assert_int_equal(answer.second, 2);
}

static void a_crash_keeps_what_was_found_before_it(void **state)
{
	struct answer answer;

	(void)state;
	assert_int_equal(call(work_crashes, &answer, 60000), -ECANCELED);
	assert_int_equal(answer.first, 1);
}

static void an_exit_half_way_counts_as_a_crash(void **state)
{
	struct answer answer;

	(void)state;
	assert_int_equal(call(work_exits, &answer, 60000), -ECANCELED);
}

static void a_child_that_hangs_is_ended(void **state)
{
	struct answer answer;

	(void)state;
	assert_int_equal(call(work_hangs, &answer, 300), -ETIMEDOUT);
	assert_int_equal(answer.second, 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void what_the_child_prints_is_dropped(void **state)
{
	struct answer answer;
	int pipes[2], saved = dup(STDOUT_FILENO);
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	fflush(stdout);
	dup2(pipes[1], STDOUT_FILENO);
	close(pipes[1]);
	assert_int_equal(call(work_chats, &answer, 60000), 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name, function) {name, function, NULL, NULL, NULL}
		TEST("the child's result comes back", returns_what_the_child_found),
		TEST("a crash keeps what was found before it",
		     a_crash_keeps_what_was_found_before_it),
		TEST("an exit half way counts as a crash", an_exit_half_way_counts_as_a_crash),
		TEST("a child that hangs is ended and leaves no zombie",
		     a_child_that_hangs_is_ended),
		TEST("what the child prints is dropped", what_the_child_prints_is_dropped),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
