/* What techniques are predicted to bring to loops worked out by hand, as a whole and in ranges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_predict.h"
#include "fixture_steady.h"

/* Something else, once: more than an iteration could have in between. */
static int64_t add_other(struct builder *b, int64_t now_ns)
{
	static const char *const names[] = {"m", "n", "o", "p", "q", "r", "s", "t", "u"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++, now_ns += 10000) {
		builder_kernel(b, 0, names[i], now_ns + 5000, now_ns + 6000,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000,
			     now_ns + 9000);
	}
	return now_ns;
}

static void test_graph(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.loop_count, 1);
	assert_int_equal(found.effect.iteration_count, RUNS - 1); /* the first stays as it was */
	assert_int_equal(found.effect.most_nodes, 3);
	assert_int_equal(found.prediction.place_before_ns, PLACE_BEFORE_NS);
	assert_int_equal(found.prediction.place_after_ns, PLACE_AFTER_NS);
	predicted_expect_ratio(found.prediction.place.speedup, PLACE_BEFORE_NS, PLACE_AFTER_NS);
	predicted_expect_ratio(found.prediction.place.low, PLACE_BEFORE_NS,
			       (1 + hypot(SPREAD_LAUNCH, REPLAY_ERROR_MOST)) * PLACE_AFTER_NS);
	predicted_expect_ratio(found.prediction.place.high, PLACE_BEFORE_NS, PLACE_LEAST_NS);
	predicted_end(&it);
}

/* Two loops that are one, with a pause of 50 iterations between them. */
static void test_steady(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct predicted_run it;
	struct steady_found steady;
	struct device_work device_work = {0};
	struct report report = {.device_work = &device_work};
	struct what_if found;

	(void)state;
	predicted_add_loop(b, predicted_add_loop(b, 0, 0) + 50 * BEFORE_NS, 0);
	predicted_begin(&it, b, 0, NULL);
	steady = steady_find_in(&b->profile);
	report.profile = &b->profile;
	report.steady_state = steady.state;
	it.all.run.report = &report;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	assert_int_equal(found.prediction.steady_before_ns, BEFORE_NS);
	assert_in_range(found.prediction.steady_after_ns, AFTER_NS, AFTER_NS + AFTER_NS / 10);
	assert_float_equal(found.prediction.steady.speedup,
			   (double)BEFORE_NS / (double)found.prediction.steady_after_ns, 0.001);
	assert_true(found.prediction.place.speedup < found.prediction.steady.speedup);
	assert_true(found.prediction.steady.low < found.prediction.steady.speedup);
	/* three kernels of an iteration stay as long as they are, but for what a replay may be off */
	assert_float_equal(found.prediction.steady.high, BEFORE_NS / (0.97 * 30000), 0.001);
	timeline_free(steady.timeline);
	gaps_free(steady.gaps);
	steady_state_free(steady.state);
	predicted_end(&it);
}

/* What recording added to graphs' launches is what these took longer than the ceilings' 4000 and 6000. */
static void test_recorded_graphs(void **state)
{
	struct builder *b = predicted_loop();
	struct predicted_run it;
	const struct costs *costs;

	(void)state;
	for (int64_t i = 10; i < 15; i++)
		builder_kernel(b, 0, "k", i * 100000 + 10000, i * 100000 + 11000,
			       builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 100000,
					    i * 100000 + 9000));
	predicted_begin(&it, b, 0, NULL);
	costs = &it.all.predictor.costs[COSTS_MIDDLE];
	assert_int_equal(costs->trace_launch_ns, 750);
	assert_int_equal(costs->trace_graph_launch_ns, 5000);
	assert_int_equal(costs->trace_graph_start_ns, 4000);
	predicted_end(&it);
}

static void test_setup(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	predicted_expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS,
			       WALL_AFTER_NS + SETUP_NS);
	predicted_expect_ratio(found.prediction.program.low, WALL_BEFORE_NS,
			       WALL_AFTER_NS + SETUP_NS +
				       hypot(SPREAD_LAUNCH, REPLAY_ERROR_MOST) * PLACE_AFTER_NS);
	/* what does not change takes what it took */
	predicted_expect_ratio(found.prediction.program.high, WALL_BEFORE_NS,
			       WALL_BEFORE_NS - PLACE_BEFORE_NS + PLACE_LEAST_NS);
	predicted_end(&it);
}

