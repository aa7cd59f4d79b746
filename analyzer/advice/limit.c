#include "advice/limit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "base/ns.h"
#include "whatif/what_if.h"

/* Both of the wall time and of the kernels' time: what is left is less than what a prediction is off. */
#define NEARLY_ALL 0.9

static double headroom_of(const struct roofline_point *point)
{
	return 1 - (point->is_counted && !point->is_wrong ? fmin(point->binding_share, 1) : 0);
}

/* What of a kernel's time lies in the steady state, where that is known of all of it; else all. */
static double steady_share(const struct statistics *statistics, const struct roofline_point *point)
{
	for (size_t i = 0; statistics && *point->name && i < statistics->kernel_count; i++) {
		const struct steady_split *split = &statistics->kernels[i].split;
		double steady_ns = (double)split->steady.time_ns,
		       once_ns = (double)split->once.time_ns;

		if (strcmp(statistics->kernels[i].name, point->name))
			continue;
		return split->is_unknown || !(steady_ns + once_ns > 0)
			       ? 1
			       : steady_ns / (steady_ns + once_ns);
	}
	return 1;
}

static void find_most(struct limit *limit, const struct statistics *statistics,
		      const struct roofline_point *points, size_t count)
{
	double total_ns = 0, at_roof_ns = 0, kernel_ns = 0, most_ns = 0;

	for (size_t i = 0; i < count; i++) {
		double time_ns = points[i].time_ns * steady_share(statistics, &points[i]);
		double headroom_ns = time_ns * headroom_of(&points[i]);

		total_ns += time_ns;
		at_roof_ns += roofline_is_at_roof(&points[i]) ? time_ns : 0;
		if (limit->kernel && headroom_ns <= most_ns)
			continue;
		limit->kernel = &points[i];
		kernel_ns = time_ns;
		most_ns = headroom_ns;
	}
	limit->kernel_share = total_ns > 0 ? kernel_ns / total_ns : 0;
	limit->at_roof_share = total_ns > 0 ? at_roof_ns / total_ns : 0;
}

/* Nodes of a graph that was counted have no counters of their own. */
static void find_kernel(struct limit *limit, const struct report *report)
{
	const struct roofline *roofline = report->roofline;

	find_most(limit, limit->is_steady ? report->statistics : NULL, roofline->kernels,
		  roofline->kernel_count);
	if (!limit->kernel || limit->kernel->binding != ROOF_NONE || !roofline->graph_count ||
	    2 * roofline->graphs[0].time_ns < limit->kernel->time_ns)
		return;
	limit->kernel = NULL;
	limit->is_graph = true;
	find_most(limit, NULL, roofline->graphs, roofline->graph_count);
}

struct limit_name limit_kernel_name(const struct limit *limit, const struct report *report)
{
	struct limit_name name = {"no kernel"};

	if (limit->kernel && limit->is_graph)
		snprintf(name.text, sizeof(name.text), "graph %" PRIu32,
			 report->profile->counted_graphs[limit->kernel->subject].graph);
	else if (limit->kernel)
		format_text(name.text, sizeof(name.text),
			    kernel_label(report->profile->kernel_labels, limit->kernel->name,
					 LABEL_WIDE),
			    sizeof(name.text));
	return name;
}

static void find_cause(struct limit *limit, const struct run_part *part)
{
	limit->cause = limit->second_cause = GAP_UNKNOWN;
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		int64_t cause_ns = part->by_cause_ns[cause];

		if (cause == GAP_PROFILER || cause == GAP_CHILDREN)
			continue;
		if (cause_ns > limit->cause_ns) {
			limit->second_cause = limit->cause;
			limit->second_cause_ns = limit->cause_ns;
			limit->cause = (enum gap_cause)cause;
			limit->cause_ns = cause_ns;
		} else if (cause_ns > limit->second_cause_ns) {
			limit->second_cause = (enum gap_cause)cause;
			limit->second_cause_ns = cause_ns;
		}
	}
}

static void find_part(struct limit *limit, enum limit_kind kind, int64_t part_ns)
{
	if (part_ns < limit->part_ns)
		return;
	limit->kind = kind;
	limit->part_ns = part_ns;
}

