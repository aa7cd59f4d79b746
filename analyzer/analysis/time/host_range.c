#include "analysis/time/host_range.h"

#include "base/search.h"

struct moment {
	const struct profile_range *ranges;
	int64_t ns;
};

static bool starts_behind(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->ranges[index].start_ns > moment->ns;
}

/* Pushed ranges lie within each other: behind the end of an outermost one none that began earlier is open. */
const struct profile_range *host_range_at(const struct profile *profile, uint32_t thread,
					  int64_t ns)
{
	const struct profile_thread *of = &profile->threads[thread];
	const struct moment moment = {profile->ranges, ns};
	size_t i = search_first(of->first_range, of->first_range + of->range_count, starts_behind,
				&moment);

	while (i-- > of->first_range) {
		const struct profile_range *range = &profile->ranges[i];

		if (range->is_push_pop && range->end_ns > ns)
			return range;
		if (range->is_push_pop && !range->depth)
			return NULL;
	}
	return NULL;
}
