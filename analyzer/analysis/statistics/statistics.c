#include "analysis/statistics/statistics.h"

#include "analysis/statistics/statistics_parts.h"

#include <errno.h>
#include <stdlib.h>

typedef int (*part_function)(struct statistics *statistics, const struct profile *profile);

static const part_function parts[] = {
	statistics_collect_kernels, statistics_collect_copies, statistics_collect_memsets,
	statistics_collect_calls,   statistics_collect_ranges, statistics_collect_graphs,
	statistics_collect_streams,
};

int statistics_collect(struct statistics **out, const struct profile *profile, struct err *err)
{
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	int rc = statistics ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = parts[i](statistics, profile);
	if (rc < 0) {
		statistics_free(statistics);
		return err_set(err, rc, "out of memory for the statistics");
	}
	*out = statistics;
	return 0;
}

void statistics_free(struct statistics *statistics)
{
	if (!statistics)
		return;
	free(statistics->kernels);
	free(statistics->copies);
	free(statistics->memsets);
	free(statistics->calls);
	free(statistics->ranges);
	free(statistics->graphs);
	free(statistics->streams);
	free(statistics);
}
