/* What an all-reduce takes between other numbers of GPUs than it was measured of, and what is left of a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "whatif/divided_run.h"

#define MANY (256.0 * 1024 * 1024)

static struct ceilings *ceilings;

static void measured(enum ceiling_id id, uint64_t parameter, double value)
{
	const struct ceiling row = {.id = id, .parameter = parameter, .value = value};

	assert_int_equal(ceilings_add(ceilings, &row), 0);
	assert_null(ceilings_sort(ceilings));
}

static int begin(void **state)
{
	(void)state;
	ceilings = calloc(1, sizeof(*ceilings));
	return ceilings ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	ceilings_free(ceilings);
	return 0;
}

static double usual_ns(uint64_t gpus, double bytes)
{
	const struct reduce_times times = reduce_times_of(ceilings, "a GPU", gpus);

	return reduce_ns(&times, bytes, ASSUMED_USUAL);
}

static void measure_two(void)
{
	measured(CEILING_nccl_all_reduce, 8, 10000);
	measured(CEILING_nccl_all_reduce, (uint64_t)MANY, 1010000);
}

static void test_as_measured(void **state)
{
	(void)state;
	measure_two();
	assert_int_equal(reduce_measured_gpus(ceilings), 2);
	assert_float_equal(usual_ns(2, 8), 10000, 1);
	assert_float_equal(usual_ns(2, MANY), 1010000, 1);
	assert_float_equal(usual_ns(2, 2 * MANY), 2020000, 1);
	assert_float_equal(usual_ns(2, 0), 0, 0);
}

/* Of 8 GPUs each sends 7/8 of the bytes twice, where of two it sends half of them twice. */
static void test_formula(void **state)
{
	struct reduce_times times;

	(void)state;
	measure_two();
	times = reduce_times_of(ceilings, "a GPU", 8);
	assert_int_equal(times.source, REDUCE_FORMULA);
	assert_float_equal(usual_ns(8, MANY), 30000 + 1000000 * 7 / 4.0, 1);
	assert_float_equal(reduce_ns(&times, MANY, ASSUMED_LEAST), 70000 + 1000000 * 7 / 4.0, 1);
	assert_float_equal(reduce_ns(&times, MANY, ASSUMED_MOST), 10000 + 1000000 * 7 / 4.0, 1);
}

/* Fewer than were measured: no end is on the wrong side. */
static void test_fewer(void **state)
{
	struct reduce_times times;

	(void)state;
	measure_two();
	measured(CEILING_nccl_small_by_gpus, 8, 10000);
	times = reduce_times_of(ceilings, "a GPU", 2);
	assert_int_equal(times.measured_gpus, 8);
	assert_true(times.least_ns[ASSUMED_LEAST] >= times.least_ns[ASSUMED_USUAL]);
	assert_true(times.least_ns[ASSUMED_USUAL] >= times.least_ns[ASSUMED_MOST]);
	assert_float_equal(usual_ns(2, MANY), 10000 / 3.0 + 1000000 * (1 / 2.0) / (7 / 8.0), 1);
}

static void test_by_gpus(void **state)
{
	(void)state;
	measure_two();
	measured(CEILING_nccl_small_by_gpus, 2, 8000);
	measured(CEILING_nccl_large_by_gpus, 2, 708000);
	measured(CEILING_nccl_small_by_gpus, 4, 10000);
	measured(CEILING_nccl_large_by_gpus, 4, 1010000);
	assert_int_equal(reduce_measured_gpus(ceilings), 4);
	assert_float_equal(usual_ns(4, MANY), 1010000, 1);
	assert_float_equal(usual_ns(2, MANY), 708000, 1);
	assert_float_equal(usual_ns(2, 8), 8000, 1);
	assert_int_equal(reduce_times_of(ceilings, "a GPU", 2).source, REDUCE_MEASURED);
	assert_int_equal(reduce_times_of(ceilings, "a GPU", 3).source, REDUCE_FORMULA);
}

static void test_rate(void **state)
{
	(void)state;
	assert_int_equal(reduce_times_of(ceilings, "a GPU", 4).source, REDUCE_UNKNOWN);
	assert_float_equal(usual_ns(4, MANY), 0, 0);
	measured(CEILING_peer_copy, 0, 100e9);
	assert_int_equal(reduce_times_of(ceilings, "a GPU", 4).source, REDUCE_RATE);
	assert_float_equal(usual_ns(4, 100e6), 1500000, 1);
}

/* ---- kernels ---- */

static double share(uint32_t blocks, uint64_t gpus, enum divided divided, enum assumed_end at)
{
	/* four blocks of 256 threads fit on each of 100 SMs */
	const struct profile_device device = {.compute_major = 9,
					      .sm_count = 100,
					      .max_warps_per_sm = 32,
					      .max_blocks_per_sm = 32,
					      .max_registers_per_sm = 65536,
					      .max_shared_bytes_per_sm = 1 << 16};
	const struct profile_signature launch = {.grid = {blocks, 1, 1},
						 .block = {256, 1, 1},
						 .registers_per_thread = 16};

	return divided_kernel_share(&device, &launch,
				    &(struct divided_request){.gpus = gpus,
							      .divided = divided,
							      .end = at});
}

static void test_known(void **state)
{
	(void)state;
	assert_float_equal(share(1600, 4, DIVIDED_BLOCKS, ASSUMED_USUAL), 0.25, 1e-9);
	assert_float_equal(share(1600, 3, DIVIDED_BLOCKS, ASSUMED_USUAL), 0.5, 1e-9);
	assert_float_equal(share(200, 4, DIVIDED_BLOCKS, ASSUMED_MOST), 1, 1e-9);
	assert_float_equal(share(200, 4, DIVIDED_THREADS, ASSUMED_LEAST), 0.25, 1e-9);
}

/* Whatever the launch, the ends are on both sides of what is usual. */
static void test_unknown(void **state)
{
	(void)state;
	for (uint32_t blocks = 1; blocks < 5000; blocks += 7)
		for (uint64_t gpus = 2; gpus <= 64; gpus++) {
			double least = share(blocks, gpus, DIVIDED_UNKNOWN, ASSUMED_LEAST);
			double usual = share(blocks, gpus, DIVIDED_UNKNOWN, ASSUMED_USUAL);
			double most = share(blocks, gpus, DIVIDED_UNKNOWN, ASSUMED_MOST);

			assert_true(least <= 1 && least + 1e-9 >= usual && usual + 1e-9 >= most);
			assert_float_equal(most, 1 / (double)gpus, 1e-9);
		}
	assert_float_equal(share(1600, 8, DIVIDED_UNKNOWN, ASSUMED_USUAL), 0.25, 1e-9);
	assert_float_equal(share(400, 8, DIVIDED_UNKNOWN, ASSUMED_USUAL), 0.125, 1e-9);
	assert_float_equal(share(99, 8, DIVIDED_UNKNOWN, ASSUMED_USUAL), 1, 1e-9);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, begin, end, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"of as many GPUs it takes what was measured, and beyond the largest size its rate",
			test_as_measured),
		SENTENCE("of more GPUs the bus bandwidth stays", test_formula),
		SENTENCE("of fewer as well, and the ends are on their sides", test_fewer),
		SENTENCE("what was measured by number of GPUs goes before", test_by_gpus),
		SENTENCE("the rate of copies stands for links that nobody measured", test_rate),
		SENTENCE("a kernel with fewer blocks has their waves, one with less work its share",
			 test_known),
		SENTENCE("where nobody knows the ends are these, and the rest lies between them",
			 test_unknown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
