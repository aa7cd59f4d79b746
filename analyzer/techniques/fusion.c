#include "techniques/fusion.h"

#include <math.h>

/* counters[] of kernels come by signature: the first of this one. */
static size_t first_counter(const struct profile *profile, uint32_t signature)
{
	size_t low = 0, high = profile->counter_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct profile_counter *counter = &profile->counters[middle];

		if (!counter->is_graph && counter->subject < signature)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
