#include "analysis/counters/atomics.h"

#include "analysis/counters/ceilings.h"
#include "analysis/counters/counted.h"
#include "analysis/counters/occupancy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW_SLICES 1.5 /* busiest one apart, the others do less than half of its work */
#define SECTOR_BYTES 32

/* Everything but the shared memory instructions has to do with L2. */
static const enum metric_role roles[] = {
	METRIC_global_atom_instructions, METRIC_global_red_instructions,
	METRIC_shared_atom_instructions, METRIC_l2_atom_requests,
	METRIC_l2_red_requests,		 METRIC_l2_cas_requests,
	METRIC_l2_atom_sectors,		 METRIC_l2_red_sectors,
	METRIC_atomic_unit_cycles,	 METRIC_atomic_unit_cycles_max,
	METRIC_atomic_unit_cycles_mean,	 METRIC_l2_cycles,
};

#define ROLE_COUNT (sizeof(roles) / sizeof(roles[0]))

/* ---- numbers that may be unknown ---- */

/* Per launch. */
static double per_launch(const struct counted_work *work, enum metric_role role)
{
	if (!work->roles[role].sample_count || !work->launch_count)
		return ATOMICS_UNKNOWN;
	return work->roles[role].total / (double)work->launch_count;
}

static double sum(double a, double b)
{
	return a < 0 || b < 0 ? ATOMICS_UNKNOWN : a + b;
}

static double ratio(double part, double whole)
{
	return part < 0 || whole <= 0 ? ATOMICS_UNKNOWN : part / whole;
}

/* ---- one kernel ---- */

static void count_samples(struct atomics_kernel *kernel, const struct counted_work *work)
{
	for (size_t i = 0; i < ROLE_COUNT; i++) {
		uint64_t count = work->roles[roles[i]].sample_count;

		if (!count)
			continue;
		if (!kernel->most_sample_count || count < kernel->least_sample_count)
			kernel->least_sample_count = count;
		if (count > kernel->most_sample_count)
			kernel->most_sample_count = count;
	}
}

static void add_counts(struct atomics_kernel *kernel, const struct counted_work *work)
{
	kernel->launch_count = work->launch_count;
	kernel->time_ns = work->time_ns;
	kernel->duration_ns =
		work->timed_count ? work->time_ns / (double)work->launch_count : ATOMICS_UNKNOWN;
	kernel->global_instructions = sum(per_launch(work, METRIC_global_atom_instructions),
					  per_launch(work, METRIC_global_red_instructions));
	kernel->returned_share = ratio(per_launch(work, METRIC_global_atom_instructions),
				       kernel->global_instructions);
	kernel->shared_instructions = per_launch(work, METRIC_shared_atom_instructions);
	kernel->requests = sum(per_launch(work, METRIC_l2_atom_requests),
			       per_launch(work, METRIC_l2_red_requests));
	kernel->sectors = sum(per_launch(work, METRIC_l2_atom_sectors),
			      per_launch(work, METRIC_l2_red_sectors));
	kernel->sectors_per_request = ratio(kernel->sectors, kernel->requests);
	kernel->requests_per_instruction = ratio(kernel->requests, kernel->global_instructions);
	kernel->cas_share = ratio(per_launch(work, METRIC_l2_cas_requests), kernel->requests);
	count_samples(kernel, work);
}

static void add_unit(struct atomics_kernel *kernel, const struct counted_work *work)
{
	double total = per_launch(work, METRIC_atomic_unit_cycles);
	double busiest = per_launch(work, METRIC_atomic_unit_cycles_max);
	double mean = per_launch(work, METRIC_atomic_unit_cycles_mean);
	double passed = ratio(counted_l2_cycles(work), (double)work->launch_count);

	kernel->unit_cycles = total;
	kernel->unit_share = ratio(mean, passed);
	kernel->hottest_share = fmin(1, ratio(busiest, passed));
	kernel->slice_ratio = ratio(busiest, mean);
	kernel->busy_slices = ratio(total, busiest);
}

/* ---- measured ceilings ---- */

static double best_rate(const struct ceilings *ceilings)
{
	double best = 0;

	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].id == CEILING_atomic_add)
			best = fmax(best, ceilings->rows[i].value);
	return best;
}

