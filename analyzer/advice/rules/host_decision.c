/*
 * host_decision.c - the host copies a few bytes back, waits for them, and launches what they say.
 *
 * Each such decision costs a copy, a wait and a launch on an idle GPU.  A
 * conditional node, or a graph that launches the next one, decides where the data
 * is.  Fires when re-simulating the loops with the decisions on the device gains
 * something; says nothing where nothing can be predicted.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#include <errno.h>

static int recommend(const struct facts *facts, struct advice *advice, size_t device,
		     const struct what_if *what_if)
{
	struct recommendation *item = advice_add(advice, facts, device,
						 what_if->prediction.place_before_ns -
							 what_if->prediction.place_after_ns);
	int rc;

	if (!item)
		return -ENOMEM;
	item->id = "host_decision";
	item->strategy = "device_decision";
	item->title = "Decide on the device what runs next, in a conditional node of a graph";
	item->workload = "conditional_if";
	item->risk = "What the bodies do must be known when the graph is built, and they cannot "
		     "allocate. A GPU or driver older than CUDA 12.4 has no conditional nodes.";
	item->pattern = "cudaGraphConditionalHandleCreate(&handle, graph, 0, 0);\n"
			"/* in the kernel that finds the flag: */\n"
			"/*     cudaGraphSetConditional(handle, flag); */\n"
			"params.type = cudaGraphNodeTypeConditional;\n"
			"params.conditional.handle = handle;\n"
			"params.conditional.type = cudaGraphCondTypeIf; /* While, Switch */\n"
			"cudaGraphAddNode(&node, graph, &flag_node, NULL, 1, &params);";
	rc = advice_say(item, "%s times the host reads up to %d bytes and then launches",
			format_count(what_if->changed_count).text, DECISION_BYTES);
	return rc < 0 ? rc : advice_predict(item, what_if);
}

int rule_host_decision(const struct facts *facts, struct advice *advice)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < facts->report->profile->device_count; i++) {
		struct what_if what_if;

		if (!facts_can_predict(facts) || facts_is_computing(facts, i))
			continue;
		rc = what_if_decided(&what_if, &facts->what_ifs, i);
		if (rc == 0 && facts_is_worth(facts, &what_if))
			rc = recommend(facts, advice, i, &what_if);
	}
	return rc;
}
