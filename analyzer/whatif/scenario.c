#include "whatif/scenario.h"

#include "advice/rules/rules.h"

#include <errno.h>
#include <string.h>

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

/* One that could do something alone, and nothing beside the others, came too late; one that could not is still
 * refused for its own reason. */
static void take_part(struct scenario *scenario, struct scenario_part *part,
		      const struct what_if *together)
{
	part->together = *together;
	if (together->refusal == REFUSED_NONE)
		scenario->is_changed = true;
	else if (part->alone.refusal == REFUSED_NONE)
		part->together.refusal = REFUSED_TAKEN;
	else
		part->together.refusal = part->alone.refusal;
}

/* Strategies in the order in which they are applied, of those parts. */
struct chosen {
	enum strategy strategies[STRATEGY_COUNT];
	struct scenario_part *parts[STRATEGY_COUNT];
	size_t count;
};

/* Also those that can do nothing alone, for what they need others may bring; but not where much is not known. */
static void choose(struct chosen *chosen, struct scenario *scenario)
{
	chosen->count = 0;
	for (size_t i = 0; i < scenario->part_count; i++) {
		struct scenario_part *part = &scenario->parts[i];

		part->together.refusal = part->alone.refusal;
		if (part->alone.refusal == REFUSED_DEVICE_WORK)
			continue;
		chosen->parts[chosen->count] = part;
		chosen->strategies[chosen->count++] = part->strategy;
	}
}

static int predict_together(struct scenario *scenario, const struct chosen *chosen,
			    const struct facts *facts)
{
	struct what_if together[STRATEGY_COUNT];
	int rc = what_if_together(&scenario->prediction, together, chosen->strategies,
				  chosen->count, &facts->what_ifs, scenario->device);

	for (size_t i = 0; rc == 0 && i < chosen->count; i++)
		take_part(scenario, chosen->parts[i], &together[i]);
	return rc;
}

/* What is wanted of a scenario. */
struct wanted {
	const struct strategies *strategies;
	const char *range;		 /* or NULL */
	const struct occurrence *within; /* or NULL: anywhere */
	struct side_by_side *sides;	 /* or NULL: not to look at */
};

static int keep_within(struct what_ifs *what_ifs, const struct strategies *strategies)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < STRATEGY_COUNT; i++)
		if (strategies->ranges[i])
			rc = what_ifs_keep_within(what_ifs, (enum strategy)i,
						  strategies->ranges[i]);
	return rc;
}

static int predict(struct scenario *scenario, const struct wanted *wanted, struct facts *facts)
{
	const struct occurrence *within = wanted->within;
	struct chosen chosen;
	int rc = keep_within(&facts->what_ifs, wanted->strategies);

	if (rc == 0)
		rc = predict_alone(scenario, facts);
	if (rc < 0)
		return rc;
	choose(&chosen, scenario);
	rc = predict_together(scenario, &chosen, facts);
	if (rc == 0 && wanted->sides)
		rc = what_if_side_by_side(wanted->sides, chosen.strategies, chosen.count,
					  &facts->what_ifs, scenario->device,
					  within ? within->start_ns : INT64_MIN,
					  within ? within->end_ns : INT64_MAX);
	return rc;
}

static int answer(struct scenario *out, const struct wanted *wanted, const struct report *report,
		  struct err *err)
{
	const struct strategies *strategies = wanted->strategies;
	const struct profile *profile = report->profile;
	struct facts facts = {0};
	int rc;

	*out = (struct scenario){.profile = profile,
				 .range = wanted->range,
				 .device = what_if_main_device(profile),
				 .part_count = strategies->count};
	memcpy(out->numbers, strategies->numbers, sizeof(out->numbers));
	for (size_t i = 0; i < strategies->count; i++) {
		out->parts[i].strategy = strategies->items[i];
		out->parts[i].range = strategies->ranges[strategies->items[i]];
	}
	if (!profile->device_count || !profile->devices[out->device].op_count)
		return err_set(err, -ENODATA, "%s: no prediction: no operation of a GPU in it",
			       profile->path);
	rc = facts_collect(&facts, report, wanted->range);
	memcpy(facts.what_ifs.numbers, strategies->numbers, sizeof(facts.what_ifs.numbers));
	if (rc == 0 && !facts_can_predict(&facts))
		rc = err_set(err, -ENODATA, "%s: no prediction: %s", profile->path,
			     facts.what_ifs.predictor.why_not);
	else if (rc == 0)
		rc = predict(out, wanted, &facts);
	facts_free(&facts);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the prediction") : rc;
}

int scenario_predict(struct scenario *out, const struct report *report,
		     const struct strategies *strategies, const char *range, struct err *err)
{
	const struct wanted wanted = {.strategies = strategies, .range = range};

	return answer(out, &wanted, report, err);
}

int scenario_show(struct scenario *out, struct side_by_side *sides, const struct report *report,
		  const struct strategies *strategies, const struct occurrence *within,
		  struct err *err)
{
	const struct wanted wanted = {.strategies = strategies,
				      .range = within ? within->name : NULL,
				      .within = within,
				      .sides = sides};

	*sides = (struct side_by_side){0};
	return answer(out, &wanted, report, err);
}
