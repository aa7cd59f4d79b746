/* json_try.c - what running a program with and without a strategy found, for programs, as JSON and as CSV of one row.  Keys
 * are stable: see OUTPUT_SCHEMA. */
#include "output/csv.h"
#include "output/json.h"
#include "output/try.h"

#include <sys/wait.h>

/* ---- times ---- */

GETTER(get_exit_code, struct trial_side, side,
       side->count &&WIFEXITED(side->status) ? value_integer(WEXITSTATUS(side->status))
					     : value_none());
GETTER(get_signal, struct trial_side, side,
       side->count &&WIFSIGNALED(side->status) ? value_integer(WTERMSIG(side->status))
					       : value_none());

static bool time_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct trial_side *side = from;

	(void)row;
	if (index >= side->count)
		return false;
	entry->value = value_real(side->times_ns[index]);
	return true;
}

static const struct column side_columns[] = {
	FIELD_ABOVE_ZERO(struct trial_side, median_ns), FIELD_ABOVE_ZERO(struct trial_side, min_ns),
	FIELD_ABOVE_ZERO(struct trial_side, max_ns),	LIST("times_ns", time_at),
	COMPUTED("exit_code", get_exit_code),		COMPUTED("signal", get_signal),
	FIELD(struct trial_side, is_timed_out),		{0}};

FINDER(find_bare, struct trial, trial, &trial->sides[TRIAL_BARE]);
FINDER(find_tried, struct trial, trial, &trial->sides[TRIAL_TRIED]);

/* ---- results ---- */

GETTER(get_match, struct trial_channel, channel,
       value_text(trial_match_key(channel->difference.match)));
GETTER(get_results, struct trial, trial, value_text(trial_match_key(trial->results)));

static const struct column lines_columns[] = {FIELD_ABOVE_ZERO(struct trial_lines, number),
					      FIELD(struct trial_lines, one),
					      FIELD(struct trial_lines, other),
					      {0}};

static const struct column channel_columns[] = {
	FIELD(struct trial_channel, name),
	FIELD(struct trial_channel, is_judged),
	COMPUTED("match", get_match),
	{FIELD_AS("line_count", struct trial_channel, difference.line_count)},
	{FIELD_AS("varying_count", struct trial_channel, difference.varying_count)},
	GROUP("first", NULL, struct trial_channel, difference.first, lines_columns),
	GROUP("varying", NULL, struct trial_channel, difference.varying, lines_columns),
	{FIELD_AS("suggested_ignore", struct trial_channel, difference.suggested_mask)},
	{0}};

static const void *channel_at(const struct row *parent, size_t index)
{
	const struct trial *trial = parent->item;

	return index < trial->channel_count ? &trial->channels[index] : NULL;
}

/* ---- what was reached ---- */

#define COUNT_COLUMN(constant, name, meaning) \
	{FIELD_AS(name, struct trial_reach, counts[constant])},
static const struct column reach_columns[] = {TRY_COUNTS(COUNT_COLUMN){0}};
#undef COUNT_COLUMN

static bool cause_at(const struct trial_causes *causes, size_t index, struct entry *entry)
{
	if (index >= causes->count)
		return false;
	entry->key = causes->items[index].name;
	entry->value = value_count(causes->items[index].count);
	return true;
}

static bool passed_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct trial *trial = from;

	(void)row;
	return cause_at(&trial->reach.passed, index, entry);
}

static bool flush_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct trial *trial = from;

	(void)row;
	return cause_at(&trial->reach.flushes, index, entry);
}

FINDER(find_reach, struct trial, trial, trial->reach.process_count ? &trial->reach : NULL);

/* ---- the prediction ---- */

static const struct column ratio_columns[] = {FIELD_ABOVE_ZERO(struct trial_ratio, speedup),
					      FIELD_ABOVE_ZERO(struct trial_ratio, low),
					      FIELD_ABOVE_ZERO(struct trial_ratio, high),
					      {0}};

static const struct column prediction_columns[] = {
	FIELD(struct trial_prediction, recording),
	FIELD(struct trial_prediction, techniques),
	FIELD(struct trial_prediction, why_not),
	{FIELD_AS("up_to", struct trial_prediction, is_up_to)},
	GROUP("process", NULL, struct trial_prediction, process, ratio_columns),
	GROUP("run", NULL, struct trial_prediction, run, ratio_columns),
	GROUP("steady", NULL, struct trial_prediction, steady, ratio_columns),
	FIELD_ABOVE_ZERO(struct trial_prediction, run_measured),
	FIELD_ABOVE_ZERO(struct trial_prediction, steady_measured),
	{0}};

FINDER(find_prediction, struct trial, trial,
       trial->prediction.recording ? &trial->prediction : NULL);

/* ---- all of it ---- */

static bool note_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct trial *trial = from;

	(void)row;
	if (index >= trial->notes.count)
		return false;
	entry->value = value_text(trial->notes.items[index]);
	return true;
}

static bool is_measured(const struct row *row, const void *from)
{
	const struct trial *trial = from;

	(void)row;
	return trial->measured.speedup > 0;
}

GETTER(get_bare_run, struct trial, trial, value_real(trial->runs[TRIAL_BARE].median_ns));
GETTER(get_tried_run, struct trial, trial, value_real(trial->runs[TRIAL_TRIED].median_ns));

FINDER(find_run, struct trial, trial, trial->run.speedup > 0 ? trial : NULL);

static const struct column run_columns[] = {{FIELD_AS("speedup", struct trial, run.speedup)},
					    {FIELD_AS("low", struct trial, run.low)},
					    {FIELD_AS("high", struct trial, run.high)},
					    COMPUTED("bare_ns", get_bare_run),
					    COMPUTED("tried_ns", get_tried_run),
					    {0}};

static const struct column columns[] = {
	FIELD(struct trial, command),
	FIELD(struct trial, strategies),
	{FIELD_AS("measured", struct trial, measured.speedup), .is_known = is_measured},
	{FIELD_AS("measured_low", struct trial, measured.low), .is_known = is_measured},
	{FIELD_AS("measured_high", struct trial, measured.high), .is_known = is_measured},
	FIELD_IF(struct trial, is_noise, is_measured),
	GROUP_FOUND("run", find_run, run_columns),
	COMPUTED("results", get_results),
	FIELD(struct trial, has_equal_ends),
	GROUP_FOUND("bare", find_bare, side_columns),
	GROUP_FOUND("tried", find_tried, side_columns),
	ROWS("compared", channel_columns, channel_at),
	GROUP_FOUND("reach", find_reach, reach_columns),
	MAP("passed", passed_at),
	MAP("flushes", flush_at),
	GROUP_FOUND("prediction", find_prediction, prediction_columns),
	FIELD(struct trial, keep),
	LIST("warnings", note_at),
	{0}};

int try_write_json(const struct trial *trial, FILE *out, const struct output_options *options,
		   struct err *err)
{
	(void)options;
	return json_write(columns, trial, out, "the trial", err);
}

static const void *trial_at(const struct row *parent, size_t index)
{
	return index ? NULL : parent->item;
}

int try_write_csv(const struct trial *trial, FILE *out, const struct output_options *options,
		  struct err *err)
{
	(void)options;
	return csv_table_write(columns, trial_at, trial, out, "the trial", err);
}
