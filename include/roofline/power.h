/*
 * power.h - why a GPU's clocks were lower than they could be, as NVML tells it: bits of power.reasons.
 *
 * To add one: a REASON row; docs/commands/report.md names them.
 */
#ifndef ROOFLINE_POWER_H
#define ROOFLINE_POWER_H

/* REASON(constant, bit of nvmlDeviceGetCurrentClocksEventReasons, key of JSON and CSV, title) */
#define POWER_REASONS(REASON)                                                                    \
	REASON(IDLE, 0, "idle", "nothing to do")                                                 \
	REASON(SETTING, 1, "clock_setting", "clocks that somebody set")                          \
	REASON(POWER_CAP, 2, "power_cap", "power limit")                                         \
	REASON(HARDWARE, 3, "hardware_slowdown", "hardware slowdown")                            \
	REASON(SYNC_BOOST, 4, "sync_boost", "clocks in step with another GPU")                   \
	REASON(THERMAL, 5, "thermal_slowdown", "temperature limit")                              \
	REASON(HARDWARE_THERMAL, 6, "hardware_thermal_slowdown", "hardware's temperature limit") \
	REASON(POWER_BRAKE, 7, "power_brake", "power brake from outside")                        \
	REASON(DISPLAY, 8, "display_clock", "clocks of a display")

#define POWER_REASON_CONSTANT(constant, bit, key, title) POWER_##constant,
enum power_reason { POWER_REASONS(POWER_REASON_CONSTANT) POWER_REASON_COUNT };
#undef POWER_REASON_CONSTANT

#endif