/* Seconds that a slice needs for one sector, by how many of the requests compare and swap. */
static double sector_s(const struct ceilings *ceilings, double cas_share)
{
	const struct ceiling *add = ceilings_get(ceilings, CEILING_atomic_add, 1);
	const struct ceiling *cas = ceilings_get(ceilings, CEILING_atomic_cas, 1);

	if (!add || add->value <= 0)
		return 0;
	if (cas_share <= 0 || !cas || cas->value <= 0)
		return 1 / add->value;
	return (1 - cas_share) / add->value + cas_share / cas->value;
}

static double ceiling_ns(const struct counted_work *work, const struct atomics_kernel *kernel,
			 const struct ceilings *ceilings)
{
	double sectors = per_launch(work, METRIC_atomic_unit_cycles), one_sector_s;

	if (!ceilings || sectors < 0 || kernel->busy_slices <= 0)
		return ATOMICS_UNKNOWN;
	one_sector_s = sector_s(ceilings, kernel->cas_share);
	if (one_sector_s <= 0)
		return ATOMICS_UNKNOWN;
	return 1e9 *
	       fmax(sectors * one_sector_s / kernel->busy_slices, sectors / best_rate(ceilings));
}

/* Of that parameter, or of the largest one below it that was measured; 0: none was.  ceilings may be NULL. */
static double measured_at(const struct ceilings *ceilings, enum ceiling_id id, double parameter)
{
	const struct ceiling *found = NULL;

	for (size_t i = 0; ceilings && i < ceilings->count; i++) {
		const struct ceiling *row = &ceilings->rows[i];

		if (row->id == id && (double)row->parameter <= parameter &&
		    (!found || row->parameter > found->parameter))
			found = row;
	}
	return found ? found->value : 0;
}

/* All of them in shared memory, on so many words of each block. */
static double shared_on_ns(const struct atomics_kernel *kernel, const struct ceilings *ceilings,
			   double words)
{
	double add = measured_at(ceilings, CEILING_atomic_shared_add, words);
	double cas = measured_at(ceilings, CEILING_atomic_shared_cas, words);
	double cas_share = fmax(kernel->cas_share, 0);

	if (kernel->unit_cycles < 0 || add <= 0 || (cas_share > 0 && cas <= 0))
		return ATOMICS_UNKNOWN;
	return 1e9 * kernel->unit_cycles *
	       ((1 - cas_share) / add + (cas_share > 0 ? cas_share / cas : 0));
}

static void find_shared(struct atomics_kernel *kernel, const struct ceilings *ceilings)
{
	kernel->shared_ns = kernel->least_shared_ns = ATOMICS_UNKNOWN;
	if (!ceilings)
		return;
	kernel->shared_ns = shared_on_ns(kernel, ceilings, fmax(kernel->busy_slices, 1));
	kernel->least_shared_ns = shared_on_ns(kernel, ceilings, HUGE_VAL);
}

/* One address is hit less often than once a cycle: where one slice has nearly all of the work, the
 * ceiling of one address explains more than busy cycles do. */
static void explain(struct atomics_kernel *kernel)
{
	kernel->explained_ns = ATOMICS_UNKNOWN;
	if (kernel->duration_ns < 0)
		return;
	if (kernel->hottest_share >= 0)
		kernel->explained_ns = kernel->duration_ns * kernel->hottest_share;
	if (kernel->busy_slices < FEW_SLICES)
		kernel->explained_ns = fmax(kernel->explained_ns, kernel->ceiling_ns);
	kernel->explained_ns = fmin(kernel->explained_ns, kernel->duration_ns);
}

/* ---- what to do ---- */

/* Of the bytes of L2 that were counted, those of atomics' sectors. */
static double l2_atomics_part(const struct atomics_kernel *kernel,
			      const struct roofline_point *point)
{
	double bytes = point->quantities[ROOF_l2].per_launch;

	return bytes > 0 ? fmin(1, fmax(0, kernel->sectors) * SECTOR_BYTES / bytes) : 0;
}

/* The largest share of the roofs other than the atomic unit's.  l2_part: of the bytes of L2, those that count, 0: L2 is
 * left out. */
static double other_share(const struct roofline_point *point, double l2_part)
{
	double share = point->tensor_share;

	for (int i = 0; i < ROOF_TENSOR; i++)
		share = fmax(share, point->quantities[i].share * (i == ROOF_l2 ? l2_part : 1));
	return share;
}

/* What starting the blocks of a kernel takes, of its launches the one that takes least: blocks that do not fit on the GPU at
 * once start when others end.  empty_ns: of an empty kernel, and of each wave where ceilings have none of such blocks. */
