/* The flag that ends a loop is read after every k-th iteration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"
#include "fixture_loop.h"
#include "techniques/check_every.h"

#define COUNT 200
#define KERNEL_NS 10000

/* A kernel of 10 us, a read of so many bytes and a wait: 20 us an iteration; bytes_in are copied in before. */
static struct builder *loop(uint64_t bytes, uint64_t bytes_in)
{
	const struct profile_copy out = {.kind = COPY_TO_HOST,
					 .src_memory = 3,
					 .dst_memory = MEMORY_PINNED,
					 .bytes = bytes,
					 .is_async = true};
	const struct profile_copy in = {.kind = COPY_TO_DEVICE,
					.src_memory = MEMORY_PINNED,
					.dst_memory = 3,
					.bytes = bytes_in,
					.is_async = true};
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	for (int i = 0; i < COUNT; i++, now_ns += 20000) {
		uint32_t call;

		if (bytes_in) {
			call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns - 2000,
					    now_ns - 1000);
			builder_copy(b, 0, in, now_ns - 500, now_ns, call);
		}
		call = builder_launch(b, 0, now_ns, now_ns + 3000);
		builder_kernel(b, 0, "k", now_ns + 4000, now_ns + 4000 + KERNEL_NS, call);
		call = builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, now_ns + 3000,
				    now_ns + 4000);
		builder_copy(b, 0, out, now_ns + 15000, now_ns + 16000, call);
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000,
			     now_ns + 18000);
	}
	return b;
}

/* 10 us of 20 are the kernel's, so 10 are of the flag: k is the root of 2 * 200 * 10 / 10. */
static void test_advised(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advised_begin(&it, loop(4, 0));
	item = advised_item(&it, "check_every");
	assert_non_null(item);
	assert_string_equal(item->strategy, "check_every");
	assert_true(
		advised_says(item, "an iteration takes 10.0 us, and 10.0 us longer with the flag"));
	assert_true(advised_says(item, "read after every 20th one"));
	assert_true(item->gain.program.speedup > 1.3 && item->gain.program.speedup < 2);
	assert_true(item->gain.is_assuming);
	assert_non_null(advised_item(&it, "while_node"));
	advised_end(&it);
}

static void test_others(void **state)
{
	struct advised it;

	(void)state;
	advised_begin(&it, loop(1 << 20, 0)); /* a result */
	assert_null(advised_item(&it, "check_every"));
	advised_end(&it);
	advised_begin(&it, loop(4, 1 << 10)); /* the next input */
	assert_null(advised_item(&it, "check_every"));
	advised_end(&it);
}

/* The kernels stay, and wait for those before. */
static void test_calls(void **state)
{
	struct loop_fixture fixture = loop_of("krw");

	(void)state;
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		fixture.b->ops[i].end_ns = fixture.b->ops[i].start_ns + 10;
	assert_null(loop_apply(&fixture, &technique_check_every));
	assert_int_equal(check_every_of(&fixture.run, &fixture.loop).every, ITERATIONS / 2);
	loop_expect(&fixture, 0, ".yd");
	loop_expect(&fixture, ITERATIONS / 2 - 1, "...");
	loop_expect(&fixture, ITERATIONS - 1, "...");
	assert_int_equal(fixture.application.change.op_ns[1], OP_GONE);
	assert_int_equal(fixture.effect.changed_count, ITERATIONS - 2);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a flag is advised to be read as often as costs least", test_advised),
		SENTENCE("results, and what is read of one input after another, are no flags",
			 test_others),
		SENTENCE("reads and waits between are gone, the rest stays", test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
