/*
 * launch_bound_graph.c - short kernels launched again and again, and the GPU pauses for each launch.
 *
 * A CUDA graph submits the whole sequence with one call.  Fires when re-simulating
 * the run with each iteration of its loops as a graph gains something.  Where
 * nothing can be predicted, when the launch and host time in pauses between
 * repeated short kernels of one thread (rules.h) exceeds 15% of wall time, over at
 * least 100 such pauses: less would not pay for capturing and instantiating a graph.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#include <errno.h>

#define AT_STAKE_RATIO 0.15
#define PAUSE_COUNT 100

static int64_t stake_ns(const struct device_facts *found, const struct what_if *what_if)
{
	int64_t saved_ns = what_if->prediction.place_before_ns - what_if->prediction.place_after_ns;
	int64_t pauses_ns = found->short_pause_launch_ns + found->short_pause_host_ns;

	return pauses_ns > saved_ns ? pauses_ns : saved_ns;
}

static int say_predicted(struct recommendation *item, const struct what_if *what_if)
{
	int rc = advice_say(item, "%s repeating %s, %s iterations of up to %s operations",
			    format_count(what_if->loop_count).text,
			    what_if->loop_count == 1 ? "loop" : "loops",
			    format_count(what_if->iteration_count).text,
			    format_count(what_if->most_nodes).text);

	return rc < 0 ? rc : advice_predict(item, what_if);
}

static int recommend(const struct facts *facts, struct advice *advice, size_t device,
		     const struct what_if *what_if)
{
	const struct device_facts *found = &facts->devices[device];
	int64_t at_stake_ns = stake_ns(found, what_if);
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
	rc = what_if->prediction.place_before_ns ? say_predicted(item, what_if) : 0;
	if (rc == 0 && found->short_pause_launch_ns + found->short_pause_host_ns > 0)
		rc = advice_say(item,
				"%s pauses of up to 100 us between kernels of up to 100 us that "
				"one thread launches repeatedly",
				format_count(found->short_pause_count).text);
	if (rc == 0 && found->short_pause_launch_ns + found->short_pause_host_ns > 0)
		rc = advice_say(item,
				"in these pauses: %s in launches, %s of host code between "
				"them",
				format_ns((double)found->short_pause_launch_ns).text,
				format_ns((double)found->short_pause_host_ns).text);
	return rc;
}

/* Without a prediction: whether so much is at stake that it will be worth it. */
static bool is_promising(const struct facts *facts, size_t device)
{
	const struct device_facts *found = &facts->devices[device];
	double at_stake_ns =
		(double)found->short_pause_launch_ns + (double)found->short_pause_host_ns;
	double wall_ns = (double)facts->report->timeline->devices[device].wall_ns;

	return found->short_pause_count >= PAUSE_COUNT && at_stake_ns > AT_STAKE_RATIO * wall_ns;
}

static int look(const struct facts *facts, struct advice *advice, size_t device)
{
	struct what_if what_if = {0};
	int rc = 0;

	if (facts_is_computing(facts, device) || facts_has_device_work(facts, device))
		return 0;
	if (facts_can_predict(facts)) {
		rc = what_if_graph(&what_if, &facts->what_ifs, device);
		return rc == 0 && facts_is_worth(facts, &what_if)
			       ? recommend(facts, advice, device, &what_if)
			       : rc;
	}
	return is_promising(facts, device) ? recommend(facts, advice, device, &what_if) : 0;
}

int rule_launch_bound_graph(const struct facts *facts, struct advice *advice)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < facts->report->profile->device_count; i++)
		rc = look(facts, advice, i);
	return rc;
}