static void test_range(void **state)
{
	struct builder *b = predicted_loop();
	struct predicted_run it;
	struct what_if found;

	(void)state;
	/* the whole loop, its first iteration too; and ranges of another name, and without calls */
	builder_range(b, 0, "run", 0, RUNS * 41000);
	builder_range(b, 0, "else", 41000, 82000);
	builder_range(b, 0, "run", 1000000, 1000010);
	b->threads[0].range_count = 3;
	predicted_begin(&it, b, 0, "run");
	assert_int_equal(it.all.place_count, 1);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_int_equal(found.prediction.place_before_ns, BEFORE_NS + PLACE_BEFORE_NS);
	assert_int_equal(found.prediction.place_after_ns, BEFORE_NS + PLACE_AFTER_NS);
	predicted_expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS,
			       WALL_AFTER_NS + SETUP_NS);
	predicted_end(&it);
}

/* Twice in one loop, with another one in it and something else in between. */
static struct builder *loop_with_ranges(void)
{
	struct builder *b = predicted_loop();

	builder_range(b, 0, "run", 2 * 41000, 5 * 41000);
	builder_range(b, 0, "run", 3 * 41000, 4 * 41000);
	builder_range(b, 0, "else", 5 * 41000, 7 * 41000);
	builder_range(b, 0, "run", 7 * 41000, 9 * 41000);
	builder_range(b, 0, "once", 9 * 41000, 10 * 41000);
	b->threads[0].range_count = 5;
	return b;
}

static void test_kept_within(void **state)
{
	struct predicted_run it;
	struct what_if all, run, other;
	struct prediction together;
	struct what_if parts[2];
	const enum technique_id both[] = {TECHNIQUE_cuda_graph, TECHNIQUE_remove_syncs};

	(void)state;
	predicted_begin(&it, loop_with_ranges(), 0, NULL);
	assert_int_equal(what_if_alone(&all, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_cuda_graph, "run"), 0);
	assert_int_equal(what_if_alone(&run, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_null(run.effect.refusal);
	assert_int_equal(run.effect.loop_count, 1);
	assert_int_equal(run.effect.iteration_count, 3 + 2);
	assert_int_equal(run.prediction.place_before_ns,
			 3 * BEFORE_NS - 1000 + 2 * BEFORE_NS - 1000);
	assert_true(run.prediction.program.speedup > 1);
	assert_true(run.prediction.program.speedup < all.prediction.program.speedup);
	/* what is saved is saved there, and one graph is made for both */
	assert_int_equal(run.prediction.program_before_ns - run.prediction.program_after_ns,
			 run.prediction.place_before_ns - run.prediction.place_after_ns - SETUP_NS);
	/* others have what is left of the loop, in their own ranges */
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_remove_syncs, "else"), 0);
	assert_int_equal(what_if_alone(&other, TECHNIQUE_remove_syncs, &it.all, 0), 0);
	assert_int_equal(other.effect.iteration_count, 2);
	assert_int_equal(what_if_together(&together, parts, both, 2, &it.all, 0), 0);
	assert_int_equal(parts[0].effect.iteration_count, 3 + 2);
	assert_int_equal(parts[1].effect.iteration_count, 2);
	assert_int_equal(together.place_before_ns,
			 run.prediction.place_before_ns + other.prediction.place_before_ns);
	predicted_end(&it);
}

/* Without a range of its own, the second technique has all that the first left: 1, 5 and 6, and 9 to 11. */
static void test_left_over(void **state)
{
	const enum technique_id both[] = {TECHNIQUE_cuda_graph, TECHNIQUE_dependent_launch};
	struct predicted_run it;
	struct prediction together;
	struct what_if parts[2];

	(void)state;
	predicted_begin(&it, loop_with_ranges(), 0, NULL);
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_cuda_graph, "run"), 0);
	assert_int_equal(what_if_together(&together, parts, both, 2, &it.all, 0), 0);
	assert_int_equal(parts[0].effect.iteration_count, 3 + 2);
	assert_null(parts[1].effect.refusal);
	assert_int_equal(parts[1].effect.iteration_count, 2 + 3);
	predicted_end(&it);
}

