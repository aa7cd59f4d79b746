/*
 * graph_rebuilt.c - graphs are captured and instantiated again and again, and the GPU waits for that.
 *
 * Instantiating costs far more than launching; an executable graph can be launched
 * again, updated, or have one made for each size.  Fires when the GPU is idle for
 * more than 10% of wall time while graphs are captured, instantiated or updated, and
 * at least 20 were instantiated for about as many launches: a graph for each size that
 * is launched often is what is wanted, and one that is never launched by the host is
 * the device's.  Predicted is that they are updated (techniques/update_graph.c).
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define AT_STAKE_RATIO 0.10
#define LEAST_COUNT 20
#define LAUNCHES_LEAST 0.5 /* of an instantiated graph */
#define LAUNCHES_MOST 2.0

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const int64_t *by_cause_ns = facts->report->gaps->devices[device].by_cause_ns;

	return by_cause_ns[GAP_CAPTURE] + by_cause_ns[GAP_INSTANTIATE] + by_cause_ns[GAP_UPDATE];
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	struct call_use made = facts_use_of(facts, "GraphInstantiate");
	struct call_use launched = facts_use_of(facts, "GraphLaunch");
	int rc = advice_add_evidence(item, "%s graphs instantiated, in %s, for %s launches",
				     format_count(made.count).text,
				     format_ns((double)made.time_ns).text,
				     format_count(launched.count).text);

	(void)what_if;
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"the GPU was idle for %s while graphs were captured, instantiated "
			"or updated",
			format_ns((double)stake_ns(facts, device)).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	double wall_ns = facts_wall_ns(facts, device);
	double made_count = (double)facts_use_of(facts, "GraphInstantiate").count;
	double launch_count = (double)facts_use_of(facts, "GraphLaunch").count;

	return made_count >= LEAST_COUNT && launch_count >= LAUNCHES_LEAST * made_count &&
	       launch_count <= LAUNCHES_MOST * made_count &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_graph_rebuilt = {
	.id = "graph_rebuilt",
	.title = "Keep executable graphs: update them, or one for each size",
	.workload = "graph_update",
	.risk = "An update is refused when the new graph has other nodes or edges: then instantiate. "
		"Graphs that are no longer needed have to be destroyed.",
	.pattern = "if (cudaGraphExecUpdate(exec, graph, &info) != cudaSuccess) {\n"
		   "    cudaGetLastError();\n"
		   "    cudaGraphExecDestroy(exec);\n"
		   "    cudaGraphInstantiate(&exec, graph, 0);\n"
		   "}\n"
		   "cudaGraphLaunch(exec, stream);",
	.technique = &technique_update_graph,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
};
