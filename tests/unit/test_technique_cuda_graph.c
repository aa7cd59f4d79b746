/* Each iteration of a loop is one launch of a graph: which can be captured, and what becomes of their calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

static const char reads_back[] = "the host reads a result before it launches what follows";

static const char loads_code[] = "code is loaded or compiled between the launches";
static const char unloads_code[] =
	"code is unloaded in each iteration, and a graph with its kernels with it";

static void test_graph(void **state)
{
	struct loop_fixture fixture = loop_of("kkiew");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_int_equal(fixture.effect.most_nodes, 3);
	loop_expect(&fixture, 0, "Gnn.d");
	loop_expect(&fixture, ITERATIONS - 1, "Gnn..");
	loop_free(&fixture);
}

/* Nine of ten launches may have other sizes: more need an update each time, for which the host prepares each node. */
static void test_updated_graph(void **state)
{
	struct loop_fixture fixture = loop_of("kkw");

	(void)state;
	fixture.loop.regularity = 1;
	fixture.loop.exactness = 0.89;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 1, "Uhd");
	assert_false(fixture.effect.is_assuming);
	fixture.loop.exactness = 0.9;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 1, "Gnd");
	loop_free(&fixture);
}

/* Three grids by turns: of a multiple of three launches each graph is the same one. */
static void test_sizes_in_order(void **state)
{
	struct loop_fixture fixture = loop_of("K");

	(void)state;
	fixture.loop.regularity = 1;
	fixture.loop.exactness = 0;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_int_equal(fixture.effect.most_nodes, 9);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&fixture, i, i % 9 ? "n" : "G");
	loop_free(&fixture);
	fixture = loop_of("kK");
	fixture.loop.regularity = 1;
	fixture.loop.exactness = 0;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_int_equal(fixture.effect.most_nodes, 6);
	loop_expect(&fixture, 0, "Gn");
	loop_expect(&fixture, 1, "nn");
	loop_expect(&fixture, 3, "Gn");
	loop_free(&fixture);
}

/* A wait between two kernels goes into the graph with them; one after a copy to the host stays. */
static void test_graph_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kwko");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 1, "Gnnn");
	loop_free(&fixture);
	fixture = loop_of("kow");
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 1, "Gn.");
	loop_free(&fixture);
}

static void test_unusual_wait(void **state)
{
	struct loop_fixture fixture = loop_with("kkw", 5, "kkww");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, "Gnd");
	loop_expect(&fixture, 5, "Gn.."); /* waits once more: one of them is not the loop's */
	loop_free(&fixture);
}

/* Between launches, in one of ten iterations: that one stays as it was. */
static void test_unusual_wait_within(void **state)
{
	struct loop_fixture fixture = loop_with("kk", 5, "kwk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, "Gn");
	loop_expect(&fixture, 5, "...");
	loop_free(&fixture);
	fixture = loop_with("kwk", 5, "kwwk");
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, "Gnn");
	loop_expect(&fixture, 5, "....");
	loop_free(&fixture);
}

static void test_unrolled(void **state)
{
	struct loop_fixture fixture = loop_of("k");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_int_equal(fixture.effect.most_nodes, 8);
	for (int i = 0; i < ITERATIONS; i++)
		loop_expect(&fixture, i, i % 8 ? "n" : "G");
	loop_free(&fixture);
}

/* The host waits in the middle of what would be one graph, as after each time that all is done again. */
static void test_unrolled_until_wait(void **state)
{
	struct loop_fixture fixture = loop_with("k", 5, "kw");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 0, "G");
	loop_expect(&fixture, 4, "n");
	loop_expect(&fixture, 5, "n.");
	loop_expect(&fixture, 6, "G");
	loop_expect(&fixture, 7, "n");
	loop_free(&fixture);
}

/* One of ten iterations copies from pageable memory, which no graph can hold: the graphs before and after it stay. */
static void test_unrolled_until_copy(void **state)
{
	struct loop_fixture fixture = loop_with("k", 5, "kp");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 0, "G");
	loop_expect(&fixture, 1, "n");
	loop_expect(&fixture, 5, "..");
	loop_expect(&fixture, 6, "G");
	loop_expect(&fixture, 7, "n");
	loop_free(&fixture);
}

static void test_graph_refusals(void **state)
{
	(void)state;
	loop_expect_refusal("kmk", &technique_cuda_graph, refused_allocates);
	loop_expect_refusal("kkm", &technique_cuda_graph, NULL); /* after the last launch */
	loop_expect_refusal("kck", &technique_cuda_graph, refused_blocking_copy);
	loop_expect_refusal("kpk", &technique_cuda_graph, refused_blocking_copy);
	loop_expect_refusal("kik", &technique_cuda_graph, NULL);
	loop_expect_refusal("krwk", &technique_cuda_graph, reads_back);
	loop_expect_refusal("kwrk", &technique_cuda_graph, NULL); /* waits before */
	loop_expect_refusal("kgk", &technique_cuda_graph, refused_has_graphs);
	loop_expect_refusal("kuk", &technique_cuda_graph, refused_has_graphs);
	loop_expect_refusal("kek", &technique_cuda_graph, NULL);
	loop_expect_refusal("kjk", &technique_cuda_graph, loads_code);
	loop_expect_refusal("kJk", &technique_cuda_graph, NULL);
	loop_expect_refusal("JkkzK", &technique_cuda_graph, unloads_code);
	loop_expect_refusal("Jkkz", &technique_cuda_graph, unloads_code);
	loop_expect_refusal("khk", &technique_cuda_graph, NULL);
}

