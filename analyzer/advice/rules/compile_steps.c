/*
 * compile_steps.c - Python calls one compiled program of JAX after the other, and the GPU waits for it.
 *
 * XLA launches graphs by itself, and calls functions of the host between its programs, so that no graph can hold a step of
 * several.  One program of all steps needs none of that.
 * Fires where JAX launches the kernels and idle time limits the steady state.
 */
#include "advice/limit.h"
#include "advice/rules/rules.h"
#include "base/format.h"

static bool is_candidate(const struct facts *facts, size_t device)
{
	struct limit limit;

	if (facts->framework != FRAMEWORK_jax || device != facts->main_device)
		return false;
	limit = limit_find(facts->report);
	return limit.is_steady && limit.kind == LIMIT_IDLE;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct steady_device *steady = &facts->report->steady_state->devices[device];

	(void)what_if;
	return advice_add_evidence(
		item, "%s programs, graphs and kernels are launched in each of %s steps",
		format_count(steady->steady.launch_count / steady->loop.count).text,
		format_count(steady->loop.count).text);
}

const struct rule rule_compile_steps = {
	.id = "compile_steps",
	.title = "Compile all steps into one call: jax.jit of a lax.scan over them",
	.risk = "What a step does must be traceable, with the same shapes in each. At least have one jax.jit around the whole "
		"step, and read the loss every so many steps; donate_argnums lets XLA write the new state over the old one.",
	.in[FRAMEWORK_jax] =
		{
			.pattern =
				"@jax.jit\n"
				"def steps(state, batches): # stacked along the first axis\n"
				"    return jax.lax.scan(step, state, batches)\n"
				"state, losses = steps(state, batches) # Python runs once for all of them\n"
				"print(losses[-1]) # and reads results after the last",
		},
	.technique = &technique_compiled_steps,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
};
