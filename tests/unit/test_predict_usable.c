/* Whether anything can be predicted, how far an interval reaches, and what recording added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_predict.h"
#include "fixture_random.h"

static const char *why_not(struct builder *b, const struct ceilings *ceilings)
{
	struct predictor predictor;
	struct model *model = NULL;
	struct err err = {""};
	static char reason[sizeof(predictor.why_not)];

	assert_int_equal(model_build(&model, &b->profile, &err), 0);
	assert_int_equal(predictor_open(&predictor, model, ceilings, NULL), 0);
	assert_true(predictor.is_usable == !*predictor.why_not);
	memcpy(reason, predictor.why_not, sizeof(reason));
	predictor_free(&predictor);
	model_free(model);
	return reason;
}

static void test_usable(void **state)
{
	struct builder *b = predicted_loop();
	struct ceilings *measured = predicted_ceilings(0), *few = predicted_ceilings(0);

	(void)state;
	builder_finish(b);
	assert_string_equal(why_not(b, measured), "");
	assert_non_null(strstr(why_not(b, NULL), "ceilings"));
	measured->is_datasheet = true;
	assert_non_null(strstr(why_not(b, measured), "ceilings"));
	measured->is_datasheet = false;
	for (size_t i = 0; i < few->count; i++) /* one that is needed is not there */
		if (few->rows[i].id == CEILING_graph_gap)
			few->rows[i].parameter = 7;
	assert_null(ceilings_sort(few));
	assert_non_null(strstr(why_not(b, few), "ceilings"));
	b->ops[RUNS].counted = COUNTED;
	assert_string_equal(why_not(b, measured), "");
	ceilings_free(measured);
	ceilings_free(few);
	free(b);
}

/* Calls of one thread that overlap are no model of a host: their replay takes longer. */
static void test_replay_error(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct ceilings *measured = predicted_ceilings(0);

	(void)state;
	for (int i = 0; i < 10; i++)
		builder_kernel(b, 0, "k", i * 10000 + 1000, i * 10000 + 9000,
			       builder_launch(b, 0, i * 10000, i * 10000 + 10000 + (i % 2) * 9000));
	builder_finish(b);
	assert_non_null(strstr(why_not(b, measured), "% off"));
	ceilings_free(measured);
	free(b);
}

/* Launches of which every third one takes longer, and nothing in the recording says why. */
static void test_unexplained(void **state)
{
	struct builder *b = builder_new(1, 1);
	struct ceilings *measured = predicted_ceilings(0);

	(void)state;
	for (int64_t i = 0, start_ns = 0; i < 30; i++) {
		int64_t now_ns = i ? start_ns + 15000 : 0;
		start_ns = now_ns + (i % 3 ? 5000 : 14000);
		builder_kernel(b, 0, "k", start_ns, start_ns + 10000,
			       builder_launch(b, 0, now_ns, now_ns + 4000));
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000,
			     start_ns + 13000);
	}
	builder_finish(b);
	assert_non_null(strstr(why_not(b, measured), "% off the"));
	ceilings_free(measured);
	free(b);
}

/* Launches with a wait each, every 20 us.  The fourth was counted, which took most of the recorded time; one of
 * them starts later, and nothing says why. */
static struct builder *counted_loop(int64_t late_ns)
{
	static const int64_t counting_ns = 5000000;
	struct builder *b = builder_new(1, 1);

	for (int64_t i = 0, now_ns = 0; i < 30; i++) {
		int64_t longer_ns = i == 3 ? counting_ns : 0;
		int64_t start_ns = now_ns + 5000 + longer_ns + (i == 20 ? late_ns : 0);
		uint32_t call = builder_launch(b, 0, now_ns, now_ns + 4000 + longer_ns);

		if (longer_ns)
			builder_overhead(b, 0, 0, true, now_ns + 1000, now_ns + 1000 + longer_ns);
		builder_kernel(b, 0, "k", start_ns, start_ns + 10000, call)->counted =
			longer_ns ? COUNTED : NOT_COUNTED;
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now_ns + 4000 + longer_ns,
			     start_ns + 13000);
		now_ns = start_ns + 15000;
	}
	builder_signature(b, "never recorded", 1);
	builder_finish(b);
	return b;
}

