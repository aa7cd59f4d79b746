#include "techniques/shared/sectors.h"

#include <math.h>

#include "analysis/counters/counted.h"

static double total_of(const struct counted_work *work, enum metric_role role)
{
	return work->roles[role].total;
}

static double needed_by(double requests, double bytes)
{
	return fmax(requests, bytes / SECTOR_BYTES);
}

static bool is_counted(const struct counted_work *work)
{
	for (int role = METRIC_global_load_sectors; role <= METRIC_global_store_bytes; role++)
		if (!work->roles[role].sample_count)
			return false;
	return true;
}

struct touched_sectors touched_sectors_of(const struct report *report, uint32_t kernel)
{
	const struct counted_work *work =
		report->counted ? &report->counted->kernels[kernel] : NULL;
	struct touched_sectors sectors = {0};

	if (!work || !is_counted(work))
		return sectors;
	sectors.touched = total_of(work, METRIC_global_load_sectors) +
			  total_of(work, METRIC_global_store_sectors);
	sectors.needed = needed_by(total_of(work, METRIC_global_load_requests),
				   total_of(work, METRIC_global_load_bytes)) +
			 needed_by(total_of(work, METRIC_global_store_requests),
				   total_of(work, METRIC_global_store_bytes));
	return sectors;
}
