/* Small kernels of an iteration side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/shared/streams.h"
#include "fixture_given.h"
#include "fixture_loop.h"

static const char full_gpu[] = "every kernel has blocks for more than half of the SMs";

/* One block on four SMs: a little over a quarter.  The first of an iteration, a copy, and what follows it wait. */
static void test_concurrent(void **state)
{
	struct loop_fixture fixture = loop_of("kkikk");
	static const bool is_joined[] = {true, false, true, true, false};

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	assert_int_equal(fixture.effect.changed_count, 4 * ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		bool is_copy = i % 5 == 2;

		assert_int_equal(fixture.application.change.lanes[i] & ~LANE_JOINED, i % 3);
		assert_int_equal(fixture.application.change.lanes[i] & LANE_JOINED ? 1 : 0,
				 is_joined[i % 5]);
		assert_int_equal(fixture.application.change.fill[i], is_copy ? 100 : 25);
	}
	loop_expect(&fixture, 1, ".....");
	loop_free(&fixture);
}

/* Of two kernels the second one's stream waits for the first one's, the copy's for one of both. */
static void test_awaited_streams(void **state)
{
	struct loop_fixture fixture = loop_of("kkikk");
	static const uint8_t first[] = {0, 1, 1, 0, 1}, others[] = {1, 1, 1, 0, 1};
	const struct change *change = &fixture.application.change;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(ceilings_add(fixture.ceilings,
				      &(struct ceiling){.id = CEILING_stream_wait, .value = 1000}),
			 0);
	assert_null(ceilings_sort(fixture.ceilings));
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	for (size_t i = 0; i < fixture.b->profile.call_count; i++)
		assert_int_equal(change_of_call(change, i)->awaited_streams,
				 i < 5 ? first[i] : others[i % 5]);
	/* as branches of a graph no host has to tell them */
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	for (size_t i = 0; i < fixture.b->profile.call_count; i++)
		assert_int_equal(change_of_call(change, i)->awaited_streams, 0);
	loop_free(&fixture);
	/* nor those of a graph that was recorded */
	fixture = loop_of("q");
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(ceilings_add(fixture.ceilings,
				      &(struct ceiling){.id = CEILING_stream_wait, .value = 1000}),
			 0);
	assert_null(ceilings_sort(fixture.ceilings));
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	loop_expect(&fixture, 1, ".");
	loop_free(&fixture);
}

/* In a loop of one kernel only waits part them. */
static void test_concurrent_in_series(void **state)
{
	struct loop_fixture fixture = loop_with("k", 3, "kw");

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.lanes[i] & LANE_JOINED ? 1 : 0,
				 i == 0 || i == 4);
	loop_free(&fixture);
}

/* Kernels of a graph's launch; the next launch, and what follows one, waits for all of it. */
static void test_concurrent_nodes(void **state)
{
	struct loop_fixture fixture = loop_of("gkk");
	static const bool is_joined[] = {true, true, false};

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	assert_int_equal(fixture.effect.changed_count, 3 * ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.lanes[i] & LANE_JOINED ? 1 : 0,
				 is_joined[i % 3]);
	loop_free(&fixture);
	fixture = loop_of("g");
	fixture.b->devices[0].sm_count = 4;
	assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_true(fixture.application.change.lanes[i] & LANE_JOINED);
	loop_free(&fixture);
}

