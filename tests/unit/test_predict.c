#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "whatif/what_if.h"
#include "fixture_random.h"

#define LOOPS 12
#define SETUP_NS 10000 /* of a graph of any size */

/* As random_costs where the spread is 0; kernel gaps are what a recording without samples has, 1000 of which recording
 * added 200.  Recorded launches take 4000: of that recording added 750. */
static struct ceilings *ceilings_of(double spread)
{
	static const struct {
		enum ceiling_id id;
		double value;
	} rows[] = {{CEILING_launch_call, 3250},    {CEILING_launch_to_start, 5000},
		    {CEILING_synchronize, 5000},    {CEILING_graph_launch, 4000},
		    {CEILING_graph_to_start, 6000}, {CEILING_kernel_gap, 800},
		    {CEILING_graph_node_gap, 700},  {CEILING_graph_gap, 1200},
		    {CEILING_grid_barrier, 1300},   {CEILING_conditional_iteration, 1600},
		    {CEILING_graph_node, 700},	    {CEILING_event_wait, 1500},
		    {CEILING_h2d_pinned, 50e9},	    {CEILING_d2h_pinned, 50e9}};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = rows[i].id,
								.value = rows[i].value,
								.low = rows[i].value * (1 - spread),
								.high = rows[i].value *
									(1 + spread)}),
				 0);
	for (uint64_t nodes = 1; nodes <= 1024; nodes *= 1024)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = CEILING_graph_instantiate,
								.parameter = nodes,
								.value = SETUP_NS}),
				 0);
	assert_null(ceilings_sort(ceilings));
	return ceilings;
}

/* ---- a loop worked out by hand: test_replay_loops.c and test_replay_graphs.c have its steps ---- */

/* Three launches, their kernels of 10 us with gaps of 1 us, a wait that returns 3 us after the last;
 * 1 us later the next iteration.  allocates: as well, before the last launch.  Returns its end. */
static int64_t add_loop(struct builder *b, int64_t now_ns, bool allocates)
{
	for (int i = 0; i < LOOPS; i++) {
		int64_t gpu_ns = now_ns + 5000;

		for (int j = 0; j < 3; j++, now_ns += 4000, gpu_ns += 11000) {
			static const char *const names[] = {"a", "b", "c"};
			uint32_t call;

			if (allocates && j == 2)
				builder_call(b, 0, "cudaMalloc", CALL_MEMORY, now_ns, now_ns);
			call = builder_launch(b, 0, now_ns, now_ns + 4000);
			builder_kernel(b, 0, names[j], gpu_ns, gpu_ns + 10000, call);
		}
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, gpu_ns + 2000);
		now_ns = gpu_ns + 3000;
	}
	return now_ns;
}

static struct builder *loop(void)
{
	struct builder *b = builder_new(1, 1);

	add_loop(b, 0, false);
	return b;
}

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

#define KERNELS_NS (30000 + 2 * 800)  /* from the first one's start on */
#define BEFORE_NS (KERNELS_NS + 8250) /* an iteration, without what recording added */
#define AFTER_NS 32600		      /* one as a graph behind another */
#define PLACE_BEFORE_NS (11 * BEFORE_NS - 1000)
#define PLACE_AFTER_NS (10 * AFTER_NS + 37400 + 3000)
#define WALL_BEFORE_NS (11 * BEFORE_NS + KERNELS_NS)
#define WALL_AFTER_NS (BEFORE_NS + 10 * AFTER_NS + 37400 - 4250)

struct question {
	struct builder *b;
	struct ceilings *ceilings;
	struct what_ifs all;
};

static struct question ask(struct builder *b, double spread, const char *range)
{
	struct question question = {.b = b, .ceilings = ceilings_of(spread)};

	builder_finish(b);
	assert_int_equal(what_ifs_open(&question.all, &b->profile, question.ceilings, range), 0);
	assert_true(question.all.predictor.is_usable);
	return question;
}

static void done(struct question *question)
{
	what_ifs_free(&question->all);
	ceilings_free(question->ceilings);
	free(question->b);
}

static void expect_ratio(double found, double before, double after)
{
	assert_float_equal(found, before / after, 1e-9);
}

