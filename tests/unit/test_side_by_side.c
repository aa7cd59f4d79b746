#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "whatif/side_by_side.h"
#include "fixture_change.h"
#include "fixture_random.h"

#define LOOPS 12
#define ITERATION_NS 41000 /* recorded, of unit 1 */
#define BEFORE_NS 40250	   /* without what recording added: test_predict_loops.c has the steps */
#define AFTER_NS 32600	   /* as a graph behind another */

/* Three launches, their kernels of 10 us, a wait, and 1 us later the next iteration.  unit: kernels are
 * so many times as long, and so is what is between them.  Returns its end. */
static int64_t add_loop(struct builder *b, int64_t now_ns, int64_t unit, const char *const names[3])
{
	for (int i = 0; i < LOOPS; i++) {
		int64_t gpu_ns = now_ns + 5000;

		for (int j = 0; j < 3; j++, now_ns += 4000, gpu_ns += 11000 * unit)
			builder_kernel(b, 0, names[j], gpu_ns, gpu_ns + 10000 * unit,
				       builder_launch(b, 0, now_ns, now_ns + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, gpu_ns + 2000);
		now_ns = gpu_ns + 3000;
	}
	return now_ns;
}

static const char *const some_names[] = {"a", "b", "c"}, *const other_names[] = {"x", "y", "z"};

/* A recording, and a change of it. */
struct trial {
	struct builder *b;
	struct what_ifs all;
	struct change change;
	bool *is_changed;
	struct side_request request;
	struct side_by_side found;
};

static void begin(struct trial *trial, struct builder *b)
{
	struct err err = {""};

	*trial = (struct trial){.b = b};
	assert_int_equal(model_build(&trial->all.run.model, &b->profile, &err), 0);
	assert_int_equal(loops_find(&trial->all.loops, &b->profile,
				    &trial->all.run.model->submissions),
			 0);
	trial->all.predictor.works = calloc(PREDICTOR_WORKS, sizeof(struct replay));
	trial->all.predictor.costs[COSTS_MIDDLE] = random_costs;
	trial->is_changed = calloc(b->profile.call_count + 1, sizeof(bool));
	assert_int_equal(change_begin(&trial->change, trial->all.run.model, true), 0);
	trial->request = (struct side_request){.all = &trial->all,
					       .change = &trial->change,
					       .is_changed = trial->is_changed,
					       .from_ns = INT64_MIN,
					       .to_ns = INT64_MAX};
}

static struct builder *finished(struct builder *b)
{
	builder_finish(b);
	return b;
}

/* Iterations [first, end) of the loop. */
static struct loop part_of(const struct trial *trial, size_t index, size_t first, size_t end)
{
	struct loop part = trial->all.loops.items[index];

	part.iterations += first;
	part.iteration_count = end - first;
	part.first_call = part.iterations[0];
	part.call_count = part.iterations[end - first] - part.first_call;
	return part;
}

static void make_graph_of(struct trial *trial, size_t index, size_t first, size_t end)
{
	struct loop rest = part_of(trial, index, first, end);
	struct effect effect;

	assert_null(change_loop_with(&technique_cuda_graph, &trial->change, &effect,
				     &trial->all.run, &rest, ASSUMED_USUAL));
	memset(trial->is_changed + rest.first_call, true, rest.call_count);
}

/* The loop but for its first iteration, as apply.c has it. */
static void make_graph(struct trial *trial, size_t index)
{
	make_graph_of(trial, index, 1, trial->all.loops.items[index].iteration_count);
}

static const struct side_by_side *replay(struct trial *trial)
{
	side_by_side_free(&trial->found);
	assert_int_equal(side_by_side_replay(&trial->found, &trial->request), 0);
	return &trial->found;
}

static void end(struct trial *trial)
{
	side_by_side_free(&trial->found);
	change_free(&trial->change);
	predictor_free(&trial->all.predictor);
	what_ifs_free(&trial->all);
	free(trial->is_changed);
	free(trial->b);
}

static size_t own_count(const struct side_span *spans, size_t count)
{
	size_t own = 0;

	for (size_t i = 0; i < count; i++)
		own += spans[i].is_own;
	return own;
}

static struct builder *loop(void)
{
	struct builder *b = builder_new(1, 1);

	add_loop(b, 0, 1, some_names);
	return b;
}

/* ---- a loop as graphs ---- */

static void test_before(void **state)
{
	const struct side_by_side *found;
	struct trial trial;

	(void)state;
	begin(&trial, finished(loop()));
	make_graph(&trial, 0);
	found = replay(&trial);
	assert_int_equal(found->stretch.first, 4); /* an iteration has four calls */
	assert_int_equal(found->stretch.end, 4 + 8 * 4);
	assert_int_equal(found->stretch.first_iteration, 2);
	assert_int_equal(found->stretch.iteration_count, STRETCH_SUBMITS / 3);
	assert_int_equal(found->stretch.loop_iteration_count, LOOPS);
	/* the last wait returns 1 us before the next iteration */
	assert_int_equal(found->before.end_ns - found->before.start_ns, 8 * BEFORE_NS - 1000);
	assert_int_equal(found->before.start_ns - found->before.run_start_ns, BEFORE_NS - 4250);
	assert_int_equal(found->before.call_count, 8 * 4);
	assert_int_equal(found->before.op_count, 8 * 3);
	assert_int_equal(found->before.calls[0].start_ns, found->before.start_ns);
	assert_int_equal(found->before.calls[3].call_class, CALL_SYNC);
	assert_int_equal(own_count(found->before.calls, found->before.call_count), 8 * 4);
	end(&trial);
}

static void test_after(void **state)
{
	const struct side_by_side *found;
	struct trial trial;

	(void)state;
	begin(&trial, finished(loop()));
	make_graph(&trial, 0);
	found = replay(&trial);
	assert_int_equal(found->after.end_ns - found->after.start_ns, 7 * AFTER_NS + 37400);
	/* three more launches and the last wait begin meanwhile */
	assert_int_equal(found->after.call_count, 8 + 3 + 1);
	assert_int_equal(own_count(found->after.calls, found->after.call_count), 8);
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(found->after.calls[i].call_class, CALL_GRAPH_LAUNCH);
	assert_false(found->after.calls[11].is_own);
	assert_int_equal(found->after.calls[11].call_class, CALL_SYNC);
	assert_int_equal(own_count(found->after.ops, found->after.op_count), 8 * 3);
	end(&trial);
}

static void test_within(void **state)
{
	const struct side_by_side *found;
	struct trial trial;

	(void)state;
	begin(&trial, finished(loop()));
	make_graph(&trial, 0);
	trial.request.from_ns = 3 * ITERATION_NS;
	trial.request.to_ns = 6 * ITERATION_NS;
	found = replay(&trial);
	assert_int_equal(found->stretch.first_iteration, 4);
	assert_int_equal(found->stretch.iteration_count, 3);
	assert_int_equal(own_count(found->after.ops, found->after.op_count), 9);
	trial.request.to_ns = trial.request.from_ns + ITERATION_NS / 2; /* not one iteration */
	found = replay(&trial);
	assert_int_equal(found->stretch.iteration_count, 0);
	trial.request.from_ns = trial.request.to_ns = LOOPS * ITERATION_NS;
	found = replay(&trial);
	assert_int_equal(found->stretch.end, 0);
	assert_null(found->before.calls);
	end(&trial);
}

static void test_part_of_loop(void **state)
{
	const struct side_by_side *found;
	struct trial trial;

	(void)state;
	begin(&trial, finished(loop()));
	make_graph_of(&trial, 0, 2, 4);
	make_graph_of(&trial, 0, 5, 10);
	found = replay(&trial);
	assert_int_equal(found->stretch.first_iteration, 6); /* the longer one */
	assert_int_equal(found->stretch.iteration_count, 5);
	assert_int_equal(found->stretch.loop_iteration_count, LOOPS);
	trial.request.to_ns = 5 * ITERATION_NS;
	found = replay(&trial);
	assert_int_equal(found->stretch.first_iteration, 3);
	assert_int_equal(found->stretch.iteration_count, 2);
	end(&trial);
}

/* ---- which loop ---- */

static struct builder *two_loops(void)
{
	struct builder *b = builder_new(1, 1);

	add_loop(b, add_loop(b, 0, 1, some_names) + 500000, 3, other_names);
	return b;
}

static void test_largest(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, finished(two_loops()));
	assert_int_equal(trial.all.loops.count, 2);
	make_graph(&trial, 0);
	assert_int_equal(replay(&trial)->stretch.first, 4);
	make_graph(&trial, 1); /* takes three times as long */
	assert_int_equal(replay(&trial)->stretch.first, (LOOPS + 1) * 4);
	end(&trial);
}

