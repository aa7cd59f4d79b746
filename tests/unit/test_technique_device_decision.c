/* The device decides what the host reads a flag for: conditional nodes, and graphs that launch each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static const char no_decision[] = "the host reads nothing small before it launches what follows";

static const char grid_varies[] =
	"the grid of a kernel follows from what the host reads; a node's is fixed";

static void test_decided(void **state)
{
	struct loop_fixture fixture = loop_of("krwk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_device_decision));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS);
	loop_expect(&fixture, 0, "Gnnb");
	for (int i = 1; i < ITERATIONS; i++)
		loop_expect(&fixture, i,
			    "bnnb"); /* all of it one graph; a body is entered and left */
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.op_ns[i],
				 fixture.b->ops[i].kind == OP_COPY ? OP_GONE : 0);
	loop_free(&fixture);
}

/* What iterations begin with is decided: the body of a loop is only entered.  A body that runs now and then is left
 * where it ran. */
static void test_decided_loop(void **state)
{
	struct loop_fixture fixture = loop_of("krw");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnn");
	for (int i = 1; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "wnn");
	loop_free(&fixture);
	fixture = loop_with("kkrw", 2, "kkrwk");
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 1, "knnn"); /* the one before was left out */
	loop_expect(&fixture, 2, "knnnb");
	loop_expect(&fixture, 3, "bnnn");
	loop_free(&fixture);
	fixture = loop_with("krw", 2,
			    "k"); /* the body of a loop is not left where nothing was read */
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 2, "w");
	loop_expect(&fixture, 3, "nnn");
	loop_free(&fixture);
	fixture = loop_of("krwkk"); /* a body of two kernels */
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 1, "bnnbn");
	loop_free(&fixture);
	fixture = loop_of("lkrwk"); /* what submits nothing begins no iteration */
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, ".Gnnb");
	loop_expect(&fixture, 1, "nbnnb");
	loop_free(&fixture);
}

/* The device sets back what the host read, and what waits for a read that would wait itself is a part of it. */
static void test_set_back(void **state)
{
	struct loop_fixture fixture = loop_of("fkwR");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnnn");
	loop_expect(&fixture, 1, "wnnn");
	loop_free(&fixture);
	loop_expect_refusal("fkrw", &technique_device_decision, refused_blocking_copy);
}

/* A blocking read needs no wait; a wait for nothing read ends the graph. */
static void test_decided_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kRk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnb");
	loop_free(&fixture);
	fixture = loop_of("krwkw");
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnnb.");
	loop_expect(&fixture, 1, "Gnnb.");
	loop_free(&fixture);
	fixture = loop_of("krwwk"); /* the second wait is for nothing */
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnn.G");
	loop_expect(&fixture, 1, "nnn.G");
	loop_free(&fixture);
	fixture = loop_of("kRwk"); /* the read has waited for itself */
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gn.G");
	loop_free(&fixture);
}

/* Graphs that were launched by the host launch each other. */
static void test_decided_graphs(void **state)
{
	struct loop_fixture fixture = loop_of("grw");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 0, "Gnn");
	loop_expect(&fixture, 1, "lnn");
	loop_free(&fixture);
}

static void test_not_measured(void **state)
{
	struct loop_fixture fixture = loop_of("krwk"), graphs = loop_of("grw");

	(void)state;
	fixture.ceilings->count = graphs.ceilings->count = 0;
	assert_string_equal(loop_apply(&fixture, &technique_device_decision), refused_not_measured);
	assert_string_equal(loop_apply(&graphs, &technique_device_decision), refused_not_measured);
	loop_free(&fixture);
	loop_free(&graphs);
}

static void test_decided_refusals(void **state)
{
	(void)state;
	loop_expect_refusal("kwk", &technique_device_decision, no_decision);
	loop_expect_refusal("kowk", &technique_device_decision,
			    no_decision); /* too much to decide by */
	loop_expect_refusal("krwk", &technique_device_decision, NULL);
	loop_expect_refusal("krwmk", &technique_device_decision, refused_allocates);
	loop_expect_refusal("krwuk", &technique_device_decision, refused_has_graphs);
	loop_expect_refusal("grw", &technique_device_decision,
			    NULL); /* graphs can launch each other */
	loop_expect_refusal("kcrwk", &technique_device_decision, refused_blocking_copy);
	loop_expect_refusal("kprwk", &technique_device_decision, refused_blocking_copy);
	loop_expect_refusal("kirwk", &technique_device_decision, NULL);
	loop_expect_refusal("krwK", &technique_device_decision, grid_varies);
}

/* What another technique has dropped before is not there, and does not come back. */
static void test_without_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("krwmk");

	(void)state;
	assert_string_equal(loop_apply(&fixture, &technique_device_decision), refused_allocates);
	assert_null(loop_apply(&fixture, &technique_preallocate));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS);
	assert_null(loop_apply(&fixture, &technique_device_decision));
	loop_expect(&fixture, 1, "bnddb"); /* the wait was for that memory */
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a copy to the device of as many bytes as are read sets them back",
			 test_set_back),
		SENTENCE("a loop that reads a flag becomes one graph that decides", test_decided),
		SENTENCE(
			"a body that iterations begin with is only entered, others are left as well",
			test_decided_loop),
		SENTENCE("only a wait for what was read goes with the decision",
			 test_decided_waits),
		SENTENCE("graphs that the host launched launch each other", test_decided_graphs),
		SENTENCE("without its allocations a loop can be decided on the device",
			 test_without_allocations),
		SENTENCE("what cannot be decided on the device is refused with the reason",
			 test_decided_refusals),
		SENTENCE("without what conditional nodes and such graphs cost nothing is decided",
			 test_not_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
