/* Kernels whose shape leaves the GPU empty have more blocks, and when that is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define LAUNCH_COUNT 20
#define KERNEL_NS 50000

/* A kernel of so many blocks in one stream, beside which in another one the next may run. */
static struct builder *launches(const char *name, uint32_t blocks, bool is_beside)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	advised_set_device(b);
	b->streams[1] = b->streams[0];
	b->profile.stream_count = 2;
	for (int i = 0; i < LAUNCH_COUNT; i++, now_ns += KERNEL_NS + 12000) {
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 3000);
		uint32_t signature = builder_signature(b, name, blocks);

		builder_op(b, OP_KERNEL, 0, signature, now_ns + 5000, now_ns + 5000 + KERNEL_NS,
			   call);
		call = builder_launch(b, 0, now_ns + 4000, now_ns + 7000);
		if (is_beside)
			builder_op(b, OP_KERNEL, 1, signature, now_ns + 9000,
				   now_ns + 5000 + KERNEL_NS, call);
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 8000,
			     now_ns + 10000 + KERNEL_NS);
	}
	return b;
}

/* Of the kernels' time. */
static void expect_left(const struct what_if *found, double left)
{
	double saved_ns = (double)predicted_saved_ns(found);

	assert_float_equal(1 - saved_ns / ((double)LAUNCH_COUNT * KERNEL_NS), left, 0.01);
}

static void test_filled(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, launches("k", 25, false), 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fill_gpu, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count, LAUNCH_COUNT);
	/* a quarter of the SMs, and each with 8 of the 16 warps that its schedulers have room for; at the low end each takes as
	 * long as before, of which nothing can be off */
	expect_left(&found, 0.125);
	assert_in_range((uint64_t)(1000 * found.prediction.place.low), 999, 1000);
	predicted_end(&it);
}

/* Registers leave an SM room for one block: there are no more than 8 warps. */
static void test_no_room(void **state)
{
	struct builder *b = launches("k", 25, false);
	struct predicted_run it;
	struct what_if found;

	(void)state;
	b->signatures[0].registers_per_thread = 200;
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fill_gpu, &it.all, 0), 0);
	expect_left(&found, 0.25);
	predicted_end(&it);
}

/* Counters say that its bytes take 60% of its time, however many blocks move them, and three quarters at 80% of the roof. */
static void test_roof(void **state)
{
	struct roofline_point point = {.subject = 0, .binding_share = 0.6};
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct device_work none = {0};
	struct predicted_run it;
	predicted_begin(&it, launches("k", 25, false), 0, NULL);
	const struct report report = {.profile = &it.b->profile,
				      .roofline = &roofline,
				      .device_work = &none};
	struct what_if found;

	(void)state;
	it.all.run.report = &report;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fill_gpu, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	expect_left(&found, 0.6 / 0.8);
	assert_true(found.prediction.place.high > found.prediction.place.speedup);
	assert_true(found.prediction.place.high < 1 / 0.6);
	predicted_end(&it);
}

static const char filled[] =
	"no kernel that runs alone has a shape that leaves much of the GPU empty";

static void expect_refused(struct builder *b)
{
	struct predicted_run it;
	struct what_if found;

	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fill_gpu, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, filled);
	predicted_end(&it);
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused(launches("k", 100, false));
	expect_refused(launches("k", 25, true));
	expect_refused(launches("void cutlass::Kernel2<t>(t::Params)", 25, false));
}

static void test_advised(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advised_begin(&it, launches("k", 25, false));
	item = advised_item(&it, "fill_gpu");
	assert_non_null(item);
	assert_string_equal(item->strategy, "fill_gpu");
	assert_string_equal(item->evidence[0], "k: 20 launches run alone for 1.00 ms");
	assert_string_equal(item->evidence[1],
			    "25 blocks of 256 threads for 100 SMs: 25% of the SMs have one");
	assert_true(item->gain.is_assuming);
	advised_end(&it);
	advised_begin(&it, launches("k", 100, false));
	assert_null(advised_item(&it, "fill_gpu"));
	advised_end(&it);
	advised_begin(&it, launches("void at::native::k<int>(int)", 25, false));
	assert_null(advised_item(&it, "fill_gpu"));
	advised_end(&it);
}

/* 0.75 ms of so many are empty: what is predicted decides, and not how much that is. */
static void test_small_share(void **state)
{
	const struct {
		int64_t full_ns;
		bool is_advised;
	} runs[] = {{18000000, true}, {40000000, false}};
	struct advised it;

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct builder *b = launches("k", 25, false);
		int64_t now_ns = LAUNCH_COUNT * (KERNEL_NS + 12000);

		builder_op(b, OP_KERNEL, 0, builder_signature(b, "full", 100), now_ns + 5000,
			   now_ns + 5000 + runs[i].full_ns,
			   builder_launch(b, 0, now_ns, now_ns + 3000));
		advised_begin(&it, b);
		assert_int_equal(advised_item(&it, "fill_gpu") != NULL, runs[i].is_advised);
		advised_end(&it);
	}
}

/* Small blocks, and one with a last wave of one: what is told is what is the case. */
static void test_shapes(void **state)
{
	const struct recommendation *item;
	struct advised it;
	struct builder *b = launches("k", 32 * 100, false);

	(void)state;
	b->signatures[0].block[0] = 8;
	advised_begin(&it, b);
	item = advised_item(&it, "fill_gpu");
	assert_non_null(item);
	assert_true(advised_says(item, "blocks of 8 threads: 25% of the lanes"));
	advised_end(&it);
	b = launches("k", 101, false);
	b->signatures[0].block[0] = 1024;
	b->signatures[0].registers_per_thread = 64;
	advised_begin(&it, b);
	item = advised_item(&it, "fill_gpu");
	assert_non_null(item);
	assert_true(advised_says(item, "101 blocks where 100 fit at once (registers hold them "
				       "down): the last wave has 1"));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a kernel takes the part of its time that it had of the GPU", test_filled),
		SENTENCE("an SM has no more warps than its registers hold", test_no_room),
		SENTENCE("no kernel takes less than its bytes at the roof", test_roof),
		SENTENCE("full grids, kernels side by side and a library's are left alone",
			 test_refused),
		SENTENCE("a kernel of few blocks is advised to fill the GPU", test_advised),
		SENTENCE("few blocks in a small part of a run are advised if that gains 3% of it",
			 test_small_share),
		SENTENCE("what is told of a shape is what leaves the GPU empty", test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
