/* test_comparison.c - what is the same work, how much faster it became, and whether that was predicted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/compare/command_line.h"
#include "analysis/compare/comparison.h"
#include "output/verify.h"
#include "profile_builder.h"

#define HTOD 1
#define DTOH 2
#define MIB (UINT64_C(1) << 20)

/* ---- two recordings ---- */

struct pair {
	struct builder *before, *after;
	struct comparison *comparison;
	struct err err;
};

/* One kernel `step` and a copy each way: the run takes 1000 ns before and 400 ns after. */
static struct builder *run_of(const char *command, uint64_t copied_bytes, int64_t length_ns)
{
	struct builder *b = builder_new(1, 1);
	uint32_t call = builder_launch(b, 0, 10, 20);

	b->processes[0].command = command;
	builder_kernel(b, 0, "step(int)", 100, 150, call);
	if (copied_bytes) {
		builder_copy(b, 0, (struct profile_copy){.bytes = copied_bytes, .kind = HTOD}, 200,
			     210, PROFILE_NONE);
		builder_copy(b, 0, (struct profile_copy){.bytes = copied_bytes, .kind = DTOH}, 210,
			     220, PROFILE_NONE);
	}
	builder_kernel(b, 0, "finish(int)", 90 + length_ns, 100 + length_ns, PROFILE_NONE);
	return b;
}

static struct pair pair_of(struct builder *before, struct builder *after)
{
	return (struct pair){.before = before, .after = after};
}

static struct pair commands(const char *before, const char *after)
{
	return pair_of(run_of(before, MIB, 1000), run_of(after, MIB, 400));
}

static int compare(struct pair *pair, const char *range)
{
	return comparison_make(&pair->comparison, builder_finish(pair->before),
			       builder_finish(pair->after), range, &pair->err);
}

static void pair_free(struct pair *pair)
{
	comparison_free(pair->comparison);
	free(pair->before);
	free(pair->after);
}

static bool has(const struct sentences *sentences, const char *part)
{
	for (size_t i = 0; i < sentences->count; i++)
		if (strstr(sentences->items[i], part))
			return true;
	return false;
}

/* Compares, and expects the same work where part is NULL, else a difference with this part. */
static void expect(struct pair pair, const char *part)
{
	const struct sentences *differences;

	if (compare(&pair, NULL) < 0)
		fail_msg("%s", pair.err.text);
	differences = &pair.comparison->differences;
	if (!part && differences->count)
		fail_msg("not the same work: %s", differences->items[0]);
	if (part && !has(differences, part))
		fail_msg("'%s' is missing in '%s'", part,
			 differences->count ? differences->items[0] : "no difference");
	pair_free(&pair);
}

static void expect_warning(struct pair pair, const char *part)
{
	assert_int_equal(compare(&pair, NULL), 0);
	assert_true(comparison_is_sound(pair.comparison));
	if (!has(&pair.comparison->warnings, part))
		fail_msg("no warning '%s'", part);
	pair_free(&pair);
}

/* ---- the same work ---- */

static void another_variant_of_the_same_program_is_the_same_work(void **state)
{
	(void)state;
	expect(commands("./app naive", "./app graph"), NULL);
	expect(commands("bin/app --mode eager --size 4", "/opt/app --mode graph --size=4"), NULL);
	expect(commands("app --size 1000", "app --size 1e3"), NULL);
}

static void other_numbers_in_arguments_that_both_have_are_other_work(void **state)
{
	(void)state;
	expect(commands("app --iterations 10", "app --iterations 100"),
	       "--iterations 10 before, 100 after");
	expect(commands("app --size=4K", "app naive --size 8K"), "--size 4K before, 8K after");
	expect(commands("app -n10", "app -n 20"), "-n 10 before, 20 after");
	expect(commands("app -d 1 -d 2", "app -d 1 -d 3"), "-d 2 before, 3 after");
	expect(commands("app naive 256", "app graph 512"), "argument 256 before, 512 after");
}

