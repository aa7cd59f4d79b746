/*
 * aggregate_shared.c - kernels that atomics bind add in shared memory first, and pass on one atomic for N of them.
 *
 * Atomics of a block on one word are done one after the other as well, in its SM: that takes what ceilings measured.
 */
#include "techniques/techniques.h"

#include "techniques/shared/merged_atomics.h"

static const char not_measured[] =
	"no kernel was counted, on a single GPU, that atomics bind, or the ceilings have no atomics in shared "
	"memory: record --counters=atomics";

static size_t merge(struct application *application)
{
	return merged_atomics_change(application, ATOMICS_IN_SHARED);
}

const struct technique technique_aggregate_shared = {
	.id = "aggregate_shared",
	.option = "aggregate-shared",
	.argument = ARGUMENT_NUMBER,
	.number_is = "a number of atomics",
	.number_does = "in one",
	.number_most = ATOMICS_BATCH_MOST,
	.help = "kernels that atomics bind merge N of them into one, by atomics in shared memory",
	.effect =
		"Kernels that counters of a run on one GPU show to be limited by atomics merge N of them into one: "
		"each thread adds to memory that its block shares, which takes what was measured of that, and a block "
		"passes on its sum.",
	.changed = "kernels merge atomics",
	.assumes =
		"a block can merge so many, and other blocks run beside that; at the low end half as many, and "
		"nothing runs beside it; at the high end each lane has a word of its own, and the blocks are fewer, too",
	.refusal = not_measured,
	.always_assumes = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_lengths = merge,
};
