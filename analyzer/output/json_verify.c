/* json_verify.c - a comparison of two recordings for programs, as JSON and as CSV of one row.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/csv.h"
#include "output/json.h"
#include "output/verify.h"

PREDICATE(is_predicted, struct comparison, comparison, comparison->predicted > 0);

static bool is_judged(const struct row *row, const void *from)
{
	(void)row;
	return comparison_is_judged(from);
}

static bool sentence_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct sentences *sentences = from;

	(void)row;
	if (index >= sentences->count)
		return false;
	entry->value = value_text(sentences->items[index]);
	return true;
}

FINDER(profile_before, struct comparison, comparison, comparison->before_profile);
FINDER(profile_after, struct comparison, comparison, comparison->after_profile);
GETTER(get_is_same_work, struct comparison, comparison, value_bool(!comparison->differences.count));

#define TIMES(of)                                                                          \
	{FIELD_AS(#of "_ns", struct comparison, of.mean_ns)},                              \
		{FIELD_AS(#of "_count", struct comparison, of.count)},                     \
		{FIELD_AS(#of "_min_ns", struct comparison, of.min_ns)},                   \
		{FIELD_AS(#of "_max_ns", struct comparison, of.max_ns)},                   \
		{FIELD_AS(#of "_repeat_count", struct comparison, of##_repeats.count)},    \
		{FIELD_AS(#of "_repeats_low_ns", struct comparison, of##_repeats.low_ns),  \
		 .known = KNOWN_ABOVE_ZERO},                                               \
	{                                                                                  \
		FIELD_AS(#of "_repeats_high_ns", struct comparison, of##_repeats.high_ns), \
			.known = KNOWN_ABOVE_ZERO                                          \
	}

#define SENTENCES(name)                                                                         \
	{                                                                                       \
		.key = #name, .type = COLUMN_LIST, .offset = offsetof(struct comparison, name), \
		.entry = sentence_at                                                            \
	}

static const struct column compared_columns[] = {TIMES(before),
						 TIMES(after),
						 FIELD(struct comparison, before_share),
						 FIELD(struct comparison, after_share),
						 FIELD(struct comparison, before_is_measured),
						 FIELD(struct comparison, after_is_measured),
						 FIELD_ABOVE_ZERO(struct comparison,
								  before_kernels_ns),
						 FIELD_ABOVE_ZERO(struct comparison,
								  after_kernels_ns),
						 {0}};

PREDICATE(is_steady_predicted, struct compared_speedup, speedup, speedup->predicted > 0);
PREDICATE(is_steady_judged, struct compared_speedup, speedup,
	  speedup->predicted > 0 && speedup->measured > 0);

static const struct column steady_speedup_columns[] = {
	FIELD_ABOVE_ZERO(struct compared_speedup, measured),
	FIELD_IF(struct compared_speedup, predicted, is_steady_predicted),
	FIELD_IF(struct compared_speedup, low, is_steady_predicted),
	FIELD_IF(struct compared_speedup, high, is_steady_predicted),
	{FIELD_AS("error", struct compared_speedup, error_ratio), .is_known = is_steady_judged},
	FIELD_IF(struct compared_speedup, is_inside, is_steady_judged),
	{0}};

static const struct column steady_columns[] = {
	{FIELD_AS("before_ns", struct compared_steady, before.row_ns)},
	{FIELD_AS("after_ns", struct compared_steady, after.row_ns)},
	{FIELD_AS("before_count", struct compared_steady, before.count)},
	{FIELD_AS("after_count", struct compared_steady, after.count)},
	{FIELD_AS("before_row_count", struct compared_steady, before.row_count)},
	{FIELD_AS("after_row_count", struct compared_steady, after.row_count)},
	{FIELD_AS("before_share", struct compared_steady, before.share)},
	{FIELD_AS("after_share", struct compared_steady, after.share)},
	INLINE(struct compared_steady, speedup, steady_speedup_columns),
	{0}};

/* Only where both repeat something. */
FINDER(find_steady, struct comparison, comparison,
       comparison->steady.before.count && comparison->steady.after.count ? &comparison->steady
									 : NULL);

