#include "analysis/compare/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/occurrence.h"
#include "base/groups.h"
#include "analysis/time/launched.h"
#include "analysis/compare/recorded_otherwise.h"
#include "analysis/compare/same_work.h"
#include "base/sums.h"
#include "base/format.h"

#define NAME_WIDTH 60		       /* of a name in a message */
#define NAME_SIZE (4 * NAME_WIDTH + 1) /* UTF-8 */
#define LIST_SIZE 400		       /* bytes of a list of names in a message */

/* ---- times ---- */

static void add_time(struct compared_time *time, int64_t duration_ns)
{
	if (!time->count || duration_ns < time->min_ns)
		time->min_ns = duration_ns;
	if (!time->count || duration_ns > time->max_ns)
		time->max_ns = duration_ns;
	time->count++;
	time->mean_ns += ((double)duration_ns - time->mean_ns) / (double)time->count;
}

static bool is_any(const struct profile_op *op)
{
	(void)op;
	return true;
}

/* A graph that was recorded as a whole is one. */
static bool is_kernel(const struct profile_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH;
}

/* From the first of these operations to the last one's end; without any none. */
static struct compared_time time_between(const struct profile *profile,
					 bool (*is_one)(const struct profile_op *))
{
	struct compared_time time = {0};
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (!is_one(op))
			continue;
		if (op->start_ns < first_ns)
			first_ns = op->start_ns;
		if (op->end_ns > last_ns)
			last_ns = op->end_ns;
	}
	if (first_ns < INT64_MAX)
		add_time(&time, last_ns - first_ns);
	return time;
}

/* Until the last of its operations has ended: a range may be over when they have only been launched. */
static int64_t end_of_range(const struct profile_range *range, const struct launched *launched)
{
	struct launched_sum sum = launched_in_range(launched, range);

	return sum.op_count && sum.last_ns > range->end_ns ? sum.last_ns : range->end_ns;
}

static int time_of_range(struct compared_time *time, const struct profile *profile,
			 const char *name)
{
	struct launched *launched = NULL;
	uint32_t thread = PROFILE_NONE;
	int64_t free_ns = INT64_MIN; /* when the occurrence before has ended */
	int rc = launched_open(&launched, profile);

	for (size_t i = 0; i < profile->range_count && rc == 0; i++) {
		const struct profile_range *range = &profile->ranges[i];
		int64_t start_ns, end_ns;

		if (strcmp(range->name, name))
			continue;
		if (range->thread != thread)
			free_ns = INT64_MIN;
		thread = range->thread;
		end_ns = end_of_range(range, launched);
		start_ns = range->start_ns > free_ns ? range->start_ns : free_ns;
		add_time(time, end_ns > start_ns ? end_ns - start_ns : 0);
		if (end_ns > free_ns)
			free_ns = end_ns;
	}
	launched_close(launched);
	return rc;
}

static double ratio_of(double before_ns, double after_ns)
{
	return before_ns > 0 && after_ns > 0 ? before_ns / after_ns : 0;
}

static void compare_times(struct comparison *comparison)
{
	const struct compared_time *before = &comparison->before, *after = &comparison->after;

	comparison->before_share = comparison->after_share = 1;
	comparison->measured = ratio_of(before->mean_ns, after->mean_ns);
	comparison->measured_low = ratio_of((double)before->min_ns, (double)after->max_ns);
	comparison->measured_high = ratio_of((double)before->max_ns, (double)after->min_ns);
}

/* ---- a range that is missing ---- */

static int number_ranges(struct groups *names, const struct profile *profile)
{
	uint32_t number;
	int rc = 0;

	for (size_t i = 0; i < profile->range_count && rc == 0; i++)
		rc = groups_find(names, profile->ranges[i].name, strlen(profile->ranges[i].name),
				 &number);
	return rc;
}

