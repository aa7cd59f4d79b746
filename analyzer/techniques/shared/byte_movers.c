#include "techniques/shared/byte_movers.h"

#include "analysis/statistics/library_kernel.h"
#include "analysis/statistics/spilled_kernels.h"

#define LEAST_SHARE 0.5
#define LEAST_STREAM_SHARE 0.25
#define MOST_ASKED 1.25 /* bytes that threads ask for, by those of DRAM */
#define MOST_OTHER 0.25 /* of the roofs of arithmetic */
#define MOST_SHARED 0.10

static bool only_moves(const struct roofline_point *point)
{
	for (int roof = ROOF_MEMORY_END; roof < ROOF_COUNT; roof++)
		if (point->quantities[roof].share > MOST_OTHER)
			return false;
	return point->quantities[ROOF_shared].share <= MOST_SHARED;
}

/* Each byte is asked for about once, and no thread waits for others to put something into shared memory: neither caches nor
 * barriers have a part in it. */
static bool is_stream(const struct roofline_point *point)
{
	const struct roofline_quantity *asked = &point->quantities[ROOF_l1];

	return asked->state == ROOFLINE_KNOWN && point->quantities[ROOF_shared].total == 0 &&
	       asked->per_launch <= MOST_ASKED * point->quantities[ROOF_dram].per_launch;
}

bool is_slow_byte_mover(const struct profile *profile, const struct roofline_point *point)
{
	return point->binding == ROOF_dram &&
	       point->binding_share >= (is_stream(point) ? LEAST_STREAM_SHARE : LEAST_SHARE) &&
	       !point->is_wrong && !roofline_is_at_dram(point) && only_moves(point) &&
	       !library_kernel_of(point->name) && !spilled_kernel(profile, point->subject);
}
