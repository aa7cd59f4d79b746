#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_random.h"
#include "model/changes.h"

#define ITERATIONS 10
#define PAGEABLE 1
#define PINNED 2
#define DEVICE 3

/* A loop that one thread runs, as its only sequence. */
struct loop {
	struct builder *b;
	struct model *model;
	struct sequence sequence;
	struct change change;
	uint32_t iterations[ITERATIONS + 1];
};

#define LONG_NS 200000 /* what no launch takes */

static int64_t now_ns; /* of the host of the loop that is being made */

/* Calls of 10, operations 5 after them that take 100. */
static uint32_t call(struct builder *b, const char *name, enum profile_call_class class)
{
	now_ns += 20;
	return builder_call(b, 0, name, class, now_ns - 10, now_ns);
}

static void copy(struct builder *b, const char *name, uint32_t kind, uint64_t bytes,
		 uint32_t memory, int64_t length_ns)
{
	const struct profile_copy what = {.bytes = bytes,
					  .kind = kind,
					  .src_memory = kind == 1 ? memory : DEVICE,
					  .dst_memory = kind == 2 ? memory : DEVICE};
	uint32_t by = call(b, name, CALL_COPY);

	builder_copy(b, 0, what, now_ns + 5, now_ns + 5 + length_ns, by);
	if (!strcmp(name, "cudaMemcpy")) {
		now_ns += 10 + length_ns;
		b->calls[by].end_ns = now_ns;
	}
}

/*
 * Letters: k a kernel, w a wait, r a small asynchronous read, R a small blocking one, i and o large
 * asynchronous copies of pinned memory in and out, p one in of pageable memory, c a blocking one, s a
 * short one in, n one on the device, m an allocation, g a graph's launch, u a graph's update, e an
 * event, l a lookup of an error, x a copy by a call of which nothing is known, j a module that takes long to load,
 * J one that does not, h host code that does.
 */
static void add(struct builder *b, char letter)
{
	switch (letter) {
	case 'k':
		builder_kernel(b, 0, "k", now_ns + 25, now_ns + 125,
			       call(b, "cudaLaunchKernel", CALL_LAUNCH));
		break;
	case 'w':
		call(b, "cudaStreamSynchronize", CALL_SYNC);
		break;
	case 'r':
		copy(b, "cudaMemcpyAsync", 2, 4, PINNED, 100);
		break;
	case 'R':
		copy(b, "cudaMemcpy", 2, DECISION_BYTES, PINNED, 100);
		break;
	case 'i':
		copy(b, "cudaMemcpyAsync", 1, 1 << 20, PINNED, 20000);
		break;
	case 'o':
		copy(b, "cudaMemcpyAsync", 2, 1 << 20, PINNED, 20000);
		break;
	case 'p':
		copy(b, "cudaMemcpyAsync", 1, 1 << 20, PAGEABLE, 20000);
		break;
	case 'c':
		copy(b, "cudaMemcpy", 1, 1 << 20, PINNED, 20000);
		break;
	case 's':
		copy(b, "cudaMemcpyAsync", 1, 64, PINNED, 1000);
		break;
	case 'n':
		copy(b, "cudaMemcpyAsync", 8, 64, DEVICE, 1000);
		break;
	case 'x':
		builder_copy(b, 0, (struct profile_copy){.bytes = 4, .kind = 1}, now_ns + 25,
			     now_ns + 125, call(b, "cudaNews", CALL_OTHER));
		break;
	case 'm':
		call(b, "cudaMalloc", CALL_MEMORY);
		break;
	case 'g':
		builder_kernel(b, 0, "k", now_ns + 25, now_ns + 125,
			       call(b, "cudaGraphLaunch", CALL_GRAPH_LAUNCH));
		break;
	case 'u':
		call(b, "cudaGraphExecUpdate", CALL_GRAPH_MANAGE);
		break;
	case 'j':
		b->calls[call(b, "cudaLibraryLoadData", CALL_MODULE)].end_ns += LONG_NS;
		now_ns += LONG_NS;
		break;
	case 'J':
		call(b, "cudaLibraryLoadData", CALL_MODULE);
		break;
	case 'h':
		now_ns += LONG_NS;
		break;
	case 'e':
		call(b, "cudaEventRecord", CALL_EVENT);
		break;
	default:
		call(b, "cudaGetLastError", CALL_OTHER);
	}
}

