/* What holds for every replay, tried with random profiles and changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_replay.h"

/* Sanitizers look at the code that runs, which fewer programs made by chance have, too. */
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 100
#else
#define SEEDS 300
#endif
#define MONTHS_UNIT_NS 1000000000 /* profiles then last for months */

static void expect_recorded(const struct replayed *it, uint64_t seed)
{
	for (size_t i = 0; i < it->profile->call_count; i++)
		if (it->replay.call_start_ns[i] != it->profile->calls[i].start_ns ||
		    it->replay.call_end_ns[i] != it->profile->calls[i].end_ns)
			fail_msg("seed %d: call %zu differs", (int)seed, i);
	for (size_t i = 0; i < it->profile->op_count; i++)
		if (it->replay.op_start_ns[i] != it->profile->ops[i].start_ns ||
		    replay_op_end_ns(&it->replay, i) != it->profile->ops[i].end_ns)
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

/* A stream of the process of a call's thread. */
static uint32_t random_stream(struct random *random, const struct profile *profile,
			      const struct profile_call *call)
{
	uint32_t stream;

	do
		stream = (uint32_t)random_below(random, profile->stream_count);
	while (profile->streams[stream].process != profile->threads[call->thread].process);
	return stream;
}

/* Calls that do nothing on the GPU record one of four events, and streams wait for them. */
static void add_events(struct builder *b, struct profile_event_call *rows, uint64_t seed)
{
	struct random random = random_of(seed);
	struct profile *profile = &b->profile;

	profile->event_calls = rows;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		enum profile_call_class class = profile->call_names[call->name].call_class;

		if (class != CALL_EVENT && class != CALL_OTHER)
			continue;
		rows[profile->event_call_count++] = (struct profile_event_call){
			.event = random_below(&random, 4),
			.call = (uint32_t)i,
			.process = profile->threads[call->thread].process,
			.stream = random_stream(&random, profile, call),
			.kind = class == CALL_EVENT ? EVENT_AWAITED_BY_STREAM : EVENT_RECORDED,
		};
	}
}

static void test_events(void **state)
{
	static struct profile_event_call rows[BUILDER_ROOM];
	size_t waiting_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct builder *b = random_profile(seed, 1);
		struct replayed it;

		add_events(b, rows, seed);
		it = replayed_new(b);
		replayed_run(&it, NULL, NULL);
		expect_recorded(&it, seed);
		for (size_t i = 0; i < it.profile->op_count; i++) {
			uint32_t other = model_cross_stream(it.model, i);

			waiting_count += other != PROFILE_NONE;
			if (other != PROFILE_NONE &&
			    it.profile->ops[other].end_ns > it.profile->ops[i].start_ns)
				fail_msg("seed %d: %zu waits for what had not ended", (int)seed, i);
		}
		replayed_free(&it);
	}
	assert_true(waiting_count > SEEDS);
}

/* Without costs a replay is the recording, so this holds where that does; medians and the constants
 * of steps.c, which do not scale, must cancel out. */
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
			assert_int_equal(replay_op_end_ns(&many.replay, i),
					 1000 * replay_op_end_ns(&one.replay, i));
		replayed_free(&one);
		replayed_free(&many);
	}
}

static void expect_same_ends(const struct replay *left, const struct replay *right)
{
	assert_int_equal(left->op_count, right->op_count);
	for (size_t i = 0; i < left->op_count; i++)
		assert_int_equal(replay_op_end_ns(left, i), replay_op_end_ns(right, i));
}

static void expect_same(const struct replay *left, const struct replay *right)
{
	size_t calls = left->call_count * sizeof(int64_t), ops = left->op_count * sizeof(int64_t);

	assert_memory_equal(left->call_start_ns, right->call_start_ns, calls);
	assert_memory_equal(left->call_end_ns, right->call_end_ns, calls);
	assert_memory_equal(left->op_start_ns, right->op_start_ns, ops);
	expect_same_ends(left, right);
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
		replay_op_end_ns(&check->it->replay, index) - check->it->replay.op_start_ns[index];

	if (changed_ns >= 0)
		assert_int_equal(length_ns, changed_ns);
	else if (!profile_op_node(check->it->profile, op))
		assert_int_equal(length_ns, recorded_ns);
	else
		assert_in_range(length_ns, recorded_ns / 4, recorded_ns);
}

