/*
 * What a recording holds may be any number of anything: no answer takes steps that grow with its square.
 *
 * Steps are basic blocks that run: in the build with SANITIZE=clang the compiler has each call the function below (BLOCKS
 * in the Makefile).  The clock is not asked.  In other builds nothing is counted, and the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/advice.h"
#include "analysis/report.h"
#include "fixture.h"
#include "output/outputs.h"
#include "trace/samples.h"

/* Of each thing so many, and four times as many: a square would make that sixteen times the steps. */
#define FEW "80"
#define MANY "320"
#define MOST_TIMES 4.6

static _Atomic uint64_t steps;

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
	atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
}

static void make(const struct fixture *fixture, const char *count)
{
	char command[512];

	snprintf(command, sizeof(command), "tests/tools/make_crowd.py %s/%s %s", fixture->path,
		 count, count);
	assert_int_equal(system(command), 0);
}

static void answer(const char *path)
{
	const struct output_options options = {0};
	struct err err = {""};
	struct report *report;
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	assert_int_equal(report_build(&report, path, &err), 0);
	assert_int_equal(advice_find(&report->advice, report, NULL, &err), 0);
	assert_int_equal(output_text(report, out, &options, &err), 0);
	assert_int_equal(output_json(report, out, &options, &err), 0);
	advice_free(report->advice);
	report_free(report);
	fclose(out);
}

static uint64_t count_steps(const struct fixture *fixture, const char *count, const char *shape)
{
	char path[512];
	uint64_t before = steps;

	snprintf(path, sizeof(path), "%s/%s/%s", fixture->path, count, shape);
	answer(path);
	return steps - before;
}

static bool is_steep(const struct fixture *fixture, const char *shape)
{
	uint64_t few = count_steps(fixture, FEW, shape), many = count_steps(fixture, MANY, shape);

	assert_true(few > 0);
	if ((double)many <= MOST_TIMES * (double)few)
		return false;
	print_error("%s: %.2f times the steps for four times as many\n", shape,
		    (double)many / (double)few);
	return true;
}

static void test_steps(void **state)
{
	struct fixture fixture;
	struct dirent *entry;
	char path[512];
	DIR *shapes;
	int steep_count = 0;

	(void)state;
	fixture_create(&fixture);
	make(&fixture, FEW);
	make(&fixture, MANY);
	snprintf(path, sizeof(path), "%s/" FEW, fixture.path);
	shapes = opendir(path);
	assert_non_null(shapes);
	while ((entry = readdir(shapes)))
		steep_count += entry->d_name[0] != '.' && is_steep(&fixture, entry->d_name);
	closedir(shapes);
	fixture_remove(&fixture);
	assert_int_equal(steep_count, 0);
}

/* They are runs of a file then, which are merged where they overlap. */
static void test_steps_of_samples_in_a_file(void **state)
{
	static const char *const shapes[] = {"samples", "overlapping_samples"};
	size_t usual = samples_in_memory;
	struct fixture fixture;
	int steep_count = 0;

	(void)state;
	samples_in_memory = 8;
	fixture_create(&fixture);
	make(&fixture, FEW);
	make(&fixture, MANY);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		steep_count += is_steep(&fixture, shapes[i]);
	fixture_remove(&fixture);
	samples_in_memory = usual;
	assert_int_equal(steep_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"four times as many of anything take no sixteen times the steps", test_steps, NULL,
		 NULL, NULL},
		{"nor do samples that are too many for memory", test_steps_of_samples_in_a_file,
		 NULL, NULL, NULL},
	};

#ifndef BLOCKS_ARE_COUNTED
	puts("1..0 # SKIP steps are counted in the build with SANITIZE=clang");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
