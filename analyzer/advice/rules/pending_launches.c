/*
 * pending_launches.c - a graph launched as many others from the device as CUDA lets it.
 *
 * One launch of a graph may launch 120 by fire and forget, and have 255 in its tail.
 * The call that goes beyond it fails on the device, and the host never hears of it: no
 * call of it returns an error, and the work is missing.  A recording has the launches
 * that worked, so it tells who came to the limit, not who wanted to go beyond it.
 *
 * Fires when a launch of a graph came to a limit; needs --graphs=graph or both.
 */
#include "advice/rules/rules.h"

#include <string.h>

#include "base/format.h"

/* The limits are those of the second run, where there is one: devices are the same by UUID. */
static bool is_here(const struct facts *facts, const struct device_limit *limit, size_t device)
{
	const struct report *report = facts->report;
	const struct profile *run = report->device_graphs->profile;

	if (run == report->profile)
		return limit->device == device;
	return !strcmp(run->devices[limit->device].uuid, report->profile->devices[device].uuid);
}

/* By the id that the first run has for it, where the runs are joined. */
static uint32_t graph_of(const struct report *report, const struct device_limit *limit)
{
	const struct graph_pair *pair =
		graph_join_find(report->graph_join, limit->process, limit->launcher_graph);

	return pair ? pair->graph : limit->launcher_graph;
}

static int add_limit(struct recommendation *item, const struct report *report,
		     const struct device_limit *limit)
{
	return advice_add_evidence(
		item,
		"graph %u of %s: %s of its launches launched %s others by %s, and %s is "
		"all that one may",
		graph_of(report, limit),
		report->device_graphs->profile->processes[limit->process].folder,
		format_count(limit->launch_count).text, format_count(limit->most).text,
		device_graphs_mode_name(limit->launch_mode),
		format_count(device_graphs_limit(limit->launch_mode)).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct device_graphs *graphs = facts->report->device_graphs;
	int rc = 0;

	(void)what_if;
	for (size_t i = 0; rc == 0 && i < graphs->limit_count; i++)
		if (is_here(facts, &graphs->limits[i], device))
			rc = add_limit(item, facts->report, &graphs->limits[i]);
	return rc < 0 ? rc
		      : advice_add_evidence(
				item, "a launch beyond that fails on the device only: its work "
				      "is missing, and no call of the host says so");
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct device_graphs *graphs = facts->report->device_graphs;

	for (size_t i = 0; i < graphs->limit_count; i++)
		if (is_here(facts, &graphs->limits[i], device))
			return true;
	return false;
}

const struct rule rule_pending_launches = {
	.id = "pending_launches",
	.strategy = "check_device_launch",
	.title = "Check what launches of graphs from the device return, and launch fewer at once",
	.risk = "A graph can wait in its own tail once; each launch of it may launch as many again.",
	.pattern = "cudaError_t error = cudaGraphLaunch(part, cudaStreamGraphFireAndForget);\n"
		   "if (error != cudaSuccess)\n"
		   "    atomicCAS(failed, 0, (int)error); /* for the host */\n"
		   "/* the next 120: this graph once more, when those are done */\n"
		   "cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);",
	.workload = "device_graph",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
