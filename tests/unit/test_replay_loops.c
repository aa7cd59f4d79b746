/* Replays of loops of launches, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"
#include "replay/latencies.h"

static void test_untraced_loop(void **state)
{
	struct replayed it = replayed_loop(1);

	(void)state;
	assert_int_equal(it.model->devices[0].launch_ns, START_NS);
	replayed_run(&it, NULL, NULL);
	assert_int_equal(replayed_wall_ns(&it), 9 * 19000 + BUSY_NS);
	/* 750 ns less in the call, and from the call to the kernel: the latter counts */
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(it.replay.call_end_ns[0], CALL_NS - 750);
	assert_int_equal(it.replay.op_start_ns[0], START_NS - 750);
	assert_int_equal(it.replay.call_end_ns[1], START_NS - 750 + BUSY_NS + 3000);
	assert_int_equal(replayed_wall_ns(&it), 9 * (19000 - 750) + BUSY_NS);
	replayed_free(&it);
}

/* Of what is queued behind one another, with 1 us between. */
static int64_t queued_start_ns(int64_t index)
{
	return 40000 + index * (BUSY_NS + 1000);
}

/* Three kernels of a stream, a copy, and a kernel after that: recording lengthened the gaps between the kernels, but no
 * gap is less than none. */
static void test_untraced_gaps(void **state)
{
	static const int64_t traced_ns[] = {0, 300, 5000}, saved_ns[] = {0, 300, 1000};
	struct builder *b = builder_new(1, 1);
	struct costs costs = random_costs;
	struct replayed it;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		int64_t now_ns = i * CALL_NS, start_ns = queued_start_ns(i);
		int64_t end_ns = start_ns + BUSY_NS;

		if (i == 3)
			builder_copy(b, 0, (struct profile_copy){.kind = COPY_TO_HOST, .bytes = 4},
				     start_ns, end_ns,
				     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns,
						  now_ns + CALL_NS));
		else
			builder_kernel(b, 0, "step", start_ns, end_ns,
				       builder_launch(b, 0, now_ns, now_ns + CALL_NS));
	}
	builder_finish(b);
	it = replayed_new(b);
	for (int i = 0; i < 3; i++) {
		costs.trace_kernel_ns = traced_ns[i];
		replayed_run(&it, NULL, &costs);
		assert_int_equal(replayed_wall_ns(&it), 5 * BUSY_NS + 4 * 1000 - 2 * saved_ns[i]);
	}
	replayed_free(&it);
}

/* Two graphs as a whole, two of one node each, and a kernel: of the gaps between two of a kind. */
static void test_untraced_graph_gaps(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct costs costs = random_costs;
	struct replayed it;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		int64_t now_ns = i * CALL_NS, start_ns = queued_start_ns(i);
		bool is_kernel = i == 4;
		uint32_t call =
			builder_call(b, 0, is_kernel ? "cudaLaunchKernel" : "cudaGraphLaunch",
				     is_kernel ? CALL_LAUNCH : CALL_GRAPH_LAUNCH, now_ns,
				     now_ns + CALL_NS);

		builder_op(b, i < 2 ? OP_GRAPH : OP_KERNEL, 0, 0, start_ns, start_ns + BUSY_NS,
			   call);
	}
	builder_finish(b);
	it = replayed_new(b);
	costs.trace_graph_ns = 100;
	costs.trace_whole_graph_ns = 700;
	replayed_run(&it, NULL, &costs);
	assert_int_equal(replayed_wall_ns(&it), 5 * BUSY_NS + 4 * 1000 - 700 - 100);
	replayed_free(&it);
}

/* A copy to the device, whose bytes the call stages for 20 us, a kernel and a wait. */
static struct replayed copied_loop(uint32_t memory, bool is_async)
{
	const struct profile_copy copy = {.bytes = 1 << 20,
					  .kind = COPY_TO_DEVICE,
					  .src_memory = memory,
					  .is_async = is_async};
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < LOOPS; i++) {
		int64_t now_ns = i * 42000, launch_ns = now_ns + 21000;

		builder_copy(b, 0, copy, now_ns + 21000, now_ns + 24000,
			     builder_call(b, 0, is_async ? "cudaMemcpyAsync" : "cudaMemcpy",
					  CALL_COPY, now_ns, now_ns + 20000));
		builder_kernel(b, 0, "step", launch_ns + START_NS, launch_ns + START_NS + BUSY_NS,
			       builder_launch(b, 0, launch_ns, launch_ns + CALL_NS));
		wait_until(b, launch_ns + CALL_NS, launch_ns + START_NS + BUSY_NS + 3000);
	}
	builder_finish(b);
	return replayed_new(b);
}

