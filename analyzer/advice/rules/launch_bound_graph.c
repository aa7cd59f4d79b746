/*
 * launch_bound_graph.c - short kernels launched again and again, and the GPU pauses for each launch.
 *
 * A CUDA graph submits the whole sequence with one call.  Fires when the launch
 * and host time in pauses between repeated short kernels of one thread
 * (rules.h) exceeds 15% of wall time, over at least 100 such pauses: less would
 * not pay for capturing and instantiating a graph.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#include <errno.h>

#define AT_STAKE_RATIO 0.15
#define PAUSE_COUNT 100

static int recommend(const struct facts *facts, struct advice *advice, size_t device)
{
	const struct device_facts *found = &facts->devices[device];
	int64_t at_stake_ns = found->short_pause_launch_ns + found->short_pause_host_ns;
	struct recommendation *item = advice_add(advice, facts, device, at_stake_ns);
	int rc;

	if (!item)
		return -ENOMEM;
	item->id = "launch_bound_graph";
	item->strategy = "cuda_graph";
	item->title = "Launch the repeating sequence of short kernels as one CUDA graph";
	item->workload = "graph_chain";
	item->risk = "Addresses and launch parameters are frozen at capture; what changes needs "
		     "cudaGraphExecUpdate or fixed buffers. Nothing that waits may be called while "
		     "capturing.";
	item->pattern = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
			"/* one iteration of the launches, on stream */\n"
			"cudaStreamEndCapture(stream, &graph);\n"
			"cudaGraphInstantiate(&exec, graph, 0);\n"
			"for (...) cudaGraphLaunch(exec, stream);";
	rc = advice_say(item,
			"%s pauses of up to 100 us between kernels of up to 100 us that "
			"one thread launches repeatedly",
			format_count(found->short_pause_count).text);
	if (rc == 0)
		rc = advice_say(item,
				"in these pauses: %s in launches, %s of host code between "
				"them",
				format_ns((double)found->short_pause_launch_ns).text,
				format_ns((double)found->short_pause_host_ns).text);
	return rc;
}

int rule_launch_bound_graph(const struct facts *facts, struct advice *advice)
{
	const struct report *report = facts->report;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < report->profile->device_count; i++) {
		const struct device_facts *found = &facts->devices[i];
		double at_stake_ns =
			(double)found->short_pause_launch_ns + (double)found->short_pause_host_ns;

		if (!facts_is_computing(facts, i) && found->short_pause_count >= PAUSE_COUNT &&
		    at_stake_ns > AT_STAKE_RATIO * (double)report->timeline->devices[i].wall_ns)
			rc = recommend(facts, advice, i);
	}
	return rc;
}
