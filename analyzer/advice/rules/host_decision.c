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

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	(void)facts;
	(void)device;
	return advice_add_evidence(item, "%s times the host reads up to %d bytes and then launches",
				   format_count(what_if->effect.changed_count).text,
				   GAP_DECISION_BYTES);
}

const struct rule rule_host_decision = {
	.id = "host_decision",
	.title = "Decide on the device what runs next, in a conditional node of a graph",
	.workload = "conditional_if",
	.risk = "What the bodies do must be known when the graph is built, and they cannot "
		"allocate. A GPU or driver older than CUDA 12.4 has no conditional nodes.",
	.pattern = "cudaGraphConditionalHandleCreate(&handle, graph, 0, 0);\n"
		   "/* in the kernel that finds the flag: */\n"
		   "/*     cudaGraphSetConditional(handle, flag); */\n"
		   "params.type = cudaGraphNodeTypeConditional;\n"
		   "params.conditional.handle = handle;\n"
		   "params.conditional.type = cudaGraphCondTypeIf; /* While, Switch */\n"
		   "cudaGraphAddNode(&node, graph, &flag_node, NULL, 1, &params);",
	.in[FRAMEWORK_pytorch] =
		{
			.title = "Decide on the device: torch.where, or torch.cond",
			.pattern =
				"output = torch.where(flag, f(x), g(x)) # both, and no wait\n"
				"output = torch.cond(flag, f, g, (x,)) # one of them, in torch.compile",
			.risk = "`if flag:` and `flag.item()` of a tensor wait for the GPU, and nothing "
				"is launched meanwhile. torch.where computes both sides.",
		},
	.in[FRAMEWORK_jax] =
		{
			.title = "Decide on the device: jax.lax.cond, or jnp.where",
			.pattern =
				"output = jax.lax.cond(flag, f, g, x) # one of them, and no wait\n"
				"output = jnp.where(flag, f(x), g(x)) # both",
			.risk = "`if flag:` and bool() of an array wait for the GPU, and nothing is launched meanwhile. jnp.where computes both sides.",
		},
	.in[FRAMEWORK_cupy] =
		{
			.title = "Compute both sides and select: cupy.where",
			.pattern = "output = cupy.where(flag, f(x), g(x)) # both, and no wait",
			.risk = "`if flag:` and bool() of an array wait for the GPU, and nothing is launched meanwhile.",
		},
	.technique = &technique_device_decision,
	.said_by = "while_node",
	.add_evidence = add_evidence,
	.needs_cuda_source = true,
};