static void test_no_loop_within(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, loop_with_ranges(), 0, NULL);
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_cuda_graph, "once"), 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, refused_elsewhere);
	assert_int_equal(found.effect.iteration_count, 0);
	/* the last range counts; where it holds a loop, the technique's own reason is told */
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_device_decision, "once"), 0);
	assert_int_equal(what_ifs_keep_within(&it.all, TECHNIQUE_device_decision, "run"), 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_device_decision, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal,
			    "the host reads nothing small before it launches what follows");
	predicted_end(&it);
}

/* The time of an occurrence in another one counts once. */
static void test_nested_range(void **state)
{
	struct predicted_run it;

	(void)state;
	predicted_begin(&it, loop_with_ranges(), 0, "run");
	assert_int_equal(it.all.place_count, 2);
	assert_int_equal(it.all.places[0].end - it.all.places[0].first, 3 * 4);
	assert_int_equal(it.all.places[1].end - it.all.places[1].first, 2 * 4);
	predicted_end(&it);
}

static void test_spread(void **state)
{
	struct predicted_run it;
	struct what_if found;
	/* gaps of 1050 and 1800: graph_to_start is in the place once */
	int64_t high_ns = 10 * (30000 + 2 * 1050 + 1800) + 9000 + 32100 + WAIT_NS;

	(void)state;
	predicted_begin(&it, predicted_loop(), 0.5, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	predicted_expect_ratio(found.prediction.place.speedup, PLACE_BEFORE_NS, PLACE_AFTER_NS);
	predicted_expect_ratio(found.prediction.place.high, PLACE_BEFORE_NS, PLACE_LEAST_NS);
	predicted_expect_ratio(found.prediction.place.low, PLACE_BEFORE_NS,
			       (1 + hypot(SPREAD_LAUNCH, REPLAY_ERROR_MOST)) * (double)high_ns);
	predicted_end(&it);
}

/* Without waits: launches of 3250 each and 1000 of the host, kernels and a gap for each. */
static void test_fewer_waits(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_remove_syncs, &it.all, 0), 0);
	assert_int_equal(found.effect.changed_count, RUNS - 2);
	assert_int_equal(found.prediction.place_after_ns,
			 10 * (KERNELS_NS + 800) + 4250 + KERNELS_NS + WAIT_NS);
	predicted_expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS,
			       BEFORE_NS + 10 * (KERNELS_NS + 800) + KERNELS_NS); /* no setup */
	predicted_end(&it);
}

