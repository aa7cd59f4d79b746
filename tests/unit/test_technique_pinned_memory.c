/* Copies of pageable memory take the time of pinned memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/shared/lengths.h"
#include "techniques/shared/pinning.h"
#include "fixture_loop.h"
#include "fixture_predict.h"

/* Bytes a second of pinned memory. */
static void measure(struct loop_fixture *fixture, double to_device, double to_host)
{
	loop_measure(fixture, CEILING_h2d_pinned, to_device);
	loop_measure(fixture, CEILING_d2h_pinned, to_host);
}

/* Returns how many copies are pinned. */
static size_t pin(struct loop_fixture *fixture, double to_device, double to_host)
{
	const char *refusal;

	measure(fixture, to_device, to_host);
	refusal = loop_apply(fixture, &technique_pinned_memory);
	if (refusal)
		assert_string_equal(refusal, refused_nothing);
	assert_int_equal(!refusal, fixture->effect.changed_count > 0);
	return fixture->effect.changed_count;
}

/* 2^20 bytes in 20 us are 52 GB/s; at 105 GB/s they take 10 us, and what any copy takes. */
#define IN_NS 12500
#define OUT_NS 11500

static void test_pinned(void **state)
{
	struct loop_fixture fixture = loop_of("pi");

	(void)state;
	assert_int_equal(pin(&fixture, 104.8576e9, 1e9), ITERATIONS);
	loop_expect(&fixture, 0, "A."); /* it was staged before the call returned */
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		const struct profile_copy *what = &fixture.b->copies[fixture.b->ops[i].detail];

		assert_int_equal(fixture.application.change.op_ns[i],
				 what->src_memory == PAGEABLE ? 1 + IN_NS : 0);
	}
	loop_free(&fixture);
}

/* Of a loop that is overlapped only its own: a copy outside of it stays as it was. */
static void test_pinned_in_lanes(void **state)
{
	struct loop_fixture fixture = loop_of("p");

	(void)state;
	fixture.application.change.lanes[3] = 0;
	measure(&fixture, 104.8576e9, 1e9);
	assert_int_equal(lengths_pin_copies(loop_application(&fixture, &technique_overlap), true),
			 1);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.application.change.op_ns[i], i == 3 ? 1 + IN_NS : 0);
	loop_free(&fixture);
}

