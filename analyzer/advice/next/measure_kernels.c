/* Counters of the kernels that the time is in, from ours to Nsight Compute's. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/next/context.h"
#include "advice/next/measurements.h"
#include "base/format.h"
#include "base/shell.h"

/* Of a roof: from there on it explains most of the time. */
#define HALF 0.5

/* Whether bytes and operations were to be counted. */
static bool is_asked(const struct roofline_point *kernel)
{
	return kernel->quantities[ROOF_dram].state != ROOFLINE_NOT_ASKED ||
	       kernel->quantities[ROOF_fp32].state != ROOFLINE_NOT_ASKED;
}

/* Asked for, and there is not one: context again gives no more. */
static bool is_refused(const struct profile *profile)
{
	return !profile->metric_count &&
	       (profile->counter_run || next_has_property(profile, "counters"));
}

/* The first advice, where it is how much of its time a kernel needs that decides what it brings; or NULL. */
static const struct recommendation *bounded_by_counters(const struct next_context *context)
{
	const struct recommendation *first = advice_first(context->advice);

	return first && first->gain.program.speedup > 0 &&
			       !strcmp(first->strategy, technique_fill_gpu.id)
		       ? first
		       : NULL;
}

static int add_bounds(struct next_context *context, const struct recommendation *item)
{
	const struct predicted_speedup *gain =
		gain_of_part(&item->gain, gain_part_of(&item->gain, false));

	return next_add_record(
		context, STEP_counters, " --counters=" NEXT_COUNTERS, "counted",
		next_reason(
			"%s brings %.2fx to %.2fx, as far as the work of a thread can be split: "
			"counters tell what the kernels need at least, and so how much it can be",
			item->strategy, gain->low, gain->speedup)
			.text);
}

static int add_first_counters(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	const struct recommendation *bounded = bounded_by_counters(context);

	if (!is_asked(limit->kernel) && bounded)
		return add_bounds(context, bounded);
	if (!is_asked(limit->kernel))
		return next_add_record(
			context, STEP_counters, " --counters=" NEXT_COUNTERS, "counted",
			next_reason(
				"kernels run for %s: counters tell which roof they are nearest to",
				next_share_of(context, limit->kernel_ns).text)
				.text);
	return next_add_record(
		context, STEP_counters, " --counters=" NEXT_COUNTERS " --counters-share=100",
		"counted",
		next_reason("no launch of %s was counted, which has %.0f%% of the kernels' "
			    "time",
			    limit_kernel_name(limit, context->report).text,
			    100 * limit->kernel_share)
			.text);
}

static bool has_role(const struct profile *profile, enum metric_role role)
{
	for (size_t i = 0; i < profile->metric_count; i++)
		if (profile->metrics[i].role == role)
			return true;
	return false;
}

/* Bank conflicts of a kernel that has shared memory. */
static bool lacks_conflicts(const struct next_context *context)
{
	return context->limit.kernel->quantities[ROOF_shared].per_launch > 0 &&
	       !has_role(context->report->profile, METRIC_shared_wavefronts);
}

static bool lacks_stalls(const struct next_context *context)
{
	return context->limit.kernel->binding_share < HALF &&
	       !has_role(context->report->profile, METRIC_stall_long_scoreboard);
}

/* What moves through caches, and was not told from what threads ask for.  Counters of stalls come with it, and nobody can
 * change how a library's kernel reads. */
static bool lacks_sectors(const struct next_context *context)
{
	return context->limit.kernel->binding < ROOF_MEMORY_END && !lacks_stalls(context) &&
	       !facts_is_library(context->facts, context->limit.kernel->subject) &&
	       !has_role(context->report->profile, METRIC_global_load_requests);
}

/* "its atomics", "... and ..." */
static void add_lack(char *text, size_t size, bool is_lacking, const char *what)
{
	size_t used = strlen(text);

	if (is_lacking)
		snprintf(text + used, size - used, "%s%s", used ? " and " : "", what);
}

/* Of a kernel that no roof explains: what else it may wait for and nobody counted. */
static int add_more_counters(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	char lacks[160] = "";

	if (!next_is_below_roofs(limit) || limit->is_graph)
		return 0;
	add_lack(lacks, sizeof(lacks),
		 !has_role(context->report->profile, METRIC_atomic_unit_cycles), "its atomics");
	add_lack(lacks, sizeof(lacks), lacks_conflicts(context),
		 "the bank conflicts of its shared memory");
	add_lack(lacks, sizeof(lacks), lacks_sectors(context),
		 "the sectors that its loads and stores touch");
	if (!*lacks)
		return 0;
	return next_add_record(
		context, STEP_counters, " --counters=" NEXT_COUNTERS, "counted",
		next_reason("no roof explains what %s takes, and %s were not counted",
			    limit_kernel_name(limit, context->report).text, lacks)
			.text);
}

/* Launches share the passes of the counters: a kernel that ran a few times was not counted in all. */
static bool is_half_counted(const struct roofline_point *kernel)
{
	return kernel->quantities[ROOF_dram].state == ROOFLINE_NOT_SAMPLED ||
	       kernel->quantities[ROOF_fp32].state == ROOFLINE_NOT_SAMPLED;
}

