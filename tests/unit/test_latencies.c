#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "replay/latencies.h"

#define COPY_IN 1  /* CUPTI_ACTIVITY_MEMCPY_KIND_HTOD */
#define COPY_OUT 2 /* CUPTI_ACTIVITY_MEMCPY_KIND_DTOH */

static struct model *build(struct builder *b)
{
	struct model *model = NULL;
	struct err err = {""};

	assert_int_equal(model_build(&model, builder_finish(b), &err), 0);
	return model;
}

static void done(struct builder *b, struct model *model)
{
	model_free(model);
	free(b);
}

/* A launch of so long a call, and its kernel of 10 us that long after the call was entered. */
static void launch(struct builder *b, int64_t now_ns, int64_t call_ns, int64_t start_ns)
{
	uint32_t call = builder_launch(b, 0, now_ns, now_ns + call_ns);

	builder_kernel(b, 0, "k", now_ns + start_ns, now_ns + start_ns + 10000, call);
}

static void copy(struct builder *b, unsigned int kind, int64_t now_ns, int64_t start_ns)
{
	uint32_t call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns, now_ns + 2000);

	builder_copy(b, 0, (struct profile_copy){.kind = kind, .bytes = 4}, now_ns + start_ns,
		     now_ns + start_ns + 1000, call);
}

/* A small copy whose call returned 3 us before the kernel ended was queued, a kernel as late was not. */
static void test_queued_copies(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		int64_t now_ns = i * 100000;
		uint32_t late;

		launch(b, now_ns, 2000, 5000); /* until 15,000 */
		if (i < 3) {
			copy(b, COPY_OUT, now_ns + 10000, 5000 + (i == 1 ? 9000 : 1000));
			continue;
		}
		late = builder_launch(b, 0, now_ns + 10000, now_ns + 12000);
		builder_kernel(b, 0, "late", now_ns + 16000, now_ns + 17000, late);
	}
	model = build(b);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_KERNEL_TO_COPY], 3);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_KERNEL], 0);
	done(b, model);
}

/* Kernels whose calls returned 6 us and 4 us before the one before them ended: on an idle stream they would start 5 us
 * after their call was entered. */
static void test_queued_shortly(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0, now_ns = 0; i < 3; i++, now_ns += 1000000) {
		builder_kernel(b, 0, "first", now_ns + 5000, now_ns + 15000,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		builder_kernel(b, 0, "queued", now_ns + 15700, now_ns + 20000,
			       builder_launch(b, 0, now_ns + 5000, now_ns + 9000));
		builder_kernel(b, 0, "late", now_ns + 22400, now_ns + 23000,
			       builder_launch(b, 0, now_ns + 12000, now_ns + 16000));
	}
	model = build(b);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_KERNEL], 3);
	assert_int_equal(model->devices[0].kernel_gap_ns, 700);
	done(b, model);
}

/* Three launches onto an idle stream, three queued kernels, and a queued kernel after a copy. */
static void test_medians(void **state)
{
	static const int64_t starts_ns[] = {6000, 4000, 9000};
	struct builder *b = builder_new(1, 2);
	struct model *model;
	int64_t now_ns = 0;

	(void)state;
	for (int i = 0; i < 3; i++, now_ns += 1000000) {
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 2000);
		int64_t start_ns = now_ns + starts_ns[i], end_ns = now_ns + 100000;

		builder_kernel(b, 0, "first", start_ns, end_ns, call);
		call = builder_launch(b, 0, now_ns + 3000, now_ns + 5000);
		builder_kernel(b, 0, "queued", end_ns + 700 + 100 * i, now_ns + 200000, call);
		copy(b, COPY_OUT, now_ns + 6000, 195000);
		call = builder_launch(b, 0, now_ns + 8000, now_ns + 9000);
		builder_kernel(b, 0, "after", now_ns + 205000, now_ns + 206000, call);
	}
	model = build(b);
	assert_int_equal(model->devices[0].launch_ns, 6000);
	assert_int_equal(model->devices[0].launch_sample_count, 3);
	/* 700, 800, 900, and before the copies 1000; without one at each end */
	assert_int_equal(model->devices[0].gap_ns[GAP_AFTER_KERNEL], 800);
	assert_int_equal(model->devices[0].gap_ns[GAP_KERNEL_TO_COPY], 1000);
	assert_int_equal(model->devices[0].kernel_gap_ns, 800);
	assert_int_equal(model->devices[0].common_kernel->call_ns, 2000);
	assert_null(model->devices[0].common_graph);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_KERNEL], 3);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_KERNEL_TO_COPY], 3);
	assert_int_equal(model->devices[0].gap_ns[GAP_COPY_TO_KERNEL], 3000);
	assert_int_equal(latencies_gap_ns(model, 2, 3), 3000);
	assert_int_equal(latencies_gap_ns(model, 1, 2), 1000);
	assert_int_equal(latencies_gap_ns(model, 0, 1), 800);
	assert_int_equal(latencies_gap_ns(model, 2, PROFILE_NONE), 3000); /* of another stream */
	/* another device had nothing: what is usual */
	assert_int_equal(model->devices[1].launch_sample_count, 0);
	assert_in_range(model->devices[1].launch_ns, 1000, 20000);
	done(b, model);
}