/* In a lane an operation no longer waits for what was before it in its stream: that is the change. */
static void check_op(struct check *check, uint32_t op)
{
	const struct replay *replay = &check->it->replay;
	const struct model *model = check->it->model;
	uint32_t said = check->change->lanes ? check->change->lanes[op] : LANE_NONE;
	uint32_t lane = said == LANE_NONE ? PROFILE_NONE : said & ~LANE_JOINED;
	uint32_t before =
		lane == PROFILE_NONE ? model_predecessor(model, op) : check->lane_tails[lane];
	int64_t op_ns = change_op_ns(check->change->op_ns, op);

	if (before != PROFILE_NONE)
		expect_after(check, op, replay_op_end_ns(replay, before), "what is before it");
	if (model_cross_stream(model, op) != PROFILE_NONE)
		expect_after(check, op, replay_op_end_ns(replay, model_cross_stream(model, op)),
			     "another stream's");
	for (int i = 0; i < 3 && said != LANE_NONE && said & LANE_JOINED; i++)
		if (check->lane_tails[i] != PROFILE_NONE)
			expect_after(check, op, replay_op_end_ns(replay, check->lane_tails[i]),
				     "a lane");
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
	const struct submissions *submissions = &it->model->submissions;
	struct check check = {.it = it, .change = change, .seed = seed};

	memset(check.lane_tails, 0xff, sizeof(check.lane_tails));
	for (size_t i = 0; i < it->profile->call_count; i++) {
		uint32_t call = model_call_at(it->model, i);
		int64_t since_ns = submitted_ns(&check, call);

		for (uint32_t j = submissions_first(submissions, call);
		     j < submissions_first(submissions, call + 1); j++) {
			expect_after(&check, submissions_op(submissions, j), since_ns, "its call");
			check_op(&check, submissions_op(submissions, j));
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
		const struct profile_op *op;
	} items[1000];
};

static int64_t overlap_ns(const struct profile_op *left, const struct profile_op *right)
{
	int64_t start_ns = left->start_ns > right->start_ns ? left->start_ns : right->start_ns;
	int64_t end_ns = left->end_ns < right->end_ns ? left->end_ns : right->end_ns;

	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Kernels that overlapped in the recording may do so as long. */
static unsigned int load_at(const struct engine_load *load, int engine, int64_t moment_ns,
			    const struct profile_op *op)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < load->count; i++)
		if (load->items[i].engine == engine &&
		    load->items[i].end_ns - (engine ? 0 : overlap_ns(load->items[i].op, op)) >
			    moment_ns)
			sum += load->items[i].fill;
	return sum;
}

/* One copy in each direction at a time, and as many kernels as fill the GPU, as they were submitted. */
static void expect_engines(const struct replayed *it, const struct change *change, uint64_t seed)
{
	const struct submissions *submissions = &it->model->submissions;
	struct engine_load load = {.last_start_ns = {INT64_MIN, INT64_MIN, INT64_MIN}};

	for (size_t i = 0; change->lanes && i < it->profile->call_count; i++)
		for (uint32_t j = submissions_first(submissions, model_call_at(it->model, i));
		     j < submissions_first(submissions, model_call_at(it->model, i) + 1); j++) {
			uint32_t index = submissions_op(submissions, j);
			const struct profile_op *op = &it->profile->ops[index];
			int64_t start_ns = it->replay.op_start_ns[index];
			int engine = op->kind != OP_COPY			 ? 0
				     : it->profile->copies[op->detail].kind == 2 ? 1
										 : 2;
			unsigned int fill =
				engine == 0 && change->fill[index] ? change->fill[index] : 100;

			if (change->lanes[index] == LANE_NONE)
				continue;
			if (start_ns < load.last_start_ns[engine])
				fail_msg("seed %d: overtakes in an engine", (int)seed);
			if (replay_op_end_ns(&it->replay, index) > start_ns &&
			    load_at(&load, engine, start_ns, op) + fill > 100)
				fail_msg("seed %d: too many at a time in an engine", (int)seed);
			load.last_start_ns[engine] = start_ns;
			assert_true(load.count < 1000);
			load.items[load.count].engine = engine;
			load.items[load.count].fill = fill;
			load.items[load.count].op = op;
			load.items[load.count++].end_ns = replay_op_end_ns(&it->replay, index);
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

static size_t kept_count, gone_count; /* replays whose calls are kept */

/* What is kept of calls tells the same time, but where it does not fit. */
static void check_kept(const struct call_times *kept, const struct place *places, size_t count,
		       int64_t expected_ns)
{
	struct part_time told;

	kept_count += kept->is_whole;
	gone_count += !kept->is_whole;
	if (!kept->is_whole)
		return;
	assert_int_equal(part_time_open(&told, places, count, kept->profile), 0);
	call_times_tell(kept, &told);
	assert_int_equal(part_time_ns(&told), expected_ns);
	part_time_free(&told);
}

/* Some parts of every thread. */
static size_t random_places(struct place *places, const struct profile *profile,
			    struct random *random)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->thread_count; i++) {
		size_t first = profile->threads[i].first_call;
		size_t end = first + profile->threads[i].call_count;

		while (first < end) {
			size_t length = 1 + random_below(random, end - first);

			if (random_hits(random, 70))
				places[count++] = (struct place){first, first + length};
			first += length;
		}
	}
	return count;
}

