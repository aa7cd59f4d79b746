/* Times divided into what lies in the steady state and what happens once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/statistics.h"
#include "fixture_steady.h"

#define RETAIN_NS 400000
#define FIRST_NS 300000 /* by how much the first iteration's launches take longer */

struct split_run {
	struct steady_run run;
	struct steady_found found;
	struct statistics *statistics;
};

static struct split_run split_of(struct steady_run run)
{
	struct split_run split = {.run = run, .found = steady_find(run.b)};
	struct err err = {""};

	assert_int_equal(statistics_collect(&split.statistics, &run.b->profile, split.found.state,
					    &err),
			 0);
	return split;
}

static struct split_run usual(void)
{
	struct steady_run run = steady_run_new();

	steady_run_call(&run, "cuDevicePrimaryCtxRetain", CALL_OTHER, RETAIN_NS);
	steady_run_iterate(&run, 1, FIRST_NS);
	steady_run_iterate(&run, 100, 0);
	steady_run_kernel(&run, "last", 7000);
	return split_of(run);
}

static void done(struct split_run *split)
{
	statistics_free(split->statistics);
	steady_done(split->run.b, &split->found);
}

static void expect(const struct steady_split *split, int64_t steady_ns, uint64_t steady_count,
		   int64_t once_ns, uint64_t once_count)
{
	assert_false(split->is_unknown);
	assert_int_equal(split->steady.time_ns, steady_ns);
	assert_int_equal(split->steady.count, steady_count);
	assert_int_equal(split->once.time_ns, once_ns);
	assert_int_equal(split->once.count, once_count);
}

static const struct kernel_statistics *kernel_called(const struct split_run *split,
						     const char *name)
{
	for (size_t i = 0; i < split->statistics->kernel_count; i++)
		if (!strcmp(split->statistics->kernels[i].name, name))
			return &split->statistics->kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

static const struct call_statistics *call_called(const struct split_run *split, const char *name)
{
	const struct profile *profile = &split->run.b->profile;

	for (size_t i = 0; i < split->statistics->call_count; i++)
		if (!strcmp(profile->call_names[split->statistics->calls[i].name].text, name))
			return &split->statistics->calls[i];
	fail_msg("no call %s", name);
	return NULL;
}

static void test_kernels(void **state)
{
	struct split_run split = usual();

	(void)state;
	expect(&kernel_called(&split, "A")->split, 100 * 10000, 100, 10000, 1);
	expect(&kernel_called(&split, "B")->split, 100 * 5000, 100, 5000, 1);
	expect(&kernel_called(&split, "last")->split, 0, 0, 7000, 1);
	done(&split);
}

static void test_calls(void **state)
{
	struct split_run split = usual();

	(void)state;
	expect(&call_called(&split, "cuDevicePrimaryCtxRetain")->split, 0, 0, RETAIN_NS, 1);
	done(&split);
}

/* A launch call reaches over the end of the iteration: what lies on either side of it is divided. */
static void test_across(void **state)
{
	struct split_run split = usual();
	const struct spans *when = &split.found.device->when;
	int64_t start_ns = when->items[0].start_ns;
	struct steady_split any = {0};

	(void)state;
	assert_int_equal(when->count, 1);
	steady_split_any(&any, split.found.state, 0, start_ns - 30, start_ns + 12);
	expect(&any, 12, 0, 30, 1);
	steady_split_any(&any, split.found.state, 0, start_ns, start_ns + 5);
	expect(&any, 17, 1, 30, 1);
	done(&split);
}

/* 40 iterations are submitted at once, and the GPU takes longer for each than the host for all: their calls are those of what
 * repeats, though the GPU is still warming up. */
static void test_ahead(void **state)
{
	struct steady_run run = steady_run_new();
	struct split_run split;
	uint32_t calls[41];

	(void)state;
	for (int i = 0; i <= 40; i++)
		calls[i] = builder_launch(run.b, 0, 1000 + i * 100, 1050 + i * 100);
	for (int i = 0; i <= 40; i++)
		builder_kernel(run.b, 0, "long", 6000 + i * 10000, 16000 + i * 10000, calls[i]);
	builder_call(run.b, 0, "cudaDeviceSynchronize", CALL_SYNC, 6000, 6000 + 41 * 10000);
	split = split_of(run);
	assert_true(split.found.device->is_found);
	assert_int_equal(split.found.device->loop.count, 40);
	expect(&kernel_called(&split, "long")->split, 40 * 10000, 40, 10000, 1);
	expect(&call_called(&split, "cudaLaunchKernel")->split, 40 * 50, 40, 50, 1);
	done(&split);
}

static void test_sums(void **state)
{
	struct split_run split = usual();
	const struct statistics *s = split.statistics;
	const struct steady_device *device = split.found.device;
	int64_t steady_ns = 0;

	(void)state;
	for (size_t i = 0; i < s->call_count; i++)
		assert_int_equal(s->calls[i].split.steady.time_ns + s->calls[i].split.once.time_ns,
				 s->calls[i].time.total_ns);
	assert_int_equal(s->stream_count, 1);
	assert_int_equal(s->streams[0].split.steady.time_ns, device->steady.busy_ns);
	assert_int_equal(s->streams[0].split.once.time_ns, device->once.busy_ns);
	for (int i = 0; i <= TIMELINE_MAX_CONCURRENCY; i++)
		steady_ns += device->concurrency_ns[i];
	assert_int_equal(steady_ns, device->steady.wall_ns);
	assert_int_equal(device->concurrency_ns[0], device->steady.idle_ns);
	done(&split);
}

static void test_none(void **state)
{
	struct steady_run run = steady_run_new();
	struct split_run split;

	(void)state;
	steady_run_kernel(&run, "one", 1000);
	steady_run_kernel(&run, "two", 5000);
	split = split_of(run);
	assert_false(split.found.device->is_found);
	assert_true(kernel_called(&split, "one")->split.is_unknown);
	assert_true(split.statistics->calls[0].split.is_unknown);
	assert_true(split.statistics->streams[0].split.is_unknown);
	done(&split);
}

/* The second device has one kernel of the name that repeats on the first. */
static void test_other_device(void **state)
{
	struct steady_run run = {builder_new(1, 2), 1000000};
	struct split_run split;

	(void)state;
	steady_run_iterate(&run, 50, 0);
	builder_kernel(run.b, 1, "A", run.now_ns + 5000, run.now_ns + 6000,
		       builder_launch(run.b, 0, run.now_ns, run.now_ns + 4000));
	split = split_of(run);
	assert_true(split.found.device->is_found);
	assert_true(kernel_called(&split, "A")->split.is_unknown);
	assert_false(kernel_called(&split, "B")->split.is_unknown);
	done(&split);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("launches of the loop are steady, its first and what follows it are not",
			 test_kernels),
		SENTENCE("what the host does before the loop happens once", test_calls),
		SENTENCE("what reaches into the steady state is divided at its bounds",
			 test_across),
		SENTENCE("calls of a host that is far ahead are those of what repeats", test_ahead),
		SENTENCE("both parts add up to the whole, on the device and on the host",
			 test_sums),
		SENTENCE("without a steady state nothing is told", test_none),
		SENTENCE("nor of a sum over a device that repeats nothing", test_other_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
