#include "whatif/scenario.h"

#include <errno.h>
#include <string.h>

static int predict_alone(struct scenario *scenario, const struct what_ifs *what_ifs)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < scenario->part_count; i++)
		rc = what_if_alone(&scenario->parts[i].alone, scenario->parts[i].technique,
				   what_ifs, scenario->device);
	return rc;
}

/* One that could do something alone, and nothing beside the others, came too late; one that could not is still
 * refused for its own reason. */
static void set_part(struct scenario *scenario, struct scenario_part *part,
		     const struct what_if *together)
{
	part->together = *together;
	if (!together->effect.refusal) {
		scenario->is_changed = true;
		scenario->is_up_to |=
			techniques[part->technique]->is_up_to && !together->effect.is_proven;
	} else if (together->effect.refusal == refused_impossible ||
		   together->effect.refusal == refused_other_sort)
		return;
	else if (!part->alone.effect.refusal)
		part->together.effect.refusal = refused_taken;
	else
		part->together.effect.refusal = part->alone.effect.refusal;
}

/* In the order in which they are applied, of those parts. */
struct applicable {
	enum technique_id ids[TECHNIQUE_COUNT];
	struct scenario_part *parts[TECHNIQUE_COUNT];
	size_t count;
};

/* Also those that can do nothing alone, for what they need others may bring; but not where much is not known. */
static void find_applicable(struct applicable *applicable, struct scenario *scenario)
{
	applicable->count = 0;
	for (size_t i = 0; i < scenario->part_count; i++) {
		struct scenario_part *part = &scenario->parts[i];

		part->together.effect.refusal = part->alone.effect.refusal;
		if (part->alone.effect.refusal == refused_device_work)
			continue;
		applicable->parts[applicable->count] = part;
		applicable->ids[applicable->count++] = part->technique;
	}
}

static bool is_of_job(const struct scenario *scenario, const struct what_ifs *what_ifs)
{
	for (size_t i = 0; i < scenario->part_count; i++)
		if (!scenario->parts[i].together.effect.refusal &&
		    what_if_is_of_job(what_ifs, scenario->parts[i].technique))
			return true;
	return false;
}

static int predict_together(struct scenario *scenario, const struct applicable *applicable,
			    const struct what_ifs *what_ifs)
{
	struct what_if together[TECHNIQUE_COUNT];
	int rc = what_if_together(&scenario->prediction, together, applicable->ids,
				  applicable->count, what_ifs, scenario->device);

	for (size_t i = 0; rc == 0 && i < applicable->count; i++)
		set_part(scenario, applicable->parts[i], &together[i]);
	scenario->is_of_job = rc == 0 && is_of_job(scenario, what_ifs);
	return rc;
}

/* What is wanted of a scenario. */
struct wanted {
	const struct chosen_techniques *chosen;
	const char *range;		 /* or NULL */
	const struct occurrence *within; /* or NULL: anywhere */
	struct side_by_side *sides;	 /* or NULL: not to look at */
};

static int keep_within(struct what_ifs *what_ifs, const struct chosen_techniques *chosen)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < TECHNIQUE_COUNT; i++)
		if (chosen->ranges[i])
			rc = what_ifs_keep_within(what_ifs, (enum technique_id)i,
						  chosen->ranges[i]);
	return rc;
}

static int predict(struct scenario *scenario, const struct wanted *wanted,
		   struct what_ifs *what_ifs)
{
	const struct occurrence *within = wanted->within;
	struct applicable applicable;
	int rc = keep_within(what_ifs, wanted->chosen);

	if (rc == 0)
		rc = predict_alone(scenario, what_ifs);
	if (rc < 0)
		return rc;
	find_applicable(&applicable, scenario);
	rc = predict_together(scenario, &applicable, what_ifs);
	if (rc == 0 && wanted->sides && scenario->is_changed)
		rc = what_if_side_by_side(wanted->sides, applicable.ids, applicable.count, what_ifs,
					  scenario->device, within ? within->start_ns : INT64_MIN,
					  within ? within->end_ns : INT64_MAX);
	return rc;
}

static int open_what_ifs(struct what_ifs *what_ifs, const struct report *report,
			 const struct wanted *wanted)
{
	int rc = what_ifs_open_report(what_ifs, report, wanted->range);

	if (rc == 0)
		rc = what_ifs_add_report(what_ifs, report);
	memcpy(what_ifs->numbers, wanted->chosen->numbers, sizeof(what_ifs->numbers));
	return rc;
}

static void set_wanted(struct scenario *out, const struct wanted *wanted,
		       const struct profile *profile)
{
	const struct chosen_techniques *chosen = wanted->chosen;

	*out = (struct scenario){.profile = profile,
				 .range = wanted->range,
				 .device = what_if_main_device(profile),
				 .part_count = chosen->count};
	memcpy(out->numbers, chosen->numbers, sizeof(out->numbers));
	for (size_t i = 0; i < chosen->count; i++) {
		out->parts[i].technique = chosen->items[i];
		out->parts[i].range = chosen->ranges[chosen->items[i]];
	}
}

static int predict_wanted(struct scenario *out, const struct wanted *wanted,
			  const struct report *report, struct err *err)
{
	const struct profile *profile = report->profile;
	struct what_ifs what_ifs;
	int rc;

	set_wanted(out, wanted, profile);
	if (!profile->device_count || !profile->devices[out->device].op_count)
		return err_set(err, -ENODATA, "%s: no prediction: no operation of a GPU in it",
			       profile->path);
	rc = open_what_ifs(&what_ifs, report, wanted);
	if (rc == 0 && !what_ifs.predictor.is_usable)
		rc = err_set(err, -ENODATA, "%s: no prediction: %s", profile->path,
			     what_ifs.predictor.why_not);
	else if (rc == 0)
		rc = predict(out, wanted, &what_ifs);
	out->unrecorded_share = what_ifs.predictor.unrecorded.share;
	what_ifs_free(&what_ifs);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the prediction") : rc;
}

int scenario_predict(struct scenario *out, const struct report *report,
		     const struct chosen_techniques *chosen, const char *range, struct err *err)
{
	const struct wanted wanted = {.chosen = chosen, .range = range};

	return predict_wanted(out, &wanted, report, err);
}

int scenario_show(struct scenario *out, struct side_by_side *sides, const struct report *report,
		  const struct chosen_techniques *chosen, const struct occurrence *within,
		  struct err *err)
{
	const struct wanted wanted = {.chosen = chosen,
				      .range = within ? within->name : NULL,
				      .within = within,
				      .sides = sides};

	*sides = (struct side_by_side){0};
	return predict_wanted(out, &wanted, report, err);
}
