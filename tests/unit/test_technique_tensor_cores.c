/* A library's matrix products in FP32 run in TF32 on tensor cores, and when that is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define LAUNCH_COUNT 20
#define KERNEL_NS 100000
#define XMMA(tile)                                            \
	"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize" tile \
	"x8_stage3_ffma_execute_kernel__5x_cublas"
#define PRODUCT XMMA("128x128")
#define SIMT(tile) "void cutlass::Kernel2<cutlass_80_simt_sgemm_" tile "_8x4_nt_align1>(Params)"

/* A step of a product and 10 us of another kernel. */
static struct builder *products(const char *name, uint32_t rows, uint32_t columns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	advised_set_device(b);
	for (int i = 0; i < LAUNCH_COUNT; i++, now_ns += KERNEL_NS + 24000) {
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 3000);
		uint32_t signature = builder_signature(b, name, rows);

		b->signatures[signature].grid[1] = columns;
		builder_op(b, OP_KERNEL, 0, signature, now_ns + 5000, now_ns + 5000 + KERNEL_NS,
			   call);
		call = builder_launch(b, 0, now_ns + 4000, now_ns + 7000);
		builder_op(b, OP_KERNEL, 0, builder_signature(b, "other", 100),
			   now_ns + 6000 + KERNEL_NS, now_ns + 16000 + KERNEL_NS, call);
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 8000,
			     now_ns + 21000 + KERNEL_NS);
	}
	return b;
}

static void add_roof(struct ceilings *ceilings, enum ceiling_id id, double value)
{
	const struct ceiling row = {
		.id = id, .value = value, .low = value, .high = value, .sample_count = 9};

	assert_int_equal(ceilings_add(ceilings, &row), 0);
}

/* TF32 is 8 times as fast as FP32, L2 moves a byte for 8 operations of FP32, and DRAM one for 16. */
static void add_roofs(struct ceilings *ceilings)
{
	add_roof(ceilings, CEILING_fp32_fma, 64e12);
	add_roof(ceilings, CEILING_tensor_tf32, 512e12);
	add_roof(ceilings, CEILING_l2_read, 8e12);
	add_roof(ceilings, CEILING_dram_read, 4e12);
	assert_null(ceilings_sort(ceilings));
}

/* What is left of the products' time: as it is assumed, and at its ends, without what a replay may be off. */
struct left {
	double usual, least, most;
	bool is_refused;
};

static struct left left_with(struct builder *b, struct roofline_point *point)
{
	struct roofline roofline = {.roofs = {[ROOF_dram] = 4e12},
				    .kernels = point,
				    .kernel_count = 1};
	struct device_work none = {0};
	const struct report report = {.profile = &b->profile,
				      .roofline = &roofline,
				      .device_work = &none};
	const double all_ns = (double)LAUNCH_COUNT * KERNEL_NS;
	struct predicted_run it;
	struct what_if found;
	struct left left;

	predicted_begin(&it, b, 0, NULL);
	add_roofs(it.ceilings);
	if (point)
		it.all.run.report = &report;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_tensor_cores, &it.all, 0), 0);
	left.is_refused = found.effect.refusal;
	left.usual = 1 - (double)predicted_saved_ns(&found) / all_ns;
	left.least = 1 - ((double)found.prediction.place_before_ns -
			  (double)found.prediction.place_before_ns / found.prediction.place.low) /
				 all_ns;
	left.most = 1 - ((double)found.prediction.place_before_ns -
			 (double)found.prediction.place_before_ns / found.prediction.place.high) /
				all_ns;
	predicted_end(&it);
	return left;
}

static struct left left_of(struct builder *b)
{
	return left_with(b, NULL);
}

/* 20 x 10 tiles of 128 x 128: an eighth; at the low end half of what vanishes stays, as L2 gives such tiles 32 operations for a
 * byte, which is a quarter of the time that FP32 takes. */
static void test_ratio(void **state)
{
	struct left left = left_of(products(PRODUCT, 20, 10));

	(void)state;
	assert_false(left.is_refused);
	assert_float_equal(left.usual, 0.125, 0.01);
	assert_in_range((uint64_t)(100 * left.least), 55, 65);
	left = left_of(products(SIMT("128x256"), 40, 3));
	assert_float_equal(left.usual, 0.125, 0.01);
}

