/* What a run takes at least after a change, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_predict.h"
#include "whatif/bounds.h"

#define KERNEL_NS 10000.0 /* of predicted_loop, three an iteration */

/* A change of a run, with room for lengths and lanes. */
struct bounded {
	struct predicted_run it;
	struct application application;
	struct bound_terms terms;
};

static struct bounded bounded_new(struct builder *b, unsigned int bounds)
{
	struct bounded found = {.it = {.b = b, .ceilings = predicted_ceilings(0)},
				.terms.bounds = bounds};
	struct change *change = &found.application.change;

	builder_finish(b);
	assert_int_equal(what_ifs_open(&found.it.all, &b->profile, found.it.ceilings, NULL), 0);
	assert_int_equal(change_begin(change, found.it.all.run.model, true), 0);
	assert_int_equal(change_begin_lanes(change, found.it.all.run.model, 32), 0);
	return found;
}

static void bounded_end(struct bounded *found)
{
	change_free(&found->application.change);
	predicted_end(&found->it);
}

static struct bounds bounds_of(struct bounded *found, const struct place *place)
{
	const struct part part = {.places = place, .place_count = 1};
	struct bounds bounds;

	found->application.run = &found->it.all.run;
	assert_int_equal(bounds_find(&bounds, &found->application, &found->terms, &part), 0);
	return bounds;
}

static const struct place second_iteration = {4, 8};

static void test_streams(void **state)
{
	struct bounded found = bounded_new(predicted_loop(), BOUND_BUSY);
	struct bounds bounds = bounds_of(&found, &second_iteration);

	(void)state;
	assert_float_equal(bounds.program_ns, 3 * RUNS * KERNEL_NS, 1);
	assert_float_equal(bounds.place_ns, 3 * KERNEL_NS, 1);
	bounded_end(&found);
}

/* Only what a technique says that it shortens counts less, and lanes only where it says that it uses them. */
static void test_undeclared(void **state)
{
	struct bounded found = bounded_new(predicted_loop(), BOUND_BUSY);
	struct change *change = &found.application.change;

	(void)state;
	found.it.b->devices[0].sm_count = 4;
	change->op_ns[3] = 4000;
	for (uint32_t i = 3; i < 6; i++)
		change->lanes[i] = i;
	assert_float_equal(bounds_of(&found, &second_iteration).place_ns, 3 * KERNEL_NS, 1);
	found.terms.bounds |= BOUND_KERNELS;
	/* how much shorter it gets is a model's word, and no arithmetic was counted */
	assert_float_equal(bounds_of(&found, &second_iteration).place_ns, 2 * KERNEL_NS, 1);
	found.terms.bounds |= BOUND_ENGINES; /* each of them fills a quarter of the SMs */
	assert_float_equal(bounds_of(&found, &second_iteration).place_ns, 0.25 * 2 * KERNEL_NS, 1);
	found.terms.bounds |= BOUND_SMS; /* the shorter one has more SMs */
	assert_float_equal(bounds_of(&found, &second_iteration).place_ns, 0.25 * 3 * KERNEL_NS, 1);
	bounded_end(&found);
}

/* The one SM has room for 8 of their blocks: each fills an eighth of it. */
static void test_room(void **state)
{
	struct bounded found = bounded_new(predicted_loop(), BOUND_BUSY | BOUND_ENGINES);
	struct profile_device *device = &found.it.b->devices[0];

	(void)state;
	device->sm_count = 1;
	device->max_warps_per_sm = 64;
	device->max_blocks_per_sm = 32;
	device->max_registers_per_sm = 1 << 16;
	device->max_shared_bytes_per_sm = 200 << 10;
	for (uint32_t i = 3; i < 6; i++)
		found.application.change.lanes[i] = i;
	assert_float_equal(bounds_of(&found, &second_iteration).place_ns, 3 * KERNEL_NS / 8, 1);
	bounded_end(&found);
}

/* Two streams in which kernels ran beside each other, which together fill the GPU: as long as that was. */
static void test_sms(void **state)
{
	struct builder *b = builder_new(1, 1);
	const struct place all = {0, 3};
	struct bounded found;

	(void)state;
	b->devices[0].sm_count = 2; /* of which a block takes half */
	for (uint32_t i = 0; i < 3; i++) {
		b->streams[i] = (struct profile_stream){.flag = STREAM_NON_BLOCKING};
		builder_kernel(b, i, "k", 5000 + i * 5000, 15000 + i * 5000,
			       builder_launch(b, 0, i * 4000, i * 4000 + 4000));
	}
	b->profile.stream_count = 3;
	found = bounded_new(b, BOUND_BUSY);
	assert_float_equal(bounds_of(&found, &all).program_ns, 10000 + 2 * 0.5 * 5000, 1);
	bounded_end(&found);
}

static struct builder *copies(void)
{
	static const struct profile_copy in = {.bytes = 500000, .kind = COPY_TO_DEVICE},
					 out = {.bytes = 4, .kind = COPY_TO_HOST};
	struct builder *b = builder_new(1, 1);