/* Blocking copies of 20 us, 4 us after their call or the kernel before them; one starts 800 us late, and another behind a
 * kernel that takes as long. */
static void test_blocking_extension(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;
	uint32_t late = 0, behind = 0;

	(void)state;
	for (int64_t j = 0, now_ns = 0; j < 20; j++, now_ns += 2000000) {
		int64_t waits_ns = j == 7 ? 800000 : 0, kernel_ns = j == 11 ? 800000 : 2000;
		int64_t start_ns = now_ns + 10000 + kernel_ns + 4000 + waits_ns;
		uint32_t call;

		builder_kernel(b, 0, "k", now_ns + 10000, now_ns + 10000 + kernel_ns,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		call = builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns + 12000,
				    start_ns + 25000);
		late = j == 7 ? (uint32_t)b->profile.op_count : late;
		behind = j == 11 ? (uint32_t)b->profile.op_count : behind;
		builder_copy(b, 0, (struct profile_copy){.kind = COPY_OUT, .bytes = 4}, start_ns,
			     start_ns + 20000, call);
	}
	model = build(b);
	/* a usual call takes 29 us */
	assert_int_equal(latencies_extension_ns(model, &model->profile->ops[late]), 804000 - 29000);
	assert_int_equal(latencies_extension_ns(model, &model->profile->ops[behind]), 0);
	assert_int_equal(latencies_extension_ns(model, &model->profile->ops[1]), 0);
	done(b, model);
}

/* Kernels behind a copy that no call queues, and one behind a memset, which is like a kernel: no sooner than as usual, and
 * no later than they began. */
static void test_unqueued(void **state)
{
	static const struct {
		int64_t distance_ns, gap_ns;
	} cases[] = {{20000, 5760}, {9000, 5760}, {2500, 2500}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builder *b = builder_new(1, 1);
		const struct device_latencies *device;
		struct model *model;

		for (int64_t j = 0, now_ns = 0; j < 20; j++, now_ns += 1000000) {
			int64_t start_ns = now_ns + 101000 + (j ? cases[i].distance_ns : 1500);

			copy(b, COPY_IN, now_ns, 100000);
			builder_kernel(b, 0, "k", start_ns, start_ns + 1000,
				       builder_launch(b, 0, start_ns - 2000, start_ns - 1000));
		}
		model = build(b);
		device = &model->devices[0];
		assert_int_equal(device->gap_sample_count[GAP_COPY_TO_KERNEL], 0);
		assert_int_equal(device->gap_ns[GAP_COPY_TO_KERNEL], cases[i].gap_ns);
		assert_int_equal(device->gap_ns[GAP_KERNEL_TO_COPY], 1024);
		done(b, model);
	}
}

/* Copies that the host calls after the kernel before them has ended, and some that were queued: of 40 one or two say
 * nothing, three do, and one of two says what there is. */
