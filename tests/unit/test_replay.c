#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "model/changes.h"

#define SEEDS 300
#define MONTHS_UNIT_NS 1000000000 /* profiles then last for months */

struct replayed {
	struct builder *b;
	const struct profile *profile;
	struct model *model;
	struct replay replay;
};

static struct model *build(const struct profile *profile)
{
	struct model *model = NULL;
	struct err err = {""};

	assert_int_equal(model_build(&model, profile, &err), 0);
	return model;
}

static struct replayed replayed_new(struct builder *b)
{
	return (struct replayed){.b = b, .profile = &b->profile, .model = build(&b->profile)};
}

static void replayed_run(struct replayed *it, const struct change *change,
			 const struct costs *costs)
{
	replay_free(&it->replay);
	assert_int_equal(replay_run(&it->replay, it->model, change, costs), 0);
}

static void replayed_free(struct replayed *it)
{
	replay_free(&it->replay);
	model_free(it->model);
	free(it->b);
}

/* ---- what must always hold ---- */

static void expect_recorded(const struct replayed *it, uint64_t seed)
{
	for (size_t i = 0; i < it->profile->call_count; i++)
		if (it->replay.call_start_ns[i] != it->profile->calls[i].start_ns ||
		    it->replay.call_end_ns[i] != it->profile->calls[i].end_ns)
			fail_msg("seed %d: call %zu differs", (int)seed, i);
	for (size_t i = 0; i < it->profile->op_count; i++)
		if (it->replay.op_start_ns[i] != it->profile->ops[i].start_ns ||
		    it->replay.op_end_ns[i] != it->profile->ops[i].end_ns)
			fail_msg("seed %d: operation %zu differs", (int)seed, i);
}

static void test_exact(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, 1));

		replayed_run(&it, NULL, NULL);
		expect_recorded(&it, seed);
		replayed_free(&it);
	}
}

/* Without costs a replay is the recording, so this holds where that does; medians and the constants
 * of model.c, which do not scale, must cancel out. */
static void test_scaled(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed one = replayed_new(random_profile(seed, 1));
		struct replayed many = replayed_new(random_profile(seed, 1000));

		replayed_run(&one, NULL, NULL);
		replayed_run(&many, NULL, NULL);
		assert_int_equal(one.replay.op_count, many.replay.op_count);
		for (size_t i = 0; i < one.replay.call_count; i++)
			assert_int_equal(many.replay.call_end_ns[i],
					 1000 * one.replay.call_end_ns[i]);
		for (size_t i = 0; i < one.replay.op_count; i++)
			assert_int_equal(many.replay.op_end_ns[i], 1000 * one.replay.op_end_ns[i]);
		replayed_free(&one);
		replayed_free(&many);
	}
}

static void expect_same(const struct replay *left, const struct replay *right)
{
	size_t calls = left->call_count * sizeof(int64_t), ops = left->op_count * sizeof(int64_t);

	assert_memory_equal(left->call_start_ns, right->call_start_ns, calls);
	assert_memory_equal(left->call_end_ns, right->call_end_ns, calls);
	assert_memory_equal(left->op_start_ns, right->op_start_ns, ops);
	assert_memory_equal(left->op_end_ns, right->op_end_ns, ops);
}

static void test_no_change(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed none = replayed_new(random_profile(seed, 1));
		struct change nothing;

		assert_int_equal(change_begin(&nothing, none.model, true), 0);
		assert_int_equal(change_begin_lanes(&nothing, none.model, 3), 0);
		for (int i = 0; i < 2; i++) {
			const struct costs *costs = i ? &random_costs : NULL;
			struct replay same = {0};

			replayed_run(&none, NULL, costs);
			assert_int_equal(replay_run(&same, none.model, &nothing, costs), 0);
			expect_same(&none.replay, &same);
			replay_free(&same);
		}
		change_free(&nothing);
		replayed_free(&none);
	}
}

/* Operations in the order in which they are submitted. */
struct check {
	const struct replayed *it;
	const struct change *change;
	uint64_t seed;
	uint32_t lane_tails[8];
	int64_t graph_start_ns[BUILDER_SMALL]; /* by thread */
};

static void expect_after(const struct check *check, uint32_t op, int64_t moment_ns,
			 const char *what)
{
	if (check->it->replay.op_start_ns[op] < moment_ns)
		fail_msg("seed %d: operation %d starts before %s", (int)check->seed, (int)op, what);
}

