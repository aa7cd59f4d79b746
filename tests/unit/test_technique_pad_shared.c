/* Accesses to shared memory meet different banks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/counters/counted.h"
#include "fixture_predict.h"

#define KERNELS_TIME_NS (RUNS * 10000)

/* Of the second of the loop's three kernels of 10 us: the part of its time in which wavefronts keep the SMs busy, and the
 * part of these that are conflicts. */
struct shared_use {
	double busy, conflicts;
};

static struct what_if pad(struct shared_use use, double roof_share)
{
	struct predicted_run it;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	struct roofline_point point = {.subject = 1,
				       .name = "k",
				       .launch_count = RUNS,
				       .time_ns = KERNELS_TIME_NS,
				       .is_counted = true,
				       .binding = ROOF_dram,
				       .binding_share = roof_share};
	struct roofline roofline = {.kernels = &point, .kernel_count = 1};
	struct counted_role none[METRIC_ROLE_COUNT] = {0}, roles[METRIC_ROLE_COUNT] = {0};
	struct counted_work works[] = {{.launch_count = RUNS, .roles = none},
				       {.launch_count = RUNS,
					.time_ns = KERNELS_TIME_NS,
					.roles = roles},
				       {.launch_count = RUNS, .roles = none}};
	struct counted counted = {.kernels = works};
	const struct report report = {.profile = &it.b->profile,
				      .roofline = &roofline,
				      .counted = &counted};
	struct what_if found;

	it.b->devices[0].sm_count = 100;
	it.b->devices[0].sm_clock_khz = 1000000;
	roles[METRIC_shared_wavefronts].total = use.busy * KERNELS_TIME_NS * 100;
	roles[METRIC_shared_conflicts].total = use.conflicts * use.busy * KERNELS_TIME_NS * 100;
	assert_int_equal(it.b->profile.kernel_name_count, 3);
	assert_int_equal(what_ifs_add_report(&it.all, &report), 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_pad_shared, &it.all, 0), 0);
	predicted_end(&it);
	return found;
}

/* Nine tenths of its time are wavefronts, two thirds of which go. */
static void test_padded(void **state)
{
	struct what_if found = pad((struct shared_use){0.9, 2.0 / 3}, 0.1);

	(void)state;
	assert_null(found.effect.refusal);
	assert_true(found.effect.is_assuming);
	assert_int_equal(found.effect.changed_count, RUNS);
	assert_true(llabs(predicted_saved_ns(&found) - KERNELS_TIME_NS * 6 / 10) <= RUNS);
	assert_in_range((uint64_t)(100 * found.prediction.place.low), 96, 100);
	assert_true(found.effect.is_proven);
}

/* Three tenths of its time are wavefronts, nine tenths of which go at most: who knows what it waits for besides. */
static void test_up_to(void **state)
{
	struct what_if found = pad((struct shared_use){0.3, 0.9}, 0.1);
	double before_ns = (double)found.prediction.place_before_ns;

	(void)state;
	assert_null(found.effect.refusal);
	assert_false(found.effect.is_proven);
	assert_true(llabs(predicted_saved_ns(&found) - KERNELS_TIME_NS * 27 / 100) <= RUNS);
	assert_in_range((uint64_t)(100 * found.prediction.place.low), 96, 100);
	assert_true(found.prediction.place.high >=
		    before_ns / (before_ns - KERNELS_TIME_NS * 0.27));
}

/* Its bytes of DRAM take half of its time at the roof, and five eighths at 80% of it. */
static void test_roof(void **state)
{
	struct what_if found = pad((struct shared_use){0.9, 2.0 / 3}, 0.5);
	double before_ns = (double)found.prediction.place_before_ns;

	(void)state;
	assert_true(llabs(predicted_saved_ns(&found) - KERNELS_TIME_NS * 3 / 8) <= RUNS);
	assert_true(found.prediction.place.high > before_ns / (before_ns - KERNELS_TIME_NS * 0.5));
}

static void test_refused(void **state)
{
	const struct shared_use uses[] = {{0.9, 0.4}, {0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		assert_string_equal(
			pad(uses[i], 0.1).effect.refusal,
			"no kernel was counted, on a single GPU, of whose wavefronts to shared "
			"memory half are bank conflicts: record --counters=shared");
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("the cycles that conflicts take are gone", test_padded),
		SENTENCE("no kernel gets faster than 80% of its roof", test_roof),
		SENTENCE("of kernels that wavefronts do not bind that is told as 'up to'",
			 test_up_to),
		SENTENCE(
			"kernels of few conflicts, and those that were not counted, are left alone",
			test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
