/*
 * test_tune_search.c - whether searches find what trying everything finds, on known functions.
 *
 * The functions are made as kernels' times are: more threads hide latency until they no longer fit, larger tiles read
 * less and leave less parallelism, the last wave of blocks is not full.  Their constants are drawn by a seed, so that
 * the best point lies anywhere.  Spaces are 80 points, as that of workloads/autotune.cu.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tune/session.h"

#define SEEDS 10
#define NEAR_BEST 1.03

/* ---- functions ---- */

struct function {
	double (*value)(const double *constants, double block, double tile, double unroll);
	double constants[5]; /* 0 to 1 */
};

/* A parabola by logarithms, its lowest point anywhere. */
static double bowl(const double *constants, double block, double tile, double unroll)
{
	double b = log2(block) - 6 - 4 * constants[0], t = log2(tile) - 3 - 3 * constants[1],
	       u = log2(unroll) - 3 * constants[2];

	return 1 + 0.1 * b * b + 0.15 * t * t + 0.05 * u * u + 0.15 * (constants[3] - 0.5) * b * t;
}

/* Each parameter has a kink where another limit takes over. */
static double kinks(const double *constants, double block, double tile, double unroll)
{
	return (2 + fabs(log2(block) - 6 - 4 * constants[0])) *
	       (3 + fabs(log2(tile) - 3 - 3 * constants[1])) *
	       (4 + fabs(log2(unroll) - 3 * constants[2]) * constants[3]);
}

/* Blocks come in waves, and the last one may be nearly empty. */
static double waves(const double *constants, double block, double tile, double unroll)
{
	double blocks = pow(512 * ceil(1 + 4 * constants[0]) / tile, 2);

	return ceil(blocks / (132 * floor(2048 / block))) * tile * tile /
		       pow(block, 0.5 + 0.5 * constants[1]) * (1 + constants[2] / unroll) +
	       0.05 * constants[3] * block;
}

/* A tile is read with its border; few warps or products in a row hide little latency. */
static double stencil(const double *constants, double block, double tile, double unroll)
{
	double border = pow((tile + 1 + 8 * constants[0]) / tile, 2);
	double warps = fmin(1, 228 * 1024 / (tile * tile * 4 + 1024) * block / 2048);
	double hidden = fmin(1, warps * unroll / (0.5 + 2 * constants[1]));

	return border / sqrt(hidden) * fmax(1, block / (tile * tile)) *
	       (1 + 0.1 * constants[2] * unroll);
}

static double (*const functions[])(const double *, double, double, double) = {bowl, kinks, waves,
									      stencil};
enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

static struct function draw_function(int which, unsigned short seed)
{
	struct function function = {.value = functions[which]};
	unsigned short random[3] = {1, 2, seed};

	for (int i = 0; i < 40; i++)
		erand48(random);
	for (int i = 0; i < 5; i++)
		function.constants[i] = erand48(random);
	return function;
}

/* ---- searching ---- */

static void open_space(struct tune_space *space)
{
	static const char *const parameters[] = {"block=64..1024:x2", "tile=8..64:x2",
						 "unroll=1..8:x2"};
	struct err err = {""};

	*space = (struct tune_space){0};
	for (int i = 0; i < 3; i++)
		assert_int_equal(tune_space_add(space, parameters[i], &err), 0);
	assert_int_equal(tune_space_close(space, NULL, 0, &err), 0);
	assert_int_equal(space->point_count, 80);
}

struct bench {
	const struct tune_space *space;
	struct function function;
	double largest_tile; /* larger ones fail */
	double noise;	     /* a value is up to so much larger, by chance */
	unsigned short random[3];
	size_t calls;
	size_t last_points[200]; /* in order */
};

static double number(const struct tune_space *space, size_t point, size_t parameter)
{
	return strtod(tune_space_value(space, point, parameter), NULL);
}

