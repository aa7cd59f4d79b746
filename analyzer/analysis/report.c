#include "analysis/report.h"

#include "analysis/time/host_clocks.h"
#include "analysis/time/gap_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/not_visible.h"
#include "analysis/samples/sm_activity_join.h"
#include "base/worker.h"
#include "trace/samples.h"

#define ALL_ANALYSES (UINT32_MAX & ~(uint32_t)ANALYSES_ON_REQUEST)

static bool is_needed(const struct report *report, uint32_t analysis)
{
	return report->analyses >> analysis & 1;
}

/* Replaces roofline and atomics by what they are under report->ceilings, or leaves them. */
static int place_under_roofs(struct report *report, struct err *err)
{
	struct roofline *roofline = NULL;
	struct atomics *atomics = NULL;
	int rc = roofline_build(&roofline, report->profile, report->counted, report->ceilings, err);

	if (rc == 0)
		rc = atomics_build(&atomics, report->profile, report->counted, roofline,
				   report->ceilings, err);
	if (rc < 0) {
		roofline_free(roofline);
		return rc;
	}
	roofline_free(report->roofline);
	atomics_free(report->atomics);
	report->roofline = roofline;
	report->atomics = atomics;
	return 0;
}

int report_set_ceilings(struct report *report, struct ceilings *ceilings, struct err *err)
{
	ceilings_free(report->ceilings);
	report->ceilings = ceilings;
	return is_needed(report, ANALYSIS_roofline) ? place_under_roofs(report, err) : 0;
}

int report_set_ceilings_note(struct report *report, const char *note, struct err *err)
{
	free(report->ceilings_note);
	report->ceilings_note = strdup(note);
	return report->ceilings_note ? 0 : err_set(err, -ENOMEM, "out of memory for the report");
}

/* What one of several threads analyzes. */
struct half {
	struct report *report;
	struct err err;
};

static int find_busy(void *context)
{
	struct half *half = context;
	struct report *report = half->report;

	return is_needed(report, ANALYSIS_timeline)
		       ? timeline_build(&report->timeline, report->profile, &half->err)
		       : 0;
}

/* When devices worked, and when what repeats did: what all times are divided by.  Loops are found meanwhile. */
static int find_when(struct half *half)
{
	struct report *report = half->report;
	struct half busy = {report, {""}};
	struct worker worker;
	int rc = 0, busy_rc;

	worker_start(&worker, profile_item_count(report->profile), find_busy, &busy);
	if (is_needed(report, ANALYSIS_when_steady))
		rc = steady_state_open(&report->steady_state, report->profile, &half->err);
	busy_rc = worker_join(&worker);
	if (busy_rc < 0)
		return err_set(&half->err, busy_rc, "%s", busy.err.text);
	if (rc == 0 && is_needed(report, ANALYSIS_when_steady))
		rc = steady_state_find(report->steady_state, report->profile, report->timeline,
				       &half->err);
	return rc;
}

static int add_gap(const struct gap *gap, void *context)
{
	struct report *report = context;

	if (is_needed(report, ANALYSIS_steady_state))
		steady_state_add_gap(report->steady_state, report->profile, gap);
	if (is_needed(report, ANALYSIS_counted))
		counted_add_gap(report->counted, gap);
	return 0;
}

static int count_steady(void *context)
{
	struct half *half = context;
	struct report *report = half->report;

	return is_needed(report, ANALYSIS_steady_state)
		       ? steady_state_count(report->steady_state, report->profile, report->timeline,
					    &half->err)
		       : 0;
}

/* Idle time and what rests on it: what repeats, and how near kernels come to their roofs. */
static int analyze_idle(struct half *half)
{
	struct report *report = half->report;
	struct half steady = {report, {""}};
	struct worker worker;
	int rc = 0, steady_rc;

	worker_start(&worker, profile_item_count(report->profile), count_steady, &steady);
	if (is_needed(report, ANALYSIS_gaps))
		rc = gaps_analyze_by(&report->gaps, report->profile, report->gap_finder,
				     report->timeline, REPORT_LONGEST_GAPS, add_gap, report,
				     &half->err);
	steady_rc = worker_join(&worker);
	if (rc == 0 && steady_rc < 0)
		rc = err_set(&half->err, steady_rc, "%s", steady.err.text);
	if (rc == 0 && is_needed(report, ANALYSIS_steady_state))
		rc = steady_state_measure(report->steady_state, report->profile, report->timeline,
					  report->gaps, &half->err);
	if (rc == 0 && is_needed(report, ANALYSIS_roofline))
		rc = place_under_roofs(report, &half->err);
	return rc;
}