static void numbers_that_do_not_correspond_are_not_compared(void **state)
{
	(void)state;
	expect(commands("app 4 256", "app 256"), NULL);
	expect(commands("app --input a.bin", "app --input b.bin"), NULL);
}

static void an_option_that_one_has_is_told_and_other_work_when_all_launches_grew_by_it(void **state)
{
	struct pair pair = commands("app", "app --batch 16");

	(void)state;
	expect_warning(pair, "--batch 16 after, none before");
	pair = commands("app --iterations 2", "app");
	for (int i = 0; i < 4; i++) {
		builder_kernel(pair.after, 0, "step(int)", 300 + i, 301 + i, PROFILE_NONE);
		builder_kernel(pair.after, 0, "finish(int)", 320 + i, 321 + i, PROFILE_NONE);
	}
	expect(pair, "launched 5 times as often");
}

static void one_kernel_launched_more_often_is_no_number_of_iterations(void **state)
{
	struct pair pair = commands("app", "app --unroll 4");

	(void)state;
	for (int i = 0; i < 4; i++)
		builder_kernel(pair.after, 0, "step(int)", 300 + i, 301 + i, PROFILE_NONE);
	expect(pair, NULL);
}

static void another_gpu_is_not_compared(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	pair.after->devices[0].name = (char *)"NVIDIA Other";
	expect(pair, "NVIDIA Test before, NVIDIA Other after");
}

static void fused_kernels_have_other_names_and_copies_tell_the_work(void **state)
{
	struct pair pair = commands("app", "app");
	struct pair nothing_copied = pair_of(run_of("app", 0, 1000), run_of("app", 0, 400));

	(void)state;
	pair.after->kernel_names[0] = (char *)"fused(int)";
	pair.after->kernel_names[1] = (char *)"fused_finish(int)";
	expect(pair, NULL);
	nothing_copied.after->kernel_names[0] = (char *)"fused(int)";
	nothing_copied.after->kernel_names[1] = (char *)"fused_finish(int)";
	expect(nothing_copied, "no kernel name in common");
	expect(pair_of(run_of("app", 0, 1000), run_of("app", 0, 400)), NULL);
}

static void
copies_beyond_twice_the_bytes_are_other_work_unless_launched_in_equal_shapes(void **state)
{
	struct pair pair = pair_of(run_of("app", 16 * MIB, 1000), run_of("app", 4 * MIB, 400));

	(void)state;
	for (size_t i = 0; i < pair.after->profile.signature_count; i++)
		pair.after->signatures[i].grid[0] = 4;
	expect(pair, "copied host to device: 16.0 MiB before, 4.00 MiB after");
	expect(pair_of(run_of("app", 2 * MIB, 1000), run_of("app", MIB, 400)), NULL);
	/* less in the same shapes: smaller numbers, not fewer of them */
	expect_warning(pair_of(run_of("app", 16 * MIB, 1000), run_of("app", 4 * MIB, 400)),
		       "copied device to host");
	/* flags */
	expect(pair_of(run_of("app", 4, 1000), run_of("app", 4000, 400)), NULL);
}

static void another_program_needs_a_kernel_in_common_and_the_same_copies(void **state)
{
	struct pair pair = commands("app_naive", "app_graph");

	(void)state;
	expect_warning(pair, "app_naive before, app_graph after");
	pair = commands("app", "other");
	pair.after->kernel_names[0] = (char *)"a(int)";
	pair.after->kernel_names[1] = (char *)"b(int)";
	expect(pair, "app before, other after, with no kernel name in common");
	expect(pair_of(run_of("app", 2 * MIB, 1000), run_of("other", MIB, 400)),
	       "app before, other after");
	expect(pair_of(run_of("app", 0, 1000), run_of("other", 0, 400)), "app before, other after");
	expect(commands("python3 train.py", "python3.12 -X dev -u src/train.py"), NULL);
	expect(pair_of(run_of("python3 a.py", 0, 1000), run_of("python3 b.py", 0, 400)),
	       "a.py before, b.py after");
	expect(pair_of(run_of("", 0, 1000), run_of("", 0, 400)), NULL);
	expect(pair_of(run_of("app", 0, 1000), run_of("", 0, 400)), NULL);
}