static void test_few_queued(void **state)
{
	static const struct {
		int64_t count, queued_count;
		size_t sample_count;
	} cases[] = {{40, 1, 0}, {41, 2, 0}, {40, 3, 3}, {2, 1, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builder *b = builder_new(1, 1);
		const struct device_latencies *device;
		struct model *model;

		for (int64_t j = 0, now_ns = 0; j < cases[i].count; j++, now_ns += 1000000) {
			bool is_queued = j < cases[i].queued_count;

			builder_kernel(b, 0, "k", now_ns + 5000,
				       now_ns + (is_queued ? 100000 : 6000),
				       builder_launch(b, 0, now_ns, now_ns + 2000));
			copy(b, COPY_OUT, now_ns + 3000, is_queued ? 105000 : 5000);
		}
		model = build(b);
		device = &model->devices[0];
		assert_int_equal(device->gap_sample_count[GAP_KERNEL_TO_COPY],
				 cases[i].sample_count);
		assert_int_equal(device->gap_ns[GAP_KERNEL_TO_COPY],
				 cases[i].sample_count ? 8000 : 1024);
		done(b, model);
	}
}

/* Of ten copies five are called while the kernel runs on for long, and begin 8 us after it, and five when it has nearly ended, and
 * begin as soon as they are submitted. */
static void test_late_copies(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t j = 0, now_ns = 0; j < 10; j++, now_ns += 1000000) {
		bool is_queued = j < 5;

		builder_kernel(b, 0, "k", now_ns + 5000, now_ns + (is_queued ? 100000 : 6000),
			       builder_launch(b, 0, now_ns, now_ns + 2000));
		copy(b, COPY_OUT, now_ns + 3000, is_queued ? 105000 : 4000);
	}
	model = build(b);
	assert_int_equal(model->devices[0].gap_ns[GAP_KERNEL_TO_COPY], 8000);
	for (uint32_t op = 0; op < b->profile.op_count; op += 2) {
		bool is_late = op >= b->profile.op_count / 2;

		assert_int_equal(latencies_own_gap_ns(model, op + 1), is_late ? 1000 : 8000);
		if (op) /* a kernel behind a copy waits for it in any case */
			assert_int_equal(latencies_own_gap_ns(model, op), 5760);
	}
	done(b, model);
}

/* What a launch that had to wait takes is no sample of launching. */
static void test_waited_launch(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	builder_kernel(b, 0, "k", 500000, 600000, builder_launch(b, 0, 0, 2000));
	model = build(b);
	assert_int_equal(model->devices[0].launch_sample_count, 0);
	done(b, model);
}

/* Copies in, copies out and kernels each start after a time of their own. */
static void test_by_kind(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		launch(b, i * 300000, 2000, 5000);
		copy(b, COPY_IN, i * 300000 + 100000, 7000);
		copy(b, COPY_OUT, i * 300000 + 200000, 9000);
	}
	model = build(b);
	assert_int_equal(latencies_launch_ns(model, 3), 5000);
	assert_int_equal(latencies_launch_ns(model, 4), 7000);
	assert_int_equal(latencies_launch_ns(model, 5), 9000);
	done(b, model);
}

/* The first launch of a kernel loads it: the call takes longer, and the kernel starts that much later. */
static void test_extension(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	launch(b, 0, 52000, 55500);
	for (int64_t i = 1; i < 5; i++)
		launch(b, i * 100000, 2000, 5000);
	launch(b, 500000, 30000, 5000); /* it took longer after the kernel had started */
	model = build(b);
	assert_int_equal(latencies_extension_ns(model, &b->ops[0]), 50000);
	assert_int_equal(latencies_launch_ns(model, 0), 55000);
	assert_int_equal(latencies_extension_ns(model, &b->ops[1]), 0);
	assert_int_equal(latencies_launch_ns(model, 1), 5000);
	assert_int_equal(latencies_extension_ns(model, &b->ops[5]), 3000);
	done(b, model);
}

/* A kernel, and copies that are called while it runs: they start at once when it ends, but one later. */
static void test_busy(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 20; i++) {
		launch(b, i * 100000, 2000, 5000);
		copy(b, COPY_OUT, i * 100000 + 4000 + 300 * i, i < 19 ? 12000 - 300 * i : 14000);
	}
	copy(b, COPY_OUT, 3000000, 8000); /* an idle stream */
	model = build(b);
	assert_false(model_is_idle(model, 1));
	assert_true(model_is_idle(model, 40));
	assert_int_equal(latencies_launch_ns(model, 40), 8000);
	/* no more than the soonest ones, here the second of 20, after the call */
	assert_int_equal(latencies_launch_ns(model, 1), 12000 - 300 * 17);
	done(b, model);
}