static double value_at(const struct bench *bench, size_t point)
{
	return bench->function.value(bench->function.constants, number(bench->space, point, 0),
				     number(bench->space, point, 1),
				     number(bench->space, point, 2));
}

static int measure(void *context, unsigned int round, struct tune_trial *trial, double *seconds,
		   struct err *err)
{
	struct bench *bench = context;

	(void)round;
	(void)err;
	if (bench->calls < 200)
		bench->last_points[bench->calls] = trial->point;
	bench->calls++;
	*seconds = 1;
	trial->status = TUNE_OK;
	trial->value = value_at(bench, trial->point) * (1 + bench->noise * erand48(bench->random));
	if (bench->largest_tile > 0 && number(bench->space, trial->point, 1) > bench->largest_tile)
		trial->status = TUNE_FAILED;
	return 0;
}

static double least_value(const struct bench *bench)
{
	double least = INFINITY;

	for (size_t i = 0; i < bench->space->point_count; i++)
		if (!(bench->largest_tile > 0) || number(bench->space, i, 1) <= bench->largest_tile)
			least = fmin(least, value_at(bench, i));
	return least;
}

static struct tune_settings settings_of(const char *search, uint32_t seed, size_t trials)
{
	return (struct tune_settings){.search = tune_search_find(search),
				      .seed = seed,
				      .most_trials = trials,
				      .tolerance = 0.01,
				      .first_point = TUNE_NO_POINT};
}

static void run(struct tune_session *session, struct bench *bench,
		const struct tune_settings *settings)
{
	struct err err = {""};

	bench->calls = 0;
	assert_int_equal(tune_session_run(session, bench->space, false, settings, measure, bench,
					  &err),
			 0);
}

/* How many of all functions and seeds end within 3% of the best. */
static int count_near(const char *search, size_t trials, double largest_tile)
{
	struct tune_space space;
	int near = 0;

	open_space(&space);
	for (int which = 0; which < FUNCTION_COUNT; which++)
		for (unsigned short seed = 1; seed <= SEEDS; seed++) {
			struct bench bench = {.space = &space,
					      .function = draw_function(which, seed),
					      .largest_tile = largest_tile};
			struct tune_settings settings = settings_of(search, seed, trials);
			struct tune_session session;

			run(&session, &bench, &settings);
			near += session.finalists[0].median <= NEAR_BEST * least_value(&bench);
			tune_session_free(&session);
		}
	tune_space_free(&space);
	return near;
}

/* ---- tests ---- */

/* Two parents that have nothing in common, and children of these. */
static void children_have_what_is_of_both_parents_and_of_neither(void **state)
{
	struct tune_space space;
	struct tune_history history;
	struct tune_task task = {.history = &history, .most_trials = 6};
	size_t both = 0, changed = 0;

	(void)state;
	open_space(&space);
	assert_int_equal(tune_history_open(&history, &space, false), 0);
	for (size_t i = 0; i < 5; i++) {
		size_t level = i == 0 ? 0 : 3;
		struct tune_trial trial = {.point = tune_space_find(&space, (size_t[]){level, level,
										       level}),
					   .value = i == 0 ? 1 : 2};

		assert_int_equal(tune_history_add(&history, &trial), 0);
	}
	tune_seed(&task, 1);
	for (int i = 0; i < 1000; i++) {
		size_t child = tune_search_genetic(&task), of_first = 0, of_second = 0;

		for (size_t parameter = 0; parameter < 3; parameter++) {
			size_t level = tune_space_level(&space, child, parameter);

			of_first += level == 0;
			of_second += level == 3;
		}
		both += of_first && of_second && of_first + of_second == 3;
		changed += of_first && of_second && of_first + of_second == 2;
	}
	assert_true(both > 120);
	assert_true(changed > 20);
	tune_history_free(&history);
	tune_space_free(&space);
}

