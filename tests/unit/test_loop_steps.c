/* How many iterations make a step of the program, by the pauses before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "fixture_change.h"
#include "replay/loop_steps.h"
#include "profile_builder.h"

#define MOST 400
#define LAUNCH_NS 3000

/* A loop of two launches an iteration, the first one after the pause that is given, and every so many iterations a
 * wait (0: none). */
struct paused {
	struct builder *b;
	struct model *model;
	struct loop loop;
	uint32_t iterations[MOST + 1];
};

static void paused_new(struct paused *it, size_t count, int64_t (*pause_ns)(size_t),
		       size_t waits_every)
{
	struct err err = {""};
	int64_t now_ns = 0;

	*it = (struct paused){.b = builder_new(1, 1)};
	for (size_t i = 0; i < count; i++) {
		now_ns += pause_ns(i);
		it->iterations[i] = (uint32_t)it->b->profile.call_count;
		for (int j = 0; j < 2; j++, now_ns += LAUNCH_NS)
			builder_kernel(it->b, 0, j ? "b" : "a", now_ns + LAUNCH_NS,
				       now_ns + LAUNCH_NS + 1000,
				       builder_launch(it->b, 0, now_ns, now_ns + LAUNCH_NS));
		if (waits_every && i % waits_every == 0)
			builder_call(it->b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, now_ns);
	}
	it->iterations[count] = (uint32_t)it->b->profile.call_count;
	builder_finish(it->b);
	assert_int_equal(model_build(&it->model, &it->b->profile, &err), 0);
	it->loop = (struct loop){.kind_count = 1,
				 .call_count = it->b->profile.call_count,
				 .iteration_count = count,
				 .iterations = it->iterations,
				 .period = 2,
				 .regularity = 1,
				 .exactness = 1};
}

static void paused_free(struct paused *it)
{
	model_free(it->model);
	free(it->b);
}

static struct loop_step found(size_t count, int64_t (*pause_ns)(size_t), size_t waits_every)
{
	struct paused it;
	struct loop_step loop_step;

	paused_new(&it, count, pause_ns, waits_every);
	loop_step = loop_step_of(it.model, &it.loop);
	paused_free(&it);
	return loop_step;
}

/* Four layers, the first one of a step after 1.3 times the pause; every ninth pause is three times as long. */
static int64_t layers(size_t i)
{
	int64_t ns = i % 4 == 2 ? 70000 : 54000;

	return i % 9 == 5 ? 3 * ns : ns + (int64_t)(i * 37 % 11) * 100;
}

static int64_t even(size_t i)
{
	(void)i;
	return 1000;
}

static int64_t hardly(size_t i)
{
	return i % 4 == 2 ? 62000 : 54000;
}

/* Between 1 and 30 us. */
static int64_t scattered(size_t i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
	return 1000 + (int64_t)((x >> 40) % 29000);
}

static void test_layers(void **state)
{
	struct loop_step loop_step = found(200, layers, 0);

	(void)state;
	assert_int_equal(loop_step.iteration_count, 4);
	assert_int_equal(loop_step.first, 2);
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(found(200, even, 0).iteration_count, 1);
	assert_int_equal(found(200, hardly, 0).iteration_count, 1);
	assert_int_equal(found(MOST, scattered, 0).iteration_count, 1);
	/* waits part the steps, unless they are seldom */
	assert_int_equal(found(200, layers, 1).iteration_count, 1);
	assert_int_equal(found(200, layers, 4).iteration_count, 1);
	assert_int_equal(found(200, layers, 100).iteration_count, 4);
	assert_int_equal(found(30, layers, 0).iteration_count, 1); /* too few to tell */
	assert_int_equal(found(3, layers, 0).iteration_count, 1);
}

static void test_next(void **state)
{
	const struct loop_step four = {4, 2}, one = {.iteration_count = 1};
	const struct loop loop = {.iteration_count = 9};

	(void)state;
	assert_int_equal(loop_step_next(&four, &loop, 0), 2);
	assert_int_equal(loop_step_next(&four, &loop, 2), 6);
	assert_int_equal(loop_step_next(&four, &loop, 5), 6);
	assert_int_equal(loop_step_next(&four, &loop, 6), 9);
	assert_int_equal(loop_step_next(&one, &loop, 7), 8);
	assert_int_equal(loop_step_next(&one, &loop, 8), 9);
}

