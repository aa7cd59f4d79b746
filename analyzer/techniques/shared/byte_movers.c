#include "techniques/shared/byte_movers.h"

#include "analysis/statistics/library_kernel.h"
#include "analysis/statistics/spilled_kernels.h"

#define LEAST_SHARE 0.5
#define MOST_OTHER 0.25 /* of the roofs of arithmetic */
#define MOST_SHARED 0.10

static bool only_moves(const struct roofline_point *point)
{
	for (int roof = ROOF_MEMORY_END; roof < ROOF_COUNT; roof++)
		if (point->quantities[roof].share > MOST_OTHER)
			return false;
	return point->quantities[ROOF_shared].share <= MOST_SHARED;
}

bool is_slow_byte_mover(const struct profile *profile, const struct roofline_point *point)
{
	return point->binding == ROOF_dram && point->binding_share >= LEAST_SHARE &&
	       !point->is_wrong && !roofline_is_at_dram(point) && only_moves(point) &&
	       !library_kernel_of(point->name) && !spilled_kernel(profile, point->subject);
}
