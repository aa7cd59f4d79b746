/*
 * other_profiler.c - counters or samples that were asked for are missing: somebody else reads them.
 *
 * A GPU's counters serve one reader at a time, in any process: Nsight Compute, DCGM's
 * profiling fields, a second recording.  Fires when CUPTI said so.  Where another
 * profiler traces the same process nothing is recorded at all, and the collector says
 * that at once.
 */
#include "advice/rules/rules.h"

#include <string.h>

static const char *const properties[] = {"counters_problem", "sample_problem"};

#define PROPERTY_COUNT (sizeof(properties) / sizeof(properties[0]))

/* "" where the process has no such problem. */
static const char *problem(const struct profile_process *process, size_t property)
{
	const char *text = profile_property(process, properties[property], "");

	return strstr(text, "HARDWARE_BUSY") || strstr(text, "MULTIPLE_SUBSCRIBERS") ? text : "";
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct profile *profile = facts->report->profile;
	int rc = 0;

	(void)what_if;
	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t j = 0; rc == 0 && j < PROPERTY_COUNT; j++)
			if (facts_is_home(facts, (uint32_t)i, device) &&
			    *problem(&profile->processes[i], j))
				rc = advice_add_evidence(item, "%s: %s",
							 profile->processes[i].folder,
							 problem(&profile->processes[i], j));
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;

	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t j = 0; j < PROPERTY_COUNT; j++)
			if (facts_is_home(facts, (uint32_t)i, device) &&
			    *problem(&profile->processes[i], j))
				return true;
	return false;
}

const struct rule rule_other_profiler = {
	.id = "other_profiler",
	.strategy = "one_profiler",
	.title = "Record again with no other profiler at work on this GPU",
	.risk = "A monitor that is paused leaves a hole in its own figures: resume it.",
	.pattern = "/* in a shell; no change to the program */\n"
		   "dcgmi profmodule --pause # where DCGM reads profiling fields\n"
		   "rooflinectl record --counters -- ./app\n"
		   "dcgmi profmodule --resume",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
