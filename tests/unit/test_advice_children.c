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

/* Of a GPU that nobody measured. */
static void test_no_ceilings(void **state)
{
	struct launcher launcher;
	struct advised it;

	(void)state;
	advised_begin_by(&it, parents(), children_of(&launcher, 1000, 1500, 500000), NULL);
	assert_non_null(advised_item(&it, "aggregate_children"));
	advised_end(&it);
}

/* ---- the same children each time ---- */

#define PARENTS 40

/* Parents of 10 us, 40 us apart, each followed by two bursts of 2 us with so many blocks, more by turns. */
static void expect_host(int count, uint64_t turns, const char *sentence)
{
	struct builder *b = builder_new(1, 1);
	struct burst bursts[2 * PARENTS] = {{0}};
	const struct recommendation *item;
	struct advised it;

	for (int i = 0; i < count; i++) {
		int64_t start_ns = 100000 + 40000 * i;

		builder_kernel(b, 0, "parent", start_ns, start_ns + 10000,
			       builder_launch(b, 0, 1000 * i, 1000 * i + 900));
		for (int j = 0; j < 2; j++)
			bursts[2 * i + j] =
				(struct burst){.start_ns = start_ns + 15000 + 5000 * j,
					       .end_ns = start_ns + 17000 + 5000 * j,
					       .op = (uint32_t)i,
					       .dispatch_count = 1,
					       .block_count = 512 + (uint64_t)i % 2 * turns};
	}
	advised_begin_with(&it, b,
			   (struct device_work){.bursts = bursts,
						.burst_count = 2 * (size_t)count});
	item = advised_item(&it, "host_launch");
	if (sentence) {
		assert_non_null(item);
		assert_string_equal(item->strategy, "host_launch");
		assert_string_equal(item->evidence[0], sentence);
		assert_true(advised_says(item, "each takes 33.6 us beside that work"));
	} else {
		assert_null(item);
	}
	advised_end(&it);
}

static void test_same_children(void **state)
{
	(void)state;
	expect_host(
		PARENTS, 0,
		"parent: behind 100% of 39 launches samples show the same work as behind the one "
		"before, 1,024 blocks");
	expect_host(
		PARENTS, 2, /* as the GPU's own */
		"parent: behind 100% of 39 launches samples show the same work as behind the one "
		"before, 1,024 blocks");
	expect_host(PARENTS, 100, NULL); /* data says how much */
	expect_host(10, 0, NULL);
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
		SENTENCE(
			"children that are the same each time are advised to be launched by the host",
			test_same_children),
		SENTENCE("children are told of without ceilings of the GPU, too", test_no_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
