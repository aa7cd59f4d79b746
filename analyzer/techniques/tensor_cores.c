/*
 * tensor_cores.c - a library's matrix products in FP32 run in TF32 on tensor cores.
 *
 * A library names its kernels by their types, so a trace shows these without counters.  Where arithmetic bounds them they
 * take the ratio of the roofs of FP32 and of tensor cores in TF32 less time, each as near to its roof as before.
 *
 * What memory needs bounds that.  The name says the tile of a block, and the grid how many there are: so many rows and
 * columns, and for each of its operations a product loads at least 2 / rows + 2 / columns bytes of DRAM.  Counters or samples
 * of the kernel bound it as well, where it has them.
 *
 * At the low end half of what would vanish stays, as of fewer_bytes: blocks that are done sooner wait for memory, or each
 * other, for more of their time.  L2 gives each block what its tile needs at no more than its roof, then: 2 / rows + 2 / columns
 * of the tile for each operation, so that small tiles gain little.
 *
 * Kernels whose name has no tile may be of any shape, and gain at the high end only.  So do convolutions of cuDNN: frameworks
 * and cuDNN itself allow TF32 for these by default, so that FP32 is either a choice of the library or of the program.
 */
#include "techniques/techniques.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "techniques/shared/lengths.h"
#include "techniques/shared/needed_time.h"

static const char no_products[] =
	"no kernel is a library's matrix product in FP32, by its name, on a GPU whose FP32 and "
	"TF32 roofs are known";

#define LEAST_PART 0.5 /* of what would vanish */
#define MOST_SWIZZLE 8 /* of CUTLASS: so many columns of tiles side by side in grid.x */

struct tile {
	double rows, columns; /* of the result, of one block; 0: the name has none */
};

/* "_128x256" or "tilesize128x256" of the name. */
static struct tile tile_of(const char *name)
{
	static const char before[] = "tilesize";

	for (const char *at = name; *at && *at != '('; at++) {
		char *end;
		unsigned long rows, columns;

		if (*at != '_' && strncmp(at, before, strlen(before)) != 0)
			continue;
		at += *at == '_' ? 0 : strlen(before) - 1;
		if (!isdigit((unsigned char)at[1]))
			continue;
		rows = strtoul(at + 1, &end, 10);
		if (*end != 'x' || !isdigit((unsigned char)end[1]))
			continue;
		columns = strtoul(end + 1, NULL, 10);
		return (struct tile){(double)rows, (double)columns};
	}
	return (struct tile){0, 0};
}

/* For each operation of a product of so many rows and columns, however many terms its sums have. */
static double bytes_per_flop(double rows, double columns)
{
	return 2 / rows + 2 / columns;
}

/* The fewest of DRAM.  CUTLASS deals tiles out in strips, of 1, 2, 4 or 8 columns, which no trace shows. */
static double least_bytes_per_flop(const struct profile_signature *launch, struct tile tile)
{
	uint32_t most = strstr(launch->name, "cutlass") ? MOST_SWIZZLE : 1;
	double least = INFINITY;

	for (uint32_t strip = 1; strip <= most && launch->grid[0] % strip == 0; strip *= 2)
		least = fmin(least, bytes_per_flop(tile.rows * launch->grid[0] / strip,
						   tile.columns * launch->grid[1] * strip));
	return least;
}

static bool is_convolution(const char *name)
{
	const char *library = library_kernel_of(name);

	return library && !strcmp(library, "cuDNN");
}

/* What is left of the time of a launch; 1: all of it. */
static double left_of(const struct application *application, const struct profile_signature *launch)
{
	const struct ceilings *ceilings = application->run->ceilings;
	const struct ceiling *dram = ceilings_dram(ceilings);
	const double fp32 = ceilings_at(ceilings, CEILING_fp32_fma, 0);
	const double tf32 = ceilings_at(ceilings, CEILING_tensor_tf32, 0);
	const double l2 = ceilings_at(ceilings, CEILING_l2_read, 0);
	struct tile tile = tile_of(launch->name);
	bool has_tile = tile.rows > 0 && tile.columns > 0;
	double before_s, after_s, dram_s = 0; /* of an operation */

	if (!(fp32 > 0) || !(tf32 > fp32) || !library_kernel_is_fp32_product(launch->name) ||
	    ((!has_tile || is_convolution(launch->name)) && application->end != ASSUMED_MOST))
		return 1;
	if (has_tile && dram && !is_convolution(launch->name))
		dram_s = least_bytes_per_flop(launch, tile) / dram->value;
	before_s = fmax(1 / fp32, dram_s);
	after_s = fmax(1 / tf32, dram_s);
	if (application->end == ASSUMED_LEAST)
		after_s = before_s - LEAST_PART * (before_s - after_s);
	if (application->end == ASSUMED_LEAST && l2 > 0)
		after_s = fmax(after_s, bytes_per_flop(tile.rows, tile.columns) / l2);
	return fmin(fmax(after_s / before_s, needed_of_dram(application->run, launch->kernel)), 1);
}

static size_t speed_up(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	const struct profile_device *where = &profile->devices[application->device];
	const double empty_ns = ceilings_at(application->run->ceilings, CEILING_graph_node, 0);
	size_t changed_count = 0;

	for (size_t i = where->first_op; i < where->first_op + where->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		double time_ns = (double)(op->end_ns - op->start_ns), left_ns;

		if (op->kind != OP_KERNEL || application->change.op_ns[i] ||
		    application->left[op->detail] >= 1)
			continue;
		left_ns = fmax(application->left[op->detail] * time_ns, empty_ns);
		if (left_ns >= time_ns)
			continue;
		application->change.op_ns[i] = 1 + (int64_t)left_ns; /* never 0 */
		changed_count++;
	}
	return changed_count;
}

static int change_run(struct application *application)
{
	const struct profile *profile = application->run->model->profile;
	double *left = malloc((profile->signature_count + 1) * sizeof(*left));
	int rc;

	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < profile->signature_count; i++)
		left[i] = left_of(application, &profile->signatures[i]);
	application->left = left;
	rc = lengths_change(application, speed_up);
	application->left = NULL;
	free(left);
	return rc;
}

const struct technique technique_tensor_cores = {
	.id = "tensor_cores",
	.option = "tf32",
	.help = "a library's matrix products in FP32 are of TF32, on tensor cores",
	.effect =
		"Kernels of cuBLAS and CUTLASS that multiply matrices in FP32, by their names, take the ratio of the roof of FP32 "
		"and that of tensor cores in TF32 less time, but no less than DRAM needs for as many rows and columns as their tiles have, or than an "
		"empty kernel. At the low end half of what would vanish stays, and L2 bounds what their tiles load; at the high end kernels "
		"of which the name has no tile gain as well, and convolutions of cuDNN, which may use TF32 by default.",
	.changed = "products are of TF32",
	.assumes =
		"arithmetic in FP32 is what these kernels take their time for, and results of TF32, of 10 bits "
		"in place of 23, are good enough",
	.refusal = no_products,
	.always_assumes = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS | BOUND_TENSOR,
	.spread = SPREAD_KERNELS,
	.change_run = change_run,
};