/* 60 us are 1% of the recorded time and 10% of the time without counting. */
static void test_counted_error(void **state)
{
	struct ceilings *measured = predicted_ceilings(0);
	struct builder *b = counted_loop(60000);

	(void)state;
	assert_non_null(strstr(why_not(b, measured), "% off"));
	free(b);
	b = counted_loop(6000);
	assert_string_equal(why_not(b, measured), "");
	free(b);
	ceilings_free(measured);
}

/* Launches of another kernel of which none is recorded: 3 of 33 are 9.1%, 4 of 34 are 11.8%. */
static void test_unrecorded(void **state)
{
	struct ceilings *measured = predicted_ceilings(0);
	struct builder *b = counted_loop(0);
	uint32_t other = (uint32_t)b->profile.signature_count - 1;

	(void)state;
	b->signatures[0].unrecorded_count = 100; /* as long as those that are recorded */
	assert_string_equal(why_not(b, measured), "");
	b->signatures[0].unrecorded_count = 0;
	b->signatures[other].unrecorded_count = 3;
	assert_string_equal(why_not(b, measured), "");
	b->signatures[other].unrecorded_count = 4;
	assert_non_null(strstr(why_not(b, measured), "12% of the kernels were counted by"));
	b->signatures[other].unrecorded_count = 0;
	b->processes[0].is_replay = true;
	assert_non_null(strstr(why_not(b, measured), "kernels were repeated"));
	free(b);
	ceilings_free(measured);
}

static void test_untraced_share(void **state)
{
	struct builder *b = predicted_loop();
	struct ceilings *measured = predicted_ceilings(0);
	struct not_recorded untraced;

	(void)state;
	builder_range(b, 0, "run", 0, RUNS * 41000);
	builder_range(b, 0, "launches", 0, 12000);
	b->threads[0].range_count = 2;
	builder_finish(b);
	assert_int_equal(what_if_not_recorded(&untraced, &b->profile, measured, NULL, NULL), 0);
	predicted_expect_ratio(untraced.shares.part, WALL_BEFORE_NS, 11 * 41000 + 37000 - 5000);
	/* there is nothing but kernels */
	assert_float_equal(untraced.shares.kernels, untraced.shares.part, 0);
	assert_int_equal(what_if_not_recorded(&untraced, &b->profile, measured, "run", NULL), 0);
	predicted_expect_ratio(untraced.shares.part, 12 * BEFORE_NS - 1000, 11 * 41000 + 40000);
	/* what the calls of a range submit counts until it has ended */
	assert_int_equal(what_if_not_recorded(&untraced, &b->profile, measured, "launches", NULL),
			 0);
	predicted_expect_ratio(untraced.shares.part, 4250 + KERNELS_NS, 37000);
	assert_int_equal(what_if_not_recorded(&untraced, &b->profile, NULL, NULL, NULL), 0);
	assert_float_equal(untraced.shares.part, 1, 0);
	ceilings_free(measured);
	free(b);
}

/* Of an iteration recording added as much as of the run, but for the wait that ends it. */
static void test_untraced_steady(void **state)
{
	struct builder *b = predicted_loop();
	struct ceilings *measured = predicted_ceilings(0);
	struct not_recorded untraced;
	struct what_ifs all;
	struct steady_loop steady;
	struct looped_run run;

	(void)state;
	builder_finish(b);
	assert_int_equal(what_ifs_open(&all, &b->profile, measured, NULL), 0);
	run = (struct looped_run){.profile = &b->profile,
				  .submissions = &all.run.model->submissions,
				  .loops = &all.loops};
	assert_int_equal(steady_loop_find(&steady, &run, 0), 0);
	for (size_t count = 1; count <= 3; count += 2) {
		const struct steady_rows rows = {&steady, &all.loops, count};

		assert_int_equal(what_if_not_recorded(&untraced, &b->profile, measured, NULL,
						      &rows),
				 0);
		assert_int_equal(untraced.row_ns, 41000 * count);
		predicted_expect_ratio(untraced.shares.steady, BEFORE_NS, 41000);
	}
	steady_loop_free(&steady);
	what_ifs_free(&all);
	ceilings_free(measured);
	free(b);
}