static void test_changed_copies(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, finished(two_loops()));
	trial.change.op_ns[2 * 3] = 5000; /* in the third iteration of the first loop */
	assert_int_equal(replay(&trial)->stretch.first, 4);
	assert_int_equal(trial.found.stretch.iteration_count, 8);
	assert_int_equal(trial.found.before.end_ns - trial.found.before.start_ns -
				 (trial.found.after.end_ns - trial.found.after.start_ns),
			 5000);
	trial.change.op_ns[2 * 3] = 0; /* as it was; one of the second loop gets another stream */
	assert_int_equal(change_begin_lanes(&trial.change, trial.all.run.model, 32), 0);
	trial.change.lanes[3 * LOOPS + 2 * 3] = 0;
	assert_int_equal(replay(&trial)->stretch.first, (LOOPS + 1) * 4);
	end(&trial);
}

static void test_no_loop(void **state)
{
	const struct profile_copy copy = {.bytes = 1000, .kind = 1};
	const struct side_by_side *found;
	struct builder *b = loop();
	struct trial trial;

	(void)state;
	for (int i = 0; i < 2; i++)
		builder_copy(b, 0, copy, 1000000 + i * 30000, 1020000 + i * 30000,
			     builder_call(b, 0, "cudaMemcpy", CALL_COPY, 1000000 + i * 30000,
					  1025000 + i * 30000));
	builder_call(b, 0, "cudaFree", CALL_MEMORY, 1060000, 1070000); /* no part of it */
	begin(&trial, finished(b));
	trial.change.op_ns[3 * LOOPS] = 8000;
	found = replay(&trial);
	assert_int_equal(found->stretch.iteration_count, 0);
	assert_int_equal(found->stretch.first, 4 * LOOPS);
	assert_int_equal(found->stretch.end, 4 * LOOPS + 2);
	assert_int_equal(found->before.ops[0].end_ns - found->before.ops[0].start_ns, 20000);
	assert_int_equal(found->after.ops[0].end_ns - found->after.ops[0].start_ns, 8000);
	end(&trial);
}

