/* Launches of one small kernel in a row are one, and when that is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"
#include "fixture_given.h"
#include "fixture_loop.h"

static const char no_batch[] =
	"no small kernel is launched again and again with nothing but small memsets between its "
	"launches";

/* On a GPU of so many SMs, where a kernel of the loop has one block. */
static const char *batch(struct loop_fixture *fixture, uint32_t sm_count)
{
	advised_set_device(fixture->b);
	fixture->b->devices[0].sm_count = sm_count;
	return loop_apply(fixture, &technique_batch_launches);
}

static void expect_refused(const char *usual, uint32_t sm_count, const char *refusal)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_string_equal(batch(&fixture, sm_count), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Kernels of 100 ns, each with one block for one of 8 SMs. */
static void test_batched(void **state)
{
	struct loop_fixture fixture = loop_of("kkkklw");
	const int64_t *op_ns = fixture.application.change.op_ns;

	(void)state;
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, ".fff..");
	assert_int_equal(fixture.effect.changed_count, 4 * ITERATIONS);
	assert_int_equal(op_ns[0], 101); /* the longest: four times an eighth is less */
	assert_int_equal(op_ns[1], OP_GONE);
	loop_free(&fixture);
	fixture = loop_of("kkkkw");
	assert_null(batch(&fixture, 2)); /* two blocks of 256 threads keep an SM busy */
	assert_int_equal(fixture.application.change.op_ns[0], 101);
	loop_free(&fixture);
	fixture = loop_of("kkkkkkkkkkkkw");
	assert_null(batch(&fixture, 2));
	assert_int_equal(fixture.application.change.op_ns[0], 301);
	loop_free(&fixture);
	fixture = loop_of("kkvkw"); /* another kernel, or the host's work, parts them */
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, ".f...");
	loop_free(&fixture);
}

/* What a memset between two of them sets each has for itself. */
static void test_memsets(void **state)
{
	struct loop_fixture fixture = loop_of("0k0k0kw");
	const int64_t *op_ns = fixture.application.change.op_ns;

	(void)state;
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, "..ffff.");
	assert_int_equal(fixture.effect.changed_count, 3 * ITERATIONS);
	assert_int_equal(op_ns[0], 0);
	assert_int_equal(op_ns[1], 101);
	assert_int_equal(op_ns[2], OP_GONE);
	loop_free(&fixture);
	fixture = loop_of("kk0w"); /* one behind the last is no part of it */
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, ".f..");
	loop_free(&fixture);
	fixture = loop_of("k0k0kw");
	fixture.b->memsets[0].bytes = 65537; /* takes time of its own */
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, "...ff.");
	loop_expect(&fixture, 1, ".ffff.");
	loop_free(&fixture);
	fixture = loop_of("kk0kkw");
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		if (fixture.b->ops[i].kind == OP_MEMSET)
			fixture.b->ops[i].stream = 1;
	assert_null(batch(&fixture, 8)); /* one of another stream may not be between them at all */
	loop_expect(&fixture, 0, ".f..f.");
	loop_free(&fixture);
	assert_true(technique_batch_launches.bound & BOUND_MEMSETS);
}

static void test_least(void **state)
{
	struct loop_fixture fixture = loop_of("kkkkkw");

	(void)state;
	fixture.application.end = ASSUMED_LEAST;
	assert_null(batch(&fixture, 8));
	loop_expect(&fixture, 0, ".f.f..");
	loop_free(&fixture);
	fixture = loop_of("kkkkkkkkkw");
	fixture.application.end = ASSUMED_MOST;
	assert_null(batch(&fixture, 2)); /* 8 of 256 threads fit on an SM */
	assert_int_equal(fixture.application.change.op_ns[0], 101);
	loop_free(&fixture);
}

static void expect_given(const char *usual, const char *words, const char *expected, bool is_proven)
{
	struct given_loop *given = given_loop_of(usual, words);

	given->loop.application.end = ASSUMED_LEAST;
	assert_null(batch(&given->loop, 8));
	loop_expect(&given->loop, 0, expected);
	assert_int_equal(given->loop.effect.is_proven, is_proven);
	assert_int_equal(given->loop.effect.is_assuming, !is_proven);
	given_free(given);
}

