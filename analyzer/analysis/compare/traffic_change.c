#include "analysis/compare/traffic_change.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum traffic_kind { TRAFFIC_DRAM, TRAFFIC_ACCESSED, TRAFFIC_KINDS };

/* Of one signature. */
struct signature_bytes {
	bool is_known[TRAFFIC_KINDS];
	double bytes[TRAFFIC_KINDS]; /* a launch */
	double launch_count;
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

/* ---- what a range launched ---- */

/* The calls that begin in an occurrence of a range; all of them without one. */
struct chosen_calls {
	const struct profile *profile;
	const char *range; /* NULL: the whole run */
	bool *is_chosen;   /* by calls[], owned; NULL without a range */
	uint64_t count;	   /* of occurrences; 1 without a range */
	double unrecorded; /* the part of launches that are no operation that is among them, 0 to 1 */
};

/* Both are by thread, then start.  Occurrences may lie in each other: a call is chosen once. */
static void choose_calls(struct chosen_calls *chosen)
{
	const struct profile *profile = chosen->profile;
	size_t call = 0;

	for (size_t i = 0; i < profile->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];

		if (strcmp(range->name, chosen->range))
			continue;
		chosen->count++;
		while (call < profile->call_count &&
		       (profile->calls[call].thread < range->thread ||
			(profile->calls[call].thread == range->thread &&
			 profile->calls[call].start_ns < range->start_ns)))
			call++;
		for (; call < profile->call_count && profile->calls[call].thread == range->thread &&
		       profile->calls[call].start_ns < range->end_ns;
		     call++)
			chosen->is_chosen[call] = true;
	}
}

/* A call that launches and has no operation is one whose launch was counted by instrumented code.  Which kernel it launched is
 * not told: all kernels have the same part of theirs in the range. */
static int place_unrecorded(struct chosen_calls *chosen)
{
	const struct profile *profile = chosen->profile;
	bool *has_op = calloc(profile->call_count + 1, sizeof(*has_op));
	size_t all = 0, within = 0;

	if (!has_op)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			has_op[profile->ops[i].call] = true;
	for (size_t i = 0; i < profile->call_count; i++)
		if (!has_op[i] &&
		    profile->call_names[profile->calls[i].name].call_class == CALL_LAUNCH) {
			all++;
			within += chosen->is_chosen[i];
		}
	chosen->unrecorded = all ? (double)within / (double)all : 0;
	free(has_op);
	return 0;
}

static int chosen_open(struct chosen_calls *chosen, const struct profile *profile,
		       const char *range)
{
	*chosen = (struct chosen_calls){.profile = profile,
					.range = range,
					.count = !range,
					.unrecorded = 1};
	if (!range)
		return 0;
	chosen->is_chosen = calloc(profile->call_count + 1, sizeof(*chosen->is_chosen));
	if (!chosen->is_chosen)
		return -ENOMEM;
	choose_calls(chosen);
	return place_unrecorded(chosen);
}

static bool is_launch_of(const struct chosen_calls *chosen, const struct profile_op *op)
{
	return op->kind == OP_KERNEL &&
	       (!chosen->range || (op->call != PROFILE_NONE && chosen->is_chosen[op->call]));
}

/* Kernels that other kernels launched are of no range. */
static bool has_unplaced(const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL && profile->ops[i].call == PROFILE_NONE)
			return true;
	return false;
}

/* ---- adding up ---- */

static void collect_launches(struct signature_bytes *signatures, const struct chosen_calls *chosen)
{
	const struct profile *profile = chosen->profile;

	for (size_t i = 0; i < profile->signature_count; i++)
		signatures[i].launch_count =
			chosen->unrecorded * (double)profile->signatures[i].unrecorded_count;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (!is_launch_of(chosen, op))
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
		bytes += signatures[i].bytes[kind] * signatures[i].launch_count;
		all_ns += signatures[i].time_ns;
		counted_ns += signatures[i].is_known[kind] ? signatures[i].time_ns : 0;
	}
	return counted_ns >= (1 - TRAFFIC_UNCOUNTED_MOST) * all_ns ? bytes : 0;
}

static int traffic_of_calls(struct traffic *traffic, const struct chosen_calls *chosen)
{
	const struct profile *profile = chosen->profile;
	struct signature_bytes *signatures =
		calloc(profile->signature_count + 1, sizeof(*signatures));
	double times = chosen->count ? (double)chosen->count : 1;

	if (!signatures)
		return -ENOMEM;
	collect_counters(signatures, profile);
	collect_launches(signatures, chosen);
	traffic->dram_bytes = sum_up(signatures, profile->signature_count, TRAFFIC_DRAM) / times;
	traffic->accessed_bytes =
		sum_up(signatures, profile->signature_count, TRAFFIC_ACCESSED) / times;
	free(signatures);
	return 0;
}

static int traffic_of(struct traffic *traffic, const struct profile *profile, const char *range)
{
	struct chosen_calls chosen;
	int rc = chosen_open(&chosen, profile, range);

	if (rc == 0)
		rc = traffic_of_calls(traffic, &chosen);
	free(chosen.is_chosen);
	return rc;
}

static bool is_known(const struct traffic_change *change)
{
	return (change->before.dram_bytes > 0 && change->after.dram_bytes > 0) ||
	       (change->before.accessed_bytes > 0 && change->after.accessed_bytes > 0);
}

static double reduction(double before_bytes, double after_bytes)
{
	return before_bytes > 0 && after_bytes > 0 ? 1 - after_bytes / before_bytes : NAN;
}

static int measure(struct traffic_change *change, const struct profile *before,
		   const struct profile *after, const char *range)
{
	int rc;

	*change = (struct traffic_change){0};
	rc = traffic_of(&change->before, before, range);
	return rc == 0 ? traffic_of(&change->after, after, range) : rc;
}

int traffic_change_of(struct traffic_change *change, const struct profile *before,
		      const struct profile *after, const char *range)
{
	bool is_left_out = range && (has_unplaced(before) || has_unplaced(after));
	int rc = measure(change, before, after, is_left_out ? NULL : range);

	if (is_left_out)
		*change = (struct traffic_change){.is_left_out = is_known(change)};
	change->dram_reduction = reduction(change->before.dram_bytes, change->after.dram_bytes);
	change->access_reduction =
		reduction(change->before.accessed_bytes, change->after.accessed_bytes);
	return rc;
}
