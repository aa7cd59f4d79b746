/* Changes of graphs that are instantiated for each launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static void expect_refused(struct loop_fixture fixture, enum refusal refusal)
{
	struct updated updated;

	assert_int_equal(change_to_updated(&fixture.change, fixture.model, 0, &updated), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Returns how many graphs are updates. */
static uint64_t to_updated(struct loop_fixture *fixture)
{
	struct updated updated;

	assert_int_equal(change_to_updated(&fixture->change, fixture->model, 0, &updated),
			 REFUSED_NONE);
	assert_int_not_equal(fixture->change.calls[updated.first_call], CALL_KEPT);
	assert_int_not_equal(fixture->change.calls[updated.end_call - 1], CALL_KEPT);
	return updated.graph_count;
}

/* The first graph is made, and the last one is destroyed. */
static void test_updated(void **state)
{
	struct loop_fixture fixture = loop_of("IgD");

	(void)state;
	assert_int_equal(to_updated(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 0, "..d");
	for (int i = 1; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "ugd");
	loop_expect(&fixture, ITERATIONS - 1, "ug.");
	loop_free(&fixture);
	fixture = loop_of("DIg");
	assert_int_equal(to_updated(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 0, "...");
	loop_expect(&fixture, 1, "dug");
	loop_free(&fixture);
}

static void test_other_nodes(void **state)
{
	struct loop_fixture fixture = loop_with("IgD", 4, "IqD");

	(void)state;
	assert_int_equal(to_updated(&fixture), ITERATIONS - 3);
	loop_expect(&fixture, 3, "ug.");
	loop_expect(&fixture, 4, "...");
	loop_expect(&fixture, 5, "..d");
	loop_expect(&fixture, 6, "ugd");
	loop_free(&fixture);
}

/* An upload does what a first launch would, and what is launched again is none. */
static void test_first_launches(void **state)
{
	struct loop_fixture fixture = loop_of("IUgD");

	(void)state;
	to_updated(&fixture);
	loop_expect(&fixture, 1, "u..d");
	loop_free(&fixture);
	fixture = loop_of("IgkgD");
	to_updated(&fixture);
	loop_expect(&fixture, 1, "ug..d");
	loop_free(&fixture);
}

static void test_shared(void **state)
{
	struct loop_fixture fixture = loop_of("IgD");

	(void)state;
	fixture.change.calls[fixture.iterations[4] + 1] = CALL_IN_GRAPH;
	assert_int_equal(to_updated(&fixture), ITERATIONS - 2);
	loop_expect(&fixture, 3, "ug.");
	loop_expect(&fixture, 4, ".nd");
	loop_free(&fixture);
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refused(loop_of("gk"), REFUSED_NOT_REBUILT);
	expect_refused(loop_of("IgggD"), REFUSED_NOT_REBUILT);
	expect_refused(loop_of("IWD"), REFUSED_OTHER_NODES);
	expect_refused(loop_of("IIg"), REFUSED_OTHER_NODES); /* which of them it is nobody knows */
	expect_refused(loop_of("IgDIqD"), REFUSED_OTHER_NODES);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("graphs made for each launch are updates of the first one", test_updated),
		SENTENCE("a graph of other nodes than the one before is made anew",
			 test_other_nodes),
		SENTENCE("only the first launch of a graph that was not uploaded is dearer",
			 test_first_launches),
		SENTENCE("what another change has taken is left alone", test_shared),
		SENTENCE("graphs that are kept already, or that may be others, are left alone",
			 test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
