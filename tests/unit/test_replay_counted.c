/* Replays of recordings in which hardware counters were read, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"

#define COUNTING_NS 200000
#define SET_BACK_NS 75000 /* before the kernel after a counted one */
#define LOOP_NS (START_NS + BUSY_NS + 4000)
#define UNCOUNTED_NS (9 * (LOOP_NS - 750) + BUSY_NS)

/* What is counted of LOOPS iterations of a launch, its kernel and a wait, as replayed_loop(1) has them. */
struct counting {
	bool has_calls[LOOPS];	/* inside the call */
	bool has_pauses[LOOPS]; /* before the call */
	bool is_late[LOOPS];	/* its kernel, for what was counted before */
	bool is_other_thread;	/* the counting; and nobody is held up by it */
	bool is_unmarked;	/* no kernel says that it was counted */
};

static struct replayed counted_loop(const struct counting *counting)
{
	struct builder *b = builder_new(1, 1);
	uint32_t thread = counting->is_other_thread ? builder_thread(b, 0) : 0;
	int64_t now_ns = 0, end_ns, gpu_ns;

	for (int i = 0; i < LOOPS; i++) {
		if (counting->has_pauses[i]) {
			builder_overhead(b, 0, thread, true, now_ns - 500,
					 now_ns - 500 + COUNTING_NS);
			now_ns += COUNTING_NS;
		}
		end_ns = now_ns + CALL_NS;
		gpu_ns = now_ns + START_NS + (counting->is_late[i] ? SET_BACK_NS : 0);
		if (counting->has_calls[i]) {
			builder_overhead(b, 0, thread, true, now_ns + 1000,
					 now_ns + 1000 + COUNTING_NS);
			end_ns += COUNTING_NS;
			gpu_ns += COUNTING_NS;
		}
		builder_kernel(b, 0, "step", gpu_ns, gpu_ns + BUSY_NS,
			       builder_launch(b, 0, now_ns, end_ns))
			->counted =
			counting->has_calls[i] && !counting->is_unmarked ? COUNTED : NOT_COUNTED;
		wait_until(b, end_ns, gpu_ns + BUSY_NS + 3000);
		now_ns = gpu_ns + BUSY_NS + 4000;
	}
	builder_finish(b);
	return replayed_new(b);
}

/* wall_ns: with costs; further_ns: what the recording is longer than a loop that was not counted. */
static void expect_walls(const struct counting *counting, int64_t wall_ns, int64_t further_ns)
{
	struct replayed it = counted_loop(counting);

	replayed_run(&it, NULL, NULL);
	assert_int_equal(replayed_wall_ns(&it), 9 * LOOP_NS + BUSY_NS + further_ns);
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(replayed_wall_ns(&it), wall_ns);
	replayed_free(&it);
}

static void test_calls(void **state)
{
	(void)state;
	expect_walls(&(struct counting){.has_calls = {[5] = true, [7] = true}}, UNCOUNTED_NS,
		     2 * COUNTING_NS);
}

static void test_pauses(void **state)
{
	(void)state;
	expect_walls(&(struct counting){.has_calls = {[5] = true}, .has_pauses = {[7] = true}},
		     UNCOUNTED_NS, 2 * COUNTING_NS);
}

static void test_counted_start(void **state)
{
	struct replayed it = counted_loop(&(struct counting){.has_calls = {[5] = true}});
	const uint32_t call = it.profile->ops[5].call;

	(void)state;
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(it.replay.op_start_ns[5] - it.replay.call_start_ns[call], START_NS - 750);
	assert_int_equal(it.replay.call_end_ns[call] - it.replay.call_start_ns[call],
			 CALL_NS - 750);
	replayed_run(&it, NULL, NULL);
	assert_int_equal(it.replay.op_start_ns[5] - it.replay.call_start_ns[call],
			 START_NS + COUNTING_NS);
	replayed_free(&it);
}

/* Where every call was counted, what is usual is not what the counting took. */
static void test_all_calls(void **state)
{
	struct counting counting = {.is_unmarked = false};

	(void)state;
	for (int i = 0; i < LOOPS; i++)
		counting.has_calls[i] = true;
	/* the wall begins with a kernel */
	expect_walls(&counting, UNCOUNTED_NS, 9 * COUNTING_NS);
}

static void test_set_back(void **state)
{
	(void)state;
	expect_walls(&(struct counting){.has_calls = {[5] = true}, .is_late = {[6] = true}},
		     UNCOUNTED_NS, COUNTING_NS + SET_BACK_NS);
	/* what is late elsewhere was for another reason, and stays */
	expect_walls(&(struct counting){.has_calls = {[5] = true}, .is_late = {[8] = true}},
		     UNCOUNTED_NS + SET_BACK_NS, COUNTING_NS + SET_BACK_NS);
}

