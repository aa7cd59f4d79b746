/* Strategies by which the device decides: conditional nodes, and kernels that launch kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static struct asked_kernel kernels[8];

/* ---- decisions ---- */

static enum refusal to_decided(struct loop_fixture *fixture, uint64_t *decisions)
{
	fixture->loop.iterations = fixture->iterations;
	return change_to_decided(&fixture->change, fixture->model, &fixture->loop, 900, kernels,
				 decisions);
}

static void expect_decided(const char *usual, enum refusal refusal)
{
	struct loop_fixture fixture = loop_of(usual);
	uint64_t decisions;

	assert_int_equal(to_decided(&fixture, &decisions), refusal);
	if (refusal != REFUSED_NONE)
		loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_decided(void **state)
{
	struct loop_fixture fixture = loop_of("krwk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	assert_int_equal(decisions, ITERATIONS);
	assert_int_equal(fixture.change.decision_ns, 900);
	loop_expect(&fixture, 0, "Gnnb");
	for (int i = 1; i < ITERATIONS; i++)
		loop_expect(&fixture, i,
			    "bnnb"); /* all of it one graph; a body is entered and left */
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.op_ns[i],
				 fixture.b->ops[i].kind == OP_COPY ? OP_GONE : -1);
	loop_free(&fixture);
}

/* What iterations begin with is decided: the body of a loop is only entered.  A body that runs now and then is left
 * where it ran. */
static void test_decided_loop(void **state)
{
	struct loop_fixture fixture = loop_of("krw");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, "Gnn");
	for (int i = 1; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "bnn");
	loop_free(&fixture);
	fixture = loop_with("kkrw", 2, "kkrwk");
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 1, "bnnn");
	loop_expect(&fixture, 2, "bnnnb");
	loop_expect(&fixture, 3, "bnnn");
	loop_free(&fixture);
	fixture = loop_with("krw", 2,
			    "k"); /* the body of a loop is not left where nothing was read */
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 2, "b");
	loop_expect(&fixture, 3, "nnn");
	loop_free(&fixture);
	fixture = loop_of("krwkk"); /* a body of two kernels */
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 1, "bnnbn");
	loop_free(&fixture);
	fixture = loop_of("lkrwk"); /* what submits nothing begins no iteration */
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, ".Gnnb");
	loop_expect(&fixture, 1, "nbnnb");
	loop_free(&fixture);
}

/* A blocking read needs no wait; a wait for nothing read ends the graph. */
static void test_decided_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kRk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, "Gnb");
	loop_free(&fixture);
	fixture = loop_of("krwkw");
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, "Gnnb.");
	loop_expect(&fixture, 1, "Gnnb.");
	loop_free(&fixture);
	fixture = loop_of("krwwk"); /* the second wait is for nothing */
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, "Gnn.G");
	loop_expect(&fixture, 1, "nnn.G");
	loop_free(&fixture);
	fixture = loop_of("kRwk"); /* the read has waited for itself */
	assert_int_equal(to_decided(&fixture, &decisions), REFUSED_NONE);
	loop_expect(&fixture, 0, "Gn.G");
	loop_free(&fixture);
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
	expect_decided("krwK", REFUSED_GRID_VARIES);
}

/* What another strategy has dropped before is not there, and does not come back. */
static void test_without_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("krwmk");
	uint64_t count;

	(void)state;
	assert_int_equal(to_decided(&fixture, &count), REFUSED_ALLOCATES);
	assert_int_equal(change_drop_allocations(&fixture.change, fixture.model, &fixture.loop),
			 ITERATIONS);
	assert_int_equal(to_decided(&fixture, &count), REFUSED_NONE);
	loop_expect(&fixture, 1, "bnddb"); /* the wait was for that memory */
	loop_free(&fixture);
}

/* ---- kernels that launch kernels ---- */

static enum refusal to_launched(struct loop_fixture *fixture, bool is_least, uint64_t *launched)
{
	fixture->loop.iterations = fixture->iterations;
	return change_to_launched(&fixture->change, fixture->model, &fixture->loop, is_least,
				  kernels, launched);
}

static void expect_launched(const char *usual, const char *expected)
{
	struct loop_fixture fixture = loop_of(usual);
	uint64_t launched;

	assert_int_equal(to_launched(&fixture, false, &launched), REFUSED_NONE);
	assert_true(fixture.change.are_beside);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&fixture, i, expected);
	loop_free(&fixture);
}

