/* When children of kernels are advised to be one kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define LAUNCH_COUNT 10

/* Parents of 50 us, and idle time behind them in which the next one was launched already. */
static struct builder *parents(void)
{
	struct builder *b = builder_new(1, 1);
	int64_t gpu_ns = 100000;

	for (int i = 0; i < LAUNCH_COUNT; i++, gpu_ns += 100000)
		builder_kernel(b, 0, "parent", gpu_ns, gpu_ns + 50000,
			       builder_launch(b, 0, 4000 * i, 4000 * i + 3000));
	return b;
}

static void expect(struct device_work work, const char *sentence)
{
	const struct recommendation *item;
	struct advised it;

	advised_begin_with(&it, parents(), work);
	item = advised_item(&it, "aggregate_children");
	if (sentence) {
		assert_non_null(item);
		assert_string_equal(item->evidence[0], sentence);
		assert_string_equal(item->strategy, "aggregate_children");
	} else {
		assert_null(item);
	}
	advised_end(&it);
}

static struct device_work children_of(struct launcher *launcher, uint64_t dispatch_count,
				      uint64_t block_count, int64_t span_ns)
{
	*launcher = (struct launcher){.is_inside = true,
				      .launch_count = LAUNCH_COUNT,
				      .dispatch_count = dispatch_count,
				      .block_count = block_count,
				      .span_ns = span_ns};
	return (struct device_work){.launchers = launcher, .launcher_count = 1};
}

static void test_children(void **state)
{
	struct launcher launcher;

	(void)state;
	expect(children_of(&launcher, 1000, 1500, 500000),
	       "parent: 10 launches start 1,000 kernels: 100 each, of 1.5 blocks");
	expect(children_of(&launcher, 1000, 4000, 500000), NULL); /* they have work */
	expect(children_of(&launcher, 70, 70, 500000), NULL);	  /* few */
	expect(children_of(&launcher, 1000, 1500, 50000), NULL);  /* short */
}

static void test_single_blocks(void **state)
{
	(void)state;
	expect((struct device_work){.single_block_count = 577},
	       "577 kernels of one block that no launch of the trace explains");
	expect((struct device_work){.single_block_count = 99}, NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("many children of a block or two are advised to be one kernel",
			 test_children),
		SENTENCE("so are kernels of one block that nothing explains", test_single_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