/* Nodes of a graph that was one already may be shorter by what recording added. */
static void expect_length(const struct check *check, uint32_t index, int64_t changed_ns)
{
	const struct profile_op *op = &check->it->profile->ops[index];
	int64_t recorded_ns = op->end_ns - op->start_ns;
	int64_t length_ns =
		check->it->replay.op_end_ns[index] - check->it->replay.op_start_ns[index];

	if (changed_ns >= 0)
		assert_int_equal(length_ns, changed_ns);
	else if (!op->graph_node)
		assert_int_equal(length_ns, recorded_ns);
	else
		assert_in_range(length_ns, recorded_ns / 4, recorded_ns);
}

/* In a lane an operation no longer waits for what was before it in its stream: that is the change. */
static void check_op(struct check *check, uint32_t op)
{
	const struct replay *replay = &check->it->replay;
	const struct model *model = check->it->model;
	uint32_t said = check->change->lanes ? check->change->lanes[op] : PROFILE_NONE;
	uint32_t lane = said == PROFILE_NONE ? said : said & ~LANE_JOINED;
	uint32_t before = lane == PROFILE_NONE ? model->before[op] : check->lane_tails[lane];
	int64_t op_ns = check->change->op_ns[op];

	if (before != PROFILE_NONE)
		expect_after(check, op, replay->op_end_ns[before], "what is before it");
	if (model->other[op] != PROFILE_NONE)
		expect_after(check, op, replay->op_end_ns[model->other[op]], "another stream's");
	for (int i = 0; i < 3 && said != PROFILE_NONE && said & LANE_JOINED; i++)
		if (check->lane_tails[i] != PROFILE_NONE)
			expect_after(check, op, replay->op_end_ns[check->lane_tails[i]], "a lane");
	if (lane != PROFILE_NONE)
		check->lane_tails[lane] = op;
	expect_length(check, op, op_ns);
}

/* The call that submits it: what is in a graph is submitted by the graph's launch. */
static int64_t submitted_ns(struct check *check, uint32_t call)
{
	int64_t *graph_start_ns = &check->graph_start_ns[check->it->profile->calls[call].thread];
	uint8_t what = check->change->calls[call];

	if (what == CALL_AS_GRAPH || what == CALL_AS_UPDATED)
		*graph_start_ns = check->it->replay.call_start_ns[call];
	return what == CALL_IN_GRAPH || what == CALL_IN_BODY || what == CALL_IN_KERNEL
		       ? *graph_start_ns
		       : check->it->replay.call_start_ns[call];
}

static void expect_order(const struct replayed *it, const struct change *change, uint64_t seed)
{
	const struct submitted *submitted = &it->model->submitted;
	struct check check = {.it = it, .change = change, .seed = seed};

	memset(check.lane_tails, 0xff, sizeof(check.lane_tails));
	for (size_t i = 0; i < it->profile->call_count; i++) {
		uint32_t call = it->model->order[i];
		int64_t since_ns = submitted_ns(&check, call);

		for (uint32_t j = submitted->first[call]; j < submitted->first[call + 1]; j++) {
			expect_after(&check, submitted->ops[j], since_ns, "its call");
			check_op(&check, submitted->ops[j]);
		}
	}
}

/* Every other one with lanes. */
static void each_change(void (*check)(const struct replayed *it, const struct change *change,
				      uint64_t seed))
{
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, 1));
		struct change change = random_change(seed, it.model, seed % 2);

		replayed_run(&it, &change, &random_costs);
		check(&it, &change, seed);
		change_free(&change);
		replayed_free(&it);
	}
}

static void test_order(void **state)
{
	(void)state;
	each_change(expect_order);
}

static void test_order_without_change(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, 1));
		struct change nothing;

		assert_int_equal(change_begin(&nothing, it.model, true), 0);
		replayed_run(&it, NULL, &random_costs);
		expect_order(&it, &nothing, seed);
		change_free(&nothing);
		replayed_free(&it);
	}
}

/* Of operations in lanes, those that were submitted before and run when this one starts take so much of it. */
struct engine_load {
	int64_t last_start_ns[3];
	size_t count;
	struct {
		int64_t end_ns;
		int engine;
		unsigned int fill;
	} items[1000];
};

