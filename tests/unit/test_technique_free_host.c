/* The host's own code between the calls of a loop takes no time, and nothing else changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_loop.h"

static void test_pauses(void **state)
{
	struct loop_fixture fixture = loop_of("khkrw");
	const struct call_change expected = {.pause = PAUSE_GONE};
	const struct change *change = &fixture.application.change;

	(void)state;
	assert_null(loop_apply(&fixture, &technique_free_host));
	assert_int_equal(change->calls[fixture.loop.first_call], CALL_KEPT); /* before the loop */
	for (size_t i = 1; i < fixture.loop.call_count; i++)
		assert_memory_equal(
			&change->call_changes[change->calls[fixture.loop.first_call + i]],
			&expected, sizeof(expected));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS);
	loop_free(&fixture);
}

static void test_least(void **state)
{
	struct loop_fixture fixture = loop_of("khkrw");

	(void)state;
	loop_application(&fixture, &technique_free_host)->end = ASSUMED_LEAST;
	assert_null(technique_free_host.change_loop(&fixture.application, &fixture.loop));
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_after_another(void **state)
{
	struct loop_fixture fixture = loop_of("kwkw");
	const struct change *change = &fixture.application.change;

	(void)state;
	assert_null(loop_apply(&fixture, &technique_remove_syncs));
	loop_expect(&fixture, 1, ".d.d");
	assert_null(loop_apply(&fixture, &technique_free_host));
	assert_int_equal(change->calls[fixture.loop.first_call + 1], CALL_DROPPED);
	assert_int_equal(change->call_changes[change->calls[fixture.loop.first_call + 2]].pause,
			 PAUSE_GONE);
	loop_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"the host makes each call as soon as the one before returns", test_pauses, NULL,
		 NULL, NULL},
		{"at the low end all of its code stays", test_least, NULL, NULL, NULL},
		{"what another technique made of a call stays", test_after_another, NULL, NULL,
		 NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