	for (uint32_t i = 0; i < 4; i++) {
		b->streams[i] = (struct profile_stream){.flag = STREAM_NON_BLOCKING};
		builder_copy(b, i, i < 3 ? in : out, 5000 + i * 30000, 35000 + i * 30000,
			     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, i * 4000,
					  i * 4000 + 4000));
	}
	b->profile.stream_count = 4;
	return b;
}

/* In each direction one at a time; pinned memory takes 10 us for each, at 50 GB/s. */
static void test_copies(void **state)
{
	struct bounded found = bounded_new(copies(), BOUND_BUSY);
	const struct place all = {0, 4}, last = {3, 4};
	int64_t *op_ns = found.application.change.op_ns;

	(void)state;
	assert_float_equal(bounds_of(&found, &all).program_ns, 90000, 1);
	op_ns[0] = op_ns[1] = op_ns[2] = 4000;
	op_ns[3] = OP_GONE;
	found.terms.bounds |= BOUND_COPIES;
	assert_float_equal(bounds_of(&found, &all).program_ns, 30000, 1);
	assert_float_equal(bounds_of(&found, &last).place_ns, 0.08, 0.01);
	found.terms.bounds = BOUND_BUSY | BOUND_READS;
	assert_float_equal(bounds_of(&found, &last).place_ns, 0, 1e-9);
	bounded_end(&found);
}

/* A memset of 1 us and a copy behind it: only the memset counts less where a technique says that memsets are gone. */
static void test_memsets(void **state)
{
	struct bounded found;
	const struct place all = {0, 2};
	struct builder *b = builder_new(1, 1);

	(void)state;
	builder_memset(b, 0, (struct profile_memset){.bytes = 64}, 5000, 6000,
		       builder_call(b, 0, "cudaMemsetAsync", CALL_COPY, 0, 4000));
	builder_copy(b, 0, (struct profile_copy){.bytes = 64, .kind = COPY_TO_DEVICE}, 7000, 9000,
		     builder_call(b, 0, "cudaMemcpyAsync", CALL_COPY, 4000, 6000));
	found = bounded_new(b, BOUND_BUSY);
	found.application.change.op_ns[0] = found.application.change.op_ns[1] = OP_GONE;
	assert_float_equal(bounds_of(&found, &all).program_ns, 3000, 1);
	found.terms.bounds |= BOUND_MEMSETS;
	assert_float_equal(bounds_of(&found, &all).program_ns, 2000, 1);
	bounded_end(&found);
}

/* Recording lengthened nodes of graphs, but no more than most of one. */
static void test_nodes(void **state)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_call(b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 0, 4000);
	const struct place all = {0, 1};
	struct bounded found;

	(void)state;
	builder_kernel(b, 0, "k", 10000, 10100, call);
	builder_kernel(b, 0, "k", 11000, 21000, call);
	found = bounded_new(b, BOUND_BUSY);
	found.terms.trace_node_ns = 150;
	assert_float_equal(bounds_of(&found, &all).program_ns, 25 + 10000 - 150, 1);
	bounded_end(&found);
}

static void test_hold(void **state)
{
	const struct bounds bounds = {1000, 500, 50};
	struct prediction prediction = {.program_before_ns = 3000,
					.program_after_ns = 1000,
					.changed_before_ns = 2500,
					.place_before_ns = 2500,
					.place_after_ns = 500,
					.steady_before_ns = 250,
					.steady_after_ns = 50};

	(void)state;
	assert_true(bounds_hold(&bounds, &prediction));
	prediction.program_after_ns = 960; /* a replay may be off by 3% */
	assert_false(bounds_hold(&bounds, &prediction));
	prediction.program_after_ns = 980;
	assert_true(bounds_hold(&bounds, &prediction));
	prediction.changed_before_ns = 1900; /* the rest is 1100 */
	assert_false(bounds_hold(&bounds, &prediction));
	prediction.changed_before_ns = 2500;
	prediction.steady_after_ns = 48;
	assert_false(bounds_hold(&bounds, &prediction));
	prediction.steady_before_ns = 0; /* there is none */
	assert_true(bounds_hold(&bounds, &prediction));
	prediction.place_after_ns = 480;
	assert_false(bounds_hold(&bounds, &prediction));
}

static void test_limit(void **state)
{
	const struct bounds bounds = {1000, 500, 50};
	struct prediction prediction = {.program = {2, 1.5, 4},
					.place = {4.9, 4, 10},
					.steady = {4.9, 4, 10},
					.program_before_ns = 3000,
					.place_before_ns = 2400,
					.steady_before_ns = 240};

	(void)state;
	bounds_limit(&bounds, &prediction);
	assert_float_equal(prediction.program.high, 3 / 0.97, 1e-9);
	assert_float_equal(prediction.place.high, 2400 / (0.97 * 500), 1e-9);
	assert_float_equal(prediction.steady.high, 240 / (0.97 * 50), 1e-9);
	prediction.place_before_ns = 2000;
	bounds_limit(&bounds, &prediction);
	assert_float_equal(prediction.place.high, 4.9, 1e-9); /* and not below the middle */
}

