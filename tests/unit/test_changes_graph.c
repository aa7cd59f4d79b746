/* Changes that make graphs of a loop: one of each iteration, or one that decides by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* ---- graphs ---- */

static enum refusal to_graph(struct loop_fixture *fixture, uint64_t *nodes)
{
	struct captured captured;
	enum refusal refusal;

	fixture->loop.iterations = fixture->iterations;
	refusal =
		change_to_graph(&fixture->change, fixture->model, &fixture->loop, false, &captured);
	*nodes = captured.node_count;
	return refusal;
}

/* Nine of ten launches may have other sizes: more need an update each time. */
static void test_updated_graph(void **state)
{
	struct loop_fixture fixture = loop_of("kkw");
	uint64_t nodes;

	(void)state;
	fixture.loop.regularity = 1;
	fixture.loop.exactness = 0.89;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 1, "Und");
	fixture.loop.exactness = 0.9;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 1, "Gnd");
	loop_free(&fixture);
}

static void expect_graph_refused(const char *usual, enum refusal refusal)
{
	struct loop_fixture fixture = loop_of(usual);
	uint64_t nodes;

	assert_int_equal(to_graph(&fixture, &nodes), refusal);
	if (refusal != REFUSED_NONE)
		loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_graph(void **state)
{
	struct loop_fixture fixture = loop_of("kkiew");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 3);
	loop_expect(&fixture, 0, "Gnn.d");
	loop_expect(&fixture, ITERATIONS - 1, "Gnn..");
	loop_free(&fixture);
}

/* A wait between two kernels goes into the graph with them; one after a copy to the host stays. */
static void test_graph_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kwko");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 1, "Gnnn");
	loop_free(&fixture);
	fixture = loop_of("kow");
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 1, "Gn.");
	loop_free(&fixture);
}

static void test_unusual_wait(void **state)
{
	struct loop_fixture fixture = loop_with("kkw", 5, "kkww");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 4, "Gnd");
	loop_expect(&fixture, 5, "Gn.."); /* waits once more: one of them is not the loop's */
	loop_free(&fixture);
}

/* Between launches, in one of ten iterations: that one stays as it was. */
static void test_unusual_wait_within(void **state)
{
	struct loop_fixture fixture = loop_with("kk", 5, "kwk");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 4, "Gn");
	loop_expect(&fixture, 5, "...");
	loop_free(&fixture);
	fixture = loop_with("kwk", 5, "kwwk");
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 4, "Gnn");
	loop_expect(&fixture, 5, "....");
	loop_free(&fixture);
}

static void test_unrolled(void **state)
{
	struct loop_fixture fixture = loop_of("k");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 8);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&fixture, i, i % 8 ? "n" : "G");
	loop_free(&fixture);
}

static void test_graph_refusals(void **state)
{
	(void)state;
	expect_graph_refused("kmk", REFUSED_ALLOCATES);
	expect_graph_refused("kkm", REFUSED_NONE); /* after the last launch */
	expect_graph_refused("kck", REFUSED_BLOCKING_COPY);
	expect_graph_refused("kpk", REFUSED_BLOCKING_COPY);
	expect_graph_refused("kik", REFUSED_NONE);
	expect_graph_refused("krwk", REFUSED_READS_BACK);
	expect_graph_refused("kwrk", REFUSED_NONE); /* waits before */
	expect_graph_refused("kgk", REFUSED_HAS_GRAPHS);
	expect_graph_refused("kuk", REFUSED_HAS_GRAPHS);
	expect_graph_refused("kek", REFUSED_NONE);
	expect_graph_refused("kjk", REFUSED_LOADS_CODE);
	expect_graph_refused("kJk", REFUSED_NONE);
	expect_graph_refused("khk", REFUSED_NONE);
}

/* What calls become, and whether that is supposed. */
static void expect_captured(const char *calls, bool is_least, const char *expected,
			    bool is_supposed)
{
	struct loop_fixture fixture = loop_of(calls);
	struct captured captured;

	fixture.loop.iterations = fixture.iterations;
	assert_int_equal(change_to_graph(&fixture.change, fixture.model, &fixture.loop, is_least,
					 &captured),
			 REFUSED_NONE);
	assert_int_equal(captured.is_supposed, is_supposed);
	loop_expect(&fixture, 4, expected);
	loop_free(&fixture);
}

/* Work of the host's own stays.  Where each step takes an interpreter 10 us, 200 us are 20 of them, which may be
 * the way to the next launch. */
static void test_host_work(void **state)
{
	(void)state;
	expect_captured("khk", false, "Gh", false);
	expect_captured("khk", true, "Gh", false);
	expect_captured("hkk", false, "Gn", false); /* between iterations */
	expect_captured("ktktktkhk", false, "Gnnnn", true);
	expect_captured("ktktktkhk", true, "Gnnnh", false);
}

/* One of ten is passed over; of one more the whole loop is refused, and left as it was. */
static void test_captured_share(void **state)
{
	struct loop_fixture fixture = loop_with("kk", 5, "kmk");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 4, "Gn");
	loop_expect(&fixture, 5, "...");
	loop_expect(&fixture, 6, "Gn");
	loop_free(&fixture);
	fixture = loop_with("kk", 5, "kmk");
	fixture.loop.iteration_count = 9;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_ALLOCATES);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* What is dropped is no longer in the way of a graph. */
static void test_graph_without_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("kmkw");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_ALLOCATES);
	assert_int_equal(change_drop_allocations(&fixture.change, fixture.model, &fixture.loop),
			 ITERATIONS);
	assert_int_equal(to_graph(&fixture, &nodes), REFUSED_NONE);
	loop_expect(&fixture, 1, "Gnnd");
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("an iteration becomes a graph, without its wait", test_graph),
		SENTENCE("a loop whose sizes vary is a graph that is updated", test_updated_graph),
		SENTENCE("a graph takes waits in, and stops before one for a result",
			 test_graph_waits),
		SENTENCE("a wait that is not in every iteration stays", test_unusual_wait),
		SENTENCE("an iteration with a wait between its launches that others lack stays",
			 test_unusual_wait_within),
		SENTENCE("a loop of one kernel becomes graphs of eight", test_unrolled),
		SENTENCE("what cannot be captured is refused with the reason", test_graph_refusals),
		SENTENCE(
			"the host's own work stays, and an interpreter's steps at the low end only",
			test_host_work),
		SENTENCE("one of ten iterations may be refused, and then stays as it was",
			 test_captured_share),
		SENTENCE("without its allocations a loop can be a graph",
			 test_graph_without_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