static unsigned int load_at(const struct engine_load *load, int engine, int64_t moment_ns)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < load->count; i++)
		if (load->items[i].engine == engine && load->items[i].end_ns > moment_ns)
			sum += load->items[i].fill;
	return sum;
}

/* One copy in each direction at a time, and as many kernels as fill the GPU, as they were submitted. */
static void expect_engines(const struct replayed *it, const struct change *change, uint64_t seed)
{
	const struct submitted *submitted = &it->model->submitted;
	struct engine_load load = {.last_start_ns = {INT64_MIN, INT64_MIN, INT64_MIN}};

	for (size_t i = 0; change->lanes && i < it->profile->call_count; i++)
		for (uint32_t j = submitted->first[it->model->order[i]];
		     j < submitted->first[it->model->order[i] + 1]; j++) {
			uint32_t index = submitted->ops[j];
			const struct profile_op *op = &it->profile->ops[index];
			int64_t start_ns = it->replay.op_start_ns[index];
			int engine = op->kind != OP_COPY			 ? 0
				     : it->profile->copies[op->detail].kind == 2 ? 1
										 : 2;
			unsigned int fill =
				engine == 0 && change->fill[index] ? change->fill[index] : 100;

			if (change->lanes[index] == PROFILE_NONE)
				continue;
			if (start_ns < load.last_start_ns[engine])
				fail_msg("seed %d: overtakes in an engine", (int)seed);
			if (it->replay.op_end_ns[index] > start_ns &&
			    load_at(&load, engine, start_ns) + fill > 100)
				fail_msg("seed %d: too many at a time in an engine", (int)seed);
			load.last_start_ns[engine] = start_ns;
			assert_true(load.count < 1000);
			load.items[load.count].engine = engine;
			load.items[load.count].fill = fill;
			load.items[load.count++].end_ns = it->replay.op_end_ns[index];
		}
}

static void test_engines(void **state)
{
	(void)state;
	each_change(expect_engines);
}

static void expect_forwards(const struct replayed *it, const struct change *change, uint64_t seed)
{
	(void)change;
	for (size_t i = 0; i < it->profile->call_count; i++) {
		if (it->replay.call_end_ns[i] < it->replay.call_start_ns[i])
			fail_msg("seed %d: call %zu ends before it starts", (int)seed, i);
		if (i > 0 && it->profile->calls[i - 1].thread == it->profile->calls[i].thread &&
		    it->replay.call_start_ns[i] < it->replay.call_end_ns[i - 1])
			fail_msg("seed %d: call %zu starts before the one before it ends",
				 (int)seed, i);
	}
}

static void test_forwards(void **state)
{
	(void)state;
	each_change(expect_forwards);
}

static void expect_not_later(const struct replay *less, const struct replay *more, uint64_t seed)
{
	for (size_t i = 0; i < less->call_count; i++)
		if (less->call_end_ns[i] > more->call_end_ns[i])
			fail_msg("seed %d: call %zu ends later", (int)seed, i);
	for (size_t i = 0; i < less->op_count; i++)
		if (less->op_start_ns[i] > more->op_start_ns[i] ||
		    less->op_end_ns[i] > more->op_end_ns[i])
			fail_msg("seed %d: operation %zu is later", (int)seed, i);
}

/* Not even one operation is later. */
static void expect_no_harm_by_dropping(const struct replayed *it, const struct change *change,
				       uint64_t seed)
{
	const struct profile *profile = it->profile;
	struct random random = random_of(seed + 1);
	struct replay less = {0};

	for (size_t i = 0; i < profile->call_count; i++)
		if (profile->call_names[profile->calls[i].name].call_class == CALL_SYNC &&
		    random_hits(&random, 20))
			change->calls[i] = CALL_DROPPED;
	assert_int_equal(replay_run(&less, it->model, change, &random_costs), 0);
	expect_not_later(&less, &it->replay, seed);
	replay_free(&less);
}

static void test_dropped_waits(void **state)
{
	(void)state;
	each_change(expect_no_harm_by_dropping);
}

/*
 * A dependency as such cannot be taken out: no change does so, and out of the model it would leave the
 * time that it explained behind as a rest.  What is waited for can become as short as nothing.
 */
