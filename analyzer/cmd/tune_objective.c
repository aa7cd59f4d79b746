/* tune_objective.c - what tune makes better. */
#define _GNU_SOURCE
#include "cmd/tune_objective.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/distribution.h"

static const struct {
	const char *prefix;
} kinds[] = {
#define KIND_ROW(name, prefix, argument, meaning) {prefix},
	TUNE_OBJECTIVES(KIND_ROW)
#undef KIND_ROW
};

static int parse_regex(struct tune_objective *objective, struct err *err)
{
	char problem[256];
	int rc = regcomp(&objective->regex, objective->argument, REG_EXTENDED | REG_NEWLINE);

	if (!rc)
		return 0;
	regerror(rc, &objective->regex, problem, sizeof(problem));
	return err_set(err, -EINVAL, "--objective '%s': %s", objective->text, problem);
}

int tune_objective_parse(struct tune_objective *objective, const char *text, struct err *err)
{
	*objective = (struct tune_objective){.kind = TUNE_OBJECTIVE_COUNT, .text = text};
	for (int i = 0; i < TUNE_OBJECTIVE_COUNT; i++) {
		size_t length = strlen(kinds[i].prefix);
		bool has_argument = kinds[i].prefix[length - 1] == ':';

		if (!strncmp(text, kinds[i].prefix, length) && has_argument == !!text[length]) {
			objective->kind = (enum tune_objective_kind)i;
			objective->argument = text + length;
		}
	}
	if (objective->kind == TUNE_OBJECTIVE_COUNT)
		return err_set(err, -EINVAL,
			       "--objective '%s' is none of wall, kernel:NAME, range:NAME, "
			       "stdout:REGEX",
			       text);
	return objective->kind == TUNE_OBJECTIVE_STDOUT ? parse_regex(objective, err) : 0;
}

void tune_objective_free(struct tune_objective *objective)
{
	if (objective->kind == TUNE_OBJECTIVE_STDOUT)
		regfree(&objective->regex);
}

bool tune_objective_is_recorded(const struct tune_objective *objective)
{
	return objective->kind == TUNE_OBJECTIVE_KERNEL || objective->kind == TUNE_OBJECTIVE_RANGE;
}

struct figure tune_objective_format(const struct tune_objective *objective, double value)
{
	struct figure figure;

	if (objective->kind != TUNE_OBJECTIVE_STDOUT)
		return format_ns(value);
	snprintf(figure.text, sizeof(figure.text), "%.6g", value);
	return figure;
}

/* ---- of what was printed ---- */

/* A number, perhaps with words after it. */
static bool read_number(const char *text, size_t length, double *value)
{
	char *copy = strndup(text, length), *end;
	bool is_number;

	if (!copy)
		return false;
	*value = strtod(copy, &end);
	is_number = end != copy && isfinite(*value);
	free(copy);
	return is_number;
}

/* The last number in [line, end), a line without its end.  regexec() would look for the end of all that follows each
 * time: REG_STARTEND keeps it to the line. */
static bool last_of_line(const struct tune_objective *objective, const char *line, const char *end,
			 double *value)
{
	bool is_found = false;
	regmatch_t match[2];

	for (const char *at = line; at < end;) {
		const regmatch_t *part = &match[0];
		double found;

		match[0] = (regmatch_t){.rm_so = 0, .rm_eo = end - at};
		if (regexec(&objective->regex, at, 2, match,
			    REG_STARTEND | (at == line ? 0 : REG_NOTBOL)))
			break;
		if (match[1].rm_so >= 0)
			part = &match[1];
		if (read_number(at + part->rm_so, (size_t)(part->rm_eo - part->rm_so), &found)) {
			*value = found;
			is_found = true;
		}
		at += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
	}
	return is_found;
}

bool tune_objective_of_output(const struct tune_objective *objective, const char *output,
			      double *value)
{
	const char *end = output + strlen(output);
	const char *line;

	for (;; end = line - 1) { /* the last line first */
		const char *before = memrchr(output, '\n', (size_t)(end - output));

		line = before ? before + 1 : output;
		if (last_of_line(objective, line, end, value))
			return true;
		if (line == output)
			return false;
	}
}

