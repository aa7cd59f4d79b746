/* Replays of graphs, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"

static void test_graph(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_end_ns[0], 4000);   /* graph_launch */
	assert_int_equal(it.replay.call_start_ns[2], 4000); /* in the graph: gone */
	assert_int_equal(it.replay.call_end_ns[2], 4000);
	assert_int_equal(it.replay.op_start_ns[0], 6000);	 /* graph_to_start */
	assert_int_equal(it.replay.op_start_ns[1], 16000 + 700); /* graph_node_gap */
	assert_int_equal(it.replay.op_start_ns[2], 26700 + 700);
	assert_int_equal(it.replay.call_end_ns[3], 37400 + 3000); /* the wait, as long after */
	assert_int_equal(it.replay.call_start_ns[4], 41400);
	assert_int_equal(replayed_wall_ns(&it), 9 * 41400 + 3 * BUSY_NS + 2 * 700);
	change_free(&change);
	replayed_free(&it);
}

/* Each launch of an iteration takes the host 500 to prepare, the first one 2000: what is left of that is between
 * the iterations. */
static void test_graph_pauses(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_AS_GRAPH, CALL_IN_BODY, CALL_IN_KERNEL};
	static const int64_t starts_ns[] = {0, 6000, 10500, 15000};
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (int i = 0; i < 4; i++)
		builder_kernel(b, 0, "k", starts_ns[i] + 5000, starts_ns[i] + 5500,
			       builder_launch(b, 0, starts_ns[i], starts_ns[i] + 4000));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 4);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_end_ns[0], 4000 - 750);
	assert_int_equal(it.replay.call_start_ns[1], 3250 + 2000 - 500);
	change_free(&change);
	replayed_free(&it);
}

/* 500 in the first graph, 1500 in the one after it. */
static void test_own_pauses(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_AS_GRAPH,
					CALL_IN_GRAPH};
	static const int64_t starts_ns[] = {0, 6000, 10500, 16500, 22000};
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (int i = 0; i < 5; i++)
		builder_kernel(b, 0, "k", starts_ns[i] + 5000, starts_ns[i] + 5500,
			       builder_launch(b, 0, starts_ns[i], starts_ns[i] + 4000));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 5);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[1], it.replay.call_end_ns[0] + 2000 - 500);
	assert_int_equal(it.replay.call_start_ns[3], it.replay.call_end_ns[2] + 2000 - 1500);
	change_free(&change);
	replayed_free(&it);
}

/* Where a long pause between launches is gone, as an interpreter's, one before the first launch is such a step as
 * well, up to that length.  After work of the host it stays, and that work, too. */
static void test_long_graph_pauses(void **state)
{
	static const uint8_t gone[] = {CALL_KEPT, CALL_AS_GRAPH, CALL_IN_GRAPH};
	static const uint8_t kept[] = {CALL_KEPT, CALL_AS_GRAPH, CALL_AFTER_WORK};
	static const int64_t starts_ns[] = {0, 204000, 358000};
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (int i = 0; i < 3; i++)
		builder_kernel(b, 0, "k", starts_ns[i] + 5000, starts_ns[i] + 5500,
			       builder_launch(b, 0, starts_ns[i], starts_ns[i] + 4000));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, gone, 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[1], 4000 - 750 + 200000 - 150000);
	assert_int_equal(it.replay.call_end_ns[2], it.replay.call_end_ns[1]);
	change_free(&change);
	change = same_every_time(&it, kept, 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[1], 4000 - 750 + 200000);
	assert_int_equal(it.replay.call_end_ns[2], it.replay.call_end_ns[1] + 150000);
	change_free(&change);
	replayed_free(&it);
}

