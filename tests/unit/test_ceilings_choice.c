/* cmd/ceilings_choice.h: which stored ceilings a recording gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ceilings_choice.h"
#include "cmd/ceilings_file.h"
#include "fixture.h"
#include "profile_builder.h"

#define GPU "NVIDIA H200"
#define DRIVER "580.1"

struct place {
	struct fixture fixture;
	struct builder *builder;
	struct profile_property driver;
};

/* A data folder of our own, and a recording of an H200 with DRIVER. */
static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	fixture_create(&place->fixture);
	setenv("XDG_DATA_HOME", place->fixture.path, 1);
	place->builder = builder_new(1, 1);
	place->driver = (struct profile_property){(char *)"driver_name", (char *)DRIVER};
	place->builder->processes[0].properties = &place->driver;
	place->builder->processes[0].property_count = 1;
	place->builder->devices[0].name = (char *)GPU;
	place->builder->devices[0].sm_count = 132;
	place->builder->devices[0].sm_clock_khz = 1980000;
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	fixture_remove(&place->fixture);
	free(place->builder);
	free(place);
	return 0;
}

/* Writes ceilings whose dram_copy is value; path NULL: where the user's file lies. */
static void write_file(const char *path, const char *gpu, const char *driver, const char *date,
		       double value)
{
	struct ceiling row = {.id = CEILING_dram_copy,
			      .value = value,
			      .low = value,
			      .high = value,
			      .sample_count = 5};
	struct ceilings ceilings = {.gpu = (char *)gpu,
				    .driver = (char *)driver,
				    .date = (char *)date,
				    .rows = &row,
				    .count = 1};
	char user[PATH_MAX];

	assert_int_equal(ceilings_user_path(user, sizeof(user), gpu, driver, NULL), 0);
	assert_int_equal(ceilings_file_write(&ceilings, path ? path : user, NULL), 0);
}

static void write_text(const char *gpu, const char *driver, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	assert_int_equal(ceilings_user_path(path, sizeof(path), gpu, driver, NULL), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* What the recording gets; 0 when it gets nothing. */
static double chosen(struct place *place, const char *path, struct ceilings_choice *choice)
{
	struct err err = {""};

	assert_int_equal(ceilings_for(choice, &place->builder->profile, &place->builder->devices[0],
				      path, &err),
			 0);
	assert_string_equal(err.text, "");
	return choice->ceilings ? ceilings_dram(choice->ceilings)->value : 0;
}

static void test_place(void **state)
{
	struct place *place = *state;
	char path[PATH_MAX], expected[PATH_MAX];
	struct err err = {""};

	assert_int_equal(ceilings_user_path(path, sizeof(path), "NVIDIA A/B: 80 GB", "1.2", &err),
			 0);
	snprintf(expected, sizeof(expected), "%s/rooflinectl/ceilings/NVIDIA_A_B__80_GB-1.2.json",
		 place->fixture.path);
	assert_string_equal(path, expected);
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "/somewhere", 1);
	assert_int_equal(ceilings_user_path(path, sizeof(path), "G", "1", &err), 0);
	assert_string_equal(path, "/somewhere/.local/share/rooflinectl/ceilings/G-1.json");
	unsetenv("HOME");
	assert_true(ceilings_user_path(path, sizeof(path), "G", "1", &err) < 0);
	assert_non_null(strstr(err.text, "-o FILE"));
}

static void test_order(void **state)
{
	struct place *place = *state;
	struct ceilings_choice choice;

	write_file(NULL, GPU, "570.1", "2026-01-01T00:00:00Z", 1);
	write_file(NULL, GPU, "570.2", "2026-03-01T00:00:00Z", 2);
	write_file(NULL, GPU, "570.3", "2026-02-01T00:00:00Z", 3);
	write_file(NULL, GPU " NVL", DRIVER, "2026-04-01T00:00:00Z", 4);
	assert_true(chosen(place, NULL, &choice) == 2);
	assert_string_equal(choice.note, "measured on NVIDIA H200 with driver 570.2 on 2026-03-01; "
					 "the driver here is 580.1");
	assert_string_equal(choice.passed_over.text, "");
	ceilings_choice_close(&choice);
	write_file(NULL, GPU, DRIVER, "2025-01-01T00:00:00Z", 5);
	assert_true(chosen(place, NULL, &choice) == 5);
	assert_string_equal(choice.note, "measured on NVIDIA H200 with driver 580.1 on 2025-01-01");
	ceilings_choice_close(&choice);
}

static void test_explicit(void **state)
{
	struct place *place = *state;
	struct ceilings_choice choice;
	struct err err = {""};
	char path[PATH_MAX];

	write_file(NULL, GPU, DRIVER, "2025-01-01T00:00:00Z", 5);
	snprintf(path, sizeof(path), "%s/mine.json", place->fixture.path);
	write_file(path, "NVIDIA A30", DRIVER, "", 6);
	assert_true(chosen(place, path, &choice) == 6);
	assert_non_null(strstr(choice.note, "/mine.json: measured on NVIDIA A30 with driver 580.1 "
					    "on unknown"));
	assert_non_null(strstr(choice.note, "; this GPU is NVIDIA H200"));
	ceilings_choice_close(&choice);
	assert_true(ceilings_for(&choice, &place->builder->profile, &place->builder->devices[0],
				 "nosuch.json", &err) < 0);
	assert_non_null(strstr(err.text, "nosuch.json"));
	assert_null(choice.ceilings);
	ceilings_choice_close(&choice);
}

static void test_spoilt(void **state)
{
	struct place *place = *state;
	struct ceilings_choice choice;

	write_file(NULL, GPU, "570.1", "2026-01-01T00:00:00Z", 1);
	write_text(GPU, DRIVER, "{");
	assert_true(chosen(place, NULL, &choice) == 1);
	assert_non_null(strstr(choice.passed_over.text, "NVIDIA_H200-580.1.json:1: not JSON"));
	ceilings_choice_close(&choice);
}

static void test_datasheet(void **state)
{
	struct place *place = *state;
	struct ceilings_choice choice;

	write_file(NULL, "NVIDIA A30", DRIVER, "2026-01-01T00:00:00Z", 1);
	place->builder->devices[0].name = (char *)"NVIDIA A10";
	assert_true(chosen(place, NULL, &choice) == 0.6e12);
	assert_true(choice.ceilings->is_datasheet);
	assert_true(ceilings_get(choice.ceilings, CEILING_l1_read, 0)->value > 0);
	assert_string_equal(choice.note, "datasheet figures, which no program reaches: measure "
					 "with 'rooflinectl ceilings'");
	ceilings_choice_close(&choice);
	place->builder->devices[0].name = (char *)"Imaginary GPU";
	assert_true(chosen(place, NULL, &choice) == 0);
	assert_null(choice.ceilings);
	assert_string_equal(choice.note,
			    "none for Imaginary GPU: measure with 'rooflinectl ceilings'");
	ceilings_choice_close(&choice);
	place->builder->devices[0].name = NULL;
	assert_true(chosen(place, NULL, &choice) == 0);
	ceilings_choice_close(&choice);
}

#define SENTENCE(text, function)                        \
	{                                               \
		text, function, set_up, tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("the user's file is named after GPU and driver, in the data folder",
			 test_place),
		SENTENCE("the same driver beats another, then the latest day; another GPU never",
			 test_order),
		SENTENCE(
			"a file asked for is taken as it is, and one that is not there is an error",
			test_explicit),
		SENTENCE("a file that cannot be read is passed over and told", test_spoilt),
		SENTENCE("without a file there is the datasheet, and without that nothing",
			 test_datasheet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
