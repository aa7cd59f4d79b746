/*
 * measurements.h - what may be missing from a recording, in the order in which it is asked for.
 *
 * To add one: write next_foo, which adds a step where foo is missing and would tell more, and its row here.
 */
#ifndef ROOFLINE_NEXT_MEASUREMENTS_H
#define ROOFLINE_NEXT_MEASUREMENTS_H

#include "advice/next/context.h"

#define NEXT_MEASUREMENTS(MEASUREMENT) \
	MEASUREMENT(ceilings)          \
	MEASUREMENT(apart)             \
	MEASUREMENT(managed)           \
	MEASUREMENT(graphs)            \
	MEASUREMENT(host)              \
	MEASUREMENT(counters)          \
	MEASUREMENT(samples)           \
	MEASUREMENT(stalls)            \
	MEASUREMENT(ncu)               \
	MEASUREMENT(tune)

/* Each returns 0 or -ENOMEM; it adds nothing where nothing is missing. */
#define MEASUREMENT_PROTOTYPE(name) int next_##name(struct next_context *context);
NEXT_MEASUREMENTS(MEASUREMENT_PROTOTYPE)
#undef MEASUREMENT_PROTOTYPE

/* Counters before all else, where what the first advice brings is open until kernels are counted.  Returns 0 or -ENOMEM. */
int next_bounds(struct next_context *context);

#endif