/* A copy from the host, a kernel, a copy to the host: over to another engine and back. */
static void test_graph_of_copies(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH};
	const struct profile_copy in = {.bytes = 4, .kind = COPY_TO_DEVICE},
				  out = {.bytes = 4, .kind = COPY_TO_HOST};
	struct costs costs = random_costs;
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	costs.graph_copy_gap_ns = costs.graph_copy_in_gap_ns = 3000;
	costs.graph_copy_to_start_ns = costs.graph_copy_in_to_start_ns = 9000;
	builder_copy(b, 0, in, 5000, 6000, builder_launch(b, 0, 0, 4000));
	builder_kernel(b, 0, "k", 10000, 12000, builder_launch(b, 0, 4000, 8000));
	builder_copy(b, 0, out, 20000, 21500, builder_launch(b, 0, 8000, 12000));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 3);
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.op_start_ns[0], 9000);
	assert_int_equal(it.replay.op_start_ns[1], 9000 + 1000 + 3000);
	assert_int_equal(it.replay.op_start_ns[2], 13000 + 2000 + 3000);
	/* a copy after a kernel is not what the graph begins with, and a decision takes longer than the copy's gap */
	costs.graph_copy_to_start_ns = costs.graph_copy_in_to_start_ns = 30000;
	change.calls[0] = CALL_KEPT;
	change.calls[1] = CALL_AS_GRAPH;
	change.calls[2] = CALL_IN_BODY;
	costs.conditional_ns = 4000;
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.op_start_ns[2], replay_op_end_ns(&it.replay, 1) + 4000);
	change_free(&change);
	replayed_free(&it);
}

/* A read that the device decides by is gone: what it stood between are nodes of kernels. */
static void test_graph_without_read(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH,
					CALL_IN_GRAPH};
	const struct profile_copy read = {.bytes = 4, .kind = COPY_TO_HOST};
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	builder_copy(b, 0, read, 5000, 6000, builder_launch(b, 0, 0, 4000));
	builder_copy(b, 0, read, 10000, 11000, builder_launch(b, 0, 4000, 8000));
	builder_kernel(b, 0, "k", 20000, 22000, builder_launch(b, 0, 8000, 12000));
	builder_copy(b, 0, read, 25000, 26000, builder_launch(b, 0, 12000, 16000));
	builder_copy(b, 0, read, 30000, 31000, builder_launch(b, 0, 16000, 20000));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 5);
	change.op_ns[0] = change.op_ns[1] = change.op_ns[3] = OP_GONE;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 6000); /* as of a kernel, not of a copy */
	assert_int_equal(it.replay.op_start_ns[1], 6000);
	assert_int_equal(it.replay.op_start_ns[2], 6000 + 700);
	assert_int_equal(it.replay.op_start_ns[3], 8700);
	assert_int_equal(it.replay.op_start_ns[4], 8700 + 3000); /* this one stays */
	change_free(&change);
	replayed_free(&it);
}

/* What recording adds to a graph's launch, and to the time until it starts, is not what it adds to a kernel's. */
static void test_traced_graph(void **state)
{
	struct costs costs = random_costs;
	struct builder *b = builder_new(1, 1);
	struct replayed it;

	(void)state;
	costs.trace_graph_launch_ns = 1000;
	costs.trace_graph_start_ns = 2000;
	builder_kernel(b, 0, "k", 8000, 9000,
		       builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0, 4000));
	builder_kernel(b, 0, "k", 105000, 106000, builder_launch(b, 0, 100000, 104000));
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 4000 - 1000);
	assert_int_equal(it.replay.op_start_ns[0], 8000 - 2000);
	assert_int_equal(it.replay.call_end_ns[1] - it.replay.call_start_ns[1], 4000 - 750);
	assert_int_equal(it.replay.op_start_ns[1] - it.replay.call_start_ns[1], 5000 - 750);
	replayed_free(&it);
}

