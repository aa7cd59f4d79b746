#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/imbalance.h"
#include "profile_builder.h"

static bool is_there(double sms, double busiest_sm, int64_t tail_ns)
{
	const struct sm_activity_kernel kernel = {.filled = {.span_ns = 1000,
							     .sms = sms,
							     .busiest_sm = busiest_sm,
							     .tail_ns = tail_ns}};

	return imbalance_is_there(&kernel);
}

static void test_shares(void **state)
{
	(void)state;
	assert_true(is_there(0.4, 1, 500));
	assert_true(is_there(0.4, 0.6, 500));
	assert_false(is_there(0.4, 0.5, 500)); /* none is active for long */
	assert_false(is_there(0.9, 1, 500));
	assert_false(is_there(0, 0, 500)); /* was not sampled at work */
}

static void test_tail(void **state)
{
	(void)state;
	assert_true(is_there(0.4, 1, 300));
	assert_false(is_there(0.4, 1, 290)); /* unequal all the time, not at the end */
}

/* As the first levels of a refinement, whose blocks are too few. */
static void test_underfilled(void **state)
{
	const struct sm_activity_kernel kernel = {.span_ns = 1000,
						  .sms = 0.4,
						  .busiest_sm = 1,
						  .tail_ns = 500};

	(void)state;
	assert_false(imbalance_is_there(&kernel));
}

static void test_time(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t few = builder_signature(b, "k", 19), many = builder_signature(b, "k", 20);
	uint32_t kernel, other = builder_signature(b, "other", 20);

	(void)state;
	b->devices[0].sm_count = 10;
	builder_op(b, OP_KERNEL, 0, few, 0, 100, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, many, 100, 300, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, other, 300, 700, PROFILE_NONE);
	builder_op(b, OP_KERNEL, 0, many, 700, 1500, PROFILE_NONE);
	builder_finish(b);
	kernel = b->profile.signatures[many].kernel;
	assert_int_equal(imbalance_time_ns(&b->profile, kernel), 1000);
	b->devices[0].sm_count = 0; /* not recorded */
	assert_int_equal(imbalance_time_ns(&b->profile, kernel), 0);
	free(b);
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
		SENTENCE("launches of too few blocks for all SMs are no imbalance",
			 test_underfilled),
		SENTENCE("at stake are launches of at least two blocks an SM", test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
