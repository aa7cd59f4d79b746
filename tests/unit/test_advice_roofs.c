/* What is advised to kernels that counters show below a roof of memory, or at one of arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define KERNEL_NS 1000000

static struct builder *launches(const char *name)
{
	struct builder *b = builder_new(1, 1);

	advised_set_device(b);
	for (int64_t i = 0; i < 20; i++) {
		uint32_t call = builder_launch(b, 0, 4000 * i, 4000 * i + 3000);

		builder_op(b, OP_KERNEL, 0, builder_signature(b, name, 1000),
			   100000 + KERNEL_NS * i, 100000 + KERNEL_NS * i + KERNEL_NS - 2000, call);
	}
	return b;
}

/* A kernel of that name whose nearest roof is that one. */
static struct roofline_point point_at(const char *name, enum roofline_roof roof, double share)
{
	struct roofline_point point = {.name = name,
				       .launch_count = 20,
				       .time_ns = 20 * KERNEL_NS,
				       .is_counted = true,
				       .binding = roof,
				       .binding_share = share};

	point.quantities[roof].share = share;
	point.quantities[roof].per_launch = 1 << 20;
	return point;
}

/* What that rule says of it first; NULL: it is not recommended. */
static void expect(const char *rule, struct roofline_point point, const char *sentence)
{
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	const struct recommendation *item;
	struct advised it;

	advised_begin_counted(&it, launches(point.name), roofline);
	item = advised_item(&it, rule);
	if (sentence) {
		assert_non_null(item);
		assert_string_equal(item->evidence[0], sentence);
		assert_in_range((uint64_t)item->at_stake_ns, 1, 20 * KERNEL_NS);
	} else {
		assert_null(item);
	}
	advised_end(&it);
}

static void test_wider_loads(void **state)
{
	struct roofline_point busy = point_at("k", ROOF_dram, 0.6);

	(void)state;
	expect("wider_loads", point_at("k", ROOF_dram, 0.6),
	       "k: 1.00 MiB a launch at 60% of what DRAM can");
	expect("wider_loads", point_at("k", ROOF_dram, 0.45), NULL);
	expect("wider_loads", point_at("k", ROOF_dram, 0.85), NULL); /* memory_roof's */
	expect("wider_loads", point_at("k", ROOF_l2, 0.6), NULL);
	expect("wider_loads", point_at("void at::native::k<int>(int)", ROOF_dram, 0.6), NULL);
	busy.quantities[ROOF_fp32].share = 0.4; /* it computes as well */
	expect("wider_loads", busy, NULL);
}

static void test_tensor_cores(void **state)
{
	struct roofline_point tiled = point_at("tiled", ROOF_fp32, 0.7);
	struct roofline_point tensor = point_at("sm80_xmma_gemm_f32_cublas", ROOF_fp32, 0.7);

	(void)state;
	expect("tensor_cores", point_at("sm80_xmma_gemm_f32_cublas", ROOF_fp32, 0.7),
	       "sm80_xmma_gemm_f32_cublas: 70% of what FP32 can, and no tensor core works");
	expect("tensor_cores", point_at("sm80_xmma_gemm_f32_cublas", ROOF_fp32, 0.4), NULL);
	expect("tensor_cores", tiled, NULL); /* a chain of additions */
	tiled.quantities[ROOF_shared].share = 0.3;
	expect("tensor_cores", tiled, "tiled: 70% of what FP32 can, and no tensor core works");
	tensor.tensor_share = 0.1;
	expect("tensor_cores", tensor, NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("kernels between half and 80% of DRAM's roof need more loads under way",
			 test_wider_loads),
		SENTENCE("products at the FP32 roof are advised tensor cores, other sums are not",
			 test_tensor_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
