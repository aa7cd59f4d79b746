/* Changes of how kernels follow each other: side by side, as one, without gaps, evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* ---- kernels side by side ---- */

static enum refusal to_concurrent(struct loop_fixture *fixture, uint64_t *kernel_count)
{
	fixture->loop.iterations = fixture->iterations;
	return change_to_concurrent(&fixture->change, fixture->model, &fixture->loop, kernel_count);
}

/* One block on four SMs: a little over a quarter.  The first of an iteration, a copy, and what follows it wait. */
static void test_concurrent(void **state)
{
	struct loop_fixture fixture = loop_of("kkikk");
	static const bool is_joined[] = {true, false, true, true, false};
	uint64_t kernel_count;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_NONE);
	assert_int_equal(kernel_count, 4 * ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		bool is_copy = i % 5 == 2;

		assert_int_equal(fixture.change.lanes[i] & ~LANE_JOINED, i % 3);
		assert_int_equal(fixture.change.lanes[i] & LANE_JOINED ? 1 : 0, is_joined[i % 5]);
		assert_int_equal(fixture.change.fill[i], is_copy ? 100 : 26);
	}
	loop_expect(&fixture, 1, ".....");
	loop_free(&fixture);
}

/* In a loop of one kernel only waits part them. */
static void test_concurrent_in_series(void **state)
{
	struct loop_fixture fixture = loop_with("k", 3, "kw");
	uint64_t kernel_count;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_NONE);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.lanes[i] & LANE_JOINED ? 1 : 0, i == 0 || i == 4);
	loop_free(&fixture);
}

/* Kernels of a graph's launch; the next launch, and what follows one, waits for all of it. */
static void test_concurrent_nodes(void **state)
{
	struct loop_fixture fixture = loop_of("gkk");
	static const bool is_joined[] = {true, true, false};
	uint64_t kernel_count;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_NONE);
	assert_int_equal(kernel_count, 3 * ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.lanes[i] & LANE_JOINED ? 1 : 0, is_joined[i % 3]);
	loop_free(&fixture);
	fixture = loop_of("g");
	fixture.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_NONE);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_true(fixture.change.lanes[i] & LANE_JOINED);
	loop_free(&fixture);
}

/* A loop of graphs of two kernels, between which the device launches a third one. */
static void test_concurrent_bodies(void **state)
{
	struct loop_fixture fixture = loop_of("gk");
	uint64_t kernel_count;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	for (size_t i = 0; i + 2 < fixture.b->profile.op_count; i += 4) {
		fixture.b->ops[i + 1].call = PROFILE_NONE;
		fixture.b->ops[i + 2].call = fixture.b->ops[i].call;
	}
	submissions_free(&fixture.model->submissions);
	assert_int_equal(submissions_find(&fixture.model->submissions, &fixture.b->profile), 0);
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_DEVICE_WORK);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_concurrent_refusals(void **state)
{
	struct loop_fixture full = loop_of("kk"), graphs = loop_of("gk");
	uint64_t kernel_count;

	(void)state;
	full.b->devices[0].sm_count = 1;
	assert_int_equal(to_concurrent(&full, &kernel_count), REFUSED_FULL_GPU);
	loop_expect_unchanged(&full);
	graphs.b->devices[0].sm_count = 4;
	for (size_t i = 0; i < graphs.b->profile.op_count; i += 2)
		graphs.b->ops[i].kind = OP_GRAPH;
	assert_int_equal(to_concurrent(&graphs, &kernel_count), REFUSED_HAS_GRAPHS);
	loop_expect_unchanged(&graphs);
	loop_free(&full);
	loop_free(&graphs);
}