static double start_ns(const struct profile *profile, const struct ceilings *ceilings,
		       uint32_t kernel, double empty_ns)
{
	double least_ns = INFINITY;

	for (size_t i = 0; i < profile->signature_count * profile->device_count; i++) {
		const struct profile_signature *launch =
			&profile->signatures[i / profile->device_count];
		const struct profile_device *device = &profile->devices[i % profile->device_count];
		struct occupancy occupancy;
		double wave_ns;

		if (launch->kernel != kernel || !device->op_count ||
		    !occupancy_of(&occupancy, device, launch))
			continue;
		wave_ns = measured_at(ceilings, CEILING_block_wave,
				      (double)profile_block_threads(launch));
		wave_ns = wave_ns > 0 ? wave_ns : empty_ns;
		least_ns = fmin(least_ns, empty_ns + fmax(occupancy.waves - 1, 0) * wave_ns);
	}
	return isfinite(least_ns) ? least_ns : empty_ns;
}

/* Where that was not counted, all are assumed to return a result. */
static double returned_share(const struct atomics_kernel *kernel)
{
	return kernel->returned_share < 0 ? 1 : kernel->returned_share;
}

/* What takes 1/N with N merged: what they explain, and of reductions all of a kernel that they bind. */
static double bound_ns(const struct atomics_kernel *kernel)
{
	double unexplained_ns = kernel->duration_ns - kernel->explained_ns;

	if (!kernel->is_bottleneck)
		return kernel->explained_ns;
	return kernel->duration_ns - returned_share(kernel) * unexplained_ns;
}

/* What is left without atomics, in its three ends.  empty_ns: an empty kernel's time, with blocks_ns for all its blocks. */
static void find_other(struct atomics_kernel *kernel, const struct roofline_point *point,
		       double empty_ns, double blocks_ns)
{
	double all_ns = kernel->duration_ns;
	double known_ns = fmin(fmax(kernel->explained_ns, kernel->ceiling_ns), all_ns);
	double beyond_ns = all_ns - bound_ns(kernel), least_floor_ns;

	kernel->l2_ns = fmin(point->quantities[ROOF_l2].share, 1) * all_ns;
	kernel->l2_atomics_part = l2_atomics_part(kernel, point);
	kernel->kept_other_ns =
		fmax(fmin(fmax(other_share(point, 0) * all_ns, blocks_ns), all_ns), beyond_ns);
	kernel->other_ns = fmax(kernel->kept_other_ns, kernel->l2_ns);
	least_floor_ns = fmax(other_share(point, 1 - kernel->l2_atomics_part) * all_ns, empty_ns);
	kernel->least_other_ns = fmax(fmin(least_floor_ns, all_ns), beyond_ns);
	kernel->most_other_ns = fmax(kernel->other_ns, all_ns - known_ns);
}

/* What is left of a launch whose blocks pass on one of so many atomics. */
static double other_in_blocks_ns(const struct atomics_kernel *kernel, double batch)
{
	double l2_part = 1 - kernel->l2_atomics_part * (1 - 1 / batch);

	return fmax(kernel->kept_other_ns, kernel->l2_ns * l2_part);
}

/* The least of them that takes no longer than the rest; least_other_ns where is_most. */
static uint64_t least_batch(const struct atomics_kernel *kernel, bool is_most)
{
	uint64_t batch = 1;
	double other_ns;

	if ((is_most ? kernel->least_other_ns : other_in_blocks_ns(kernel, HUGE_VAL)) <= 0)
		return 0;
	for (; batch < ATOMICS_BATCH_MOST; batch *= 2) {
		other_ns = is_most ? kernel->least_other_ns
				   : other_in_blocks_ns(kernel, (double)batch);
		if (bound_ns(kernel) / (double)batch <= other_ns)
			break;
	}
	return batch;
}

static void advise(struct atomics_kernel *kernel, const struct profile *profile,
		   const struct roofline *roofline, const struct roofline_point *point,
		   const struct ceilings *ceilings)
{
	double empty_ns = roofline->graph_node_ns, atomic_share;
	double blocks_ns = start_ns(profile, ceilings, kernel->kernel, empty_ns);

	kernel->other_ns = kernel->kept_other_ns = ATOMICS_UNKNOWN;
	kernel->least_other_ns = kernel->most_other_ns = ATOMICS_UNKNOWN;
	kernel->l2_ns = ATOMICS_UNKNOWN;
	if (kernel->explained_ns < 0)
		return;
	atomic_share = ratio(kernel->explained_ns, kernel->duration_ns);
	kernel->is_bottleneck = atomic_share > 0.5 && atomic_share > other_share(point, 1) &&
				kernel->explained_ns > blocks_ns;
	find_other(kernel, point, empty_ns, blocks_ns);
	kernel->batch = least_batch(kernel, false);
	kernel->most_batch = least_batch(kernel, true);
}

