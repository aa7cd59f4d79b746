/*
 * measures.h - what is compared of a recording: figures with a name, by group.
 *
 * They outlive the report that they were taken from, so that a comparison of many recordings holds one of them at a
 * time.  Pure.
 *
 * To add a figure: one measure_add() in the function of its group.  To add a group: a GROUP row and its function.
 */
#ifndef ROOFLINE_MEASURES_H
#define ROOFLINE_MEASURES_H

#include "analysis/compare/comparison.h"
#include "analysis/report.h"

/* GROUP(constant, key, title, whether all its rows are shown in this order: else those that changed most come first) */
#define MEASURE_GROUPS(GROUP)                                                 \
	GROUP(RUN, run, "Run", true)                                          \
	GROUP(STEADY, steady_state, "An iteration of the steady state", true) \
	GROUP(IDLE, idle, "Idle time by cause", false)                        \
	GROUP(KERNELS, kernels, "Kernels", false)                             \
	GROUP(COPIES, copies, "Copies", false)                                \
	GROUP(MEMSETS, memsets, "Memsets", false)                             \
	GROUP(GRAPHS, graphs, "Graphs", false)                                \
	GROUP(API, api, "API calls", false)                                   \
	GROUP(RANGES, ranges, "NVTX ranges", false)                           \
	GROUP(COUNTERS, counters, "Hardware counters, a launch in the mean", false)

#define MEASURE_CONSTANT(constant, key, title, is_fixed) MEASURE_##constant,
enum measure_group { MEASURE_GROUPS(MEASURE_CONSTANT) MEASURE_GROUP_COUNT };
#undef MEASURE_CONSTANT

enum measure_unit { UNIT_NS, UNIT_BYTES, UNIT_BYTE_PER_S, UNIT_COUNT };

struct measure {
	enum measure_group group;
	char *name;	      /* owned: a kernel, a cause; of the run what is measured */
	char *shape;	      /* owned; of launches, "" where it is of all */
	const char *quantity; /* static: "time", "launches" */
	enum measure_unit unit;
	double value;
	/* Where its true value lies, as far as one recording tells: of 95 in 100 medians.  Both NAN: it does not. */
	double low, high;
};

struct measures {
	struct measure *items; /* owned */
	size_t count, capacity;
	struct compared_side steady; /* of the device with most operations */
};

/* All groups of a report.  Returns 0 or -ENOMEM; the caller frees, also after a failure. */
int measures_take(struct measures *out, const struct report *report);
void measures_free(struct measures *measures);

/* Copies the texts, but for the quantity; shape may be NULL.  Returns 0 or -ENOMEM. */
int measure_add(struct measures *measures, const struct measure *measure);

const char *measure_group_key(enum measure_group group);
const char *measure_group_title(enum measure_group group);
bool measure_group_is_fixed(enum measure_group group);

#define MEASURE_FUNCTION(constant, key, title, is_fixed) \
	int measure_##key(struct measures *measures, const struct report *report);
MEASURE_GROUPS(MEASURE_FUNCTION)
#undef MEASURE_FUNCTION

#endif
