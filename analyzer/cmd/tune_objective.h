/*
 * tune_objective.h - what tune makes better: a figure of one run of the program.
 */
#ifndef ROOFLINE_TUNE_OBJECTIVE_H
#define ROOFLINE_TUNE_OBJECTIVE_H

#include <regex.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/format.h"
#include "trace/profile.h"
#include "tune/launch.h"

/* OBJECTIVE(name, prefix, argument, what it is) */
#define TUNE_OBJECTIVES(OBJECTIVE)                                                   \
	OBJECTIVE(WALL, "wall", "", "time from the start of the program to its end") \
	OBJECTIVE(KERNEL, "kernel:", "NAME",                                         \
		  "time of all launches of kernels with that in their name")         \
	OBJECTIVE(RANGE, "range:", "NAME", "time of all NVTX ranges of that name")   \
	OBJECTIVE(                                                                   \
		STDOUT, "stdout:", "REGEX",                                          \
		"the last number that the program prints where this matches: its first group, or all of it")

#define TUNE_OBJECTIVE_CONSTANT(name, ...) TUNE_OBJECTIVE_##name,
enum tune_objective_kind { TUNE_OBJECTIVES(TUNE_OBJECTIVE_CONSTANT) TUNE_OBJECTIVE_COUNT };
#undef TUNE_OBJECTIVE_CONSTANT

struct tune_objective {
	enum tune_objective_kind kind;
	const char *text;     /* "kernel:multiply" */
	const char *argument; /* "multiply" */
	bool is_maximized;
	regex_t regex; /* of STDOUT */
};

/* Fails with -EINVAL.  text is borrowed. */
int tune_objective_parse(struct tune_objective *objective, const char *text, struct err *err);
void tune_objective_free(struct tune_objective *objective);

/* Whether the program has to be recorded for it. */
bool tune_objective_is_recorded(const struct tune_objective *objective);

/* Nanoseconds with their unit, and other numbers as they are. */
struct figure tune_objective_format(const struct tune_objective *objective, double value);

/* Finds the value in what the program printed.  False where nothing matches, or no number does. */
bool tune_objective_of_output(const struct tune_objective *objective, const char *output,
			      double *value);

/* Finds the value in a recording: of each launch shape, or of all ranges, the median by how many there are, so
 * that one launch which was held up counts little.  launch: the shape with the most time; device: its GPU, in the
 * profile.  False where there is no such kernel or range. */
bool tune_objective_of_profile(const struct tune_objective *objective,
			       const struct profile *profile, double *value,
			       struct tune_launch *launch, const struct profile_device **device);

#endif