static void expect_not_launched(const char *usual, enum refusal refusal)
{
	struct loop_fixture fixture = loop_of(usual);
	uint64_t launched;

	assert_int_equal(to_launched(&fixture, false, &launched), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_launched_grids(void **state)
{
	(void)state;
	expect_launched("krwKK", ".qqcc");
	expect_launched("kRK", ".qc"); /* a blocking read */
	/* each kernel of a chain launches the next; the first one is the host's */
	expect_launched("nKrwKrwKrw", "..qqcqqcqq");
	expect_launched("krwKsK", ".qqc.."); /* what the host copies in between stays its own */
}

static void test_launched_numbers(void **state)
{
	struct loop_fixture fixture = loop_with("krwvv", 3, "krwv");
	uint64_t launched;

	(void)state;
	assert_int_equal(to_launched(&fixture, true, &launched), REFUSED_NONE);
	assert_false(fixture.change.are_beside); /* at the low end */
	assert_int_equal(launched, 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, ".qqcc");
	loop_expect(&fixture, 3, ".qqc");
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.op_ns[i],
				 fixture.b->ops[i].kind == OP_COPY ? OP_GONE : -1);
	loop_free(&fixture);
}

static void test_launched_refusals(void **state)
{
	(void)state;
	expect_not_launched("krwvv", REFUSED_NO_CHILDREN); /* always the same */
	expect_not_launched("kowK", REFUSED_NO_CHILDREN);  /* a result, not a question */
	expect_not_launched("krKw", REFUSED_NO_CHILDREN);  /* launched before it was answered */
	expect_not_launched("krwsK", REFUSED_NO_CHILDREN);
	expect_not_launched("krwKm", REFUSED_ALLOCATES);
}

/* The operation that a call of the loop submitted. */
static size_t op_by(const struct loop_fixture *fixture, size_t call)
{
	return fixture->model->submissions.ops[fixture->model->submissions.first[call]];
}

/* When what is asked for is known and what children cost say when they run. */
static void test_launched_times(void **state)
{
	const struct costs costs = {.child_start_ns = 30,
				    .child_next_ns = 40,
				    .child_beside_ns = 5,
				    .child_return_ns = 60};
	struct loop_fixture fixture = loop_of("krwKK");
	struct replay replay = {0};
	uint64_t launched;

	(void)state;
	fixture.b->devices[0].sm_count = 100; /* a block or a few leave room for others */
	assert_int_equal(to_launched(&fixture, false, &launched), REFUSED_NONE);
	assert_int_equal(replay_run(&replay, fixture.model, &fixture.change, &costs), 0);
	for (size_t i = 0; i < ITERATIONS; i++) {
		size_t first = op_by(&fixture, 5 * i + 3), second = op_by(&fixture, 5 * i + 4);
		size_t read = op_by(&fixture, 5 * i + 1);

		assert_int_equal(replay.op_start_ns[read], replay.op_end_ns[read]);
		assert_true(replay.op_start_ns[first] >= replay.op_end_ns[read] + 30);
		assert_int_equal(replay.op_start_ns[second], replay.op_start_ns[first] + 5);
		if (i + 1 < ITERATIONS)
			assert_true(replay.op_start_ns[op_by(&fixture, 5 * i + 5)] >=
				    replay.op_end_ns[second] + 60);
	}
	assert_int_equal(replay.op_start_ns[op_by(&fixture, 3)],
			 replay.op_end_ns[op_by(&fixture, 1)] + 30);
	fixture.change.are_beside = false;
	assert_int_equal(replay_run(&replay, fixture.model, &fixture.change, &costs), 0);
	assert_int_equal(replay.op_start_ns[op_by(&fixture, 4)],
			 replay.op_end_ns[op_by(&fixture, 3)] + 40);
	replay_free(&replay);
	loop_free(&fixture);
}

/* Beside each other the child launched last need not be the last one that ends. */
static void test_launched_over(void **state)
{
	const struct costs costs = {.child_start_ns = 30, .child_beside_ns = 5};
	struct loop_fixture fixture = loop_of("krwKKrwsw");
	struct replay replay = {0};
	uint64_t launched;
	int64_t over_ns;

	(void)state;
	fixture.b->devices[0].sm_count = 100;
	assert_int_equal(to_launched(&fixture, false, &launched), REFUSED_NONE);
	loop_expect(&fixture, 0, ".qqccqq..");
	fixture.change.op_ns[op_by(&fixture, 3)] = 50000;
	fixture.model->predecessor[op_by(&fixture, 7)] = (uint32_t)op_by(&fixture, 5);
	fixture.model->awaited[8] = (uint32_t)op_by(&fixture, 4);
	fixture.b->ops[op_by(&fixture, 4)].end_ns = fixture.b->calls[8].end_ns;
	assert_int_equal(replay_run(&replay, fixture.model, &fixture.change, &costs), 0);
	over_ns = replay.op_end_ns[op_by(&fixture, 3)];
	assert_true(replay.op_end_ns[op_by(&fixture, 4)] < over_ns);
	assert_true(replay.op_start_ns[op_by(&fixture, 5)] >= over_ns); /* a question */
	assert_true(replay.op_start_ns[op_by(&fixture, 7)] >= over_ns); /* the stream */
	assert_true(replay.call_end_ns[8] >= over_ns);			/* the host */
	replay_free(&replay);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop that reads a flag becomes one graph that decides", test_decided),
		SENTENCE(
			"a body that iterations begin with is only entered, others are left as well",
			test_decided_loop),
		SENTENCE("only a wait for what was read goes with the decision",
			 test_decided_waits),
		SENTENCE("without its allocations a loop can be decided on the device",
			 test_without_allocations),
		SENTENCE("what cannot be decided on the device is refused with the reason",
			 test_decided_refusals),
		SENTENCE("a kernel whose grid follows from what is read is launched by the device",
			 test_launched_grids),
		SENTENCE("and one that is launched now more often and now less",
			 test_launched_numbers),
		SENTENCE("what does not follow from an answer stays the host's",
			 test_launched_refusals),
		SENTENCE("children start after their parent, and the stream goes on after them",
			 test_launched_times),
		SENTENCE("whatever waits for a child waits for its whole family",
			 test_launched_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
