/* How much of the GPU a launch's shape leaves without work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/counters/launch_fill.h"

static const struct profile_device device = {.sm_count = 100,
					     .max_warps_per_sm = 64,
					     .max_blocks_per_sm = 32,
					     .max_registers_per_sm = 1 << 16,
					     .max_shared_bytes_per_sm = 200 << 10};

/* shared_bytes: so many that the blocks which fit on an SM follow. */
static struct launch_fill fill(uint32_t blocks, uint32_t threads, uint32_t shared_bytes)
{
	const struct profile_signature launch = {.grid = {blocks, 1, 1},
						 .block = {threads, 1, 1},
						 .dynamic_shared_bytes = shared_bytes};
	struct launch_fill found;

	assert_true(launch_fill_of(&found, &device, &launch));
	return found;
}

#define ONE_FITS (150 << 10)

static void test_few_blocks(void **state)
{
	struct launch_fill found = fill(25, 256, 0);

	(void)state;
	assert_int_equal(found.lack, LAUNCH_LACKS_BLOCKS);
	assert_float_equal(found.filled_share, 0.25, 1e-9);
	assert_float_equal(found.crowded_share, 25.0 / 800, 1e-9); /* 8 of 256 threads on an SM */
	assert_int_equal(fill(80, 256, 0).lack, LAUNCH_LACKS_NOTHING);
}

static void test_last_wave(void **state)
{
	struct launch_fill found = fill(101, 256, ONE_FITS);

	(void)state;
	assert_int_equal(found.lack, LAUNCH_ENDS_UNEVEN);
	assert_float_equal(found.filled_share, 101.0 / 200, 1e-9);
	/* with several on an SM, all of them run at once, or SMs share their speed */
	assert_int_equal(fill(101, 256, 0).lack, LAUNCH_LACKS_NOTHING);
	assert_int_equal(fill(801, 256, 0).lack, LAUNCH_LACKS_NOTHING);
	assert_int_equal(fill(200, 256, ONE_FITS).lack, LAUNCH_LACKS_NOTHING);
	assert_int_equal(fill(1001, 256, ONE_FITS).lack, LAUNCH_LACKS_NOTHING);
}

static void test_small_blocks(void **state)
{
	struct launch_fill found = fill(10000, 8, 0);

	(void)state;
	assert_int_equal(found.lack, LAUNCH_LACKS_LANES);
	assert_float_equal(found.filled_share, 0.125,
			   1e-9); /* and 32 warps on an SM that holds 64 */
	assert_int_equal(fill(3200, 25, 0).lack, LAUNCH_LACKS_NOTHING);
}

static void test_blocks_of_one_warp(void **state)
{
	struct launch_fill found = fill(100000, 32, 0);

	(void)state;
	assert_int_equal(found.lack, LAUNCH_LACKS_WARPS);
	assert_float_equal(found.filled_share, 0.5, 1e-3);
	assert_int_equal(fill(3200, 32, 0).lack, LAUNCH_LACKS_NOTHING); /* one wave */
	assert_int_equal(fill(100000, 64, 0).lack, LAUNCH_LACKS_NOTHING);
	assert_int_equal(fill(100000, 32, 20 << 10).lack,
			 LAUNCH_LACKS_NOTHING); /* no fuller blocks */
}

static void test_unknown(void **state)
{
	const struct profile_signature launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	const struct profile_device unknown = {.sm_count = 0};
	struct launch_fill found;

	(void)state;
	assert_false(launch_fill_of(&found, &unknown, &launch));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("fewer blocks than SMs leave SMs empty", test_few_blocks),
		SENTENCE("a grid just over a wave leaves its last one empty", test_last_wave),
		SENTENCE("blocks of a few threads leave lanes of their warps empty",
			 test_small_blocks),
		SENTENCE("blocks of one warp leave half of an SM's warps empty",
			 test_blocks_of_one_warp),
		SENTENCE("without the device's limits nothing is known", test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
