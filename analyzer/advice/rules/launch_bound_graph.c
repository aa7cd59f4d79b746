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

#define AT_STAKE_RATIO 0.15
#define PAUSE_COUNT 100

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	const struct device_facts *found = &facts->devices[device];

	return found->short_pause_launch_ns + found->short_pause_host_ns;
}

static int add_loops(struct recommendation *item, const struct facts *facts,
		     const struct what_if *what_if)
{
	char cuts[CUTS_TEXT_SIZE];
	int rc =
		advice_add_evidence(item,
				    "%s repeating %s, %s iterations, graphs of up to %s operations",
				    format_count(what_if->effect.loop_count).text,
				    what_if->effect.loop_count == 1 ? "loop" : "loops",
				    format_count(what_if->effect.iteration_count).text,
				    format_count(what_if->effect.most_nodes).text);

	if (rc == 0 && what_if->effect.largest && what_if->effect.largest->kind_count > 1)
		rc = advice_add_evidence(item, "iterations are of %zu kinds: a graph for each",
					 what_if->effect.largest->kind_count);
	cuts_text(cuts, &what_if->effect.cuts, facts->report->profile);
	return rc == 0 && *cuts ? advice_add_evidence(item, "%s", cuts) : rc;
}

/* Show a user of a framework how much more there is if results are read after the last step. */
static int add_uncut(struct recommendation *item, const struct facts *facts, size_t device,
		     const struct what_if *what_if)
{
	struct what_if uncut = {0};
	double speedup = what_if->prediction.steady.speedup;
	int rc;

	if (facts->framework == FRAMEWORK_NONE || !what_if->effect.cuts.graph_count || speedup <= 0)
		return 0;
	rc = what_if_alone(&uncut, TECHNIQUE_compiled_steps, &facts->what_ifs, device);
	if (rc || uncut.effect.refusal || uncut.prediction.steady.speedup <= speedup)
		return rc;
	return advice_add_evidence(
		item,
		"if nothing cut a step, and results were read after the last: up to "
		"%.2fx (whatif --compile)",
		uncut.prediction.steady.speedup);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct device_facts *found = &facts->devices[device];
	int rc = what_if ? add_loops(item, facts, what_if) : 0;

	if (rc == 0 && what_if)
		rc = add_uncut(item, facts, device, what_if);
	if (rc < 0 || stake_ns(facts, device) == 0)
		return rc;
	rc = advice_add_evidence(item,
				 "%s pauses of up to 100 us between kernels of up to 100 us that "
				 "one thread launches repeatedly",
				 format_count(found->short_pause_count).text);
	if (rc == 0)
		rc = advice_add_evidence(item,
					 "in these pauses: %s in launches, %s of host code between "
					 "them",
					 format_ns((double)found->short_pause_launch_ns).text,
					 format_ns((double)found->short_pause_host_ns).text);
	return rc;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	double wall_ns = facts_wall_ns(facts, device);

	return facts->devices[device].short_pause_count >= PAUSE_COUNT &&
	       (double)stake_ns(facts, device) > AT_STAKE_RATIO * wall_ns;
}

const struct rule rule_launch_bound_graph = {
	.id = "launch_bound_graph",
	.title = "Launch the repeating sequence of short kernels as one CUDA graph",
	.workload = "graph_chain",
	.risk = "Addresses and launch parameters are frozen at capture; what changes needs "
		"cudaGraphExecUpdate or fixed buffers. Nothing that waits may be called while "
		"capturing.",
	.pattern = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
		   "/* one iteration of the launches, on stream */\n"
		   "cudaStreamEndCapture(stream, &graph);\n"
		   "cudaGraphInstantiate(&exec, graph, 0);\n"
		   "for (...) cudaGraphLaunch(exec, stream);",
	.in[FRAMEWORK_pytorch] =
		{
			.title =
				"Run the step as a CUDA graph: torch.compile(mode=\"reduce-overhead\")",
			.pattern =
				"fast = torch.compile(model, mode=\"reduce-overhead\") # makes CUDA graphs\n"
				"# or by hand, after a few iterations on a side stream:\n"
				"graph = torch.cuda.CUDAGraph()\n"
				"with torch.cuda.graph(graph):\n"
				"    output = step(captured) # an iteration, on a tensor that stays\n"
				"for batch in loader:\n"
				"    captured.copy_(batch, non_blocking=True)\n"
				"    graph.replay() # writes the same output tensor again",
			.risk = "Shapes and addresses are frozen at capture: inputs are copied into the "
				"captured tensors, and outputs are read before the next replay. Nothing "
				"may wait in it: no .item(), .cpu() or print of a tensor. "
				"reduce-overhead keeps a graph for each shape (CUDA graph trees); "
				"TORCH_LOGS=perf_hints tells where it makes none. For training: "
				"torch.cuda.make_graphed_callables.",
			.workload = "pytorch",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title =
				"Capture the repeating launches into a CUDA graph: Stream.begin_capture()",
			.pattern =
				"stream = cupy.cuda.Stream(non_blocking=True)\n"
				"with stream:\n"
				"    step() # first: compiles kernels and fills the memory pool\n"
				"    stream.begin_capture()\n"
				"    step() # into arrays that stay: out=...\n"
				"    graph = stream.end_capture()\n"
				"for i in range(count):\n"
				"    graph.launch(stream)",
			.risk = "A captured step reads and writes the same arrays each time, and may neither allocate from the driver nor wait: no .get(), float() or print of an array. New input is copied into the captured arrays.",
		},
	.technique = &technique_cuda_graph,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
