#include "techniques/shared/bank_conflicts.h"

#include "analysis/counters/counted.h"

#define LEAST_SHARE 0.5

struct bank_conflicts bank_conflicts_of(const struct report *report, uint32_t kernel)
{
	const struct counted_work *work =
		report->counted ? &report->counted->kernels[kernel] : NULL;
	uint32_t only = profile_only_device(report->profile);
	const struct profile_device *device =
		&report->profile->devices[only == PROFILE_NONE ? 0 : only];
	double cycles_per_ns = (double)device->sm_count * (double)device->sm_clock_khz / 1e6;
	double wavefronts = work ? work->roles[METRIC_shared_wavefronts].total : 0;
	double conflicts = work ? work->roles[METRIC_shared_conflicts].total : 0;
	struct bank_conflicts found = {0};

	if (!work || wavefronts <= 0 || cycles_per_ns <= 0)
		return found;
	found.time_ns = work->time_ns;
	found.share = conflicts / wavefronts;
	found.busy_share = found.time_ns > 0 ? wavefronts / cycles_per_ns / found.time_ns : 0;
	found.lost_ns = conflicts / cycles_per_ns;
	if (found.lost_ns > found.share * found.time_ns)
		found.lost_ns = found.share * found.time_ns;
	return found;
}

bool bank_conflicts_are_many(const struct bank_conflicts *conflicts)
{
	return conflicts->share >= LEAST_SHARE && conflicts->lost_ns > 0;
}

bool bank_conflicts_bind(const struct bank_conflicts *conflicts)
{
	return bank_conflicts_are_many(conflicts) && conflicts->busy_share >= ROOFLINE_AT_ROOF;
}
