/*
 * host_node.c - functions of the host run between operations, as nodes of graphs or in streams, and the GPU waits for them.
 *
 * What follows such a function in its stream waits until a thread of the driver has woken up, called it and returned: tens of
 * microseconds, also where it does next to nothing (docs/workloads/graph_pipeline.md).  CUPTI does not record when they
 * run: they leave work that had been submitted waiting for longer than the GPU takes to begin it.  Fires when the program
 * enqueues or captures such functions, and such pauses take more of wall time than a prediction may be off.  How
 * long the functions themselves take no recording tells, so nothing is predicted.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/sums.h"

struct pauses_for_host {
	uint64_t count, node_count; /* of node_count work was part of a graph before or behind */
	int64_t time_ns;
};

static void add_gap(void *finding, const struct facts *facts, const struct gap *gap)
{
	const struct profile *profile = facts->report->profile;
	struct pauses_for_host *found = finding;

	if (gap->by_cause_ns[GAP_DEVICE] <= GAP_LATENCY_MAX_NS)
		return;
	found->count++;
	found->node_count += profile_op_graph(profile, &profile->ops[gap->before]) ||
			     profile_op_graph(profile, &profile->ops[gap->after]);
	sum_add_ns(&found->time_ns, gap->by_cause_ns[GAP_DEVICE]);
}

static const struct pauses_for_host *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_host_node, device);
}

/* Of the process that is at home there; captured ones are among them. */
static uint64_t enqueued_count(const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	uint64_t count = 0;

	for (size_t i = 0; i < profile->call_count; i++)
		count += (facts_is_named(facts, &profile->calls[i], "LaunchHostFunc") ||
			  facts_is_named(facts, &profile->calls[i], "StreamAddCallback")) &&
			 facts_is_call_of(facts, &profile->calls[i], device);
	return count;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->time_ns;
}

static int add_functions(struct recommendation *item, const struct facts *facts, size_t device)
{
	uint64_t captured_count = facts->devices[device].captures.host_function_count;
	uint64_t count = enqueued_count(facts, device);

	if (captured_count)
		return advice_add_evidence(item,
					   "functions of the host that are nodes of graphs: %s",
					   format_count(captured_count).text);
	return advice_add_evidence(item, "functions of the host that were enqueued in streams: %s",
				   format_count(count).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct pauses_for_host *found = found_on(facts, device);
	int rc = add_functions(item, facts, device);

	(void)what_if;
	return rc < 0 ? rc
		      : advice_add_evidence(
				item,
				"%s times work that had been submitted waited for more than %s, %s on "
				"average",
				format_count(found->count).text, format_ns(GAP_LATENCY_MAX_NS).text,
				format_ns((double)found->time_ns / (double)found->count).text);
}

/* In a graph it stands beside nodes, in a stream each pause has a call of its own. */
static bool is_for_host(const struct facts *facts, size_t device)
{
	const struct pauses_for_host *found = found_on(facts, device);

	if (facts->devices[device].captures.host_function_count)
		return 2 * found->node_count >= found->count;
	return enqueued_count(facts, device) >= found->count;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct pauses_for_host *found = found_on(facts, device);

	return (double)found->time_ns > LEAST_ESTIMATED_RATIO * facts_wall_ns(facts, device) &&
	       !report_has_device_work(facts->report, device) && is_for_host(facts, device);
}

const struct rule rule_host_node = {
	.id = "host_node",
	.strategy = "host_wait",
	.title =
		"Call functions of the host after a wait for the result, not in streams and graphs",
	.workload = "graph_pipeline",
	.risk = "The host may read a buffer once its event is done, and the GPU may write it again only after the "
		"function has returned: take two buffers in turn, and the GPU goes on meanwhile. A function that "
		"takes longer than the GPU's work limits the run wherever it is called.",
	.pattern = "cudaGraphLaunch(exec, stream); /* without the host node */\n"
		   "cudaEventRecord(copied, stream);\n"
		   "/* here the next launch, with another buffer, where it can be */\n"
		   "cudaEventSynchronize(copied);\n"
		   "consume(result);",
	.finding_size = sizeof(struct pauses_for_host),
	.add_gap = add_gap,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
