/* Kernels of few blocks have the same threads in smaller blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define LAUNCH_COUNT 20
#define KERNEL_NS 50000
#define GAP_NS 12000

/* A kernel of so many blocks of so many threads for 100 SMs, each launch waited for. */
static struct builder *launches(const char *name, uint32_t blocks, uint32_t threads)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	advised_set_device(b);
	for (int i = 0; i < LAUNCH_COUNT; i++, now_ns += KERNEL_NS + GAP_NS) {
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 3000);
		uint32_t signature = builder_signature(b, name, blocks);

		b->signatures[signature].block[0] = threads;
		builder_op(b, OP_KERNEL, 0, signature, now_ns + 5000, now_ns + 5000 + KERNEL_NS,
			   call);
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 8000,
			     now_ns + 10000 + KERNEL_NS);
	}
	return b;
}

/* What is left of a kernel's time: of it alone, without the pause behind it. */
static double left_of(const struct what_if *found)
{
	double saved_ns = (double)predicted_saved_ns(found);

	return 1 - saved_ns / ((double)LAUNCH_COUNT * KERNEL_NS);
}

static struct what_if predict(struct builder *b, const struct roofline *roofline)
{
	struct device_work none = {0};
	struct predicted_run it;
	predicted_begin(&it, b, 0, NULL);
	const struct report report = {.profile = &it.b->profile,
				      .roofline = (struct roofline *)roofline,
				      .device_work = &none};
	struct what_if found;

	if (roofline)
		it.all.run.report = &report;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_smaller_blocks, &it.all, 0), 0);
	predicted_end(&it);
	return found;
}

/* 8 warps on an SM have room: with fewer they are as fast.  At the high end a quarter is left, as of the warps. */
static void test_room(void **state)
{
	struct what_if found = predict(launches("k", 25, 256), NULL);

	(void)state;
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count, LAUNCH_COUNT);
	assert_float_equal(left_of(&found), 1, 1e-6);
	assert_in_range((uint64_t)(1000 * found.prediction.place.low), 999, 1000);
	assert_in_range((uint64_t)(100 * found.prediction.place.high), 240, 300);
}

/* 32 warps on 40 SMs are 13 on each: but for 16 none is faster. */
static void test_crowded(void **state)
{
	struct what_if found = predict(launches("k", 40, 1024), NULL);

	(void)state;
	assert_null(found.effect.refusal);
	assert_float_equal(left_of(&found), 0.5, 0.01);
}

/* Half of what a quarter of the SMs get from L1 is what it takes half of its time for: of that a quarter is left. */
static void test_counted(void **state)
{
	struct roofline_point point = {.subject = 0, .is_counted = true};
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct what_if found;

	(void)state;
	point.quantities[ROOF_l1].share = 0.125;
	found = predict(launches("k", 25, 256), &roofline);
	assert_float_equal(left_of(&found), 0.5 + 0.5 / 4, 0.01);
	point.quantities[ROOF_l1].share = 0;
	point.quantities[ROOF_dram].share = 0.125; /* is all SMs' */
	found = predict(launches("k", 25, 256), &roofline);
	assert_float_equal(left_of(&found), 1, 1e-6);
	point.is_wrong = true;
	point.quantities[ROOF_l1].share = 0.125;
	found = predict(launches("k", 25, 256), &roofline);
	assert_float_equal(left_of(&found), 1, 1e-6);
}

/* No less than the bytes of DRAM take at 80% of its roof. */
static void test_roof(void **state)
{
	struct roofline_point point = {.subject = 0, .binding = ROOF_dram, .binding_share = 0.6};
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct what_if found = predict(launches("k", 40, 1024), &roofline);

	(void)state;
	assert_float_equal(left_of(&found), 0.6 / 0.8, 0.01);
}

static void expect_refused(struct builder *b)
{
	struct what_if found = predict(b, NULL);

	assert_string_equal(found.effect.refusal,
			    "no kernel that runs alone has fewer blocks than fit at once, and more "
			    "warps on some SMs than on others");
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused(launches("k", 100, 256));
	expect_refused(launches("k", 101, 1024 * 2));	 /* fits nowhere */
	expect_refused(launches("k", 25, 32));		 /* a warp is not divided */
	expect_refused(launches("k", 100 * 8 + 1, 256)); /* more than one wave */
	expect_refused(launches("void cutlass::Kernel2<t>(t::Params)", 25, 256));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("warps that an SM has room for are no faster on more SMs", test_room),
		SENTENCE("of more warps than an SM needs each is faster, down to these",
			 test_crowded),
		SENTENCE("what counters show the units of SMs to be busy for is shared out",
			 test_counted),
		SENTENCE("no kernel gets faster than 80% of its roof", test_roof),
		SENTENCE("full grids, single warps and a library's are left alone", test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
