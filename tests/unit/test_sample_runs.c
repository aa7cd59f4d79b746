/* Runs of work in samples: when they begin and end, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/samples/sample_runs.h"
#include "base/array.h"
#include "profile_builder.h"

#define SM_COUNT 100

/* What one sample of 1000 ns saw: SMs, blocks, kernels; one follows the other. */
typedef double seen[3];

static struct builder *device_new(void)
{
	struct builder *b = builder_new(1, 1);

	b->devices[0].sm_count = SM_COUNT;
	b->devices[0].sampled = 1u << SAMPLED_sm_cycles | 1u << SAMPLED_blocks;
	return b;
}

static void add_samples(struct builder *b, int64_t start_ns, const seen *saw, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct profile_sample *sample =
			builder_sample(b, 0, start_ns + 1000 * (int64_t)i, 1000);

		sample->sm = (float)(saw[i][0] / SM_COUNT);
		sample->sm_max = saw[i][0] > 0;
		sample->blocks = (float)saw[i][1];
		sample->dispatches = (float)saw[i][2];
		sample->dram_read_bytes = 10 * (float)saw[i][1];
	}
}

/* What was found. */
struct sample_runs {
	struct sample_run *items;
	size_t count, capacity;
	uint64_t single_block_count;
};

static int keep_run(const struct sample_run *run, void *context)
{
	struct sample_runs *runs = context;
	struct sample_run *kept = ARRAY_NEXT(runs->items, runs->capacity, runs->count);

	assert_non_null(kept);
	*kept = *run;
	runs->count++;
	return 0;
}

static void sample_runs_free(struct sample_runs *runs)
{
	free(runs->items);
}

/* Runs among samples that begin at 0; frees the profile. */
static struct sample_runs find(struct builder *b)
{
	struct sample_runs runs = {0};

	assert_int_equal(sample_runs_find(builder_finish(b), 0, keep_run, &runs,
					  &runs.single_block_count),
			 0);
	free(b);
	return runs;
}

#define FIND(...)                                                          \
	({                                                                 \
		static const seen seen_[] = {__VA_ARGS__};                 \
		struct builder *b_ = device_new();                         \
		add_samples(b_, 0, seen_, sizeof(seen_) / sizeof(*seen_)); \
		find(b_);                                                  \
	})

static void expect_run(const struct sample_runs *runs, size_t i, int64_t start_ns, int64_t end_ns,
		       uint64_t blocks, uint64_t dispatches)
{
	assert_in_range(i, 0, runs->count - 1);
	assert_in_range(runs->items[i].start_ns, start_ns - 1, start_ns + 1);
	assert_in_range(runs->items[i].end_ns, end_ns - 1, end_ns + 1);
	assert_int_equal(runs->items[i].block_count, blocks);
	assert_int_equal(runs->items[i].dispatch_count, dispatches);
}

static void first_and_last_samples_are_divided_by_how_active_they_are(void **state)
{
	struct sample_runs runs = FIND({0}, {50, 100, 1}, {100}, {100}, {25}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1500, 4250, 100, 1);
	assert_int_equal(runs.items[0].first, 1);
	assert_int_equal(runs.items[0].last, 4);
	assert_float_equal(runs.items[0].dram_bytes, 1000, 0.1);
	sample_runs_free(&runs);
}

static void a_run_within_one_sample_has_its_length(void **state)
{
	struct sample_runs runs = FIND({0}, {30, 100, 1}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 2000, 100, 1);
	sample_runs_free(&runs);
}

static void two_kernels_with_a_dip_between_them_are_two_runs(void **state)
{
	struct sample_runs runs = FIND({0}, {100, 100, 1}, {100}, {40, 70, 1}, {100}, {100}, {0});

	(void)state;
	assert_int_equal(runs.count, 2);
	expect_run(&runs, 0, 1000, 3000, 100, 1);
	expect_run(&runs, 1, 3600, 6000, 70, 1);
	sample_runs_free(&runs);
}

static void a_dip_in_which_nothing_was_launched_is_no_end(void **state)
{
	struct sample_runs runs = FIND({0}, {100, 100, 1}, {100}, {40}, {100}, {100}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 6000, 100, 1);
	sample_runs_free(&runs);
}

static void a_launch_with_no_dip_is_no_end(void **state)
{
	struct sample_runs runs = FIND({0}, {100, 100, 1}, {100}, {90, 50, 1}, {100}, {100}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 6000, 150, 2);
	sample_runs_free(&runs);
}

static void blocks_that_were_launched_at_the_end_of_the_sample_before_are_the_runs(void **state)
{
	struct sample_runs runs = FIND({0}, {0, 100, 1}, {80}, {80}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 2000, 4000, 100, 1);
	sample_runs_free(&runs);
}