/* A launch of a chain of 11 nodes, and one of a graph of as many in two streams. */
static void test_traced_nodes(void **state)
{
	struct costs costs = random_costs;
	struct builder *b = builder_new(1, 2);
	struct replayed it;

	(void)state;
	costs.trace_graph_launch_ns = 1000;
	costs.trace_graph_start_ns = 2000;
	for (int graph = 0; graph < 2; graph++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					     graph * 100000, graph * 100000 + 15000);

		for (int i = 0; i < 11; i++)
			builder_kernel(b, graph ? i % 2 : 0, "k", graph * 100000 + 18000 + i * 1000,
				       graph * 100000 + 18500 + i * 1000, call);
	}
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 4000); /* graph_launch */
	assert_int_equal(it.replay.op_start_ns[0], 6000); /* graph_to_start */
	/* of the 10000 that it takes longer than one node, a tenth is the other branch's own */
	assert_int_equal(it.replay.call_end_ns[1] - it.replay.call_start_ns[1], 4000 + 1000);
	costs.launch_call_ns = 300; /* no more than launches of their own take */
	replayed_run(&it, NULL, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 15000 - 10 * 300 - 1000);
	replayed_free(&it);
}

/* The host updates each node of the graph before it launches it. */
static void test_updated_graph(void **state)
{
	static const uint8_t calls[] = {CALL_AS_UPDATED, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 3 * 800 + 6000);
	assert_int_equal(it.replay.call_end_ns[0], 3 * 800 + 4000);
	change_free(&change);
	replayed_free(&it);
}

/* The host prepares a launch for 500 before each of three; for a graph that it updates it does so before each node. */
static void test_prepared_updates(void **state)
{
	static const uint8_t calls[] = {CALL_AS_UPDATED, CALL_AFTER_WORK, CALL_AFTER_WORK};
	struct builder *b = builder_new(1, 1);
	struct replayed it;
	struct change change;

	(void)state;
	for (int i = 0; i < 3; i++)
		builder_kernel(b, 0, "step", 6000 + 20000 * i, 16000 + 20000 * i,
			       builder_launch(b, 0, 3000 * i, 3000 * i + 2500));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_end_ns[0], 3 * 800 + 4000);
	assert_int_equal(it.replay.call_end_ns[2], 3 * 800 + 4000 + 2 * 500);
	change_free(&change);
	replayed_free(&it);
}

/* Three branches, of which the launch takes 7000 on the host of the ceilings, and twice that on this one. */
static void test_branches(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));
	struct costs costs = random_costs;

	(void)state;
	assert_non_null(ceilings);
	assert_int_equal(ceilings_add(ceilings, &(struct ceiling){.id = CEILING_graph_branches,
								  .parameter = 3,
								  .value = 7000}),
			 0);
	costs.ceilings = ceilings;
	costs.host_times = 2;
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (uint32_t i = 0; i < 3; i++)
		change.lanes[i] = (uint8_t)i;
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 14000);
	for (uint32_t i = 0; i < 3; i++)
		change.lanes[i] |= LANE_JOINED; /* then they are a chain */
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 4000);
	change_free(&change);
	replayed_free(&it);
	ceilings_free(ceilings);
}

static void test_queued_graphs(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_DROPPED};
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[4], 4000 + 1000);
	assert_int_equal(it.replay.op_start_ns[3], 37400 + 1200); /* graph_gap */
	assert_int_equal(replayed_wall_ns(&it), 9 * (37400 + 1200 - 6000) + 31400);
	change_free(&change);
	replayed_free(&it);
}

static void test_after_graph(void **state)
{
	struct replayed it = replayed_loop(3);
	struct change change = same_every_time(&it, (const uint8_t[]){CALL_KEPT}, 1);

	(void)state;
	change.calls[0] = CALL_AS_GRAPH;
	change.calls[1] = CALL_IN_GRAPH;
	replayed_run(&it, &change, &random_costs);
	/* the third kernel is launched as it was, and queued behind the graph */
	assert_int_equal(it.replay.call_start_ns[2], 4000);
	assert_int_equal(it.replay.op_start_ns[2], 26700 + 1000);
	change_free(&change);
	replayed_free(&it);
}

