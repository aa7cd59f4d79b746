/* Changes that make graphs of a loop: one of each iteration, or one that decides by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* ---- graphs ---- */

static enum refusal to_graph(struct loop *loop, uint64_t *nodes)
{
	struct captured captured;
	enum refusal refusal;

	loop->sequence.iterations = loop->iterations;
	refusal = change_to_graph(&loop->change, loop->model, &loop->sequence, false, &captured);
	*nodes = captured.node_count;
	return refusal;
}

/* Nine of ten launches may have other sizes: more need an update each time. */
static void test_updated_graph(void **state)
{
	struct loop loop = loop_of("kkw");
	uint64_t nodes;

	(void)state;
	loop.sequence.regularity = 1;
	loop.sequence.exactness = 0.89;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 1, "Und");
	loop.sequence.exactness = 0.9;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 1, "Gnd");
	loop_free(&loop);
}

static void expect_graph_refused(const char *usual, enum refusal refusal)
{
	struct loop loop = loop_of(usual);
	uint64_t nodes;

	assert_int_equal(to_graph(&loop, &nodes), refusal);
	if (refusal != REFUSED_NONE)
		loop_expect_unchanged(&loop);
	loop_free(&loop);
}

static void test_graph(void **state)
{
	struct loop loop = loop_of("kkiew");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 3);
	loop_expect(&loop, 0, "Gnn.d");
	loop_expect(&loop, ITERATIONS - 1, "Gnn..");
	loop_free(&loop);
}

/* A wait between two kernels goes into the graph with them; one after a copy to the host stays. */
static void test_graph_waits(void **state)
{
	struct loop loop = loop_of("kwko");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 1, "Gnnn");
	loop_free(&loop);
	loop = loop_of("kow");
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 1, "Gn.");
	loop_free(&loop);
}

static void test_unusual_wait(void **state)
{
	struct loop loop = loop_with("kkw", 5, "kkww");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 4, "Gnd");
	loop_expect(&loop, 5, "Gn.."); /* waits once more: one of them is not the loop's */
	loop_free(&loop);
}

/* Between launches, in one of ten iterations: that one stays as it was. */
static void test_unusual_wait_within(void **state)
{
	struct loop loop = loop_with("kk", 5, "kwk");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 4, "Gn");
	loop_expect(&loop, 5, "...");
	loop_free(&loop);
	loop = loop_with("kwk", 5, "kwwk");
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 4, "Gnn");
	loop_expect(&loop, 5, "....");
	loop_free(&loop);
}

static void test_unrolled(void **state)
{
	struct loop loop = loop_of("k");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 8);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&loop, i, i % 8 ? "n" : "G");
	loop_free(&loop);
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
	struct loop loop = loop_of(calls);
	struct captured captured;

	loop.sequence.iterations = loop.iterations;
	assert_int_equal(change_to_graph(&loop.change, loop.model, &loop.sequence, is_least,
					 &captured),
			 REFUSED_NONE);
	assert_int_equal(captured.is_supposed, is_supposed);
	loop_expect(&loop, 4, expected);
	loop_free(&loop);
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
	struct loop loop = loop_with("kk", 5, "kmk");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 4, "Gn");
	loop_expect(&loop, 5, "...");
	loop_expect(&loop, 6, "Gn");
	loop_free(&loop);
	loop = loop_with("kk", 5, "kmk");
	loop.sequence.iteration_count = 9;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_ALLOCATES);
	loop_expect_unchanged(&loop);
	loop_free(&loop);
}

/* What is dropped is no longer in the way of a graph. */
static void test_graph_without_allocations(void **state)
{
	struct loop loop = loop_of("kmkw");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_ALLOCATES);
	assert_int_equal(change_drop_allocations(&loop.change, loop.model, &loop.sequence),
			 ITERATIONS);
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	loop_expect(&loop, 1, "Gnnd");
	loop_free(&loop);
}

/* ---- decisions ---- */