static void test_graph(void **state)
{
	struct question question = ask(loop(), 0, NULL);
	struct what_if found;

	(void)state;
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NONE);
	assert_int_equal(found.loop_count, 1);
	assert_int_equal(found.iteration_count, LOOPS - 1); /* the first stays as it was */
	assert_int_equal(found.most_nodes, 3);
	assert_int_equal(found.prediction.place_before_ns, PLACE_BEFORE_NS);
	assert_int_equal(found.prediction.place_after_ns, PLACE_AFTER_NS);
	expect_ratio(found.prediction.place.speedup, PLACE_BEFORE_NS, PLACE_AFTER_NS);
	expect_ratio(found.prediction.place.low, PLACE_BEFORE_NS, 1.25 * PLACE_AFTER_NS);
	expect_ratio(found.prediction.place.high, PLACE_BEFORE_NS, 0.75 * PLACE_AFTER_NS);
	done(&question);
}

/* What recording added to graphs' launches is what these took longer than the ceilings' 4000 and 6000. */
static void test_recorded_graphs(void **state)
{
	struct builder *b = loop();
	struct question question;
	const struct costs *costs;

	(void)state;
	for (int64_t i = 10; i < 15; i++)
		builder_kernel(b, 0, "k", i * 100000 + 10000, i * 100000 + 11000,
			       builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 100000,
					    i * 100000 + 9000));
	question = ask(b, 0, NULL);
	costs = &question.all.predictor.costs[COSTS_MIDDLE];
	assert_int_equal(costs->trace_launch_ns, 750);
	assert_int_equal(costs->trace_graph_launch_ns, 5000);
	assert_int_equal(costs->trace_graph_start_ns, 4000);
	done(&question);
}

static void test_setup(void **state)
{
	struct question question = ask(loop(), 0, NULL);
	struct what_if found;

	(void)state;
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS, WALL_AFTER_NS + SETUP_NS);
	expect_ratio(found.prediction.program.low, WALL_BEFORE_NS,
		     WALL_AFTER_NS + SETUP_NS + 0.25 * PLACE_AFTER_NS);
	expect_ratio(found.prediction.program.high, WALL_BEFORE_NS,
		     WALL_AFTER_NS + SETUP_NS - 0.25 * PLACE_AFTER_NS);
	done(&question);
}

static void test_range(void **state)
{
	struct builder *b = loop();
	struct question question;
	struct what_if found;

	(void)state;
	/* the whole loop, its first iteration too; and ranges of another name, and without calls */
	builder_range(b, 0, "run", 0, LOOPS * 41000);
	builder_range(b, 0, "else", 41000, 82000);
	builder_range(b, 0, "run", 1000000, 1000010);
	b->threads[0].range_count = 3;
	question = ask(b, 0, "run");
	assert_int_equal(question.all.place_count, 1);
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(found.prediction.place_before_ns, BEFORE_NS + PLACE_BEFORE_NS);
	assert_int_equal(found.prediction.place_after_ns, BEFORE_NS + PLACE_AFTER_NS);
	expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS, WALL_AFTER_NS + SETUP_NS);
	done(&question);
}

/* Twice in one loop, with another one in it and something else in between. */
static struct builder *loop_with_ranges(void)
{
	struct builder *b = loop();

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
	struct question question = ask(loop_with_ranges(), 0, NULL);
	struct what_if all, run, other;
	struct prediction together;
	struct what_if parts[2];
	const enum strategy both[] = {STRATEGY_GRAPH, STRATEGY_FEWER_WAITS};

	(void)state;
	assert_int_equal(what_if_alone(&all, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_GRAPH, "run"), 0);
	assert_int_equal(what_if_alone(&run, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(run.refusal, REFUSED_NONE);
	assert_int_equal(run.loop_count, 1);
	assert_int_equal(run.iteration_count, 3 + 2);
	assert_int_equal(run.prediction.place_before_ns,
			 3 * BEFORE_NS - 1000 + 2 * BEFORE_NS - 1000);
	assert_true(run.prediction.program.speedup > 1);
	assert_true(run.prediction.program.speedup < all.prediction.program.speedup);
	/* what is saved is saved there, and one graph is made for both */
	assert_int_equal(run.prediction.program_before_ns - run.prediction.program_after_ns,
			 run.prediction.place_before_ns - run.prediction.place_after_ns - SETUP_NS);
	/* others have what is left of the loop, in their own ranges */
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_FEWER_WAITS, "else"), 0);
	assert_int_equal(what_if_alone(&other, STRATEGY_FEWER_WAITS, &question.all, 0), 0);
	assert_int_equal(other.iteration_count, 2);
	assert_int_equal(what_if_together(&together, parts, both, 2, &question.all, 0), 0);
	assert_int_equal(parts[0].iteration_count, 3 + 2);
	assert_int_equal(parts[1].iteration_count, 2);
	assert_int_equal(together.place_before_ns,
			 run.prediction.place_before_ns + other.prediction.place_before_ns);
	done(&question);
}