static void test_no_faster_pinned(void **state)
{
	struct loop_fixture fixture = loop_of("p");

	(void)state;
	assert_int_equal(pin(&fixture, 50e9, 200e9), 0);
	assert_int_equal(pin(&fixture, 0, 200e9), 0);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Only the other direction is fast. */
static void test_pinned_to_host(void **state)
{
	struct loop_fixture fixture = loop_of("P");

	(void)state;
	assert_int_equal(pin(&fixture, 104.8576e9, 1e9), 0);
	assert_int_equal(pin(&fixture, 1e9, 104.8576e9), ITERATIONS);
	assert_int_equal(fixture.application.change.op_ns[0], 1 + OUT_NS);
	loop_expect(&fixture, 0,
		    "B"); /* it still waits for its copy, and empties no buffer of the driver */
	loop_free(&fixture);
}

/* A copy to the host is no shorter, but its call emptied a buffer of the driver for 50 us; 2^20 bytes take 21 us. */
static void test_pinned_call(void **state)
{
	struct loop_fixture fixture = loop_of("P");
	const struct profile_op *op = &fixture.b->ops[0];

	(void)state;
	measure(&fixture, 1e9, 1048576 / 21e-6);
	assert_int_equal(pin(&fixture, 1e9, 1048576 / 21e-6), 0);
	for (size_t i = 0; i < fixture.b->profile.call_count; i++)
		fixture.b->calls[i].end_ns += 50000;
	assert_float_equal(lengths_saved_by_pinning_ns(&fixture.b->profile, fixture.ceilings, op),
			   50000 + 20020 - (21000 + 1500), 1e-3);
	assert_int_equal(pin(&fixture, 1e9, 1048576 / 21e-6), ITERATIONS);
	assert_int_equal(fixture.application.change.op_ns[0], 20001);
	loop_expect(&fixture, 0, "B");
	/* but for the launch and the wait that stay */
	assert_int_equal(ceilings_add(fixture.ceilings,
				      &(struct ceiling){.id = CEILING_synchronize, .value = 3000}),
			 0);
	assert_null(ceilings_sort(fixture.ceilings));
	assert_float_equal(lengths_saved_by_pinning_ns(&fixture.b->profile, fixture.ceilings, op),
			   50000 + 20020 - (21000 + 1500) - 3000, 1e-3);
	loop_free(&fixture);
}

/* ---- what pinning costs ---- */

/* 1 ns for 16 bytes of it; the last row is of the greatest buffer. */
static void measure_register(struct ceilings *ceilings)
{
	static const uint64_t bytes[] = {1 << 10, 256 << 20};

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(ceilings_add(ceilings,
					      &(struct ceiling){.id = CEILING_host_register,
								.parameter = bytes[i],
								.value = (double)bytes[i] / 16}),
				 0);
	assert_null(ceilings_sort(ceilings));
}

static void test_buffers(void **state)
{
	struct loop_fixture fixture = loop_of("pPp");
	struct pinning pinning;

	(void)state;
	measure(&fixture, 104.8576e9, 104.8576e9);
	assert_int_equal(pinning_of(&pinning, &fixture.b->profile, fixture.ceilings, 0), 0);
	assert_int_equal(pinning.copy_count, 3 * ITERATIONS);
	assert_int_equal(pinning.buffer_count, 2); /* each direction */
	/* a call that waits takes 20 longer than its copy */
	assert_float_equal(pinning.saved_ns, ITERATIONS * (2 * (20000 - IN_NS) + 20020 - OUT_NS),
			   1);
	assert_true(pinning.cost_ns == 0);
	measure_register(fixture.ceilings);
	assert_int_equal(pinning_of(&pinning, &fixture.b->profile, fixture.ceilings, 0), 0);
	assert_float_equal(pinning.cost_ns, 2 * (1 << 20) / 16.0, 1);
	fixture.b->copies[0].bytes = (uint64_t)1 << 29; /* as two of the greatest */
	assert_int_equal(pinning_of(&pinning, &fixture.b->profile, fixture.ceilings, 0), 0);
	assert_float_equal(pinning.cost_ns, (2 * (1 << 20) + ((uint64_t)1 << 29)) / 16.0, 1);
	loop_free(&fixture);
}

static bool happens_once(const struct profile_op *op, const void *context)
{
	(void)op;
	(void)context;
	return true;
}

/* Of ten copies of 20 us each call takes 50 us longer: of a loop that is the driver's buffer. */
static void test_saved_by_calls(void **state)
{
	struct loop_fixture fixture = loop_of("P");
	const struct profile *profile = &fixture.b->profile;
	struct pinning pinning;

	(void)state;
	measure(&fixture, 1e9, 104.8576e9);
	for (size_t i = 0; i < profile->call_count; i++)
		fixture.b->calls[i].end_ns += 50000;
	assert_int_equal(pinning_of(&pinning, profile, fixture.ceilings, 0), 0);
	assert_float_equal(pinning.saved_ns, ITERATIONS * (70020 - OUT_NS), 1);
	assert_int_equal(pinning_once_of(&pinning, profile, fixture.ceilings, 0, happens_once,
					 NULL),
			 0);
	assert_float_equal(pinning.saved_ns, ITERATIONS * (20000 - OUT_NS), 1);
	fixture.b->devices[0].op_count = 9; /* nine repeat nothing */
	assert_int_equal(pinning_of(&pinning, profile, fixture.ceilings, 0), 0);
	assert_float_equal(pinning.saved_ns, 9 * (20000 - OUT_NS), 1);
	fixture.b->devices[0].op_count = ITERATIONS;
	loop_free(&fixture);
}

static void test_cost(void **state)
{
	struct loop_fixture fixture = loop_of("p");

	(void)state;
	measure_register(fixture.ceilings);
	assert_int_equal(pin(&fixture, 104.8576e9, 1e9), ITERATIONS);
	assert_float_equal(fixture.application.setup_ns, (1 << 20) / 16.0, 1);
	loop_free(&fixture);
	fixture = loop_of("p");
	measure_register(fixture.ceilings);
	/* 1368 ns less each and 65536 to pin, once: of so many copies the replay tells whether they earn it back */
	assert_int_equal(pin(&fixture, 65e9, 1e9), ITERATIONS);
	loop_free(&fixture);
}

/* Copies of 256 MiB at 10 GB/s, each at the start of its own loop of kernels. */
static struct builder *few_copies(int count)
{
	const struct profile_copy copy = {.kind = COPY_TO_DEVICE,
					  .src_memory = MEMORY_PAGEABLE,
					  .dst_memory = 3,
					  .bytes = 256 << 20};
	struct builder *b = builder_new(1, 1);
	int64_t now_ns = 0;

	for (int i = 0; i < count; i++) {
		uint32_t call =
			builder_call(b, 0, "cudaMemcpy", CALL_COPY, now_ns, now_ns + 26860000);

		builder_copy(b, 0, copy, now_ns + 10000, now_ns + 26850000, call);
		now_ns += 26870000;
	}
	builder_kernel(b, 0, "k", now_ns + 5000, now_ns + 905000,
		       builder_launch(b, 0, now_ns, now_ns + 4000));
	builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 5000, now_ns + 910000);
	return b;
}