static void trying_everything_finds_the_best(void **state)
{
	(void)state;
	assert_int_equal(count_near("exhaustive", 80, 0), FUNCTION_COUNT * SEEDS);
	assert_int_equal(count_near("exhaustive", 80, 16), FUNCTION_COUNT * SEEDS);
}

static void bayesian_and_model_find_it_with_15_percent_of_the_trials(void **state)
{
	(void)state;
	assert_true(count_near("bayesian", 12, 0) >= FUNCTION_COUNT * SEEDS * 9 / 10);
	assert_true(count_near("model", 12, 0) >= FUNCTION_COUNT * SEEDS * 9 / 10);
}

static void genetic_finds_it_with_30_percent_and_chance_does_not(void **state)
{
	(void)state;
	assert_true(count_near("genetic", 24, 0) >= FUNCTION_COUNT * SEEDS * 9 / 10);
	assert_true(count_near("random", 24, 0) <= FUNCTION_COUNT * SEEDS * 8 / 10);
}

/* With tiles of 32 and 64, half of the space. */
static void points_that_fail_do_not_lead_a_search_astray(void **state)
{
	(void)state;
	assert_true(count_near("bayesian", 16, 16) >= FUNCTION_COUNT * SEEDS * 3 / 4);
	assert_true(count_near("model", 16, 16) >= FUNCTION_COUNT * SEEDS * 3 / 4);
}

static void the_same_seed_tries_the_same_points(void **state)
{
	struct tune_space space;

	(void)state;
	open_space(&space);
	for (const struct tune_search_kind *kind = tune_searches; kind->name; kind++) {
		struct bench first = {.space = &space, .function = draw_function(0, 3)};
		struct bench second = first;
		struct tune_settings settings = settings_of(kind->name, 7, 20);
		struct tune_session session;

		run(&session, &first, &settings);
		tune_session_free(&session);
		run(&session, &second, &settings);
		tune_session_free(&session);
		assert_int_equal(first.calls, second.calls);
		assert_memory_equal(first.last_points, second.last_points,
				    first.calls * sizeof(*first.last_points));
	}
	tune_space_free(&space);
}

static void no_search_tries_a_point_twice_and_all_end_when_nothing_is_left(void **state)
{
	struct tune_space space;

	(void)state;
	open_space(&space);
	for (const struct tune_search_kind *kind = tune_searches; kind->name; kind++) {
		struct bench bench = {.space = &space, .function = draw_function(1, 4)};
		struct tune_settings settings = settings_of(kind->name, 1, 1000);
		struct tune_session session;
		bool is_tried[80] = {false};

		run(&session, &bench, &settings);
		assert_true(bench.calls <= 80);
		assert_true(bench.calls == 80 || !strcmp(kind->name, "model"));
		for (size_t i = 0; i < bench.calls; i++) {
			assert_false(is_tried[bench.last_points[i]]);
			is_tried[bench.last_points[i]] = true;
		}
		tune_session_free(&session);
	}
	tune_space_free(&space);
}

static void model_stops_when_nothing_can_be_better(void **state)
{
	struct tune_space space;
	struct bench bench = {.space = &space, .function = draw_function(0, 2)};
	struct tune_settings settings = settings_of("model", 1, 80);
	struct tune_session session;
	double least;

	(void)state;
	open_space(&space);
	run(&session, &bench, &settings);
	assert_int_equal(session.end, TUNE_END_DONE);
	assert_true(session.history.count < 40);
	tune_session_free(&session);
	/* The first trial that is at the roof is the last. */
	least = 0.995 * least_value(&bench);
	settings.least_value = &least;
	run(&session, &bench, &settings);
	for (size_t i = 0; i + 1 < session.history.count; i++)
		assert_true(session.history.trials[i].value > 1.01 * least);
	assert_true(session.finalists[0].median <= 1.01 * least);
	tune_session_free(&session);
	tune_space_free(&space);
}

