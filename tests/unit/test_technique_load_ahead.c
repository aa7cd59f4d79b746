/* What the host does before a loop's copies to the device is done ahead of time; other code of the host stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* Expects a letter for each call of the second iteration: . kept, 0 without the pause before it. */
static void expect(const struct loop_fixture *fixture, const char *letters)
{
	const struct change *change = &fixture->application.change;
	size_t first = fixture->loop.iterations[1];

	for (size_t i = 0; letters[i]; i++)
		assert_int_equal(change->call_changes[change->calls[first + i]].pause,
				 letters[i] == '0' ? PAUSE_GONE : PAUSE_KEPT);
}

static void test_work_before_copy(void **state)
{
	struct loop_fixture fixture = loop_of("hikhk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_load_ahead));
	expect(&fixture, "0..");
	assert_int_equal(fixture.effect.changed_count,
			 ITERATIONS - 1); /* the first is before the loop */
	loop_free(&fixture);
}

static void test_calls_between(void **state)
{
	struct loop_fixture fixture = loop_of("hwik");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_load_ahead));
	expect(&fixture, "00.");
	loop_free(&fixture);
}

static void test_nothing_to_load(void **state)
{
	(void)state;
	loop_expect_refusal(
		"hkrw", &technique_load_ahead,
		"no sequence of launches repeats in which the host works for long before "
		"a copy to the device");
	loop_expect_refusal(
		"ik", &technique_load_ahead,
		"no sequence of launches repeats in which the host works for long before "
		"a copy to the device");
}

/* One worker takes as long as the host did: where that is most of a step, it is what stays. */
static void test_one_worker(void **state)
{
	struct loop_fixture fixture = loop_of("hiktk");

	(void)state;
	loop_application(&fixture, &technique_load_ahead)->end = ASSUMED_LEAST;
	assert_null(technique_load_ahead.change_loop(&fixture.application, &fixture.loop));
	expect(&fixture, ".00");
	loop_free(&fixture);
}

static void test_fast_worker(void **state)
{
	struct loop_fixture fixture = loop_of("hikhkhk");

	(void)state;
	loop_application(&fixture, &technique_load_ahead)->end = ASSUMED_LEAST;
	assert_null(technique_load_ahead.change_loop(&fixture.application, &fixture.loop));
	expect(&fixture, "0...");
	loop_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"what the host does before a copy to the device is gone", test_work_before_copy,
		 NULL, NULL, NULL},
		{"so is what it does before other calls since it submitted something last",
		 test_calls_between, NULL, NULL, NULL},
		{"without such work, or such a copy, nothing changes", test_nothing_to_load, NULL,
		 NULL, NULL},
		{"at the low end one worker's time stays where it is longer than the rest",
		 test_one_worker, NULL, NULL, NULL},
		{"and is hidden where it is shorter", test_fast_worker, NULL, NULL, NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
