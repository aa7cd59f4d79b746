/* json_whatif.c - several techniques at once, for programs.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/csv.h"
#include "output/json.h"
#include "output/whatif.h"

/* ---- predictions: not known where nothing changes, as no figure is made up ---- */

static const struct column ratio_columns[] = {FIELD(struct predicted_ratio, speedup),
					      FIELD(struct predicted_ratio, low),
					      FIELD(struct predicted_ratio, high),
					      {0}};

/* Where only calls are gone that no operation belongs to, no part of the GPU's time is theirs. */
FINDER(place_of, struct prediction, prediction,
       prediction->place_before_ns > 0 ? prediction : NULL);

static const struct column place_columns[] = {
	INLINE(struct prediction, place, ratio_columns),
	{FIELD_AS("before_ns", struct prediction, place_before_ns)},
	{FIELD_AS("after_ns", struct prediction, place_after_ns)},
	{FIELD_AS("margin_ns", struct prediction, place_margin_ns)},
	{0}};

FINDER(steady_of, struct prediction, prediction,
       prediction->steady_before_ns > 0 ? prediction : NULL);

static const struct column steady_columns[] = {
	INLINE(struct prediction, steady, ratio_columns),
	{FIELD_AS("before_ns", struct prediction, steady_before_ns)},
	{FIELD_AS("after_ns", struct prediction, steady_after_ns)},
	{0}};

static const struct column changed_columns[] = {
	{FIELD_AS("before_ns", struct prediction, changed_before_ns)},
	{FIELD_AS("after_ns", struct prediction, changed_after_ns)},
	{FIELD_AS("kept_ns", struct prediction, parts.kept_ns)},
	{FIELD_AS("changed_ns", struct prediction, parts.changed_ns)},
	{FIELD_AS("rest_ns", struct prediction, parts.rest_ns)},
	{0}};

static const struct column prediction_columns[] = {
	INLINE(struct prediction, program, ratio_columns),
	{FIELD_AS("before_ns", struct prediction, program_before_ns)},
	{FIELD_AS("after_ns", struct prediction, program_after_ns)},
	GROUP_FOUND("place", place_of, place_columns),
	GROUP_FOUND("steady", steady_of, steady_columns),
	{.key = "changes", .type = COLUMN_GROUP, .columns = changed_columns},
	{0}};

/* ---- each technique ---- */

GETTER(get_is_up_to, struct scenario_part, part,
       value_bool(techniques[part->technique]->is_up_to && !part->alone.effect.is_proven));
GETTER(get_strategy, struct scenario_part, part, value_text(techniques[part->technique]->id));

/* The numbers of all options that take one; of the part's own it is known. */
static bool number_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct scenario *scenario = row->parent->item;
	const struct scenario_part *part = from;

	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		if (techniques[i]->argument != ARGUMENT_NUMBER || index--)
			continue;
		entry->key = techniques[i]->option;
		entry->value = i == (int)part->technique ? value_count(scenario->numbers[i])
							 : value_none();
		return true;
	}
	return false;
}

FINDER(prediction_alone, struct scenario_part, part,
       part->alone.effect.refusal ? NULL : &part->alone.prediction);

static const struct column effect_columns[] = {
	{FIELD_AS("loops", struct effect, loop_count)},
	{FIELD_AS("iterations", struct effect, iteration_count)},
	{FIELD_AS("changed", struct effect, changed_count)},
	{FIELD_AS("graphs_of_cut_iteration", struct effect, cuts.graph_count)},
	{FIELD_AS("cut_because", struct effect, cuts.reason)},
	FIELD(struct effect, refusal),
	{0}};

static const struct column part_columns[] = {
	COMPUTED("strategy", get_strategy),
	FIELD(struct scenario_part, range),
	{.csv = "numbers", .type = COLUMN_MAP, .entry = number_at},
	INLINE(struct scenario_part, together.effect, effect_columns),
	COMPUTED("up_to", get_is_up_to),
	INLINE_FOUND(prediction_alone, prediction_columns),
	{0}};

static const void *part_at(const struct row *parent, size_t index)
{
	const struct scenario *scenario = parent->item;

	return index < scenario->part_count ? &scenario->parts[index] : NULL;
}

/* ---- all of them ---- */

FINDER(profile_of, struct scenario, scenario, scenario->profile);
FINDER(prediction_together, struct scenario, scenario,
       scenario->is_changed ? &scenario->prediction : NULL);

static const struct column profile_columns[] = {{FIELD_AS("recording", struct profile, path)}, {0}};

static const struct column columns[] = {INLINE_FOUND(profile_of, profile_columns),
					FIELD(struct scenario, range),
					FIELD(struct scenario, device),
					ROWS("strategies", part_columns, part_at),
					{FIELD_AS("up_to", struct scenario, is_up_to)},
					FIELD(struct scenario, unrecorded_share),
					INLINE_FOUND(prediction_together, prediction_columns),
					{0}};

int whatif_write_json(const struct scenario *scenario, FILE *out,
		      const struct output_options *options, struct err *err)
{
	(void)options;
	return json_write(columns, scenario, out, "the prediction", err);
}

/* Each technique; what they bring together is in JSON. */
int whatif_write_csv(const struct scenario *scenario, FILE *out,
		     const struct output_options *options, struct err *err)
{
	(void)options;
	return csv_table_write(part_columns, part_at, scenario, out, "the prediction", err);
}
