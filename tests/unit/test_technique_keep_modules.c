/* Code that was loaded before is not loaded again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/jit.h"
#include "fixture_loop.h"

static struct report report; /* of the loop */

static struct loop_fixture loading(const char *usual)
{
	struct loop_fixture fixture = loop_of(usual);
	struct err err = {""};

	report = (struct report){.profile = &fixture.b->profile};
	assert_int_equal(jit_build(&report.jit, report.profile, &err), 0);
	fixture.run.report = &report;
	return fixture;
}

static void end(struct loop_fixture *fixture)
{
	jit_free(report.jit);
	loop_free(fixture);
}

static const struct call_change *change_at(const struct loop_fixture *fixture, int iteration)
{
	const struct change *change = &fixture->application.change;

	return &change->call_changes[change->calls[fixture->iterations[iteration]]];
}

/* The first load stays.  The host's code before the others is gone with them. */
static void test_loads(void **state)
{
	struct loop_fixture fixture = loading("hLkwz");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_keep_modules));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS - 1);
	assert_true(fixture.effect.is_assuming);
	loop_expect(&fixture, 0, "..dd");
	loop_expect(&fixture, 1, "?.dd");
	assert_int_equal(change_at(&fixture, 1)->pause, PAUSE_GONE);
	assert_int_equal(change_at(&fixture, 1)->host, COST_NONE);
	assert_int_equal(change_at(&fixture, 1)->submission, SUBMITS_NOTHING);
	end(&fixture);
}

/* Somebody else may need the wait. */
static void test_least(void **state)
{
	struct loop_fixture fixture = loading("Lkwz");

	(void)state;
	fixture.application.end = ASSUMED_LEAST;
	assert_null(loop_apply(&fixture, &technique_keep_modules));
	loop_expect(&fixture, 1, "?..d");
	end(&fixture);
}

static void test_other_waits(void **state)
{
	struct loop_fixture fixture = loading("Lkwkz");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_keep_modules));
	loop_expect(&fixture, 1, "?...d");
	end(&fixture);
}

static void test_refusals(void **state)
{
	struct loop_fixture fixture = loading("kJw"); /* nobody knows what is loaded */

	(void)state;
	assert_non_null(loop_apply(&fixture, &technique_keep_modules));
	loop_expect_unchanged(&fixture);
	end(&fixture);
	fixture = loading("Lkwz");
	for (size_t i = 0; i < fixture.b->profile.module_count; i++)
		fixture.b->modules[i].code = i + 1; /* different code each time */
	jit_free(report.jit);
	assert_int_equal(jit_build(&report.jit, report.profile, &(struct err){""}), 0);
	assert_non_null(loop_apply(&fixture, &technique_keep_modules));
	loop_expect_unchanged(&fixture);
	end(&fixture);
}

/* A wait right before code is unloaded is for that, whoever else does not need it. */
static void test_remove_syncs(void **state)
{
	struct loop_fixture fixture = loading("Lkwz");

	(void)state;
	assert_non_null(loop_apply(&fixture, &technique_remove_syncs));
	loop_expect_unchanged(&fixture);
	end(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("code that was loaded before is neither compiled nor loaded again",
			 test_loads),
		SENTENCE("at the low end the wait before an unload stays", test_least),
		SENTENCE("only a wait right before an unload goes with it", test_other_waits),
		SENTENCE("other code each time is loaded each time", test_refusals),
		SENTENCE("nobody leaves out the wait before code is unloaded", test_remove_syncs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
