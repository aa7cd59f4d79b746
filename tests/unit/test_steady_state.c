/* What repeats in made-up runs, and what happens once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "fixture_steady.h"

#define PAUSE_NS 5000000
#define CHECK_NS 5000000 /* longer than all iterations together */
#define EQUAL_LAUNCHES 100

/* Start-up, a first iteration that loads code, a hundred more, and a pause amid them. */
static struct steady_run usual_run(void)
{
	struct steady_run run = steady_run_new();

	steady_run_call(&run, "cuDevicePrimaryCtxRetain", CALL_OTHER, 400000);
	steady_run_call(&run, "cudaMalloc", CALL_MEMORY, 20000);
	builder_overhead(run.b, 0, 0, false, run.now_ns + 10000, run.now_ns + 210000);
	steady_run_iterate(&run, 1, 300000);
	steady_run_iterate(&run, 60, 0);
	steady_run_pause(&run, PAUSE_NS);
	steady_run_iterate(&run, 40, 0);
	return run;
}

static void test_found(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found = steady_find(run.b);

	(void)state;
	assert_true(found.device->is_found);
	assert_int_equal(found.device->loop.warm_up_count, 1);
	assert_int_equal(found.device->loop.count, 100);
	assert_int_equal(found.device->loop.median_ns, STEADY_ITERATION_NS);
	assert_int_equal(found.device->steady.launch_count, 200);
	assert_int_equal(found.device->steady.operation_count, 200);
	assert_int_equal(found.device->once.launch_count, 2);
	steady_done(run.b, &found);
}

static void test_pause(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found = steady_find(run.b);
	const struct steady_device *device = found.device;

	(void)state;
	assert_int_equal(device->steady.wall_ns, 100 * STEADY_ITERATION_NS + PAUSE_NS);
	assert_int_equal(device->pause_ns, PAUSE_NS);
	assert_int_equal(device->usual_count, 99);
	assert_int_equal(device->usual.wall_ns, 99 * STEADY_ITERATION_NS);
	assert_int_equal(device->usual.busy_ns, 99 * STEADY_BUSY_NS);
	assert_int_equal(device->usual.by_cause_ns[GAP_HOST], 99 * 3000);
	steady_done(run.b, &found);
}

/* As a check of results between the warm-up and what is measured, of a job. */
static void test_check(void **state)
{
	struct steady_run run = steady_run_new();
	struct steady_found found;

	(void)state;
	steady_run_kernel(&run, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1000);
	steady_run_iterate(&run, 61, 0);
	steady_run_pause(&run, CHECK_NS);
	steady_run_iterate(&run, 40, 0);
	found = steady_find(run.b);
	assert_int_equal(found.device->loop.count, 100);
	assert_in_range(found.device->steady.wall_ns, 99 * STEADY_ITERATION_NS,
			100 * STEADY_ITERATION_NS);
	assert_true(found.device->pause_ns < STEADY_ITERATION_NS);
	assert_int_equal(found.device->steady.operation_count, 200);
	steady_done(run.b, &found);
}

/* A step: many equal launches, and what all GPUs meet in, or a kernel of one's own. */
static void add_steps(struct steady_run *run, int count, const char *last)
{
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < EQUAL_LAUNCHES; j++)
			steady_run_kernel(run, "gradient", 10000);
		steady_run_kernel(run, last, 500000);
		steady_run_kernel(run, "update", 20000);
	}
}

static void test_step(void **state)
{
	static const char *const last[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "normalize"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct steady_run run = steady_run_new();
		struct steady_found found;

		add_steps(&run, 20, last[i]);
		found = steady_find(run.b);
		if (i == 0) {
			assert_true(found.device->is_found);
			assert_in_range(found.device->loop.count, 18, 19);
			assert_int_equal(found.device->steady.operation_count,
					 found.device->loop.count * (EQUAL_LAUNCHES + 2));
		} else {
			/* of one GPU alone the equal launches are what repeats */
			assert_true(found.device->loop.members[0] < found.state->loops.count);
		}
		assert_true(found.state->repeated.count > found.state->loops.count);
		steady_done(run.b, &found);
	}
}

/* The first collective waits for a rank that starts late, for longer than all iterations take. */
static void test_late_start(void **state)
{
	static const char *const first[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "long"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct steady_run run = steady_run_new();
		struct steady_found found;

		steady_run_kernel(&run, first[i], 200 * STEADY_ITERATION_NS);
		steady_run_iterate(&run, 100, 0);
		found = steady_find(run.b);
		assert_int_equal(found.device->is_found, i == 0);
		steady_done(run.b, &found);
	}
}

static int64_t sum_of(const int64_t *parts, int count)
{
	int64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += parts[i];
	return sum;
}

