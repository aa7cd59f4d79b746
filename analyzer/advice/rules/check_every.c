/*
 * check_every.c - a loop goes on until a flag says that it is done, and the host reads it after each iteration.
 *
 * Beside a WHILE node: where iterations too many do no harm, as where an iteration only improves a result, the flag can be
 * read after several of them.  Fires when re-simulating the loop so gains something.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "techniques/check_every.h"
#include "techniques/shared/flag_loops.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct checked_loop found =
		check_every_of(&facts->what_ifs.run, what_if->effect.largest);
	int rc = advice_add_evidence(
		item,
		"an iteration takes %s, and %s longer with the flag that the host "
		"reads and waits for",
		format_ns(found.iteration_ns).text, format_ns(found.check_ns).text);

	(void)device;
	return rc < 0 ? rc
		      : advice_add_evidence(item,
					    "read after every %zuth one it costs least, with the "
					    "iterations too many at the end",
					    found.every);
}

/* Of the others while_node says that they are none. */
static bool is_candidate(const struct facts *facts, size_t device)
{
	const struct what_ifs *all = &facts->what_ifs;

	(void)device;
	for (size_t i = 0; i < all->loops.count; i++)
		if (flag_loops_is_one(all->run.model, &all->loops.items[i]))
			return true;
	return false;
}

const struct rule rule_check_every = {
	.id = "check_every",
	.title = "Read the flag that ends the loop after several iterations, not after each",
	.workload = "conditional_while",
	.risk = "Iterations go on after the flag says that it is done: they must leave the result right, or "
		"do nothing once it is set. A loop that most often ends soon does more of them than it saves.",
	.pattern = "for (int i = 0; !done; i++) {\n"
		   "    iteration(stream); /* its last kernel sets *flag */\n"
		   "    if (i % k == k - 1) {\n"
		   "        cudaMemcpyAsync(&done, flag, 4, cudaMemcpyDeviceToHost, stream);\n"
		   "        cudaStreamSynchronize(stream);\n"
		   "    }\n"
		   "}",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern =
				"for i in range(count):\n"
				"    x, done = step(x)\n"
				"    if i % k == k - 1 and done.item(): # waits once in k iterations\n"
				"        break",
		},
	.in[FRAMEWORK_jax] =
		{
			.title =
				"Read the flag that ends the loop after several iterations, or use jax.lax.while_loop",
			.pattern = "x = jax.lax.while_loop(lambda x: ~done(x), step, x)",
		},
	.in[FRAMEWORK_cupy] =
		{
			.pattern =
				"for i in range(count):\n"
				"    x, done = step(x)\n"
				"    if i % k == k - 1 and bool(done): # waits once in k iterations\n"
				"        break",
		},
	.technique = &technique_check_every,
	.is_candidate = is_candidate,
	.add_evidence = add_evidence,
};