static enum refusal to_decided(struct loop *loop, uint64_t *decisions)
{
	loop->sequence.iterations = loop->iterations;
	return change_to_decided(&loop->change, loop->model, &loop->sequence, 900, decisions);
}

static void expect_decided(const char *usual, enum refusal refusal)
{
	struct loop loop = loop_of(usual);
	uint64_t decisions;

	assert_int_equal(to_decided(&loop, &decisions), refusal);
	if (refusal != REFUSED_NONE)
		loop_expect_unchanged(&loop);
	loop_free(&loop);
}

static void test_decided(void **state)
{
	struct loop loop = loop_of("krwk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	assert_int_equal(decisions, ITERATIONS);
	assert_int_equal(loop.change.decision_ns, 900);
	loop_expect(&loop, 0, "Gnnb");
	for (int i = 1; i < ITERATIONS; i++)
		loop_expect(&loop, i, "bnnb"); /* all of it one graph; a body is entered and left */
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		assert_int_equal(loop.change.op_ns[i],
				 loop.b->ops[i].kind == OP_COPY ? OP_GONE : -1);
	loop_free(&loop);
}

/* What iterations begin with is decided: the body of a loop is only entered.  A body that runs now and then is left
 * where it ran. */
static void test_decided_loop(void **state)
{
	struct loop loop = loop_of("krw");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, "Gnn");
	for (int i = 1; i < ITERATIONS - 1; i++)
		loop_expect(&loop, i, "bnn");
	loop_free(&loop);
	loop = loop_with("kkrw", 2, "kkrwk");
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 1, "bnnn");
	loop_expect(&loop, 2, "bnnnb");
	loop_expect(&loop, 3, "bnnn");
	loop_free(&loop);
	loop = loop_with("krw", 2, "k"); /* the body of a loop is not left where nothing was read */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 2, "b");
	loop_expect(&loop, 3, "nnn");
	loop_free(&loop);
	loop = loop_of("krwkk"); /* a body of two kernels */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 1, "bnnbn");
	loop_free(&loop);
	loop = loop_of("lkrwk"); /* what submits nothing begins no iteration */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, ".Gnnb");
	loop_expect(&loop, 1, "nbnnb");
	loop_free(&loop);
}

/* A blocking read needs no wait; a wait for nothing read ends the graph. */
static void test_decided_waits(void **state)
{
	struct loop loop = loop_of("kRk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, "Gnb");
	loop_free(&loop);
	loop = loop_of("krwkw");
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, "Gnnb.");
	loop_expect(&loop, 1, "Gnnb.");
	loop_free(&loop);
	loop = loop_of("krwwk"); /* the second wait is for nothing */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, "Gnn.G");
	loop_expect(&loop, 1, "nnn.G");
	loop_free(&loop);
	loop = loop_of("kRwk"); /* the read has waited for itself */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	loop_expect(&loop, 0, "Gn.G");
	loop_free(&loop);
}

static void test_decided_refusals(void **state)
{
	(void)state;
	expect_decided("kwk", REFUSED_NO_DECISION);
	expect_decided("kowk", REFUSED_NO_DECISION); /* too much to decide by */
	expect_decided("krwk", REFUSED_NONE);
	expect_decided("krwmk", REFUSED_ALLOCATES);
	expect_decided("krwuk", REFUSED_HAS_GRAPHS);
	expect_decided("grw", REFUSED_NONE); /* graphs can launch each other */
	expect_decided("kcrwk", REFUSED_BLOCKING_COPY);
	expect_decided("kprwk", REFUSED_BLOCKING_COPY);
	expect_decided("kirwk", REFUSED_NONE);
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
		SENTENCE("a loop that reads a flag becomes one graph that decides", test_decided),
		SENTENCE(
			"a body that iterations begin with is only entered, others are left as well",
			test_decided_loop),
		SENTENCE("only a wait for what was read goes with the decision",
			 test_decided_waits),
		SENTENCE("what cannot be decided on the device is refused with the reason",
			 test_decided_refusals),
		SENTENCE("without its allocations a loop can be a graph",
			 test_graph_without_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
