#include "advice/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/rules/rules.h"
#include "techniques/shared/refusals.h"

/* ---- candidates ---- */

static bool is_known(const struct plan_candidates *candidates, enum technique_id technique)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i].technique == technique)
			return true;
	return false;
}

/* One that could do nothing alone may after another one, but not where much is not known. */
void plan_add_candidate(struct plan_candidates *candidates, const struct facts *facts,
			const struct rule *rule, size_t device, const struct what_if *what_if)
{
	enum technique_id technique = technique_id_of(rule->technique);
	struct plan_candidate candidate = {
		.rule = rule,
		.technique = technique,
		.is_of_job = what_if_is_of_job(&facts->what_ifs, technique),
		.alone = {.program = {1, 1, 1}, .place = {1, 1, 1}, .steady = {1, 1, 1}}};

	/* a rule about a whole job is asked of one GPU */
	if (rule->bound || (device != facts->main_device && !rule->technique->change_job) ||
	    what_if->effect.refusal == refused_device_work || is_known(candidates, technique))
		return;
	if (!what_if->effect.refusal) {
		candidate.alone = gain_of_prediction(&what_if->prediction);
		candidate.alone.is_up_to = rule->technique->is_up_to && !what_if->effect.is_proven;
		candidate.alone.is_assuming = what_if->effect.is_assuming;
		candidate.alone.keeps_results =
			rule->technique->keeps_results || what_if->effect.keeps_results;
		candidate.is_worth = facts_is_worth(facts, rule, what_if);
	}
	candidate.is_refused = what_if->effect.refusal != NULL;
	candidate.number = what_if->effect.number;
	candidate.expected =
		gain_expected_speedup(&candidate.alone, facts->what_ifs.places != NULL);
	candidates->items[candidates->count++] = candidate;
}

/* What is expected to gain most alone first; of equals that which only drops calls, for it leaves most to the others. */
static int compare_candidates(const void *left, const void *right)
{
	const struct plan_candidate *a = left, *b = right;
	int order = (a->expected < b->expected) - (a->expected > b->expected);

	if (!order)
		order = techniques[b->technique]->is_shared - techniques[a->technique]->is_shared;
	return order ? order : (int)a->technique - (int)b->technique;
}

/* The first one that is worth it alone; count: none is. */
static size_t first_worth(const struct plan_candidates *candidates)
{
	size_t i = 0;

	while (i < candidates->count && !candidates->items[i].is_worth)
		i++;
	return i;
}

/* What has to be done for the best one anyhow, and alone saves most of it, comes before it. */
static void put_part_first(struct plan_candidates *candidates)
{
	size_t first = first_worth(candidates), i = first + 1;
	struct plan_candidate part, *items = candidates->items;

	while (i < candidates->count && !(items[i].is_worth &&
					  technique_contains(techniques[items[first].technique],
							     techniques[items[i].technique]) &&
					  gain_is_most(items[i].expected, items[first].expected)))
		i++;
	if (i >= candidates->count)
		return;
	part = items[i];
	memmove(items + first + 1, items + first, (i - first) * sizeof(*items));
	items[first] = part;
}

/* ---- together ---- */

struct plan {
	struct advice *advice;
	const struct facts *facts;
	const struct plan_candidate *chosen[TECHNIQUE_COUNT];
	size_t count;
	uint64_t numbers[TECHNIQUE_COUNT]; /* that techniques chose; 0: none */
	struct predicted_gain together;
};

/* The later, the less a technique leaves of a loop to those after it. */
static int turn_of(const struct technique *technique)
{
	return technique->is_shared ? 0 : technique->leaves_to ? 1 : 2;
}

/* In the order in which they are applied. */
static void order_techniques(enum technique_id *ids, const struct plan *plan)
{
	size_t count = 0;

	for (int turn = 0; turn <= 2; turn++)
		for (size_t i = 0; i < plan->count; i++)
			if (turn_of(techniques[plan->chosen[i]->technique]) == turn)
				ids[count++] = plan->chosen[i]->technique;
}

/* Of all that are chosen; out is 0 where one of them cannot do its part beside the others. */
static int predict(struct predicted_gain *out, struct plan *plan)
{
	const struct what_ifs *all = &plan->facts->what_ifs;
	enum technique_id ids[TECHNIQUE_COUNT] = {0};
	struct what_if parts[TECHNIQUE_COUNT];
	struct prediction prediction;
	int rc;

	order_techniques(ids, plan);
	rc = what_if_each_together(&prediction, parts, ids, plan->count, all,
				   plan->facts->main_device);
	*out = gain_of_prediction(&prediction);
	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		plan->numbers[ids[i]] = parts[i].effect.number;
		out->is_assuming |= parts[i].effect.is_assuming;
		out->is_up_to |= techniques[ids[i]]->is_up_to && !parts[i].effect.is_proven;
	}
	return rc;
}

static const struct predicted_speedup *judged(const struct plan *plan,
					      const struct predicted_gain *gain)
{
	return gain_of_part(gain, plan->advice->plan_part);
}