/* Where most start long after the kernel has ended, their mean gives the time of the whole again. */
static void test_late(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 10; i++) {
		launch(b, i * 100000, 2000, 5000);
		copy(b, COPY_OUT, i * 100000 + 10000, i < 2 ? 6000 : 14000);
	}
	model = build(b);
	assert_int_equal(latencies_launch_ns(model, 1), (2 * 6000 + 8 * 14000) / 10);
	done(b, model);
}

/* Copies whose calls wait for a kernel of 70 us, and start 5 us after it: where the kernel gets shorter they start that much
 * sooner. */
static void test_waited_for(void **state)
{
	const struct profile_copy what = {.kind = COPY_OUT, .bytes = 4};
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0, now_ns = 0; i < 10; i++, now_ns += 100000) {
		builder_kernel(b, 0, "k", now_ns + 5000, now_ns + 75000,
			       builder_launch(b, 0, now_ns, now_ns + 2000));
		builder_copy(b, 0, what, now_ns + 80000, now_ns + 81000,
			     builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns + 3000,
					  now_ns + 86000));
	}
	model = build(b);
	assert_int_equal(latencies_gap_ns(model, 0, 1), 5000);
	assert_true(latencies_launch_ns(model, 1) <= 5000);
	done(b, model);
}

/* Graphs that are queued follow one another after a time of their own. */
static void test_after_graph(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 1000,
					     i * 1000 + 900);
		int64_t start_ns = 5000 + i * 120000;

		builder_kernel(b, 0, "first", start_ns, start_ns + 50000, call);
		builder_kernel(b, 0, "second", start_ns + 51000, start_ns + 113000, call);
	}
	model = build(b);
	assert_null(model->devices[0].common_kernel);
	assert_int_equal(model->devices[0].common_graph->call_ns, 900);
	assert_int_equal(model->devices[0].common_graph->idle_ns, 5000);
	assert_int_equal(model->devices[0].gap_ns[GAP_AFTER_GRAPH], 7000);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_GRAPH], 3);
	assert_int_equal(latencies_gap_after(model, 0, 1), GAP_AFTER_KERNEL);
	assert_int_equal(latencies_gap_after(model, 1, 2), GAP_AFTER_GRAPH);
	assert_int_equal(latencies_gap_ns(model, 1, 2), 7000);
	done(b, model);
}

/* Six launches of a graph of one kernel, queued, with that much before them. */
static struct builder *graphs_with_gaps(const int64_t gaps_ns[6])
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	for (int64_t i = 0; i < 6; i++) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, i * 1000,
					     i * 1000 + 900);

		now_ns += gaps_ns[i];
		builder_kernel(b, 0, "only", now_ns, now_ns + 50000, call);
		now_ns += 50000;
	}
	return b;
}

/* The last node may be a function of the host, or a body that runs now and then, which no record tells of; where
 * graphs usually follow each other at once, a later one waited for something else. */
static void test_unrecorded_end(void **state)
{
	static const int64_t at_times[] = {50000, 60000, 1000, 400000, 1000, 90000};
	static const int64_t once[] = {50000, 7000, 7000, 400000, 7000, 7000};
	struct builder *b = graphs_with_gaps(at_times);
	struct model *model = build(b);

	(void)state;
	for (uint32_t i = 1; i < 6; i++)
		assert_int_equal(latencies_gap_ns(model, i - 1, i), at_times[i]);
	assert_int_equal(latencies_gap_ns(model, 5, PROFILE_NONE), (1000 + 60000 + 90000) / 3);
	done(b, model);
	b = graphs_with_gaps(once);
	model = build(b);
	assert_int_equal(latencies_gap_ns(model, 2, 3), 7000);
	done(b, model);
}

