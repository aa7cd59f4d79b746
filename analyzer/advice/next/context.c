#define _GNU_SOURCE
#include "advice/next/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/framework.h"
#include "base/format.h"
#include "base/paths.h"
#include "base/shell.h"

#define STEP_ID(name, meaning) #name,
static const char *const step_ids[] = {NEXT_STEPS(STEP_ID)};
#undef STEP_ID

/* Of several processes nobody recorded what started them. */
static char *program_words(const struct profile *profile)
{
	if (profile->process_count != 1 || !*profile->processes[0].command ||
	    *profile->processes[0].command == '-') /* would be an option of what runs it */
		return strdup("PROGRAM");
	return shell_words(profile->processes[0].command);
}

/* The last part of its path, in the folder where the command is pasted. */
static char *recording_name(const char *path)
{
	size_t length = strlen(path), suffix = strlen(PATH_PACKED_SUFFIX);
	const char *slash;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length > suffix && !strncmp(path + length - suffix, PATH_PACKED_SUFFIX, suffix))
		length -= suffix;
	slash = memrchr(path, '/', length);
	length -= slash ? (size_t)(slash + 1 - path) : 0;
	return length ? strndup(slash ? slash + 1 : path, length) : strdup("roofline");
}

bool next_has_property(const struct profile *profile, const char *key)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (*profile_property(&profile->processes[i], key, ""))
			return true;
	return false;
}

/* NULL when memory runs out. */
static char *range_option(const char *range)
{
	char *word = range ? shell_word(range) : NULL, *option = NULL;

	if (!range)
		return strdup("");
	if (word && asprintf(&option, "--range %s ", word) < 0)
		option = NULL;
	free(word);
	return option;
}

static bool has_range(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->range_count; i++)
		if (!strcmp(profile->ranges[i].name, name))
			return true;
	return false;
}

/* The range that verify compares: the one that is predicted, else the one that was chosen, where it has all of its occurrences. */
static char *compared_range(const struct report *report, const char *range)
{
	const char *chosen = report->part.range;

	if (!range && chosen && has_range(report->profile, chosen))
		range = chosen;
	return range_option(range);
}

int next_context_open(struct next_context *context, struct advice *advice,
		      const struct facts *facts, const char *range)
{
	const struct profile *profile = facts->report->profile;
	const char *path = path_named(profile->path);

	*context = (struct next_context){
		.advice = advice,
		.facts = facts,
		.report = facts->report,
		.limit = limit_find(facts->report),
		.recording = shell_path(path),
		.program = program_words(profile),
		.range = compared_range(facts->report, range),
		.selection = facts->report->part.options ? facts->report->part.options : "",
		.name = recording_name(path),
		.is_counted = profile->metric_count > 0,
		.is_sampled = facts->report->sampled || profile->sample_count ||
			      next_has_property(profile, "sample_problem")};
	if (!context->recording || !context->program || !context->range || !context->name)
		return -ENOMEM;
	context->is_python = framework_is_python(context->program);
	return 0;
}

void next_context_close(struct next_context *context)
{
	free(context->recording);
	free(context->program);
	free(context->range);
	free(context->name);
}

static struct next_step *add_step(struct advice *advice, enum next_step_id id)
{
	size_t size = (advice->next_count + 1) * sizeof(*advice->next);
	struct next_step *steps = realloc(advice->next, size);

	if (!steps)
		return NULL;
	advice->next = steps;
	steps[advice->next_count] = (struct next_step){.id = step_ids[id]};
	return &steps[advice->next_count++];
}

int next_add(struct next_context *context, enum next_step_id id, const char *why,
	     const char *format, ...)
{
	struct next_step *step = add_step(context->advice, id);
	va_list arguments;
	int length;

	if (!step)
		return -ENOMEM;
	step->why = strdup(why);
	va_start(arguments, format);
	length = vasprintf(&step->command, format, arguments);
	va_end(arguments);
	if (length < 0)
		step->command = NULL;
	return step->why && step->command ? 0 : -ENOMEM;
}

struct next_reason next_reason(const char *format, ...)
{
	struct next_reason reason;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason.text, sizeof(reason.text), format, arguments);
	va_end(arguments);
	return reason;
}

bool next_has_step(const struct next_context *context, enum next_step_id id)
{
	for (size_t i = 0; i < context->advice->next_count; i++)
		if (!strcmp(context->advice->next[i].id, step_ids[id]))
			return true;
	return false;
}

int next_add_record(struct next_context *context, enum next_step_id id, const char *options,
		    const char *what, const char *why)
{
	char *path, *folder = NULL;
	int rc = -ENOMEM;

	if (asprintf(&path, "%s.%s", context->name, what) < 0)
		return -ENOMEM;
	folder = shell_path(path);
	if (folder)
		rc = next_add(context, id, why, "rooflinectl record%s -o %s -- %s", options, folder,
			      context->program);
	free(folder);
	free(path);
	return rc;
}

struct next_share next_share_of(const struct next_context *context, int64_t part_ns)
{
	struct figure figure = format_percent((double)part_ns, (double)context->limit.wall_ns);
	struct next_share share;

	snprintf(share.text, sizeof(share.text), "%s of %s", figure.text,
		 limit_whole(&context->limit));
	return share;
}

/* Of the time: less is nothing that kernels could gain much of. */
#define LEAST_KERNELS 0.05

bool next_are_kernels_meant(const struct limit *limit)
{
	return limit->kind == LIMIT_KERNELS ||
	       (limit->kind == LIMIT_IDLE && limit->cause == GAP_HOST &&
		(double)limit->kernel_ns > LEAST_KERNELS * (double)limit->wall_ns);
}

bool next_is_below_roofs(const struct limit *limit)
{
	return next_are_kernels_meant(limit) && limit->kernel && limit->kernel->is_counted &&
	       limit->kernel->binding != ROOF_NONE && !roofline_is_at_roof(limit->kernel);
}

int64_t next_waiting_for_more_ns(const struct next_context *context)
{
	const struct gap_device *gaps = &context->report->gaps->devices[context->limit.device];
	int64_t children_ns = context->limit.children_ns;
	enum gap_cause cause = context->limit.cause;

	if (context->limit.kind != LIMIT_IDLE && context->limit.kind != LIMIT_CHILDREN)
		return 0;
	if (children_ns && children_ns >= context->limit.cause_ns)
		return children_ns;
	if (cause != GAP_SYNC && cause != GAP_DEVICE && cause != GAP_UNKNOWN)
		return 0;
	return gaps->by_cause_ns[cause] >
			       (int64_t)gaps->gap_count_by_cause[cause] * GAP_LATENCY_MAX_NS
		       ? context->limit.cause_ns
		       : 0;
}
