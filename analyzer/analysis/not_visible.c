#include "analysis/not_visible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "base/format.h"
#include "base/sums.h"
#include "trace/samples.h"

__attribute__((format(printf, 2, 3))) static int add_not_visible(struct report *report,
								 const char *format, ...)
{
	size_t size = (report->not_visible_count + 1) * sizeof(*report->not_visible);
	char **sentences = realloc(report->not_visible, size), text[512];
	va_list arguments;

	if (!sentences)
		return -ENOMEM;
	report->not_visible = sentences;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	sentences[report->not_visible_count] = strdup(text);
	if (!sentences[report->not_visible_count])
		return -ENOMEM;
	report->not_visible_count++;
	return 0;
}

/* Functions that run on the host in stream order: CUPTI has no record of their run. */
static bool is_host_function_call(const char *name)
{
	static const char *const names[] = {"cudaLaunchHostFunc", "cuLaunchHostFunc",
					    "cudaStreamAddCallback", "cuStreamAddCallback"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static int find_host_functions(struct report *report)
{
	const struct statistics *statistics = report->statistics;
	uint64_t count = 0;

	for (size_t i = 0; i < statistics->call_count; i++)
		if (is_host_function_call(
			    report->profile->call_names[statistics->calls[i].name].text))
			count += statistics->calls[i].time.count;
	if (!count)
		return 0;
	return add_not_visible(report,
			       "when host functions in streams ran (%" PRIu64
			       " were enqueued): their time is part of device scheduling",
			       count);
}

static int find_managed_memory(struct report *report)
{
	if (!managed_memory_is_missing(report->profile))
		return 0;
	return add_not_visible(report,
			       "when pages of managed memory moved: for page faults kernels take "
			       "longer, and work behind a prefetch starts later; record with "
			       "--managed to see them");
}

static bool has_graphs(const struct report *report)
{
	const struct profile *profile = report->profile;

	if (report->statistics->graph_count)
		return true;
	for (size_t i = 0; i < report->statistics->call_count; i++)
		if (profile->call_names[report->statistics->calls[i].name].call_class ==
		    CALL_GRAPH_LAUNCH)
			return true;
	return false;
}

/* How much of the time samples cover. */
struct sampled {
	bool is_any;		    /* some device has samples of the SMs */
	int64_t wall_ns, within_ns; /* of the devices, first operation to last; sampled of that */
};

static int find_sampled(struct sampled *sampled, const struct report *report)
{
	const struct profile *profile = report->profile;
	struct sample_cursor cursor = sample_cursor_open(profile);

	*sampled = (struct sampled){0};

	for (size_t i = 0; i < profile->device_count; i++) {
		const struct profile_device *device = &profile->devices[i];
		const struct timeline_device *times = &report->timeline->devices[i];

		sampled->is_any |= report->sm_activity->devices[i].has_sms &&
				   report->sm_activity->devices[i].sampled_ns;
		sum_add_ns(&sampled->wall_ns, times->wall_ns);
		for (size_t k = 0; k < device->sample_count; k++) {
			const struct profile_sample *sample =
				sample_at(&cursor, device->first_sample + k);
			int64_t start_ns = sample->start_ns, end_ns = sample_end_ns(sample);

			start_ns = start_ns > times->first_ns ? start_ns : times->first_ns;
			end_ns = end_ns < times->last_ns ? end_ns : times->last_ns;
			if (end_ns > start_ns)
				sum_add_ns(&sampled->within_ns, end_ns - start_ns);
		}
	}
	return sample_cursor_close(&cursor);
}

static const char without_samples[] =
	"where they run alone the GPU may look idle; record with --sample to see when they ran";

static int find_device_graphs(struct report *report, const struct sampled *sampled, bool node_level)
{
	bool is_joined = report->profile->graph_run && report->device_graphs->launch_count;
	int rc = 0;

	if (is_joined && !sampled->is_any)
		rc = add_not_visible(
			report,
			"graphs that the device launches, in the times of the first run: %s",
			without_samples);
	if (rc == 0 && node_level)
		rc = add_not_visible(
			report, "graphs that the device launches: record with --graphs=graph to "
				"see them");
	return rc;
}

static int find_graphs(struct report *report, const struct sampled *sampled)
{
	const struct profile *profile = report->profile;
	bool graph_level = false, node_level = false;
	int rc = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		graph_level |= profile->processes[i].is_graph_level;
		node_level |= !profile->processes[i].is_graph_level;
	}
	if (!has_graphs(report))
		return 0;
	if (graph_level)
		rc = add_not_visible(report,
				     "the nodes of CUDA graphs: recorded with --graphs=graph, "
				     "each launch is one operation");
	if (profile->graph_run) /* the second run saw whether there are any */
		node_level = false;
	return rc < 0 ? rc : find_device_graphs(report, sampled, node_level);
}

static int find_dynamic_parallelism(struct report *report, const struct sampled *sampled)
{
	int rc;

	if (!report->statistics->kernel_count && !(sampled->is_any && report->profile->op_count))
		return 0;
	if (!sampled->is_any)
		return add_not_visible(report,
				       "kernels launched by kernels (dynamic parallelism): %s",
				       without_samples);
	rc = add_not_visible(
		report, "names of the kernels that the device launches, and those of them with one "
			"block: samples cannot tell these from the GPU's own launching kernels");
	if (rc == 0 && sampled->wall_ns > sampled->within_ns)
		rc = add_not_visible(
			report,
			"kernels that the device launches outside the sampled time: %s of the "
			"%s from first to last operation were not sampled",
			format_ns((double)(sampled->wall_ns - sampled->within_ns)).text,
			format_ns((double)sampled->wall_ns).text);
	return rc;
}

/* The sets of counters of which samples of a device have none: "tensor, l2". */
static void list_missing_sets(const struct profile_device *device, char *text, size_t size)
{
	static const struct {
		const char *name;
		enum sample_set set;
	} sets[] = {
#define SET_ROW(name, meaning) {#name, SAMPLE_SET_##name},
		SAMPLE_SETS(SET_ROW)
#undef SET_ROW
	};
	static const enum sample_set set_of_role[] = {
#define ROLE_SET(role, set, meaning) SAMPLE_SET_##set,
		SAMPLED_ROLES(ROLE_SET)
#undef ROLE_SET
	};
	size_t used = 0;
	bool has[SAMPLE_SET_COUNT] = {false};

	for (int role = 0; role < SAMPLED_ROLE_COUNT; role++)
		has[set_of_role[role]] |= device->sampled >> role & 1;
	*text = '\0';
	for (size_t i = 0; i < SAMPLE_SET_COUNT && used < size; i++)
		if (!has[sets[i].set])
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 sets[i].name);
}

