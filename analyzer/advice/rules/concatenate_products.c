/*
 * concatenate_products.c - a library's product is called several times in a row with equal shapes, as for Q, K and V of a
 * transformer.
 *
 * One product with the matrices side by side, or a batch of products, reads what they share once, is one launch, and fills
 * the GPU where each alone leaves some of it.  Fires where the same kernel of a library of products is launched 2 to 8
 * times with the same grid and nothing between, between other kernels, and all but one of each row take more than 10% of
 * the time of the kernels in their loop.  At stake is what they take: a product as wide as all of them takes at least as
 * long as one.  Arguments, where recorded, must not tell that one needs another; that they have an input in common no
 * recording tells.  Small ones are batch_launches'.
 */
#include "advice/rules/rules.h"

#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "base/sums.h"
#include "replay/calls.h"
#include "techniques/shared/dependences.h"

#define AT_STAKE_RATIO 0.10
#define ROW_MOST 8 /* longer ones are steps of a loop, or parts */

/* Rows of products. */
struct products {
	uint64_t row_count, launch_count; /* in all of them */
	int64_t stake_ns;		  /* of all but the longest of each */
	int64_t kernels_ns;		  /* of loops that have rows, all of their kernels */
	int64_t most_ns;		  /* of the row with most time */
	uint32_t signature;		  /* of that */
	uint64_t most_launches;
};

/* A row as it is gone through. */
struct row {
	const struct profile_op *last;
	uint64_t count;
	int64_t sum_ns, longest_ns;
};

static bool is_product(const char *library)
{
	return library && (!strcmp(library, "cuBLAS") || !strcmp(library, "CUTLASS"));
}

static void end_row(struct products *found, const struct row *row)
{
	if (row->count < 2 || row->count > ROW_MOST)
		return;
	found->row_count++;
	found->launch_count += row->count;
	sum_add_ns(&found->stake_ns, row->sum_ns - row->longest_ns);
	if (row->sum_ns <= found->most_ns)
		return;
	found->most_ns = row->sum_ns;
	found->most_launches = row->count;
	found->signature = row->last->detail;
}

/* Whether the product before is known to be what it works on. */
static bool needs_last(const struct facts *facts, const struct row *row,
		       const struct profile_op *op)
{
	const struct accesses *accesses = dependences_recorded(facts->report);
	const struct profile_op *ops = facts->report->profile->ops;

	return accesses && accesses_judge(accesses, accesses->of_op[row->last - ops],
					  accesses->of_op[op - ops]) == DEPENDENCE_THERE;
}

static bool goes_on(const struct facts *facts, const struct row *row, const struct profile_op *op)
{
	return row->last && row->last->detail == op->detail && row->last->stream == op->stream &&
	       !needs_last(facts, row, op);
}

static void add_product(struct products *found, const struct facts *facts, struct row *row,
			const struct profile_op *op)
{
	int64_t length_ns = op->end_ns - op->start_ns;

	if (!goes_on(facts, row, op)) {
		end_row(found, row);
		*row = (struct row){0};
	}
	row->last = op;
	row->count++;
	row->sum_ns += length_ns;
	if (length_ns > row->longest_ns)
		row->longest_ns = length_ns;
}

/* Rows go on from one iteration to the next, so that steps of a loop of nothing else are a long one. */
static void find_in_loop(struct products *found, const struct facts *facts, size_t device,
			 const struct loop *loop)
{
	const struct recorded_run *run = &facts->what_ifs.run;
	const struct profile_signature *signatures = facts->report->profile->signatures;
	size_t end = loop->iterations[loop->iteration_count];
	uint64_t row_count = found->row_count;
	int64_t kernels_ns = 0;
	struct row row = {0};

	for (size_t i = loop->iterations[0]; i < end; i++) {
		const struct profile_op *op = call_only_kernel(run->model, i);

		if (!submissions_count(&run->model->submissions, i))
			continue;
		if (op && profile_op_device(run->model->profile, op) != device)
			op = NULL;
		if (op)
			sum_add_ns(&kernels_ns, op->end_ns - op->start_ns);
		if (op && is_product(run->libraries[signatures[op->detail].kernel])) {
			add_product(found, facts, &row, op);
		} else {
			end_row(found, &row);
			row = (struct row){0};
		}
	}
	if (found->row_count > row_count)
		sum_add_ns(&found->kernels_ns, kernels_ns);
}

static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct loops *loops = &facts->what_ifs.loops;

	for (size_t i = 0; facts->what_ifs.run.model && i < loops->count; i++)
		if (loops->items[i].iteration_count)
			find_in_loop(finding, facts, device, &loops->items[i]);
	return 0;
}

static const struct products *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_concatenate_products, device);
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return found_on(facts, device)->stake_ns;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	const struct products *found = found_on(facts, device);

	return (double)found->stake_ns > AT_STAKE_RATIO * (double)found->kernels_ns;
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct products *found = found_on(facts, device);
	const struct profile_signature *launch =
		&facts->report->profile->signatures[found->signature];
	const char *name;
	int rc;

	(void)what_if;
	name = kernel_label(facts->report->profile->kernel_labels, launch->name, LABEL_WIDE);
	rc = advice_add_evidence(item,
				 "%s of %s: %s launches of one shape in a row, which take %s, and "
				 "%s such rows in all",
				 name, library_kernel_of(launch->name),
				 format_count(found->most_launches).text,
				 format_ns((double)found->most_ns).text,
				 format_count(found->row_count).text);
	return rc < 0 ? rc
		      : advice_add_evidence(
				item, "assumes: they have an input in common, as Q, K and V of a "
				      "transformer, and none needs what another one makes");
}

const struct rule rule_concatenate_products = {
	.id = "concatenate_products",
	.strategy = "one_product",
	.title = "Call the library once for products of one shape that follow one another",
	.workload = "transformer",
	.risk = "Only where none needs the result of another. What reads the results then finds them side by side, with "
		"another stride. Weights are laid side by side once, not in each step.",
	.pattern = "/* three products of x, with matrices of n columns: */\n"
		   "q = x * wq; k = x * wk; v = x * wv;\n"
		   "/* one, with the matrices side by side in memory: 3 n columns */\n"
		   "qkv = x * wqkv;\n"
		   "/* or a batch, where they have no input in common: */\n"
		   "cublasGemmStridedBatchedEx(...);",
	.in[FRAMEWORK_pytorch] =
		{
			.pattern = "qkv = nn.Linear(n, 3 * n) # in place of three, with one input\n"
				   "q, k, v = qkv(x).chunk(3, dim=-1)\n"
				   "torch.bmm(a, b) # a batch, where they have no input in common",
		},
	.in[FRAMEWORK_jax] =
		{
			.pattern =
				"qkv = x @ jnp.concatenate([wq, wk, wv], axis=1) # one in place of three\n"
				"jnp.einsum(\"bij,bjk->bik\", a, b) # a batch, if they share no input",
		},
	.in[FRAMEWORK_cupy] =
		{
			.pattern =
				"c = cupy.matmul(cupy.stack(a), cupy.stack(b)) # one batched product",
		},
	.finding_size = sizeof(struct products),
	.find = find,
	.is_candidate = is_promising,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