/* What kernels, calls and copies took. */
static int collect_statistics(void *context)
{
	struct half *half = context;
	struct report *report = half->report;

	if (!is_needed(report, ANALYSIS_kernel_statistics))
		return 0;
	return (is_needed(report, ANALYSIS_statistics)
			? statistics_collect
			: statistics_of_kernels)(&report->statistics, report->profile,
						 report->steady_state, &half->err);
}

/* Analyses that look at the profile alone, or at those before them. */
#define ANALYSES_OF_PROFILE(ANALYSIS)                               \
	ANALYSIS(events, events_build, profile)                     \
	ANALYSIS(counted, counted_build, profile)                   \
	ANALYSIS(device_graphs, device_graphs_build, profile)       \
	ANALYSIS(graph_join, graph_join_build, profile)             \
	ANALYSIS(power, power_build, profile)                       \
	ANALYSIS(jit, jit_build, profile)                           \
	ANALYSIS(memory, memory_build, profile)                     \
	ANALYSIS(managed_memory, managed_memory_build, profile)     \
	ANALYSIS(accesses, accesses_build, profile, report->memory) \
	ANALYSIS(sm_activity, sm_activity_build, profile)           \
	ANALYSIS(collectives, collectives_build, profile)           \
	ANALYSIS(collective_sizes, collective_sizes_build, profile, report->collectives)

#define ANALYSIS_FUNCTION(name, build, ...)                               \
	static int analyze_##name(struct report *report, struct err *err) \
	{                                                                 \
		return build(&report->name, report->__VA_ARGS__, err);    \
	}
ANALYSES_OF_PROFILE(ANALYSIS_FUNCTION)
#undef ANALYSIS_FUNCTION

static const struct {
	uint32_t analysis;
	int (*analyze)(struct report *report, struct err *err);
} analyses_of_profile[] = {
#define ANALYSIS_ROW(name, build, ...) {ANALYSIS_##name, analyze_##name},
	ANALYSES_OF_PROFILE(ANALYSIS_ROW)
#undef ANALYSIS_ROW
};

/* What finding the causes of idle time needs of samples and calls. */
static int prepare_gaps(void *context)
{
	struct half *half = context;
	struct report *report = half->report;
	int rc = 0;

	if (is_needed(report, ANALYSIS_device_work))
		rc = device_work_build(&report->device_work, report->profile, &half->err);
	if (rc == 0 && is_needed(report, ANALYSIS_gaps))
		rc = gap_finder_open(&report->gap_finder, report->profile, report->device_work);
	return rc < 0 ? err_set(&half->err, rc, "%s for the gaps of the timeline", samples_why(rc))
		      : 0;
}

/* And counters, samples, graphs launched by the device, and NCCL. */
static int analyze_others(void *context)
{
	struct half *half = context;
	struct report *report = half->report;
	struct half gaps = {report, {""}};
	struct worker worker;
	int rc = 0, gaps_rc;

	worker_start(&worker, profile_item_count(report->profile), prepare_gaps, &gaps);
	for (size_t i = 0; i < sizeof(analyses_of_profile) / sizeof(*analyses_of_profile); i++)
		if (rc == 0 && is_needed(report, analyses_of_profile[i].analysis))
			rc = analyses_of_profile[i].analyze(report, &half->err);
	gaps_rc = worker_join(&worker);
	return gaps_rc < 0 ? err_set(&half->err, gaps_rc, "%s", gaps.err.text) : rc;
}

/* Does both at the same time. */
static int analyze_halves(struct report *report, int (*analyze_one)(struct half *half),
			  int (*analyze_other)(void *half), struct err *err)
{
	struct half times = {report, {""}}, others = {report, {""}};
	struct worker worker;
	int rc, others_rc;

	worker_start(&worker, profile_item_count(report->profile), analyze_other, &others);
	rc = analyze_one(&times);
	others_rc = worker_join(&worker);
	if (rc < 0)
		return err_set(err, rc, "%s", times.err.text);
	return others_rc < 0 ? err_set(err, others_rc, "%s", others.err.text) : 0;
}

/* The run with samples has a report of its own; what its kernels' SMs did is this one's as well. */
static int join_samples(struct report *report, struct err *err)
{
	struct profile *run = report->profile->sample_run;
	struct sm_activity *activity;
	int rc;

	if (!run || !is_needed(report, ANALYSIS_sampled))
		return 0;
	report->profile->sample_run = NULL;
	rc = report_of_profile(&report->sampled, run, err);
	if (rc < 0)
		return rc;
	if (sm_activity_join(&activity, report->profile, report->sampled->sm_activity, run) < 0)
		return err_set(err, -ENOMEM, "out of memory for the report");
	sm_activity_free(report->sm_activity);
	report->sm_activity = activity;
	return 0;
}