static void expect_no_harm_by_shortening(const struct replayed *it, const struct change *change,
					 uint64_t seed)
{
	struct random random = random_of(seed + 1);
	struct replay less = {0};

	for (size_t i = 0; i < it->profile->op_count; i++)
		if (random_hits(&random, 20))
			change->op_ns[i] = OP_GONE;
	assert_int_equal(replay_run(&less, it->model, change, &random_costs), 0);
	expect_not_later(&less, &it->replay, seed);
	replay_free(&less);
}

static void test_shortened(void **state)
{
	(void)state;
	each_change(expect_no_harm_by_shortening);
}

/* What recording added only ever delays. */
static void test_untraced(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, 1));
		struct costs untraced = random_costs;
		struct replay less = {0};

		untraced.trace_launch_ns *= 2;
		untraced.trace_node_ns *= 2;
		replayed_run(&it, NULL, &random_costs);
		assert_int_equal(replay_run(&less, it.model, NULL, &untraced), 0);
		expect_not_later(&less, &it.replay, seed);
		replay_free(&less);
		replayed_free(&it);
	}
}

static void test_months(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, MONTHS_UNIT_NS));
		struct change change = random_change(seed, it.model, true);

		replayed_run(&it, NULL, NULL);
		expect_recorded(&it, seed);
		replayed_run(&it, &change, &random_costs);
		expect_order(&it, &change, seed);
		expect_forwards(&it, &change, seed);
		change_free(&change);
		replayed_free(&it);
	}
}

static void test_empty(void **state)
{
	(void)state;
	for (size_t devices = 0; devices < 2; devices++) {
		struct replayed it = replayed_new(builder_new(devices, devices));
		struct change change;

		assert_int_equal(change_begin(&change, it.model, true), 0);
		replayed_run(&it, NULL, NULL);
		replayed_run(&it, &change, &random_costs);
		assert_int_equal(it.replay.op_count, 0);
		if (devices)
			assert_int_equal(replay_wall_ns(&it.replay, it.model, 0), 0);
		change_free(&change);
		replayed_free(&it);
	}
}

/* ---- figures worked out by hand, with random_costs ---- */

#define LOOPS 10
#define CALL_NS 4000  /* of a launch */
#define START_NS 5000 /* call to kernel: the median of each loop */
#define BUSY_NS 10000

static const struct profile_copy copy_in = {.bytes = 1 << 20,
					    .kind = 1,
					    .src_memory = 2,
					    .dst_memory = 3};
static const struct profile_copy copy_out = {.bytes = 1 << 20,
					     .kind = 2,
					     .src_memory = 3,
					     .dst_memory = 2};

static uint32_t wait_until(struct builder *b, int64_t start_ns, int64_t end_ns)
{
	return builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, start_ns, end_ns);
}

/* launch_count launches, their kernels one after the other with gaps of 1 us, and a wait that
 * returns 3 us after the last; 1 us later the next iteration. */
static struct replayed loop(int launch_count)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0, gpu_ns;

	for (int i = 0; i < LOOPS; i++) {
		gpu_ns = now_ns + START_NS;
		for (int j = 0; j < launch_count; j++) {
			uint32_t call = builder_launch(b, 0, now_ns, now_ns + CALL_NS);

			builder_kernel(b, 0, "step", gpu_ns, gpu_ns + BUSY_NS, call);
			now_ns += CALL_NS;
			gpu_ns += BUSY_NS + 1000;
		}
		wait_until(b, now_ns, gpu_ns + 2000);
		now_ns = gpu_ns + 3000;
	}
	builder_finish(b);
	return replayed_new(b);
}

/* All calls of an iteration from the first launch on, the wait last. */
static struct change same_every_time(const struct replayed *it, const uint8_t *calls, size_t count)
{
	struct change change;

	assert_int_equal(change_begin(&change, it->model, true), 0);
	for (size_t i = 0; i < it->profile->call_count; i++)
		change.calls[i] = calls[i % count];
	return change;
}

static int64_t wall_ns(const struct replayed *it)
{
	return replay_wall_ns(&it->replay, it->model, 0);
}

