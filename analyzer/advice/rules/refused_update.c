/*
 * refused_update.c - an executable graph was to be updated, and CUDA refused.
 *
 * cudaGraphExecUpdate leaves the graph as it was when the new one has other nodes or
 * edges.  A program that does not look launches the old work again; one that does
 * pays for the update and for instantiating.  Fires when an update was refused at
 * all.  At stake is the time of these calls as far as the GPU was idle for graphs
 * being instantiated or updated.
 */
#include "advice/rules/rules.h"

#include "base/sums.h"
#include "base/format.h"

#define UPDATE_FAILURE \
	910 /* cudaErrorGraphExecUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE */

struct updates {
	uint64_t count, refused_count;
	uint64_t again_count;	/* refused, and instantiated next */
	uint64_t ignored_count; /* refused, and a graph launched next */
	int64_t time_ns;	/* of refused updates and of instantiating after them */
};

/* The next of the thread's calls is about the update that was refused. */
static void follow(struct updates *out, const struct facts *facts, const struct profile_call *call,
		   bool *is_refused)
{
	if (facts->report->profile->call_names[call->name].call_class == CALL_GRAPH_LAUNCH) {
		out->ignored_count++;
		*is_refused = false;
	} else if (facts_is_named(facts, call, "GraphInstantiate")) {
		out->again_count++;
		sum_add_ns(&out->time_ns, call->end_ns - call->start_ns);
		*is_refused = false;
	}
}

static void count_call(struct updates *out, const struct facts *facts,
		       const struct profile_call *call, bool *is_refused)
{
	if (facts_is_named(facts, call, "GraphExecUpdate")) {
		out->count++;
		out->refused_count += call->result == UPDATE_FAILURE;
		*is_refused = call->result == UPDATE_FAILURE;
		if (*is_refused)
			sum_add_ns(&out->time_ns, call->end_ns - call->start_ns);
	} else if (*is_refused) {
		follow(out, facts, call, is_refused);
	}
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct profile *profile = facts->report->profile;
	struct updates *found = finding;

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		const struct profile_call *call = profile->calls + thread->first_call;
		const struct profile_call *end = call + thread->call_count;
		bool is_refused = false;

		if (!facts_is_home(facts, thread->process, device))
			continue;
		for (; call < end; call++) {
			enum profile_call_class class = profile->call_names[call->name].call_class;

			if (class == CALL_GRAPH_MANAGE || class == CALL_GRAPH_LAUNCH)
				count_call(found, facts, call, &is_refused);
		}
	}
	return 0;
}

static const struct updates *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_refused_update, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const int64_t *by_cause_ns = facts->report->gaps->devices[device].by_cause_ns;
	int64_t idle_ns = by_cause_ns[GAP_INSTANTIATE] + by_cause_ns[GAP_UPDATE];
	int64_t time_ns = found_on(facts, device)->time_ns;

	return time_ns < idle_ns ? time_ns : idle_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct updates *found = found_on(facts, device);
	int rc = advice_add_evidence(item,
				     "updates of graphs that were refused: %s of %s, "
				     "cudaErrorGraphExecUpdateFailure (910)",
				     format_count(found->refused_count).text,
				     format_count(found->count).text);

	(void)what_if;
	if (rc == 0 && found->again_count)
		rc = advice_add_evidence(
			item,
			"after %s of them a graph was instantiated: %s of the host in both "
			"calls",
			format_count(found->again_count).text,
			format_ns((double)found->time_ns).text);
	if (rc == 0 && found->ignored_count)
		rc = advice_add_evidence(
			item, "after %s of them a graph was launched as if nothing had happened",
			format_count(found->ignored_count).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->refused_count > 0;
}

const struct rule rule_refused_update = {
	.id = "refused_update",
	.strategy = "graph_per_structure",
	.title = "Check every update of a graph, and keep an executable graph for each structure",
	.workload = "graph_update",
	.risk = "Each executable graph that is kept takes device memory. A refused update leaves an "
		"error for cudaGetLastError.",
	.pattern = "cudaGraphExec_t *exec = &execs[structure]; /* its nodes and edges */\n"
		   "if (!*exec || cudaGraphExecUpdate(*exec, graph, &info) != cudaSuccess) {\n"
		   "    cudaGetLastError();\n"
		   "    if (*exec) cudaGraphExecDestroy(*exec);\n"
		   "    cudaGraphInstantiate(exec, graph, 0);\n"
		   "}\n"
		   "cudaGraphLaunch(*exec, stream);",
	.finding_size = sizeof(struct updates),
	.find = find,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