/* usual, but for the iteration that is other's. */
static struct loop loop_with(const char *usual, int iteration, const char *other)
{
	struct loop loop = {.b = builder_new(1, 1)};
	struct err err = {""};

	now_ns = 0;
	for (int i = 0; i < ITERATIONS; i++) {
		loop.iterations[i] = (uint32_t)loop.b->profile.call_count;
		for (const char *text = i == iteration ? other : usual; *text; text++)
			add(loop.b, *text);
	}
	loop.iterations[ITERATIONS] = (uint32_t)loop.b->profile.call_count;
	builder_finish(loop.b);
	assert_int_equal(model_build(&loop.model, &loop.b->profile, &err), 0);
	loop.sequence = (struct sequence){.call_count = loop.b->profile.call_count,
					  .iteration_count = ITERATIONS,
					  .period = strlen(usual)};
	assert_int_equal(change_begin(&loop.change, loop.model, true), 0);
	assert_int_equal(change_begin_lanes(&loop.change, loop.model, 3), 0);
	return loop;
}

static struct loop loop_of(const char *usual)
{
	return loop_with(usual, -1, "");
}

static void done(struct loop *loop)
{
	change_free(&loop->change);
	model_free(loop->model);
	free(loop->b);
}

/* What becomes of an iteration's calls, a letter each: . kept, d dropped, G a graph, n in it, b body,
 * a asynchronous. */
static void expect_calls(const struct loop *loop, int iteration, const char *expected)
{
	static const char letters[] = {
		[CALL_KEPT] = '.',	 [CALL_DROPPED] = 'd',	[CALL_AS_GRAPH] = 'G',
		[CALL_AS_UPDATED] = 'U', [CALL_IN_GRAPH] = 'n', [CALL_IN_BODY] = 'b',
		[CALL_IN_KERNEL] = 'b',	 [CALL_FUSED] = 'f',	[CALL_DEPENDENT] = 'p',
		[CALL_MADE_ASYNC] = 'a'};
	char found[32] = "";

	for (uint32_t i = loop->iterations[iteration]; i < loop->iterations[iteration + 1]; i++)
		found[i - loop->iterations[iteration]] = letters[loop->change.calls[i]];
	assert_string_equal(found, expected);
}

static void expect_nothing_changed(const struct loop *loop)
{
	for (size_t i = 0; i < loop->b->profile.call_count; i++)
		assert_int_equal(loop->change.calls[i], CALL_KEPT);
	for (size_t i = 0; i < loop->b->profile.op_count; i++) {
		assert_true(loop->change.op_ns[i] < 0);
		assert_int_equal(loop->change.lanes[i], PROFILE_NONE);
	}
}

/* ---- waits ---- */

static size_t drop(struct loop *loop)
{
	return change_drop_waits(&loop->change, loop->model, 0, loop->sequence.call_count);
}

static void test_drop_waits(void **state)
{
	struct loop loop = loop_of("kwkw");

	(void)state;
	assert_int_equal(drop(&loop), 2 * ITERATIONS - 1);
	expect_calls(&loop, 0, ".d.d");
	expect_calls(&loop, ITERATIONS - 1, ".d.."); /* the last wait stays */
	done(&loop);
}

static void test_keep_waits_for_reads(void **state)
{
	struct loop loop = loop_of("kwrw");

	(void)state;
	assert_int_equal(drop(&loop), ITERATIONS);
	expect_calls(&loop, 3, ".d..");
	done(&loop);
	loop = loop_of("row"); /* all waits are for reads */
	assert_int_equal(drop(&loop), 0);
	expect_nothing_changed(&loop);
	done(&loop);
}

static void test_no_waits(void **state)
{
	struct loop loop = loop_of("kk");

	(void)state;
	assert_int_equal(drop(&loop), 0);
	done(&loop);
}

/* ---- graphs ---- */

static enum refusal to_graph(struct loop *loop, uint64_t *nodes)
{
	loop->sequence.iterations = loop->iterations;
	return change_to_graph(&loop->change, loop->model, &loop->sequence, nodes);
}