/* Without the wait the host comes to the next copy while the kernel runs.  Of memory that is not pinned a blocking copy
 * stages nothing before that has ended; others go on. */
static void test_staging_waits_for_stream(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_KEPT, CALL_DROPPED};
	static const struct {
		uint32_t memory;
		bool is_async, is_waiting;
	} copies[] = {{MEMORY_PAGEABLE, false, true},
		      {MEMORY_PAGEABLE, true, false},
		      {MEMORY_PINNED, false, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		struct replayed it = copied_loop(copies[i].memory, copies[i].is_async);
		struct change change = same_every_time(&it, calls, 3);
		int64_t kernel_end_ns, staged_from_ns;

		replayed_run(&it, NULL, NULL);
		assert_int_equal(replayed_wall_ns(&it), (LOOPS - 1) * 42000 + 15000);
		replayed_run(&it, &change, &random_costs);
		kernel_end_ns = it.replay.op_start_ns[1] + BUSY_NS;
		/* as long as the first one takes */
		staged_from_ns = it.replay.call_end_ns[3] -
				 (it.replay.call_end_ns[0] - it.replay.call_start_ns[0]);
		if (copies[i].is_waiting)
			assert_int_equal(staged_from_ns, kernel_end_ns);
		else
			assert_true(staged_from_ns < kernel_end_ns);
		change_free(&change);
		replayed_free(&it);
	}
}

static void test_waits_dropped(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DROPPED};
	struct replayed it = replayed_loop(1);
	struct change change = same_every_time(&it, calls, 2);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	/* the host goes on after its call and its own 1000 ns; kernels follow each other with gaps */
	assert_int_equal(it.replay.call_start_ns[2], CALL_NS - 750 + 1000);
	/* no recorded one was queued: as in the middle one of recordings that tell */
	assert_int_equal(replayed_wall_ns(&it), 9 * (BUSY_NS + 1088) + BUSY_NS);
	change_free(&change);
	replayed_free(&it);
}

/* A wait for what has ended takes its own time, and is not done before the host can know. */
static void test_late_wait(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct replayed it;

	(void)state;
	builder_kernel(b, 0, "step", 5000, 15000, builder_launch(b, 0, 0, 4000));
	wait_until(b, 30000, 33000);
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(it.replay.call_start_ns[1], 30000 - 750);
	assert_int_equal(it.replay.call_end_ns[1], 33000 - 750);
	replayed_free(&it);
}

/* It saw the end within 2 us of it: it would again. */
static void test_soon_after(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct replayed it;

	(void)state;
	builder_kernel(b, 0, "step", 5000, 15000, builder_launch(b, 0, 0, 4000));
	wait_until(b, 16000, 17000);
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(replay_op_end_ns(&it.replay, 0), 14250);
	assert_int_equal(it.replay.call_start_ns[1], 15250);
	assert_int_equal(it.replay.call_end_ns[1], 14250 + 2000);
	replayed_free(&it);
}

/* A call that submits nothing has half the records of a launch, which recording makes 750 ns longer; waits are not shorter
 * for theirs. */
static void test_untraced_calls(void **state)
{
	static const struct {
		const char *name;
		enum profile_call_class class;
		int64_t length_ns;
	} calls[] = {{"cudaMalloc", CALL_MEMORY, 4000 - 375},
		     {"cudaGraphExecUpdate", CALL_GRAPH_MANAGE, 4000 - 375},
		     {"cudaEventRecord", CALL_EVENT, 4000 - 375},
		     {"cudaDeviceSynchronize", CALL_SYNC, 4000},
		     {"cudaGetLastError", CALL_OTHER, 4000}};
	struct builder *b = builder_new(1, 1);
	struct replayed it;

	(void)state;
	for (int64_t i = 0; i < 5; i++)
		builder_call(b, 0, calls[i].name, calls[i].class, 10000 * i, 10000 * i + 4000);
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &random_costs);
	for (int64_t i = 0; i < 5; i++)
		assert_int_equal(it.replay.call_end_ns[i] - it.replay.call_start_ns[i],
				 calls[i].length_ns);
	replayed_free(&it);
}

