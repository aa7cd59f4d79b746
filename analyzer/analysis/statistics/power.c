#include "analysis/statistics/power.h"

#include <errno.h>
#include <stdlib.h>

#define REASON_BIT(constant, bit, key, title) [POWER_##constant] = UINT64_C(1) << (bit),
static const uint64_t reason_bits[] = {POWER_REASONS(REASON_BIT)};

/* 0: NVML does not tell. */
static void add(struct power_figure *figure, uint32_t value)
{
	if (!value)
		return;
	if (!figure->count || value < figure->min)
		figure->min = value;
	if (value > figure->max)
		figure->max = value;
	figure->count++;
	figure->mean += (value - figure->mean) / (double)figure->count;
}

static void add_reading(struct power_device *device, const struct profile_power *reading)
{
	if (!device->reading_count++)
		device->first_ns = reading->time_ns;
	device->last_ns = reading->time_ns;
	add(&device->sm_clock_mhz, reading->sm_clock_mhz);
	add(&device->memory_clock_mhz, reading->memory_clock_mhz);
	add(&device->power_mw, reading->power_mw);
	add(&device->temperature_c, reading->temperature_c);
	for (int i = 0; i < POWER_REASON_COUNT; i++)
		device->reason_shares[i] += (reading->reasons & reason_bits[i]) != 0;
}

int power_build(struct power **out, const struct profile *profile, struct err *err)
{
	struct power *power = calloc(1, sizeof(*power));

	*out = power;
	if (power)
		power->devices = calloc(profile->device_count + 1, sizeof(*power->devices));
	if (!power || !power->devices)
		return err_set(err, -ENOMEM, "out of memory for clocks and power");
	power->device_count = profile->device_count;
	for (size_t i = 0; i < profile->power_count; i++)
		add_reading(&power->devices[profile->powers[i].device], &profile->powers[i]);
	for (size_t i = 0; i < power->device_count; i++)
		for (int k = 0; k < POWER_REASON_COUNT && power->devices[i].reading_count; k++)
			power->devices[i].reason_shares[k] /=
				(double)power->devices[i].reading_count;
	return 0;
}

const char *power_reason_title(enum power_reason reason)
{
#define REASON_TITLE(constant, bit, key, title) [POWER_##constant] = (title),
	static const char *const titles[] = {POWER_REASONS(REASON_TITLE)};

	return titles[reason];
}

void power_free(struct power *power)
{
	if (!power)
		return;
	free(power->devices);
	free(power);
}