/* A kernel of that grid, and a copy of so many bytes. */
static size_t sizes_repeat(size_t count, uint32_t (*grid)(size_t), uint64_t (*bytes)(size_t))
{
	struct paused it = {.b = builder_new(1, 1)};
	struct err err = {""};
	size_t length;

	for (size_t i = 0; i < count; i++) {
		int64_t now_ns = (int64_t)i * 10000;
		struct profile_copy copy = {.bytes = bytes(i), .kind = 1, .is_async = true};

		it.iterations[i] = (uint32_t)it.b->profile.call_count;
		builder_op(it.b, OP_KERNEL, 0, builder_signature(it.b, "k", grid(i)), now_ns + 3000,
			   now_ns + 4000, builder_launch(it.b, 0, now_ns, now_ns + 2000));
		builder_copy(it.b, 0, copy, now_ns + 5000, now_ns + 6000,
			     builder_call(it.b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns + 2000,
					  now_ns + 3000));
	}
	it.iterations[count] = (uint32_t)it.b->profile.call_count;
	builder_finish(it.b);
	assert_int_equal(model_build(&it.model, &it.b->profile, &err), 0);
	it.loop = (struct loop){.kind_count = 1,
				.call_count = it.b->profile.call_count,
				.iteration_count = count,
				.iterations = it.iterations};
	length = loop_sizes_repeat(it.model, &it.loop);
	paused_free(&it);
	return length;
}

static uint32_t fives(size_t i)
{
	return (uint32_t)(i % 5 + 1);
}

static uint64_t seventies(size_t i)
{
	return i % 70 + 1;
}

static uint32_t one_grid(size_t i)
{
	(void)i;
	return 1;
}

static uint64_t one_size(size_t i)
{
	(void)i;
	return 8;
}

static uint64_t threes(size_t i)
{
	return 8 * (i % 3 + 1);
}

static uint64_t now_and_then(size_t i)
{
	return i % 40 ? 8 : 16;
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(sizes_repeat(100, fives, one_size), 5);
	assert_int_equal(sizes_repeat(100, one_grid, threes), 3);
	assert_int_equal(sizes_repeat(100, fives, threes), 15);
	assert_int_equal(sizes_repeat(100, fives, now_and_then), 5); /* one of ten may differ */
	assert_int_equal(sizes_repeat(9, fives, one_size), 0);	     /* not seen twice */
	assert_int_equal(sizes_repeat(200, one_grid, seventies), 0);
	assert_int_equal(sizes_repeat(100, one_grid, one_size), 0);
}

static const char *capture(const struct paused *it, struct change *change, struct effect *effect,
			   enum assumed_end end)
{
	const struct recorded_run run = {.model = it->model};

	return change_loop_with(&technique_cuda_graph, change, effect, &run, &it->loop, end);
}

/* A step is one graph, also the part of one with which the loop begins. */
static void test_graph(void **state)
{
	struct effect effect;
	struct change change;
	struct paused it;
	size_t graph_count = 0;

	(void)state;
	paused_new(&it, 200, layers, 0);
	usual_changes_begin(&change, it.model, false);
	assert_null(capture(&it, &change, &effect, ASSUMED_USUAL));
	assert_int_equal(effect.most_nodes, 4 * 2);
	for (size_t i = 0; i < 200; i++) {
		bool is_first = i == 0 || i % 4 == 2;

		assert_int_equal(usual_change_of(&change, it.iterations[i]) == CALL_AS_GRAPH,
				 is_first);
		graph_count += is_first;
	}
	assert_int_equal(graph_count, 51);
	change_free(&change);
	paused_free(&it);
}

/* At the low end of what is assumed each iteration is a graph, as pauses may part nothing. */
static void test_least(void **state)
{
	struct effect effect;
	struct change change;
	struct paused it;

	(void)state;
	paused_new(&it, 200, layers, 0);
	usual_changes_begin(&change, it.model, false);
	assert_null(capture(&it, &change, &effect, ASSUMED_LEAST));
	assert_int_equal(effect.most_nodes, 2);
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(usual_change_of(&change, it.iterations[i]), CALL_AS_GRAPH);
	change_free(&change);
	paused_free(&it);
}

/* A wait in the middle of a step: that step is no graph, and the wait stays. */
static void test_wait(void **state)
{
	struct effect effect;
	struct change change;
	struct paused it;

	(void)state;
	paused_new(&it, 200, layers, 103);
	usual_changes_begin(&change, it.model, false);
	assert_null(capture(&it, &change, &effect, ASSUMED_USUAL));
	for (size_t i = 102; i < 106; i++)
		for (uint32_t j = it.iterations[i]; j < it.iterations[i + 1]; j++)
			assert_int_equal(change.calls[j], CALL_KEPT);
	assert_int_equal(usual_change_of(&change, it.iterations[106]), CALL_AS_GRAPH);
	change_free(&change);
	paused_free(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SENTENCE("a longer pause every so many iterations begins a step", test_layers),
		SENTENCE(
			"even, random and few pauses tell of none, and waits part steps themselves",
			test_none),
		SENTENCE("sizes that differ may come again after so many iterations", test_sizes),
		SENTENCE("a step ends where the next one or the loop ends", test_next),
		SENTENCE("a step is one graph", test_graph),
		SENTENCE("at the low end an iteration is one", test_least),
		SENTENCE("a step with a wait in it is none", test_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
