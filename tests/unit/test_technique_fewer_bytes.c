/* Kernels at DRAM's roof move fewer bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_predict.h"

static const char not_at_roof[] =
	"no kernel was counted, on a single GPU, at DRAM's roof: record --counters=roofline";

/* The second of the loop's three kernels moves 36,000 bytes in 10 us, 90% of 4 GB/s. */
static struct what_if narrow(const struct roofline_point *point, uint64_t number, double empty_ns)
{
	struct predicted_run it;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	struct roofline_point points[] = {*point};
	struct roofline roofline = {.roofs = {[ROOF_dram] = 4e9},
				    .graph_node_ns = empty_ns,
				    .kernels = points,
				    .kernel_count = 1};
	const struct report report = {.profile = &it.b->profile, .roofline = &roofline};
	struct what_if found;

	assert_int_equal(what_ifs_add_report(&it.all, &report), 0);
	it.all.numbers[TECHNIQUE_fewer_bytes] = number;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fewer_bytes, &it.all, 0), 0);
	predicted_end(&it);
	return found;
}

static const struct roofline_point at_dram = {
	.subject = 1,
	.launch_count = RUNS,
	.time_ns = RUNS * 10000,
	.is_counted = true,
	.quantities = {[ROOF_dram] = {.per_launch = 36000, .share = 0.9}},
	.binding = ROOF_dram,
	.binding_share = 0.9,
};

#define LESS_NS(part) (RUNS * (10000 - (int64_t)(10000 * (part))))

static void test_narrowed(void **state)
{
	struct what_if half = narrow(&at_dram, 2, 1000), quarter = narrow(&at_dram, 4, 1000);
	const struct prediction *prediction = &half.prediction;
	double least_ns = (double)(prediction->place_before_ns - LESS_NS(0.75));

	(void)state;
	assert_null(half.effect.refusal);
	assert_true(half.effect.is_assuming);
	assert_int_equal(half.effect.changed_count, RUNS);
	assert_true(llabs(predicted_saved_ns(&half) - LESS_NS(0.5)) <= RUNS);
	assert_true(llabs(predicted_saved_ns(&quarter) - LESS_NS(0.25)) <= RUNS);
	/* at the low end half of what would vanish stays, and above all these kernels' time may be off */
	assert_float_equal(prediction->place.low,
			   (double)prediction->place_before_ns /
				   (least_ns + hypot(SPREAD_KERNELS * RUNS * 7500,
						     REPLAY_ERROR_MOST * least_ns)),
			   1e-3);
}

static void test_narrowed_floor(void **state)
{
	struct roofline_point point = at_dram;
	struct what_if found = narrow(&point, 64, 2000);

	(void)state;
	assert_true(llabs(predicted_saved_ns(&found) - LESS_NS(0.2)) <= RUNS); /* an empty kernel */
	point.quantities[ROOF_fp32].share = 0.6;
	point.quantities[ROOF_l2].share = 0.7; /* has fewer bytes, too */
	found = narrow(&point, 64, 2000);
	assert_true(llabs(predicted_saved_ns(&found) - LESS_NS(0.6)) <= RUNS);
	found = narrow(&point, 64, 20000); /* nothing gets longer, but by rounding */
	assert_true(llabs(predicted_saved_ns(&found)) <= RUNS);
}

static void test_narrowed_refusals(void **state)
{
	struct roofline_point point = at_dram;
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	it.all.numbers[TECHNIQUE_fewer_bytes] = 2;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_fewer_bytes, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, not_at_roof); /* without a report */
	predicted_end(&it);
	point.binding_share = 0.79;
	assert_string_equal(narrow(&point, 2, 1000).effect.refusal, not_at_roof);
	point = at_dram;
	point.binding = ROOF_l2;
	assert_string_equal(narrow(&point, 2, 1000).effect.refusal, not_at_roof);
	point = at_dram;
	point.is_wrong = true;
	assert_string_equal(narrow(&point, 2, 1000).effect.refusal, not_at_roof);
	point = at_dram;
	point.is_counted = false;
	assert_string_equal(narrow(&point, 2, 1000).effect.refusal, not_at_roof);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a kernel at DRAM's roof takes as much less time as bytes", test_narrowed),
		SENTENCE("no less than its arithmetic, or an empty kernel", test_narrowed_floor),
		SENTENCE("what is not at DRAM's roof gains nothing by fewer bytes",
			 test_narrowed_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