/* Without a range of its own, the second strategy has all that the first left: 1, 5 and 6, and 9 to 11. */
static void test_left_over(void **state)
{
	const enum strategy both[] = {STRATEGY_GRAPH, STRATEGY_DEPENDENT};
	struct question question = ask(loop_with_ranges(), 0, NULL);
	struct prediction together;
	struct what_if parts[2];

	(void)state;
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_GRAPH, "run"), 0);
	assert_int_equal(what_if_together(&together, parts, both, 2, &question.all, 0), 0);
	assert_int_equal(parts[0].iteration_count, 3 + 2);
	assert_int_equal(parts[1].refusal, REFUSED_NONE);
	assert_int_equal(parts[1].iteration_count, 2 + 3);
	done(&question);
}

static void test_no_loop_within(void **state)
{
	struct question question = ask(loop_with_ranges(), 0, NULL);
	struct what_if found;

	(void)state;
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_GRAPH, "once"), 0);
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_ELSEWHERE);
	assert_int_equal(found.iteration_count, 0);
	/* the last range counts; where it holds a loop, the strategy's own reason is told */
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_DECIDE, "once"), 0);
	assert_int_equal(what_ifs_keep_within(&question.all, STRATEGY_DECIDE, "run"), 0);
	assert_int_equal(what_if_alone(&found, STRATEGY_DECIDE, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NO_DECISION);
	done(&question);
}

/* The time of an occurrence in another one counts once. */
static void test_nested_range(void **state)
{
	struct question question = ask(loop_with_ranges(), 0, "run");

	(void)state;
	assert_int_equal(question.all.place_count, 2);
	assert_int_equal(question.all.places[0].end - question.all.places[0].first, 3 * 4);
	assert_int_equal(question.all.places[1].end - question.all.places[1].first, 2 * 4);
	done(&question);
}

static void test_spread(void **state)
{
	struct question question = ask(loop(), 0.5, NULL);
	struct what_if found;
	/* gaps of 350 and 600, and of 1050 and 1800: graph_to_start is in the place once */
	int64_t low_ns = 10 * (30000 + 2 * 350 + 600) + 3000 + 30700 + 3000;
	int64_t high_ns = 10 * (30000 + 2 * 1050 + 1800) + 9000 + 32100 + 3000;

	(void)state;
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	expect_ratio(found.prediction.place.speedup, PLACE_BEFORE_NS, PLACE_AFTER_NS);
	expect_ratio(found.prediction.place.high, PLACE_BEFORE_NS, 0.75 * (double)low_ns);
	expect_ratio(found.prediction.place.low, PLACE_BEFORE_NS, 1.25 * (double)high_ns);
	done(&question);
}

/* Without waits: launches of 3250 each and 1000 of the host, kernels and a gap for each. */
static void test_fewer_waits(void **state)
{
	struct question question = ask(loop(), 0, NULL);
	struct what_if found;

	(void)state;
	assert_int_equal(what_if_alone(&found, STRATEGY_FEWER_WAITS, &question.all, 0), 0);
	assert_int_equal(found.changed_count, LOOPS - 2);
	assert_int_equal(found.prediction.place_after_ns,
			 10 * (KERNELS_NS + 800) + 4250 + KERNELS_NS + 3000);
	expect_ratio(found.prediction.program.speedup, WALL_BEFORE_NS,
		     BEFORE_NS + 10 * (KERNELS_NS + 800) + KERNELS_NS); /* no setup */
	done(&question);
}

/* ---- loops that run again ---- */

