/* test_tune_launch.c - what follows for other points from the launches of trials, and what is not tried for that. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tune/results.h"
#include "tune/session.h"

static const struct profile_device h200 = {.compute_major = 9,
					   .sm_count = 132,
					   .max_warps_per_sm = 64,
					   .max_blocks_per_sm = 32,
					   .max_registers_per_sm = 65536,
					   .max_shared_bytes_per_sm = 233472};

static void open_space(struct tune_space *space, const char *first, const char *second)
{
	struct err err = {""};

	*space = (struct tune_space){0};
	assert_int_equal(tune_space_add(space, first, &err), 0);
	assert_int_equal(tune_space_add(space, second, &err), 0);
	assert_int_equal(tune_space_close(space, NULL, 0, &err), 0);
}

static double number(const struct tune_space *space, size_t point, size_t parameter)
{
	return strtod(tune_space_value(space, point, parameter), NULL);
}

/* A block of {block} threads, a grid of (4096 / {tile}) squared, tile x tile floats of shared memory. */
static struct tune_launch launch_at(const struct tune_space *space, size_t point)
{
	double tile = number(space, point, 1);
	struct tune_launch launch = {.threads = number(space, point, 0),
				     .blocks = 4096 / tile * 4096 / tile,
				     .registers = 32,
				     .static_shared_bytes = tile * tile * 4};

	tune_launch_fill(&launch, &h200);
	return launch;
}

static void try_points(struct tune_history *history, const struct tune_space *space, size_t count)
{
	assert_int_equal(tune_history_open(history, space, false), 0);
	for (size_t i = 0; i < count; i++) {
		struct tune_trial trial = {.point = i * 3 % space->point_count, .value = 1};

		trial.launch = launch_at(space, trial.point);
		assert_int_equal(tune_history_add(history, &trial), 0);
	}
}

static void launches_of_all_points_follow_from_a_few(void **state)
{
	struct tune_launches launches;
	struct tune_history history;
	struct tune_space space;

	(void)state;
	open_space(&space, "block=64..1024:x2", "tile=8..64:x2");
	try_points(&history, &space, 5);
	assert_int_equal(tune_launches_predict(&launches, &history, &h200), 0);
	assert_non_null(launches.points);
	assert_true(launches.is_exact);
	for (size_t i = 0; i < space.point_count; i++) {
		struct tune_launch expected = launch_at(&space, i);

		assert_float_equal(launches.points[i].threads, expected.threads, 0.1);
		assert_float_equal(launches.points[i].static_shared_bytes,
				   expected.static_shared_bytes, 1);
		assert_float_equal(launches.points[i].occupancy, expected.occupancy, 1e-3);
		assert_float_equal(launches.points[i].waves, expected.waves, 0.01 * expected.waves);
	}
	tune_launches_free(&launches);
	tune_history_free(&history);
	tune_space_free(&space);
}

/* Threads are the same everywhere, and rows were not changed yet: nothing says that they do not depend on them. */
static void what_did_not_change_tells_nothing(void **state)
{
	struct tune_launches launches;
	struct tune_history history;
	struct tune_space space;

	(void)state;
	open_space(&space, "rows=2,4,8", "tile=8..64:x2");
	assert_int_equal(tune_history_open(&history, &space, false), 0);
	for (size_t i = 0; i < 4; i++) {
		struct tune_trial trial = {.point = i, .launch = {.threads = 1024, .blocks = 5}};

		assert_int_equal(tune_history_add(&history, &trial), 0);
	}
	assert_int_equal(tune_launches_predict(&launches, &history, &h200), 0);
	assert_null(launches.points);
	tune_launches_free(&launches);
	tune_history_free(&history);
	tune_space_free(&space);
}

/* Shared memory that only some points have is no product: nothing is left out for it. */
static void what_only_some_have_is_not_exact(void **state)
{
	struct tune_launches launches;
	struct tune_history history;
	struct tune_space space;

	(void)state;
	open_space(&space, "block=64..1024:x2", "tile=8..64:x2");
	try_points(&history, &space, 6);
	history.trials[2].launch.static_shared_bytes = 0;
	assert_int_equal(tune_launches_predict(&launches, &history, &h200), 0);
	assert_false(launches.is_exact);
	tune_launches_free(&launches);
	tune_history_free(&history);
	tune_space_free(&space);
}

/* A text may change anything: only its values that were tried are known. */
static void texts_that_were_not_tried_tell_nothing(void **state)
{
	struct tune_launches launches;
	struct tune_history history;
	struct tune_space space;

	(void)state;
	open_space(&space, "layout=row,column", "tile=8..64:x2");
	assert_int_equal(tune_history_open(&history, &space, false), 0);
	for (size_t i = 0; i < 4; i++) {
		struct tune_trial trial = {.point = i, .launch = {.threads = 256, .blocks = 5}};

		assert_int_equal(tune_history_add(&history, &trial), 0);
	}
	assert_int_equal(tune_launches_predict(&launches, &history, &h200), 0);
	assert_non_null(launches.points);
	assert_float_equal(launches.points[3].threads, 256, 0.01);
	assert_float_equal(launches.points[4].threads, 0, 0);
	tune_launches_free(&launches);
	tune_history_free(&history);
	tune_space_free(&space);
}