/* A loop of graphs of two kernels, between which the device launches a third one. */
static void test_concurrent_bodies(void **state)
{
	struct loop_fixture fixture = loop_of("gk");

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	for (size_t i = 0; i + 2 < fixture.b->profile.op_count; i += 4) {
		fixture.b->ops[i + 1].call = PROFILE_NONE;
		fixture.b->ops[i + 2].call = fixture.b->ops[i].call;
	}
	submissions_free(&fixture.run.model->submissions);
	assert_int_equal(submissions_find(&fixture.run.model->submissions, &fixture.b->profile), 0);
	assert_string_equal(loop_apply(&fixture, &technique_concurrent_kernels),
			    refused_device_work);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_concurrent_refusals(void **state)
{
	struct loop_fixture full = loop_of("kk"), graphs = loop_of("gk");

	(void)state;
	full.b->devices[0].sm_count = 1;
	assert_string_equal(loop_apply(&full, &technique_concurrent_kernels), full_gpu);
	loop_expect_unchanged(&full);
	graphs.b->devices[0].sm_count = 4;
	for (size_t i = 0; i < graphs.b->profile.op_count; i += 2)
		graphs.b->ops[i].kind = OP_GRAPH;
	assert_string_equal(loop_apply(&graphs, &technique_concurrent_kernels), refused_has_graphs);
	loop_expect_unchanged(&graphs);
	loop_free(&full);
	loop_free(&graphs);
}

/* Half of the GPU is the most that a kernel may take, whatever its grid's shape. */
static void test_concurrent_shapes(void **state)
{
	static const uint32_t grids[][3] = {{2, 3, 5}, {30, 1, 1}, {1, 15, 2}, {1, 2, 15}};

	(void)state;
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		struct loop_fixture fixture = loop_of("kk");

		memcpy(fixture.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		fixture.b->devices[0].sm_count = 62; /* of which 30 blocks take 48.4% */
		assert_null(loop_apply(&fixture, &technique_concurrent_kernels));
		assert_int_equal(fixture.application.change.fill[0], 48);
		loop_free(&fixture);
		fixture = loop_of("kk");
		memcpy(fixture.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		fixture.b->devices[0].sm_count = 58;
		assert_string_equal(loop_apply(&fixture, &technique_concurrent_kernels), full_gpu);
		loop_free(&fixture);
	}
}

/* What already is in streams: no fewer than the technique would spread it over, or for kernels any two. */
static void test_streamed(void **state)
{
	struct loop_fixture fixture = loop_of("iko");

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].stream = i % 3 != 1;
	assert_false(streams_are_many(fixture.run.model, &fixture.loop, true, 2));
	assert_true(streams_are_many(fixture.run.model, &fixture.loop, false, 2));
	assert_null(loop_apply(&fixture, &technique_overlap));
	loop_free(&fixture);
	fixture = loop_of("iko");
	fixture.b->devices[0].sm_count = 4;
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].stream = (uint32_t)(i / 3 % 3);
	assert_string_equal(loop_apply(&fixture, &technique_overlap), refused_streamed);
	assert_string_equal(loop_apply(&fixture, &technique_concurrent_kernels), refused_streamed);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Of each operation of an iteration whether it waits for all (j), and in the first one its lane; and whether the rest is
 * assumed. */
static void expect_lanes(const char *usual, const char *words, const char *lanes,
			 const char *joined, bool is_proven)
{
	struct given_loop *given = given_loop_of(usual, words);
	const struct change *change = &given->loop.application.change;
	size_t count = strlen(joined);

	assert_null(loop_apply(&given->loop, &technique_concurrent_kernels));
	for (size_t i = 0; i < given->loop.b->profile.op_count; i++) {
		assert_int_equal(change->lanes[i] & LANE_JOINED ? 'j' : '.', joined[i % count]);
		if (i < count)
			assert_int_equal(change->lanes[i] & ~LANE_JOINED, lanes[i] - '0');
	}
	assert_true(change->starts_early);
	assert_int_equal(given->loop.effect.is_proven, is_proven);
	assert_int_equal(given->loop.effect.is_assuming, !is_proven);
	given_free(given);
}

static void test_given(void **state)
{
	(void)state;
	expect_lanes("kkk", "rA,wB rA,wC rA,wD", "012", "j..", true);
	expect_lanes("kkk", "rA,wB rB,wC rA,wD", "001", "j..", true);
	expect_lanes("kkk", "rA,wB rA,wC rB,wD", "010", "j..", true);
	expect_lanes("kkk", "rA,wB rA,wC rB,rC,wD", "012", "j.j", true);
	expect_lanes("kkkk", "wA wA wB wB", "0011", "j...", true);
	expect_lanes("kkikk", "rA,wB rA,wC rB,wD rC,wE", "01201", "j.jj.", true);
	expect_lanes("kkk", "rA,wB ? rA,wC", "012", "j..", false);
	expect_lanes("kkk", "uA uA rB,wC", "012", "j..", false);
	expect_lanes("kkk", "wA* wA* wB", "012", "j..", false);
	expect_lanes("kk", "rA rA", "01", "j.", true);
}

static void test_given_dependent(void **state)
{
	struct given_loop *given = given_loop_of("kkk", "wA wA rA,wB");

	(void)state;
	assert_string_equal(
		loop_apply(&given->loop, &technique_concurrent_kernels),
		"each kernel depends on the one before it: it was given memory that one "
		"of them writes");
	loop_expect_unchanged(&given->loop);
	given_free(given);
}

/* What is known is as wide at the low end; what is assumed is not. */
static void test_given_low_end(void **state)
{
	static const char *const words[] = {"wA wB wC wD", "uA uA uA uA"};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct given_loop *given = given_loop_of("kkkk", words[i]);

		given->loop.application.end = ASSUMED_LEAST;
		assert_null(loop_apply(&given->loop, &technique_concurrent_kernels));
		assert_int_equal(given->loop.application.change.lanes[2], i ? 0 : 2);
		given_free(given);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("streams that wait for others are told to by the host, but in a graph",
			 test_awaited_streams),
		SENTENCE("kernels of an iteration share the GPU, and copies stand between them",
			 test_concurrent),
		SENTENCE("kernels of a loop of one are parted by waits", test_concurrent_in_series),
		SENTENCE(
			"kernels of a graph's launch share the GPU, and launches follow each other",
			test_concurrent_nodes),
		SENTENCE("graphs between whose nodes the device launches are refused",
			 test_concurrent_bodies),
		SENTENCE("kernels that fill the GPU, and graphs as a whole, are refused",
			 test_concurrent_refusals),
		SENTENCE("how much of the GPU a kernel takes, all its blocks tell",
			 test_concurrent_shapes),
		SENTENCE(
			"a kernel that is known to depend on another follows in its lane, and what is left is no "
			"assumption",
			test_given),
		SENTENCE("kernels that are known to depend on each other are refused",
			 test_given_dependent),
		SENTENCE("where nothing is assumed the low end is the same", test_given_low_end),
		SENTENCE("what is in several streams already is not spread over streams again",
			 test_streamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