static int analyze(struct report *report, struct err *err)
{
	int rc = analyze_halves(report, find_when, analyze_others, err);

	if (rc == 0)
		rc = analyze_halves(report, analyze_idle, collect_statistics, err);
	if (rc == 0 && is_needed(report, ANALYSIS_job))
		rc = job_build(&report->job, report->profile, report->gaps, report->collectives,
			       err);
	if (rc == 0)
		rc = join_samples(report, err);
	if (rc < 0 || !is_needed(report, ANALYSIS_not_visible))
		return rc;
	rc = not_visible_find(report);
	return rc < 0 ? err_set(err, rc, "%s for the report", samples_why(rc)) : 0;
}

static int report_for(struct report **out, struct profile *profile, uint32_t analyses,
		      struct err *err)
{
	struct report *report = calloc(1, sizeof(*report));
	int rc;

	if (!report) {
		profile_free(profile);
		return err_set(err, -ENOMEM, "out of memory for the report");
	}
	report->profile = profile;
	report->analyses = analyses;
	if (profile->device_count > 1) /* the one that was busy longest is the recording's */
		report->analyses |= NEED_timeline;
	rc = analyze(report, err);
	if (rc < 0) {
		report_free(report);
		return rc;
	}
	*out = report;
	return 0;
}

int report_of_profile(struct report **out, struct profile *profile, struct err *err)
{
	return report_for(out, profile, ALL_ANALYSES, err);
}

int report_of_profile_with(struct report **out, struct profile *profile, uint32_t on_request,
			   struct err *err)
{
	return report_for(out, profile, ALL_ANALYSES | on_request, err);
}

int report_build_for(struct report **out, const char *path, const struct report_needs *needs,
		     struct err *err)
{
	struct profile *profile;
	uint64_t tables = needs->tables ? needs->tables : TABLES_ALL;
	int rc = needs->keeps_clocks ? profile_load_tables(&profile, path, tables, err)
				     : host_clocks_load(&profile, path, tables, err);

	return rc < 0 ? rc
		      : report_for(out, profile,
				   needs->tables ? needs->analyses : ALL_ANALYSES | needs->analyses,
				   err);
}

int report_build(struct report **out, const char *path, struct err *err)
{
	static const struct report_needs everything = {0};

	return report_build_for(out, path, &everything, err);
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->not_visible_count; i++)
		free(report->not_visible[i]);
	free(report->not_visible);
	free(report->part.sentence);
	free(report->part.head);
	free(report->part.options);
	free(report->part.choice_options);
	free(report->part.range);
	report_free(report->sampled);
	graph_join_free(report->graph_join);
	device_graphs_free(report->device_graphs);
	power_free(report->power);
	jit_free(report->jit);
	memory_free(report->memory);
	managed_memory_free(report->managed_memory);
	accesses_free(report->accesses);
	sm_activity_free(report->sm_activity);
	device_work_free(report->device_work);
	job_free(report->job);
	collective_sizes_free(report->collective_sizes);
	collectives_free(report->collectives);
	atomics_free(report->atomics);
	roofline_free(report->roofline);
	counted_free(report->counted);
	ceilings_free(report->ceilings);
	free(report->ceilings_note);
	gaps_free(report->gaps);
	gap_finder_close(report->gap_finder);
	steady_state_free(report->steady_state);
	statistics_free(report->statistics);
	timeline_free(report->timeline);
	events_free(report->events);
	profile_free(report->profile);
	free(report);
}

const struct report *report_with_samples(const struct report *report)
{
	return report->sampled ? report->sampled : report;
}

static bool has_bursts(const struct report *report, size_t device)
{
	for (size_t i = 0; i < report->device_work->burst_count; i++)
		if (report->device_work->bursts[i].device == device)
			return true;
	return false;
}

bool report_has_device_work(const struct report *report, size_t device)
{
	const struct profile_device *what = &report->profile->devices[device];

	if (has_bursts(report, device) ||
	    (report->gaps && report->gaps->devices[device].by_cause_ns[GAP_CHILDREN]))
		return true;
	if (report->sampled &&
	    has_bursts(report->sampled, sm_activity_find_device(report->sampled->profile, what)))
		return true;
	for (size_t i = what->first_op;
	     report->profile->graph_launch_count && i < what->first_op + what->op_count; i++)
		if (report->profile->ops[i].kind == OP_GRAPH &&
		    report->profile->graph_launches[report->profile->ops[i].detail].launch_mode)
			return true;
	return false;
}
