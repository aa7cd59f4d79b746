#include "output/sections/why_empty.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/sections.h"

struct sentence why(const char *format, ...)
{
	struct sentence sentence;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence.text, sizeof(sentence.text), format, arguments);
	va_end(arguments);
	return sentence;
}

const char *why_property(const struct report *report, const char *key)
{
	const struct profile *profile = report->profile;
	const char *value = NULL;

	for (size_t i = 0; i < profile->process_count && !value; i++)
		value = profile_property(&profile->processes[i], key, NULL);
	return value;
}

/* Other GPUs than NVIDIA's cannot be recorded, nor jobs on them. */
static struct sentence without_remedy(struct sentence sentence)
{
	char *remedy = strstr(sentence.text, ": record with --");
	char *launcher = strstr(sentence.text, "; record the launcher");

	if (launcher)
		*launcher = '\0';
	if (!remedy)
		return sentence;
	*remedy = '\0';
	sentence_append(&sentence, ": that is possible on NVIDIA's GPUs alone");
	return sentence;
}

struct sentence section_why_empty(const struct section *section, const struct report *report)
{
	const char *source = why_property(report, "imported_from");
	struct sentence sentence = section->why_empty
					   ? section->why_empty(report)
					   : why("%s", section->empty ? section->empty : "");

	if (!profile_is_nvidias(report->profile))
		return without_remedy(sentence);
	if (source && strstr(sentence.text, "record with --"))
		sentence_append(&sentence,
				" (this is imported from %s, whose files do not tell it)", source);
	return sentence;
}

/* What the recording says was in the way. */
static struct sentence why_in_vain(const char *asked, const char *problem)
{
	return why("%s: %s; 'rooflinectl doctor' tells what they need", asked, problem);
}

struct sentence why_no_counters(const struct report *report, const char *option)
{
	const char *problem = why_property(report, "counters_problem");

	if (problem)
		return why_in_vain("counters were asked for and could not be read", problem);
	if (why_property(report, "counters"))
		return why("no launch was counted that has them: record with %s, and with "
			   "--counters-share=100 where the program is short",
			   option);
	return why("no hardware counters were read: record with %s", option);
}

/* ---- samples ---- */

static bool is_sampled(const struct report *report)
{
	return report_with_samples(report)->profile->sample_count > 0;
}

struct sentence why_not_sampled(const struct report *report)
{
	const struct report *sampled = report_with_samples(report);
	const char *problem = why_property(sampled, "sample_problem");

	if (problem)
		return why_in_vain("samples were asked for and could not be taken", problem);
	if (report->profile->window.is_without_samples)
		return why("samples are of a run of their own, of which no part can be chosen: the "
			   "whole report has them");
	if (is_sampled(report))
		return why("the SMs were not sampled: record with --sample-metrics=sm");
	return why("nothing was sampled: record with --sample");
}

struct sentence why_no_device_work(const struct report *report)
{
	if (!is_sampled(report))
		return why_not_sampled(report);
	return why("samples show no work that the device launched itself, in the time that was "
		   "sampled");
}

/* ---- calls ---- */

struct sentence why_no_allocations(const struct report *report)
{
	static const char *const parts[] = {"Malloc", "MemAlloc", "MemCreate", NULL};

	if (profile_has_call(report->profile, parts))
		return why("the program allocates memory, but that was not recorded: with "
			   "ROOFLINE_ALLOCATIONS=0, or by an older collector; record it again");
	return why("no memory was allocated while it was recorded");
}

struct sentence why_no_calls(const struct report *report)
{
	if (report->profile->op_count)
		return why("no API call was recorded, and without them causes of idle time are not "
			   "known: record with --api=chosen, as record does unless told otherwise");
	return why("no API call was recorded: the program does not use CUDA, or not while it was "
		   "recorded");
}
