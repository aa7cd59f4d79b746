/*
 * unroll_graph.c - iterations are so short that a graph for each spends most of its time on being launched.
 *
 * A graph over several of them costs one launch for all.  Fires when re-simulating the loops so gains something, where
 * that is more than a prediction may be off over a graph for each iteration (techniques/unroll_graph.c).
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "techniques/unroll_graph.h"

static const enum rule_number simpler[] = {RULE_launch_bound_graph, RULE_COUNT};

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct unrolled_graph found =
		unroll_graph_of(&facts->what_ifs.run, what_if->effect.largest);
	int rc;

	(void)device;
	rc = advice_add_evidence(
		item,
		"an iteration is %.0f %s %s in a graph, and its launch keeps the host busy for %s",
		found.nodes,
		found.nodes < 1.5 ? "operation, which takes" : "operations, which take",
		format_ns(found.gpu_ns).text, format_ns(found.launch_ns).text);
	if (rc == 0)
		rc = advice_add_evidence(
			item,
			"%zu iterations in a graph: %s each at best, with a graph for each of them %s",
			found.worth_count, format_ns(found.unrolled_ns).text,
			format_ns(found.single_ns).text);
	return rc;
}

const struct rule rule_unroll_graph = {
	.id = "unroll_graph",
	.title = "Capture several iterations into one CUDA graph",
	.workload = "graph_chain",
	.risk = "The number of iterations becomes a multiple of what is in the graph: launch the rest one by "
		"one. The host sees nothing of what is in between, and cannot stop there.",
	.pattern = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
		   "for (int i = 0; i < k; i++)\n"
		   "    iteration(stream); /* its launches */\n"
		   "cudaStreamEndCapture(stream, &graph);\n"
		   "cudaGraphInstantiate(&exec, graph, 0);\n"
		   "for (int i = 0; i < count; i += k) cudaGraphLaunch(exec, stream);",
	.in[FRAMEWORK_pytorch] =
		{
			.title = "Capture several steps in one CUDA graph",
			.pattern =
				"with torch.cuda.graph(graph): # several iterations in one graph\n"
				"    for i in range(k):\n"
				"        step(captured[i])\n"
				"for i in range(0, count, k):\n"
				"    graph.replay()",
			.workload = "pytorch",
		},
	.technique = &technique_unroll_graph,
	.simpler = simpler,
	.simpler_times = 1 + MODEL_MARGIN,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
