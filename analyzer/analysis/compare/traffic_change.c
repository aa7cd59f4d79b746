#include "analysis/compare/traffic_change.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum traffic_kind { TRAFFIC_DRAM, TRAFFIC_ACCESSED, TRAFFIC_KINDS };

/* Of one signature. */
struct signature_bytes {
	bool is_known[TRAFFIC_KINDS];
	double bytes[TRAFFIC_KINDS]; /* a launch */
	uint64_t launch_count;
	double time_ns; /* of the launches with times */
};

static enum traffic_kind kind_of(uint32_t role)
{
	return role == METRIC_dram_read_bytes || role == METRIC_dram_write_bytes ? TRAFFIC_DRAM
	       : role == METRIC_l1_bytes					 ? TRAFFIC_ACCESSED
										 : TRAFFIC_KINDS;
}

static void collect_counters(struct signature_bytes *signatures, const struct profile *profile)
{
	for (size_t i = 0; i < profile->counter_count; i++) {
		const struct profile_counter *counter = &profile->counters[i];
		enum traffic_kind kind = kind_of(profile->metrics[counter->metric].role);

		if (counter->is_graph || kind == TRAFFIC_KINDS)
			continue;
		signatures[counter->subject].is_known[kind] = true;
		signatures[counter->subject].bytes[kind] += counter->mean;
	}
}

static void collect_launches(struct signature_bytes *signatures, const struct profile *profile)
{
	for (size_t i = 0; i < profile->signature_count; i++)
		signatures[i].launch_count = profile->signatures[i].unrecorded_count;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind != OP_KERNEL)
			continue;
		signatures[op->detail].launch_count++;
		signatures[op->detail].time_ns += (double)(op->end_ns - op->start_ns);
	}
}

/* 0 where too much was not counted. */
static double sum_up(const struct signature_bytes *signatures, size_t count, enum traffic_kind kind)
{
	double bytes = 0, all_ns = 0, counted_ns = 0;

	for (size_t i = 0; i < count; i++) {
		bytes += signatures[i].bytes[kind] * (double)signatures[i].launch_count;
		all_ns += signatures[i].time_ns;
		counted_ns += signatures[i].is_known[kind] ? signatures[i].time_ns : 0;
	}
	return counted_ns >= (1 - TRAFFIC_UNCOUNTED_MOST) * all_ns ? bytes : 0;
}

static int traffic_of(struct traffic *traffic, const struct profile *profile)
{
	struct signature_bytes *signatures =
		calloc(profile->signature_count + 1, sizeof(*signatures));

	if (!signatures)
		return -ENOMEM;
	collect_counters(signatures, profile);
	collect_launches(signatures, profile);
	traffic->dram_bytes = sum_up(signatures, profile->signature_count, TRAFFIC_DRAM);
	traffic->accessed_bytes = sum_up(signatures, profile->signature_count, TRAFFIC_ACCESSED);
	free(signatures);
	return 0;
}

static double reduction(double before_bytes, double after_bytes)
{
	return before_bytes > 0 && after_bytes > 0 ? 1 - after_bytes / before_bytes : NAN;
}

int traffic_change_of(struct traffic_change *change, const struct profile *before,
		      const struct profile *after)
{
	int rc;

	*change = (struct traffic_change){0};
	rc = traffic_of(&change->before, before);
	if (rc == 0)
		rc = traffic_of(&change->after, after);
	change->dram_reduction = reduction(change->before.dram_bytes, change->after.dram_bytes);
	change->access_reduction =
		reduction(change->before.accessed_bytes, change->after.accessed_bytes);
	return rc;
}