/* Each iteration reads a flag and waits for it before the second kernel. */
static struct replayed flag_loop(void)
{
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < LOOPS; i++) {
		int64_t now_ns = i * INT64_C(50000);
		struct profile_copy flag = copy_out;
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + CALL_NS);

		flag.bytes = 4;
		builder_kernel(b, 0, "find", now_ns + START_NS, now_ns + 15000, call);
		call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns + 4000,
				    now_ns + 8000);
		builder_copy(b, 0, flag, now_ns + 16000, now_ns + 18000, call);
		wait_until(b, now_ns + 8000, now_ns + 21000);
		call = builder_launch(b, 0, now_ns + 21000, now_ns + 25000);
		builder_kernel(b, 0, "body", now_ns + 26000, now_ns + 36000, call);
	}
	builder_finish(b);
	return replayed_new(b);
}

static void test_body(void **state)
{
	static const uint8_t calls[] = {CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_IN_BODY};
	struct replayed it = flag_loop();
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	change.calls[0] = CALL_AS_GRAPH;
	for (size_t i = 1; i < it.profile->op_count; i += 3)
		change.op_ns[i] = OP_GONE;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 6000);
	assert_int_equal(replay_op_end_ns(&it.replay, 1), 16000); /* gone, and no gap before it */
	assert_int_equal(it.replay.op_start_ns[2], 16000 + 900);  /* decided */
	assert_int_equal(it.replay.op_start_ns[3], 26900 + 700);  /* the next iteration's, a node */
	assert_int_equal(replayed_wall_ns(&it), 9 * (2 * BUSY_NS + 900 + 700) + 2 * BUSY_NS + 900);
	change_free(&change);
	replayed_free(&it);
}

/* A graph of two nodes that the device launches: only before the first is there a decision. */
static void test_body_of_nodes(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	builder_kernel(b, 0, "find", 5000, 15000, builder_launch(b, 0, 0, 4000));
	for (int i = 0; i < 2; i++)
		builder_kernel(b, 0, "node", 20000 + i * 11000, 30000 + i * 11000, 0);
	b->ops[1].call = b->ops[2].call =
		builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 4000, 8000);
	builder_finish(b);
	it = replayed_new(b);
	usual_changes_begin(&change, it.model, true);
	change.calls[0] = CALL_AS_GRAPH;
	change.calls[1] = CALL_IN_BODY;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[1], 16000 + 900);
	assert_int_equal(it.replay.op_start_ns[2], 26900 + 700);
	change_free(&change);
	replayed_free(&it);
}

/* A graph that was one already: of a node after another one recording added 535 ns here, of
 * which the gap may hide a part in the node; branches side by side stay so. */
static void test_untraced_nodes(void **state)
{
	static const int64_t starts_ns[] = {5000, 16000, 26300, 30000, 37000};
	static const int64_t expected_ns[] = {4250, 14715, 24715, 28415, 34645};
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0, 4000);
	struct replayed it;

	(void)state;
	for (int i = 0; i < 5; i++)
		builder_kernel(b, 0, "node", starts_ns[i], starts_ns[i] + (i == 3 ? 2000 : BUSY_NS),
			       call);
	builder_finish(b);
	it = replayed_new(b);
	replayed_run(&it, NULL, &random_costs);
	for (int i = 0; i < 5; i++)
		assert_int_equal(it.replay.op_start_ns[i], expected_ns[i]);
	assert_int_equal(replay_op_end_ns(&it.replay, 2) - it.replay.op_start_ns[2], BUSY_NS - 235);
	assert_int_equal(replay_op_end_ns(&it.replay, 4) - it.replay.op_start_ns[4], BUSY_NS);
	replayed_free(&it);
}

/* Two launches of a graph of three kernels in a row, 100 and 4000 between them. */
static struct replayed graph_launches(void)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 6000;

	for (int i = 0; i < 2; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 4000,
					     (i + 1) * 4000);

		builder_kernel(b, 0, "k", now_ns, now_ns + 10000, call);
		builder_kernel(b, 0, "k", now_ns + 10100, now_ns + 20100, call);
		builder_kernel(b, 0, "k", now_ns + 24100, now_ns + 34100, call);
		now_ns += 36100;
	}
	builder_finish(b);
	return replayed_new(b);
}

static struct change in_lanes(const struct replayed *it, uint32_t lane_count)
{
	struct change change = {0};