/* A call that no graph can hold stays, and is named. */
static void expect_pieces(const char *calls, const char *expected, uint64_t graph_count,
			  const char *reason)
{
	struct loop_fixture fixture = loop_of(calls);

	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, expected);
	assert_int_equal(fixture.effect.cuts.graph_count, graph_count);
	assert_ptr_equal(fixture.effect.cuts.reason, graph_count ? reason : NULL);
	loop_free(&fixture);
}

/* Without ceilings, of eight launches. */
#define K8 "kkkkkkkk"
#define G8 "Gnnnnnnn"

static void test_pieces(void **state)
{
	(void)state;
	expect_pieces(K8 "m" K8, G8 "." G8, 2, refused_allocates);
	expect_pieces(K8 "c" K8, G8 "." G8, 2, refused_blocking_copy);
	expect_pieces(K8 "mk", G8 "..", 1, refused_allocates); /* one launch is worth no graph */
	expect_pieces(K8 "mmc" K8, G8 "..." G8, 2, refused_allocates);
	expect_pieces(K8 "e" K8, G8 "nnnnnnnnn", 0, NULL);
	loop_expect_refusal(K8 "m" K8 "g" K8, &technique_cuda_graph, refused_has_graphs);
}

static void expect_set_up(const char *calls, uint64_t nodes)
{
	const struct ceiling larger = {.id = CEILING_graph_instantiate,
				       .parameter = 100,
				       .value = 100};
	struct loop_fixture fixture = loop_of(calls);

	assert_int_equal(ceilings_add(fixture.ceilings, &larger), 0);
	assert_null(ceilings_sort(fixture.ceilings));
	assert_true(costs_instantiate_ns(fixture.ceilings, nodes) >
		    costs_instantiate_ns(fixture.ceilings, nodes - 1));
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_float_equal(fixture.application.setup_ns,
			   costs_instantiate_ns(fixture.ceilings, nodes), 1e-9);
	loop_free(&fixture);
}

/* All graphs of an iteration are made once, not only the largest. */
static void test_pieces_set_up(void **state)
{
	(void)state;
	expect_set_up(K8 K8, 16);
	expect_set_up(K8 "m" K8 "kk", 18);
}

/* A graph launch of 5 us costs less than three launches of 2 us; a piece needs one more. */
static void test_least_piece(void **state)
{
	const struct costs costs = {.graph_launch_ns = 5000, .launch_call_ns = 2000};
	struct loop_fixture fixture = loop_of("kkkmkkkk");

	(void)state;
	fixture.run.costs = &costs;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, "....Gnnn");
	loop_free(&fixture);
}

/* The graphs of a cut loop would hold kernels that are unloaded, too. */
static void test_uncut(void **state)
{
	(void)state;
	loop_expect_refusal(K8 "m" K8 "z", &technique_cuda_graph, refused_allocates);
}

/* An iteration that reads a loss has a wait more than the others, and launches the same. */
static void test_read_now_and_then(void **state)
{
	struct loop_fixture fixture = loop_with(K8 K8, 4, K8 "rw" K8);

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 3, G8 "nnnnnnnn");
	loop_expect(&fixture, 4, G8 "n." G8);
	loop_free(&fixture);
}

/* A wait of its own between launches is needed for something: that iteration stays as it is. */
static void test_read_and_wait(void **state)
{
	struct loop_fixture fixture = loop_with(K8 K8, 4,
						K8 "rw"
						   "kkkkwkkkk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 3, G8 "nnnnnnnn");
	loop_expect(&fixture, 4,
		    "........"
		    ".."
		    ".........");
	loop_free(&fixture);
}

/* One that launches other kernels after a read has decided: it stays as it is. */
static void test_read_decides(void **state)
{
	struct loop_fixture fixture = loop_with(K8 K8, 4, K8 "rw" K8 "kk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 3, G8 "nnnnnnnn");
	loop_expect(&fixture, 4,
		    "........"
		    ".."
		    "........"
		    "..");
	loop_free(&fixture);
}

/* Iterations that differ by what they are given decide nothing either; each kind has graphs of its own. */
static void test_kinds(void **state)
{
	struct loop_fixture fixture = loop_with(K8 "rw" K8, 4, K8 "rw" K8 "kk");
	double one;

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4,
		    "........"
		    ".."
		    "........"
		    "..");
	one = fixture.application.setup_ns;
	loop_free(&fixture);
	fixture = loop_with(K8 "rw" K8, 4, K8 "rw" K8 "kk");
	fixture.loop.kind_count = 2;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, G8 "n." G8 "nn");
	assert_true(fixture.application.setup_ns > 1.5 * one);
	loop_free(&fixture);
}

