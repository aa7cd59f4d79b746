/* Waits after which the host reads nothing are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_loop.h"

/* Returns how many waits are gone. */
static size_t drop(struct loop_fixture *fixture)
{
	const char *refusal = loop_apply(fixture, &technique_remove_syncs);

	if (refusal)
		assert_string_equal(refusal, refused_nothing);
	assert_int_equal(!refusal, fixture->effect.changed_count > 0);
	return fixture->effect.changed_count;
}

static void test_drop_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kwkw");

	(void)state;
	assert_int_equal(drop(&fixture), 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, ".d.d");
	loop_expect(&fixture, ITERATIONS - 1, ".d.."); /* the last wait stays */
	loop_free(&fixture);
}

static void test_keep_waits_for_reads(void **state)
{
	struct loop_fixture fixture = loop_of("kwrw");

	(void)state;
	assert_int_equal(drop(&fixture), ITERATIONS);
	loop_expect(&fixture, 3, ".d..");
	loop_free(&fixture);
	fixture = loop_of("row"); /* all waits are for reads */
	assert_int_equal(drop(&fixture), 0);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* A copy that returns when it is done needs none. */
static void test_blocking_reads(void **state)
{
	struct loop_fixture fixture = loop_of("kwR");

	(void)state;
	assert_int_equal(drop(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 3, ".d.");
	loop_free(&fixture);
}

static void test_no_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kk");

	(void)state;
	assert_int_equal(drop(&fixture), 0);
	loop_free(&fixture);
}

/* H is pinned. */
static void test_host_memory(void **state)
{
	struct given_loop *given = given_loop_of("kwkw", "rA,wB rH,wB");

	(void)state;
	assert_int_equal(drop(&given->loop), ITERATIONS);
	loop_expect(&given->loop, 3, ".d..");
	given_free(given);
	given = given_loop_of("kw", "rA,wH");
	assert_string_equal(
		loop_apply(&given->loop, &technique_remove_syncs),
		"before each wait a kernel is given memory that the host reads and writes itself");
	loop_expect_unchanged(&given->loop);
	given_free(given);
	given = given_loop_of("kw", "rA,wB");
	assert_int_equal(drop(&given->loop), ITERATIONS - 1);
	given_free(given);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("waits beside copies that wait themselves are gone", test_blocking_reads),
		SENTENCE("waits go where the host reads nothing, but for the last",
			 test_drop_waits),
		SENTENCE("waits for what is copied to the host stay", test_keep_waits_for_reads),
		SENTENCE("waits behind kernels that were given memory of the host's stay",
			 test_host_memory),
		SENTENCE("without waits there is none to drop", test_no_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