/* Nine of ten launches may have other sizes: more need an update each time. */
static void test_updated_graph(void **state)
{
	struct loop loop = loop_of("kkw");
	uint64_t nodes;

	(void)state;
	loop.sequence.regularity = 1;
	loop.sequence.exactness = 0.89;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 1, "Und");
	loop.sequence.exactness = 0.9;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 1, "Gnd");
	done(&loop);
}

static void expect_graph_refused(const char *usual, enum refusal refusal)
{
	struct loop loop = loop_of(usual);
	uint64_t nodes;

	assert_int_equal(to_graph(&loop, &nodes), refusal);
	if (refusal != REFUSED_NONE)
		expect_nothing_changed(&loop);
	done(&loop);
}

static void test_graph(void **state)
{
	struct loop loop = loop_of("kkiew");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 3);
	expect_calls(&loop, 0, "Gnn.d");
	expect_calls(&loop, ITERATIONS - 1, "Gnn..");
	done(&loop);
}

/* A wait between two kernels goes into the graph with them; one after a copy to the host stays. */
static void test_graph_waits(void **state)
{
	struct loop loop = loop_of("kwko");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 1, "Gnnn");
	done(&loop);
	loop = loop_of("kow");
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 1, "Gn.");
	done(&loop);
}

static void test_unusual_wait(void **state)
{
	struct loop loop = loop_with("kkw", 5, "kkww");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 4, "Gnd");
	expect_calls(&loop, 5, "Gnd."); /* waits once more: that is not the loop's */
	done(&loop);
}

static void test_unrolled(void **state)
{
	struct loop loop = loop_of("k");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	assert_int_equal(nodes, 8);
	for (int i = 0; i < ITERATIONS; i++)
		expect_calls(&loop, i, i % 8 ? "n" : "G");
	done(&loop);
}

static void test_graph_refusals(void **state)
{
	(void)state;
	expect_graph_refused("kmk", REFUSED_ALLOCATES);
	expect_graph_refused("kkm", REFUSED_NONE); /* after the last launch */
	expect_graph_refused("kck", REFUSED_BLOCKING_COPY);
	expect_graph_refused("kpk", REFUSED_BLOCKING_COPY);
	expect_graph_refused("kik", REFUSED_NONE);
	expect_graph_refused("krwk", REFUSED_READS_BACK);
	expect_graph_refused("kwrk", REFUSED_NONE); /* waits before */
	expect_graph_refused("kgk", REFUSED_HAS_GRAPHS);
	expect_graph_refused("kuk", REFUSED_HAS_GRAPHS);
	expect_graph_refused("kek", REFUSED_NONE);
	expect_graph_refused("kjk", REFUSED_HOST_WORKS);
	expect_graph_refused("kJk", REFUSED_NONE);
	expect_graph_refused("khk", REFUSED_HOST_WORKS);
	expect_graph_refused("hkk", REFUSED_NONE); /* between iterations */
}

/* One of ten is passed over; of one more the whole loop is refused, and left as it was. */
static void test_captured_share(void **state)
{
	struct loop loop = loop_with("kk", 5, "kmk");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 4, "Gn");
	expect_calls(&loop, 5, "...");
	expect_calls(&loop, 6, "Gn");
	done(&loop);
	loop = loop_with("kk", 5, "kmk");
	loop.sequence.iteration_count = 9;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_ALLOCATES);
	expect_nothing_changed(&loop);
	done(&loop);
}

/* ---- decisions ---- */

static enum refusal to_decided(struct loop *loop, uint64_t *decisions)
{
	loop->sequence.iterations = loop->iterations;
	return change_to_decided(&loop->change, loop->model, &loop->sequence, 900, decisions);
}

static void expect_decided(const char *usual, enum refusal refusal)
{
	struct loop loop = loop_of(usual);
	uint64_t decisions;

	assert_int_equal(to_decided(&loop, &decisions), refusal);
	if (refusal != REFUSED_NONE)
		expect_nothing_changed(&loop);
	done(&loop);
}

