#include "techniques/fusing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

double fusing_arithmetic_share(const struct roofline_point *point)
{
	double share = point->tensor_share;

	for (int i = ROOF_MEMORY_END; i < ROOF_COUNT; i++)
		share = fmax(share, point->quantities[i].share);
	return share;
}

/* By kernel name. */
static void collect_shares(double *shares, const struct roofline *roofline)
{
	for (size_t i = 0; i < roofline->kernel_count; i++)
		shares[roofline->kernels[i].subject] =
			fusing_arithmetic_share(&roofline->kernels[i]);
}

/* Returns whether anything is known. */
static bool collect_kernels(struct fusion_kernel *kernels, const struct profile *profile,
			    const double *shares)
{
	bool is_known = false;

	for (size_t i = 0; i < profile->signature_count; i++) {
		kernels[i] = fusion_counted(profile, (uint32_t)i);
		if (!kernels[i].is_known)
			continue;
		kernels[i].arithmetic_share = shares[profile->signatures[i].kernel];
		is_known = true;
	}
	return is_known;
}

int fusing_collect(struct fusion *fusion, const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct roofline *roofline = report->roofline;
	double *shares;

	*fusion = (struct fusion){0};
	if (profile->device_count != 1 || !roofline || roofline->roofs[ROOF_dram] <= 0)
		return 0;
	fusion->dram_byte_per_s = roofline->roofs[ROOF_dram];
	fusion->l2_bytes = (double)profile->devices[0].l2_bytes;
	fusion->kernels = calloc(profile->signature_count + 1, sizeof(*fusion->kernels));
	shares = calloc(profile->kernel_name_count + 1, sizeof(*shares));
	if (!fusion->kernels || !shares) {
		free(shares);
		return -ENOMEM; /* kernels go with the facts */
	}
	collect_shares(shares, roofline);
	if (!collect_kernels(fusion->kernels, profile, shares)) {
		free(fusion->kernels);
		fusion->kernels = NULL;
	}
	free(shares);
	return 0;
}