static void too_few_trials_tell_nothing_of_other_points(void **state)
{
	struct tune_launches launches;
	struct tune_history history;
	struct tune_space space;

	(void)state;
	open_space(&space, "block=64..1024:x2", "tile=8..64:x2");
	try_points(&history, &space, 3);
	assert_int_equal(tune_launches_predict(&launches, &history, &h200), 0);
	assert_null(launches.points);
	tune_launches_free(&launches);
	tune_history_free(&history);
	tune_space_free(&space);
}

static int measure(void *context, unsigned int round, struct tune_trial *trial, double *seconds,
		   struct err *err)
{
	const struct tune_space *space = context;

	(void)round, (void)err;
	*seconds = 1;
	trial->launch = launch_at(space, trial->point);
	trial->value = 1 + fabs(number(space, trial->point, 0) - 512);
	trial->status = TUNE_OK;
	if (tune_launch_why_impossible(&trial->launch, &h200)) {
		trial->status = TUNE_FAILED;
		trial->launch = (struct tune_launch){0};
	}
	return 0;
}

static void what_the_gpu_cannot_launch_is_not_tried_once_that_is_known(void **state)
{
	struct tune_settings settings = {.search = tune_search_find("exhaustive"),
					 .most_trials = 1000,
					 .first_point = TUNE_NO_POINT,
					 .device = &h200};
	struct tune_session session;
	struct tune_space space;
	struct err err = {""};

	(void)state;
	open_space(&space, "block=256..4096:x2", "tile=8..256:x2");
	assert_int_equal(tune_session_run(&session, &space, false, &settings, measure, &space,
					  &err),
			 0);
	/* The tile of 256 x 256 floats with any block, and all blocks of 2,048 and 4,096 threads, but for those that were
	 * tried before it was known: the first tile, and the first of these blocks. */
	assert_true(session.impossible_count >= 2 * 5);
	assert_true(session.impossible_count <= 2 * 6 + 3);
	assert_int_equal(session.history.count, space.point_count - session.impossible_count);
	assert_non_null(session.why_impossible);
	tune_session_free(&session);
	tune_space_free(&space);
}

static void a_launch_without_limits_of_the_gpu_is_taken_as_possible(void **state)
{
	struct tune_launch large = {.threads = 1024, .static_shared_bytes = 1e6};

	(void)state;
	assert_null(tune_launch_why_impossible(&large, NULL));
	assert_non_null(tune_launch_why_impossible(&large, &h200));
	large.threads = 1025;
	assert_non_null(tune_launch_why_impossible(&large, NULL));
}

static void results_are_read_as_they_were_written(void **state)
{
	char folder[] = "/tmp/test_tune-XXXXXX", path[64];
	struct tune_results results;
	struct tune_space space;
	struct err err = {""};
	FILE *file;
	struct tune_result result = {.objective = "kernel:a \"quoted\" one",
				     .fingerprint = 0xfedcba9876543210,
				     .session = 3,
				     .search = "model",
				     .seed = 7,
				     .trial = 2,
				     .seconds = 0.5,
				     .least_value = 12,
				     .device = h200,
				     .outcome = {.point = 5, .value = 0.125}};

	(void)state;
	open_space(&space, "block=64,128", "name=x,\"y\",z");
	result.outcome.launch = (struct tune_launch){.threads = 64, .waves = 1.5};
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/" TUNE_RESULTS_FILE, folder);
	assert_false(tune_results_are_there(folder));
	file = fopen(path, "w");
	assert_int_equal(tune_results_write(file, &result, &space), 0);
	result.outcome.status = TUNE_TIMED_OUT;
	assert_int_equal(tune_results_write(file, &result, &space), 0);
	fputs("{\"status\":\"ok\"}\nno JSON\n{\"parameters\":{},\"status\":\"ok\"}", file);
	fclose(file);
	assert_true(tune_results_are_there(folder));
	assert_int_equal(tune_results_read(&results, folder, &err), 0);
	assert_int_equal(results.count, 2);
	assert_int_equal(results.unreadable_count, 3);
	assert_string_equal(results.items[0].point, "block=128 name=z");
	assert_string_equal(results.items[0].objective, result.objective);
	assert_true(results.items[0].fingerprint == result.fingerprint);
	assert_int_equal(results.items[0].session, 3);
	assert_float_equal(results.items[0].outcome.value, 0.125, 0);
	assert_float_equal(results.items[0].outcome.launch.waves, 1.5, 0);
	assert_float_equal(results.items[0].least_value, 12, 0);
	assert_int_equal(results.items[0].device.max_shared_bytes_per_sm, 233472);
	assert_int_equal(results.items[1].outcome.status, TUNE_TIMED_OUT);
	tune_results_free(&results);
	tune_space_free(&space);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_of_all_points_follow_from_a_few),
		cmocka_unit_test(what_did_not_change_tells_nothing),
		cmocka_unit_test(what_only_some_have_is_not_exact),
		cmocka_unit_test(texts_that_were_not_tried_tell_nothing),
		cmocka_unit_test(too_few_trials_tell_nothing_of_other_points),
		cmocka_unit_test(what_the_gpu_cannot_launch_is_not_tried_once_that_is_known),
		cmocka_unit_test(a_launch_without_limits_of_the_gpu_is_taken_as_possible),
		cmocka_unit_test(results_are_read_as_they_were_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
