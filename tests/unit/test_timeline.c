#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/time/timeline.h"
#include "profile_builder.h"

static struct timeline *timeline_of(struct builder *b)
{
	struct timeline *timeline = NULL;
	struct err err = {""};

	assert_int_equal(timeline_build(&timeline, builder_finish(b), &err), 0);
	return timeline;
}

static void test_empty(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct timeline *timeline = timeline_of(b);

	(void)state;
	assert_int_equal(timeline->device_count, 1);
	assert_int_equal(timeline->devices[0].wall_ns, 0);
	assert_int_equal(timeline->devices[0].idle_ns, 0);
	timeline_free(timeline);
	free(b);
}

static void test_union(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct timeline *timeline;
	const struct timeline_device *device;

	(void)state;
	builder_kernel(b, 0, "a", 100, 200, PROFILE_NONE);
	builder_kernel(b, 0, "b", 150, 180, PROFILE_NONE);
	builder_kernel(b, 0, "c", 190, 250, PROFILE_NONE);
	builder_kernel(b, 0, "d", 300, 310, PROFILE_NONE);
	timeline = timeline_of(b);
	device = &timeline->devices[0];
	assert_int_equal(device->first_ns, 100);
	assert_int_equal(device->last_ns, 310);
	assert_int_equal(device->wall_ns, 210);
	assert_int_equal(device->busy_ns, 160);
	assert_int_equal(device->idle_ns, 50);
	assert_int_equal(device->concurrency_ns[0], 50);
	assert_int_equal(device->concurrency_ns[1], 120);
	assert_int_equal(device->concurrency_ns[2], 40);
	assert_int_equal(device->concurrency_ns[3], 0);
	timeline_free(timeline);
	free(b);
}

static void test_kinds(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct timeline *timeline;
	const struct timeline_device *device;

	(void)state;
	builder_kernel(b, 0, "a", 0, 100, PROFILE_NONE);
	builder_copy(b, 0, (struct profile_copy){.kind = 1}, 80, 150, PROFILE_NONE);
	builder_memset(b, 0, (struct profile_memset){.bytes = 1}, 140, 160, PROFILE_NONE);
	builder_graph(b, 0, 0, 145, 148, PROFILE_NONE);
	timeline = timeline_of(b);
	device = &timeline->devices[0];
	assert_int_equal(device->kernel_ns, 103);
	assert_int_equal(device->copy_ns, 70);
	assert_int_equal(device->memset_ns, 20);
	assert_int_equal(device->copy_overlapped_ns, 23);
	timeline_free(timeline);
	free(b);
}

static void test_many_at_once(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct timeline *timeline;

	(void)state;
	for (int i = 0; i < 100; i++)
		builder_kernel(b, 0, "a", i, 1000 - i, PROFILE_NONE);
	timeline = timeline_of(b);
	assert_int_equal(timeline->devices[0].busy_ns, 1000);
	assert_int_equal(timeline->devices[0].concurrency_ns[1], 2);
	assert_int_equal(timeline->devices[0].concurrency_ns[15], 2);
	/* from 16 running on: starts 15..., ends ...985 */
	assert_int_equal(timeline->devices[0].concurrency_ns[16], 985 - 15);
	timeline_free(timeline);
	free(b);
}

static void test_devices_apart(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct timeline *timeline;

	(void)state;
	builder_kernel(b, 1, "a", 0, 10, PROFILE_NONE);
	builder_kernel(b, 0, "a", 5, 8, PROFILE_NONE);
	builder_kernel(b, 1, "a", 20, 30, PROFILE_NONE);
	timeline = timeline_of(b);
	assert_int_equal(timeline->devices[0].wall_ns, 3);
	assert_int_equal(timeline->devices[0].idle_ns, 0);
	assert_int_equal(timeline->devices[1].wall_ns, 30);
	assert_int_equal(timeline->devices[1].idle_ns, 10);
	timeline_free(timeline);
	free(b);
}

/* Random operations against counting nanosecond by nanosecond. */
static void test_against_counting(void **state)
{
	(void)state;
	srand(20240601);
	for (int round = 0; round < 300; round++) {
		struct builder *b = builder_new(1, 1);
		int64_t expected[TIMELINE_MAX_CONCURRENCY + 1] = {0}, overlapped = 0;
		int64_t shared = 0, total = 0;
		struct timeline *timeline;
		int count = 1 + rand() % 40;

		for (int i = 0; i < count; i++) {
			int64_t start = rand() % 200, end = start + rand() % (rand() % 3 ? 20 : 60);

			if (rand() % 2)
				builder_kernel(b, 0, "a", start, end, PROFILE_NONE);
			else
				builder_copy(b, 0, (struct profile_copy){.kind = 1}, start, end,
					     PROFILE_NONE);
		}
		timeline = timeline_of(b);
		for (int64_t t = timeline->devices[0].first_ns; t < timeline->devices[0].last_ns;
		     t++) {
			int kernels = 0, copies = 0, all;

			for (int i = 0; i < count; i++) {
				if (b->ops[i].start_ns > t || b->ops[i].end_ns <= t)
					continue;
				kernels += b->ops[i].kind == OP_KERNEL;
				copies += b->ops[i].kind == OP_COPY;
			}
			all = kernels + copies;
			expected[all < TIMELINE_MAX_CONCURRENCY ? all : TIMELINE_MAX_CONCURRENCY]++;
			overlapped += kernels && copies;
			shared += kernels > 1;
			total += kernels;
		}
		assert_memory_equal(expected, timeline->devices[0].concurrency_ns,
				    sizeof(expected));
		assert_int_equal(overlapped, timeline->devices[0].copy_overlapped_ns);
		assert_int_equal(shared, timeline->devices[0].kernel_shared_ns);
		assert_int_equal(total, timeline->devices[0].kernel_total_ns);
		assert_int_equal(timeline->devices[0].wall_ns,
				 timeline->devices[0].busy_ns + timeline->devices[0].idle_ns);
		assert_int_equal(timeline->devices[0].idle_ns, expected[0]);
		timeline_free(timeline);
		free(b);
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a device without operations has no time", test_empty),
		SENTENCE("overlapping operations count once as busy", test_union),
		SENTENCE("kernels, copies and memsets have their own unions and overlap",
			 test_kinds),
		SENTENCE("the last bucket of concurrency holds all that is above",
			 test_many_at_once),
		SENTENCE("devices do not share their time", test_devices_apart),
		SENTENCE("random operations agree with counting every nanosecond",
			 test_against_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