static void test_repeated(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct question question;
	double wall_ns = LOOPS * BEFORE_NS + 9 * 9250 + WALL_BEFORE_NS;
	struct what_if twice;

	(void)state;
	add_loop(b, add_other(b, add_loop(b, 0, false)), false);
	question = ask(b, 0, NULL);
	assert_int_equal(question.all.loops.count, 2);
	assert_int_equal(what_if_alone(&twice, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(twice.loop_count, 1);
	assert_int_equal(twice.iteration_count, 2 * (LOOPS - 1));
	assert_int_equal(twice.prediction.place_before_ns, 2 * PLACE_BEFORE_NS);
	/* what is between takes 9250 each; both loops get shorter, and one graph is made */
	expect_ratio(twice.prediction.program.speedup, wall_ns,
		     wall_ns - 2 * (PLACE_BEFORE_NS - PLACE_AFTER_NS) + SETUP_NS);
	done(&question);
}

static void test_repeated_after_refused(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct question question;
	struct what_if found;

	(void)state;
	add_loop(b, add_other(b, add_loop(b, 0, true)), false);
	question = ask(b, 0, NULL);
	assert_int_equal(question.all.loops.count, 2);
	assert_int_equal(question.all.alike[1], 0);
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(found.loop_count, 1);
	assert_int_equal(found.iteration_count, LOOPS - 1);
	done(&question);
}

static void test_refusals(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct question question;
	struct what_if found;

	(void)state;
	add_loop(b, 0, true);
	question = ask(b, 0, NULL);
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_ALLOCATES);
	assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &question.all, 1),
			 0); /* no loop there */
	assert_int_equal(found.refusal, REFUSED_IRREGULAR);
	assert_int_equal(what_if_alone(&found, STRATEGY_FEWER_WAITS, &question.all, 1), 0);
	assert_int_equal(found.refusal, REFUSED_NOTHING);
	assert_int_equal(what_if_alone(&found, STRATEGY_DECIDE, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NO_DECISION);
	assert_int_equal(what_if_alone(&found, STRATEGY_OVERLAP, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NO_COPIES);
	assert_int_equal(what_if_alone(&found, STRATEGY_PINNED, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NOTHING);
	done(&question);
}

/* ---- whether anything can be predicted ---- */

static const char *why_not(struct builder *b, const struct ceilings *ceilings)
{
	struct predictor predictor;
	struct model *model = NULL;
	struct err err = {""};
	static char reason[sizeof(predictor.why_not)];

	assert_int_equal(model_build(&model, &b->profile, &err), 0);
	assert_int_equal(predictor_open(&predictor, model, ceilings), 0);
	assert_true(predictor.is_usable == !*predictor.why_not);
	memcpy(reason, predictor.why_not, sizeof(reason));
	predictor_free(&predictor);
	model_free(model);
	return reason;
}

static void test_usable(void **state)
{
	struct builder *b = loop();
	struct ceilings *measured = ceilings_of(0), *few = ceilings_of(0);

	(void)state;
	builder_finish(b);
	assert_string_equal(why_not(b, measured), "");
	assert_non_null(strstr(why_not(b, NULL), "ceilings"));
	measured->is_datasheet = true;
	assert_non_null(strstr(why_not(b, measured), "ceilings"));
	measured->is_datasheet = false;
	for (size_t i = 0; i < few->count; i++) /* one that is needed is not there */
		if (few->rows[i].id == CEILING_graph_gap)
			few->rows[i].parameter = 7;
	assert_null(ceilings_sort(few));
	assert_non_null(strstr(why_not(b, few), "ceilings"));
	b->ops[LOOPS].counted = COUNTED;
	assert_string_equal(why_not(b, measured), "");
	ceilings_free(measured);
	ceilings_free(few);
	free(b);
}

/* Calls of one thread that overlap are no model of a host: their replay takes longer. */
static void test_replay_error(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct ceilings *measured = ceilings_of(0);

	(void)state;
	for (int i = 0; i < 10; i++)
		builder_kernel(b, 0, "k", i * 10000 + 1000, i * 10000 + 9000,
			       builder_launch(b, 0, i * 10000, i * 10000 + 10000 + (i % 2) * 9000));
	builder_finish(b);
	assert_non_null(strstr(why_not(b, measured), "% off"));
	ceilings_free(measured);
	free(b);
}

/* Launches of which every third one takes longer, and nothing in the recording says why. */
static void test_unexplained(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct ceilings *measured = ceilings_of(0);

	(void)state;
	for (int64_t i = 0, start_ns = 0; i < 30; i++) {
		int64_t now_ns = i ? start_ns + 15000 : 0;
		start_ns = now_ns + (i % 3 ? 5000 : 14000);
		builder_kernel(b, 0, "k", start_ns, start_ns + 10000,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000,
			     start_ns + 13000);
	}
	builder_finish(b);
	assert_non_null(strstr(why_not(b, measured), "% off the"));
	ceilings_free(measured);
	free(b);
}

/* Launches with a wait each, every 20 us.  The fourth was counted, which took most of the recorded time; one of
 * them starts later, and nothing says why. */
static struct builder *counted_loop(int64_t late_ns)
{
	static const int64_t counting_ns = 5000000;
	struct builder *b = builder_new(1, 1);

	for (int64_t i = 0, now_ns = 0; i < 30; i++) {
		int64_t longer_ns = i == 3 ? counting_ns : 0;
		int64_t start_ns = now_ns + 5000 + longer_ns + (i == 20 ? late_ns : 0);
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 4000 + longer_ns);

		if (longer_ns)
			builder_overhead(b, 0, 0, true, now_ns + 1000, now_ns + 1000 + longer_ns);
		builder_kernel(b, 0, "k", start_ns, start_ns + 10000, call)->counted =
			longer_ns ? COUNTED : NOT_COUNTED;
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000 + longer_ns,
			     start_ns + 13000);
		now_ns = start_ns + 15000;
	}
	builder_finish(b);
	return b;
}