/* Ten queued kernels, 1 us between them, but 4 us before the sixth: that stays, but for behind a graph, where
 * all of the gap is another. */
static void test_rest(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (int64_t i = 0; i < 10; i++) {
		int64_t start_ns = START_NS + i * (BUSY_NS + 1000) + (i >= 5 ? 3000 : 0);
		uint32_t call = builder_launch(b, 0, i * CALL_NS, (i + 1) * CALL_NS);

		builder_kernel(b, 0, "step", start_ns, start_ns + BUSY_NS, call);
	}
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(it.replay.op_start_ns[4], replay_op_end_ns(&it.replay, 3) + 1000);
	assert_int_equal(it.replay.op_start_ns[5], replay_op_end_ns(&it.replay, 4) + 1000 + 3000);
	usual_changes_begin(&change, it.model, true);
	change.calls[4] = CALL_AS_GRAPH;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[5], replay_op_end_ns(&it.replay, 4) + 1000);
	change_free(&change);
	assert_int_equal(replay_run_typical(&it.replay, it.model), 0);
	assert_int_equal(it.replay.op_start_ns[5], replay_op_end_ns(&it.replay, 4) + 1000);
	replayed_free(&it);
}

/* Three kernels as one: one launch, no gaps. */
static void test_fused(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_FUSED, CALL_FUSED, CALL_KEPT};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(replay_op_end_ns(&it.replay, 2), 4250 + 3 * BUSY_NS);
	assert_int_equal(it.replay.call_end_ns[2], CALL_NS - 750);
	assert_int_equal(it.replay.call_end_ns[3], 4250 + 3 * BUSY_NS + 3000);
	change_free(&change);
	replayed_free(&it);
}

static void test_dependent(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DEPENDENT, CALL_DEPENDENT, CALL_KEPT};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[1], replay_op_end_ns(&it.replay, 0));
	assert_int_equal(it.replay.op_start_ns[2], replay_op_end_ns(&it.replay, 1));
	assert_int_equal(it.replay.call_end_ns[2], 3 * (CALL_NS - 750)); /* each is launched */
	change_free(&change);
	replayed_free(&it);
}

/* Copy in, kernel, copy out, 100 us each, and a wait: iteration i in lane i % 3. */
static void test_lanes(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (int i = 0; i < 9; i++) {
		int64_t now_ns = i * INT64_C(310000);
		uint32_t call =
			builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns, now_ns + 2000);

		builder_copy(b, 0, copy_in, now_ns + 5000, now_ns + 105000, call);
		call = builder_launch(b, 0, now_ns + 2000, now_ns + 4000);
		builder_kernel(b, 0, "step", now_ns + 106000, now_ns + 206000, call);
		call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns + 4000,
				    now_ns + 6000);
		builder_copy(b, 0, copy_out, now_ns + 207000, now_ns + 307000, call);
		wait_until(b, now_ns + 6000, now_ns + 310000);
	}
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it,
				 (const uint8_t[]){CALL_MADE_ASYNC, CALL_MADE_ASYNC,
						   CALL_MADE_ASYNC, CALL_DROPPED},
				 4);
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (size_t i = 0; i < it.profile->op_count; i++)
		change.lanes[i] = (uint8_t)(i / 3 % 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[4], 3 * 2000); /* launch_call each */
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(it.replay.op_start_ns[1], 105250);
	assert_int_equal(it.replay.op_start_ns[2], 206250);
	/* the SMs are free 1088 ns after a kernel, what is usual where none was queued, and a copy engine as recorded; first
	 * copies in, of which there are three lanes, do not wait for kernels yet */
	for (size_t i = 3; i < 9; i++)
		assert_int_equal(it.replay.op_start_ns[i] - it.replay.op_start_ns[i - 3],
				 i % 3 ? 101088 : 101000);
	/* a lane goes on 2112 ns after its copy out, what is usual from copy to copy */
	for (size_t i = 9; i < it.profile->op_count; i += 9)
		assert_int_equal(it.replay.op_start_ns[i] - replay_op_end_ns(&it.replay, i - 7),
				 2112);
	assert_int_equal(replayed_wall_ns(&it), 8 * 101088 + 302000 + 2 * (101936 - 101088));
	change_free(&change);
	replayed_free(&it);
}

