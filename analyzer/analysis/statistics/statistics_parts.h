/*
 * statistics_parts.h - the parts that statistics_collect() puts together; private to this folder.
 *
 * Each fills its own members of a zeroed struct statistics, sorted by total
 * time.  Returns 0 or -ENOMEM.
 */
#ifndef ROOFLINE_STATISTICS_PARTS_H
#define ROOFLINE_STATISTICS_PARTS_H

#include "analysis/statistics/statistics.h"

int statistics_collect_kernels(struct statistics *statistics, const struct profile *profile,
			       const struct steady_state *steady_state);
int statistics_collect_copies(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state);
int statistics_collect_memsets(struct statistics *statistics, const struct profile *profile,
			       const struct steady_state *steady_state);
int statistics_collect_calls(struct statistics *statistics, const struct profile *profile,
			     const struct steady_state *steady_state);
int statistics_collect_ranges(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state);
int statistics_collect_operators(struct statistics *statistics, const struct profile *profile,
				 const struct steady_state *steady_state);
int statistics_collect_graphs(struct statistics *statistics, const struct profile *profile,
			      const struct steady_state *steady_state);

/* For qsort: negative when a took longer than b. */
static inline int statistics_longer_first(int64_t a_ns, int64_t b_ns)
{
	return (a_ns < b_ns) - (a_ns > b_ns);
}

#endif