/* ---- of a recording ---- */

/* group_of: which group a thing belongs to, or -1 for none. */
struct grouped {
	struct durations durations;
	double total, longest; /* ns; of all groups, and of that with the most */
	size_t longest_group;
};

static void sum_groups(struct grouped *grouped)
{
	for (size_t i = 0; i < grouped->durations.group_count; i++) {
		struct distribution time = durations_distribution(&grouped->durations, i);
		double of_group = (double)time.p50_ns * (double)time.count;

		grouped->total += of_group;
		if (of_group <= grouped->longest)
			continue;
		grouped->longest = of_group;
		grouped->longest_group = i;
	}
}

static bool is_tuned(const struct tune_objective *objective, const struct profile *profile,
		     const struct profile_op *op)
{
	return op->kind == OP_KERNEL &&
	       strstr(profile->signatures[op->detail].name, objective->argument);
}

static double volume(const uint32_t dimensions[3])
{
	return (double)dimensions[0] * dimensions[1] * dimensions[2];
}

static void note_launch(struct tune_launch *launch, const struct profile_signature *signature,
			const struct profile_device *device)
{
	*launch = (struct tune_launch){
		.threads = volume(signature->block),
		.blocks = volume(signature->grid),
		.registers = signature->registers_per_thread,
		.static_shared_bytes = signature->static_shared_bytes,
		.dynamic_shared_bytes = signature->dynamic_shared_bytes,
	};
	tune_launch_fill(launch, device);
}

/* The device that a launch shape ran on first. */
static const struct profile_device *device_of(const struct profile *profile, size_t signature)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL && profile->ops[i].detail == signature)
			return &profile->devices[profile_op_device(profile, &profile->ops[i])];
	return NULL;
}

static bool of_kernels(const struct tune_objective *objective, const struct profile *profile,
		       double *value, struct tune_launch *launch,
		       const struct profile_device **device)
{
	struct grouped grouped = {0};
	int rc = durations_open(&grouped.durations, profile->signature_count);

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++)
		if (is_tuned(objective, profile, &profile->ops[i]))
			durations_count(&grouped.durations, profile->ops[i].detail);
	if (rc == 0)
		rc = durations_lay_out(&grouped.durations);
	for (size_t i = 0; rc == 0 && i < profile->op_count; i++)
		if (is_tuned(objective, profile, &profile->ops[i]))
			durations_add(&grouped.durations, profile->ops[i].detail,
				      profile->ops[i].end_ns - profile->ops[i].start_ns);
	if (rc == 0)
		sum_groups(&grouped);
	durations_free(&grouped.durations);
	*value = grouped.total;
	if (!(grouped.total > 0))
		return false;
	*device = device_of(profile, grouped.longest_group);
	note_launch(launch, &profile->signatures[grouped.longest_group], *device);
	return true;
}

static bool of_ranges(const struct tune_objective *objective, const struct profile *profile,
		      double *value)
{
	struct grouped grouped = {0};
	int rc = durations_open(&grouped.durations, 1);

#define EACH_RANGE(range)                                                     \
	for (size_t i = 0; rc == 0 && i < profile->range_count; i++)          \
		for (const struct profile_range *range = &profile->ranges[i]; \
		     range && !strcmp(range->name, objective->argument); range = NULL)

	EACH_RANGE(range)
	durations_count(&grouped.durations, 0);
	if (rc == 0)
		rc = durations_lay_out(&grouped.durations);
	EACH_RANGE(range)
	durations_add(&grouped.durations, 0, range->end_ns - range->start_ns);
#undef EACH_RANGE
	if (rc == 0)
		sum_groups(&grouped);
	durations_free(&grouped.durations);
	*value = grouped.total;
	return grouped.total > 0;
}

bool tune_objective_of_profile(const struct tune_objective *objective,
			       const struct profile *profile, double *value,
			       struct tune_launch *launch, const struct profile_device **device)
{
	*launch = (struct tune_launch){0};
	*device = NULL;
	return objective->kind == TUNE_OBJECTIVE_KERNEL
		       ? of_kernels(objective, profile, value, launch, device)
		       : of_ranges(objective, profile, value);
}
