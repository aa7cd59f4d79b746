/* measures_work.c - copies, memsets, graphs, API calls, NVTX ranges, and what counters tell of kernels. */
#include "analysis/compare/measures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "roofline/metrics.h"

/* What is told of everything that has a time: three figures, or two. */
struct work {
	enum measure_group group;
	const char *name, *shape, *counted; /* counted: "launches" */
	const struct distribution *time;
};

static int add(struct measures *measures, const struct work *work, const char *quantity,
	       enum measure_unit unit, double value)
{
	const struct measure measure = {.group = work->group,
					.name = (char *)work->name,
					.shape = (char *)work->shape,
					.quantity = quantity,
					.unit = unit,
					.value = value,
					.low = NAN,
					.high = NAN};

	return measure_add(measures, &measure);
}

static int add_times(struct measures *measures, const struct work *work)
{
	int rc = add(measures, work, "time", UNIT_NS, (double)work->time->total_ns);

	if (rc == 0)
		rc = add(measures, work, work->counted, UNIT_COUNT, (double)work->time->count);
	return rc < 0 ? rc : add(measures, work, "median", UNIT_NS, (double)work->time->p50_ns);
}

int measure_copies(struct measures *measures, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < report->statistics->copy_count && rc == 0; i++) {
		const struct copy_statistics *copy = &report->statistics->copies[i];
		char name[160];
		const struct work work = {MEASURE_COPIES, name, NULL, "copies", &copy->time};

		snprintf(name, sizeof(name), "%s, %s to %s, %s", profile_copy_kind_name(copy->kind),
			 profile_memory_kind_name(copy->src_memory),
			 profile_memory_kind_name(copy->dst_memory),
			 copy->is_async ? "async" : "sync");
		rc = add_times(measures, &work);
		rc = rc ? rc : add(measures, &work, "bytes", UNIT_BYTES, (double)copy->bytes);
		rc = rc ? rc : add(measures, &work, "rate", UNIT_BYTE_PER_S, copy->byte_per_s);
	}
	return rc;
}

int measure_memsets(struct measures *measures, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < report->statistics->memset_count && rc == 0; i++) {
		const struct memset_statistics *memset = &report->statistics->memsets[i];
		const struct work work = {MEASURE_MEMSETS, profile_memory_kind_name(memset->memory),
					  NULL, "memsets", &memset->time};

		rc = add_times(measures, &work);
		rc = rc ? rc : add(measures, &work, "bytes", UNIT_BYTES, (double)memset->bytes);
	}
	return rc;
}

/* Handles of graphs are others in each run: they are told apart by how many nodes they have. */
struct graphs_alike {
	uint32_t node_count;
	double graph_count, launch_count, total_ns;
};

static int sum_alike(struct graphs_alike *sums, struct groups *numbers,
		     const struct graph_statistics *graph)
{
	uint32_t number;
	int rc = groups_find(numbers, &graph->node_count, sizeof(graph->node_count), &number);

	if (rc < 0)
		return rc;
	sums[number].node_count = graph->node_count;
	sums[number].graph_count++;
	sums[number].launch_count += (double)graph->launch_count;
	sums[number].total_ns += (double)graph->time.total_ns;
	return 0;
}

static int add_graphs(struct measures *measures, const struct graphs_alike *sum)
{
	char name[64];
	const struct work work = {MEASURE_GRAPHS, name, NULL, NULL, NULL};
	int rc;

	if (sum->node_count)
		snprintf(name, sizeof(name), "of %u node%s", sum->node_count,
			 sum->node_count == 1 ? "" : "s");
	else
		snprintf(name, sizeof(name), "recorded as a whole");
	rc = add(measures, &work, "time", UNIT_NS, sum->total_ns);
	rc = rc ? rc : add(measures, &work, "launches", UNIT_COUNT, sum->launch_count);
	rc = rc ? rc : add(measures, &work, "graphs", UNIT_COUNT, sum->graph_count);
	return rc ? rc
		  : add(measures, &work, "mean", UNIT_NS,
			sum->launch_count > 0 ? sum->total_ns / sum->launch_count : 0);
}

int measure_graphs(struct measures *measures, const struct report *report)
{
	const struct statistics *statistics = report->statistics;
	struct graphs_alike *sums = calloc(statistics->graph_count + 1, sizeof(*sums));
	struct groups numbers = {0};
	int rc = sums ? 0 : -ENOMEM;

	for (size_t i = 0; i < statistics->graph_count && rc == 0; i++)
		rc = sum_alike(sums, &numbers, &statistics->graphs[i]);
	for (uint32_t i = 0; i < numbers.count && rc == 0; i++)
		rc = add_graphs(measures, &sums[i]);
	groups_free(&numbers);
	free(sums);
	return rc;
}

int measure_api(struct measures *measures, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < report->statistics->call_count && rc == 0; i++) {
		const struct call_statistics *call = &report->statistics->calls[i];
		const struct work work = {MEASURE_API, report->profile->call_names[call->name].text,
					  NULL, "calls", &call->time};

		rc = add_times(measures, &work);
	}
	return rc;
}

int measure_ranges(struct measures *measures, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < report->statistics->range_count && rc == 0; i++) {
		const struct range_statistics *range = &report->statistics->ranges[i];
		const struct work work = {MEASURE_RANGES, range->name, range->domain, "ranges",
					  &range->time};

		rc = add_times(measures, &work);
		rc = rc ? rc : add(measures, &work, "on GPUs", UNIT_NS, (double)range->span_ns);
	}
	return rc;
}

/* ---- counters ---- */

static const char *const role_names[] = {
#define ROLE_NAME(role, set, meaning) #role,
	METRICS(ROLE_NAME)
#undef ROLE_NAME
};

static enum measure_unit unit_of_role(const char *name)
{
	size_t length = strlen(name);

	return length > 6 && !strcmp(name + length - 6, "_bytes") ? UNIT_BYTES : UNIT_COUNT;
}

static int add_kernel(struct measures *measures, const char *name,
		      const struct counted_work *counted)
{
	const struct work work = {MEASURE_COUNTERS, name, NULL, NULL, NULL};
	int rc = 0;

	for (int role = 0; role < METRIC_ROLE_COUNT && rc == 0; role++)
		if (counted->roles[role].sample_count && role != METRIC_range_ns)
			rc = add(measures, &work, role_names[role], unit_of_role(role_names[role]),
				 counted->roles[role].total / (double)counted->launch_count);
	return rc;
}

int measure_counters(struct measures *measures, const struct report *report)
{
	const struct profile *profile = report->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->kernel_name_count && rc == 0; i++)
		if (report->counted->kernels[i].launch_count)
			rc = add_kernel(measures, profile->kernel_names[i],
					&report->counted->kernels[i]);
	return rc;
}