/* The rest of a launch runs beside its atomics, or of that share of them behind. */
static double beside_ns(const struct atomics_kernel *kernel, double batch, double other_ns,
			double behind_share)
{
	double atomics_ns = bound_ns(kernel) / batch;

	return fmin(kernel->duration_ns,
		    fmax(atomics_ns, other_ns) + behind_share * fmin(atomics_ns, other_ns));
}

double atomics_merged_ns(const struct atomics_kernel *kernel, enum atomics_merging where,
			 uint64_t batch, enum atomics_end end)
{
	double n = (double)batch, shared_ns = 0, least_shared_ns = 0;
	double waiting_share = where == ATOMICS_IN_THREADS ? returned_share(kernel) : 0;

	if (where == ATOMICS_IN_SHARED) {
		shared_ns = kernel->shared_ns;
		least_shared_ns = kernel->least_shared_ns;
	}
	if (kernel->explained_ns < 0 || shared_ns < 0)
		return ATOMICS_UNKNOWN;
	if (end == ATOMICS_LEAST)
		return fmin(shared_ns + beside_ns(kernel, fmax(n / 2, 1), kernel->most_other_ns,
						  returned_share(kernel)),
			    kernel->duration_ns);
	if (end == ATOMICS_MOST)
		return beside_ns(kernel, n, fmax(kernel->least_other_ns, least_shared_ns),
				 waiting_share);
	return beside_ns(kernel, n,
			 where == ATOMICS_IN_THREADS
				 ? kernel->other_ns
				 : fmax(other_in_blocks_ns(kernel, n), shared_ns),
			 waiting_share);
}

/* ---- all kernels ---- */

static bool has_atomics(const struct atomics_kernel *kernel)
{
	return kernel->global_instructions > 0 || kernel->shared_instructions > 0 ||
	       kernel->requests > 0;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct atomics_kernel *a = left, *b = right;
	double a_ns = a->explained_ns * (double)a->launch_count;
	double b_ns = b->explained_ns * (double)b->launch_count;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_asked(const struct profile *profile)
{
	for (size_t i = 0; i < profile->metric_count; i++)
		for (size_t j = 0; j < ROLE_COUNT; j++)
			if (profile->metrics[i].role == roles[j] && *profile->metrics[i].name &&
			    roles[j] != METRIC_l2_cycles)
				return true;
	return false;
}

static void collect(struct atomics *atomics, const struct profile *profile,
		    const struct counted *counted, const struct roofline *roofline,
		    const struct ceilings *ceilings)
{
	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];
		const struct counted_work *work = &counted->kernels[point->subject];
		struct atomics_kernel kernel = {.kernel = point->subject, .name = point->name};

		add_counts(&kernel, work);
		if (!has_atomics(&kernel))
			continue;
		add_unit(&kernel, work);
		kernel.ceiling_ns = ceiling_ns(work, &kernel, ceilings);
		find_shared(&kernel, ceilings);
		explain(&kernel);
		advise(&kernel, profile, roofline, point, ceilings);
		atomics->kernels[atomics->kernel_count++] = kernel;
	}
	qsort(atomics->kernels, atomics->kernel_count, sizeof(*atomics->kernels), compare_kernels);
}

int atomics_build(struct atomics **out, const struct profile *profile,
		  const struct counted *counted, const struct roofline *roofline,
		  const struct ceilings *ceilings, struct err *err)
{
	struct atomics *atomics = calloc(1, sizeof(*atomics));

	if (atomics)
		atomics->kernels = calloc(roofline->kernel_count + 1, sizeof(*atomics->kernels));
	if (!atomics || !atomics->kernels) {
		atomics_free(atomics);
		return err_set(err, -ENOMEM, "out of memory for the atomics");
	}
	atomics->is_asked = is_asked(profile);
	collect(atomics, profile, counted, roofline, ceilings);
	*out = atomics;
	return 0;
}

void atomics_free(struct atomics *atomics)
{
	if (!atomics)
		return;
	free(atomics->kernels);
	free(atomics);
}