/* A pageable copy in is staged for 80 us before it starts, now and then for 130, and one out is unstaged for 170 us after it
 * has ended.  Of pinned memory each call takes the copy, what a launch takes before it and what a wait takes after it. */
static void test_pinned(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct replayed it;
	struct change change;
	int64_t now_ns = 0;

	(void)state;
	for (int i = 0; i < 9; i++) {
		int64_t staged_ns = i % 3 ? 80000 : 130000;
		uint32_t call =
			builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns, now_ns + 220000);

		builder_copy(b, 0, copy_in, now_ns + staged_ns, now_ns + staged_ns + 90000, call);
		now_ns += 220000;
		call = builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns, now_ns + 270000);
		builder_copy(b, 0, copy_out, now_ns + 10000, now_ns + 100000, call);
		now_ns += 270000;
	}
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, (const uint8_t[]){CALL_PINNED, CALL_PINNED}, 2);
	for (size_t i = 0; i < it.profile->op_count; i++)
		change.op_ns[i] = 20000;
	replayed_run(&it, &change, &random_costs);
	for (size_t i = 0; i < it.profile->call_count; i++) {
		assert_int_equal(it.replay.op_start_ns[i], it.replay.call_start_ns[i] + 4500);
		assert_int_equal(it.replay.call_end_ns[i], replay_op_end_ns(&it.replay, i) + 5000);
	}
	change_free(&change);
	replayed_free(&it);
}

/* Launches of one loop in three lanes, each kernel 40% of the GPU: two at a time, and a third lane waits.  The last
 * one waits for all. */
static void expect_fill(int64_t empty_kernel_ns, int64_t lead_ns)
{
	struct replayed it = replayed_loop(4);
	struct costs costs = random_costs;
	struct change change;

	costs.empty_kernel_ns = empty_kernel_ns;
	assert_int_equal(change_begin(&change, it.model, true), 0);
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (uint32_t i = 0; i < 4; i++) {
		change.lanes[i] = i % 3 | (i == 3 ? LANE_JOINED : 0);
		change.fill[i] = 40;
	}
	replayed_run(&it, &change, &costs);
	/* launched every 3250 ns */
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(it.replay.op_start_ns[1], 4250 + 3250);
	assert_int_equal(it.replay.op_start_ns[2], replay_op_end_ns(&it.replay, 0) - lead_ns);
	assert_int_equal(it.replay.op_start_ns[3], replay_op_end_ns(&it.replay, 2) + 1000);
	change_free(&change);
	replayed_free(&it);
}

static void test_fill(void **state)
{
	(void)state;
	expect_fill(0, -1000); /* the gap of a stream lies between */
	expect_fill(600, -400);
	expect_fill(1000000, 3500); /* no sooner than it was launched */
}

/* The host waits for all lanes, whichever ended last in the recording. */
static void test_wait_for_lanes(void **state)
{
	struct replayed it = replayed_loop(2);
	struct change change;

	(void)state;
	assert_int_equal(change_begin(&change, it.model, true), 0);
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (uint32_t i = 0; i < 2; i++) {
		change.lanes[i] = i;
		change.fill[i] = 40;
	}
	change.op_ns[0] = 5 * BUSY_NS;
	replayed_run(&it, &change, &random_costs);
	assert_true(replay_op_end_ns(&it.replay, 0) > replay_op_end_ns(&it.replay, 1));
	assert_int_equal(it.replay.call_end_ns[2], replay_op_end_ns(&it.replay, 0) + 3000);
	change_free(&change);
	replayed_free(&it);
}