	assert_int_equal(change_begin(&change, it->model, false), 0);
	assert_int_equal(change_begin_lanes(&change, it->model, lane_count), 0);
	for (uint32_t i = 0; i < 6; i++) {
		change.lanes[i] = i % 3 % lane_count | (i % 3 ? 0 : LANE_JOINED);
		change.fill[i] = 40;
	}
	return change;
}

/* Two of them fit at a time. */
static void test_nodes_in_lanes(void **state)
{
	struct replayed it = graph_launches();
	struct change change = in_lanes(&it, 3);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 6000 - 750);
	assert_int_equal(it.replay.op_start_ns[1], 5250);
	assert_int_equal(replay_op_end_ns(&it.replay, 1),
			 15250 - 435);				  /* what recording added to it */
	assert_int_equal(it.replay.op_start_ns[2], 14815);	  /* as soon as one made room */
	assert_int_equal(it.replay.op_start_ns[3], 24815 + 2000); /* the gap between graphs */
	assert_int_equal(it.replay.op_start_ns[4], 26815);
	change.lanes[2] |= LANE_JOINED;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[2], 15250 + 4000 - 535);
	change_free(&change);
	replayed_free(&it);
}

static void test_nodes_in_one_lane(void **state)
{
	struct replayed it = graph_launches(), kept = graph_launches();
	struct change change = in_lanes(&it, 1);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	replayed_run(&kept, NULL, &random_costs);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(it.replay.op_start_ns[i], kept.replay.op_start_ns[i]);
		assert_int_equal(replay_op_end_ns(&it.replay, i),
				 replay_op_end_ns(&kept.replay, i));
	}
	change_free(&change);
	replayed_free(&it);
	replayed_free(&kept);
}

/* ---- graphs of several streams ---- */

static uint32_t stream_of(struct builder *b, uint32_t index)
{
	b->streams[index] = (struct profile_stream){.flag = STREAM_NON_BLOCKING};
	if (b->profile.stream_count <= index)
		b->profile.stream_count = index + 1;
	return index;
}

/* Two times kernels of these lengths, each in a stream of its own and as far as recorded after the one before. */
static struct replayed branches(uint32_t sm_count, const int64_t *lengths_ns, uint32_t count)
{
	struct builder *b = builder_new(1, 1);
	int64_t gpu_ns = 5000;

	b->devices[0].sm_count = sm_count;
	for (uint32_t i = 0; i < 2 * count; i++) {
		uint32_t call = builder_launch(b, 0, i * CALL_NS, (i + 1) * CALL_NS);
		uint32_t stream = stream_of(b, i % count);

		builder_kernel(b, stream, "k", gpu_ns, gpu_ns + lengths_ns[i % count], call);
		gpu_ns += lengths_ns[i % count] + 1000;
	}
	builder_finish(b);
	return replayed_new(b);
}

static void test_full_branches(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH};
	static const int64_t lengths_ns[] = {10000, 10000, 10000};
	struct replayed it = branches(1, lengths_ns, 3);
	struct change change = same_every_time(&it, calls, 3);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	for (int i = 0; i < 3; i++)
		assert_int_equal(it.replay.op_start_ns[i], 6000 + i * 10000);
	change_free(&change);
	replayed_free(&it);
}

/* Of what does not fit beside each other a part that overlapped in the recording may do so again. */
static void test_small_branches(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH};
	static const int64_t lengths_ns[] = {10000, 10000, 10000};
	struct replayed it = branches(2, lengths_ns, 3);
	struct change change = same_every_time(&it, calls, 3);

	(void)state;
	replayed_run(&it, &change, &random_costs); /* of 50% each two fit */
	assert_int_equal(it.replay.op_start_ns[0], 6000);
	assert_int_equal(it.replay.op_start_ns[1], 6000);
	assert_int_equal(it.replay.op_start_ns[2], 16000);
	it.b->ops[2].start_ns = it.b->ops[1].start_ns + 4000; /* 6000 of 10000 beside it */
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[2], 10000);
	change_free(&change);
	replayed_free(&it);
}

