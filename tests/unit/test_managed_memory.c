/* From page faults and migrations to what the section managed_memory tells.  The figures are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/managed_memory.h"
#include "fixture_profile.h"

static struct managed_memory *build(const struct profile *profile)
{
	struct managed_memory *managed;
	struct err err = {""};

	assert_int_equal(managed_memory_build(&managed, profile, &err), 0);
	return managed;
}

static void test_recording(void **state)
{
	struct profile *profile = fixture_load(*state);
	struct managed_memory *managed = build(profile);

	assert_int_equal(profile->managed_count, 3);
	assert_int_equal(profile->manageds[0].start_ns, 2050);
	assert_int_equal(managed->row_count, 3);
	assert_int_equal(managed->rows[0].kind, MANAGED_GPU_FAULTS);
	assert_int_equal(managed->rows[0].source, 0);
	assert_int_equal(managed->rows[0].value, 7);
	assert_int_equal(managed->rows[0].time_ns, 250);
	assert_int_equal(managed->rows[1].kind, MANAGED_TO_DEVICE);
	assert_int_equal(managed->rows[1].source, PROFILE_NONE);
	assert_int_equal(managed->rows[1].destination, 0);
	assert_string_equal(managed_cause_name(managed->rows[1].cause), "page fault");
	assert_int_equal(managed->rows[2].kind, MANAGED_TO_HOST);
	assert_int_equal(managed->rows[2].value, 65536);
	/* kernels from 2000 to 2500 and from 3000 to 3700, faults from 2050 to 2300 */
	assert_int_equal(managed->device_count, 1);
	assert_int_equal(managed->devices[0].kernel_ns, 1200);
	assert_int_equal(managed->devices[0].faulting_ns, 250);
	managed_memory_free(managed);
	profile_free(profile);
}

static void test_rows(void **state)
{
	struct profile_managed rows[] = {
		{.kind = MANAGED_TO_DEVICE, .cause = 2, .value = 10, .start_ns = 0, .end_ns = 100},
		{.kind = MANAGED_TO_DEVICE, .cause = 2, .value = 20, .start_ns = 50, .end_ns = 150},
		{.kind = MANAGED_TO_DEVICE, .cause = 3, .value = 40, .start_ns = 50, .end_ns = 60},
		/* of faults neither destination nor flags mean anything */
		{.kind = MANAGED_CPU_FAULT, .cause = 9, .value = 1, .destination = 3},
		{.kind = MANAGED_CPU_FAULT, .cause = 8, .value = 1, .destination = 5},
	};
	struct profile profile = {.manageds = rows, .managed_count = 5};
	struct managed_memory *managed = build(&profile);

	(void)state;
	assert_int_equal(managed->row_count, 3);
	assert_int_equal(managed->rows[0].count, 2);
	assert_int_equal(managed->rows[0].value, 30);
	assert_int_equal(managed->rows[0].time_ns, 150); /* both go on from 50 to 100 */
	assert_int_equal(managed->rows[1].value, 40);
	assert_int_equal(managed->rows[2].count, 2);
	assert_int_equal(managed->rows[2].time_ns, 0);
	managed_memory_free(managed);
}

static void test_nothing(void **state)
{
	const struct profile profile = {.manageds = NULL};
	struct managed_memory *managed = build(&profile);

	(void)state;
	assert_int_equal(managed->row_count, 0);
	managed_memory_free(managed);
}

#define OF_RECORDING(text, function)                                    \
	{                                                               \
		text, function, fixture_set_up, fixture_tear_down, NULL \
	}
#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_RECORDING("a recording's faults and migrations, by time, find their devices",
			     test_recording),
		SENTENCE("equal kinds, places and causes are one row, whose time counts once",
			 test_rows),
		SENTENCE("without managed memory there is nothing", test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
