#include "advice/scenario.h"

#include "advice/rules/rules.h"

#include <errno.h>

/* What the host waits for, and what graphs would save, is not known where the device launches work. */
static bool is_blind(enum strategy strategy)
{
	return strategy == STRATEGY_GRAPH || strategy == STRATEGY_FEWER_WAITS;
}

static int predict_alone(struct scenario *scenario, const struct facts *facts)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < scenario->part_count; i++) {
		struct scenario_part *part = &scenario->parts[i];

		if (is_blind(part->strategy) && facts_has_device_work(facts, scenario->device))
			part->alone.refusal = REFUSED_DEVICE_WORK;
		else
			rc = what_if_alone(&part->alone, part->strategy, &facts->what_ifs,
					   scenario->device);
	}
	return rc;
}

/* One that could do something alone, and nothing beside the others, came too late. */
static void take_part(struct scenario *scenario, struct scenario_part *part,
		      const struct what_if *together)
{
	part->together = *together;
	if (together->refusal != REFUSED_NONE)
		part->together.refusal = REFUSED_TAKEN;
	else
		scenario->is_changed = true;
}

/* Only those that can do something alone. */
static int predict_together(struct scenario *scenario, const struct facts *facts)
{
	enum strategy strategies[STRATEGY_COUNT];
	struct what_if together[STRATEGY_COUNT];
	struct scenario_part *parts[STRATEGY_COUNT];
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < scenario->part_count; i++) {
		struct scenario_part *part = &scenario->parts[i];

		part->together.refusal = part->alone.refusal;
		if (part->alone.refusal != REFUSED_NONE)
			continue;
		parts[count] = part;
		strategies[count++] = part->strategy;
	}
	rc = what_if_together(&scenario->prediction, together, strategies, count, &facts->what_ifs,
			      scenario->device);
	for (size_t i = 0; rc == 0 && i < count; i++)
		take_part(scenario, parts[i], &together[i]);
	return rc;
}

int scenario_predict(struct scenario *out, const struct report *report,
		     const enum strategy *strategies, size_t count, const char *range,
		     struct err *err)
{
	const struct profile *profile = report->profile;
	struct facts facts = {0};
	int rc;

	*out = (struct scenario){.profile = profile,
				 .range = range,
				 .device = what_if_main_device(profile),
				 .part_count = count};
	for (size_t i = 0; i < count; i++)
		out->parts[i].strategy = strategies[i];
	if (!profile->device_count || !profile->devices[out->device].op_count)
		return err_set(err, -ENODATA, "%s: no prediction: no operation of a GPU in it",
			       profile->path);
	rc = facts_collect(&facts, report, range);
	if (rc == 0 && !facts_can_predict(&facts))
		rc = err_set(err, -ENODATA, "%s: no prediction: %s", profile->path,
			     facts.what_ifs.predictor.why_not);
	else if (rc == 0)
		rc = predict_alone(out, &facts);
	if (rc == 0)
		rc = predict_together(out, &facts);
	facts_free(&facts);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the prediction") : rc;
}
