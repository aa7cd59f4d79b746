/* json_summary.c - a summary of many ranks for programs, as JSON and CSV.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/summary.h"

#include <string.h>

#include "output/csv.h"
#include "output/json.h"

static const struct column times_columns[] = {
	FIELD(struct overview_times, count),   FIELD(struct overview_times, total_ns),
	FIELD(struct overview_times, mean_ns), FIELD(struct overview_times, p50_ns),
	FIELD(struct overview_times, p99_ns),  FIELD(struct overview_times, min_ns),
	FIELD(struct overview_times, max_ns),  {0}};

#define ROWS_AT(function, items, item_count)                                          \
	static const void *function(const struct row *parent, size_t index)           \
	{                                                                             \
		const struct overview *overview = parent->item;                       \
                                                                                      \
		return index < overview->item_count ? &overview->items[index] : NULL; \
	}                                                                             \
	struct row

/* ---- ranks ---- */

PREDICATE(has_causes, struct overview_rank, rank, rank->rank->has_causes);
FINDER(summary_rank_of, struct overview_rank, rank, rank->rank);
FINDER(causes_of, struct overview_rank, rank,
       rank->rank->has_causes ? rank->rank->times.by_cause_ns : NULL);
PREDICATE(is_matched, struct overview_rank, rank, rank->waits.is_known);

/* What is known of all ranks together alone (wait_ns, exposed_wait_ns) is not in here. */
#define TIME_COLUMN(member, meaning) {FIELD_AS(#member, struct summary_rank, times.member)},

static const struct column identity_columns[] = {FIELD_FROM_ZERO(struct summary_rank, rank),
						 FIELD(struct summary_rank, pid),
						 {FIELD_AS("device", struct summary_rank, device)},
						 {FIELD_AS("model", struct summary_rank, model)},
						 FIELD(struct summary_rank, first_ns),
						 FIELD(struct summary_rank, last_ns),
						 {0}};

#define NO_COLUMN(member, meaning)

static const struct column work_columns[] = {JOB_TIMES(TIME_COLUMN, NO_COLUMN)
						     FIELD(struct summary_rank, operation_count),
					     FIELD(struct summary_rank, copied_bytes),
					     FIELD(struct summary_rank, lost_count),
					     FIELD(struct summary_rank, is_cut_off),
					     {0}};

static bool damage_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct sentences *damage = &((const struct overview_rank *)from)->rank->damage;

	(void)row;
	if (index < damage->count)
		entry->value = value_text(damage->items[index]);
	return index < damage->count;
}

static const struct column rank_columns[] = {
	FIELD(struct overview_rank, name),
	FIELD(struct overview_rank, host),
	INLINE_FOUND(summary_rank_of, identity_columns),
	INLINE_FOUND(summary_rank_of, work_columns),
	LIST("damage", damage_at),
	{FIELD_AS("wait_ns", struct overview_rank, waits.wait_ns), .is_known = is_matched},
	{FIELD_AS("last_count", struct overview_rank, waits.last_count), .is_known = is_matched},
	{FIELD_AS("caused_wait_ns", struct overview_rank, waits.caused_wait_ns),
	 .is_known = is_matched},
	{FIELD_AS("delay_ns", struct overview_rank, waits.delay_ns), .is_known = is_matched},
	{FIELD_AS("longest_delay_ns", struct overview_rank, waits.most_ns), .is_known = is_matched},
	{FIELD_AS("idle_cause", struct overview_rank, cause), .is_known = has_causes},
	{.key = "idle_by_cause",
	 .csv = "idle_",
	 .type = COLUMN_GROUP,
	 .base = causes_of,
	 .columns = cause_columns},
	{0}};

ROWS_AT(rank_at, ranks, rank_count);

/* ---- hosts ---- */

PREDICATE(is_compared, struct overview_host, host, host->compared_with);

static const struct column host_columns[] = {
	FIELD(struct overview_host, name),
	FIELD(struct overview_host, rank_count),
	FIELD(struct overview_host, compared_with),
	{FIELD_AS("clock_ahead_ns", struct overview_host, clock.offset.ahead_ns),
	 .is_known = is_compared},
	{FIELD_AS("clock_error_ns", struct overview_host, clock.offset.error_ns),
	 .is_known = is_compared},
	{FIELD_AS("common_count", struct overview_host, clock.common_count),
	 .is_known = is_compared},
	{0}};

ROWS_AT(host_at, hosts, host_count);

/* ---- kernels, idle time, collectives ---- */

static const struct column kernel_columns[] = {FIELD(struct overview_kernel, name),
					       INLINE(struct overview_kernel, times, times_columns),
					       {0}};

ROWS_AT(kernel_at, kernels, kernel_count);

static const struct column idle_columns[] = {FIELD(struct overview_cause, cause),
					     FIELD(struct overview_cause, idle_ns),
					     GROUP("gaps", "gap_", struct overview_cause, gaps,
						   times_columns),
					     {0}};

ROWS_AT(cause_at, causes, cause_count);

static const struct column collective_columns[] = {{FIELD_AS("group", struct overview_group, key)},
						   FIELD(struct overview_group, rank_count),
						   FIELD(struct overview_group, host_count),
						   FIELD(struct overview_group, collective_count),
						   FIELD(struct overview_group, matched_count),
						   FIELD(struct overview_group, one_of),
						   FIELD(struct overview_group, wait_ns),
						   GROUP("skew", "skew_", struct overview_group,
							 skew, times_columns),
						   FIELD(struct overview_group, latest),
						   {0}};

ROWS_AT(group_at, groups, group_count);

/* ---- formats ---- */

static bool problem_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct sentences *problems = &((const struct overview *)from)->problems;

	(void)row;
	if (index < problems->count)
		entry->value = value_text(problems->items[index]);
	return index < problems->count;
}

static const struct column columns[] = {FIELD(struct overview, wait_ns),
					FIELD(struct overview, lost_count),
					FIELD(struct overview, cut_off_count),
					FIELD(struct overview, damaged_count),
					LIST("problems", problem_at),
					ROWS("ranks", rank_columns, rank_at),
					ROWS("hosts", host_columns, host_at),
					ROWS("kernels", kernel_columns, kernel_at),
					ROWS("idle", idle_columns, cause_at),
					ROWS("collectives", collective_columns, group_at),
					{0}};

static const struct {
	const struct column *columns;
	row_function at;
} tables[] = {{rank_columns, rank_at},
	      {host_columns, host_at},
	      {kernel_columns, kernel_at},
	      {idle_columns, cause_at},
	      {collective_columns, group_at}};

int overview_find_table(const char *name)
{
	static const char *const names[] = {
#define TABLE_NAME(name) #name,
		OVERVIEW_TABLES(TABLE_NAME)
#undef TABLE_NAME
	};

	_Static_assert(sizeof(names) / sizeof(*names) == sizeof(tables) / sizeof(*tables),
		       "each table has its columns");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

int overview_write_json(const struct overview *overview, FILE *out,
			const struct output_options *options, int table, struct err *err)
{
	(void)options;
	(void)table;
	return json_write(columns, overview, out, "the summary", err);
}

int overview_write_csv(const struct overview *overview, FILE *out,
		       const struct output_options *options, int table, struct err *err)
{
	(void)options;
	return csv_table_write(tables[table].columns, tables[table].at, overview, out,
			       "the summary", err);
}
