/* When products of a library are told to be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"

#define ITERATIONS 20
#define PRODUCT_NS 10000

/* So many products of that name in a row, and another kernel of other_ns behind them; 0: none is. */
static struct builder *products(const char *name, int count, int64_t other_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 5000;

	advised_set_device(b);
	for (int i = 0; i < ITERATIONS; i++)
		for (int j = 0; j < count + (other_ns > 0); j++) {
			int64_t length_ns = j < count ? PRODUCT_NS : other_ns;
			uint32_t call = builder_launch(b, 0, now_ns - 5000, now_ns - 4000);

			builder_kernel(b, 0, "k", now_ns, now_ns + length_ns, call)->detail =
				builder_signature(b, j < count ? name : "other", 90);
			now_ns += length_ns + 1000;
		}
	return b;
}

static bool is_told(struct builder *b)
{
	struct advised it;
	bool is_there;

	advised_begin(&it, b);
	is_there = advised_item(&it, "concatenate_products") != NULL;
	advised_end(&it);
	return is_there;
}

static void test_row(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advised_begin(&it, products("nvjet_sm90_a", 3, 30000));
	item = advised_item(&it, "concatenate_products");
	assert_non_null(item);
	assert_true(advised_says(item, "nvjet_sm90_a of cuBLAS: 3 launches of one shape in a row"));
	assert_true(advised_says(item, "assumes: they have an input in common"));
	/* two of three of each row; the last iteration may not count as a whole one */
	assert_in_range(item->at_stake_ns, (ITERATIONS - 1) * 2 * PRODUCT_NS,
			ITERATIONS * 2 * PRODUCT_NS);
	advised_end(&it);
}

static void test_others(void **state)
{
	(void)state;
	assert_true(is_told(products("cutlass_gemm", 8, 30000)));
	assert_false(is_told(products("nvjet_sm90_a", 1, 30000)));
	assert_false(is_told(products("nvjet_sm90_a", 9, 30000)));  /* parts, or steps */
	assert_false(is_told(products("nvjet_sm90_a", 3, 0)));	    /* likewise */
	assert_false(is_told(products("own_product", 3, 30000)));   /* is written, not called */
	assert_false(is_told(products("nvjet_sm90_a", 2, 200000))); /* less than a tenth */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"products of one shape in a row are told to be one, with all but one of each row at stake",
		 test_row, NULL, NULL, NULL},
		{"single products, long rows, own kernels and what takes little time are not",
		 test_others, NULL, NULL, NULL},
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
