#include "whatif/all_reduce.h"

#include <math.h>

#define FEW_BYTES 8
#define MANY_BYTES ((double)(256 << 20)) /* of the row by number of GPUs */

static const struct ceiling *greatest(const struct ceilings *ceilings, enum ceiling_id id)
{
	const struct ceiling *found = NULL;

	for (size_t i = 0; ceilings && i < ceilings->count; i++)
		if (ceilings->rows[i].id == id)
			found = &ceilings->rows[i];
	return found;
}

uint64_t reduce_measured_gpus(const struct ceilings *ceilings)
{
	const struct ceiling *by_gpus = greatest(ceilings, CEILING_nccl_small_by_gpus);

	if (!greatest(ceilings, CEILING_nccl_all_reduce))
		return 0;
	return by_gpus && by_gpus->parameter > 2 ? by_gpus->parameter : 2;
}

static double by_size_ns(const struct ceilings *ceilings, double bytes)
{
	return ceilings_ns_at(ceilings, CEILING_nccl_all_reduce, (uint64_t)fmax(bytes, 1));
}

static double share_sent(uint64_t gpus)
{
	return (double)(gpus - 1) / (double)gpus;
}

/* In a tree; at the ends as many steps as before, or those of a ring. */
static void set_formula(struct reduce_times *times, uint64_t gpus)
{
	uint64_t measured = times->measured_gpus;
	double few_ns = by_size_ns(times->ceilings, FEW_BYTES);
	double ring = (double)(gpus - 1) / (double)(measured - 1);

	times->source = REDUCE_FORMULA;
	times->bytes_factor = share_sent(gpus) / share_sent(measured);
	times->least_ns[ASSUMED_USUAL] = few_ns * log2((double)gpus) / log2((double)measured);
	times->least_ns[ASSUMED_LEAST] = few_ns * fmax(ring, 1);
	times->least_ns[ASSUMED_MOST] = few_ns * fmin(ring, 1);
}

static void set_measured(struct reduce_times *times, const struct ceiling *few,
			 const struct ceiling *many)
{
	double few_ns = by_size_ns(times->ceilings, FEW_BYTES);
	double of_bytes_ns = fmax(by_size_ns(times->ceilings, MANY_BYTES) - few_ns, 1);

	times->source = REDUCE_MEASURED;
	times->bytes_factor = 1;
	for (int end = 0; end <= ASSUMED_MOST; end++)
		times->least_ns[end] = few ? few->value : few_ns;
	if (few && many)
		times->bytes_factor = fmax(many->value - few->value, 1) / of_bytes_ns;
}

struct reduce_times reduce_times_of(const struct ceilings *ceilings, const char *gpu, uint64_t gpus)
{
	struct reduce_times times = {.ceilings = ceilings,
				     .measured_gpus = reduce_measured_gpus(ceilings)};
	const struct ceiling *few = NULL, *many = NULL;

	if (!times.measured_gpus) {
		times.rate = costs_peer_rate(ceilings, gpu);
		times.source = times.rate > 0 ? REDUCE_RATE : REDUCE_UNKNOWN;
		times.bytes_factor = 2 * share_sent(gpus);
		return times;
	}
	few = ceilings_get(ceilings, CEILING_nccl_small_by_gpus, gpus);
	many = ceilings_get(ceilings, CEILING_nccl_large_by_gpus, gpus);
	if (gpus == times.measured_gpus || (few && many))
		set_measured(&times, gpus == times.measured_gpus ? NULL : few, many);
	else
		set_formula(&times, gpus);
	return times;
}

double reduce_ns(const struct reduce_times *times, double bytes, enum assumed_end end)
{
	double of_bytes_ns;

	if (!(bytes > 0) || times->source == REDUCE_UNKNOWN)
		return 0;
	if (times->source == REDUCE_RATE)
		return times->bytes_factor * bytes / times->rate * 1e9;
	of_bytes_ns = by_size_ns(times->ceilings, bytes) - by_size_ns(times->ceilings, FEW_BYTES);
	return times->least_ns[end] + fmax(of_bytes_ns, 0) * times->bytes_factor;
}
