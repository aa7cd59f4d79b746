/* Kernels that only move bytes move them as fast as DRAM can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fixture_predict.h"

static double sectors_touched = 100;

/* What was counted of all kernels; sectors: how many are touched, of 100 that are needed. */
static struct counted *counted_of(double sectors)
{
	static struct counted_role roles[METRIC_ROLE_COUNT];
	static struct counted_work kernels[3] = {{.roles = roles},
						 {.roles = roles},
						 {.roles = roles}};
	static struct counted counted = {.kernels = kernels};

	for (int role = METRIC_global_load_sectors; role <= METRIC_global_store_bytes; role++)
		roles[role].sample_count = sectors > 0;
	roles[METRIC_global_load_sectors].total = sectors;
	roles[METRIC_global_load_requests].total = 25;
	roles[METRIC_global_load_bytes].total = 3200;
	return &counted;
}

/* The second of the loop's three kernels of 10 us. */
static struct what_if widen(const struct roofline_point *point, double empty_ns)
{
	struct predicted_run it;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	struct roofline_point points[] = {*point};
	struct roofline roofline = {.roofs = {[ROOF_dram] = 4e9},
				    .graph_node_ns = empty_ns,
				    .kernels = points,
				    .kernel_count = 1};
	const struct report report = {.profile = &it.b->profile,
				      .roofline = &roofline,
				      .counted = counted_of(sectors_touched)};
	struct what_if found;

	assert_int_equal(what_ifs_add_report(&it.all, &report), 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_wider_loads, &it.all, 0), 0);
	predicted_end(&it);
	return found;
}

static struct roofline_point mover(double share)
{
	struct roofline_point point = {.subject = 1,
				       .name = "k",
				       .launch_count = RUNS,
				       .time_ns = RUNS * 10000,
				       .is_counted = true,
				       .binding = ROOF_dram,
				       .binding_share = share};

	point.quantities[ROOF_dram].share = share;
	return point;
}

/* From 60% of the roof to 80% of it, at the high end to all of it, and at the low end not at all. */
static void test_widened(void **state)
{
	struct roofline_point point = mover(0.6);
	struct what_if found = widen(&point, 1000);
	const struct predicted_ratio *place = &found.prediction.place;
	double before_ns = (double)found.prediction.place_before_ns;

	(void)state;
	assert_null(found.effect.refusal);
	assert_true(found.effect.is_assuming);
	assert_int_equal(found.effect.changed_count, RUNS);
	assert_true(llabs(predicted_saved_ns(&found) - RUNS * 2500) <= RUNS);
	assert_true(place->high > before_ns / (before_ns - RUNS * 4000));
	assert_in_range((uint64_t)(100 * place->low), 96, 100); /* what a replay may be off */
}

static void test_floor(void **state)
{
	struct roofline_point point = mover(0.6);
	struct what_if found = widen(&point, 9000);

	(void)state;
	assert_true(llabs(predicted_saved_ns(&found) - RUNS * 1000) <= RUNS);
}

/* Its threads ask L1 for so many times the bytes of DRAM. */
static struct roofline_point stream(double share, double asked)
{
	struct roofline_point point = mover(share);

	point.quantities[ROOF_dram].per_launch = 1000;
	point.quantities[ROOF_l1].state = ROOFLINE_KNOWN;
	point.quantities[ROOF_l1].per_launch = asked * 1000;
	return point;
}

static void expect_refused(struct roofline_point point)
{
	assert_string_equal(
		widen(&point, 1000).effect.refusal,
		"no kernel was counted, on a single GPU, that does little but move bytes below "
		"80% of DRAM's roof, and above 50%, or 25% where each is asked for about once: "
		"record --counters=roofline");
}

/* From 40% of the roof to 80% of it. */
static void test_stream(void **state)
{
	struct roofline_point point = stream(0.4, 1.1);
	struct what_if found = widen(&point, 1000);

	(void)state;
	assert_null(found.effect.refusal);
	assert_true(llabs(predicted_saved_ns(&found) - RUNS * 5000) <= RUNS);
	expect_refused(stream(0.4, 1.5)); /* caches have a part in it */
	sectors_touched = 130;		  /* neighbors are apart */
	expect_refused(point);
	sectors_touched = 0; /* nobody knows */
	assert_null(widen(&point, 1000).effect.refusal);
	sectors_touched = 100;
	expect_refused(stream(0.24, 1));
	point = stream(0.26, 1);
	assert_null(widen(&point, 1000).effect.refusal);
	point.quantities[ROOF_shared].total = 1;
	expect_refused(point);
}

static void test_refused(void **state)
{
	struct roofline_point point = mover(0.6);

	(void)state;
	expect_refused(mover(0.45));
	expect_refused(mover(0.85));
	point.binding = ROOF_l2;
	expect_refused(point);
	point = mover(0.6);
	point.quantities[ROOF_fp32].share = 0.4;
	expect_refused(point);
	point = mover(0.6);
	point.quantities[ROOF_shared].share = 0.2;
	expect_refused(point);
	point = mover(0.6);
	point.name = "void cutlass::Kernel2<t>(t::Params)";
	expect_refused(point);
	point = mover(0.6);
	point.is_wrong = true;
	expect_refused(point);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("bytes move at 80% of the roof, or at all of it", test_widened),
		SENTENCE("no kernel is shorter than an empty one", test_floor),
		SENTENCE("a kernel that asks for each byte once may be further from it",
			 test_stream),
		SENTENCE(
			"kernels at a roof, far from it or that compute, and a library's are left alone",
			test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