/* What already is in streams: no fewer than the strategy would spread it over, or for kernels any two. */
static void test_streamed(void **state)
{
	struct loop_fixture fixture = loop_of("iko");
	uint64_t kernel_count;

	(void)state;
	fixture.b->devices[0].sm_count = 4;
	fixture.loop.iterations = fixture.iterations;
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].stream = i % 3 != 1;
	assert_false(change_is_streamed(fixture.model, &fixture.loop, true, 2));
	assert_true(change_is_streamed(fixture.model, &fixture.loop, false, 2));
	assert_int_equal(change_to_overlapped(&fixture.change, fixture.model, &fixture.loop),
			 REFUSED_NONE);
	loop_free(&fixture);
	fixture = loop_of("iko");
	fixture.b->devices[0].sm_count = 4;
	fixture.loop.iterations = fixture.iterations;
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].stream = (uint32_t)(i / 3 % 3);
	assert_int_equal(change_to_overlapped(&fixture.change, fixture.model, &fixture.loop),
			 REFUSED_STREAMED);
	assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_STREAMED);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Half of the GPU is the most that a kernel may take, whatever its grid's shape. */
static void test_concurrent_shapes(void **state)
{
	static const uint32_t grids[][3] = {{2, 3, 5}, {30, 1, 1}, {1, 15, 2}, {1, 2, 15}};
	uint64_t kernel_count;

	(void)state;
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		struct loop_fixture fixture = loop_of("kk");

		memcpy(fixture.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		fixture.b->devices[0].sm_count =
			62; /* of which 30 blocks take 48.4%, and 1% more */
		assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_NONE);
		assert_int_equal(fixture.change.fill[0], 49);
		loop_free(&fixture);
		fixture = loop_of("kk");
		memcpy(fixture.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		fixture.b->devices[0].sm_count = 60;
		assert_int_equal(to_concurrent(&fixture, &kernel_count), REFUSED_FULL_GPU);
		loop_free(&fixture);
	}
}

/* ---- neighbours ---- */

static enum refusal to_fused(struct loop_fixture *fixture)
{
	struct fused fused = {0};

	fixture->loop.iterations = fixture->iterations;
	return change_to_fused(&fixture->change, fixture->model, &fixture->loop,
			       &(struct fusion){0}, &fused);
}

static void expect_fused(const char *usual, const char *expected)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_int_equal(to_fused(&fixture), REFUSED_NONE);
	loop_expect(&fixture, 0, expected);
	loop_expect(&fixture, 1, expected);
	loop_free(&fixture);
}

static void expect_not_fused(const char *usual)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_int_equal(to_fused(&fixture), REFUSED_NOT_ALIKE);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_fused(void **state)
{
	struct loop_fixture fixture = loop_of("kwk");

	(void)state;
	expect_fused("kk", ".f"); /* not with the next iteration's */
	expect_fused("kelkikk", "...f..f");
	expect_not_fused("k");
	expect_not_fused("kwk");
	expect_not_fused("kgk");
	fixture.change.calls[1] = CALL_DROPPED; /* by another strategy */
	assert_int_equal(to_fused(&fixture), REFUSED_NONE);
	loop_expect(&fixture, 0, ".df");
	loop_free(&fixture);
	fixture = loop_of("kk");
	fixture.b->profile.signatures[1] = fixture.b->profile.signatures[0];
	fixture.b->profile.signatures[1].grid[0] = 7;
	for (size_t i = 1; i < fixture.b->profile.op_count; i += 2)
		fixture.b->ops[i].detail = 1;
	assert_int_equal(to_fused(&fixture), REFUSED_NOT_ALIKE);
	loop_free(&fixture);
}

static void test_dependent(void **state)
{
	struct loop_fixture fixture = loop_of("keeeeeeeeeeeeeekeeeeeeeeeeeeee"),
			    copies = loop_of("kc");
	uint64_t kernel_count;

	(void)state;
	fixture.loop.iterations = fixture.iterations;
	copies.loop.iterations = copies.iterations;
	assert_int_equal(change_to_dependent(&fixture.change, fixture.model, &fixture.loop,
					     &kernel_count),
			 REFUSED_NONE);
	assert_int_equal(kernel_count, 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, "...............p..............");
	loop_expect(&fixture, 1, "p..............p..............");
	assert_int_equal(change_to_dependent(&copies.change, copies.model, &copies.loop,
					     &kernel_count),
			 REFUSED_NO_NEIGHBOURS);
	loop_expect_unchanged(&copies);
	loop_free(&fixture);
	loop_free(&copies);
}

/* ---- one persistent kernel ---- */

