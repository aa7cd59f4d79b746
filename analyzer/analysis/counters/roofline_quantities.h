/*
 * roofline_quantities.h - bytes, operations and busy cycles of a point, from the counters that make them up.
 *
 * Private to roofline.c.
 */
#ifndef ROOFLINE_ANALYSIS_ROOFLINE_QUANTITIES_H
#define ROOFLINE_ANALYSIS_ROOFLINE_QUANTITIES_H

#include "analysis/counters/counted.h"
#include "analysis/counters/roofline.h"

/* Which counters the recording as a whole has. */
struct roofline_quantities {
	bool has_tensor_count, has_tensor_work;	       /* of any kernel */
	enum roofline_state absent[METRIC_ROLE_COUNT]; /* why, where a role has no samples */
};

void roofline_quantities_open(struct roofline_quantities *known, const struct profile *profile,
			      const struct counted *counted);

/* Whether tensor instructions ran, other than the FP16 ones that tensor cores execute. */
bool roofline_has_tensor_work(const struct counted_work *work);

/* Fills in quantities (without their shares), flops and intensities.  Launches and time are in the point already;
 * is_tensor: it ran tensor instructions. */
void roofline_add_quantities(struct roofline_point *point, const struct roofline_quantities *known,
			     const struct counted_work *work, bool is_tensor);

static inline double roofline_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

#endif
