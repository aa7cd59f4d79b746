/*
 * allocation_in_capture.c - memory was allocated in stream order while a stream was captured.
 *
 * The graph then has nodes that allocate and free at every launch, and the first
 * launch maps memory for them (docs/workloads/graph_memory.md has both costs).  Fires
 * when a thread that captured allocated so and graphs were launched at least 20 times.
 * What the nodes take is no ceiling yet, so there is no figure.
 */
#include "advice/rules/rules.h"

#include "advice/captures.h"
#include "base/format.h"

#define LEAST_LAUNCH_COUNT 20

struct graph_launches {
	uint64_t count;
};

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct graph_launches *launches = finding;

	if (!facts->devices[device].captures.allocation_count)
		return 0;
	for (size_t i = 0; i < profile->call_count; i++)
		launches->count += profile->call_names[profile->calls[i].name].call_class ==
					   CALL_GRAPH_LAUNCH &&
				   facts_is_call_of(facts, &profile->calls[i], device);
	return 0;
}

static uint64_t launch_count(const struct facts *facts, size_t device)
{
	const struct graph_launches *launches =
		facts_finding(facts, RULE_allocation_in_capture, device);

	return launches->count;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)what_if;
	return advice_add_evidence(
		item, "allocations that were captured: %s, for %s launches of graphs",
		format_count(facts->devices[device].captures.allocation_count).text,
		format_count(launch_count(facts, device)).text);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return facts->devices[device].captures.allocation_count > 0 &&
	       launch_count(facts, device) >= LEAST_LAUNCH_COUNT;
}

const struct rule rule_allocation_in_capture = {
	.id = "allocation_in_capture",
	.strategy = "allocate_before_capture",
	.title = "Allocate what a graph uses once, before it is captured",
	.workload = "graph_memory",
	.risk = "The memory is taken for as long as the graph lives, also between launches; two "
		"launches at once would share it.",
	.pattern = "cudaMalloc(&scratch, bytes); /* once, before the capture */\n"
		   "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n"
		   "kernel<<<grid, block, 0, stream>>>(scratch);\n"
		   "cudaStreamEndCapture(stream, &graph);",
	.finding_size = sizeof(struct graph_launches),
	.find = find,
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