/* ---- what is gone, and what runs beside ---- */

static void test_gone(void **state)
{
	const struct side_by_side *found;
	struct trial trial;
	struct effect effect;
	struct loop rest;
	size_t waits = 0;

	(void)state;
	begin(&trial, finished(loop()));
	rest = part_of(&trial, 0, 1, LOOPS);
	assert_null(change_loop_with(&technique_remove_syncs, &trial.change, &effect,
				     &trial.all.run, &rest, ASSUMED_USUAL));
	trial.change.op_ns[3] = OP_GONE; /* the first of the second iteration */
	found = replay(&trial);
	for (size_t i = 0; i < found->after.call_count; i++)
		waits += found->after.calls[i].is_own &&
			 found->after.calls[i].call_class == CALL_SYNC;
	assert_int_equal(waits, 0);
	assert_int_equal(own_count(found->before.ops, found->before.op_count), 24);
	assert_int_equal(own_count(found->after.ops, found->after.op_count), 23);
	end(&trial);
}

static void test_beside(void **state)
{
	const struct side_by_side *found;
	struct builder *b = loop();
	uint32_t thread = builder_thread(b, 0), stream = builder_stream(b, 0, 0);
	struct trial trial;
	size_t longest = 0;

	(void)state;
	builder_kernel(b, stream, "beside", 20000, 400000, builder_launch(b, thread, 0, 4000));
	begin(&trial, finished(b));
	make_graph(&trial, 0);
	found = replay(&trial);
	assert_int_equal(found->before.op_count, 25);
	for (size_t i = 0; i < found->before.op_count; i++)
		if (found->before.ops[i].end_ns - found->before.ops[i].start_ns == 380000)
			longest = i;
	assert_int_equal(longest, 0); /* it starts first */
	assert_false(found->before.ops[longest].is_own);
	assert_int_equal(found->before.call_count, 8 * 4); /* of that thread no call */
	end(&trial);
}