static void test_decided(void **state)
{
	struct loop loop = loop_of("krwk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	assert_int_equal(decisions, ITERATIONS);
	assert_int_equal(loop.change.decision_ns, 900);
	expect_calls(&loop, 0, "Gnnb");
	for (int i = 1; i < ITERATIONS; i++)
		expect_calls(&loop, i,
			     "bnnb"); /* all of it one graph; a body is entered and left */
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		assert_int_equal(loop.change.op_ns[i],
				 loop.b->ops[i].kind == OP_COPY ? OP_GONE : -1);
	done(&loop);
}

/* What iterations begin with is decided: the body of a loop is only entered.  A body that runs now and then is left
 * where it ran. */
static void test_decided_loop(void **state)
{
	struct loop loop = loop_of("krw");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, "Gnn");
	for (int i = 1; i < ITERATIONS - 1; i++)
		expect_calls(&loop, i, "bnn");
	done(&loop);
	loop = loop_with("kkrw", 2, "kkrwk");
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 1, "bnnn");
	expect_calls(&loop, 2, "bnnnb");
	expect_calls(&loop, 3, "bnnn");
	done(&loop);
	loop = loop_with("krw", 2, "k"); /* the body of a loop is not left where nothing was read */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 2, "b");
	expect_calls(&loop, 3, "nnn");
	done(&loop);
	loop = loop_of("krwkk"); /* a body of two kernels */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 1, "bnnbn");
	done(&loop);
	loop = loop_of("lkrwk"); /* what submits nothing begins no iteration */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, ".Gnnb");
	expect_calls(&loop, 1, "nbnnb");
	done(&loop);
}

/* A blocking read needs no wait; a wait for nothing read ends the graph. */
static void test_decided_waits(void **state)
{
	struct loop loop = loop_of("kRk");
	uint64_t decisions;

	(void)state;
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, "Gnb");
	done(&loop);
	loop = loop_of("krwkw");
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, "Gnnb.");
	expect_calls(&loop, 1, "Gnnb.");
	done(&loop);
	loop = loop_of("krwwk"); /* the second wait is for nothing */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, "Gnn.G");
	expect_calls(&loop, 1, "nnn.G");
	done(&loop);
	loop = loop_of("kRwk"); /* the read has waited for itself */
	assert_int_equal(to_decided(&loop, &decisions), REFUSED_NONE);
	expect_calls(&loop, 0, "Gn.G");
	done(&loop);
}

static void test_decided_refusals(void **state)
{
	(void)state;
	expect_decided("kwk", REFUSED_NO_DECISION);
	expect_decided("kowk", REFUSED_NO_DECISION); /* too much to decide by */
	expect_decided("krwk", REFUSED_NONE);
	expect_decided("krwmk", REFUSED_ALLOCATES);
	expect_decided("krwuk", REFUSED_HAS_GRAPHS);
	expect_decided("grw", REFUSED_NONE); /* graphs can launch each other */
	expect_decided("kcrwk", REFUSED_BLOCKING_COPY);
	expect_decided("kprwk", REFUSED_BLOCKING_COPY);
	expect_decided("kirwk", REFUSED_NONE);
}

/* ---- overlap ---- */

static enum refusal to_overlapped(struct loop *loop)
{
	loop->sequence.iterations = loop->iterations;
	return change_to_overlapped(&loop->change, loop->model, &loop->sequence);
}

static void expect_overlapped(const char *usual, enum refusal refusal)
{
	struct loop loop = loop_of(usual);

	assert_int_equal(to_overlapped(&loop), refusal);
	if (refusal != REFUSED_NONE)
		expect_nothing_changed(&loop);
	done(&loop);
}

static void test_overlapped(void **state)
{
	struct loop loop = loop_of("iklow");

	(void)state;
	assert_int_equal(to_overlapped(&loop), REFUSED_NONE);
	for (int i = 0; i < ITERATIONS - 1; i++)
		expect_calls(&loop, i, "aa.ad");
	expect_calls(&loop, ITERATIONS - 1, "aa.a.");
	for (size_t i = 0; i < loop.b->profile.op_count; i++) {
		uint32_t call_index = loop.b->ops[i].call;

		assert_int_equal(loop.change.lanes[i], call_index / 5 % 3);
	}
	done(&loop);
}

static void test_overlap_refusals(void **state)
{
	(void)state;
	expect_overlapped("kw", REFUSED_NO_COPIES);
	expect_overlapped("iw", REFUSED_NO_COPIES);
	expect_overlapped("skw", REFUSED_NO_COPIES); /* too short to hide */
	expect_overlapped("ckw", REFUSED_NONE);
	expect_overlapped("ikmw", REFUSED_ALLOCATES);
	expect_overlapped("igkw", REFUSED_HAS_GRAPHS);
}