/* The first kernel stays in its stream, three run in lanes, and the last one is in the stream again. */
static void test_around_lanes(void **state)
{
	struct replayed it = replayed_loop(5);
	struct change change;

	(void)state;
	assert_int_equal(change_begin(&change, it.model, true), 0);
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (uint32_t i = 1; i < 4; i++) {
		change.lanes[i] = i - 1;
		change.fill[i] = 33;
	}
	change.op_ns[0] = change.op_ns[2] = 5 * BUSY_NS;
	replayed_run(&it, &change, &random_costs);
	for (int i = 1; i < 4; i++)
		assert_int_equal(it.replay.op_start_ns[i], replay_op_end_ns(&it.replay, 0) + 1000);
	assert_int_equal(it.replay.op_start_ns[4], replay_op_end_ns(&it.replay, 2) + 1000);
	change_free(&change);
	replayed_free(&it);
}

/* What the device launched comes as long after what started before it as it did. */
static void test_device_launched(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DROPPED};
	struct replayed it = replayed_loop(1), with;
	struct change change;

	(void)state;
	builder_kernel(it.b, 0, "child", 9 * 19000 + 7000, 9 * 19000 + 8000, PROFILE_NONE);
	it.b->devices[0].op_count++;
	with = replayed_new(it.b);
	change = same_every_time(&with, calls, 2);
	replayed_run(&with, &change, &random_costs);
	assert_int_equal(with.replay.op_start_ns[LOOPS] - with.replay.op_start_ns[LOOPS - 1], 2000);
	assert_int_equal(replay_op_end_ns(&with.replay, LOOPS) - with.replay.op_start_ns[LOOPS],
			 1000);
	change_free(&change);
	model_free(with.model);
	replay_free(&with.replay);
	replayed_free(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

/* Before the second of three launches its stream waits for two others, 400 each. */
static void test_awaited_streams(void **state)
{
	struct replayed it = replayed_loop(3);
	const uint8_t calls[] = {CALL_KEPT, CALL_KEPT, CALL_KEPT, CALL_KEPT};
	struct change change = same_every_time(&it, calls, 4);
	struct costs costs = random_costs;

	(void)state;
	costs.trace_launch_ns = 0;
	costs.stream_wait_ns = 400;
	for (size_t i = 1; i < it.profile->call_count; i += 4)
		change.calls[i] =
			change_number(&change, &(struct call_change){.awaited_streams = 2});
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.call_end_ns[0], CALL_NS);
	assert_int_equal(it.replay.call_end_ns[1], 2 * CALL_NS + 800);
	assert_int_equal(it.replay.call_end_ns[2], 3 * CALL_NS + 800);
	change_free(&change);
	replayed_free(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a blocking copy of pageable memory waits for its stream before it stages",
			 test_staging_waits_for_stream),
		SENTENCE("what recording added to calls is left out", test_untraced_loop),
		SENTENCE("what recording added between kernels of a stream is left out",
			 test_untraced_gaps),
		SENTENCE("and between graphs", test_untraced_graph_gaps),
		SENTENCE("a stream that waits for others takes the host so much longer",
			 test_awaited_streams),
		SENTENCE("without its waits a loop is as long as its kernels and their gaps",
			 test_waits_dropped),
		SENTENCE("a wait for what has ended takes its own time", test_late_wait),
		SENTENCE("a wait just after the end sees it as soon as it did", test_soon_after),
		SENTENCE("what a start took beyond the usual stays with it", test_rest),
		SENTENCE("fused kernels are one launch without gaps", test_fused),
		SENTENCE("dependent launches leave no gap", test_dependent),
		SENTENCE("kernels in lanes run side by side as far as they fit", test_fill),
		SENTENCE("a wait is for all lanes", test_wait_for_lanes),
		SENTENCE("lanes begin after what their stream did before, and it goes on after "
			 "all of them",
			 test_around_lanes),
		SENTENCE("copies in, kernels and copies out of three lanes run side by side",
			 test_lanes),
		SENTENCE("a copy that gets pinned starts like a launch and returns like a wait",
			 test_pinned),
		SENTENCE(
			"calls that make or change something are shorter by what recording added, waits are not",
			test_untraced_calls),
		SENTENCE("what the device launched follows what started before it",
			 test_device_launched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