static void append_name(char *list, size_t size, const char *name)
{
	char shown[NAME_SIZE];
	size_t used = strlen(list);

	format_text(shown, sizeof(shown), name, NAME_WIDTH);
	if (used + strlen(shown) + sizeof(", ...") < size)
		snprintf(list + used, size - used, "%s%s", used ? ", " : "", shown);
	else if (used < 3 || strcmp(list + used - 3, "..."))
		snprintf(list + used, size - used, ", ...");
}

/* Names that both have, each once, in the order in which the recording before has them. */
static int list_common(char *list, size_t size, const struct comparison *comparison)
{
	const struct profile *before = comparison->before_profile;
	struct groups after = {0}, listed = {0};
	int rc = number_ranges(&after, comparison->after_profile);

	list[0] = '\0';
	for (size_t i = 0; i < before->range_count && rc == 0; i++) {
		const char *name = before->ranges[i].name;
		uint32_t number, known = listed.count;

		if (groups_look(&after, name, strlen(name)) == UINT32_MAX)
			continue;
		rc = groups_find(&listed, name, strlen(name), &number);
		if (rc == 0 && listed.count > known)
			append_name(list, size, name);
	}
	groups_free(&after);
	groups_free(&listed);
	return rc;
}

static int fail_range(const struct comparison *comparison, struct err *err)
{
	const struct profile *without =
		comparison->before.count ? comparison->after_profile : comparison->before_profile;
	char name[NAME_SIZE], list[LIST_SIZE];

	format_text(name, sizeof(name), comparison->range, NAME_WIDTH);
	if (list_common(list, sizeof(list), comparison) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	if (!*list)
		return err_set(err, -ENOENT,
			       "%s has no NVTX range '%s', and no range occurs in both",
			       without->path, name);
	return err_set(err, -ENOENT, "%s has no NVTX range '%s'; both have: %s", without->path,
		       name, list);
}

/* ---- obstacles and warnings ---- */

/* Counters are read around launches, which then wait for one another; replay repeats them. */
bool comparison_is_counted(const struct profile *profile)
{
	bool is_counted = profile->metric_count > 0 || profile->counter_count > 0;

	for (size_t i = 0; i < profile->process_count; i++)
		is_counted |= profile->processes[i].is_replay;
	return is_counted;
}

static int find_obstacle(struct comparison *comparison, const struct profile *profile, double share)
{
	if (share != 1 || !comparison_is_counted(profile))
		return 0;
	return sentences_add(&comparison->obstacles,
			     "%s was recorded with hardware counters, which change its times",
			     profile->path);
}

static int warn_losses(struct sentences *warnings, const struct profile *profile)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->loss_count; i++)
		sum_add_count(&count, profile->losses[i].count);
	if (!count)
		return 0;
	return sentences_add(warnings,
			     "%s has losses (%s, first: %s); rooflinectl report --section losses "
			     "lists them",
			     profile->path, format_count(count).text, profile->losses[0].kind);
}

int comparison_warn_of_missing(struct sentences *warnings, const struct profile *profile)
{
	bool is_cut_off = false, is_filtered = false;
	int rc = warn_losses(warnings, profile);

	for (size_t i = 0; i < profile->process_count; i++) {
		is_cut_off |= !profile->processes[i].sealed_ns;
		is_filtered |= profile->processes[i].is_filtered;
	}
	if (rc == 0 && is_cut_off)
		rc = sentences_add(warnings, "%s was cut off: its end is missing", profile->path);
	if (rc == 0 && is_filtered)
		rc = sentences_add(
			warnings,
			"%s covers only the part of the run that was selected for recording",
			profile->path);
	return rc;
}

static int warn_open(struct comparison *comparison, const struct profile *profile)
{
	for (size_t i = 0; comparison->range && i < profile->range_count; i++)
		if (profile->ranges[i].is_open &&
		    !strcmp(profile->ranges[i].name, comparison->range))
			return sentences_add(
				&comparison->warnings,
				"%s: the range never ended, so its time is counted to the "
				"end of the recording",
				profile->path);
	return 0;
}