static void test_few_copies(void **state)
{
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, few_copies(3), 0, NULL);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pinned_memory, &it.all, 0), 0);
	assert_non_null(found.effect.refusal);
	assert_non_null(strstr(found.effect.refusal, "run rooflinectl ceilings again"));
	measure_register(it.ceilings);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pinned_memory, &it.all, 0), 0);
	assert_null(found.effect.refusal);
	/* 26.8 ms become 5.4 and 16.8 for each buffer, once; of the copies alone five times less */
	assert_in_range((uint64_t)(100 * found.prediction.program.speedup), 110, 130);
	assert_in_range((uint64_t)(100 * found.prediction.place.speedup), 400, 520);
	predicted_end(&it);
}

/* Each as good as pinned: nothing earns back what pinning costs. */
static void test_few_fast_copies(void **state)
{
	struct builder *b = few_copies(3);
	struct predicted_run it;
	struct what_if found;

	(void)state;
	for (size_t i = 0; i < b->profile.op_count; i++)
		if (b->ops[i].kind == OP_COPY)
			b->ops[i].end_ns = b->ops[i].start_ns + 6000000;
	predicted_begin(&it, b, 0, NULL);
	measure_register(it.ceilings);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pinned_memory, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal,
			    "pinning the memory would cost more than the copies save");
	predicted_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("pageable copies take the time of pinned ones", test_pinned),
		SENTENCE("copies outside of the loops that are overlapped stay as they were",
			 test_pinned_in_lanes),
		SENTENCE("pinning that makes nothing faster changes nothing",
			 test_no_faster_pinned),
		SENTENCE("each direction has its own rate", test_pinned_to_host),
		SENTENCE("a call that copies for the driver is shorter where its copy is not",
			 test_pinned_call),
		SENTENCE("copies of one size and direction share a buffer, which is pinned once",
			 test_buffers),
		SENTENCE("what calls take for the driver's buffers is saved where copies repeat",
			 test_saved_by_calls),
		SENTENCE("what pinning costs counts once, however little each copy saves",
			 test_cost),
		SENTENCE("a few large copies are judged by what pinning costs", test_few_copies),
		SENTENCE("pinning that costs more than a few copies save is refused",
			 test_few_fast_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