static void kernels_of_one_block_are_counted_and_no_run(void **state)
{
	struct sample_runs one = FIND({0}, {0.6, 1, 1}, {1}, {1}, {1, 1, 1}, {0.2}, {0});
	struct sample_runs two = FIND({0}, {2, 2, 2}, {2}, {2}, {0}); /* beside each other */

	(void)state;
	assert_int_equal(one.count, 0);
	assert_int_equal(one.single_block_count, 2);
	assert_int_equal(two.count, 0);
	sample_runs_free(&one);
	sample_runs_free(&two);
}

static void a_kernel_of_two_blocks_is_a_run(void **state)
{
	struct sample_runs runs = FIND({0}, {2, 2, 1}, {2}, {2}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 4000, 2, 1);
	sample_runs_free(&runs);
}

static void what_launches_beside_a_run_does_not_prolong_it(void **state)
{
	struct sample_runs runs =
		FIND({0}, {100, 100, 1}, {100, 1, 1}, {50}, {2}, {2}, {2}, {2}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 3500, 101, 2);
	sample_runs_free(&runs);
}

static void activity_whose_launch_was_not_seen_is_no_run(void **state)
{
	struct sample_runs runs = FIND({0}, {0}, {100}, {100}, {100}, {0});

	(void)state;
	assert_int_equal(runs.count, 0);
	sample_runs_free(&runs);
}

static void one_launch_makes_one_run(void **state)
{
	/* SMs drain, and what is left flickers: the launch belongs to the run before */
	struct sample_runs runs = FIND({0}, {100, 100, 1}, {0}, {5}, {0});

	(void)state;
	assert_int_equal(runs.count, 1);
	expect_run(&runs, 0, 1000, 2000, 100, 1);
	sample_runs_free(&runs);
}

static void a_hole_between_samples_ends_a_run(void **state)
{
	static const seen before[] = {{0}, {100, 100, 1}, {100}};
	static const seen after[] = {{100, 70, 1}, {100}, {0}};
	struct builder *b = device_new();
	struct sample_runs runs;

	(void)state;
	add_samples(b, 0, before, 3);
	add_samples(b, 5000, after, 3);
	runs = find(b);
	assert_int_equal(runs.count, 2);
	expect_run(&runs, 0, 1000, 3000, 100, 1);
	expect_run(&runs, 1, 5000, 7000, 70, 1);
	sample_runs_free(&runs);
}

static void a_launch_before_a_hole_says_nothing_of_what_is_active_behind_it(void **state)
{
	static const seen before[] = {{0}, {0, 100, 1}};
	static const seen after[] = {{100}, {100}, {0}};
	struct builder *b = device_new();
	struct sample_runs runs;

	(void)state;
	add_samples(b, 0, before, 2);
	add_samples(b, 9000, after, 3);
	runs = find(b);
	assert_int_equal(runs.count, 0);
	sample_runs_free(&runs);
}

static void without_activity_of_the_sms_there_are_no_runs(void **state)
{
	static const seen saw[] = {{0}, {100, 100, 1}, {100}, {0}};
	struct builder *b = device_new();
	struct sample_runs runs;

	(void)state;
	b->devices[0].sampled = 1u << SAMPLED_blocks;
	add_samples(b, 0, saw, 4);
	runs = find(b);
	assert_int_equal(runs.count, 0);
	sample_runs_free(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_and_last_samples_are_divided_by_how_active_they_are),
		cmocka_unit_test(a_run_within_one_sample_has_its_length),
		cmocka_unit_test(two_kernels_with_a_dip_between_them_are_two_runs),
		cmocka_unit_test(a_dip_in_which_nothing_was_launched_is_no_end),
		cmocka_unit_test(a_launch_with_no_dip_is_no_end),
		cmocka_unit_test(
			blocks_that_were_launched_at_the_end_of_the_sample_before_are_the_runs),
		cmocka_unit_test(kernels_of_one_block_are_counted_and_no_run),
		cmocka_unit_test(a_kernel_of_two_blocks_is_a_run),
		cmocka_unit_test(what_launches_beside_a_run_does_not_prolong_it),
		cmocka_unit_test(activity_whose_launch_was_not_seen_is_no_run),
		cmocka_unit_test(one_launch_makes_one_run),
		cmocka_unit_test(a_hole_between_samples_ends_a_run),
		cmocka_unit_test(a_launch_before_a_hole_says_nothing_of_what_is_active_behind_it),
		cmocka_unit_test(without_activity_of_the_sms_there_are_no_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