/* ---- pinned memory ---- */

/* 2^20 bytes in 20 us are 52 GB/s. */
static void test_pinned(void **state)
{
	struct loop loop = loop_of("pi");

	(void)state;
	assert_int_equal(change_to_pinned(&loop.change, loop.model, 0, 104.8576e9, 1e9),
			 ITERATIONS);
	expect_calls(&loop, 0, "a."); /* it was staged before the call returned */
	for (size_t i = 0; i < loop.b->profile.op_count; i++) {
		const struct profile_copy *what = &loop.b->copies[loop.b->ops[i].detail];

		assert_int_equal(loop.change.op_ns[i], what->src_memory == PAGEABLE ? 10001 : -1);
	}
	done(&loop);
}

static void test_no_faster_pinned(void **state)
{
	struct loop loop = loop_of("p");

	(void)state;
	assert_int_equal(change_to_pinned(&loop.change, loop.model, 0, 50e9, 200e9), 0);
	assert_int_equal(change_to_pinned(&loop.change, loop.model, 0, 0, 200e9), 0);
	expect_nothing_changed(&loop);
	done(&loop);
}

/* Only the other direction is fast. */
static void test_pinned_to_host(void **state)
{
	struct loop loop = loop_of("k");

	(void)state;
	done(&loop);
	now_ns = 0;
	loop.b = builder_new(1, 1);
	copy(loop.b, "cudaMemcpy", 2, 1 << 20, PAGEABLE, 20000);
	builder_finish(loop.b);
	assert_int_equal(model_build(&loop.model, &loop.b->profile, &(struct err){""}), 0);
	assert_int_equal(change_begin(&loop.change, loop.model, true), 0);
	assert_int_equal(change_to_pinned(&loop.change, loop.model, 0, 104.8576e9, 1e9), 0);
	assert_int_equal(change_to_pinned(&loop.change, loop.model, 0, 1e9, 104.8576e9), 1);
	assert_int_equal(loop.change.op_ns[0], 10001);
	assert_int_equal(loop.change.calls[0], CALL_KEPT); /* it still waits for its copy */
	done(&loop);
}

/* ---- the whole ---- */

static void test_texts(void **state)
{
	(void)state;
	assert_string_equal(refusal_text(REFUSED_NONE), "");
	for (int i = REFUSED_NONE + 1; i < REFUSAL_COUNT; i++)
		assert_true(strlen(refusal_text((enum refusal)i)) > 10);
}

/* ---- allocations ---- */

static size_t drop_allocations(struct loop *loop)
{
	loop->sequence.iterations = loop->iterations;
	return change_drop_allocations(&loop->change, loop->model, &loop->sequence);
}

/* The wait before an allocation goes with it, another one stays. */
static void test_allocations(void **state)
{
	struct loop loop = loop_of("mkwewm");

	(void)state;
	assert_int_equal(drop_allocations(&loop), 2 * ITERATIONS);
	for (int i = 0; i < ITERATIONS - 1; i++)
		expect_calls(&loop, i, "d...dd");
	expect_calls(&loop, ITERATIONS - 1, "d....d"); /* the last wait of all stays */
	done(&loop);
}

/* What is dropped is no longer in the way of a graph. */
static void test_graph_without_allocations(void **state)
{
	struct loop loop = loop_of("kmkw");
	uint64_t nodes;

	(void)state;
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_ALLOCATES);
	assert_int_equal(drop_allocations(&loop), ITERATIONS);
	assert_int_equal(to_graph(&loop, &nodes), REFUSED_NONE);
	expect_calls(&loop, 1, "Gnnd");
	done(&loop);
}

/* ---- copies in both directions at once ---- */

static void test_shared_link(void **state)
{
	struct loop loop = loop_of("iko");

	(void)state;
	change_to_shared_link(&loop.change, loop.model, 0, 1.1);
	expect_nothing_changed(&loop); /* none is in a lane */
	assert_int_equal(to_overlapped(&loop), REFUSED_NONE);
	loop.change.op_ns[0] = 10000;
	change_to_shared_link(&loop.change, loop.model, 0, 1.1);
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		assert_int_equal(loop.change.op_ns[i], i == 0 ? 11000 : i % 3 == 1 ? -1 : 22000);
	done(&loop);
}