/* 60 us are 1% of the recorded time and 10% of the time without counting. */
static void test_counted_error(void **state)
{
	struct ceilings *measured = ceilings_of(0);
	struct builder *b = counted_loop(60000);

	(void)state;
	assert_non_null(strstr(why_not(b, measured), "% off"));
	free(b);
	b = counted_loop(6000);
	assert_string_equal(why_not(b, measured), "");
	free(b);
	ceilings_free(measured);
}

/* Four of 34 kernels are 11.8%, five of 35 are 14.3%. */
static void test_unrecorded(void **state)
{
	struct ceilings *measured = ceilings_of(0);
	struct builder *b = counted_loop(0);

	(void)state;
	b->signatures[0].unrecorded_count = 4;
	assert_string_equal(why_not(b, measured), "");
	b->signatures[0].unrecorded_count = 5;
	assert_non_null(strstr(why_not(b, measured), "14% of the kernels were counted by"));
	b->signatures[0].unrecorded_count = 0;
	b->processes[0].is_replay = true;
	assert_non_null(strstr(why_not(b, measured), "kernels were repeated"));
	free(b);
	ceilings_free(measured);
}

/* ---- what recording added ---- */

static void test_untraced_share(void **state)
{
	struct builder *b = loop();
	struct ceilings *measured = ceilings_of(0);
	double share;

	(void)state;
	builder_range(b, 0, "run", 0, LOOPS * 41000);
	builder_range(b, 0, "launches", 0, 12000);
	b->threads[0].range_count = 2;
	builder_finish(b);
	assert_int_equal(what_if_not_recorded(&share, &b->profile, measured, NULL), 0);
	expect_ratio(share, WALL_BEFORE_NS, 11 * 41000 + 37000 - 5000);
	assert_int_equal(what_if_not_recorded(&share, &b->profile, measured, "run"), 0);
	expect_ratio(share, 12 * BEFORE_NS - 1000, 11 * 41000 + 40000);
	/* what the calls of a range submit counts until it has ended */
	assert_int_equal(what_if_not_recorded(&share, &b->profile, measured, "launches"), 0);
	expect_ratio(share, 4250 + KERNELS_NS, 37000);
	assert_int_equal(what_if_not_recorded(&share, &b->profile, NULL, NULL), 0);
	assert_float_equal(share, 1, 0);
	ceilings_free(measured);
	free(b);
}

