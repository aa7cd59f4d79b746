/* Iterations in turn in three streams, with copies beside kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_given.h"
#include "fixture_loop.h"

static const char no_copies[] = "no loop has copies beside kernels to overlap";

static void test_overlapped(void **state)
{
	struct loop_fixture fixture = loop_of("iklow");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_overlap));
	for (int i = 0; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "aa.ad");
	loop_expect(&fixture, ITERATIONS - 1, "aa.a.");
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		uint32_t call_index = fixture.b->ops[i].call;

		assert_int_equal(fixture.application.change.lanes[i], call_index / 5 % 3);
	}
	loop_free(&fixture);
}

static void test_overlap_refusals(void **state)
{
	(void)state;
	loop_expect_refusal("kw", &technique_overlap, no_copies);
	loop_expect_refusal("iw", &technique_overlap, no_copies);
	loop_expect_refusal("skw", &technique_overlap, no_copies); /* too short to hide */
	loop_expect_refusal("ckw", &technique_overlap, NULL);
	loop_expect_refusal("ikmw", &technique_overlap, refused_allocates);
	loop_expect_refusal("igkw", &technique_overlap, refused_has_graphs);
}

/* Of copies that are in lanes, from what they took before. */
static void test_shared_link(void **state)
{
	struct loop_fixture fixture = loop_of("iko");
	struct application *application = loop_application(&fixture, &technique_overlap);
	const struct change *change = &application->change;

	(void)state;
	loop_measure(&fixture, CEILING_h2d_pinned, 1.1e9);
	loop_measure(&fixture, CEILING_pinned_both, 1e9);
	fixture.effect.iteration_count = 1;
	assert_int_equal(technique_overlap.change_run(application), 0);
	loop_expect_unchanged(&fixture); /* none is in a lane */
	change->op_ns[0] = 10000;
	assert_null(loop_apply(&fixture, &technique_overlap));
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(change->op_ns[i], i == 0 ? 11000 : i % 3 == 1 ? 0 : 22000);
	loop_free(&fixture);
}

static void expect_carried(const char *usual, const char *words, bool is_carried)
{
	struct given_loop *given = given_loop_of(usual, words);
	const char *refusal = loop_apply(&given->loop, &technique_overlap);

	if (is_carried)
		assert_string_equal(refusal,
				    "each iteration goes on with what the one before it wrote");
	else
		assert_null(refusal);
	given_free(given);
}

static void test_carried(void **state)
{
	(void)state;
	expect_carried("kko", "rA,wB rB,wA", true);
	expect_carried("kko", "rA,wB rB,wC", false);  /* B is written again before */
	expect_carried("ikko", "rA,wB rB,wA", false); /* the copy may fill A anew */
	expect_carried("kko", "rA,wB ?", false);
	expect_carried("kko", "? rB,wA", false);
	expect_carried("kko", "rA,wB rB,wA*", false); /* another part each time, perhaps */
	expect_carried("kko", "uA uA", false);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("iterations take turns in three lanes", test_overlapped),
		SENTENCE("what cannot be overlapped is refused with the reason",
			 test_overlap_refusals),
		SENTENCE("iterations that are known to go on with each other's results are refused",
			 test_carried),
		SENTENCE("copies that share the link take longer", test_shared_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