/* They are the same, and kept only where some operation takes another time than the change or the recording says. */
static void expect_starts(const struct replay *watched, const struct replay *replay)
{
	bool is_other = false;

	for (size_t i = 0; i < replay->op_count; i++) {
		assert_int_equal(replay_op_start_ns(watched, i), replay->op_start_ns[i]);
		is_other |= replay_op_end_ns(replay, i) - replay->op_start_ns[i] !=
			    replay_op_length_ns(watched, i);
	}
	assert_int_equal(watched->op_start_ns != NULL, is_other);
}

static void expect_watched(const struct replayed *it, const struct change *change, uint64_t seed)
{
	struct random random = random_of(seed + 2);
	struct place *places = calloc(it->profile->call_count + 1, sizeof(*places));
	size_t count = random_places(places, it->profile, &random);
	struct replay watched = {0};
	struct part_time watch;
	struct call_times kept;
	struct spans spans = {0};
	int64_t sum_ns, watched_ns;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(spans_add(&spans, it->replay.call_start_ns[places[i].first],
					   replay_end_ns(&it->replay, it->model, places[i].first,
							 places[i].end)),
				 0);
	spans_seal(&spans);
	sum_ns = spans_covered(&spans, INT64_MIN, INT64_MAX);
	spans_free(&spans);
	assert_int_equal(part_time_open(&watch, places, count, it->profile), 0);
	assert_int_equal(call_times_open(&kept, it->profile), 0);
	assert_int_equal(replay_time(&watched, it->model, change, &random_costs,
				     &(struct call_watch){&watch, 1, &kept}),
			 0);
	watched_ns = part_time_ns(&watch);
	if (watched_ns != sum_ns)
		fail_msg("seed %d: %d ns, not %d", (int)seed, (int)watched_ns, (int)sum_ns);
	assert_null(watched.call_start_ns);
	expect_starts(&watched, &it->replay);
	expect_same_ends(&watched, &it->replay);
	part_time_free(&watch);
	check_kept(&kept, places, count, sum_ns);
	call_times_free(&kept);
	replay_free(&watched);
	free(places);
}

static void test_watched(void **state)
{
	(void)state;
	each_change(expect_watched);
	assert_true(kept_count > gone_count);
}

/* As recorded each operation takes as long as it did. */
static void test_starts_follow(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed it = replayed_new(random_profile(seed, 1));
		struct replay timed = {0};

		replayed_run(&it, NULL, NULL);
		assert_int_equal(replay_time(&timed, it.model, NULL, NULL, &(struct call_watch){0}),
				 0);
		expect_starts(&timed, &it.replay);
		assert_null(timed.op_start_ns);
		replay_free(&timed);
		replayed_free(&it);
	}
}

/* Two calls of 10 ns; returns how long they take together by what was kept of them, or -1 where they cannot be asked. */
static int64_t kept_ns(int64_t second_start_ns)
{
	const struct place place = {0, 2};
	struct builder *b = builder_new(1, 1);
	struct part_time watch;
	struct call_times kept;
	int64_t ns = -1;

	builder_launch(b, 0, 0, 10);
	builder_launch(b, 0, second_start_ns, second_start_ns + 10);
	builder_finish(b);
	assert_int_equal(call_times_open(&kept, &b->profile), 0);
	assert_int_equal(part_time_open(&watch, &place, 1, &b->profile), 0);
	call_times_add(&kept, 0, 0, 0, 10, INT64_MIN);
	call_times_add(&kept, 0, 1, second_start_ns, second_start_ns + 10, INT64_MIN);
	if (kept.is_whole) {
		call_times_tell(&kept, &watch);
		ns = part_time_ns(&watch);
	}
	part_time_free(&watch);
	call_times_free(&kept);
	free(b);
	return ns;
}

static void test_any_length_is_kept(void **state)
{
	(void)state;
	for (int bits = 4; bits < 62; bits++) {
		assert_int_equal(kept_ns((INT64_C(1) << bits) - 1), (INT64_C(1) << bits) + 9);
		assert_int_equal(kept_ns(INT64_C(1) << bits), (INT64_C(1) << bits) + 10);
	}
}