/* ---- kernels side by side ---- */

static enum refusal to_concurrent(struct loop *loop, uint64_t *kernel_count)
{
	loop->sequence.iterations = loop->iterations;
	return change_to_concurrent(&loop->change, loop->model, &loop->sequence, kernel_count);
}

/* One block on four SMs: a little over a quarter.  The first of an iteration, a copy, and what follows it wait. */
static void test_concurrent(void **state)
{
	struct loop loop = loop_of("kkikk");
	static const bool is_joined[] = {true, false, true, true, false};
	uint64_t kernel_count;

	(void)state;
	loop.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&loop, &kernel_count), REFUSED_NONE);
	assert_int_equal(kernel_count, 4 * ITERATIONS);
	for (size_t i = 0; i < loop.b->profile.op_count; i++) {
		bool is_copy = i % 5 == 2;

		assert_int_equal(loop.change.lanes[i] & ~LANE_JOINED, i % 3);
		assert_int_equal(loop.change.lanes[i] & LANE_JOINED ? 1 : 0, is_joined[i % 5]);
		assert_int_equal(loop.change.fill[i], is_copy ? 100 : 26);
	}
	expect_calls(&loop, 1, ".....");
	done(&loop);
}

/* In a loop of one kernel only waits part them. */
static void test_concurrent_in_series(void **state)
{
	struct loop loop = loop_with("k", 3, "kw");
	uint64_t kernel_count;

	(void)state;
	loop.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&loop, &kernel_count), REFUSED_NONE);
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		assert_int_equal(loop.change.lanes[i] & LANE_JOINED ? 1 : 0, i == 0 || i == 4);
	done(&loop);
}

static void test_concurrent_refusals(void **state)
{
	struct loop full = loop_of("kk"), graphs = loop_of("gk");
	uint64_t kernel_count;

	(void)state;
	full.b->devices[0].sm_count = 1;
	assert_int_equal(to_concurrent(&full, &kernel_count), REFUSED_FULL_GPU);
	expect_nothing_changed(&full);
	graphs.b->devices[0].sm_count = 4;
	assert_int_equal(to_concurrent(&graphs, &kernel_count), REFUSED_HAS_GRAPHS);
	expect_nothing_changed(&graphs);
	done(&full);
	done(&graphs);
}

/* What already is in streams: no fewer than the strategy would spread it over, or for kernels any two. */
static void test_streamed(void **state)
{
	struct loop loop = loop_of("iko");
	uint64_t kernel_count;

	(void)state;
	loop.b->devices[0].sm_count = 4;
	loop.sequence.iterations = loop.iterations;
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		loop.b->ops[i].stream = i % 3 != 1;
	assert_false(change_is_streamed(loop.model, &loop.sequence, true, 2));
	assert_true(change_is_streamed(loop.model, &loop.sequence, false, 2));
	assert_int_equal(change_to_overlapped(&loop.change, loop.model, &loop.sequence),
			 REFUSED_NONE);
	done(&loop);
	loop = loop_of("iko");
	loop.b->devices[0].sm_count = 4;
	loop.sequence.iterations = loop.iterations;
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		loop.b->ops[i].stream = (uint32_t)(i / 3 % 3);
	assert_int_equal(change_to_overlapped(&loop.change, loop.model, &loop.sequence),
			 REFUSED_STREAMED);
	assert_int_equal(to_concurrent(&loop, &kernel_count), REFUSED_STREAMED);
	expect_nothing_changed(&loop);
	done(&loop);
}

/* Half of the GPU is the most that a kernel may take, whatever its grid's shape. */
static void test_concurrent_shapes(void **state)
{
	static const uint32_t grids[][3] = {{2, 3, 5}, {30, 1, 1}, {1, 15, 2}, {1, 2, 15}};
	uint64_t kernel_count;

	(void)state;
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		struct loop loop = loop_of("kk");

		memcpy(loop.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		loop.b->devices[0].sm_count = 62; /* of which 30 blocks take 48.4%, and 1% more */
		assert_int_equal(to_concurrent(&loop, &kernel_count), REFUSED_NONE);
		assert_int_equal(loop.change.fill[0], 49);
		done(&loop);
		loop = loop_of("kk");
		memcpy(loop.b->signatures[0].grid, grids[i], sizeof(grids[i]));
		loop.b->devices[0].sm_count = 60;
		assert_int_equal(to_concurrent(&loop, &kernel_count), REFUSED_FULL_GPU);
		done(&loop);
	}
}