static void what_is_done_once_around_the_kernels_is_told_apart(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	builder_copy(pair.after, 0, (struct profile_copy){.bytes = 1, .kind = HTOD}, 2000, 3000,
		     PROFILE_NONE);
	assert_int_equal(compare(&pair, NULL), 0);
	assert_float_equal(pair.comparison->after.mean_ns, 3000 - 100, 0);
	comparison_kernels_without_recording(pair.comparison, 0.5, 1);
	assert_float_equal(pair.comparison->before_kernels_ns, 500, 0);
	assert_float_equal(pair.comparison->after_kernels_ns, 400, 0);
	pair_free(&pair);
}

static void times_with_counters_are_not_the_programs_own(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	pair.after->profile.metric_count = 1;
	assert_int_equal(compare(&pair, NULL), 0);
	assert_int_equal(comparison_without_recording(pair.comparison, 0.8, 0.5), 0);
	assert_true(comparison_is_sound(pair.comparison)); /* they were taken out */
	assert_int_equal(comparison_without_recording(pair.comparison, 0.8, 1), 0);
	assert_int_equal(pair.comparison->differences.count, 0);
	assert_true(has(&pair.comparison->obstacles, "hardware counters"));
	assert_false(comparison_is_sound(pair.comparison));
	pair_free(&pair);
	pair = commands("app", "app");
	pair.before->processes[0].is_replay = true;
	assert_int_equal(compare(&pair, NULL), 0);
	assert_int_equal(comparison_without_recording(pair.comparison, 1, 1), 0);
	assert_int_equal(pair.comparison->obstacles.count, 1);
	pair_free(&pair);
}

static void what_is_missing_from_a_recording_is_told(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	pair.after->processes[0].sealed_ns = 0;
	expect_warning(pair, "was cut off");
	pair = commands("app", "app");
	pair.before->processes[0].is_filtered = true;
	expect_warning(pair, "covers only the part of the run");
	pair = commands("app", "app");
	pair.before->losses[0] = (struct profile_loss){.kind = "orphan_ids", .count = 3};
	pair.before->profile.loss_count = 1;
	expect_warning(pair, "has losses (3, first: orphan_ids)");
}

/* ---- times ---- */

static void a_run_lasts_from_the_first_operation_to_the_lasts_end(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	assert_int_equal(compare(&pair, NULL), 0);
	assert_float_equal(pair.comparison->before.mean_ns, 1000, 0);
	assert_float_equal(pair.comparison->after.mean_ns, 400, 0);
	assert_float_equal(pair.comparison->measured, 2.5, 1e-9);
	assert_float_equal(pair.comparison->measured_low, pair.comparison->measured_high, 0);
	pair_free(&pair);
}

/* Two occurrences of 100 and 300 ns before, two of 50 ns after. */
static struct pair steps(void)
{
	struct pair pair = commands("app", "app");

	builder_range(pair.before, 0, "step", 2000, 2100);
	builder_range(pair.before, 0, "step", 3000, 3300);
	builder_range(pair.before, 0, "only before", 3000, 3300);
	builder_range(pair.after, 0, "step", 2000, 2050);
	builder_range(pair.after, 0, "step", 3000, 3050);
	builder_range(pair.after, 0, "check", 3500, 3600);
	builder_range(pair.before, 0, "check", 3500, 3600);
	return pair;
}

static void a_range_is_compared_by_its_mean_with_the_spread_of_occurrences(void **state)
{
	struct pair pair = steps();

	(void)state;
	assert_int_equal(compare(&pair, "step"), 0);
	assert_int_equal(pair.comparison->before.count, 2);
	assert_float_equal(pair.comparison->before.mean_ns, 200, 1e-9);
	assert_float_equal(pair.comparison->after.mean_ns, 50, 1e-9);
	assert_float_equal(pair.comparison->measured, 4, 1e-9);
	assert_float_equal(pair.comparison->measured_low, 2, 1e-9);
	assert_float_equal(pair.comparison->measured_high, 6, 1e-9);
	pair_free(&pair);
}