/* What starts right after its call waited for that. */
static void test_unrecorded_end_and_launch(void **state)
{
	static const int64_t gaps_ns[] = {50000, 40000, 40000, 40000, 40000, 40000};
	struct builder *b = graphs_with_gaps(gaps_ns);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 900000, 901000);
	struct model *model;

	(void)state;
	builder_kernel(b, 0, "only", 905000, 955000, call);
	model = build(b);
	assert_int_equal(latencies_gap_ns(model, 5, 6), 40000);
	done(b, model);
}

/* Queued kernels with gaps of 1 and of 3 us in turn, and of twenty one that is off at each end. */
static void test_outliers(void **state)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 100000;
	struct model *model;

	(void)state;
	for (int i = 0; i < 41; i++) {
		uint32_t call = builder_launch(b, 0, i * 1000, i * 1000 + 900);

		now_ns += i < 2 ? 1 : i < 39 ? 1000 + 2000 * (i % 2) : 19000;
		builder_kernel(b, 0, "k", now_ns, now_ns + 50000, call);
		now_ns += 50000;
	}
	model = build(b);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_KERNEL], 40);
	/* 1, 1000 19 times, 3000 18 times, 19000 twice: of 40 two go at each end */
	assert_int_equal(model->devices[0].gap_ns[GAP_AFTER_KERNEL], 2000);
	done(b, model);
}

/* A function of the host that runs in the stream is part of the work: it takes what it took. */
static void test_callback(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct model *model;

	(void)state;
	launch(b, 0, 2000, 5000);
	builder_call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, 3000, 4000);
	launch(b, 5000, 2000, 60000);
	launch(b, 8000, 2000, 68000);
	model = build(b);
	assert_int_equal(latencies_gap_ns(model, 0, 1), 50000);
	assert_int_equal(latencies_gap_ns(model, 1, 2), 1000);
	assert_int_equal(model->devices[0].gap_sample_count[GAP_AFTER_KERNEL], 1);
	done(b, model);
}

/* It runs in the stream of what was submitted before it, and holds no other one up. */
static void test_callback_elsewhere(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct model *model;
	uint32_t call;

	(void)state;
	launch(b, 0, 2000, 5000);
	builder_call(b, 0, "cudaLaunchHostFunc", CALL_LAUNCH, 3000, 4000);
	call = builder_launch(b, 0, 5000, 7000);
	builder_kernel(b, 1, "elsewhere", 60000, 70000, call);
	launch(b, 8000, 2000, 82000);
	model = build(b);
	assert_true(model->op_traits[1].is_called_back);
	assert_int_equal(latencies_gap_ns(model, 0, 1), 75000);
	assert_false(model->op_traits[2].is_called_back);
	done(b, model);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a blocking copy may start that late by itself", test_blocking_extension),
		SENTENCE(
			"what nothing was queued behind follows as is usual, and no later than it did",
			test_unqueued),
		SENTENCE("a kernel was queued whose call returned before it could have started",
			 test_queued_shortly),
		SENTENCE("launches and gaps take their medians", test_medians),
		SENTENCE("a copy is queued when its call has returned", test_queued_copies),
		SENTENCE("a launch that had to wait says nothing about launching",
			 test_waited_launch),
		SENTENCE("a copy that is submitted when the kernel has ended begins at once",
			 test_late_copies),
		SENTENCE("one or two that were queued, of many that were not, say nothing",
			 test_few_queued),
		SENTENCE("kernels and copies of each direction start after times of their own",
			 test_by_kind),
		SENTENCE("a call that takes longer submits later", test_extension),
		SENTENCE("on a busy stream a launch takes what it takes at least", test_busy),
		SENTENCE("where most start late the mean is taken", test_late),
		SENTENCE("what waited long for the kernel before it says nothing of launching",
			 test_waited_for),
		SENTENCE("queued graphs have a gap of their own", test_after_graph),
		SENTENCE("what graphs end with and is not recorded takes what it took",
			 test_unrecorded_end),
		SENTENCE("but not where the launch came later", test_unrecorded_end_and_launch),
		SENTENCE("gaps take the mean of what lies between outliers", test_outliers),
		SENTENCE("a function of the host takes what it took", test_callback),
		SENTENCE("and holds no other stream up", test_callback_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