/* ---- neighbours ---- */

static enum refusal to_fused(struct loop *loop)
{
	uint64_t kernel_count;

	loop->sequence.iterations = loop->iterations;
	return change_to_fused(&loop->change, loop->model, &loop->sequence, &kernel_count);
}

static void expect_fused(const char *usual, const char *expected)
{
	struct loop loop = loop_of(usual);

	assert_int_equal(to_fused(&loop), REFUSED_NONE);
	expect_calls(&loop, 0, expected);
	expect_calls(&loop, 1, expected);
	done(&loop);
}

static void expect_not_fused(const char *usual)
{
	struct loop loop = loop_of(usual);

	assert_int_equal(to_fused(&loop), REFUSED_NOT_ALIKE);
	expect_nothing_changed(&loop);
	done(&loop);
}

static void test_fused(void **state)
{
	struct loop loop = loop_of("kwk");

	(void)state;
	expect_fused("kk", ".f"); /* not with the next iteration's */
	expect_fused("kelkikk", "...f..f");
	expect_not_fused("k");
	expect_not_fused("kwk");
	expect_not_fused("kgk");
	loop.change.calls[1] = CALL_DROPPED; /* by another strategy */
	assert_int_equal(to_fused(&loop), REFUSED_NONE);
	expect_calls(&loop, 0, ".df");
	done(&loop);
	loop = loop_of("kk");
	loop.b->profile.signatures[1] = loop.b->profile.signatures[0];
	loop.b->profile.signatures[1].grid[0] = 7;
	for (size_t i = 1; i < loop.b->profile.op_count; i += 2)
		loop.b->ops[i].detail = 1;
	assert_int_equal(to_fused(&loop), REFUSED_NOT_ALIKE);
	done(&loop);
}

static void test_dependent(void **state)
{
	struct loop loop = loop_of("keeeeeeeeeeeeeekeeeeeeeeeeeeee"), copies = loop_of("kc");
	uint64_t kernel_count;

	(void)state;
	loop.sequence.iterations = loop.iterations;
	copies.sequence.iterations = copies.iterations;
	assert_int_equal(change_to_dependent(&loop.change, loop.model, &loop.sequence,
					     &kernel_count),
			 REFUSED_NONE);
	assert_int_equal(kernel_count, 2 * ITERATIONS - 1);
	expect_calls(&loop, 0, "...............p..............");
	expect_calls(&loop, 1, "p..............p..............");
	assert_int_equal(change_to_dependent(&copies.change, copies.model, &copies.sequence,
					     &kernel_count),
			 REFUSED_NO_NEIGHBOURS);
	expect_nothing_changed(&copies);
	done(&loop);
	done(&copies);
}

/* ---- one persistent kernel ---- */

static enum refusal to_persistent(struct loop *loop, uint32_t blocks_per_sm, uint64_t *kernel_count)
{
	struct profile_device *device = &loop->b->devices[0];

	device->sm_count = 1;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = blocks_per_sm;
	device->max_registers_per_sm = device->max_shared_bytes_per_sm = 1 << 16;
	loop->sequence.iterations = loop->iterations;
	return change_to_persistent(&loop->change, loop->model, &loop->sequence, kernel_count);
}

static void expect_not_persistent(const char *usual, uint32_t blocks_per_sm, enum refusal refusal)
{
	struct loop loop = loop_of(usual);
	uint64_t kernel_count;

	assert_int_equal(to_persistent(&loop, blocks_per_sm, &kernel_count), refusal);
	expect_nothing_changed(&loop);
	done(&loop);
}

static void test_persistent(void **state)
{
	struct loop loop = loop_of("kek");
	uint64_t kernel_count;

	(void)state;
	assert_int_equal(to_persistent(&loop, 8, &kernel_count), REFUSED_NONE);
	assert_int_equal(kernel_count, 2 * ITERATIONS);
	expect_calls(&loop, 0, "Gbb");
	expect_calls(&loop, 1, "bbb");
	done(&loop);
	expect_not_persistent("kik", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kwk", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kxk", 8, REFUSED_NOT_KERNELS);
	expect_not_persistent("kmk", 8, REFUSED_ALLOCATES);
	expect_not_persistent("gk", 8, REFUSED_HAS_GRAPHS);
	expect_not_persistent("kk", 0, REFUSED_NOT_RESIDENT);
}

