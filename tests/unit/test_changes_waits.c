/* Changes of what the host waits for: waits, allocations, copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_loop.h"

/* ---- waits ---- */

static size_t drop(struct loop_fixture *fixture)
{
	return change_drop_waits(&fixture->change, fixture->model, 0, fixture->loop.call_count);
}

static void test_drop_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kwkw");

	(void)state;
	assert_int_equal(drop(&fixture), 2 * ITERATIONS - 1);
	loop_expect(&fixture, 0, ".d.d");
	loop_expect(&fixture, ITERATIONS - 1, ".d.."); /* the last wait stays */
	loop_free(&fixture);
}

static void test_keep_waits_for_reads(void **state)
{
	struct loop_fixture fixture = loop_of("kwrw");

	(void)state;
	assert_int_equal(drop(&fixture), ITERATIONS);
	loop_expect(&fixture, 3, ".d..");
	loop_free(&fixture);
	fixture = loop_of("row"); /* all waits are for reads */
	assert_int_equal(drop(&fixture), 0);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_no_waits(void **state)
{
	struct loop_fixture fixture = loop_of("kk");

	(void)state;
	assert_int_equal(drop(&fixture), 0);
	loop_free(&fixture);
}

/* ---- allocations ---- */

static size_t drop_allocations(struct loop_fixture *fixture)
{
	fixture->loop.iterations = fixture->iterations;
	return change_drop_allocations(&fixture->change, fixture->model, &fixture->loop);
}

/* The wait before an allocation goes with it, another one stays. */
static void test_allocations(void **state)
{
	struct loop_fixture fixture = loop_of("mkwewm");

	(void)state;
	assert_int_equal(drop_allocations(&fixture), 2 * ITERATIONS);
	for (int i = 0; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "d...dd");
	loop_expect(&fixture, ITERATIONS - 1, "d....d"); /* the last wait of all stays */
	loop_free(&fixture);
}

/* ---- overlap ---- */

static enum refusal to_overlapped(struct loop_fixture *fixture)
{
	fixture->loop.iterations = fixture->iterations;
	return change_to_overlapped(&fixture->change, fixture->model, &fixture->loop);
}

static void expect_overlapped(const char *usual, enum refusal refusal)
{
	struct loop_fixture fixture = loop_of(usual);

	assert_int_equal(to_overlapped(&fixture), refusal);
	if (refusal != REFUSED_NONE)
		loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

static void test_overlapped(void **state)
{
	struct loop_fixture fixture = loop_of("iklow");

	(void)state;
	assert_int_equal(to_overlapped(&fixture), REFUSED_NONE);
	for (int i = 0; i < ITERATIONS - 1; i++)
		loop_expect(&fixture, i, "aa.ad");
	loop_expect(&fixture, ITERATIONS - 1, "aa.a.");
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		uint32_t call_index = fixture.b->ops[i].call;

		assert_int_equal(fixture.change.lanes[i], call_index / 5 % 3);
	}
	loop_free(&fixture);
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
	struct loop_fixture fixture = loop_of("pi");

	(void)state;
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, false, 104.8576e9,
					  1e9),
			 ITERATIONS);
	loop_expect(&fixture, 0, "a."); /* it was staged before the call returned */
	for (size_t i = 0; i < fixture.b->profile.op_count; i++) {
		const struct profile_copy *what = &fixture.b->copies[fixture.b->ops[i].detail];

		assert_int_equal(fixture.change.op_ns[i],
				 what->src_memory == PAGEABLE ? 10001 : -1);
	}
	loop_free(&fixture);
}

/* Of a loop that is overlapped only its own: a copy outside of it stays as it was. */
static void test_pinned_in_lanes(void **state)
{
	struct loop_fixture fixture = loop_of("p");

	(void)state;
	fixture.change.lanes[3] = 0;
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, true, 104.8576e9, 1e9),
			 1);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.op_ns[i], i == 3 ? 10001 : -1);
	loop_free(&fixture);
}

static void test_no_faster_pinned(void **state)
{
	struct loop_fixture fixture = loop_of("p");

	(void)state;
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, false, 50e9, 200e9),
			 0);
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, false, 0, 200e9), 0);
	loop_expect_unchanged(&fixture);
	loop_free(&fixture);
}

/* Only the other direction is fast. */
static void test_pinned_to_host(void **state)
{
	struct loop_fixture fixture = loop_of("P");

	(void)state;
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, false, 104.8576e9,
					  1e9),
			 0);
	assert_int_equal(change_to_pinned(&fixture.change, fixture.model, 0, false, 1e9,
					  104.8576e9),
			 ITERATIONS);
	assert_int_equal(fixture.change.op_ns[0], 10001);
	assert_int_equal(fixture.change.calls[0], CALL_KEPT); /* it still waits for its copy */
	loop_free(&fixture);
}

/* ---- copies in both directions at once ---- */

static void test_shared_link(void **state)
{
	struct loop_fixture fixture = loop_of("iko");

	(void)state;
	change_to_shared_link(&fixture.change, fixture.model, 0, 1.1);
	loop_expect_unchanged(&fixture); /* none is in a lane */
	assert_int_equal(to_overlapped(&fixture), REFUSED_NONE);
	fixture.change.op_ns[0] = 10000;
	change_to_shared_link(&fixture.change, fixture.model, 0, 1.1);
	for (size_t i = 0; i < fixture.b->profile.op_count; i++)
		assert_int_equal(fixture.change.op_ns[i], i == 0 ? 11000 : i % 3 == 1 ? -1 : 22000);
	loop_free(&fixture);
}

/* ---- the whole ---- */

static void test_texts(void **state)
{
	(void)state;
	assert_string_equal(refusal_text(REFUSED_NONE), "");
	for (int i = REFUSED_NONE + 1; i < REFUSAL_COUNT; i++)
		assert_true(strlen(refusal_text((enum refusal)i)) > 10);
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
		SENTENCE("iterations take turns in three lanes", test_overlapped),
		SENTENCE("what cannot be overlapped is refused with the reason",
			 test_overlap_refusals),
		SENTENCE("pageable copies take the time of pinned ones", test_pinned),
		SENTENCE("copies outside of the loops that are overlapped stay as they were",
			 test_pinned_in_lanes),
		SENTENCE("pinning that makes nothing faster changes nothing",
			 test_no_faster_pinned),
		SENTENCE("each direction has its own rate", test_pinned_to_host),
		SENTENCE("allocations of a loop go with the waits for them", test_allocations),
		SENTENCE("copies that share the link take longer", test_shared_link),
		SENTENCE("every refusal can be told", test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
