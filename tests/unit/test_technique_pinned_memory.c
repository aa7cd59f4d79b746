/* Copies of pageable memory take the time of pinned memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "techniques/shared/lengths.h"
#include "fixture_loop.h"

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

/* 2^20 bytes in 20 us are 52 GB/s. */
static void test_pinned(void **state)
{
	struct loop_fixture fixture = loop_of("pi");

	(void)state;
	assert_int_equal(pin(&fixture, 104.8576e9, 1e9), ITERATIONS);
	loop_expect(&fixture, 0, "a."); /* it was staged before the call returned */
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		const struct profile_copy *what = &fixture.b->copies[fixture.b->ops[i].detail];

		assert_int_equal(fixture.application.change.op_ns[i],
				 what->src_memory == PAGEABLE ? 10001 : -1);
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
		assert_int_equal(fixture.application.change.op_ns[i], i == 3 ? 10001 : -1);
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
	assert_int_equal(fixture.application.change.op_ns[0], 10001);
	assert_int_equal(fixture.application.change.calls[0],
			 CALL_KEPT); /* it still waits for its copy */
	loop_free(&fixture);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