static void test_empty(void **state)
{
	struct ceilings *measured = ceilings_of(0);
	double share = 0;

	(void)state;
	for (size_t devices = 0; devices < 2; devices++) {
		struct builder *b = builder_new(devices, devices);
		struct what_ifs all;
		struct what_if found;

		builder_finish(b);
		if (!devices)
			b->profile.devices = NULL;
		assert_int_equal(what_if_not_recorded(&share, &b->profile, measured, "run"), 0);
		assert_float_equal(share, 1, 0);
		assert_int_equal(what_ifs_open(&all, &b->profile, measured, NULL), 0);
		assert_int_equal(what_if_alone(&found, STRATEGY_GRAPH, &all, 0), 0);
		assert_int_equal(found.refusal, REFUSED_IRREGULAR);
		what_ifs_free(&all);
		free(b);
	}
	ceilings_free(measured);
}

/* ---- the interval ---- */

static void expect_interval(const struct predicted_ratio *found, uint64_t seed)
{
	if (!(found->low > 0 && found->low <= found->speedup && found->speedup <= found->high))
		fail_msg("seed %d: %g is not within %g .. %g", (int)seed, found->speedup,
			 found->low, found->high);
}

/* Places: all of every thread, which together may take more time than the run. */
static void test_interval(void **state)
{
	struct ceilings *ceilings = ceilings_of(0.3);

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct builder *b = random_profile(seed, 1);
		struct place places[BUILDER_SMALL];
		struct predictor predictor;
		struct prediction found;
		struct model *model = NULL;
		struct change change;
		struct err err = {""};
		struct part part;
		size_t count = 0;

		assert_int_equal(model_build(&model, &b->profile, &err), 0);
		assert_int_equal(predictor_open(&predictor, model, ceilings), 0);
		change = random_change(seed, model, seed % 2);
		for (size_t i = 0; i < b->profile.thread_count; i++)
			if (b->threads[i].call_count)
				places[count++] = (struct place){b->threads[i].first_call,
								 b->threads[i].first_call +
									 b->threads[i].call_count};
		part = (struct part){places, places, count, count};
		for (size_t device = 0; device < b->profile.device_count; device++) {
			assert_int_equal(predictor_run(&found, &predictor, &change, device, &part,
						       (double)(1000 * seed)),
					 0);
			expect_interval(&found.program, seed);
			expect_interval(&found.place, seed);
		}
		change_free(&change);
		predictor_free(&predictor);
		model_free(model);
		free(b);
	}
	ceilings_free(ceilings);
}

/* Eight threads that launch side by side all the time. */
static void test_many_places(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct question question;
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
	question = ask(b, 0, NULL);
	assert_int_equal(what_if_alone(&found, STRATEGY_PINNED, &question.all, 0), 0);
	assert_int_equal(found.changed_count, 80);
	expect_interval(&found.prediction.program, 0);
	assert_true(found.prediction.program.high > found.prediction.program.speedup);
	done(&question);
}

/* ---- atomics ---- */

/* The second of the loop's three kernels needs 9 us of its 10 for atomics that return a result. */
static struct what_if merge(const struct atomics_kernel *kernel, uint64_t batch)
{
	struct question question = ask(loop(), 0, NULL);
	struct atomics_kernel kernels[] = {*kernel};
	struct atomics atomics = {.kernels = kernels, .kernel_count = 1};
	const struct report report = {.profile = &question.b->profile, .atomics = &atomics};
	struct what_if found;

	question.all.report = &report;
	question.all.numbers[STRATEGY_BATCH] = batch;
	assert_int_equal(what_if_alone(&found, STRATEGY_BATCH, &question.all, 0), 0);
	done(&question);
	return found;
}

static const struct atomics_kernel hot = {.kernel = 1,
					  .duration_ns = 10000,
					  .explained_ns = 9000,
					  .other_ns = 1000,
					  .least_other_ns = 500,
					  .most_other_ns = 1500,
					  .returned_share = 1,
					  .batch = 8,
					  .most_batch = 16,
					  .is_bottleneck = true};

#define MERGED_4_NS (9000 / 4 + 1000 + 1)
#define MERGED_2_NS (9000 / 2 + 1500 + 1)

static int64_t saved_ns(const struct what_if *found)
{
	return found->prediction.place_before_ns - found->prediction.place_after_ns;
}