/* Two bytes of L2 for 16 operations: as long as FP32. */
static void test_small_tiles(void **state)
{
	struct left left = left_of(products(XMMA("32x32"), 80, 40));

	(void)state;
	assert_float_equal(left.usual, 0.125, 0.01);
	assert_true(left.least > 0.97);
}

/* 64 rows, and many columns: DRAM gives 32 operations for a byte, which takes half of what FP32 does; with 32 rows all of it.
 * How CUTLASS deals out its tiles no one knows: 32 rows may be 256. */
static void test_dram(void **state)
{
	(void)state;
	assert_float_equal(left_of(products(XMMA("64x128"), 1, 60000)).usual, 0.5, 0.01);
	assert_true(left_of(products(XMMA("32x128"), 1, 60000)).is_refused);
	assert_float_equal(left_of(products(SIMT("32x128"), 60000, 1)).usual, 0.125, 0.01);
}

/* Counters say that its bytes of DRAM take 40% of its time, and its arithmetic in FP32 90%, which tensor cores do. */
static void test_counted(void **state)
{
	struct roofline_point point = {.subject = 0, .binding_share = 0.9, .binding = ROOF_fp32};

	(void)state;
	point.quantities[ROOF_fp32].share = 0.9;
	assert_float_equal(left_with(products(PRODUCT, 20, 10), &point).usual, 0.125, 0.01);
	point.quantities[ROOF_dram].share = 0.4;
	assert_float_equal(left_with(products(PRODUCT, 20, 10), &point).usual, 0.4, 0.01);
}

static void test_refused(void **state)
{
	(void)state;
	assert_true(
		left_of(products("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_TNT", 20, 10)).is_refused);
	assert_true(
		left_of(products(
				"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize256x128x32__5x_cublas",
				20, 10))
			.is_refused);
	assert_true(left_of(products("sgemm_128x128", 20, 10)).is_refused); /* no library's */
}

/* One without a tile may be of any shape, and cuDNN may use TF32 by default: they may gain. */
static void test_unsure(void **state)
{
	static const char *const names[] = {
		"void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>(float*)",
		"sm80_xmma_fprop_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_"
		"tilesize128x128x8_stage3_ffma__5x_cudnn",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(left_of(products(names[i], 20, 10)).is_refused);
}

static void expect_advised(const char *name, int64_t shorter_ns, bool is_advised)
{
	struct ceilings *ceilings = predicted_ceilings(0);
	struct builder *b = products(name, 20, 10);
	const struct recommendation *item;
	struct advised it;

	for (size_t i = 0; i < b->profile.op_count; i++)
		if (i % 2 == 0)
			b->ops[i].end_ns -= shorter_ns;
	add_roofs(ceilings);
	advised_begin_by(&it, b, (struct device_work){0}, ceilings);
	item = advised_item(&it, "tensor_cores");
	assert_int_equal(item != NULL, is_advised);
	if (item) {
		assert_true(item->gain.place.speedup > 2);
		assert_true(advised_says(item, ": 91% of all kernels' time"));
		assert_true(advised_says(item, "products of cuBLAS in FP32"));
	}
	advised_end(&it);
}

static void test_advised(void **state)
{
	(void)state;
	expect_advised(PRODUCT, 0, true);
	expect_advised(PRODUCT, KERNEL_NS - 4000,
		       false); /* the other kernel and the host take the time */
	expect_advised("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_TNT", 0, false);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("products in FP32 take the ratio of the roofs less time", test_ratio),
		SENTENCE("small tiles may gain nothing, as L2 gives them what they load",
			 test_small_tiles),
		SENTENCE("products of few rows gain no more than DRAM allows", test_dram),
		SENTENCE("counted bytes of DRAM bound the gain, and arithmetic in FP32 does not",
			 test_counted),
		SENTENCE("products on tensor cores and kernels of no library are left alone",
			 test_refused),
		SENTENCE(
			"kernels of unknown shape and convolutions of cuDNN are not promised to gain",
			test_unsure),
		SENTENCE("TF32 is advised without counters where products take the time",
			 test_advised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
