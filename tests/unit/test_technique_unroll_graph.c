/* Several iterations are one launch of a graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_advice.h"
#include "fixture_loop.h"
#include "techniques/unroll_graph.h"

static const char long_iterations[] =
	"an iteration takes so long that a graph for each is as fast as one for several";
static const char host_waits[] = "the host waits, reads or computes between the iterations";

/* Kernels of 100 ns; the host's time in a launch decides how many iterations a graph needs. */
static const char *unroll(struct loop_fixture *fixture, int64_t graph_launch_ns)
{
	static struct costs costs;

	costs = (struct costs){.graph_launch_ns = graph_launch_ns,
			       .graph_node_gap_ns = 10,
			       .graph_gap_ns = 20};
	fixture->run.costs = &costs;
	fixture->loop.regularity = fixture->loop.exactness = 1;
	return loop_apply(fixture, &technique_unroll_graph);
}

static void test_graphs(void **state)
{
	struct loop_fixture fixture = loop_of("g");

	(void)state;
	assert_null(unroll(&fixture, 300)); /* 300 + 10 by 3 is less than 110 and 5% */
	loop_expect(&fixture, 0, "G");
	loop_expect(&fixture, 1, "h");
	loop_expect(&fixture, 2, "h");
	loop_expect(&fixture, 3, "G");
	assert_int_equal(fixture.effect.changed_count, ITERATIONS);
	assert_int_equal(fixture.effect.most_nodes, 3);
	loop_free(&fixture);
}

/* A seventh of an iteration is too little to tell of it, but worth it where several share a graph anyway. */
static void test_worth(void **state)
{
	struct loop_fixture fixture = loop_of("k");
	struct unrolled_graph found;

	(void)state;
	assert_non_null(unroll(&fixture, 125));
	loop_application(&fixture, &technique_unroll_graph);
	found = unroll_graph_of(&fixture.run, &fixture.loop);
	assert_int_equal(found.iteration_count, 1);
	assert_int_equal(found.worth_count, 2);
	loop_free(&fixture);
}

static void test_kernels(void **state)
{
	struct loop_fixture fixture = loop_of("kk");

	(void)state;
	assert_null(unroll(&fixture, 600));
	loop_expect(&fixture, 0, "Gn");
	loop_expect(&fixture, 1, "hn");
	loop_expect(&fixture, 3, "Gn");
	loop_free(&fixture);
}

static void expect_refused(const char *usual, int64_t graph_launch_ns, const char *refusal)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_string_equal(unroll(&fixture, graph_launch_ns), refusal);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused("g", 100, long_iterations);
	expect_refused("gw", 300, host_waits);
	expect_refused("gr", 30000, host_waits);
	expect_refused("gm", 300, refused_allocates);
	expect_refused("gu", 300, refused_has_graphs);
	expect_refused("k", 300, "a graph has several of these iterations of one launch already");
}

/* Launches of 9 us, 4 of them for being recorded, of a graph with one kernel that long. */
static struct builder *graphs(int64_t kernel_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0, gpu_ns = 6000;

	for (int i = 0; i < 200; i++, now_ns += 9000) {
		uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, now_ns,
					     now_ns + 8800);
		struct profile_op *op;

		gpu_ns = now_ns + 10000 > gpu_ns ? now_ns + 10000 : gpu_ns;
		op = builder_kernel(b, 0, "k", gpu_ns, gpu_ns + kernel_ns, call);
		gpu_ns += kernel_ns + 1500;
		builder_ids(b, op)->graph = 1;
		builder_ids(b, op)->graph_node = 1;
	}
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns, gpu_ns + 3000);
	return b;
}

static void test_advised(void **state)
{
	const struct recommendation *item;
	struct advised it;

	(void)state;
	advised_begin(&it, graphs(1000));
	item = advised_item(&it, "unroll_graph");
	assert_non_null(item);
	assert_string_equal(item->strategy, "unroll_graph");
	assert_string_equal(item->evidence[0],
			    "an iteration is 1 operation, which takes 1.70 us in a graph, and its "
			    "launch keeps the host busy for 4.00 us");
	assert_true(advised_says(item, "6 iterations in a graph: 1.78 us each at best"));
	assert_true(item->gain.place.speedup > 1.5);
	advised_end(&it);
	advised_begin(&it, graphs(20000));
	assert_null(advised_item(&it, "unroll_graph"));
	advised_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("as many launches of graphs are one as spare most of their cost",
			 test_graphs),
		SENTENCE("what is too little to tell may still be worth it", test_worth),
		SENTENCE("iterations of kernels share a graph", test_kernels),
		SENTENCE("what takes long, or is waited for, is left as it is", test_refused),
		SENTENCE("a graph of several short iterations is advised, with how many",
			 test_advised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