/* All blocks at once, and one more than that. */
static void test_persistent_fits(void **state)
{
	struct loop loop = loop_of("k");
	uint64_t kernel_count;

	(void)state;
	loop.b->signatures[0].grid[0] = 2;
	assert_int_equal(to_persistent(&loop, 2, &kernel_count), REFUSED_NONE);
	done(&loop);
	loop = loop_of("k");
	loop.b->signatures[0].grid[0] = 3;
	assert_int_equal(to_persistent(&loop, 2, &kernel_count), REFUSED_NOT_RESIDENT);
	expect_nothing_changed(&loop);
	done(&loop);
}

/* ---- a queue of work items ---- */

static void test_balanced(void **state)
{
	struct loop loop = loop_of("ki");

	(void)state;
	assert_int_equal(change_to_balanced(&loop.change, loop.model, 0, 1, 0.3), 0);
	expect_nothing_changed(&loop);
	assert_int_equal(change_to_balanced(&loop.change, loop.model, 0, 0, 0.3), ITERATIONS);
	for (size_t i = 0; i < loop.b->profile.op_count; i++)
		assert_int_equal(loop.change.op_ns[i], i % 2 ? -1 : 31);
	done(&loop);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("waits go where the host reads nothing, but for the last",
			 test_drop_waits),
		SENTENCE("waits for what is copied to the host stay", test_keep_waits_for_reads),
		SENTENCE("without waits there is none to drop", test_no_waits),
		SENTENCE("an iteration becomes a graph, without its wait", test_graph),
		SENTENCE("a loop whose sizes vary is a graph that is updated", test_updated_graph),
		SENTENCE("a graph takes waits in, and stops before one for a result",
			 test_graph_waits),
		SENTENCE("a wait that is not in every iteration stays", test_unusual_wait),
		SENTENCE("a loop of one kernel becomes graphs of eight", test_unrolled),
		SENTENCE("what cannot be captured is refused with the reason", test_graph_refusals),
		SENTENCE("one of ten iterations may be refused, and then stays as it was",
			 test_captured_share),
		SENTENCE("a loop that reads a flag becomes one graph that decides", test_decided),
		SENTENCE(
			"a body that iterations begin with is only entered, others are left as well",
			test_decided_loop),
		SENTENCE("only a wait for what was read goes with the decision",
			 test_decided_waits),
		SENTENCE("what cannot be decided on the device is refused with the reason",
			 test_decided_refusals),
		SENTENCE("iterations take turns in three lanes", test_overlapped),
		SENTENCE("what cannot be overlapped is refused with the reason",
			 test_overlap_refusals),
		SENTENCE("pageable copies take the time of pinned ones", test_pinned),
		SENTENCE("pinning that makes nothing faster changes nothing",
			 test_no_faster_pinned),
		SENTENCE("each direction has its own rate", test_pinned_to_host),
		SENTENCE("allocations of a loop go with the waits for them", test_allocations),
		SENTENCE("without its allocations a loop can be a graph",
			 test_graph_without_allocations),
		SENTENCE("copies that share the link take longer", test_shared_link),
		SENTENCE("kernels of an iteration share the GPU, and copies stand between them",
			 test_concurrent),
		SENTENCE("kernels of a loop of one are parted by waits", test_concurrent_in_series),
		SENTENCE("kernels that fill the GPU, and graphs, are refused",
			 test_concurrent_refusals),
		SENTENCE("how much of the GPU a kernel takes, all its blocks tell",
			 test_concurrent_shapes),
		SENTENCE("what is in several streams already is not spread over streams again",
			 test_streamed),
		SENTENCE("neighbours with the same grid become one kernel", test_fused),
		SENTENCE("a kernel behind another one can be set up before", test_dependent),
		SENTENCE("a loop of kernels that fit becomes one that stays", test_persistent),
		SENTENCE("blocks that stay have to fit on the GPU at once", test_persistent_fits),
		SENTENCE("launches of one kernel take a share of their time", test_balanced),
		SENTENCE("every refusal can be told", test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