/* What setting counters back took is known from nothing else than how late that kernel was. */
static void test_set_back_explained(void **state)
{
	struct replayed it = counted_loop(
		&(struct counting){.has_calls = {[5] = true}, .is_late = {[6] = true, [8] = true}});

	(void)state;
	assert_int_equal(replay_run_typical(&it.replay, it.model), 0);
	assert_int_equal(replay_op_start_ns(&it.replay, 6), it.profile->ops[6].start_ns);
	assert_int_equal(replay_op_start_ns(&it.replay, 8),
			 it.profile->ops[8].start_ns - SET_BACK_NS);
	replayed_free(&it);
}

/* Nothing is taken out of a thread that was not held up, nor where nothing was counted: what CUPTI does then, a
 * program may wait for. */
static void test_not_counted(void **state)
{
	struct counting counting = {.has_calls = {[5] = true}, .is_other_thread = true};

	(void)state;
	expect_walls(&counting, UNCOUNTED_NS + COUNTING_NS, COUNTING_NS);
	counting = (struct counting){.has_calls = {[5] = true}, .is_unmarked = true};
	expect_walls(&counting, UNCOUNTED_NS + COUNTING_NS, COUNTING_NS);
}

/* Iterations of two launches and a wait, 20 us apart; of one of them counters are read between the launches. */
static int64_t pairs_as_graphs_ns(bool has_counting)
{
	static const uint8_t pair[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0, wall_ns;
	struct replayed it;
	struct change change;

	for (int i = 0; i < LOOPS; i++) {
		int64_t end_ns = now_ns + START_NS + BUSY_NS;
		int64_t second_ns = now_ns + CALL_NS + 500;

		builder_kernel(b, 0, "first", now_ns + START_NS, end_ns,
			       builder_launch(b, 0, now_ns, now_ns + CALL_NS))
			->counted = i == 5 ? COUNTED : NOT_COUNTED;
		if (has_counting && i == 5) {
			builder_overhead(b, 0, 0, true, second_ns - 250,
					 second_ns - 250 + COUNTING_NS);
			second_ns += COUNTING_NS;
		}
		if (end_ns < second_ns + START_NS)
			end_ns = second_ns + START_NS;
		builder_kernel(b, 0, "second", end_ns + 1000, end_ns + 1000 + BUSY_NS,
			       builder_launch(b, 0, second_ns, second_ns + CALL_NS));
		now_ns = end_ns + 1000 + BUSY_NS + 3000;
		wait_until(b, second_ns + CALL_NS + 500, now_ns);
		now_ns += 20000;
	}
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, pair, 3);
	replayed_run(&it, &change, &random_costs);
	wall_ns = replayed_wall_ns(&it);
	change_free(&change);
	replayed_free(&it);
	return wall_ns;
}

/* Of the pause before a graph as much is gone as between its launches, which is not what the counting took. */
static void test_graphs(void **state)
{
	(void)state;
	assert_int_equal(pairs_as_graphs_ns(true), pairs_as_graphs_ns(false));
}

/* Without counters only what a call waits for before it unloads code is nobody's. */
static void test_unloading(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model = NULL;
	struct err err = {""};

	(void)state;
	builder_call(b, 0, "cuModuleUnload", CALL_MODULE, 1000, 9000);
	builder_kernel(b, 0, "k", 11000, 12000, builder_launch(b, 0, 10000, 10500));
	builder_overhead(b, 0, 0, true, 2000, 5000);
	b->overheads[0].name = "records of unloaded code";
	builder_overhead(b, 0, 0, true, 6000, 7000);
	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	assert_int_equal(model_profiler_ns(model, 0, 0, 20000), 3000);
	model_free(model);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"with costs what reading counters took is out of calls, without it is not",
		 test_calls, NULL, NULL, NULL},
		{"likewise out of pauses", test_pauses, NULL, NULL, NULL},
		{"a counted call's kernel starts as if the call had the usual length",
		 test_counted_start, NULL, NULL, NULL},
		{"where every call was counted that is not what is usual", test_all_calls, NULL,
		 NULL, NULL},
		{"the kernel after a counted one does not wait until counters are set back",
		 test_set_back, NULL, NULL, NULL},
		{"without rest that kernel is as late as it was, and no other",
		 test_set_back_explained, NULL, NULL, NULL},
		{"a graph of launches between which counters were read is as long as without",
		 test_graphs, NULL, NULL, NULL},
		{"overhead of another thread, or without counters, stays", test_not_counted, NULL,
		 NULL, NULL},
		{"what a call waits for before it unloads code is out of it, also without counters",
		 test_unloading, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
