/*
 * power.h - clocks, power and temperature of each GPU over the recording, and what held its clocks down (--power).
 */
#ifndef ROOFLINE_ANALYSIS_POWER_H
#define ROOFLINE_ANALYSIS_POWER_H

#include "trace/profile.h"

/* Of the readings that have a value; all 0 when none has. */
struct power_figure {
	double mean, min, max;
	uint64_t count;
};

struct power_device {
	uint64_t reading_count;
	int64_t first_ns, last_ns;
	struct power_figure sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c;
	double reason_shares[POWER_REASON_COUNT]; /* of the readings, 0 to 1 */
};

struct power {
	struct power_device *devices; /* as profile->devices */
	size_t device_count;
};

/* Devices that were not read have no readings.  -ENOMEM. */
int power_build(struct power **out, const struct profile *profile, struct err *err);

/* For people: "power limit"; for programs: "power_cap".  Static. */
const char *power_reason_title(enum power_reason reason);

void power_free(struct power *power);

#endif