/* What one call submits would be over before the next one begins. */
static void test_overlap_is_not_kept(void **state)
{
	(void)state;
	assert_int_equal(kept_ns(10), 20);
	assert_int_equal(kept_ns(9), -1);
}

static void expect_not_later(const struct replay *less, const struct replay *more, uint64_t seed)
{
	for (size_t i = 0; i < less->call_count; i++)
		if (less->call_end_ns[i] > more->call_end_ns[i])
			fail_msg("seed %d: call %zu ends later", (int)seed, i);
	for (size_t i = 0; i < less->op_count; i++)
		if (less->op_start_ns[i] > more->op_start_ns[i] ||
		    replay_op_end_ns(less, i) > replay_op_end_ns(more, i))
			fail_msg("seed %d: operation %zu is later", (int)seed, i);
}

/* Where nodes of a graph share engines, one that is ready sooner may hold another one up. */
static void without_graphs(const struct replayed *it, const struct change *change)
{
	for (size_t i = 0; i < it->profile->call_count; i++)
		if (call_change_is_graph(change_of_call(change, i)) ||
		    call_change_is_node(change_of_call(change, i)))
			change->calls[i] = CALL_KEPT;
}

/* Not even one operation is later. */
static void expect_no_harm_by_dropping(const struct replayed *it, const struct change *change,
				       uint64_t seed)
{
	const struct profile *profile = it->profile;
	struct random random = random_of(seed + 1);
	struct replay more = {0}, less = {0};

	without_graphs(it, change);
	assert_int_equal(replay_run(&more, it->model, change, &random_costs), 0);
	for (size_t i = 0; i < profile->call_count; i++)
		if (profile->call_names[profile->calls[i].name].call_class == CALL_SYNC &&
		    random_hits(&random, 20))
			change->calls[i] = CALL_DROPPED;
	assert_int_equal(replay_run(&less, it->model, change, &random_costs), 0);
	expect_not_later(&less, &more, seed);
	replay_free(&more);
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
	struct replay more = {0}, less = {0};

	without_graphs(it, change);
	assert_int_equal(replay_run(&more, it->model, change, &random_costs), 0);
	for (size_t i = 0; i < it->profile->op_count; i++)
		if (random_hits(&random, 20))
			change->op_ns[i] = OP_GONE;
	assert_int_equal(replay_run(&less, it->model, change, &random_costs), 0);
	expect_not_later(&less, &more, seed);
	replay_free(&more);
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
		untraced.trace_kernel_ns = 300;
		untraced.trace_graph_ns = untraced.trace_whole_graph_ns = 500;
		replayed_run(&it, NULL, &random_costs);
		assert_int_equal(replay_run(&less, it.model, NULL, &untraced), 0);
		expect_not_later(&less, &it.replay, seed);
		replay_free(&less);
		replayed_free(&it);
	}
}

/* Where only times are asked for, starts are kept from where they do not follow from ends, and in the next run. */
static void expect_timed(const struct replayed *it, const struct change *change)
{
	const struct call_watch watch = {0};
	struct replay timed = {0};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(replay_time(&timed, it->model, change, &random_costs, &watch), 0);
		for (size_t op = 0; op < it->replay.op_count; op++)
			assert_int_equal(replay_op_start_ns(&timed, op),
					 it->replay.op_start_ns[op]);
	}
	replay_free(&timed);
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
		expect_timed(&it, &change);
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

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a replay without a change gives every recorded time again", test_exact),
		SENTENCE("times in another unit are replayed in that unit", test_scaled),
		SENTENCE("with recorded events, too, a replay gives every recorded time again",
			 test_events),
		SENTENCE("a change of nothing changes no time", test_no_change),
		SENTENCE("no operation starts before what it waits for, whatever changes",
			 test_order),
		SENTENCE("nor when only what recording added is left out",
			 test_order_without_change),
		SENTENCE("operations in lanes take turns in their engine", test_engines),
		SENTENCE("calls of a thread never go backwards", test_forwards),
		SENTENCE("a stopwatch tells what the times of all calls and operations say",
			 test_watched),
		SENTENCE("starts that follow from ends and lengths are not kept",
			 test_starts_follow),
		SENTENCE("times of calls are kept whatever their length", test_any_length_is_kept),
		SENTENCE("times of calls that overlap are not kept", test_overlap_is_not_kept),
		SENTENCE("a dropped wait makes nothing later", test_dropped_waits),
		SENTENCE("a dependency that takes no time makes nothing later", test_shortened),
		SENTENCE("less time of recording makes nothing later", test_untraced),
		SENTENCE("a run of months is replayed like any other", test_months),
		SENTENCE("nothing recorded is nothing replayed", test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
