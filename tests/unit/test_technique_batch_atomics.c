/* Kernels that atomics bind merge several of them into one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_predict.h"

/* The second of the loop's three kernels needs 9 us of its 10 for atomics that return a result. */
static struct what_if merge_by(enum technique_id id, const struct atomics_kernel *kernel,
			       uint64_t batch)
{
	struct predicted_run it;
	predicted_begin(&it, predicted_loop(), 0, NULL);
	struct atomics_kernel kernels[] = {*kernel};
	struct atomics atomics = {.kernels = kernels, .kernel_count = 1};
	const struct report report = {.profile = &it.b->profile, .atomics = &atomics};
	struct what_if found;

	assert_int_equal(what_ifs_add_report(&it.all, &report), 0);
	it.all.numbers[id] = batch;
	assert_int_equal(what_if_alone(&found, id, &it.all, 0), 0);
	predicted_end(&it);
	return found;
}

static struct what_if merge(const struct atomics_kernel *kernel, uint64_t batch)
{
	return merge_by(TECHNIQUE_batch_atomics, kernel, batch);
}

static const struct atomics_kernel hot = {.kernel = 1,
					  .duration_ns = 10000,
					  .explained_ns = 9000,
					  .other_ns = 1000,
					  .least_other_ns = 500,
					  .most_other_ns = 1500,
					  .returned_share = 1,
					  .batch = 8,
					  .most_batch = 16,
					  .is_bottleneck = true};

#define MERGED_4_NS (9000 / 4 + 1000 + 1)
#define MERGED_2_NS (9000 / 2 + 1500 + 1)

static void test_merged(void **state)
{
	struct what_if found = merge(&hot, 4), advised = merge(&hot, 0);
	const struct prediction *prediction = &found.prediction;
	const struct prediction *best = &advised.prediction;
	double least_ns = (double)(prediction->place_before_ns - RUNS * (10000 - MERGED_2_NS));
	double most_ns = (double)(best->place_before_ns - RUNS * (10000 - (9000 / 16 + 500)));

	(void)state;
	assert_null(found.effect.refusal);
	assert_int_equal(found.effect.changed_count, RUNS);
	assert_int_equal(predicted_saved_ns(&found), RUNS * (10000 - MERGED_4_NS));
	/* at the low end two in one, and above all these kernels' time may be off */
	predicted_expect_ratio(prediction->place.low, (double)prediction->place_before_ns,
			       least_ns + hypot(SPREAD_KERNELS * RUNS * MERGED_2_NS,
						REPLAY_ERROR_MOST * least_ns));
	assert_int_equal(predicted_saved_ns(&advised), RUNS * (10000 - (9000 / 8 + 1000 + 1)));
	/* at the high end as many as leave the least that may be left */
	assert_true(best->place.high > (double)best->place_before_ns / most_ns);
}

static void test_merged_refusals(void **state)
{
	struct atomics_kernel kernel = hot;

	(void)state;
	kernel.kernel = 7; /* launched never, or on another device */
	assert_string_equal(merge(&kernel, 4).effect.refusal, refused_not_hot);
	kernel = hot;
	kernel.batch = 1;
	assert_string_equal(merge(&kernel, 0).effect.refusal, refused_not_hot);
	assert_null(merge(&kernel, 4).effect.refusal);
	kernel.is_bottleneck = false;
	assert_string_equal(merge(&kernel, 4).effect.refusal, refused_not_hot);
}

/* By adds in shared memory, which take 4 us on one word of each block; beside them nothing else takes longer. */
static void test_merged_in_shared(void **state)
{
	struct atomics_kernel kernel = hot;
	struct what_if found;

	(void)state;
	kernel.shared_ns = 4000;
	found = merge_by(TECHNIQUE_aggregate_shared, &kernel, 4);
	assert_null(found.effect.refusal);
	assert_int_equal(predicted_saved_ns(&found), RUNS * (10000 - (4000 + 1)));
	found = merge_by(TECHNIQUE_aggregate_shared, &kernel, 2);
	assert_int_equal(predicted_saved_ns(&found), RUNS * (10000 - (9000 / 2 + 1)));
	kernel.shared_ns = ATOMICS_UNKNOWN;
	assert_non_null(strstr(merge_by(TECHNIQUE_aggregate_shared, &kernel, 4).effect.refusal,
			       "the ceilings have no atomics in shared memory"));
}

/* Whose counters they are nothing tells. */
static void test_merged_devices(void **state)
{
	struct builder *b = builder_new(1, 2);
	struct atomics_kernel kernels[] = {hot};
	struct atomics atomics = {.kernels = kernels, .kernel_count = 1};
	const struct report report = {.profile = &b->profile, .atomics = &atomics};
	struct predicted_run it;
	struct what_if found;

	(void)state;
	predicted_add_loop(b, 0, 0);
	predicted_begin(&it, b, 0, NULL);
	b->devices[1].op_count = 1; /* it was used, too */
	it.all.numbers[TECHNIQUE_batch_atomics] = 4;
	assert_int_equal(what_if_alone(&found, TECHNIQUE_batch_atomics, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, refused_not_hot); /* without a report */
	assert_int_equal(what_ifs_add_report(&it.all, &report), 0);
	assert_int_equal(what_if_alone(&found, TECHNIQUE_batch_atomics, &it.all, 0), 0);
	assert_string_equal(found.effect.refusal, refused_not_hot);
	predicted_end(&it);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE(
			"merged atomics take the time worked out by hand, half as many at the low end",
			test_merged),
		SENTENCE("what atomics do not bind is not merged", test_merged_refusals),
		SENTENCE("merged in shared memory they take what that was measured to take",
			 test_merged_in_shared),
		SENTENCE("counters of several devices tell nothing of one", test_merged_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
