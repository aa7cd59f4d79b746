/* What is advised to kernels that counters show below a roof of memory, or at one of arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/counters/counted.h"
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

/* Part of what it moves is registers: more loads under way would take more of them. */
static void test_spilled(void **state)
{
	struct roofline_point point = point_at("k", ROOF_dram, 0.6);
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct builder *b = launches("k");
	const struct recommendation *item;
	struct advised it;

	(void)state;
	b->signatures[0].local_bytes_per_thread = 400;
	b->signatures[0].registers_per_thread = 255;
	advised_begin_counted(&it, b, roofline);
	assert_null(advised_item(&it, "wider_loads"));
	item = advised_item(&it, "register_spills");
	assert_non_null(item);
	assert_true(item->is_unsure); /* it may be an array, and accessed seldom */
	assert_ptr_not_equal(advice_first(it.advice), item);
	advised_end(&it);
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

/* ---- what is loaded ---- */

/* Sectors and bytes of all launches; sectors: 0: not counted. */
struct loads {
	double sectors, requests, bytes;
};

static void count(struct counted_role *roles, struct loads loads)
{
	const double totals[] = {loads.sectors, 0, loads.requests, 0, loads.bytes, 0};

	for (int i = 0; loads.sectors > 0 && i < 6; i++)
		roles[METRIC_global_load_sectors + i] = (struct counted_role){1, totals[i], 1};
}

/* The sentence that uncoalesced says of it first; NULL: it is not recommended.  Launched in columns or in rows. */
static void expect_loads(struct roofline_point point, struct loads loads, bool is_column,
			 const char *sentence)
{
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct counted_role roles[METRIC_ROLE_COUNT] = {0};
	struct counted_work work = {.launch_count = 20, .roles = roles};
	struct counted counted = {.kernels = &work};
	struct builder *b = launches(point.name);
	const struct recommendation *item;
	struct advised it;

	memcpy(b->signatures[0].block,
	       is_column ? (uint32_t[]){1, 256, 1} : (uint32_t[]){256, 1, 1},
	       sizeof(b->signatures[0].block));
	count(roles, loads);
	advised_begin_counters(&it, b, roofline, &counted);
	item = advised_item(&it, "uncoalesced");
	assert_int_equal(item != NULL, sentence != NULL);
	if (sentence) {
		assert_string_equal(item->strategy, "coalesce");
		assert_string_equal(item->evidence[0], sentence);
		assert_in_range((uint64_t)item->at_stake_ns, 10 * KERNEL_NS, 20 * KERNEL_NS);
	}
	advised_end(&it);
}

static void test_uncoalesced(void **state)
{
	struct roofline_point point = point_at("k", ROOF_l2, 0.3), other = point;
	const struct loads strided = {20 * 1024, 20 * 32, 20 * 4096};

	(void)state;
	expect_loads(
		point, strided, false,
		"k: its loads and stores touch 8.0 times as many sectors as they need, 32.0 KiB "
		"in place of 4.00 KiB a launch");
	expect_loads(point, (struct loads){20 * 128, 20 * 32, 20 * 4096}, true, NULL);
	/* all threads of a warp read the same */
	expect_loads(point, (struct loads){20 * 1024, 20 * 1024, 20 * 4096}, false, NULL);
	other.quantities[ROOF_l1].total = 20 * 100000; /* of local memory */
	expect_loads(other, strided, false, NULL);
	expect_loads(point_at("k", ROOF_dram, 0.85), strided, false, NULL);
	expect_loads(point_at("void at::native::k<int>(int)", ROOF_l2, 0.3), strided, false, NULL);
}

static void test_columns(void **state)
{
	(void)state;
	expect_loads(
		point_at("k", ROOF_l2, 0.3), (struct loads){0}, true,
		"k: blocks of 1 x 256 x 1 threads: those of a warp have the same x, and rows of their "
		"own where y counts rows");
	expect_loads(point_at("k", ROOF_l2, 0.3), (struct loads){0}, false, NULL);
}

/* So many bytes a launch of DRAM and through L1, of which the L2 of the device may have held some. */
static bool is_unasked(double dram_bytes, double l1_bytes, double shared_bytes, uint64_t l2_bytes)
{
	struct roofline_point point = point_at("k", ROOF_dram, 0.3);
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct builder *b = launches("k");
	const struct recommendation *item;
	struct advised it;

	point.quantities[ROOF_dram].per_launch = dram_bytes;
	point.quantities[ROOF_l1].per_launch = l1_bytes;
	point.quantities[ROOF_shared].state = ROOFLINE_KNOWN;
	point.quantities[ROOF_shared].total = shared_bytes;
	b->devices[0].l2_bytes = l2_bytes;
	advised_begin_counted(&it, b, roofline);
	item = advised_item(&it, "uncoalesced");
	if (item)
		assert_string_equal(
			item->evidence[0],
			"k: 3.00 MiB a launch of DRAM, and 1.00 MiB through L1: parts of what moves are "
			"not asked for before they are gone");
	advised_end(&it);
	return item;
}

static void test_unasked(void **state)
{
	const double mib = 1 << 20;

	(void)state;
	assert_true(is_unasked(3 * mib, mib, 0, 0));
	assert_false(is_unasked(1.1 * mib, mib, 0, 0));
	assert_false(is_unasked(3 * mib, mib, 0, 2 << 20));
	assert_false(is_unasked(3 * mib, mib, 1, 0)); /* it may be copied there past L1 */
	assert_false(is_unasked(3 * mib, 0, 0, 0));   /* not counted */
}

/* A quarter of L1's roof for 1 MiB of DRAM and 400 operations a byte. */
static struct roofline_point cached(void)
{
	struct roofline_point point = point_at("k", ROOF_l1, 0.25);

	for (int roof = 0; roof < ROOF_COUNT; roof++)
		point.quantities[roof].state = ROOFLINE_KNOWN;
	point.quantities[ROOF_dram].total = point.quantities[ROOF_dram].per_launch = 1 << 20;
	point.quantities[ROOF_fp32].total = 400.0 * (1 << 20);
	point.quantities[ROOF_fp32].share = 0.1;
	return point;
}

/* With roofs of arithmetic and DRAM that meet at 15 operations a byte, and so many FMA of its operations. */
static void expect_computing(const char *rule, struct roofline_point point, double fma_share,
			     const char *sentence)
{
	struct roofline roofline = {.roofs = {[ROOF_dram] = 4e12, [ROOF_fp32] = 60e12},
				    .kernels = &point,
				    .kernel_count = 1};
	struct counted_role roles[METRIC_ROLE_COUNT] = {0};
	struct counted_work work = {.launch_count = 20, .roles = roles};
	struct counted counted = {.kernels = &work};
	double flops = point.quantities[ROOF_fp32].total;
	const struct recommendation *item;
	struct advised it;

	roles[METRIC_fp32_fma] = (struct counted_role){1, fma_share * flops / 2, 1};
	roles[METRIC_fp32_add] = (struct counted_role){1, (1 - fma_share) * flops, 1};
	advised_begin_counters(&it, launches(point.name), roofline, &counted);
	item = advised_item(&it, rule);
	assert_int_equal(item != NULL, sentence != NULL);
	if (sentence) {
		assert_string_equal(item->evidence[0], sentence);
		assert_in_range((uint64_t)item->at_stake_ns, 1, 20 * KERNEL_NS);
	}
	advised_end(&it);
}

static void test_tiles(void **state)
{
	struct roofline_point tiled = cached(), streaming = cached(), idle = cached();

	(void)state;
	expect_computing("reuse_in_tiles", cached(), 1,
			 "k: 1.00 MiB a launch from L1, and 1.00 MiB from DRAM");
	tiled.quantities[ROOF_shared].total = 1 << 20;
	expect_computing("reuse_in_tiles", tiled, 1, NULL);
	streaming.quantities[ROOF_fp32].total = 10.0 * (1 << 20); /* DRAM would hold it up */
	expect_computing("reuse_in_tiles", streaming, 1, NULL);
	idle.binding_share = 0.1; /* less than a prediction may be off */
	expect_computing("reuse_in_tiles", idle, 1, NULL);
}

static void test_products_by_hand(void **state)
{
	struct roofline_point product = cached(), streaming, tensor;

	(void)state;
	product.binding = ROOF_shared;
	streaming = tensor = product;
	expect_computing("tensor_cores", product, 0.95,
			 "k: 25% of what shared memory can, and no tensor core works");
	expect_computing("tensor_cores", product, 0.6, NULL); /* no sums of products */
	streaming.quantities[ROOF_fp32].total = 10.0 * (1 << 20);
	expect_computing("tensor_cores", streaming, 1, NULL);
	tensor.tensor_share = 0.1;
	expect_computing("tensor_cores", tensor, 1, NULL);
}

/* ---- kernels that wait ---- */

#define HOLDING_ALL 32	/* registers of a thread with which an SM holds all of its warps */
#define HOLDING_FEW 128 /* and a quarter of them */

/* At a third of L2's roof, and below that of all others. */
static struct roofline_point waiting(void)
{
	struct roofline_point point = point_at("k", ROOF_l2, 0.33);

	point.regime = ROOFLINE_LATENCY_BOUND;
	for (int roof = 0; roof < ROOF_COUNT; roof++)
		point.quantities[roof].state = ROOFLINE_KNOWN;
	return point;
}

/* What of the two rules is recommended, or NULL; with a sentence of its evidence.  stall: what it waits for most;
 * METRIC_NONE: not counted. */
static void expect_waiting(struct roofline_point point, uint32_t registers, enum metric_role stall,
			   const char *rule, const char *sentence)
{
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct counted_role roles[METRIC_ROLE_COUNT] = {0};
	struct counted_work work = {.launch_count = 20, .roles = roles};
	struct counted counted = {.kernels = &work};
	struct builder *b = launches("k");
	struct advised it;

	b->signatures[0].registers_per_thread = registers;
	roles[METRIC_stall_sleeping] = (struct counted_role){1, stall == METRIC_NONE ? 0 : 1, 1};
	if (stall != METRIC_NONE)
		roles[stall] = (struct counted_role){1, 5, 1};
	advised_begin_counters(&it, b, roofline, &counted);
	for (int i = 0; i < 2; i++) {
		const char *id = i ? "latency_bound" : "low_occupancy";
		const struct recommendation *item = advised_item(&it, id);

		if (!rule || strcmp(id, rule) != 0) {
			assert_null(item);
			continue;
		}
		assert_non_null(item);
		assert_true(item->at_stake_ns == 0);
		assert_string_equal(item->evidence[0], "k: at 33% of its nearest roof (L2)");
		assert_true(advised_says(item, sentence));
	}
	advised_end(&it);
}

static void test_low_occupancy(void **state)
{
	struct roofline_point fast = waiting(), unknown = waiting(), idle = waiting();

	(void)state;
	expect_waiting(waiting(), HOLDING_FEW, METRIC_NONE, "low_occupancy",
		       "2 blocks of 256 threads fit on an SM, 25% of the warps that it can hold: "
		       "registers hold them down");
	expect_waiting(waiting(), HOLDING_FEW, METRIC_stall_long_scoreboard, "low_occupancy",
		       "its warps spend most of their waits on: waits for L1, L2 or DRAM");
	/* a busy unit, which more warps would not make faster */
	expect_waiting(waiting(), HOLDING_FEW, METRIC_stall_lg_throttle, NULL, NULL);
	fast.binding_share = 0.6;
	expect_waiting(fast, HOLDING_FEW, METRIC_NONE, NULL, NULL);
	unknown.quantities[ROOF_fp32].state = ROOFLINE_NOT_ASKED;
	expect_waiting(unknown, HOLDING_FEW, METRIC_NONE, NULL, NULL);
	idle.regime = ROOFLINE_LAUNCH_BOUND;
	expect_waiting(idle, HOLDING_FEW, METRIC_NONE, NULL, NULL);
}

static void test_latency_bound(void **state)
{
	(void)state;
	expect_waiting(waiting(), HOLDING_ALL, METRIC_stall_long_scoreboard, "latency_bound",
		       "waits for L1, L2 or DRAM");
	expect_waiting(waiting(), HOLDING_ALL, METRIC_NONE, NULL, NULL);
	expect_waiting(waiting(), HOLDING_ALL, METRIC_stall_math_pipe_throttle, NULL, NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"a kernel whose warps touch far more sectors than they need is advised to coalesce",
			test_uncoalesced),
		SENTENCE("so do kernels that move more bytes of DRAM than go through L1",
			 test_unasked),
		SENTENCE("blocks of one thread in x read columns, as far as nobody counted",
			 test_columns),
		SENTENCE(
			"what much is computed with and comes from cache again and again is advised a tile",
			test_tiles),
		SENTENCE("sums of products that shared memory holds up are advised tensor cores",
			 test_products_by_hand),
		SENTENCE("kernels between half and 80% of DRAM's roof need more loads under way",
			 test_wider_loads),
		SENTENCE("a kernel that spills is told so, and not to load more at once",
			 test_spilled),
		SENTENCE("kernels that wait with few warps on an SM are advised more of them",
			 test_low_occupancy),
		SENTENCE(
			"kernels that wait with all warps are advised more work in each, if that was counted",
			test_latency_bound),
		SENTENCE("products at the FP32 roof are advised tensor cores, other sums are not",
			 test_tensor_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
