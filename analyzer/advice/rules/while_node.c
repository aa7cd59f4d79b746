/*
 * while_node.c - a loop goes on until a flag says that it is done, and the host reads it after each iteration.
 *
 * A WHILE node repeats its body for as long as the device says, without the host; where that cannot be, several
 * iterations can be launched before the flag is read.  Fires when re-simulating the loop as the body of such a node
 * gains something.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)facts;
	(void)device;
	return advice_add_evidence(
		item, "%s times the host reads up to %d bytes, and launches the same as before",
		format_count(what_if->effect.changed_count).text, GAP_DECISION_BYTES);
}

const struct rule rule_while_node = {
	.id = "while_node",
	.title = "Repeat the iteration on the device, in a WHILE node of a graph",
	.workload = "conditional_while",
	.risk = "The body cannot allocate. A GPU or driver older than CUDA 12.4 has no conditional nodes: "
		"where some iterations too many do no harm, launch k of them before each read of the flag.",
	.pattern = "cudaGraphConditionalHandleCreate(&handle, graph, 1,\n"
		   "                                 cudaGraphCondAssignDefault);\n"
		   "params.type = cudaGraphNodeTypeConditional;\n"
		   "params.conditional.handle = handle;\n"
		   "params.conditional.type = cudaGraphCondTypeWhile;\n"
		   "params.conditional.size = 1;\n"
		   "cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params);\n"
		   "/* the iteration goes into params.conditional.phGraph_out[0]; */\n"
		   "/* its last kernel: cudaGraphSetConditional(handle, goes_on); */",
	.in[FRAMEWORK_pytorch] =
		{
			.title = "Read the flag that ends the loop after several iterations",
			.pattern =
				"for i in range(count):\n"
				"    x, done = step(x)\n"
				"    if i % k == k - 1 and done.item(): # waits once in k iterations\n"
				"        break\n"
				"# without any wait: torch.while_loop, in torch.compile",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Repeat on the device: jax.lax.while_loop",
			.pattern =
				"x = jax.lax.while_loop(lambda x: ~done(x), step, x) # waits for nothing",
			.risk = "Shapes must not change in the loop. Reverse-mode derivatives need lax.scan or a fixed number of iterations.",
		},
	.technique = &technique_while_node,
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
