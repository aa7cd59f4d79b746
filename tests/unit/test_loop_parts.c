#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "whatif/loop_parts.h"

#define ITERATIONS 12
#define CALLS \
	4 /* of an iteration: two that submit an operation each, one that does nothing, a wait */
#define FIRST 5 /* calls before the loop */
#define CALL_COUNT (FIRST + CALLS * ITERATIONS)

/* A loop, and what may be changed of it: everything, as yet. */
struct trial {
	uint32_t iterations[ITERATIONS + 1];
	struct submissions submissions;
	uint8_t taken_by[CALL_COUNT];
	struct place places[4];
	struct loop loop;
	struct loop_limits loop_limits;
};

static void begin(struct trial *trial)
{
	*trial = (struct trial){.loop = {.thread = 3,
					 .first_call = FIRST,
					 .call_count = (size_t)CALLS * ITERATIONS,
					 .iteration_count = ITERATIONS,
					 .period = 2,
					 .shape = 7}};
	for (uint32_t i = 0; i <= ITERATIONS; i++)
		trial->iterations[i] = FIRST + CALLS * i;
	assert_int_equal(near_numbers_open(&trial->submissions.firsts, CALL_COUNT + 1), 0);
	for (uint32_t i = 0, first = 0; i <= CALL_COUNT; i++) {
		assert_int_equal(near_numbers_set(&trial->submissions.firsts, i, first), 0);
		first += i >= FIRST && (i - FIRST) % CALLS < 2;
	}
	trial->loop.iterations = trial->iterations;
	trial->loop_limits = (struct loop_limits){.submissions = &trial->submissions,
						  .taken_by = trial->taken_by,
						  .kept_count = 1};
}

static void add_place(struct trial *trial, size_t first, size_t end)
{
	trial->places[trial->loop_limits.place_count++] = (struct place){first, end};
	trial->loop_limits.places = trial->places;
}

static size_t call_of(size_t iteration)
{
	return FIRST + CALLS * iteration;
}

/* The next cut is iterations [first, end). */
static void expect_cut(const struct trial *trial, size_t *next, size_t first, size_t end)
{
	struct loop part_of_loop;

	assert_true(loop_parts_next(&part_of_loop, next, &trial->loop, &trial->loop_limits));
	assert_int_equal(part_of_loop.first_call, call_of(first));
	assert_int_equal(part_of_loop.iteration_count, end - first);
	assert_int_equal(part_of_loop.call_count, CALLS * (end - first));
	assert_ptr_equal(part_of_loop.iterations, trial->iterations + first);
	assert_int_equal(part_of_loop.thread, trial->loop.thread);
	assert_int_equal(part_of_loop.period, trial->loop.period);
	assert_int_equal(part_of_loop.shape, trial->loop.shape);
}

static void expect_end(const struct trial *trial, size_t next)
{
	struct loop part_of_loop;

	assert_false(loop_parts_next(&part_of_loop, &next, &trial->loop, &trial->loop_limits));
}

static void test_everywhere(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	expect_cut(&trial, &next, 1, ITERATIONS);
	expect_end(&trial, next);
	trial.loop_limits.kept_count = 0; /* it ran before */
	next = 0;
	expect_cut(&trial, &next, 0, ITERATIONS);
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

static void test_occurrences(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	add_place(&trial, call_of(0), call_of(3));
	add_place(&trial, call_of(4), call_of(6));
	add_place(&trial, call_of(9), call_of(ITERATIONS) + 100);
	expect_cut(&trial, &next, 1, 3); /* without the loop's first one */
	expect_cut(&trial, &next, 4, 6); /* with its own: code is loaded, and caches are warm */
	expect_cut(&trial, &next, 9, ITERATIONS);
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

static void test_part_of_iteration(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	add_place(&trial, call_of(2) + 1,
		  call_of(6) + 1); /* half of the third and of the seventh */
	expect_cut(&trial, &next, 3, 6);
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

/* As where a range is around what each iteration launches, and the host waits behind it. */
static void test_wait_outside(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	for (size_t i = 3; i < 6; i++)
		add_place(&trial, call_of(i), call_of(i) + 2);
	expect_cut(&trial, &next, 3, 6);
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

static void test_single(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	add_place(&trial, call_of(0), call_of(2)); /* the loop's first one, and another */
	add_place(&trial, call_of(3), call_of(4));
	add_place(&trial, call_of(6), call_of(8));
	add_place(&trial, call_of(ITERATIONS - 1), call_of(ITERATIONS));
	expect_cut(&trial, &next, 6, 8);
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

static void test_elsewhere(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial);
	add_place(&trial, 0, FIRST);
	add_place(&trial, CALL_COUNT, CALL_COUNT + 10);
	expect_end(&trial, 0);
	submissions_free(&trial.submissions);
	begin(&trial);
	trial.loop_limits.places = trial.places; /* of a range in which nothing is called */
	expect_end(&trial, 0);
	submissions_free(&trial.submissions);
}

static void test_taken(void **state)
{
	struct trial trial;
	size_t next = 0;

	(void)state;
	begin(&trial);
	memset(trial.taken_by + call_of(4), 1, (size_t)CALLS * 3);
	expect_cut(&trial, &next, 1, 4);
	expect_cut(&trial, &next, 7, ITERATIONS);
	expect_end(&trial, next);
	add_place(&trial, call_of(3), call_of(9));
	next = 0;
	expect_cut(&trial, &next, 7, 9); /* of what is left there, one alone is no loop */
	expect_end(&trial, next);
	submissions_free(&trial.submissions);
}

static void test_merge(void **state)
{
	struct place places[] = {{40, 50}, {0, 20}, {5, 10}, {20, 25}, {15, 30}, {45, 60}};

	(void)state;
	assert_int_equal(places_merge(places, 6), 2);
	assert_int_equal(places[0].first, 0);
	assert_int_equal(places[0].end, 30);
	assert_int_equal(places[1].first, 40);
	assert_int_equal(places[1].end, 60);
	assert_int_equal(places_merge(NULL, 0), 0);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("everywhere is all of a loop but its first iteration", test_everywhere),
		SENTENCE("each run of iterations in occurrences of a range is a cut, with its own "
			 "first one",
			 test_occurrences),
		SENTENCE("an iteration of which a part is submitted elsewhere stays as it was",
			 test_part_of_iteration),
		SENTENCE("a range around what each iteration launches holds the loop, where the "
			 "host waits outside, too",
			 test_wait_outside),
		SENTENCE("one iteration alone is no loop", test_single),
		SENTENCE("a range elsewhere, or without a call, cuts out nothing", test_elsewhere),
		SENTENCE("what is taken parts a loop as well", test_taken),
		SENTENCE("places that have calls in common are one, neighbors are not merged "
			 "unless something spans them",
			 test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
