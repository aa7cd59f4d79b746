/*
 * A recording may have any number of processes, GPUs and kernels: nothing has room for each with each of the others.
 *
 * So many of them that such a table would find no memory anywhere; their steps are counted in test_scaling.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/report.h"
#include "analysis/time/first_launches.h"
#include "fixture.h"
#include "output/outputs.h"
#include "replay/model.h"

#include <jansson.h>

#define MANY 400000

static void test_processes_and_kernels(void **state)
{
	static char name[] = "saxpy";
	struct profile profile = {.process_count = MANY, .kernel_name_count = MANY};

	(void)state;
	profile.processes = calloc(MANY, sizeof(*profile.processes));
	profile.kernel_names = calloc(MANY, sizeof(*profile.kernel_names));
	assert_non_null(profile.processes);
	assert_non_null(profile.kernel_names);
	for (size_t i = 0; i < MANY; i++)
		profile.kernel_names[i] = name;
	assert_int_equal(first_launches_add(NULL, &profile, NULL), 0);
	free(profile.processes);
	free(profile.kernel_names);
}

static void test_processes_and_devices(void **state)
{
	struct profile profile = {.process_count = MANY, .device_count = MANY};
	struct model *model;
	struct err err = {""};

	(void)state;
	profile.processes = calloc(MANY, sizeof(*profile.processes));
	profile.devices = calloc(MANY, sizeof(*profile.devices));
	assert_non_null(profile.processes);
	assert_non_null(profile.devices);
	assert_int_equal(model_build(&model, &profile, &err), 0);
	model_free(model);
	free(profile.processes);
	free(profile.devices);
}

/* ---- what a document of JSON takes ---- */

static size_t taken_bytes, most_bytes;

/* The size stands in front, in as much room as any type needs. */
static void *take(size_t size)
{
	max_align_t *memory = malloc(sizeof(*memory) + size);

	if (!memory)
		return NULL;
	memcpy(memory, &size, sizeof(size));
	taken_bytes += size;
	if (taken_bytes > most_bytes)
		most_bytes = taken_bytes;
	return memory + 1;
}

static void give(void *memory)
{
	size_t size;

	if (!memory)
		return;
	memcpy(&size, (max_align_t *)memory - 1, sizeof(size));
	taken_bytes -= size;
	free((max_align_t *)memory - 1);
}

/* Of a report on so many kernels. */
static size_t bytes_of_report(const char *count)
{
	const struct output_options options = {0};
	struct fixture fixture;
	struct report *report;
	struct err err = {""};
	char text[512];
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	fixture_create(&fixture);
	snprintf(text, sizeof(text), "tests/tools/make_crowd.py %s %s kernel_names", fixture.path,
		 count);
	assert_int_equal(system(text), 0);
	snprintf(text, sizeof(text), "%s/kernel_names", fixture.path);
	assert_int_equal(report_build(&report, text, &err), 0);
	json_set_alloc_funcs(take, give);
	most_bytes = 0;
	assert_int_equal(output_json(report, out, &options, &err), 0);
	json_set_alloc_funcs(malloc, free);
	assert_int_equal(taken_bytes, 0);
	report_free(report);
	fixture_remove(&fixture);
	fclose(out);
	return most_bytes;
}

static void test_json(void **state)
{
	size_t few = bytes_of_report("50"), many = bytes_of_report("500");

	(void)state;
	assert_true(few > 0);
	assert_true(many < few + few / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"processes and kernels have room for those that were launched",
		 test_processes_and_kernels, NULL, NULL, NULL},
		{"processes and GPUs have room for those that were used",
		 test_processes_and_devices, NULL, NULL, NULL},
		{"JSON of ten times as many kernels takes no more memory", test_json, NULL, NULL,
		 NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