static void test_untraced_loop(void **state)
{
	struct replayed it = loop(1);

	(void)state;
	assert_int_equal(it.model->devices[0].launch_ns, START_NS);
	replayed_run(&it, NULL, NULL);
	assert_int_equal(wall_ns(&it), 9 * 19000 + BUSY_NS);
	/* 750 ns less in the call, and from the call to the kernel: the latter counts */
	replayed_run(&it, NULL, &random_costs);
	assert_int_equal(it.replay.call_end_ns[0], CALL_NS - 750);
	assert_int_equal(it.replay.op_start_ns[0], START_NS - 750);
	assert_int_equal(it.replay.call_end_ns[1], START_NS - 750 + BUSY_NS + 3000);
	assert_int_equal(wall_ns(&it), 9 * (19000 - 750) + BUSY_NS);
	replayed_free(&it);
}

static void test_waits_dropped(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DROPPED};
	struct replayed it = loop(1);
	struct change change = same_every_time(&it, calls, 2);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	/* the host goes on after its call and its own 1000 ns; kernels follow each other with gaps */
	assert_int_equal(it.replay.call_start_ns[2], CALL_NS - 750 + 1000);
	assert_int_equal(wall_ns(&it), 9 * (BUSY_NS + 1000) + BUSY_NS);
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
	assert_int_equal(it.replay.op_end_ns[0], 14250);
	assert_int_equal(it.replay.call_start_ns[1], 15250);
	assert_int_equal(it.replay.call_end_ns[1], 14250 + 2000);
	replayed_free(&it);
}

/* Calls that make or change something are recorded like launches; waits are not shorter for it. */
static void test_untraced_calls(void **state)
{
	static const struct {
		const char *name;
		enum profile_call_class class;
		int64_t length_ns;
	} calls[] = {{"cudaMalloc", CALL_MEMORY, 4000 - 750},
		     {"cudaGraphExecUpdate", CALL_GRAPH_MANAGE, 4000 - 750},
		     {"cudaEventRecord", CALL_EVENT, 4000 - 750},
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
	assert_int_equal(it.replay.op_start_ns[4], it.replay.op_end_ns[3] + 1000);
	assert_int_equal(it.replay.op_start_ns[5], it.replay.op_end_ns[4] + 1000 + 3000);
	assert_int_equal(change_begin(&change, it.model, true), 0);
	change.calls[4] = CALL_AS_GRAPH;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[5], it.replay.op_end_ns[4] + 1000);
	change_free(&change);
	assert_int_equal(replay_run_typical(&it.replay, it.model), 0);
	assert_int_equal(it.replay.op_start_ns[5], it.replay.op_end_ns[4] + 1000);
	replayed_free(&it);
}

static void test_graph(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct replayed it = loop(3);
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
	assert_int_equal(wall_ns(&it), 9 * 41400 + 3 * BUSY_NS + 2 * 700);
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
	costs.graph_copy_gap_ns = 3000;
	costs.graph_copy_to_start_ns = 9000;
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
	costs.graph_copy_to_start_ns = 30000;
	change.calls[0] = CALL_KEPT;
	change.calls[1] = CALL_AS_GRAPH;
	change.calls[2] = CALL_IN_BODY;
	change.decision_ns = 4000;
	replayed_run(&it, &change, &costs);
	assert_int_equal(it.replay.op_start_ns[2], it.replay.op_end_ns[1] + 4000);
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

/* Three kernels as one: one launch, no gaps. */
static void test_fused(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_FUSED, CALL_FUSED, CALL_KEPT};
	struct replayed it = loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(it.replay.op_end_ns[2], 4250 + 3 * BUSY_NS);
	assert_int_equal(it.replay.call_end_ns[2], CALL_NS - 750);
	assert_int_equal(it.replay.call_end_ns[3], 4250 + 3 * BUSY_NS + 3000);
	change_free(&change);
	replayed_free(&it);
}

static void test_dependent(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DEPENDENT, CALL_DEPENDENT, CALL_KEPT};
	struct replayed it = loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[1], it.replay.op_end_ns[0]);
	assert_int_equal(it.replay.op_start_ns[2], it.replay.op_end_ns[1]);
	assert_int_equal(it.replay.call_end_ns[2], 3 * (CALL_NS - 750)); /* each is launched */
	change_free(&change);
	replayed_free(&it);
}

/* The host updates each node of the graph before it launches it. */
static void test_updated_graph(void **state)
{
	static const uint8_t calls[] = {CALL_AS_UPDATED, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_KEPT};
	struct replayed it = loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	change.update_ns = 800;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 3 * 800 + 6000);
	assert_int_equal(it.replay.call_end_ns[0], 3 * 800 + 4000);
	change_free(&change);
	replayed_free(&it);
}