/* The read is in the first graph, its wait is not; what the host launches then is another graph. */
static void test_read_between(void **state)
{
	struct loop_fixture fixture = loop_of(K8 "rw" K8);

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, G8 "n." G8);
	assert_int_equal(fixture.effect.most_nodes, 9);
	assert_int_equal(fixture.effect.cuts.graph_count, 2);
	loop_free(&fixture);
}

/* What calls become, and whether that is assumed. */
static void expect_captured(const char *calls, enum assumed_end end, const char *expected,
			    bool is_assuming)
{
	struct loop_fixture fixture = loop_of(calls);

	fixture.application.end = end;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	assert_int_equal(fixture.effect.is_assuming, is_assuming);
	loop_expect(&fixture, 4, expected);
	loop_free(&fixture);
}

/* Work of the host's own stays.  Where each step takes an interpreter 10 us, 200 us are 20 of them, which may be
 * the way to the next launch. */
static void test_host_work(void **state)
{
	(void)state;
	expect_captured("khk", ASSUMED_USUAL, "Gh", false);
	expect_captured("khk", ASSUMED_LEAST, "Gh", false);
	expect_captured("hkk", ASSUMED_USUAL, "Gn", false); /* between iterations */
	expect_captured("ktktktkhk", ASSUMED_USUAL, "Gnnnn", true);
	expect_captured("ktktktkhk", ASSUMED_LEAST, "Gnnnh", false);
}

/* One of ten is passed over; of one more the whole loop is refused, and left as it was. */
static void test_captured_share(void **state)
{
	struct loop_fixture fixture = loop_with("kk", 5, "kmk");

	(void)state;
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 4, "Gn");
	loop_expect(&fixture, 5, "...");
	loop_expect(&fixture, 6, "Gn");
	loop_free(&fixture);
	fixture = loop_with("kk", 5, "kmk");
	fixture.loop.iteration_count = 9;
	assert_string_equal(loop_apply(&fixture, &technique_cuda_graph), refused_allocates);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* What is dropped is no longer in the way of a graph. */
static void test_graph_without_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("kmkw");

	(void)state;
	assert_string_equal(loop_apply(&fixture, &technique_cuda_graph), refused_allocates);
	assert_null(loop_apply(&fixture, &technique_preallocate));
	assert_int_equal(fixture.effect.changed_count, ITERATIONS);
	assert_null(loop_apply(&fixture, &technique_cuda_graph));
	loop_expect(&fixture, 1, "Gnnd");
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("an iteration becomes a graph, without its wait", test_graph),
		SENTENCE("a loop whose sizes vary is a graph that is updated", test_updated_graph),
		SENTENCE("where sizes come in an order, a graph has them all", test_sizes_in_order),
		SENTENCE("a graph takes waits in, and stops before one for a result",
			 test_graph_waits),
		SENTENCE("a wait that is not in every iteration stays", test_unusual_wait),
		SENTENCE("an iteration with a wait between its launches that others lack stays",
			 test_unusual_wait_within),
		SENTENCE("a loop of one kernel becomes graphs of at least eight", test_unrolled),
		SENTENCE("where the host waits in between, the next graph begins after that",
			 test_unrolled_until_wait),
		SENTENCE("and one ends before an iteration that no graph can hold",
			 test_unrolled_until_copy),
		SENTENCE("what cannot be captured is refused with the reason", test_graph_refusals),
		SENTENCE("calls that no graph can hold cut an iteration into several graphs",
			 test_pieces),
		SENTENCE("each graph of a cut iteration is set up", test_pieces_set_up),
		SENTENCE("a read now and then cuts only the iterations that have it",
			 test_read_now_and_then),
		SENTENCE("one that waits between launches besides stays", test_read_and_wait),
		SENTENCE("an iteration that launches other kernels after a read stays",
			 test_read_decides),
		SENTENCE("iterations of several kinds have graphs of their own", test_kinds),
		SENTENCE("a piece is captured where its launches cost more than that of a graph",
			 test_least_piece),
		SENTENCE("code that is unloaded refuses a loop that is cut, too", test_uncut),
		SENTENCE(
			"a read that the host waits for ends a graph, and the next begins after the wait",
			test_read_between),
		SENTENCE(
			"the host's own work stays, and an interpreter's steps at the low end only",
			test_host_work),
		SENTENCE("one of ten iterations may be refused, and then stays as it was",
			 test_captured_share),
		SENTENCE("without its allocations a loop can be a graph",
			 test_graph_without_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
