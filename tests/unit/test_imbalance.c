#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "advice/imbalance.h"

/* Four blocks of a kernel fit on each of ten SMs. */
static bool is_there(uint32_t blocks, double sms, double busiest_sm, int64_t tail_ns)
{
	struct profile_device device = {
		.compute_major = 9,
		.sm_count = 10,
		.max_warps_per_sm = 64,
		.max_blocks_per_sm = 4,
		.max_registers_per_sm = 65536,
		.max_shared_bytes_per_sm = 233472,
	};
	struct profile_signature launches[] = {
		{.kernel = 3, .grid = {1, 1, 1}, .block = {32, 1, 1}},
		{.kernel = 7, .grid = {blocks, 1, 1}, .block = {32, 1, 1}},
	};
	struct kernel_statistics kernels[] = {{.signature = 0}, {.signature = 1}};
	struct profile profile = {.devices = &device, .signatures = launches};
	struct statistics statistics = {.kernels = kernels, .kernel_count = 2};
	const struct report report = {.profile = &profile, .statistics = &statistics};
	const struct sm_activity_kernel kernel = {.kernel = 7,
						  .span_ns = 1000,
						  .sms = sms,
						  .busiest_sm = busiest_sm,
						  .tail_ns = tail_ns};

	assert_ptr_equal(imbalance_statistics(&report, 7), &kernels[1]);
	assert_null(imbalance_statistics(&report, 8));
	return imbalance_is_there(&report, &kernel);
}

static void test_shares(void **state)
{
	(void)state;
	assert_true(is_there(100, 0.4, 1, 500));
	assert_true(is_there(100, 0.4, 0.6, 500));
	assert_false(is_there(100, 0.4, 0.5, 500)); /* none is active for long */
	assert_false(is_there(100, 0.9, 1, 500));
	assert_false(is_there(100, 0, 0, 500)); /* was not sampled at work */
}

static void test_tail(void **state)
{
	(void)state;
	assert_true(is_there(100, 0.4, 1, 300));
	assert_false(is_there(100, 0.4, 1, 290)); /* unequal all the time, not at the end */
}

static void test_blocks(void **state)
{
	(void)state;
	assert_true(is_there(20, 0.4, 1, 500));
	assert_false(is_there(19, 0.4, 1,
			      500)); /* some SMs have one, others two: nothing to share out */
}

#define SENTENCE(text, function)                        \
	{                                               \
		.name = (text), .test_func = (function) \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("SMs are unequal by the busiest one's share, not by their life's",
			 test_shares),
		SENTENCE("without a tail there is no imbalance that a queue would mend", test_tail),
		SENTENCE("a kernel of fewer than two blocks an SM has nothing to share out",
			 test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