static void test_queued_graphs(void **state)
{
	static const uint8_t calls[] = {CALL_AS_GRAPH, CALL_IN_GRAPH, CALL_IN_GRAPH, CALL_DROPPED};
	struct replayed it = loop(3);
	struct change change = same_every_time(&it, calls, 4);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[4], 4000 + 1000);
	assert_int_equal(it.replay.op_start_ns[3], 37400 + 1200); /* graph_gap */
	assert_int_equal(wall_ns(&it), 9 * (37400 + 1200 - 6000) + 31400);
	change_free(&change);
	replayed_free(&it);
}

static void test_after_graph(void **state)
{
	struct replayed it = loop(3);
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
	change.decision_ns = 900;
	for (size_t i = 1; i < it.profile->op_count; i += 3)
		change.op_ns[i] = OP_GONE;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[0], 6000);
	assert_int_equal(it.replay.op_end_ns[1], 16000);	 /* gone, and no gap before it */
	assert_int_equal(it.replay.op_start_ns[2], 16000 + 900); /* decided */
	assert_int_equal(it.replay.op_start_ns[3], 26900 + 700); /* the next iteration's, a node */
	assert_int_equal(wall_ns(&it), 9 * (2 * BUSY_NS + 900 + 700) + 2 * BUSY_NS + 900);
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
	assert_int_equal(change_begin(&change, it.model, true), 0);
	change.calls[0] = CALL_AS_GRAPH;
	change.calls[1] = CALL_IN_BODY;
	change.decision_ns = 900;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.op_start_ns[1], 16000 + 900);
	assert_int_equal(it.replay.op_start_ns[2], 26900 + 700);
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
		change.lanes[i] = (uint32_t)(i / 3 % 3);
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(it.replay.call_start_ns[4], 3 * 2000); /* launch_call each */
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(it.replay.op_start_ns[1], 105250);
	assert_int_equal(it.replay.op_start_ns[2], 206250);
	/* every engine is free 1000 ns after it ended: iterations start 101 us after each other */
	for (size_t i = 3; i < it.profile->op_count; i++)
		assert_int_equal(it.replay.op_start_ns[i] - it.replay.op_start_ns[i - 3], 101000);
	assert_int_equal(wall_ns(&it), 8 * 101000 + 302000);
	change_free(&change);
	replayed_free(&it);
}

/* Launches of one loop in three lanes, each kernel 40% of the GPU: two at a time, and a third lane waits.  The last
 * one waits for all. */
static void test_fill(void **state)
{
	struct replayed it = loop(4);
	struct change change;

	(void)state;
	assert_int_equal(change_begin(&change, it.model, true), 0);
	assert_int_equal(change_begin_lanes(&change, it.model, 3), 0);
	for (uint32_t i = 0; i < 4; i++) {
		change.lanes[i] = i % 3 | (i == 3 ? LANE_JOINED : 0);
		change.fill[i] = 40;
	}
	replayed_run(&it, &change, &random_costs);
	/* launched every 3250 ns */
	assert_int_equal(it.replay.op_start_ns[0], 4250);
	assert_int_equal(it.replay.op_start_ns[1], 4250 + 3250);
	assert_int_equal(it.replay.op_start_ns[2], it.replay.op_end_ns[0] + 1000);
	assert_int_equal(it.replay.op_start_ns[3], it.replay.op_end_ns[2] + 1000);
	change_free(&change);
	replayed_free(&it);
}

/* The host waits for all lanes, whichever ended last in the recording. */
static void test_wait_for_lanes(void **state)
{
	struct replayed it = loop(2);
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
	assert_true(it.replay.op_end_ns[0] > it.replay.op_end_ns[1]);
	assert_int_equal(it.replay.call_end_ns[2], it.replay.op_end_ns[0] + 3000);
	change_free(&change);
	replayed_free(&it);
}