/* A recording does not show whether they were not requested or the GPU does not have them. */
static int find_missing_sets(struct report *report)
{
	const struct profile *profile = report_with_samples(report)->profile;
	char missing[128];
	int rc = 0;

	for (size_t i = 0; i < profile->device_count && rc == 0; i++) {
		list_missing_sets(&profile->devices[i], missing, sizeof(missing));
		if (profile->devices[i].sample_count && *missing)
			rc = add_not_visible(
				report,
				"over time, on GPU %zu: %s (not named by --sample-metrics, or not "
				"counted by this GPU)",
				i, missing);
	}
	return rc;
}

/* Samples that were requested and could not be recorded. */
static int find_sample_problems(struct report *report)
{
	const struct profile *profile = report_with_samples(report)->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->process_count && rc == 0; i++) {
		const char *problem =
			profile_property(&profile->processes[i], "sample_problem", "");

		if (*problem)
			rc = add_not_visible(report, "samples of %s: %s",
					     profile->processes[i].folder, problem);
	}
	return rc;
}

static int find_missing_calls(struct report *report)
{
	if (report->profile->call_count || !report->profile->op_count)
		return 0;
	return add_not_visible(
		report, "API calls: none were recorded, so the causes of idle time are unknown");
}

/* What another tool's file does not tell, of each tool once. */
static int find_imported(struct report *report)
{
	const struct profile *profile = report->profile;
	const char *told = "";

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		const char *source = profile_property(process, "imported_from", "");
		const char *rounded = profile_property(process, "imported_resolution_ns", "");

		if (*source && strcmp(source, told) != 0 &&
		    add_not_visible(report, "imported from %s%s, which does not tell: %s", source,
				    *rounded ? ", times rounded to microseconds" : "",
				    profile_property(process, "imported_lacks", "")) < 0)
			return -ENOMEM;
		told = *source ? source : told;
	}
	return 0;
}

/* The library's kernels set its memory up in every program that uses it.  What others do between puts and waits no name and
 * no record tells. */
static int find_waits_in_kernels(struct report *report)
{
	const struct profile *profile = report->profile;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		if (strstr(profile->kernel_names[i], "nvshmemi_"))
			return add_not_visible(
				report,
				"what kernels put, get and wait for themselves with NVSHMEM: all of their time counts as computation, also where they wait for another GPU");
	return 0;
}

int not_visible_find(struct report *report)
{
	bool is_nvidias = profile_is_nvidias(report->profile);
	struct sampled sampled;
	int rc = find_sampled(&sampled, report_with_samples(report));

	if (rc == 0)
		rc = find_imported(report);
	if (rc == 0)
		rc = find_missing_calls(report);
	if (rc == 0)
		rc = find_host_functions(report);
	if (rc == 0)
		rc = find_managed_memory(report);
	if (rc == 0 && is_nvidias) /* others' devices launch nothing themselves */
		rc = find_graphs(report, &sampled);
	if (rc == 0 && is_nvidias)
		rc = find_dynamic_parallelism(report, &sampled);
	if (rc == 0)
		rc = find_waits_in_kernels(report);
	if (rc == 0)
		rc = find_sample_problems(report);
	return rc < 0 ? rc : find_missing_sets(report);
}