static void a_range_lasts_until_its_work_has_ended_and_one_follows_the_other(void **state)
{
	struct pair pair = steps();
	uint32_t first = builder_launch(pair.before, 0, 2010, 2020);
	uint32_t second = builder_launch(pair.before, 0, 3010, 3020);

	(void)state;
	/* the first occurrence ends at 3200, within the second, which ends at 3500 */
	builder_kernel(pair.before, 0, "step(int)", 2100, 3200, first);
	builder_kernel(pair.before, 0, "step(int)", 3200, 3500, second);
	assert_int_equal(compare(&pair, "step"), 0);
	assert_int_equal(pair.comparison->before.max_ns, 1200);
	assert_int_equal(pair.comparison->before.min_ns, 300);
	pair_free(&pair);
}

static void a_range_that_one_has_not_is_told_with_those_that_both_have(void **state)
{
	struct pair pair = steps();

	(void)state;
	assert_int_equal(compare(&pair, "only before"), -ENOENT);
	assert_non_null(
		strstr(pair.err.text, "no NVTX range 'only before'; both have: step, check"));
	pair_free(&pair);
	pair = commands("app", "app");
	assert_int_equal(compare(&pair, "step"), -ENOENT);
	assert_non_null(strstr(pair.err.text, "no range occurs in both"));
	pair_free(&pair);
}

static void a_long_list_of_ranges_ends_in_dots(void **state)
{
	struct pair pair = commands("app", "app");
	static char names[200][24];

	(void)state;
	for (int i = 0; i < 200; i++) {
		snprintf(names[i], sizeof(names[i]), "range %d", i);
		builder_range(pair.before, 0, names[i], i, i + 1);
		builder_range(pair.after, 0, names[i], i, i + 1);
	}
	assert_int_equal(compare(&pair, "other"), -ENOENT);
	assert_non_null(strstr(pair.err.text, "range 0, range 1, "));
	assert_string_equal(pair.err.text + strlen(pair.err.text) - 5, ", ...");
	assert_null(strstr(pair.err.text, "..., ..."));
	pair_free(&pair);
}

static void a_range_of_no_time_has_no_speedup(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	builder_range(pair.before, 0, "step", 2000, 2100);
	builder_range(pair.after, 0, "step", 2000, 2000);
	assert_int_equal(compare(&pair, "step"), 0);
	assert_float_equal(pair.comparison->measured, 0, 0);
	comparison_predict(pair.comparison, "id", "strategy", 2, 1, 3);
	assert_false(comparison_is_judged(pair.comparison));
	pair_free(&pair);
}

static void a_recording_without_operations_is_nothing_to_compare(void **state)
{
	struct pair pair = pair_of(run_of("app", 0, 1000), builder_new(1, 1));

	(void)state;
	assert_int_equal(compare(&pair, NULL), -ENODATA);
	assert_non_null(strstr(pair.err.text, "no GPU operation"));
	pair_free(&pair);
}

/* ---- the prediction ---- */

static void expect_judgement(double predicted, double low, double high, double error_ratio,
			     bool is_inside)
{
	struct pair pair = commands("app", "app"); /* measured: 2.5 */

	assert_int_equal(compare(&pair, NULL), 0);
	comparison_predict(pair.comparison, "id", "strategy", predicted, low, high);
	assert_true(comparison_is_judged(pair.comparison));
	assert_float_equal(pair.comparison->error_ratio, error_ratio, 1e-9);
	assert_int_equal(pair.comparison->is_inside, is_inside);
	pair_free(&pair);
}

static void a_prediction_has_an_error_and_lies_inside_or_not(void **state)
{
	(void)state;
	expect_judgement(3, 2, 4, 0.2, true);
	expect_judgement(2, 1.5, 2.5, -0.2, true);
	expect_judgement(2, 1.5, 2.4, -0.2, false);
	expect_judgement(5, 2.6, 6, 1, false);
}