/* At the low end two become one, but where it is known that they need nothing of each other. */
static void test_given(void **state)
{
	struct given_loop *given = given_loop_of("kkkkw", "wA");

	(void)state;
	expect_given("kkkkw", "wA wB wC wD", ".fff.", true);
	expect_given("kkkkw", "wA wB wA wB", ".f.f.", true);
	expect_given("kkkkw", "uA uA uA uA", ".f.f.", false);
	expect_given("kkkkw", "wA wB wB wA", ".f.f.", true);
	expect_given("k0k0k0kw", "wA wB wC wD", ".ff..ff.",
		     false); /* what memsets set is not told */
	expect_given("kkkk0w", "wA wB wC wD", ".fff..",
		     true); /* behind the last it is no part of it */
	assert_string_equal(
		batch(&given->loop, 8),
		"each launch depends on the one before it: it was given memory that one of "
		"them writes");
	loop_expect_unchanged(&given->loop);
	given_free(given);
}

/* On 2 SMs, each of which has room for 8 blocks: those of launches in turn. */
static void expect_blocks(uint32_t blocks, uint32_t other_blocks, const char *refusal)
{
	struct loop_fixture fixture = loop_of("kkkkw");
	struct builder *b = fixture.b;
	const uint32_t signatures[] = {builder_signature(b, "k", blocks),
				       builder_signature(b, "k", other_blocks)};
	const char *found;

	for (size_t i = 0; i < b->profile.op_count; i++)
		if (b->ops[i].kind == OP_KERNEL)
			b->ops[i].detail = signatures[i % 2];
	found = batch(&fixture, 2);
	if (refusal)
		assert_string_equal(found, refusal);
	else
		assert_null(found);
	loop_free(&fixture);
}

static void test_refused(void **state)
{
	(void)state;
	expect_blocks(1, 4, NULL);
	expect_blocks(4, 4, no_batch); /* a step of one computation */
	expect_blocks(1, 9, no_batch); /* full */
	expect_refused("kw", 8, no_batch);
	expect_refused("kv", 8, no_batch);
	expect_refused("ki", 8, no_batch);
	expect_refused("khkh", 8, no_batch);
	expect_refused("kh0kh0", 8, no_batch);
	expect_refused("khlkhl", 8, no_batch);
	expect_refused("gg", 8, no_batch);
}

/* ---- advice ---- */

/* 480 launches of 6 us with a kernel of that many blocks each, and a wait. */
static struct builder *parts(uint32_t blocks)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	advised_set_device(b);
	for (int i = 0; i < 480; i++, now_ns += 6200) {
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 6000);

		builder_op(b, OP_KERNEL, 0, builder_signature(b, "part", blocks), now_ns + 8000,
			   now_ns + 10000 + 100 * (i % 2), call);
	}
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, now_ns + 9000);
	return b;
}

static void test_advised(void **state)
{
	const struct recommendation *item, *graph;
	struct advised it;

	(void)state;
	advised_begin(&it, parts(2));
	item = advised_item(&it, "batch_launches");
	graph = advised_item(&it, "launch_bound_graph");
	assert_non_null(item);
	assert_non_null(graph);
	assert_string_equal(item->strategy, "batch_launches");
	assert_string_equal(item->evidence[0],
			    "part: up to 480 launches with nothing but small memsets between them");
	assert_string_equal(item->evidence[1], "each has blocks for 2% of the SMs");
	assert_string_equal(item->evidence[2], "they take from 2.00 us to 2.10 us");
	assert_true(item->gain.is_assuming);
	assert_true(item->gain.place.speedup > 2 * graph->gain.place.speedup);
	advised_end(&it);
	advised_begin(&it, parts(401)); /* of 800 */
	assert_null(advised_item(&it, "batch_launches"));
	advised_end(&it);
}

static void test_uneven(void **state)
{
	struct builder *b = parts(2);
	const struct recommendation *item;
	struct advised it;

	(void)state;
	for (size_t i = 0; i < b->profile.op_count; i += 48)
		b->ops[i].end_ns = b->ops[i].start_ns + 3100, b->ops[i].start_ns -= 2000;
	advised_begin(&it, b);
	item = advised_item(&it, "batch_launches");
	assert_non_null(item);
	assert_true(advised_says(item, "let blocks take parts from a queue"));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("launches in a row take what their blocks do on all SMs", test_batched),
		SENTENCE("small memsets between them become one, too", test_memsets),
		SENTENCE("at the low end two become one, at the high end SMs are crowded",
			 test_least),
		SENTENCE("launches that are known to depend on each other are not one", test_given),
		SENTENCE("what is full, or has anything between, is left as it is", test_refused),
		SENTENCE("one launch for all parts is advised, and predicted above a graph",
			 test_advised),
		SENTENCE("where parts differ in time a queue is told of", test_uneven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
