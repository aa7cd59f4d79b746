/*
 * batch_atomics.c - kernels that atomics bind merge N of them into one, in threads that each do the work of N.
 */
#include "techniques/techniques.h"

#include "techniques/shared/merged_atomics.h"

static size_t merge(struct application *application)
{
	return merged_atomics_change(application, ATOMICS_IN_THREADS);
}

const struct technique technique_batch_atomics = {
	.id = "batch_atomics",
	.option = "batch",
	.argument = ARGUMENT_NUMBER,
	.number_is = "a number of atomics",
	.number_does = "in one",
	.number_most = ATOMICS_BATCH_MOST,
	.help = "kernels that atomics bind merge N of them into one, in threads that do as much",
	.effect =
		"Kernels that counters of a run on one GPU show to be limited by atomics merge N of them into one, in "
		"threads that each do the work of N.",
	.changed = "kernels merge atomics",
	.assumes =
		"a thread can merge so many, and merging costs nothing; at the low end half as many, at "
		"the high end the blocks are fewer, too",
	.refusal = refused_not_hot,
	.always_assumes = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = merge,
};
