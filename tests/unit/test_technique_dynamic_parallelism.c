/* Kernels that the host launches for what it reads are launched by the kernel before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/replay.h"
#include "fixture_loop.h"

static const char no_children[] =
	"no kernel is launched whose number or grid varies with what the host reads";

static void expect_launched(const char *usual, const char *expected)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_null(loop_apply(&fixture, &technique_dynamic_parallelism));
	assert_true(fixture.application.change.are_beside);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&fixture, i, expected);
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

	(void)state;
	fixture.application.end = ASSUMED_LEAST;
	assert_null(loop_apply(&fixture, &technique_dynamic_parallelism));
	assert_false(fixture.application.change.are_beside); /* at the low end */
	assert_int_equal(fixture.effect.changed_count, 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, ".qqcc");
	loop_expect(&fixture, 3, ".qqc");
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.op_ns[i],
				 fixture.b->ops[i].kind == OP_COPY ? OP_GONE : 0);
	loop_free(&fixture);
}

static void test_launched_refusals(void **state)
{
	(void)state;
	loop_expect_refusal("krwvv", &technique_dynamic_parallelism,
			    no_children); /* always the same */
	loop_expect_refusal("kowK", &technique_dynamic_parallelism,
			    no_children); /* a result, not a readback */
	loop_expect_refusal("krKw", &technique_dynamic_parallelism,
			    no_children); /* launched before it was read */
	loop_expect_refusal("krwsK", &technique_dynamic_parallelism, no_children);
	loop_expect_refusal("krwKm", &technique_dynamic_parallelism, refused_allocates);
}

/* The operation that a call of the loop submitted. */
static size_t op_by(const struct loop_fixture *fixture, size_t call)
{
	return submissions_op(&fixture->run.model->submissions,
			      submissions_first(&fixture->run.model->submissions, call));
}

/* When what is read back is known and what children cost say when they run. */
static void test_launched_times(void **state)
{
	const struct costs costs = {.child_start_ns = 30,
				    .child_next_ns = 40,
				    .child_beside_ns = 5,
				    .child_return_ns = 60};
	struct loop_fixture fixture = loop_of("krwKK");
	struct replay replay = {0};

	(void)state;
	fixture.b->devices[0].sm_count = 100; /* a block or a few leave room for others */
	assert_null(loop_apply(&fixture, &technique_dynamic_parallelism));
	assert_int_equal(replay_run(&replay, fixture.run.model, &fixture.application.change,
				    &costs),
			 0);
	for (size_t i = 0; i < ITERATIONS; i++) {
		size_t first = op_by(&fixture, 5 * i + 3), second = op_by(&fixture, 5 * i + 4);
		size_t read = op_by(&fixture, 5 * i + 1);

		assert_int_equal(replay.op_start_ns[read], replay_op_end_ns(&replay, read));
		assert_true(replay.op_start_ns[first] >= replay_op_end_ns(&replay, read) + 30);
		assert_int_equal(replay.op_start_ns[second], replay.op_start_ns[first] + 5);
		if (i + 1 < ITERATIONS)
			assert_true(replay.op_start_ns[op_by(&fixture, 5 * i + 5)] >=
				    replay_op_end_ns(&replay, second) + 60);
	}
	assert_int_equal(replay.op_start_ns[op_by(&fixture, 3)],
			 replay_op_end_ns(&replay, op_by(&fixture, 1)) + 30);
	fixture.application.change.are_beside = false;
	assert_int_equal(replay_run(&replay, fixture.run.model, &fixture.application.change,
				    &costs),
			 0);
	assert_int_equal(replay.op_start_ns[op_by(&fixture, 4)],
			 replay_op_end_ns(&replay, op_by(&fixture, 3)) + 40);
	replay_free(&replay);
	loop_free(&fixture);
}

/* Beside each other the child launched last need not be the last one that ends. */
static void test_launched_over(void **state)
{
	const struct costs costs = {.child_start_ns = 30, .child_beside_ns = 5};
	struct loop_fixture fixture = loop_of("krwKKrwsw");
	struct replay replay = {0};
	int64_t over_ns;

	(void)state;
	fixture.b->devices[0].sm_count = 100;
	assert_null(loop_apply(&fixture, &technique_dynamic_parallelism));
	loop_expect(&fixture, 0, ".qqccqq..");
	fixture.application.change.op_ns[op_by(&fixture, 3)] = 50000;
	assert_int_equal(near_numbers_set(&fixture.run.model->predecessors, op_by(&fixture, 7),
					  (uint32_t)op_by(&fixture, 5)),
			 0);
	fixture.run.model->awaited[2] = (uint32_t)op_by(&fixture, 4);
	assert_int_equal(model_awaited(fixture.run.model, 8),
			 op_by(&fixture, 4)); /* the third wait */
	fixture.b->ops[op_by(&fixture, 4)].end_ns = fixture.b->calls[8].end_ns;
	assert_int_equal(replay_run(&replay, fixture.run.model, &fixture.application.change,
				    &costs),
			 0);
	over_ns = replay_op_end_ns(&replay, op_by(&fixture, 3));
	assert_true(replay_op_end_ns(&replay, op_by(&fixture, 4)) < over_ns);
	assert_true(replay.op_start_ns[op_by(&fixture, 5)] >= over_ns); /* a readback */
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
		SENTENCE("a kernel whose grid follows from what is read is launched by the device",
			 test_launched_grids),
		SENTENCE("and one that is launched now more often and now less",
			 test_launched_numbers),
		SENTENCE("what does not follow from a readback stays the host's",
			 test_launched_refusals),
		SENTENCE(
			"child kernels start after their parent, and the stream goes on after them",
			test_launched_times),
		SENTENCE(
			"whatever waits for a child kernel waits for all child kernels of its parent",
			test_launched_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
