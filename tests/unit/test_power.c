/* From readings of NVML to what the section power tells.  The figures are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/statistics/power.h"
#include "fixture_profile.h"

static void assert_figure(const struct power_figure *figure, uint64_t count, double mean,
			  double min, double max)
{
	assert_int_equal(figure->count, count);
	assert_float_equal(figure->mean, mean, 1e-6);
	assert_float_equal(figure->min, min, 1e-6);
	assert_float_equal(figure->max, max, 1e-6);
}

static void test_figures(void **state)
{
	struct profile *profile = fixture_load(*state);
	struct err err = {""};
	struct power *power;
	const struct power_device *device;

	assert_int_equal(profile->power_count, 3);
	assert_int_equal(profile->powers[0].time_ns, 2000);
	assert_int_equal(power_build(&power, profile, &err), 0);
	assert_int_equal(power->device_count, 1);
	device = power->devices;
	assert_int_equal(device->reading_count, 3);
	assert_int_equal(device->first_ns, 2000);
	assert_int_equal(device->last_ns, 4000);
	assert_figure(&device->sm_clock_mhz, 3, 1560, 1200, 1980);
	assert_figure(&device->power_mw, 3, 407000, 120500, 700500);
	/* what NVML does not tell is no reading of 0 */
	assert_figure(&device->memory_clock_mhz, 2, 2619, 2619, 2619);
	assert_figure(&device->temperature_c, 2, 62, 61, 63);
	power_free(power);
	profile_free(profile);
}

static void test_reasons(void **state)
{
	struct profile *profile = fixture_load(*state);
	struct err err = {""};
	struct power *power;

	assert_int_equal(power_build(&power, profile, &err), 0);
	assert_float_equal(power->devices->reason_shares[POWER_IDLE], 1 / 3.0, 1e-6);
	assert_float_equal(power->devices->reason_shares[POWER_POWER_CAP], 2 / 3.0, 1e-6);
	assert_float_equal(power->devices->reason_shares[POWER_THERMAL], 1 / 3.0, 1e-6);
	assert_float_equal(power->devices->reason_shares[POWER_HARDWARE], 0, 1e-6);
	power_free(power);
	profile_free(profile);
}

static void test_nothing(void **state)
{
	struct profile profile = {.device_count = 0};
	struct err err = {""};
	struct power *power;

	(void)state;
	assert_int_equal(power_build(&power, &profile, &err), 0);
	assert_int_equal(power->device_count, 0);
	power_free(power);
	power_free(NULL);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("mean, least and greatest of what was read", test_figures),
		TEST("each reason has its share of the readings", test_reasons),
		TEST("without readings there is nothing", test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