static const struct column jit_columns[] = {
	{FIELD_AS("launch_count", struct jit_return, launch_count)},
	FIELD(struct jit_return, cost_ns),
	{FIELD_AS("saved_per_launch_ns", struct jit_return, saved_ns)},
	{FIELD_AS("return", struct jit_return, ratio)},
	FIELD_ABOVE_ZERO(struct jit_return, least_launches),
	{0}};

FINDER(find_jit, struct comparison, comparison,
       comparison->jit.launch_count && !comparison->range ? &comparison->jit : NULL);

static const struct column traffic_columns[] = {
	{FIELD_AS("before_dram_bytes", struct traffic_change, before.dram_bytes),
	 .known = KNOWN_ABOVE_ZERO},
	{FIELD_AS("after_dram_bytes", struct traffic_change, after.dram_bytes),
	 .known = KNOWN_ABOVE_ZERO},
	FIELD(struct traffic_change, dram_reduction),
	{FIELD_AS("before_accessed_bytes", struct traffic_change, before.accessed_bytes),
	 .known = KNOWN_ABOVE_ZERO},
	{FIELD_AS("after_accessed_bytes", struct traffic_change, after.accessed_bytes),
	 .known = KNOWN_ABOVE_ZERO},
	FIELD(struct traffic_change, access_reduction),
	{0}};

/* Only where counters tell something of one of them. */
FINDER(find_traffic, struct comparison, comparison,
       comparison->traffic.before.dram_bytes > 0 || comparison->traffic.after.dram_bytes > 0 ||
		       comparison->traffic.before.accessed_bytes > 0 ||
		       comparison->traffic.after.accessed_bytes > 0
	       ? &comparison->traffic
	       : NULL);

static struct value get_judged(struct row *row, const void *from)
{
	const struct comparison *comparison = from;

	(void)row;
	if (!comparison->advice)
		return value_none();
	return value_text(comparison->range			? "range"
			  : comparison_is_by_steady(comparison) ? "steady_state"
								: "run");
}

static const struct column before_columns[] = {{FIELD_AS("before", struct profile, path)}, {0}};
static const struct column after_columns[] = {{FIELD_AS("after", struct profile, path)}, {0}};

static const struct column columns[] = {
	INLINE_FOUND(profile_before, before_columns),
	INLINE_FOUND(profile_after, after_columns),
	FIELD(struct comparison, range),
	FIELD(struct comparison, strategy),
	FIELD(struct comparison, advice),
	FIELD_IF(struct comparison, predicted, is_predicted),
	FIELD_IF(struct comparison, low, is_predicted),
	FIELD_IF(struct comparison, high, is_predicted),
	{FIELD_AS("error", struct comparison, error_ratio), .is_known = is_judged},
	FIELD_IF(struct comparison, is_inside, is_judged),
	FIELD_ABOVE_ZERO(struct comparison, measured),
	FIELD_ABOVE_ZERO(struct comparison, measured_low),
	FIELD_ABOVE_ZERO(struct comparison, measured_high),
	{.key = "compared", .type = COLUMN_GROUP, .columns = compared_columns},
	COMPUTED("judged", get_judged),
	GROUP_FOUND("steady", find_steady, steady_columns),
	GROUP_FOUND("jit", find_jit, jit_columns),
	GROUP_FOUND("traffic", find_traffic, traffic_columns),
	COMPUTED("is_same_work", get_is_same_work),
	SENTENCES(differences),
	SENTENCES(obstacles),
	SENTENCES(warnings),
	{0}};

int verify_write_json(const struct comparison *comparison, FILE *out,
		      const struct output_options *options, struct err *err)
{
	(void)options;
	return json_write(columns, comparison, out, "the comparison", err);
}

static const void *comparison_at(const struct row *parent, size_t index)
{
	return index ? NULL : parent->item;
}

int verify_write_csv(const struct comparison *comparison, FILE *out,
		     const struct output_options *options, struct err *err)
{
	(void)options;
	return csv_table_write(columns, comparison_at, comparison, out, "the comparison", err);
}