static void test_merged(void **state)
{
	struct what_if found = merge(&hot, 4), advised = merge(&hot, 0);
	const struct prediction *prediction = &found.prediction;
	const struct prediction *best = &advised.prediction;
	double least_ns = (double)(prediction->place_before_ns - LOOPS * (10000 - MERGED_2_NS));
	double most_ns = (double)(best->place_before_ns - LOOPS * (10000 - (9000 / 16 + 500)));

	(void)state;
	assert_int_equal(found.refusal, REFUSED_NONE);
	assert_int_equal(found.changed_count, LOOPS);
	assert_int_equal(saved_ns(&found), LOOPS * (10000 - MERGED_4_NS));
	/* at the low end two in one */
	expect_ratio(prediction->place.low, (double)prediction->place_before_ns, 1.25 * least_ns);
	assert_int_equal(saved_ns(&advised), LOOPS * (10000 - (9000 / 8 + 1000 + 1)));
	/* at the high end as many as leave the least that may be left */
	assert_true(best->place.high > (double)best->place_before_ns / most_ns);
}

static void test_merged_refusals(void **state)
{
	struct atomics_kernel kernel = hot;

	(void)state;
	kernel.kernel = 7; /* launched never, or on another device */
	assert_int_equal(merge(&kernel, 4).refusal, REFUSED_NOT_HOT);
	kernel = hot;
	kernel.batch = 1;
	assert_int_equal(merge(&kernel, 0).refusal, REFUSED_NOT_HOT);
	assert_int_equal(merge(&kernel, 4).refusal, REFUSED_NONE);
	kernel.is_bottleneck = false;
	assert_int_equal(merge(&kernel, 4).refusal, REFUSED_NOT_HOT);
}

