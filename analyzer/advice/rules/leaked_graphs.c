/*
 * leaked_graphs.c - executable graphs are made, launched for a while, and never destroyed.
 *
 * Each holds host and device memory until its process ends.  No call tells which graph
 * it was about, so a program that fills a cache has to be told from one that forgets:
 * it comes back to its graphs, and launches them after the last was made.
 *
 * Fires when a process that was recorded to its end has instantiated at least 20 graphs
 * more than it destroyed, when more than half of its graph launches came before the last
 * one was made, and when its launches change from graph to graph no more often than
 * graphs were made.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#define LEAST_COUNT 20

struct graphs {
	uint64_t made_count, destroyed_count;
	int64_t last_made_ns;
	uint64_t launch_count, early_count; /* early: before the last was made */
	uint64_t change_count; /* launches of another graph than the launch before, and the first */
};

static uint64_t left_count(const struct graphs *found)
{
	return found->made_count > found->destroyed_count
		       ? found->made_count - found->destroyed_count
		       : 0;
}

static void count_made(struct graphs *out, const struct facts *facts,
		       const struct profile_call *call)
{
	if (call->result)
		return;
	if (facts_is_named(facts, call, "GraphInstantiate")) {
		out->made_count++;
		if (call->start_ns > out->last_made_ns)
			out->last_made_ns = call->start_ns;
	} else if (facts_is_named(facts, call, "GraphExecDestroy")) {
		out->destroyed_count++;
	}
}

typedef void (*call_visitor)(struct graphs *out, const struct facts *facts,
			     const struct profile_call *call);

static void visit(struct graphs *out, const struct facts *facts, uint32_t process,
		  enum profile_call_class class, call_visitor visitor)
{
	const struct profile *profile = facts->report->profile;

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		const struct profile_call *call = profile->calls + thread->first_call;
		const struct profile_call *end = call + thread->call_count;

		for (; thread->process == process && call < end; call++)
			if (profile->call_names[call->name].call_class == class)
				visitor(out, facts, call);
	}
}

static void count_launch(struct graphs *out, const struct facts *facts,
			 const struct profile_call *call)
{
	(void)facts;
	out->launch_count++;
	out->early_count += call->start_ns < out->last_made_ns;
}

static void count_changes(struct graphs *out, const struct profile *profile, uint32_t process,
			  size_t device)
{
	const struct profile_op *op = profile->ops + profile->devices[device].first_op;
	const struct profile_op *end = op + profile->devices[device].op_count;
	uint32_t last = 0;

	for (; op < end; op++) {
		uint32_t graph = profile_op_graph(profile, op);

		if (!graph || graph == last || profile_op_process(profile, op) != process)
			continue;
		last = graph;
		out->change_count++;
	}
}

static struct graphs count(const struct facts *facts, uint32_t process, size_t device)
{
	struct graphs found = {.last_made_ns = INT64_MIN};

	visit(&found, facts, process, CALL_GRAPH_MANAGE, count_made);
	if (left_count(&found) < LEAST_COUNT)
		return found;
	visit(&found, facts, process, CALL_GRAPH_LAUNCH, count_launch);
	count_changes(&found, facts->report->profile, process, device);
	return found;
}

static bool is_leak(const struct profile_process *process, const struct graphs *found)
{
	return process->sealed_ns && left_count(found) >= LEAST_COUNT &&
	       2 * found->early_count > found->launch_count &&
	       found->change_count <= found->made_count;
}

/* The process at home there that leaves most; all 0 when none does. */
static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct graphs *worst = finding;

	for (size_t i = 0; i < profile->process_count; i++) {
		struct graphs found;

		if (!facts_is_home(facts, (uint32_t)i, device))
			continue;
		found = count(facts, (uint32_t)i, device);
		if (is_leak(&profile->processes[i], &found) &&
		    left_count(&found) > left_count(worst))
			*worst = found;
	}
	return 0;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct graphs *found = facts_finding(facts, RULE_leaked_graphs, device);

	(void)what_if;
	return advice_add_evidence(item,
				   "%s executable graphs were made and %s destroyed: %s were left",
				   format_count(found->made_count).text,
				   format_count(found->destroyed_count).text,
				   format_count(left_count(found)).text);
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct graphs *found = facts_finding(facts, RULE_leaked_graphs, device);

	return found->made_count > 0;
}

const struct rule rule_leaked_graphs = {
	.id = "leaked_graphs",
	.strategy = "destroy_graphs",
	.title = "Destroy executable graphs that are launched no more, or keep and update one",
	.workload = "graph_update",
	.risk = "An executable graph that is destroyed while it runs goes when it has ended; the "
		"graph that it was made of has to be destroyed as well.",
	.pattern = "cudaGraphInstantiate(&exec, graph, 0);\n"
		   "cudaGraphDestroy(graph); /* the executable graph has its own copy */\n"
		   "for (...) cudaGraphLaunch(exec, stream);\n"
		   "cudaGraphExecDestroy(exec);",
	.finding_size = sizeof(struct graphs),
	.find = find,
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
