/* A loop that a flag ends is the body of a WHILE node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"
#include "fixture_loop.h"

static const char no_flag[] =
	"no loop of equal iterations has the host read a few bytes after each of them";

static void test_kernels(void **state)
{
	struct loop_fixture fixture = loop_of("kvrw"), decided = loop_of("kvrw");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_while_node));
	assert_null(loop_apply(&decided, &technique_device_decision));
	loop_expect(&fixture, 1, "wnnn");
	loop_expect(&decided, 1, "wnnn");
	loop_free(&fixture);
	loop_free(&decided);
}

static void test_graphs(void **state)
{
	struct loop_fixture fixture = loop_of("grw");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_while_node));
	loop_expect(&fixture, 0, "Gnn");
	loop_expect(&fixture, 1, "wnn");
	loop_expect(&fixture, ITERATIONS - 1, "wn."); /* the wait for all of it stays */
	assert_int_equal(fixture.application.change.op_ns[1], OP_GONE);
	assert_int_equal(fixture.effect.changed_count, ITERATIONS - 1);
	loop_free(&fixture);
}

static void test_refused(void **state)
{
	(void)state;
	loop_expect_refusal("gw", &technique_while_node, no_flag);   /* nothing is read */
	loop_expect_refusal("gow", &technique_while_node, no_flag);  /* a result */
	loop_expect_refusal("krwk", &technique_while_node, no_flag); /* a branch */
	loop_expect_refusal("Krw", &technique_while_node, no_flag);  /* another grid each time */
	loop_expect_refusal("gmrw", &technique_while_node, refused_allocates);
}

/* ---- a copy that is a node of the graph ---- */

static struct builder *graphs(uint64_t bytes)
{
	const struct profile_copy copy = {.kind = COPY_TO_HOST,
					  .src_memory = 3,
					  .dst_memory = MEMORY_PINNED,
					  .bytes = bytes};
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	for (int i = 0; i < 40; i++, now_ns += 40000) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, now_ns,
					     now_ns + 4000);
		struct profile_op *op =
			builder_kernel(b, 0, "k", now_ns + 6000, now_ns + 9000, call);

		builder_ids(b, op)->graph = 1;
		builder_ids(b, op)->graph_node = 1;
		op = builder_copy(b, 0, copy, now_ns + 10000, now_ns + 11000, call);
		builder_ids(b, op)->graph = 1;
		builder_ids(b, op)->graph_node = 2;
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 5000,
			     now_ns + 16000);
	}
	return b;
}

static void test_advised(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advised_begin(&it, graphs(4));
	item = advised_item(&it, "while_node");
	assert_non_null(item);
	assert_string_equal(item->strategy, "while_node");
	assert_true(item->gain.place.speedup > 2);
	assert_string_equal(
		item->evidence[0],
		"38 times the host reads up to 256 bytes, and launches the same as before");
	assert_null(advised_item(&it, "host_decision"));
	advised_end(&it);
	advised_begin(&it, graphs(1 << 20));
	assert_null(advised_item(&it, "while_node"));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a loop of kernels is what deciding on the device makes of it",
			 test_kernels),
		SENTENCE("graphs of a loop are bodies, and what was read is gone", test_graphs),
		SENTENCE("without a flag, or with branches, a loop stays", test_refused),
		SENTENCE("a flag that the graph itself copies is a reason for a WHILE node",
			 test_advised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
