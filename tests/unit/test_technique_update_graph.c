/* Graphs that are instantiated for each launch are updates of the one before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static const char not_rebuilt[] = "no thread instantiates a graph for nearly every launch of one";

static const char other_nodes[] =
	"no graph has as many recorded nodes as the one instantiated before it";

/* Returns how many graphs are updates. */
static size_t update(struct loop_fixture *fixture)
{
	const struct application *application = &fixture->application;
	const struct place *place;

	assert_null(loop_apply(fixture, &technique_update_graph));
	assert_int_equal(application->place_count, 1);
	place = &application->places[0];
	assert_int_not_equal(application->change.calls[place->first], CALL_KEPT);
	assert_int_not_equal(application->change.calls[place->end - 1], CALL_KEPT);
	return fixture->effect.changed_count;
}

/* The first graph is made, and the last one is destroyed. */
static void test_updated(void **state)
{
	struct loop_fixture fixture = loop_of("IgD");

	(void)state;
	assert_int_equal(update(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 0, "..d");
	for (int i = 1; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "ugd");
	loop_expect(&fixture, ITERATIONS - 1, "ug.");
	loop_free(&fixture);
	fixture = loop_of("DIg");
	assert_int_equal(update(&fixture), ITERATIONS - 1);
	loop_expect(&fixture, 0, "...");
	loop_expect(&fixture, 1, "dug");
	loop_free(&fixture);
}

static void test_other_nodes(void **state)
{
	struct loop_fixture fixture = loop_with("IgD", 4, "IqD");

	(void)state;
	assert_int_equal(update(&fixture), ITERATIONS - 3);
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
	update(&fixture);
	loop_expect(&fixture, 1, "u..d");
	loop_free(&fixture);
	fixture = loop_of("IgkgD");
	update(&fixture);
	loop_expect(&fixture, 1, "ug..d");
	loop_free(&fixture);
}

static void test_shared(void **state)
{
	struct loop_fixture fixture = loop_of("IgD");
	struct change *change = &fixture.application.change;

	(void)state;
	change->calls[fixture.iterations[4] + 1] =
		change_number(change, &usual_changes[CALL_IN_GRAPH]);
	assert_int_equal(update(&fixture), ITERATIONS - 2);
	loop_expect(&fixture, 3, "ug.");
	loop_expect(&fixture, 4, ".nd");
	loop_free(&fixture);
}

static void test_refusals(void **state)
{
	(void)state;
	loop_expect_refusal("gk", &technique_update_graph, not_rebuilt);
	loop_expect_refusal("IgggD", &technique_update_graph, not_rebuilt);
	loop_expect_refusal("IWD", &technique_update_graph, other_nodes);
	loop_expect_refusal("IIg", &technique_update_graph,
			    other_nodes); /* which of them it is nobody knows */
	loop_expect_refusal("IgDIqD", &technique_update_graph, other_nodes);
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
		SENTENCE("only the first launch of a graph that was not uploaded costs more",
			 test_first_launches),
		SENTENCE("what another change has taken is left alone", test_shared),
		SENTENCE("graphs that are kept already, or that may be others, are left alone",
			 test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