static int examine(struct comparison *comparison)
{
	const struct profile *profiles[] = {comparison->before_profile, comparison->after_profile};
	int rc = same_work_judge(profiles[0], profiles[1], &comparison->differences,
				 &comparison->warnings);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = comparison_warn_of_missing(&comparison->warnings, profiles[i]);
		if (rc == 0)
			rc = warn_open(comparison, profiles[i]);
		if (rc == 0)
			rc = recorded_otherwise_warn(&comparison->warnings, profiles[i]);
	}
	return rc;
}

/* ---- all of it ---- */

static int measure_run(struct compared_time *out, const struct profile *profile, struct err *err)
{
	*out = time_between(profile, is_any);
	if (out->count)
		return 0;
	return err_set(err, -ENODATA,
		       "%s: no GPU operation was recorded, so there is nothing to compare",
		       profile->path);
}

int comparison_time(struct compared_time *out, const struct profile *profile, const char *range,
		    struct err *err)
{
	char name[NAME_SIZE];
	const char *found;
	int rc = measure_run(out, profile, err);

	if (rc < 0 || !range)
		return rc;
	rc = occurrence_range(&found, profile, range, err);
	if (rc < 0)
		return rc;
	*out = (struct compared_time){0};
	if (found && time_of_range(out, profile, found) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	format_text(name, sizeof(name), range, NAME_WIDTH);
	return out->count ? 0
			  : err_set(err, -ENOENT, "%s has no NVTX range '%s'", profile->path, name);
}

static void measure_kernels(struct comparison *comparison)
{
	comparison->before_kernels_ns = time_between(comparison->before_profile, is_kernel).mean_ns;
	comparison->after_kernels_ns = time_between(comparison->after_profile, is_kernel).mean_ns;
}

static int measure_times(struct comparison *comparison, struct err *err)
{
	int rc = measure_run(&comparison->before, comparison->before_profile, err);

	if (rc == 0)
		rc = measure_run(&comparison->after, comparison->after_profile, err);
	if (rc == 0 && !comparison->range)
		measure_kernels(comparison);
	if (rc < 0 || !comparison->range)
		return rc;
	comparison->before = comparison->after = (struct compared_time){0};
	rc = time_of_range(&comparison->before, comparison->before_profile, comparison->range);
	if (rc == 0)
		rc = time_of_range(&comparison->after, comparison->after_profile,
				   comparison->range);
	if (rc < 0)
		return err_set(err, rc, "out of memory");
	if (!comparison->before.count || !comparison->after.count)
		return fail_range(comparison, err);
	return 0;
}

int comparison_make(struct comparison **out, const struct profile *before,
		    const struct profile *after, const char *range, struct err *err)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int rc;

	if (!comparison)
		return err_set(err, -ENOMEM, "out of memory");
	comparison->before_profile = before;
	comparison->after_profile = after;
	comparison->range = range;
	rc = measure_times(comparison, err);
	if (rc == 0 && examine(comparison) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc < 0) {
		comparison_free(comparison);
		return rc;
	}
	compare_times(comparison);
	comparison->before_repeats.count = comparison->after_repeats.count = 1;
	*out = comparison;
	return 0;
}

void comparison_set_repeats(struct comparison *comparison, const struct compared_repeats *before,
			    const struct compared_repeats *after)
{
	double before_ns = comparison->before.mean_ns, after_ns = comparison->after.mean_ns;
	bool has_before = before->count > 1, has_after = after->count > 1;

	comparison->before_repeats = *before;
	comparison->after_repeats = *after;
	if (!has_before && !has_after)
		return;
	comparison->measured_low = ratio_of(has_before ? before->low_ns : before_ns,
					    has_after ? after->high_ns : after_ns);
	comparison->measured_high = ratio_of(has_before ? before->high_ns : before_ns,
					     has_after ? after->low_ns : after_ns);
}

void comparison_predict(struct comparison *comparison, const char *advice, const char *strategy,
			double predicted, double low, double high)
{
	double measured = comparison->measured;

	comparison->advice = advice;
	comparison->strategy = strategy;
	if (!(predicted > 0))
		return;
	comparison->predicted = predicted;
	comparison->low = low;
	comparison->high = high;
	comparison->error_ratio = measured > 0 ? (predicted - measured) / measured : 0;
	comparison->is_inside = measured > 0 && low <= measured && measured <= high;
}