static void find_largest(struct limit *limit, const struct run_part *part)
{
	int64_t profiler_ns = part->by_cause_ns[GAP_PROFILER];

	limit->wall_ns = part->wall_ns - profiler_ns;
	limit->idle_ns = part->idle_ns - profiler_ns;
	limit->children_ns = part->by_cause_ns[GAP_CHILDREN];
	limit->kernel_ns = part->kernel_ns;
	find_part(limit, LIMIT_IDLE, limit->idle_ns - limit->children_ns);
	if (limit->children_ns)
		find_part(limit, LIMIT_CHILDREN, limit->children_ns);
	find_part(limit, LIMIT_COPIES, part->busy_ns - part->kernel_ns);
	find_part(limit, LIMIT_KERNELS, part->kernel_ns);
	find_cause(limit, part);
	if (limit->kind != LIMIT_CHILDREN)
		return;
	limit->cause = GAP_CHILDREN;
	limit->cause_ns = limit->part_ns;
}

/* Of the busy time what is neither kernel nor graph. */
static int64_t copies_alone_ns(const struct timeline_device *times)
{
	int64_t copies_ns = times->copy_ns - times->copy_overlapped_ns + times->memset_ns;

	return min_ns(copies_ns, times->busy_ns - times->kernel_ns);
}

static struct run_part whole_run(const struct report *report, size_t device)
{
	const struct timeline_device *times = &report->timeline->devices[device];
	struct run_part part = {.wall_ns = times->wall_ns,
				.busy_ns = times->busy_ns,
				.idle_ns = times->idle_ns,
				.kernel_ns = times->busy_ns - copies_alone_ns(times)};

	memcpy(part.by_cause_ns, report->gaps->devices[device].by_cause_ns,
	       sizeof(part.by_cause_ns));
	return part;
}

/* NULL: it has none. */
static const struct run_part *steady_part(const struct report *report, size_t device)
{
	const struct steady_state *state = report->steady_state;

	return state && state->devices[device].is_found ? &state->devices[device].steady : NULL;
}

static void add_part(struct run_part *sum, const struct run_part *part)
{
	sum->wall_ns += part->wall_ns;
	sum->busy_ns += part->busy_ns;
	sum->idle_ns += part->idle_ns;
	sum->kernel_ns += part->kernel_ns;
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
		sum->by_cause_ns[cause] += part->by_cause_ns[cause];
}

static void divide_part(struct run_part *part, int64_t count)
{
	part->wall_ns /= count;
	part->busy_ns /= count;
	part->idle_ns /= count;
	part->kernel_ns /= count;
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
		part->by_cause_ns[cause] /= count;
}

/* The mean of all devices with work, and how many these are; 0 where one of them has no steady state. */
static size_t find_mean(struct run_part *mean, const struct report *report)
{
	const struct profile *profile = report->profile;
	size_t count = 0;

	*mean = (struct run_part){0};
	for (size_t i = 0; i < profile->device_count; i++) {
		const struct run_part *part = steady_part(report, i);

		if (!profile->devices[i].op_count)
			continue;
		if (!part)
			return 0;
		add_part(mean, part);
		count++;
	}
	if (count)
		divide_part(mean, (int64_t)count);
	return count;
}

struct limit limit_find(const struct report *report)
{
	const struct profile *profile = report->profile;
	struct limit limit = {.device = what_if_main_device(profile)};
	const struct run_part *steady;
	struct run_part run, mean;

	if (!profile->device_count || (!profile->devices[limit.device].op_count &&
				       !report->timeline->devices[limit.device].wall_ns))
		return limit;
	run = whole_run(report, limit.device);
	steady = steady_part(report, limit.device);
	limit.recording_ns = run.by_cause_ns[GAP_PROFILER];
	limit.run_ns = run.wall_ns - limit.recording_ns;
	limit.is_steady = steady != NULL;
	limit.device_count = find_mean(&mean, report);
	if (limit.device_count > 1)
		steady = &mean;
	else
		limit.device_count = 1;
	find_largest(&limit, steady ? steady : &run);
	if (report->roofline)
		find_kernel(&limit, report);
	limit.has_roof = report->roofline && report->roofline->has_ceilings && limit.kernel &&
			 limit.kernel->binding != ROOF_NONE;
	return limit;
}

const char *limit_whole(const struct limit *limit)
{
	return limit->is_steady ? "the steady state" : "the time";
}

bool limit_is_at_roof(const struct limit *limit)
{
	return limit->kind == LIMIT_KERNELS &&
	       (double)limit->part_ns >= NEARLY_ALL * (double)limit->wall_ns &&
	       limit->at_roof_share >= NEARLY_ALL;
}