static void test_repeated(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct predicted_run it;
	double wall_ns = RUNS * BEFORE_NS + 9 * (6250 + WAIT_NS) + WALL_BEFORE_NS;
	struct what_if twice;

	(void)state;
	predicted_add_loop(b, add_other(b, predicted_add_loop(b, 0, 0)), 0);
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(it.all.loops.count, 2);
	assert_int_equal(what_if_alone(&twice, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_int_equal(twice.effect.loop_count, 1);
	assert_int_equal(twice.effect.iteration_count, RUNS - 1 + RUNS); /* then it is warm */
	assert_int_equal(twice.prediction.place_before_ns, 2 * PLACE_BEFORE_NS + BEFORE_NS);
	/* what is between takes 6250 and a wait each; both loops get shorter, and one graph is made */
	predicted_expect_ratio(twice.prediction.program.speedup, wall_ns,
			       wall_ns - 2 * (PLACE_BEFORE_NS - PLACE_AFTER_NS) -
				       (BEFORE_NS - AFTER_NS) + SETUP_NS);
	predicted_end(&it);
}

static void test_repeated_after_refused(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_add_loop(b, add_other(b, predicted_add_loop(b, 0, REFUSING_ALWAYS)), 0);
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(it.all.loops.count, 2);
	assert_int_equal(it.all.alike[1], 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_int_equal(found.effect.loop_count, 1);
	assert_int_equal(found.effect.iteration_count, RUNS);
	predicted_end(&it);
}

/* Two of eleven iterations cannot be captured, and so none is: another technique finds all as it was. */
static void test_taken_back(void **state)
{
	const enum technique_id both[] = {TECHNIQUE_cuda_graph, TECHNIQUE_dependent_launch};
	struct builder *b = builder_new(1, 1);
	struct prediction together;
	struct predicted_run it;
	struct what_if parts[2], alone;

	(void)state;
	predicted_add_loop(b, 0, 1 << 4 | 1 << 8);
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_together(&together, parts, both, 2, &it.all, 0), 0);
	assert_string_equal(parts[0].effect.refusal, refused_has_graphs);
	assert_null(parts[1].effect.refusal);
	assert_int_equal(parts[1].effect.iteration_count, RUNS - 1);
	assert_int_equal(what_if_alone(&alone, TECHNIQUE_dependent_launch, &it.all, 0), 0);
	assert_int_equal(together.program_after_ns, alone.prediction.program_after_ns);
	predicted_end(&it);
}

static void test_refusals(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_add_loop(b, 0, REFUSING_ALWAYS);
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, refused_has_graphs);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 1),
			 0); /* no loop there */
	assert_string_equal(found.effect.refusal, refused_irregular);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_remove_syncs, &it.all, 1), 0);
	assert_string_equal(found.effect.refusal, refused_nothing);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_device_decision, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal,
			    "the host reads nothing small before it launches what follows");
	assert_int_equal(what_if_alone(&found, TECHNIQUE_overlap, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, "no loop has copies beside kernels to overlap");
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pinned_memory, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, refused_nothing);
	predicted_end(&it);
}

/* Eight threads that launch side by side all the time. */
static void test_many_places(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct predicted_run it;
	struct what_if found;

	(void)state;
	for (uint32_t thread = 0; thread < 8; thread++) {
		if (thread)
			builder_thread(b, 0);
		for (int i = 0; i < 10; i++) {
			const struct profile_copy copy = {.bytes = 50000,
							  .kind = 1,
							  .src_memory = 1,
							  .dst_memory = 3};
			int64_t now_ns = i * 100000 + thread * 1000;
			uint32_t call = builder_call(b, thread, "cudaMemcpy", CALL_COPY, now_ns,
						     now_ns + 90000);

			builder_copy(b, 0, copy, now_ns + 5000, now_ns + 80000, call);
		}
	}
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pinned_memory, &it.all, 0), 0);
	assert_int_equal(found.effect.changed_count, 80);
	predicted_expect_interval(&found.prediction.program, 0);
	assert_true(found.prediction.program.high > found.prediction.program.speedup);
	predicted_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("the steady state is predicted by its usual iterations, without pauses",
			 test_steady),
		SENTENCE("a loop as graphs takes the time worked out by hand", test_graph),
		SENTENCE("what recording added to graphs' launches is taken from them",
			 test_recorded_graphs),
		SENTENCE("setting up counts for the program and not for the place", test_setup),
		SENTENCE("the place is the range that is asked for", test_range),
		SENTENCE(
			"a technique that is kept to a range changes the iterations there, and others may have the rest",
			test_kept_within),
		SENTENCE("what a range left of a loop the next technique may change",
			 test_left_over),
		SENTENCE("a range without a loop is told as such, one with a loop keeps the reason",
			 test_no_loop_within),
		SENTENCE("an occurrence of a range in another one counts once", test_nested_range),
		SENTENCE(
			"the interval has the costs at their ends and a margin, as far as kernels allow",
			test_spread),
		SENTENCE("a loop without its waits takes the time worked out by hand",
			 test_fewer_waits),
		SENTENCE("a loop that runs again is set up once", test_repeated),
		SENTENCE("and also where it was refused the first time",
			 test_repeated_after_refused),
		SENTENCE("what a technique has changed of a loop that it refuses is taken back",
			 test_taken_back),
		SENTENCE("a technique that cannot be says why", test_refusals),
		SENTENCE("the places of many threads leave the interval in order",
			 test_many_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
