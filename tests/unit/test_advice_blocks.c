/* A block that works long after the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define KERNEL_NS 1000000

/* Kernels of so many blocks on 100 SMs, which hold 800 of them; an SM is active for sms of their life on average. */
static void expect(uint32_t blocks, double sms, const char *sentence)
{
	struct builder *b = builder_new(1, 1);
	struct sm_activity_kernel kernel = {.launch_count = 20,
					    .span_ns = 20 * KERNEL_NS,
					    .sms = sms,
					    .busiest_sm = 1};
	struct sm_activity activity = {.kernels = &kernel, .kernel_count = 1};
	const struct recommendation *item;
	struct advised it;

	advised_set_device(b);
	for (int64_t i = 0; i < 20; i++)
		builder_op(b, OP_KERNEL, 0, builder_signature(b, "k", blocks),
			   100000 + KERNEL_NS * i, 100000 + KERNEL_NS * i + KERNEL_NS - 2000,
			   builder_launch(b, 0, 4000 * i, 4000 * i + 3000));
	advised_begin_sampled(&it, b, &activity);
	item = advised_item(&it, "long_block");
	if (sentence) {
		assert_non_null(item);
		assert_string_equal(item->strategy, "split_blocks");
		assert_string_equal(item->evidence[0], sentence);
		assert_in_range((uint64_t)item->at_stake_ns, 1, 20 * KERNEL_NS);
	} else {
		assert_null(item);
	}
	advised_end(&it);
}

static void test_long_block(void **state)
{
	(void)state;
	expect(100, 0.3,
	       "k: 100 blocks, which all fit at once; an SM that has one is active for 30% of the time of "
	       "the busiest");
	expect(100, 0.067, /* so long that hardly a sample sees the others */
	       "k: 100 blocks, which all fit at once; an SM that has one is active for 7% of the time of "
	       "the busiest");
	expect(50, 0.2, /* half of the SMs have none */
	       "k: 50 blocks, which all fit at once; an SM that has one is active for 40% of the time of "
	       "the busiest");
}

static void test_equal_blocks(void **state)
{
	(void)state;
	expect(100, 0.9, NULL);
	expect(50, 0.45, NULL);	 /* as many SMs as have a block */
	expect(1000, 0.3, NULL); /* a second wave: other blocks can go where the first ended */
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a few blocks that work long after the others are advised to be split",
			 test_long_block),
		SENTENCE("equal blocks, and SMs without one, are left alone", test_equal_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