/* The most passes that counters of a process took. */
static uint64_t passes_of(const struct profile *profile)
{
	uint64_t most = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t j = 0; j < profile->processes[i].property_count; j++) {
			const struct profile_property *it = &profile->processes[i].properties[j];
			uint64_t passes = strcmp(it->key, "counters_passes")
						  ? 0
						  : strtoull(it->value, NULL, 10);

			most = passes > most ? passes : most;
		}
	return most;
}

/* Each launch in all passes where launches are too few; else more of them. */
static int add_whole_counters(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	uint64_t count = limit->kernel->launch_count;
	bool is_few = count < passes_of(context->report->profile);

	return next_add_record(
		context, STEP_counters,
		is_few ? " --counters=" NEXT_COUNTERS " --replay"
		       : " --counters=" NEXT_COUNTERS " --counters-share=100",
		"counted",
		next_reason("%s was launched %s%s, and not counted in all passes: %s",
			    limit_kernel_name(limit, context->report).text,
			    count == 1 ? "once" : format_count(count).text,
			    count == 1 ? "" : " times",
			    is_few ? "a replay counts each launch in all"
				   : "counting may take more of the time")
			.text);
}

int next_bounds(struct next_context *context)
{
	const struct limit *limit = &context->limit;

	return limit->kernel && limit->kernel->binding == ROOF_NONE && bounded_by_counters(context)
		       ? next_counters(context)
		       : 0;
}

int next_counters(struct next_context *context)
{
	const struct limit *limit = &context->limit;

	if (!next_are_kernels_meant(limit) || !limit->kernel ||
	    next_has_step(context, STEP_counters))
		return 0;
	if (next_is_below_roofs(limit) && !limit->is_graph && is_half_counted(limit->kernel))
		return add_whole_counters(context);
	if (limit->kernel->binding != ROOF_NONE)
		return add_more_counters(context);
	if (is_refused(context->report->profile))
		return next_add(
			context, STEP_doctor,
			"counters were to be read and none were: doctor tells whether they can be",
			"rooflinectl doctor");
	return add_first_counters(context);
}

/* Counters of what its warps waited for, where add_more_counters has no others to ask for. */
int next_stalls(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	const struct profile *profile = context->report->profile;

	if (!next_is_below_roofs(limit) || !lacks_stalls(context) || limit->is_graph ||
	    !has_role(profile, METRIC_atomic_unit_cycles) || lacks_conflicts(context))
		return 0;
	return next_add_record(
		context, STEP_stalls, " --counters=" NEXT_CAUSES, "stalls",
		next_reason(
			"%s is at %.0f%% of its nearest roof (%s): counters of stalls tell what "
			"its warps wait for",
			limit_kernel_name(limit, context->report).text,
			100 * limit->kernel->binding_share,
			roofline_roof_title(limit->kernel->binding))
			.text);
}

/* Exactly that kernel.  What nvcc sets before the name of a static one, Nsight Compute may leave out.  NULL when memory
 * runs out. */
static char *kernel_regex(const struct next_context *context)
{
	const struct profile *profile = context->report->profile;
	const char *mangled = "", *name;
	char *regex, *word = NULL;

	for (size_t i = 0; i < profile->signature_count && !*mangled; i++)
		if (profile->signatures[i].kernel == context->limit.kernel->subject)
			mangled = profile->signatures[i].mangled;
	name = strstr(mangled, "_Z");
	if (asprintf(&regex, "regex:%s%s$", name ? "" : "^", name ? name : mangled) < 0)
		return NULL;
	word = shell_word(regex);
	free(regex);
	return word;
}

/* Which of its sections is about what holds the kernel up. */
static const char *ncu_section(const struct roofline_point *kernel)
{
	if (kernel->binding_share < HALF)
		return "\"Warp State Statistics\"";
	return kernel->binding < ROOF_MEMORY_END ? "\"Memory Workload Analysis\""
						 : "\"Compute Workload Analysis\"";
}

static struct next_reason kernel_reason(const struct next_context *context)
{
	const struct limit *limit = &context->limit;
	struct limit_name name = limit_kernel_name(limit, context->report);

	if (!limit->has_roof)
		return next_reason(
			"%s has %.0f%% of the kernels' time: Nsight Compute shows by source line "
			"what it waits for",
			name.text, 100 * limit->kernel_share);
	return next_reason(
		"%s has %.0f%% of the kernels' time and is at %.0f%% of its nearest roof (%s): "
		"Nsight Compute shows by source line what it waits for, and in %s why",
		name.text, 100 * limit->kernel_share, 100 * limit->kernel->binding_share,
		roofline_roof_title(limit->kernel->binding), ncu_section(limit->kernel));
}

/* One launch, not the first: that one finds cold caches. */
int next_ncu(struct next_context *context)
{
	const struct limit *limit = &context->limit;
	char *name;
	int rc;

	if (!next_is_below_roofs(limit) || limit->is_graph)
		return 0;
	name = kernel_regex(context);
	if (!name)
		return -ENOMEM;
	rc = next_add(
		context, STEP_ncu, kernel_reason(context).text,
		"ncu --set full --target-processes all --kernel-name-base mangled --kernel-name %s "
		"--launch-skip %d --launch-count 1 %s",
		name, limit->kernel->launch_count > 1, context->program);
	free(name);
	return rc;
}