/* A whole of 3000 of which a part of 2400 changes, that takes 600 at least. */
static void test_whole(void **state)
{
	const struct bounds bounds = {0};
	struct prediction prediction = {.program = {2, 1.5, 4},
					.place = {2.4, 2, 4},
					.program_before_ns = 3000,
					.place_before_ns = 2400,
					.changed_before_ns = 2000};

	(void)state;
	bounds_limit(&bounds, &prediction); /* a range, beside which more may change */
	assert_float_equal(prediction.program.high, 4, 1e-9);
	prediction.changed_before_ns = 2400;
	bounds_limit(&bounds, &prediction);
	assert_float_equal(prediction.program.high, 3000.0 / (600 + 600), 1e-9);
	prediction.place.high = 2.4;
	prediction.program.speedup = 1.95;
	bounds_limit(&bounds, &prediction);
	assert_float_equal(prediction.program.high, 1.95, 1e-9); /* not below the middle */
}

/* Three launches an iteration, of which a change may leave one. */
static void test_steady(void **state)
{
	struct bounded found = bounded_new(predicted_loop(), BOUND_BUSY);
	const struct loops *loops = &found.it.all.loops;
	const struct steady_loop steady = {.members = &(uint32_t){0}, .member_count = 1};
	const struct call_change gone = {.host = COST_NONE, .submission = SUBMITS_NODES};
	struct change *change = &found.application.change;

	(void)state;
	found.application.run = &found.it.all.run;
	assert_float_equal(bounds_steady_ns(&found.application, &steady, loops, 2000), 6000, 1);
	for (size_t i = 0; i < loops->items[0].iteration_count; i++)
		change->calls[loops->items[0].iterations[i]] = change_number(change, &gone);
	assert_float_equal(bounds_steady_ns(&found.application, &steady, loops, 2000), 4000, 1);
	bounded_end(&found);
}

static void test_steady_limit(void **state)
{
	struct prediction prediction = {.steady = {100, 2, 200},
					.steady_before_ns = 97000,
					.steady_after_ns = 970};

	(void)state;
	bounds_limit_steady(&prediction, 0); /* no launch is left: a graph of all */
	assert_float_equal(prediction.steady.high, 200, 1e-9);
	bounds_limit_steady(&prediction, 5000);
	assert_float_equal(prediction.steady.low, 2, 1e-9);
	assert_float_equal(prediction.steady.speedup, 20, 1e-9);
	assert_float_equal(prediction.steady.high, 20, 1e-9);
	assert_int_equal(prediction.steady_after_ns, 4850);
}

/* A model that has lost what operations wait for lets all kernels of a graph run at the same time. */
static void test_refused(void **state)
{
	struct builder *b = predicted_loop();
	struct predicted_run it;
	struct what_if found;

	(void)state;
	b->devices[0].sm_count = 1000;
	predicted_begin(&it, b, 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	for (size_t i = 0; i < b->profile.op_count; i++)
		assert_int_equal(near_numbers_set(&it.all.run.model->predecessors, i, PROFILE_NONE),
				 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &it.all, 0), 0);
	assert_ptr_equal(found.effect.refusal, refused_impossible);
	assert_int_equal(found.prediction.program_after_ns, 0);
	predicted_end(&it);
}

static void test_declared(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		unsigned int bound = techniques[i]->bound;

		if (!(bound & BOUND_BUSY))
			fail_msg("%s does not say what its predictions are held to",
				 techniques[i]->id);
		assert_true(techniques[i]->has_ops || !(bound & (BOUND_READS | BOUND_COPIES |
								 BOUND_KERNELS | BOUND_MEMSETS)));
		assert_true(techniques[i]->has_lanes || !(bound & BOUND_ENGINES));
	}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a stream takes as long as its operations", test_streams),
		SENTENCE("an operation counts less only where the technique declares it",
			 test_undeclared),
		SENTENCE("a kernel fills what its blocks take of those that fit on the SMs",
			 test_room),
		SENTENCE("kernels that ran side by side fill the SMs together", test_sms),
		SENTENCE("each direction has one copy engine, and pinned memory its rate",
			 test_copies),
		SENTENCE("a memset counts less only where memsets may be gone", test_memsets),
		SENTENCE("nodes of graphs count without what recording added", test_nodes),
		SENTENCE("a prediction holds within what a replay may be off", test_hold),
		SENTENCE("an interval ends at its bounds", test_limit),
		SENTENCE("a run gains no more at best than the part that changes", test_whole),
		SENTENCE(
			"an iteration of the steady state is as long as its launches that are left",
			test_steady),
		SENTENCE("no more is told of the steady state", test_steady_limit),
		SENTENCE("what the recording does not allow is refused, and not shown",
			 test_refused),
		SENTENCE("every technique declares what its predictions are held to",
			 test_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