/* That its parameters have effects of their own is an assumption: a better point may be where they do not. */
static void model_does_not_stop_while_a_point_is_better_by_the_tolerance(void **state)
{
	struct tune_space space;

	(void)state;
	open_space(&space);
	for (int which = 0; which < FUNCTION_COUNT; which++)
		for (unsigned short seed = 1; seed <= 3 * SEEDS; seed++) {
			struct bench bench = {.space = &space,
					      .function = draw_function(which, seed)};
			struct tune_settings settings = settings_of("model", seed, 24);
			struct tune_session session;

			run(&session, &bench, &settings);
			if (session.end == TUNE_END_DONE)
				assert_true(session.finalists[0].median <=
					    1.01 * least_value(&bench));
			tune_session_free(&session);
		}
	tune_space_free(&space);
}

static void a_machine_that_wavers_does_not_choose(void **state)
{
	struct tune_space space;
	struct bench bench = {.space = &space,
			      .function = draw_function(0, 1),
			      .noise = 0.02,
			      .random = {1, 2, 3}};
	struct tune_settings settings = settings_of("exhaustive", 1, 80);
	struct tune_session session;

	(void)state;
	settings.repeats = 7;
	open_space(&space);
	run(&session, &bench, &settings);
	assert_int_equal(session.rounds, 7);
	assert_true(session.finalist_count >= 2);
	assert_int_equal(bench.calls, 80 + 7 * session.finalist_count);
	/* They take turns. */
	assert_int_equal(bench.last_points[80], bench.last_points[80 + session.finalist_count]);
	assert_int_not_equal(bench.last_points[80], bench.last_points[81]);
	assert_true(session.finalists[0].median <= session.finalists[1].median);
	tune_session_free(&session);
	tune_space_free(&space);
}

static void equal_points_are_a_tie_and_different_ones_are_not(void **state)
{
	struct tune_session session = {.finalist_count = 2, .rounds = 5, .won = 5};

	(void)state;
	assert_float_equal(tune_session_chance(&session), 1 / 32.0, 1e-9);
	assert_true(tune_session_is_separated(&session));
	session.won = 4;
	assert_float_equal(tune_session_chance(&session), 6 / 32.0, 1e-9);
	assert_false(tune_session_is_separated(&session));
	session.rounds = 0;
	assert_float_equal(tune_session_chance(&session), 1, 1e-9);
	session.finalist_count = 1;
	assert_true(tune_session_is_separated(&session));
}

static void a_budget_of_seconds_ends_a_search(void **state)
{
	struct tune_space space;
	struct bench bench = {.space = &space, .function = draw_function(0, 1)};
	struct tune_settings settings = settings_of("random", 1, 80);
	struct tune_session session;

	(void)state;
	settings.most_seconds = 9.5;
	settings.repeats = 5;
	open_space(&space);
	run(&session, &bench, &settings);
	assert_int_equal(bench.calls, 10);
	assert_int_equal(session.end, TUNE_END_SECONDS);
	assert_int_equal(session.rounds, 0);
	tune_session_free(&session);
	tune_space_free(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_have_what_is_of_both_parents_and_of_neither),
		cmocka_unit_test(trying_everything_finds_the_best),
		cmocka_unit_test(bayesian_and_model_find_it_with_15_percent_of_the_trials),
		cmocka_unit_test(genetic_finds_it_with_30_percent_and_chance_does_not),
		cmocka_unit_test(points_that_fail_do_not_lead_a_search_astray),
		cmocka_unit_test(the_same_seed_tries_the_same_points),
		cmocka_unit_test(no_search_tries_a_point_twice_and_all_end_when_nothing_is_left),
		cmocka_unit_test(model_stops_when_nothing_can_be_better),
		cmocka_unit_test(model_does_not_stop_while_a_point_is_better_by_the_tolerance),
		cmocka_unit_test(a_machine_that_wavers_does_not_choose),
		cmocka_unit_test(equal_points_are_a_tie_and_different_ones_are_not),
		cmocka_unit_test(a_budget_of_seconds_ends_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
