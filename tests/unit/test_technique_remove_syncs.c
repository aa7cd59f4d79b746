/* Waits after which the host reads nothing are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
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

#define READS 2 /* of an iteration, each with an event behind it */

/* "rerekww": the first wait of an iteration is for the event behind read `first`, the other one for the other. */
static struct loop_fixture loop_of_events(struct profile_event_call *rows, uint64_t first)
{
	struct loop_fixture fixture = loop_of("rerekww");
	struct profile *profile = &fixture.b->profile;

	for (uint32_t i = 0; i < ITERATIONS; i++) {
		uint32_t call = fixture.iterations[i];
		const struct profile_event_call calls[2 * READS] = {
			{.event = 1, .call = call + 1, .kind = EVENT_RECORDED},
			{.event = 2, .call = call + 3, .kind = EVENT_RECORDED},
			{.event = first, .call = call + 5, .kind = EVENT_AWAITED_BY_HOST},
			{.event = 3 - first, .call = call + 6, .kind = EVENT_AWAITED_BY_HOST},
		};

		memcpy(rows + profile->event_call_count, calls, sizeof(calls));
		profile->event_call_count += 2 * READS;
	}
	profile->event_calls = rows;
	return fixture;
}

/* As of a host that hands on what it reads piece by piece. */
static void test_events(void **state)
{
	struct profile_event_call rows[2 * READS * ITERATIONS];
	struct loop_fixture fixture = loop_of_events(rows, 1);

	(void)state;
	assert_int_equal(drop(&fixture), 0);
	loop_free(&fixture);
	fixture = loop_of_events(rows, 2); /* the last read is awaited first: so is the other one */
	assert_int_equal(drop(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 3, "......d");
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
		SENTENCE(
			"a wait for an event is for what was copied before it was recorded, and no more",
			test_events),
		SENTENCE("without waits there is none to drop", test_no_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
