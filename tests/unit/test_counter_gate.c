/* collector/counters/counter_gate.h: launches wait for a counted one as long as there is a reason to, and no longer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/guard.c"
#include "collector/wait.c"

#include "collector/counters/counter_gate.c"

#define MS INT64_C(1000000)

/* How long entering took, by the clock that does not jump. */
static int64_t enter_ns(int64_t patience_ns)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	counter_gate_enter(patience_ns);
	return clock_ns(CLOCK_MONOTONIC) - start_ns;
}

static void test_open(void **state)
{
	(void)state;
	assert_int_equal(counter_gate_enter(0), 0);
	assert_false(counter_gate_wait_for_others()); /* this one is under way */
	counter_gate_leave();
	assert_true(counter_gate_wait_for_others());
}

static void test_call(void **state)
{
	(void)state;
	counter_gate_set(GATE_DEVICE);
	assert_false(counter_gate_was_passed());
	counter_gate_set(GATE_CALL);
	assert_true(enter_ns(0) >= 9 * MS);
	counter_gate_leave();
	assert_true(counter_gate_was_passed());
	for (int i = 0; i < 1000; i++) { /* the limit is the phase's, not each launch's */
		counter_gate_enter(0);
		counter_gate_leave();
	}
	assert_true(clock_ns(CLOCK_MONOTONIC) - phase_since_ns < 1000 * MS);
	counter_gate_set(GATE_OPEN);
	counter_gate_set(GATE_DEVICE);
	assert_false(counter_gate_was_passed()); /* that was the last one's */
	counter_gate_set(GATE_OPEN);
}

static void *open_later(void *unused)
{
	struct timespec time = {0, 30 * MS};

	nanosleep(&time, NULL);
	counter_gate_set(GATE_OPEN);
	return unused;
}

static void check_opened(bool is_capture)
{
	pthread_t thread;

	counter_gate_set(is_capture ? GATE_CALL : GATE_DEVICE);
	assert_int_equal(pthread_create(&thread, NULL, open_later, NULL), 0);
	assert_true(enter_ns(is_capture ? 60000 * MS : 0) >= 20 * MS);
	assert_false(counter_gate_was_passed());
	counter_gate_leave();
	pthread_join(thread, NULL);
}

static void test_device(void **state)
{
	(void)state;
	check_opened(false);
}

static void test_capture(void **state)
{
	(void)state;
	check_opened(true);
}

static void test_wait(void **state)
{
	(void)state;
	assert_true(counter_gate_wait());
	counter_gate_set(GATE_CALL);
	assert_false(counter_gate_wait());
	assert_false(counter_gate_was_passed()); /* nothing was launched */
	counter_gate_set(GATE_OPEN);
}

static void *enter_main(void *unused)
{
	counter_gate_enter(1000 * MS);
	return unused;
}

/* Joined with a limit: what fails here hangs. */
static void test_cancel(void **state)
{
	struct timespec time = {0, 30 * MS},
			until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + 3000 * MS);
	pthread_t waiting, opening;

	(void)state;
	counter_gate_set(GATE_DEVICE);
	assert_int_equal(pthread_create(&waiting, NULL, enter_main, NULL), 0);
	nanosleep(&time, NULL);
	pthread_cancel(waiting);
	assert_int_equal(pthread_create(&opening, NULL, open_later, NULL), 0);
	assert_int_equal(pthread_clockjoin_np(opening, NULL, CLOCK_MONOTONIC, &until), 0);
	assert_int_equal(pthread_join(waiting, NULL), 0);
	counter_gate_leave();
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an open gate makes nobody wait, and who is inside is waited for", test_open),
		TEST("a driver's call is waited for 10 ms, once, and then the count is void",
		     test_call),
		TEST("a launch goes on when the GPU is idle again, and the count is good",
		     test_device),
		TEST("a capture waits for the driver's call too", test_capture),
		TEST("who only waits makes no count void", test_wait),
		TEST("a thread that is canceled while it waits holds up nobody", test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