/* ---- what repeats ---- */

static void expect_rows(struct compared_side before, struct compared_side after,
			uint64_t before_count, uint64_t after_count)
{
	comparison_match_rows(&before, &after);
	assert_int_equal(before.row_count, before_count);
	assert_int_equal(after.row_count, after_count);
}

static void iterations_that_do_the_same_work_are_found_by_how_many_there_are(void **state)
{
	const struct compared_side few = {.count = 120, .run_count = 6};

	(void)state;
	expect_rows(few, few, 1, 1);
	/* a loop that is found in pieces loses some */
	expect_rows((struct compared_side){.count = 110, .run_count = 6}, few, 1, 1);
	expect_rows((struct compared_side){.count = 100, .run_count = 6}, few, 0, 0);
	expect_rows((struct compared_side){.count = 960, .run_count = 6}, few, 8, 1);
	expect_rows(few, (struct compared_side){.count = 960, .run_count = 6}, 1, 8);
	expect_rows((struct compared_side){.count = 1104, .run_count = 6}, few, 0, 0);
	/* the whole loop is one of its iterations */
	expect_rows((struct compared_side){.count = 960, .run_count = 120}, few, 0, 0);
	expect_rows((struct compared_side){0}, few, 0, 0);
}

/* 30 us before and 10 us after, of which recording added a tenth and a half: 5.4 times as fast. */
static void compare_steady(struct pair *pair)
{
	struct compared_side before = {.count = 600, .run_count = 1, .row_ns = 30000, .share = 0.9};
	struct compared_side after = {.count = 600, .run_count = 1, .row_ns = 10000, .share = 0.5};

	assert_int_equal(compare(pair, NULL), 0);
	comparison_match_rows(&before, &after);
	comparison_add_steady(pair->comparison, &before, &after);
}

static void what_repeats_is_compared_beside_the_run(void **state)
{
	struct pair pair = commands("app", "app"); /* the run: 2.5 */
	const struct compared_speedup *speedup;

	(void)state;
	compare_steady(&pair);
	speedup = &pair.comparison->steady.speedup;
	assert_float_equal(speedup->measured, 5.4, 1e-9);
	comparison_predict_steady(pair.comparison, 0, 0, 0);
	assert_false(comparison_is_steady_judged(pair.comparison));
	comparison_predict_steady(pair.comparison, 5, 4, 6);
	assert_true(comparison_is_steady_judged(pair.comparison));
	assert_float_equal(speedup->error_ratio, -0.4 / 5.4, 1e-9);
	assert_true(speedup->is_inside);
	assert_float_equal(pair.comparison->measured, 2.5, 1e-9);
	pair_free(&pair);
}

static void a_prediction_is_judged_by_what_it_is_about(void **state)
{
	struct pair pair = commands("app", "app");
	struct comparison *comparison;

	(void)state;
	compare_steady(&pair);
	comparison = pair.comparison;
	comparison->is_about_steady = true;
	assert_false(comparison_can_judge(comparison));
	comparison_predict(comparison, "id", "strategy", 1.1, 1, 1.2);
	assert_true(comparison_can_judge(
		comparison)); /* by the run: nothing of what repeats is predicted */
	assert_false(comparison_is_met(comparison));
	comparison_predict_steady(comparison, 5, 4, 6);
	assert_true(comparison_is_met(comparison));
	comparison->is_about_steady = false;
	assert_false(comparison_is_met(comparison));
	pair_free(&pair);
}

/* What a writer wrote; the caller frees it. */
static char *written(verify_writer write, const struct comparison *comparison)
{
	const struct output_options options = {0};
	struct err err = {""};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(write(comparison, out, &options, &err), 0);
	fclose(out);
	return text;
}

static void expect_text(const struct comparison *comparison, const char *part)
{
	char *text = written(verify_write_text, comparison);

	if (!strstr(text, part))
		fail_msg("'%s' is missing in:\n%s", part, text);
	free(text);
}