static double least_speedup(const struct plan *plan)
{
	return plan->advice->plan_part == GAIN_PROGRAM ? LEAST_PROGRAM_SPEEDUP
						       : LEAST_PLACE_SPEEDUP;
}

/* What it adds must be more than its own prediction is uncertain by. */
static bool is_adding(const struct plan *plan, const struct plan_candidate *candidate,
		      const struct predicted_gain *gain)
{
	const struct predicted_speedup *alone = judged(plan, &candidate->alone);
	const struct predicted_speedup *before = judged(plan, &plan->together);
	const struct predicted_speedup *together = judged(plan, gain);
	double noise = alone->low > 0 ? alone->speedup / alone->low : 1;

	return together->speedup >= fmax(noise, least_speedup(plan)) * before->speedup &&
	       together->low >= before->low;
}

/* ---- whatif's options ---- */

/* What was chosen for the run; of atomics as many as the kernel needs that needs most. */
static uint64_t number_of(const struct plan *plan, enum technique_id id)
{
	const struct report *report = plan->facts->report;
	uint64_t number = 2;

	if (plan->numbers[id])
		return plan->numbers[id];
	for (size_t i = 0; i < report->atomics->kernel_count; i++)
		if (report->atomics->kernels[i].is_bottleneck &&
		    report->atomics->kernels[i].batch > number)
			number = report->atomics->kernels[i].batch;
	return number;
}

static char *options_of(const struct plan *plan)
{
	enum technique_id ids[TECHNIQUE_COUNT] = {0};
	char text[64 * TECHNIQUE_COUNT];
	size_t used = 0;

	order_techniques(ids, plan);
	for (size_t i = 0; i < plan->count; i++) {
		const struct technique *technique = techniques[ids[i]];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s--%s", i ? " " : "",
					 technique->option);
		if (technique->argument == ARGUMENT_NUMBER)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %llu",
						 (unsigned long long)number_of(plan, ids[i]));
	}
	return strdup(text);
}

/* ---- steps ---- */

static int add_step(struct plan *plan, const struct plan_candidate *candidate)
{
	struct advice *advice = plan->advice;
	struct plan_step *step = &advice->plan[advice->plan_count];

	*step = (struct plan_step){.strategy = techniques[candidate->technique]->id,
				   .title = rule_words_of(candidate->rule, plan->facts).title,
				   .options = options_of(plan),
				   .together = plan->together};
	if (!step->options)
		return -ENOMEM;
	advice->plan_count++;
	return 0;
}

static bool has_shared(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (techniques[plan->chosen[i]->technique]->is_shared)
			return true;
	return false;
}

/* What a change saves of its part alone is as much larger a share of what those before it leave.  Where copies go through
 * the host nothing of a job can be overlapped yet. */
static bool can_add(const struct plan *plan, const struct plan_candidate *candidate)
{
	double saved_ratio = gain_saved_ratio(judged(plan, &candidate->alone)->high);

	if (candidate->is_refused)
		return has_shared(plan) || (candidate->is_of_job && plan->chosen[0]->is_of_job);
	return saved_ratio * judged(plan, &plan->together)->speedup >=
	       gain_saved_ratio(least_speedup(plan));
}

/* All are judged by what the first one is. */
static int begin(struct plan *plan, const struct plan_candidate *candidate)
{
	plan->chosen[plan->count++] = candidate;
	plan->together = candidate->alone;
	plan->numbers[candidate->technique] = candidate->number;
	plan->advice->plan_part =
		gain_part_of(&candidate->alone, plan->facts->what_ifs.places != NULL);
	return add_step(plan, candidate);
}

/* What was refused alone may do its part where calls are dropped before. */
static int extend(struct plan *plan, const struct plan_candidate *candidate)
{
	struct predicted_gain together;
	int rc;

	plan->chosen[plan->count++] = candidate;
	rc = predict(&together, plan);
	if (rc == 0 && is_adding(plan, candidate, &together)) {
		plan->together = together;
		return add_step(plan, candidate);
	}
	plan->count--;
	return rc;
}

/* The first one must be worth it alone. */
static int try_candidate(struct plan *plan, const struct plan_candidate *candidate)
{
	if (!plan->count)
		return candidate->is_worth ? begin(plan, candidate) : 0;
	return can_add(plan, candidate) ? extend(plan, candidate) : 0;
}

int plan_find(struct advice *advice, const struct facts *facts, struct plan_candidates *candidates)
{
	struct plan plan = {.advice = advice, .facts = facts};
	int rc = 0;

	advice->plan = calloc(candidates->count + 1, sizeof(*advice->plan));
	if (!advice->plan)
		return -ENOMEM;
	if (candidates->count)
		qsort(candidates->items, candidates->count, sizeof(*candidates->items),
		      compare_candidates);
	put_part_first(candidates);
	for (size_t i = 0; rc == 0 && i < candidates->count; i++)
		rc = try_candidate(&plan, &candidates->items[i]);
	return rc;
}

void plan_free(struct advice *advice)
{
	for (size_t i = 0; i < advice->plan_count; i++)
		free(advice->plan[i].options);
	free(advice->plan);
}
