#define _GNU_SOURCE
#include "advice/next/next.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/next/context.h"
#include "advice/next/measurements.h"
#include "base/shell.h"

/* The collector and our programs run on NVIDIA's GPUs alone. */
static bool is_recordable(const struct next_context *context)
{
	return profile_is_nvidias(context->report->profile);
}

static int add_check(struct next_context *context)
{
	const struct recommendation *first = advice_first(context->advice);
	char *path, *after = NULL;
	int rc = -ENOMEM;

	if (asprintf(&path, "%s.after", context->name) < 0)
		return -ENOMEM;
	after = shell_path(path);
	if (after)
		rc = next_add(
			context, STEP_check,
			"when the change is made: records the program again, and compares what it "
			"brought with what was predicted",
			"rooflinectl record -o %s -- %s && rooflinectl verify %s%s %s --strategy %s",
			after, context->program, context->range, context->recording, after,
			first ? first->id : context->advice->items[0].id);
	free(after);
	free(path);
	return rc;
}

static int add_follow(struct next_context *context)
{
	int rc = next_add(context, STEP_advise,
			  "how the change is made, its evidence, and what to watch",
			  *context->selection ? "rooflinectl report --section advice %s%s"
					      : "rooflinectl advise %s%s",
			  context->selection, context->recording);

	return rc < 0 || !is_recordable(context) ? rc : add_check(context);
}

/* What stands and falls with whether kernels depend on each other, where that was not recorded. */
static bool is_undecided(const struct recommendation *item)
{
	return item->gain.is_up_to && (!strcmp(item->strategy, technique_concurrent_kernels.id) ||
				       !strcmp(item->strategy, technique_batch_launches.id));
}

/* The first of them; the advice's count: there is none. */
static size_t find_undecided(const struct next_context *context)
{
	const struct advice *advice = context->advice;
	size_t i = 0;

	if (next_has_property(context->report->profile, "args") || !is_recordable(context))
		return advice->count;
	while (i < advice->count && !is_undecided(&advice->items[i]))
		i++;
	return i;
}

static int add_args(struct next_context *context, size_t item)
{
	const struct recommendation *what = &context->advice->items[item];
	const struct predicted_speedup *gain =
		gain_of_part(&what->gain, gain_part_of(&what->gain, false));

	return next_add_record(
		context, STEP_args, " --args", "args",
		next_reason("%s brings %.2fx to %.2fx, as far as kernels need nothing of each "
			    "other: which memory each is given tells whether they do",
			    what->strategy, gain->low, gain->speedup)
			.text);
}

static int add_idle(struct next_context *context)
{
	return next_add(context, STEP_look,
			next_reason("the GPU is idle for %s, and the largest cause is %s: the "
				    "longest pauses, and what lies beside them",
				    next_share_of(context, context->limit.idle_ns).text,
				    gap_cause_title(context->limit.cause))
				.text,
			"rooflinectl report --section gaps %s%s", context->selection,
			context->recording);
}

/* Where kernels are at their roofs but do not run all the time, the rest is what can be won. */
static int add_look(struct next_context *context)
{
	const struct limit *limit = &context->limit;

	if (limit->kind == LIMIT_COPIES)
		return next_add(
			context, STEP_look,
			next_reason("copies run alone for %s: which, how large, and how fast",
				    next_share_of(context, limit->part_ns).text)
				.text,
			"rooflinectl report --section copies %s%s", context->selection,
			context->recording);
	if (limit->kind == LIMIT_KERNELS && !(limit->kernel && roofline_is_at_roof(limit->kernel)))
		return next_add(context, STEP_look,
				"which kernels the time is in, and their shapes",
				"rooflinectl report --section kernels --wide %s%s",
				context->selection, context->recording);
	return add_idle(context);
}

static int add_missing(struct next_context *context)
{
#define MEASUREMENT_STEP(name) next_##name,
	static int (*const steps[])(struct next_context *) = {NEXT_MEASUREMENTS(MEASUREMENT_STEP)};
#undef MEASUREMENT_STEP
	int rc = 0;

	if (!is_recordable(context))
		return next_host(context);
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](context);
	return rc;
}

/* A change that surely makes what repeats faster follows at once, unless what it is for may be work that was not recorded. */
static int add_known(struct next_context *context)
{
	bool is_first = advice_first(context->advice) && !next_waiting_for_more_ns(context);
	size_t undecided = find_undecided(context);
	int rc = is_first && is_recordable(context) ? next_bounds(context) : 0;

	if (rc == 0 && is_first && undecided)
		rc = add_follow(context);
	if (rc == 0 && undecided < context->advice->count)
		rc = add_args(context, undecided);
	if (rc == 0 && is_first && !undecided)
		rc = add_follow(context);
	if (rc == 0 && !limit_is_at_roof(&context->limit))
		rc = add_missing(context);
	if (rc == 0 && context->advice->count && !is_first)
		rc = add_follow(context);
	return rc;
}

static int add_steps(struct next_context *context)
{
	int rc;

	if (context->limit.kind == LIMIT_NO_WORK)
		return next_add(
			context, STEP_doctor,
			"no operation of a GPU was recorded: doctor tells whether one can be",
			"rooflinectl doctor");
	rc = add_known(context);
	if (rc == 0 && !context->advice->next_count && !limit_is_at_roof(&context->limit))
		rc = add_look(context);
	return rc;
}

int next_find(struct advice *advice, const struct facts *facts, const char *range)
{
	struct next_context context;
	int rc = next_context_open(&context, advice, facts, range);

	if (rc == 0)
		rc = add_steps(&context);
	next_context_close(&context);
	return rc;
}

void next_free(struct advice *advice)
{
	for (size_t i = 0; i < advice->next_count; i++) {
		free(advice->next[i].command);
		free(advice->next[i].why);
	}
	free(advice->next);
}
