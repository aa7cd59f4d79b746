/* json_whatif.c - several strategies at once, for programs.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/whatif.h"

#include <errno.h>
#include <string.h>

#include "output/json_values.h"

static void set_known(json_t *object, const char *key, bool is_known, json_t *value)
{
	json_object_set_new(object, key, is_known ? value : json_null());
	if (!is_known)
		json_decref(value);
}

/* null where nothing changes: no figure is made up */
static void set_ratio(json_t *object, bool is_known, const struct predicted_ratio *ratio,
		      int64_t before_ns, int64_t after_ns)
{
	set_known(object, "speedup", is_known, json_real(ratio->speedup));
	set_known(object, "low", is_known, json_real(ratio->low));
	set_known(object, "high", is_known, json_real(ratio->high));
	set_known(object, "before_ns", is_known, json_integer(before_ns));
	set_known(object, "after_ns", is_known, json_integer(after_ns));
}

static void set_prediction(json_t *object, bool is_known, const struct prediction *prediction)
{
	json_t *place = json_object();

	set_ratio(object, is_known, &prediction->program, prediction->program_before_ns,
		  prediction->program_after_ns);
	set_ratio(place, is_known, &prediction->place, prediction->place_before_ns,
		  prediction->place_after_ns);
	json_object_set_new(object, "place", place);
}

static json_t *part_of(const struct scenario *scenario, const struct scenario_part *part)
{
	const struct effect *effect = &part->together.effect;
	json_t *object = json_object();

	set_text(object, "strategy", techniques[part->technique]->id);
	set_text(object, "range", part->range);
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		if (techniques[i]->argument == ARGUMENT_NUMBER)
			set_known(object, techniques[i]->option, (int)part->technique == i,
				  json_integer((json_int_t)scenario->numbers[i]));
	set_count(object, "loops", effect->loop_count);
	set_count(object, "iterations", effect->iteration_count);
	set_count(object, "changed", effect->changed_count);
	set_text(object, "refusal",
		 effect->refusal);
	set_prediction(object, !part->alone.effect.refusal, &part->alone.prediction);
	return object;
}

int whatif_write_json(const struct scenario *scenario, FILE *out,
		      const struct output_options *options, struct err *err)
{
	json_t *root = json_object(), *parts = json_array();
	int rc;

	(void)options;
	set_integer(root, "schema", OUTPUT_SCHEMA);
	set_text(root, "recording", scenario->profile->path);
	set_text(root, "range", scenario->range);
	set_count(root, "device", scenario->device);
	for (size_t i = 0; i < scenario->part_count; i++)
		json_array_append_new(parts, part_of(scenario, &scenario->parts[i]));
	json_object_set_new(root, "strategies", parts);
	set_prediction(root, scenario->is_changed, &scenario->prediction);
	rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (rc < 0 || fputc('\n', out) == EOF || fflush(out))
		return err_set(err, -EIO, "the prediction could not be written: %s",
			       strerror(errno));
	return 0;
}