/* Copies in the same direction have one engine. */
static void test_copies_of_branches(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH};
	struct builder *b = builder_new(1, 1);
	struct change change;
	struct replayed it;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		builder_copy(b, stream_of(b, i), i < 2 ? copy_in : copy_out, 5000 + i * 11000,
			     15000 + i * 11000,
			     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, i * CALL_NS,
					  (i + 1) * CALL_NS));
	builder_finish(b);
	it = replayed_new(b);
	change = same_every_time(&it, calls, 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 9000);
	assert_int_equal(it.replay.op_start_ns[1], 19000);
	assert_int_equal(it.replay.op_start_ns[2], 9000);
	change_free(&change);
	replayed_free(&it);
}

/* A short branch, in whose stream it is launched, and a long one. */
static void test_whole_launches(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH};
	static const int64_t lengths_ns[] = {2000, 10000};
	struct replayed it = branches(4, lengths_ns, 2);
	struct change change = same_every_time(&it, calls, 2);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 6000);
	assert_int_equal(it.replay.op_start_ns[1], 6000);
	assert_int_equal(it.replay.op_start_ns[2], 16000 + 1200); /* graph_gap */
	assert_int_equal(it.replay.op_start_ns[3], 17200);
	change.calls[2] = change.calls[3] = CALL_KEPT;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[2], 16000 + 1088); /* a kernel behind a kernel */
	change_free(&change);
	replayed_free(&it);
}

/* ---- executable graphs that are made for each launch ---- */

/* Three times: instantiated or updated in 12 us, launched in 18, its only node 20 after that began, destroyed in 9. */
static struct replayed rebuilt(const char *making)
{
	struct builder *b = builder_new(1, 1);

	for (int64_t now_ns = 0; now_ns < 300000; now_ns += 100000) {
		builder_call(b, 0, making, CALL_GRAPH_MANAGE, now_ns, now_ns + 12000);
		builder_kernel(b, 0, "k", now_ns + 32000, now_ns + 33000,
			       builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH,
					    now_ns + 12000, now_ns + 30000));
		builder_call(b, 0, "cudaGraphExecDestroy", CALL_GRAPH_MANAGE, now_ns + 30000,
			     now_ns + 39000);
	}
	builder_finish(b);
	return replayed_new(b);
}

static struct ceilings *graph_ceilings(void)
{
	static const struct ceiling rows[] = {
		{.id = CEILING_graph_instantiate, .parameter = 1, .value = 5000},
		{.id = CEILING_graph_first_launch, .parameter = 1, .value = 6000},
		{.id = CEILING_graph_destroy, .parameter = 1, .value = 1000},
		{.id = CEILING_graph_update, .parameter = 1, .value = 400}};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	assert_non_null(ceilings);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ceilings_add(ceilings, &rows[i]), 0);
	return ceilings;
}

/* The destruction is longer than recording can have made it: of that twice the ceiling is taken out. */
static void test_traced_rebuilt(void **state)
{
	struct replayed it = rebuilt("cudaGraphInstantiate");
	struct costs costs = random_costs;
	struct ceilings *ceilings = graph_ceilings();

	(void)state;
	costs.ceilings = ceilings;
	replayed_run(&it, NULL, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 5000);
	assert_int_equal(it.replay.call_end_ns[1], 5000 + 6000);
	assert_int_equal(it.replay.op_start_ns[0], 5000 + 6000 + (6000 - 4000));
	assert_int_equal(it.replay.call_end_ns[2], 11000 + 9000 - 2000);
	replayed_run(&it, NULL, &random_costs); /* nobody measured it: as other calls */
	assert_int_equal(it.replay.call_end_ns[0], 12000 - 375);
	ceilings_free(ceilings);
	replayed_free(&it);
}