static void the_text_has_speedups_interval_and_error(void **state)
{
	struct pair pair = commands("app", "app");

	(void)state;
	assert_int_equal(compare(&pair, NULL), 0);
	expect_text(pair.comparison, "predicted          -  no prediction: no advice");
	comparison_predict(pair.comparison, "an_id", "graph", 0, 0, 0);
	expect_text(pair.comparison, "no prediction of graph (an_id)");
	comparison_predict(pair.comparison, "an_id", "graph", 3, 2, 4);
	expect_text(pair.comparison, "measured       2.50x\n");
	expect_text(pair.comparison, "predicted      3.00x  2.00x to 4.00x by graph (an_id)\n");
	expect_text(pair.comparison, "error         +20.0%");
	expect_text(pair.comparison, "lies inside the interval");
	comparison_predict(pair.comparison, "an_id", "graph", 5, 4, 6);
	expect_text(pair.comparison, "lies outside the interval");
	pair_free(&pair);
}

static void the_text_tells_what_repeats_and_what_is_judged(void **state)
{
	struct pair pair = commands("app", "app");
	struct comparison *comparison;

	(void)state;
	compare_steady(&pair);
	comparison = pair.comparison;
	comparison_predict(comparison, "an_id", "graph", 1.1, 1, 1.2);
	comparison_predict_steady(comparison, 5, 4, 6);
	expect_text(comparison,
		    "Steady state  (what repeats)\n"
		    "  before       30.0 us  an iteration, the median of 600\n"
		    "  after        10.0 us  an iteration, the median of 600\n"
		    "  measured       5.40x\n"
		    "                        without what recording added: 10.0% of before, "
		    "50.0% of after\n"
		    "  predicted      5.00x  4.00x to 6.00x by graph (an_id)\n"
		    "  error          -7.4%  of the measured speedup, which lies inside");
	comparison->is_about_steady = true;
	expect_text(comparison, "Steady state  (what repeats; the advice is judged by it)\n");
	comparison->is_up_to = true; /* nobody knows what operations need of each other */
	expect_text(comparison, "predicted      4.00x  up to 5.00x, 4.00x to 6.00x by graph");
	comparison->steady.before.row_count = 8;
	expect_text(comparison, "30.0 us  8 iterations in a row, the median of 600\n");
	comparison->steady.speedup.measured = 0;
	expect_text(comparison, "Steady state  (what repeats)\n");
	expect_text(comparison,
		    "measured           -  other iterations than before: the run is judged");
	pair_free(&pair);
}

static void json_has_every_figure(void **state)
{
	struct pair pair = commands("app --size 1", "app --size 2");
	char *text;
	json_t *root;

	(void)state;
	assert_int_equal(compare(&pair, NULL), 0);
	comparison_predict(pair.comparison, "an_id", "graph", 3, 2, 4);
	text = written(verify_write_json, pair.comparison);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_float_equal(json_real_value(json_object_get(root, "predicted")), 3, 0);
	assert_float_equal(json_real_value(json_object_get(root, "low")), 2, 0);
	assert_float_equal(json_real_value(json_object_get(root, "high")), 4, 0);
	assert_float_equal(json_real_value(json_object_get(root, "measured")), 2.5, 1e-9);
	assert_float_equal(json_real_value(json_object_get(root, "error")), 0.2, 1e-9);
	assert_true(json_is_true(json_object_get(root, "is_inside")));
	assert_true(json_is_false(json_object_get(root, "is_same_work")));
	assert_true(json_is_null(json_object_get(root, "range")));
	assert_int_equal(json_array_size(json_object_get(root, "differences")), 1);
	assert_string_equal(json_string_value(json_object_get(root, "judged")), "run");
	assert_true(json_is_null(json_object_get(json_object_get(root, "steady"), "before_ns")));
	json_decref(root);
	free(text);
	pair_free(&pair);
}

/* ---- commands ---- */

