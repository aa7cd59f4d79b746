#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/counters/occupancy.h"

static const struct profile_device h200 = {
	.compute_major = 9,
	.sm_count = 132,
	.max_warps_per_sm = 64,
	.max_blocks_per_sm = 32,
	.max_registers_per_sm = 65536,
	.max_shared_bytes_per_sm = 233472,
};

static struct occupancy occupancy(uint32_t grid, uint32_t block, uint32_t registers,
				  uint32_t shared_bytes)
{
	struct profile_signature launch = {
		.grid = {grid, 1, 1},
		.block = {block, 1, 1},
		.registers_per_thread = registers,
		.dynamic_shared_bytes = shared_bytes,
	};
	struct occupancy result = {0};

	assert_true(occupancy_of(&result, &h200, &launch));
	return result;
}

static void test_limits(void **state)
{
	struct occupancy result = occupancy(1056, 256, 16, 0);

	(void)state;
	assert_int_equal(result.blocks_per_sm, 8);
	assert_int_equal(result.limit, OCCUPANCY_WARPS);
	assert_float_equal(result.warps_ratio, 1, 1e-9);
	assert_float_equal(result.waves, 1, 1e-9);
	result = occupancy(132, 32, 16, 0);
	assert_int_equal(result.blocks_per_sm, 32);
	assert_int_equal(result.limit, OCCUPANCY_BLOCKS);
	assert_float_equal(result.warps_ratio, 0.5, 1e-9);
	/* 65 registers: 2304 a warp with their portions of 256, so 7 warps of each part of the SM, 28 in all */
	result = occupancy(1, 128, 65, 0);
	assert_int_equal(result.blocks_per_sm, 7);
	assert_int_equal(result.limit, OCCUPANCY_REGISTERS);
	assert_float_equal(result.warps_ratio, 28.0 / 64, 1e-9);
	/* 227 KB, the most that a block can have, and the 1 KB that CUDA keeps: one block, and no more */
	result = occupancy(264, 1024, 32, 227 * 1024);
	assert_int_equal(result.blocks_per_sm, 1);
	assert_int_equal(result.limit, OCCUPANCY_SHARED);
	assert_float_equal(result.waves, 2, 1e-9);
}

static void test_blocks_of_warps_that_do_not_divide(void **state)
{
	(void)state;
	/* of 64 warps */
	assert_int_equal(occupancy(1, 96, 16, 0).blocks_per_sm, 21);
	assert_int_equal(occupancy(1, 1, 16, 0).blocks_per_sm, 32);
	assert_int_equal(occupancy(1, 33, 16, 0).blocks_per_sm, 32);
}

/* What cuda_occupancy.h says of them too. */
static void test_registers_of_warps_that_do_not_divide(void **state)
{
	struct occupancy result = occupancy(1, 96, 38, 0);

	(void)state;
	/* 1,280 a warp: 12 of each part, 48 warps in all, of 3 a block */
	assert_int_equal(result.blocks_per_sm, 16);
	assert_int_equal(result.limit, OCCUPANCY_REGISTERS);
	assert_float_equal(result.warps_ratio, 0.75, 1e-9);
	assert_int_equal(occupancy(1, 160, 54, 0).blocks_per_sm, 7);  /* 1,792: 36 warps of 5 */
	assert_int_equal(occupancy(1, 32, 70, 0).blocks_per_sm, 28);  /* 2,304: 28 warps */
	assert_int_equal(occupancy(1, 352, 107, 0).blocks_per_sm, 1); /* 3,584: 16 warps of 11 */
}

static void test_older_chips_keep_no_shared_memory(void **state)
{
	struct profile_device turing = {.compute_major = 7,
					.sm_count = 40,
					.max_warps_per_sm = 32,
					.max_blocks_per_sm = 16,
					.max_registers_per_sm = 65536,
					.max_shared_bytes_per_sm = 65536};
	struct profile_signature launch = {.grid = {1, 1, 1},
					   .block = {64, 1, 1},
					   .registers_per_thread = 16,
					   .static_shared_bytes = 32768};
	struct occupancy result;

	(void)state;
	assert_true(occupancy_of(&result, &turing, &launch));
	assert_int_equal(result.blocks_per_sm, 2);
	turing.compute_major = 8;
	assert_true(occupancy_of(&result, &turing, &launch));
	assert_int_equal(result.blocks_per_sm, 1);
}

static void test_unknown(void **state)
{
	struct profile_device without = h200;
	struct profile_signature launch = {.grid = {1, 1, 1}, .block = {2048, 2, 1}};
	struct occupancy result;

	(void)state;
	assert_false(occupancy_of(&result, &h200, &launch)); /* 128 warps fit nowhere */
	launch.block[0] = 0;
	assert_false(occupancy_of(&result, &h200, &launch));
	launch.block[0] = 32;
	without.max_registers_per_sm = 0; /* an older recording */
	assert_false(occupancy_of(&result, &without, &launch));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"each of the four limits binds where it should", test_limits, NULL, NULL, NULL},
		{"a block takes up its warps, begun ones too",
		 test_blocks_of_warps_that_do_not_divide, NULL, NULL, NULL},
		{"a block takes the registers of its warps, wherever they are",
		 test_registers_of_warps_that_do_not_divide, NULL, NULL, NULL},
		{"before compute capability 8.0 a block has all of its shared memory",
		 test_older_chips_keep_no_shared_memory, NULL, NULL, NULL},
		{"what fits nowhere and what is not recorded has no occupancy", test_unknown, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