/* Of what these launches are longer, too, only twice what they take without can be recording's. */
static void test_traced_update(void **state)
{
	static const char *const updates[] = {"cudaGraphExecUpdate",
					      "cudaGraphExecKernelNodeSetParams"};
	struct costs costs = random_costs;

	(void)state;
	costs.updated_node_ns = 300;
	for (int i = 0; i < 2; i++) {
		struct replayed it = rebuilt(updates[i]);

		replayed_run(&it, NULL, &costs);
		assert_int_equal(it.replay.call_end_ns[0], 12000 - 375);
		assert_int_equal(it.replay.call_end_ns[1], 11625 + 18000 - 2 * (4000 + 300));
		assert_int_equal(it.replay.op_start_ns[0], 11625 + 20000 - 2 * (6000 + 300));
		replayed_run(&it, NULL, &random_costs); /* nobody measured it: as other launches */
		assert_int_equal(it.replay.call_end_ns[1], 11625 + 18000 - 750);
		replayed_free(&it);
	}
}

static void test_updated_rebuilt(void **state)
{
	static const uint8_t calls[] = {CALL_UPDATES, CALL_AGAIN, CALL_DROPPED};
	struct replayed it = rebuilt("cudaGraphInstantiate");
	struct change change = same_every_time(&it, calls, 3);
	struct costs costs = random_costs;
	struct ceilings *ceilings = graph_ceilings();

	(void)state;
	costs.ceilings = ceilings;
	costs.updated_node_ns = 300;
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.call_end_ns[0], 400);
	assert_int_equal(it.replay.call_end_ns[1], 400 + 4000 + 300); /* graph_launch */
	assert_int_equal(it.replay.op_start_ns[0], 400 + 6000 + 300); /* graph_to_start */
	assert_int_equal(it.replay.call_end_ns[2], 4700);
	assert_int_equal(it.replay.call_start_ns[3], 4700 + 61000); /* the host's own time stays */
	ceilings_free(ceilings);
	change_free(&change);
	replayed_free(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("an iteration as a graph has one launch, and gaps between nodes",
			 test_graph),
		SENTENCE("graphs queue behind each other", test_queued_graphs),
		SENTENCE("a kernel after a graph follows its last node", test_after_graph),
		SENTENCE("the body of a decision follows it without copy and wait", test_body),
		SENTENCE("a body of several nodes is decided once", test_body_of_nodes),
		SENTENCE(
			"what the host takes to prepare a launch of an iteration, it takes for the first as well",
			test_graph_pauses),
		SENTENCE("graphs of other pauses lose their own", test_own_pauses),
		SENTENCE("a long pause before a graph goes as far as long ones in it do",
			 test_long_graph_pauses),
		SENTENCE("nodes before and after a copy from or to the host are further apart",
			 test_graph_of_copies),
		SENTENCE("a read that is gone leaves no gap of a copy", test_graph_without_read),
		SENTENCE("a graph's launch is recorded at a cost of its own", test_traced_graph),
		SENTENCE("a chain is launched as fast as one node without recording",
			 test_traced_nodes),
		SENTENCE("branches make the launch of their graph longer", test_branches),
		SENTENCE("a graph that is updated is launched that much later", test_updated_graph),
		SENTENCE("what the host does before each node that it updates takes its time still",
			 test_prepared_updates),
		SENTENCE("nodes come closer by what recording added", test_untraced_nodes),
		SENTENCE(
			"nodes in lanes run side by side as far as they fit, and the next launch waits",
			test_nodes_in_lanes),
		SENTENCE("nodes in one lane run as they did", test_nodes_in_one_lane),
		SENTENCE("kernels of a graph that fill the GPU run one after the other, whatever "
			 "streams they were in",
			 test_full_branches),
		SENTENCE("kernels of a graph share the GPU as far as they fit or did in the "
			 "recording",
			 test_small_branches),
		SENTENCE("copies of a graph in one direction take turns", test_copies_of_branches),
		SENTENCE("no launch of a graph runs beside the next one, and what follows waits "
			 "for all of it",
			 test_whole_launches),
		SENTENCE(
			"making, first launching and destroying a graph takes what the ceilings say, as far as recording can have added the rest",
			test_traced_rebuilt),
		SENTENCE(
			"the launch after an update takes longer by its nodes, and the rest is recording's",
			test_traced_update),
		SENTENCE("a graph that is kept is updated and launched as any other",
			 test_updated_rebuilt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