static void a_command_is_taken_apart(void **state)
{
	struct command_line command;

	(void)state;
	assert_int_equal(command_line_parse(&command,
					    "/opt/bin/app  naive --size=4 -v --n -3 -x5 -- last "),
			 0);
	assert_string_equal(command.program, "app");
	assert_int_equal(command.count, 6);
	assert_null(command.arguments[0].name);
	assert_string_equal(command.arguments[0].value, "naive");
	assert_int_equal(command.arguments[1].name_length, 6);
	assert_string_equal(command.arguments[1].value, "4");
	assert_null(command.arguments[2].value);
	assert_string_equal(command.arguments[3].value, "-3");
	assert_int_equal(command.arguments[4].name_length, 2);
	assert_string_equal(command.arguments[4].value, "5");
	command_line_free(&command);
	assert_int_equal(command_line_parse(&command, ""), 0);
	assert_string_equal(command.program, "");
	assert_int_equal(command.count, 0);
	command_line_free(&command);
}

static void expect_program(const char *text, const char *program)
{
	struct command_line command;

	assert_int_equal(command_line_parse(&command, text), 0);
	assert_string_equal(command.program, program);
	command_line_free(&command);
}

static void of_an_interpreter_the_script_is_the_program(void **state)
{
	(void)state;
	expect_program("python3 -u src/train.py --size 3", "train.py");
	expect_program("/usr/bin/python3.12 -m torch.bench", "torch.bench");
	expect_program("python -c print(1)", "python");
	expect_program("python", "python");
	expect_program("shader naive", "shader");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_variant_of_the_same_program_is_the_same_work),
		cmocka_unit_test(other_numbers_in_arguments_that_both_have_are_other_work),
		cmocka_unit_test(numbers_that_do_not_correspond_are_not_compared),
		cmocka_unit_test(
			an_option_that_one_has_is_told_and_other_work_when_all_launches_grew_by_it),
		cmocka_unit_test(one_kernel_launched_more_often_is_no_number_of_iterations),
		cmocka_unit_test(another_gpu_is_not_compared),
		cmocka_unit_test(fused_kernels_have_other_names_and_copies_tell_the_work),
		cmocka_unit_test(
			copies_beyond_twice_the_bytes_are_other_work_unless_launched_in_equal_shapes),
		cmocka_unit_test(another_program_needs_a_kernel_in_common_and_the_same_copies),
		cmocka_unit_test(what_is_done_once_around_the_kernels_is_told_apart),
		cmocka_unit_test(times_with_counters_are_not_the_programs_own),
		cmocka_unit_test(what_is_missing_from_a_recording_is_told),
		cmocka_unit_test(a_run_lasts_from_the_first_operation_to_the_lasts_end),
		cmocka_unit_test(a_range_is_compared_by_its_mean_with_the_spread_of_occurrences),
		cmocka_unit_test(a_range_lasts_until_its_work_has_ended_and_one_follows_the_other),
		cmocka_unit_test(a_range_that_one_has_not_is_told_with_those_that_both_have),
		cmocka_unit_test(a_long_list_of_ranges_ends_in_dots),
		cmocka_unit_test(a_range_of_no_time_has_no_speedup),
		cmocka_unit_test(a_recording_without_operations_is_nothing_to_compare),
		cmocka_unit_test(a_prediction_has_an_error_and_lies_inside_or_not),
		cmocka_unit_test(iterations_that_do_the_same_work_are_found_by_how_many_there_are),
		cmocka_unit_test(what_repeats_is_compared_beside_the_run),
		cmocka_unit_test(a_prediction_is_judged_by_what_it_is_about),
		cmocka_unit_test(the_text_tells_what_repeats_and_what_is_judged),
		cmocka_unit_test(the_text_has_speedups_interval_and_error),
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(a_command_is_taken_apart),
		cmocka_unit_test(of_an_interpreter_the_script_is_the_program),
	};

	return cmocka_run_group_tests_name("comparison", tests, NULL, NULL);
}