int comparison_without_recording(struct comparison *comparison, double before_share,
				 double after_share)
{
	double share = before_share / after_share;
	int rc = find_obstacle(comparison, comparison->before_profile, before_share);

	comparison->before_share = before_share;
	comparison->after_share = after_share;
	comparison->measured *= share;
	comparison->measured_low *= share;
	comparison->measured_high *= share;
	return rc < 0 ? rc : find_obstacle(comparison, comparison->after_profile, after_share);
}

void comparison_kernels_without_recording(struct comparison *comparison, double before_share,
					  double after_share)
{
	comparison->before_kernels_ns *= before_share;
	comparison->after_kernels_ns *= after_share;
}

/* ---- what repeats ---- */

/* A loop may be found in pieces, and iterations between these belong to none. */
#define LOST_MOST 0.1
/* Beyond one, the number of iterations would be told wrong by less. */
#define OFF_MOST 0.05

/* Of many in one of few; 0: they are other ones. */
static double whole_times(const struct compared_side *many, const struct compared_side *few)
{
	double times = (double)many->count / (double)few->count, whole = round(times);

	if (times - whole > (whole > 1 ? OFF_MOST : LOST_MOST) || whole - times > OFF_MOST ||
	    (whole > 1 && 2 * many->run_count > few->count))
		return 0;
	return whole;
}

static void match(struct compared_side *many, struct compared_side *few)
{
	double whole = whole_times(many, few);

	many->row_count = (uint64_t)whole;
	few->row_count = whole > 0;
}

void comparison_match_rows(struct compared_side *before, struct compared_side *after)
{
	if (!before->count || !after->count)
		before->row_count = after->row_count = 0;
	else if (before->count >= after->count)
		match(before, after);
	else
		match(after, before);
}

void comparison_add_steady(struct comparison *comparison, const struct compared_side *before,
			   const struct compared_side *after)
{
	struct compared_steady *steady = &comparison->steady;

	*steady = (struct compared_steady){.before = *before, .after = *after};
	if (before->row_count && after->row_count)
		steady->speedup.measured =
			ratio_of(before->row_ns * before->share, after->row_ns * after->share);
}

void comparison_predict_steady(struct comparison *comparison, double predicted, double low,
			       double high)
{
	struct compared_speedup *speedup = &comparison->steady.speedup;
	double measured = speedup->measured;

	if (!(predicted > 0))
		return;
	*speedup = (struct compared_speedup){
		.measured = measured,
		.predicted = predicted,
		.low = low,
		.high = high,
		.error_ratio = measured > 0 ? (predicted - measured) / measured : 0,
		.is_inside = measured > 0 && low <= measured && measured <= high};
}

/* ---- the verdict ---- */

bool comparison_is_judged(const struct comparison *comparison)
{
	return comparison->predicted > 0 && comparison->measured > 0;
}

bool comparison_is_steady_judged(const struct comparison *comparison)
{
	const struct compared_speedup *speedup = &comparison->steady.speedup;

	return speedup->predicted > 0 && speedup->measured > 0;
}

bool comparison_is_by_steady(const struct comparison *comparison)
{
	return comparison->is_about_steady && comparison_is_steady_judged(comparison);
}

bool comparison_can_judge(const struct comparison *comparison)
{
	return comparison_is_by_steady(comparison) || comparison_is_judged(comparison);
}

bool comparison_is_met(const struct comparison *comparison)
{
	return comparison_is_by_steady(comparison)
		       ? comparison->steady.speedup.is_inside
		       : comparison_is_judged(comparison) && comparison->is_inside;
}

bool comparison_is_sound(const struct comparison *comparison)
{
	return !comparison->differences.count && !comparison->obstacles.count;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	sentences_free(&comparison->differences);
	sentences_free(&comparison->obstacles);
	sentences_free(&comparison->warnings);
	free(comparison);
}