/* Whether the device has a steady state. */
static bool expect_sums(const struct steady_found *found, size_t index)
{
	const struct steady_device *device = &found->state->devices[index];
	const struct gap_device *gaps = &found->gaps->devices[index];

	if (!device->is_found)
		return false;
	assert_int_equal(device->steady.wall_ns + device->once.wall_ns, device->run_ns);
	assert_int_equal(device->steady.busy_ns + device->steady.idle_ns, device->steady.wall_ns);
	assert_int_equal(device->usual.busy_ns + device->usual.idle_ns, device->usual.wall_ns);
	assert_int_equal(device->steady.busy_ns + device->once.busy_ns, gaps->busy_ns);
	assert_int_equal(device->steady.idle_ns + device->once.idle_ns, gaps->idle_ns);
	assert_int_equal(sum_of(device->steady.by_cause_ns, GAP_CAUSE_COUNT),
			 device->steady.idle_ns);
	assert_int_equal(sum_of(device->usual.by_cause_ns, GAP_CAUSE_COUNT), device->usual.idle_ns);
	assert_int_equal(sum_of(device->once.by_cause_ns, GAP_CAUSE_COUNT), device->once.idle_ns);
	assert_int_equal(sum_of(device->once_ns, ONCE_CAUSE_COUNT), device->once.wall_ns);
	return true;
}

/* Iterations, pauses, calls and other kernels in any order. */
static struct steady_run random_run(uint64_t seed)
{
	struct steady_run run = steady_run_new();
	struct random random = random_of(seed);

	for (int i = 0; i < 12; i++) {
		int64_t ns = (int64_t)random_below(&random, 50000);

		switch (random_below(&random, 5)) {
		case 0:
			steady_run_call(&run, "cudaMalloc", CALL_MEMORY, ns);
			break;
		case 1:
			steady_run_kernel(&run, "other", ns);
			break;
		case 2:
			steady_run_pause(&run, 10 * ns);
			break;
		default:
			steady_run_iterate(&run, (int)random_below(&random, 30), ns / 4);
		}
	}
	steady_run_kernel(&run, "last", 1000);
	return run;
}

static void test_sums(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found = steady_find(run.b);
	int count = 0;

	(void)state;
	assert_true(expect_sums(&found, 0));
	steady_done(run.b, &found);
	for (uint64_t seed = 1; seed <= 300; seed++) {
		run = random_run(seed);
		found = steady_find(run.b);
		count += expect_sums(&found, 0);
		steady_done(run.b, &found);
	}
	assert_in_range(count, 100, 300);
}

static void test_once(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found;

	(void)state;
	run.b->processes[0].start_ns = 900000;
	run.b->processes[0].last_ns = run.now_ns;
	found = steady_find(run.b);
	assert_int_equal(found.device->once_ns[ONCE_START], 100000);
	assert_int_equal(found.device->once_ns[ONCE_CONTEXT], 400000);
	assert_int_equal(found.device->once_ns[ONCE_ALLOCATION], 20000);
	assert_int_equal(found.device->once_ns[ONCE_MODULE], 200000);
	/* both calls of the first iteration, but what they loaded */
	assert_int_equal(found.device->once_ns[ONCE_FIRST_LAUNCH], 304000 + 4000 - 200000);
	/* the first wait until its kernels had ended, and the last one after its own had */
	assert_int_equal(found.device->once_ns[ONCE_WAIT], 13000 + 2000);
	assert_int_equal(found.device->once_ns[ONCE_HOST], 3000);
	steady_done(run.b, &found);
}

static void test_no_steady_state(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found;

	(void)state;
	steady_run_kernel(&run, "long", 102 * STEADY_BUSY_NS);
	found = steady_find(run.b);
	assert_false(found.device->is_found);
	steady_done(run.b, &found);
}

static void test_few_iterations(void **state)
{
	struct steady_run run = steady_run_new();
	struct steady_found found;

	(void)state;
	steady_run_iterate(&run, 1, 300000);
	steady_run_iterate(&run, LOOP_LEAST_ITERATIONS - 1, 0);
	found = steady_find(run.b);
	assert_false(found.device->is_found);
	steady_done(run.b, &found);
}

static void add_copies(struct steady_run *run, int count)
{
	for (int i = 0; i < count; i++, run->now_ns += 1000000)
		builder_copy(run->b, 0,
			     (struct profile_copy){.bytes = 1 << 20, .kind = COPY_TO_HOST},
			     run->now_ns + 10000, run->now_ns + 900000,
			     builder_call(run->b, 0, "cudaMemcpy", CALL_COPY, run->now_ns,
					  run->now_ns + 910000));
}