/* Whose counters they are nothing tells. */
static void test_merged_devices(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct atomics_kernel kernels[] = {hot};
	struct atomics atomics = {.kernels = kernels, .kernel_count = 1};
	const struct report report = {.profile = &b->profile, .atomics = &atomics};
	struct question question;
	struct what_if found;

	(void)state;
	add_loop(b, 0, false);
	question = ask(b, 0, NULL);
	question.all.numbers[STRATEGY_BATCH] = 4;
	assert_int_equal(what_if_alone(&found, STRATEGY_BATCH, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NOT_HOT); /* without a report */
	question.all.report = &report;
	assert_int_equal(what_if_alone(&found, STRATEGY_BATCH, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NOT_HOT);
	done(&question);
}

/* ---- fewer bytes ---- */

/* The second of the loop's three kernels moves 36,000 bytes in 10 us, 90% of 4 GB/s. */
static struct what_if narrow(const struct roofline_point *point, uint64_t number, double empty_ns)
{
	struct question question = ask(loop(), 0, NULL);
	struct roofline_point points[] = {*point};
	struct roofline roofline = {.roofs = {[ROOF_dram] = 4e9},
				    .graph_node_ns = empty_ns,
				    .kernels = points,
				    .kernel_count = 1};
	const struct report report = {.profile = &question.b->profile, .roofline = &roofline};
	struct what_if found;

	question.all.report = &report;
	question.all.numbers[STRATEGY_NARROW] = number;
	assert_int_equal(what_if_alone(&found, STRATEGY_NARROW, &question.all, 0), 0);
	done(&question);
	return found;
}

static const struct roofline_point at_dram = {
	.subject = 1,
	.launch_count = LOOPS,
	.time_ns = LOOPS * 10000,
	.is_counted = true,
	.quantities = {[ROOF_dram] = {.per_launch = 36000, .share = 0.9}},
	.binding = ROOF_dram,
	.binding_share = 0.9,
};

#define LESS_NS(part) (LOOPS * (10000 - (int64_t)(10000 * (part))))

static void test_narrowed(void **state)
{
	struct what_if half = narrow(&at_dram, 2, 1000), quarter = narrow(&at_dram, 4, 1000);
	const struct prediction *prediction = &half.prediction;
	double least_ns = (double)(prediction->place_before_ns - LESS_NS(0.75));

	(void)state;
	assert_int_equal(half.refusal, REFUSED_NONE);
	assert_true(half.is_supposed);
	assert_int_equal(half.changed_count, LOOPS);
	assert_true(llabs(saved_ns(&half) - LESS_NS(0.5)) <= LOOPS);
	assert_true(llabs(saved_ns(&quarter) - LESS_NS(0.25)) <= LOOPS);
	/* at the low end half of what would vanish stays */
	assert_float_equal(prediction->place.low,
			   (double)prediction->place_before_ns / (1.25 * least_ns), 1e-3);
}

static void test_narrowed_floor(void **state)
{
	struct roofline_point point = at_dram;
	struct what_if found = narrow(&point, 64, 2000);

	(void)state;
	assert_true(llabs(saved_ns(&found) - LESS_NS(0.2)) <= LOOPS); /* an empty kernel */
	point.quantities[ROOF_fp32].share = 0.6;
	point.quantities[ROOF_l2].share = 0.7; /* has fewer bytes, too */
	found = narrow(&point, 64, 2000);
	assert_true(llabs(saved_ns(&found) - LESS_NS(0.6)) <= LOOPS);
	found = narrow(&point, 64, 20000); /* nothing gets longer, but by rounding */
	assert_true(llabs(saved_ns(&found)) <= LOOPS);
}

static void test_narrowed_refusals(void **state)
{
	struct roofline_point point = at_dram;
	struct question question = ask(loop(), 0, NULL);
	struct what_if found;

	(void)state;
	question.all.numbers[STRATEGY_NARROW] = 2;
	assert_int_equal(what_if_alone(&found, STRATEGY_NARROW, &question.all, 0), 0);
	assert_int_equal(found.refusal, REFUSED_NOT_AT_ROOF); /* without a report */
	done(&question);
	point.binding_share = 0.79;
	assert_int_equal(narrow(&point, 2, 1000).refusal, REFUSED_NOT_AT_ROOF);
	point = at_dram;
	point.binding = ROOF_l2;
	assert_int_equal(narrow(&point, 2, 1000).refusal, REFUSED_NOT_AT_ROOF);
	point = at_dram;
	point.is_wrong = true;
	assert_int_equal(narrow(&point, 2, 1000).refusal, REFUSED_NOT_AT_ROOF);
	point = at_dram;
	point.is_counted = false;
	assert_int_equal(narrow(&point, 2, 1000).refusal, REFUSED_NOT_AT_ROOF);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop as graphs takes the time worked out by hand", test_graph),
		SENTENCE("what recording added to graphs' launches is taken from them",
			 test_recorded_graphs),
		SENTENCE("setting up counts for the program and not for the place", test_setup),
		SENTENCE("the place is the range that is asked for", test_range),
		SENTENCE("a strategy that is kept to a range changes the iterations there, and "
			 "others may have the rest",
			 test_kept_within),
		SENTENCE("what a range left of a loop the next strategy may change",
			 test_left_over),
		SENTENCE("a range without a loop is told as such, one with a loop keeps the reason",
			 test_no_loop_within),
		SENTENCE("an occurrence of a range in another one counts once", test_nested_range),
		SENTENCE("the interval has the costs at their ends and a margin", test_spread),
		SENTENCE("a loop without its waits takes the time worked out by hand",
			 test_fewer_waits),
		SENTENCE("a loop that runs again is set up once", test_repeated),
		SENTENCE("and also where it was refused the first time",
			 test_repeated_after_refused),
		SENTENCE("a strategy that cannot be says why", test_refusals),
		SENTENCE("without measured ceilings nothing is predicted, with counters it is",
			 test_usable),
		SENTENCE("where a replay is not the recording nothing is predicted",
			 test_replay_error),
		SENTENCE("nor where steps take times that nothing explains", test_unexplained),
		SENTENCE("how far a replay is off is a share of the time without counting",
			 test_counted_error),
		SENTENCE("kernels without times of their own are not predicted", test_unrecorded),
		SENTENCE("what recording added is taken off measured time", test_untraced_share),
		SENTENCE("an empty recording is asked in vain", test_empty),
		SENTENCE("a prediction lies in its interval", test_interval),
		SENTENCE("the places of many threads leave the interval in order",
			 test_many_places),
		SENTENCE(
			"merged atomics take the time worked out by hand, half as many at the low end",
			test_merged),
		SENTENCE("what atomics do not bind is not merged", test_merged_refusals),
		SENTENCE("a kernel at DRAM's roof takes as much less time as bytes", test_narrowed),
		SENTENCE("no less than its arithmetic, or an empty kernel", test_narrowed_floor),
		SENTENCE("what is not at DRAM's roof gains nothing by fewer bytes",
			 test_narrowed_refusals),
		SENTENCE("counters of several devices tell nothing of one", test_merged_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