static void test_empty(void **state)
{
	struct ceilings *measured = predicted_ceilings(0);
	struct not_recorded untraced = {0};

	(void)state;
	for (size_t devices = 0; devices < 2; devices++) {
		struct builder *b = builder_new(devices, devices);
		struct what_ifs all;
		struct what_if found;

		builder_finish(b);
		if (!devices)
			b->profile.devices = NULL;
		assert_int_equal(what_if_not_recorded(&untraced, &b->profile, measured, "run",
						      NULL),
				 0);
		assert_float_equal(untraced.shares.part, 1, 0);
		assert_int_equal(what_ifs_open(&all, &b->profile, measured, NULL), 0);
		assert_int_equal(what_if_alone(&found, TECHNIQUE_cuda_graph, &all, 0), 0);
		assert_string_equal(found.effect.refusal, refused_irregular);
		what_ifs_free(&all);
		free(b);
	}
	ceilings_free(measured);
}

/* All but what the only bool is padded with. */
static void expect_equal(const struct prediction *found, const struct prediction *first)
{
	const size_t padding = offsetof(struct prediction, parts.has_changed_calls) + sizeof(bool);
	const size_t behind = offsetof(struct prediction, place_margin_ns);

	assert_memory_equal(found, first, padding);
	assert_memory_equal((const char *)found + behind, (const char *)first + behind,
			    sizeof(*found) - behind);
}

/* The run before is replayed once, and an end that is not asked for not at all. */
static void expect_again(const struct predictor *predictor, const struct change *change,
			 size_t device, struct part part, const struct prediction *first,
			 double setup_ns)
{
	struct prediction found;

	assert_int_equal(predictor_run(&found, predictor, change, device, &part, setup_ns), 0);
	expect_equal(&found, first);
	part.end = INTERVAL_LOW;
	assert_int_equal(predictor_run(&found, predictor, change, device, &part, setup_ns), 0);
	assert_true(found.program.low == first->program.low);
	assert_true(found.place.low == first->place.low);
	assert_int_equal(found.place_after_ns, first->place_after_ns);
	part.end = INTERVAL_HIGH;
	assert_int_equal(predictor_run(&found, predictor, change, device, &part, setup_ns), 0);
	assert_true(found.program.high == first->program.high);
	assert_true(found.place.high == first->place.high);
	assert_int_equal(found.program_after_ns, first->program_after_ns);
}

/* Places: all of every thread, which together may take more time than the run. */
static void test_interval(void **state)
{
	struct ceilings *ceilings = predicted_ceilings(0.3);

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct builder *b = random_profile(seed, 1);
		struct place places[BUILDER_SMALL];
		struct predictor predictor;
		struct prediction found;
		struct model *model = NULL;
		struct change change;
		struct err err = {""};
		struct part part;
		size_t count = 0;

		assert_int_equal(model_build(&model, &b->profile, &err), 0);
		assert_int_equal(predictor_open(&predictor, model, ceilings, NULL), 0);
		change = random_change(seed, model, seed % 2);
		for (size_t i = 0; i < b->profile.thread_count; i++)
			if (b->threads[i].call_count)
				places[count++] = (struct place){b->threads[i].first_call,
								 b->threads[i].first_call +
									 b->threads[i].call_count};
		part = (struct part){.places = places,
				     .changed = places,
				     .place_count = count,
				     .changed_count = count};
		for (size_t device = 0; device < b->profile.device_count; device++) {
			assert_int_equal(predictor_run(&found, &predictor, &change, device, &part,
						       (double)(1000 * seed)),
					 0);
			predicted_expect_interval(&found.program, seed);
			predicted_expect_interval(&found.place, seed);
			expect_again(&predictor, &change, device, part, &found,
				     (double)(1000 * seed));
		}
		change_free(&change);
		predictor_free(&predictor);
		model_free(model);
		free(b);
	}
	ceilings_free(ceilings);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("without measured ceilings nothing is predicted, with counters it is",
			 test_usable),
		SENTENCE("where a replay is not the recording nothing is predicted",
			 test_replay_error),
		SENTENCE("nor where steps take times that nothing explains", test_unexplained),
		SENTENCE("how far a replay is off is a share of the time without counting",
			 test_counted_error),
		SENTENCE("kernels without times of their own are not predicted", test_unrecorded),
		SENTENCE("what recording added is taken off measured time", test_untraced_share),
		SENTENCE("what recording added to iterations in a row is taken out of these",
			 test_untraced_steady),
		SENTENCE("an empty recording is asked in vain", test_empty),
		SENTENCE(
			"a prediction lies in its interval, and is the same again, also one end alone",
			test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
