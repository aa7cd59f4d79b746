#include "techniques/shared/fusion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/search.h"

struct wanted_counter {
	const struct profile *profile;
	uint32_t signature;
};

/* counters[] of kernels come by signature, those of graphs behind them. */
static bool is_not_before(size_t index, const void *context)
{
	const struct wanted_counter *wanted = context;
	const struct profile_counter *counter = &wanted->profile->counters[index];

	return counter->is_graph || counter->subject >= wanted->signature;
}

static size_t first_counter(const struct profile *profile, uint32_t signature)
{
	return search_first(0, profile->counter_count, is_not_before,
			    &(struct wanted_counter){profile, signature});
}

/* Of one signature.  Several counters of a role are parts of it. */
struct role_bytes {
	bool is_known;
	double bytes;
};

static struct role_bytes bytes_of(const struct profile *profile, uint32_t signature,
				  enum metric_role role)
{
	struct role_bytes sum = {0};

	for (size_t i = first_counter(profile, signature);
	     i < profile->counter_count && !profile->counters[i].is_graph &&
	     profile->counters[i].subject == signature;
	     i++) {
		const struct profile_counter *counter = &profile->counters[i];

		if (profile->metrics[counter->metric].role != (uint32_t)role)
			continue;
		sum.bytes += counter->mean;
		sum.is_known = true;
	}
	return sum;
}

struct fusion_kernel fusion_counted(const struct profile *profile, uint32_t signature)
{
	struct role_bytes read = bytes_of(profile, signature, METRIC_dram_read_bytes);
	struct role_bytes written = bytes_of(profile, signature, METRIC_dram_write_bytes);
	struct role_bytes l1 = bytes_of(profile, signature, METRIC_l1_bytes);
	double stored = written.bytes;

	if (!read.is_known || !written.is_known)
		return (struct fusion_kernel){0};
	if (l1.is_known && l1.bytes >= FUSION_LEAST_L1 * read.bytes)
		stored = fmin(stored, fmax(l1.bytes - read.bytes, 0));
	return (struct fusion_kernel){.is_known = true,
				      .read_bytes = read.bytes,
				      .written_bytes = written.bytes,
				      .stored_bytes = stored};
}

enum fusion_verdict fusion_judge(const struct fusion *fusion, const struct profile *profile,
				 uint32_t first, uint32_t second)
{
	const struct fusion_kernel *a, *b;

	if (!fusion->kernels)
		return FUSION_UNTOLD;
	a = &fusion->kernels[first];
	b = &fusion->kernels[second];
	if (!a->is_known || !b->is_known ||
	    profile->signatures[first].kernel == profile->signatures[second].kernel)
		return FUSION_UNTOLD;
	if (a->read_bytes > fusion->l2_bytes && a->stored_bytes < FUSION_REDUCED_TO * a->read_bytes)
		return FUSION_GRID_WIDE;
	if (a->stored_bytes <= fusion->l2_bytes)
		return FUSION_UNTOLD;
	return b->read_bytes < FUSION_LEAST_READ * a->stored_bytes ? FUSION_GRID_WIDE
								   : FUSION_HANDS_ON;
}

static bool is_about(double bytes, double other_bytes)
{
	return bytes >= FUSION_LEAST_READ * other_bytes && other_bytes >= FUSION_LEAST_READ * bytes;
}

bool fusion_is_epilogue(const struct fusion *fusion, const struct profile *profile, uint32_t first,
			uint32_t second)
{
	const struct fusion_kernel *product, *after;

	if (fusion_judge(fusion, profile, first, second) != FUSION_HANDS_ON)
		return false;
	product = &fusion->kernels[first];
	after = &fusion->kernels[second];
	return product->tensor_share > 0 && after->tensor_share <= 0 &&
	       is_about(after->read_bytes, product->stored_bytes) &&
	       is_about(after->written_bytes, after->read_bytes);
}

double fusion_handed_bytes(const struct fusion_kernel *first, const struct fusion_kernel *second)
{
	return fmin(first->stored_bytes, second->read_bytes);
}

double fusion_time_ns(const struct fusion *fusion, const struct fusion_kernel *kernel,
		      double time_ns, double taken_bytes, double handed_bytes)
{
	double bytes = kernel->read_bytes + kernel->written_bytes;
	double vanished_bytes = taken_bytes + (fusion->is_least ? 0 : handed_bytes);
	double roof_ns, saved_ns, least_ns;

	if (vanished_bytes <= 0 || fusion->dram_byte_per_s <= 0)
		return time_ns;
	roof_ns = fmax(bytes - vanished_bytes, 0) / fusion->dram_byte_per_s * 1e9;
	saved_ns = fmin(vanished_bytes / bytes * time_ns,
			FUSION_SLOWEST * vanished_bytes / fusion->dram_byte_per_s * 1e9);
	least_ns = fmax(roof_ns, kernel->arithmetic_share * time_ns);
	return fmin(fmax(time_ns - saved_ns, least_ns), time_ns);
}

/* ---- what counters tell ---- */

double fusion_arithmetic_share(const struct roofline_point *point)
{
	double share = point->tensor_share;

	for (int i = ROOF_MEMORY_END; i < ROOF_COUNT; i++)
		share = fmax(share, point->quantities[i].share);
	return share;
}

/* By kernel name. */
static void collect_points(const struct roofline_point **points, const struct roofline *roofline)
{
	for (size_t i = 0; i < roofline->kernel_count; i++)
		points[roofline->kernels[i].subject] = &roofline->kernels[i];
}

/* Returns whether anything is known. */
static bool collect_kernels(struct fusion_kernel *kernels, const struct profile *profile,
			    const struct roofline_point **points)
{
	bool is_known = false;

	for (size_t i = 0; i < profile->signature_count; i++) {
		const struct roofline_point *point = points[profile->signatures[i].kernel];

		kernels[i] = fusion_counted(profile, (uint32_t)i);
		if (!kernels[i].is_known)
			continue;
		kernels[i].arithmetic_share = point ? fusion_arithmetic_share(point) : 0;
		kernels[i].tensor_share = point ? point->tensor_share : 0;
		is_known = true;
	}
	return is_known;
}

int fusion_collect(struct fusion *fusion, const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct roofline *roofline = report->roofline;
	const struct roofline_point **points;

	*fusion = (struct fusion){0};
	if (profile_only_device(profile) == PROFILE_NONE || !roofline ||
	    roofline->roofs[ROOF_dram] <= 0)
		return 0;
	fusion->dram_byte_per_s = roofline->roofs[ROOF_dram];
	fusion->l2_bytes = (double)profile->devices[profile_only_device(profile)].l2_bytes;
	fusion->kernels = calloc(profile->signature_count + 1, sizeof(*fusion->kernels));
	points = calloc(profile->kernel_name_count + 1, sizeof(const struct roofline_point *));
	if (!fusion->kernels || !points) {
		free(points);
		return -ENOMEM; /* kernels go with the facts */
	}
	collect_points(points, roofline);
	if (!collect_kernels(fusion->kernels, profile, points)) {
		free(fusion->kernels);
		fusion->kernels = NULL;
	}
	free(points);
	return 0;
}