static void test_copies(void **state)
{
	struct steady_run run = usual_run();
	struct steady_found found;

	(void)state;
	add_copies(&run, 50);
	found = steady_find(run.b);
	assert_true(found.device->is_found);
	assert_int_equal(found.device->loop.median_ns, STEADY_ITERATION_NS);
	steady_done(run.b, &found);
}

static void test_runs_again(void **state)
{
	struct steady_run run = steady_run_new();
	struct steady_found found;

	(void)state;
	for (int i = 0; i < 3; i++) {
		steady_run_iterate(&run, 40, 0);
		for (int j = 0; j < 6; j++)
			steady_run_kernel(&run, j % 2 ? "check" : "sum", 2000);
		steady_run_kernel(&run, "norm", 2000);
	}
	found = steady_find(run.b);
	assert_true(found.device->is_found);
	assert_int_equal(found.device->loop.member_count, 3);
	assert_in_range(found.device->loop.count, 117, 120);
	assert_int_equal(found.device->loop.median_ns, STEADY_ITERATION_NS);
	steady_done(run.b, &found);
}

/* Launched every 5 us, each runs for 100. */
static void test_queue(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct steady_found found;

	(void)state;
	for (int64_t i = 0; i < 40; i++)
		builder_kernel(b, 0, "k", 10000 + i * 100000, 10000 + (i + 1) * 100000,
			       builder_launch(b, 0, i * 5000, i * 5000 + 4000));
	found = steady_find(b);
	assert_true(found.device->is_found);
	assert_int_equal(found.device->loop.median_ns, 100000);
	assert_int_equal(found.device->steady.wall_ns, 39 * 100000);
	steady_done(b, &found);
}

/* Mean of the usual iterations. */
static double usual_ns(const struct steady_device *device)
{
	return (double)device->usual.wall_ns / (double)device->usual_count;
}

static void test_traces_agree(void **state)
{
	struct steady_run calm = usual_run(), restless = steady_run_new();
	struct steady_found calm_found, restless_found;

	(void)state;
	steady_run_call(&restless, "cuDevicePrimaryCtxRetain", CALL_OTHER, 4000000);
	steady_run_iterate(&restless, 3, 900000);
	for (int i = 0; i < 20; i++) {
		steady_run_iterate(&restless, 19, 0);
		steady_run_pause(&restless,
				 2 * PAUSE_NS); /* as an interpreter that collects garbage */
		steady_run_iterate(&restless, 1, 0);
	}
	calm_found = steady_find(calm.b);
	restless_found = steady_find(restless.b);
	assert_int_equal(restless_found.device->loop.warm_up_count, 3);
	assert_true(restless_found.device->steady.wall_ns >
		    10 * (int64_t)restless_found.device->loop.count * STEADY_ITERATION_NS);
	assert_float_equal(usual_ns(calm_found.device), usual_ns(restless_found.device), 1);
	steady_done(calm.b, &calm_found);
	steady_done(restless.b, &restless_found);
}

static void test_devices(void **state)
{
	struct builder *b = builder_new(2, 2);
	struct steady_found found;

	(void)state;
	for (int64_t i = 0; i < 40; i++)
		for (uint32_t p = 0; p < 2; p++) {
			int64_t start_ns = i * 100000 * (p + 1);

			builder_kernel(b, builder_stream(b, p, p), "k", start_ns + 5000,
				       start_ns + 25000,
				       builder_launch(b, p, start_ns, start_ns + 4000));
		}
	found = steady_find(b);
	for (int p = 0; p < 2; p++) {
		assert_true(found.state->devices[p].is_found);
		assert_int_equal(found.state->devices[p].loop.median_ns, 100000 * (p + 1));
		assert_true(expect_sums(&found, (size_t)p));
	}
	steady_done(b, &found);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("the loop is found without NVTX, and its warm-up is no part of it",
			 test_found),
		SENTENCE("a pause amid the loop is no part of an iteration, and is told apart",
			 test_pause),
		SENTENCE("what takes longer than all iterations together happens once", test_check),
		SENTENCE("a step of a job is what repeats, not the equal launches in it",
			 test_step),
		SENTENCE("a collective that waits for a late rank hides no steady state",
			 test_late_start),
		SENTENCE(
			"steady state and once add up to the run, busy and idle by cause, in any run",
			test_sums),
		SENTENCE("what happens once has one cause for each nanosecond", test_once),
		SENTENCE("where kernels run longer outside of the loop there is no steady state",
			 test_no_steady_state),
		SENTENCE("a few iterations are no steady state", test_few_iterations),
		SENTENCE("a loop that only copies is no steady state, however long", test_copies),
		SENTENCE("a loop that runs again is the same one", test_runs_again),
		SENTENCE("iterations that are queued last from the end of the one before",
			 test_queue),
		SENTENCE("traces of one program with other start-up and pauses agree",
			 test_traces_agree),
		SENTENCE("each device has a steady state of its own", test_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