static enum refusal to_persistent(struct loop_fixture *fixture, uint32_t blocks_per_sm,
				  uint64_t *kernel_count)
{
	struct profile_device *device = &fixture->b->devices[0];

	device->sm_count = 1;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = blocks_per_sm;
	device->max_registers_per_sm = device->max_shared_bytes_per_sm = 1 << 16;
	fixture->loop.iterations = fixture->iterations;
	return change_to_persistent(&fixture->change, fixture->model, &fixture->loop, kernel_count);
}

static void expect_not_persistent(const char *usual, uint32_t blocks_per_sm, enum refusal refusal)
{
	struct loop_fixture fixture = loop_of(usual);
	uint64_t kernel_count;

	assert_int_equal(to_persistent(&fixture, blocks_per_sm, &kernel_count), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_persistent(void **state)
{
	struct loop_fixture fixture = loop_of("kek");
	uint64_t kernel_count;

	(void)state;
	assert_int_equal(to_persistent(&fixture, 8, &kernel_count), REFUSED_NONE);
	assert_int_equal(kernel_count, 2 * ITERATIONS);
	loop_expect(&fixture, 0, "Gbb");
	loop_expect(&fixture, 1, "bbb");
	loop_free(&fixture);
	expect_not_persistent("kik", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kwk", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kxk", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kmk", 8, REFUSED_ALLOCATES);
	expect_not_persistent("gk", 8, REFUSED_HAS_GRAPHS);
	expect_not_persistent("kk", 0, REFUSED_NOT_RESIDENT);
}

/* All blocks at once, and one more than that. */
static void test_persistent_fits(void **state)
{
	struct loop_fixture fixture = loop_of("k");
	uint64_t kernel_count;

	(void)state;
	fixture.b->signatures[0].grid[0] = 2;
	assert_int_equal(to_persistent(&fixture, 2, &kernel_count), REFUSED_NONE);
	loop_free(&fixture);
	fixture = loop_of("k");
	fixture.b->signatures[0].grid[0] = 3;
	assert_int_equal(to_persistent(&fixture, 2, &kernel_count), REFUSED_NOT_RESIDENT);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* ---- shorter kernels ---- */

static void test_share(void **state)
{
	struct loop_fixture fixture = loop_of("ki");

	(void)state;
	assert_int_equal(change_to_share(&fixture.change, fixture.model, 0, 1, NULL, 0.3), 0);
	loop_expect_unchanged(&fixture);
	assert_int_equal(change_to_share(&fixture.change, fixture.model, 0, 0, NULL, 0.3),
			 ITERATIONS);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.op_ns[i], i % 2 ? -1 : 31);
	/* what was shortened keeps that */
	assert_int_equal(change_to_share(&fixture.change, fixture.model, 0, 0, NULL, 0.1), 0);
	assert_int_equal(fixture.change.op_ns[0], 31);
	loop_free(&fixture);
}

static bool has_two_blocks(const struct profile_device *device,
			   const struct profile_signature *launch)
{
	assert_non_null(device);
	return launch->grid[0] >= 2;
}

static void test_share_of_shapes(void **state)
{
	struct loop_fixture fixture = loop_of("k");

	(void)state;
	fixture.b->signatures[0].grid[0] = 1;
	assert_int_equal(change_to_share(&fixture.change, fixture.model, 0, 0, has_two_blocks, 0.3),
			 0);
	loop_expect_unchanged(&fixture);
	fixture.b->signatures[0].grid[0] = 2;
	assert_int_equal(change_to_share(&fixture.change, fixture.model, 0, 0, has_two_blocks, 0.3),
			 ITERATIONS);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		SENTENCE("what is in several streams already is not spread over streams again",
			 test_streamed),
		SENTENCE("neighbours with the same grid become one kernel", test_fused),
		SENTENCE("a kernel behind another one can be set up before", test_dependent),
		SENTENCE("a loop of kernels that fit becomes one that stays", test_persistent),
		SENTENCE("blocks that stay have to fit on the GPU at once", test_persistent_fits),
		SENTENCE("launches of one kernel take a share of their time", test_share),
		SENTENCE("and of shapes that are not meant none", test_share_of_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