/* ---- always ---- */

static void expect_order(const struct side *side, const struct side_span *spans, size_t count,
			 uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		if (spans[i].is_own &&
		    (spans[i].start_ns < side->start_ns || spans[i].end_ns > side->end_ns))
			fail_msg("seed %d: %zu lies outside", (int)seed, i);
		if (i && spans[i].start_ns < spans[i - 1].start_ns)
			fail_msg("seed %d: %zu comes too late", (int)seed, i);
		if (spans[i].end_ns < side->start_ns || spans[i].start_ns > side->end_ns)
			fail_msg("seed %d: %zu does not run meanwhile", (int)seed, i);
	}
}

static void expect_sides(const struct trial *trial, uint64_t seed)
{
	const struct side_by_side *found = &trial->found;
	const struct submissions *submissions = &trial->all.run.model->submissions;
	const struct stretch *stretch = &found->stretch;

	assert_true(stretch->first < stretch->end);
	expect_order(&found->before, found->before.calls, found->before.call_count, seed);
	expect_order(&found->after, found->after.calls, found->after.call_count, seed);
	expect_order(&found->before, found->before.ops, found->before.op_count, seed);
	expect_order(&found->after, found->after.ops, found->after.op_count, seed);
	assert_int_equal(own_count(found->before.calls, found->before.call_count),
			 stretch->end - stretch->first);
	assert_int_equal(own_count(found->before.ops, found->before.op_count),
			 submissions_first(submissions, stretch->end) -
				 submissions_first(submissions, stretch->first));
}

static void test_random(void **state)
{
	int shown_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct trial trial;

		begin(&trial, random_profile(seed, 1));
		change_free(&trial.change);
		trial.change = random_change(seed, trial.all.run.model, seed % 2);
		if (replay(&trial)->stretch.end) {
			shown_count++;
			expect_sides(&trial, seed);
		}
		end(&trial);
	}
	assert_true(shown_count > 200);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("before are the first iterations that change, all calls and kernels",
			 test_before),
		SENTENCE("after are the same ones as graphs, with what is launched meanwhile",
			 test_after),
		SENTENCE("only iterations within the time that is asked for are shown",
			 test_within),
		SENTENCE("of a loop that changes in part the longest run that does is shown",
			 test_part_of_loop),
		SENTENCE("the loop that changes and takes most time is shown", test_largest),
		SENTENCE("a loop in which only a copy changes is shown as well",
			 test_changed_copies),
		SENTENCE("what changes outside of loops is shown from its first call on",
			 test_no_loop),
		SENTENCE("what is gone is not shown", test_gone),
		SENTENCE("what another thread runs meanwhile is there and not its own",
			 test_beside),
		SENTENCE("whatever changes, both sides are in order and complete", test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