/* A graph that was one already: recording added 535 ns to a node after another one, of
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
	assert_int_equal(it.replay.op_end_ns[2] - it.replay.op_start_ns[2], BUSY_NS - 235);
	assert_int_equal(it.replay.op_end_ns[4] - it.replay.op_start_ns[4], BUSY_NS);
	replayed_free(&it);
}

/* What the device launched comes as long after what started before it as it did. */
static void test_device_launched(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DROPPED};
	struct replayed it = loop(1), with;
	struct change change;

	(void)state;
	builder_kernel(it.b, 0, "child", 9 * 19000 + 7000, 9 * 19000 + 8000, PROFILE_NONE);
	it.b->devices[0].op_count++;
	with = replayed_new(it.b);
	change = same_every_time(&with, calls, 2);
	replayed_run(&with, &change, &random_costs);
	assert_int_equal(with.replay.op_start_ns[LOOPS] - with.replay.op_start_ns[LOOPS - 1], 2000);
	assert_int_equal(with.replay.op_end_ns[LOOPS] - with.replay.op_start_ns[LOOPS], 1000);
	change_free(&change);
	model_free(with.model);
	replay_free(&with.replay);
	replayed_free(&it);
}

static void test_moment(void **state)
{
	static const uint8_t calls[] = {CALL_KEPT, CALL_DROPPED};
	struct replayed it = loop(1);
	struct change change = same_every_time(&it, calls, 2);

	(void)state;
	replayed_run(&it, &change, &random_costs);
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, -5), -5);
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, 1000), 1000);
	/* inside a call that is shorter now, and inside one that is gone */
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, 3900), 3250);
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, 10000), 3250);
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, 18400), 3250 + 400);
	assert_int_equal(replay_moment_ns(&it.replay, it.model, 0, 19000), 4250);
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
		SENTENCE("a replay without a change gives every recorded time again", test_exact),
		SENTENCE("times in another unit are replayed in that unit", test_scaled),
		SENTENCE("a change of nothing changes no time", test_no_change),
		SENTENCE("no operation starts before what it waits for, whatever changes",
			 test_order),
		SENTENCE("nor when only what recording added is left out",
			 test_order_without_change),
		SENTENCE("operations in lanes take turns in their engine", test_engines),
		SENTENCE("calls of a thread never go backwards", test_forwards),
		SENTENCE("a dropped wait makes nothing later", test_dropped_waits),
		SENTENCE("a dependency that takes no time makes nothing later", test_shortened),
		SENTENCE("less time of recording makes nothing later", test_untraced),
		SENTENCE("a run of months is replayed like any other", test_months),
		SENTENCE("nothing recorded is nothing replayed", test_empty),
		SENTENCE("what recording added to calls is left out", test_untraced_loop),
		SENTENCE("without its waits a loop is as long as its kernels and their gaps",
			 test_waits_dropped),
		SENTENCE("a wait for what has ended takes its own time", test_late_wait),
		SENTENCE("a wait just after the end sees it as soon as it did", test_soon_after),
		SENTENCE("what a start took beyond the usual stays with it", test_rest),
		SENTENCE("an iteration as a graph has one launch, and gaps between nodes",
			 test_graph),
		SENTENCE("graphs queue behind each other", test_queued_graphs),
		SENTENCE("a kernel after a graph follows its last node", test_after_graph),
		SENTENCE("the body of a decision follows it without copy and wait", test_body),
		SENTENCE("a body of several nodes is decided once", test_body_of_nodes),
		SENTENCE("fused kernels are one launch without gaps", test_fused),
		SENTENCE("dependent launches leave no gap", test_dependent),
		SENTENCE(
			"what the host takes to prepare a launch of an iteration, it takes for the first as well",
			test_graph_pauses),
		SENTENCE("nodes before and after a copy from or to the host are further apart",
			 test_graph_of_copies),
		SENTENCE("a read that is gone leaves no gap of a copy", test_graph_without_read),
		SENTENCE("a graph's launch is recorded at a cost of its own", test_traced_graph),
		SENTENCE("a graph that is updated is launched that much later", test_updated_graph),
		SENTENCE("kernels in lanes run side by side as far as they fit", test_fill),
		SENTENCE("a wait is for all lanes", test_wait_for_lanes),
		SENTENCE("copies in, kernels and copies out of three lanes run side by side",
			 test_lanes),
		SENTENCE(
			"calls that make or change something are shorter by what recording added, waits are not",
			test_untraced_calls),
		SENTENCE("nodes come closer by what recording added", test_untraced_nodes),
		SENTENCE("what the device launched follows what started before it",
			 test_device_launched),
		SENTENCE("a moment of the recording is found in the replay", test_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
