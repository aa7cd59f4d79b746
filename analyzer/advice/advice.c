#include "advice/advice.h"

#include "advice/loop_text.h"
#include "advice/next/next.h"
#include "advice/plan.h"
#include "advice/rules/rules.h"
#include "base/format.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_ADDRESS(name, summary) &rule_##name,
static const struct rule *const rules[RULE_COUNT] = {RULES(RULE_ADDRESS)};
#undef RULE_ADDRESS

static char *target_of(const struct facts *facts, size_t device)
{
	char text[256];

	snprintf(text, sizeof(text), "GPU %zu (%s)", device,
		 facts->report->profile->devices[device].name);
	return strdup(text);
}

/* What is re-simulated has the name that whatif knows it by. */
static const char *strategy_of(const struct rule *rule)
{
	return rule->technique ? rule->technique->id : rule->strategy;
}

/* Kernels that a program hands to CuPy are of CUDA, too. */
struct rule_words rule_words_of(const struct rule *rule, const struct facts *facts)
{
	const struct rule_words cuda = {rule->title, rule->pattern, rule->risk, rule->workload};
	struct rule_words words = rule->in[facts->framework];

	if (facts->framework == FRAMEWORK_NONE ||
	    (facts->framework == FRAMEWORK_cupy && !words.pattern && rule->is_about_kernels))
		return cuda;
	words.title = words.title ? words.title : cuda.title;
	words.pattern = words.pattern ? words.pattern : "";
	words.risk = words.risk ? words.risk : cuda.risk;
	return words;
}

static struct recommendation *add(struct advice *advice, const struct facts *facts, size_t device,
				  const struct rule *rule)
{
	struct recommendation *items = realloc(advice->items, (advice->count + 1) * sizeof(*items));
	const struct rule_words words = rule_words_of(rule, facts);
	struct recommendation *item;

	if (!items)
		return NULL;
	advice->items = items;
	item = &items[advice->count];
	*item = (struct recommendation){.id = rule->id,
					.strategy = strategy_of(rule),
					.title = words.title,
					.pattern = words.pattern,
					.risk = words.risk,
					.workload = words.workload,
					.device = device,
					.is_at_roof = rule->is_at_roof,
					.is_once = rule->is_once &&
						   facts->devices[device].is_repeating,
					.target = target_of(facts, device)};
	if (!item->target)
		return NULL;
	advice->count++;
	return item;
}

__attribute__((format(printf, 5, 6))) static int reject(struct advice *advice,
							const struct facts *facts, size_t device,
							const struct rule *rule, const char *format,
							...)
{
	struct rejection *rejections =
		realloc(advice->rejections, (advice->rejection_count + 1) * sizeof(*rejections));
	struct rejection *item;
	char reason[256];
	va_list arguments;

	if (!rejections)
		return -ENOMEM;
	advice->rejections = rejections;
	item = &rejections[advice->rejection_count];
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	*item = (struct rejection){rule->id, strategy_of(rule), rule->title,
				   target_of(facts, device), strdup(reason)};
	advice->rejection_count++;
	return item->target && item->reason ? 0 : -ENOMEM;
}

int advice_add_evidence(struct recommendation *item, const char *format, ...)
{
	size_t size = (item->evidence_count + 1) * sizeof(*item->evidence);
	char **evidence = realloc(item->evidence, size), text[512];
	va_list arguments;

	if (!evidence)
		return -ENOMEM;
	item->evidence = evidence;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	evidence[item->evidence_count] = strdup(text);
	if (!evidence[item->evidence_count])
		return -ENOMEM;
	item->evidence_count++;
	return 0;
}

static int add_assumption(struct recommendation *item, const struct technique *technique,
			  const struct what_if *what_if)
{
	return what_if->effect.is_assuming && technique->assumes
		       ? advice_add_evidence(item, "assumes: %s", technique->assumes)
		       : 0;
}

/* Where several loops change, the one with most time stands for all. */
static int put_loop(struct recommendation *item, const struct facts *facts, size_t device,
		    const struct what_if *what_if)
{
	char loop[384], text[512];

	if (!what_if->effect.largest)
		return 0;
	loop_text(loop, sizeof(loop), facts->what_ifs.run.model, what_if->effect.largest, device);
	snprintf(text, sizeof(text), "%s: %s%s", item->target,
		 what_if->effect.loop_count > 1 ? "above all " : "", loop);
	free(item->target);
	item->target = strdup(text);
	return item->target ? 0 : -ENOMEM;
}

/* Where nobody knows what operations need of each other: the low end, and then what it may be. */
static int add_range(struct recommendation *item, const struct prediction *prediction)
{
	double least_ns = (double)prediction->place_before_ns / prediction->place.low;

	return advice_add_evidence(item, "re-simulated: %s to %s instead of %s",
				   format_ns(least_ns).text,
				   format_ns((double)prediction->place_after_ns).text,
				   format_ns((double)prediction->place_before_ns).text);
}

/* Of a range that was asked for that is what has to gain. */
static bool may_lose(const struct predicted_gain *gain, bool has_range)
{
	if (has_range)
		return gain_least_speedup(gain, GAIN_PLACE) < 1;
	return gain_least_speedup(gain, GAIN_PROGRAM) < 1 &&
	       gain_least_speedup(gain, GAIN_STEADY) < 1;
}

/* Of a range that was asked for any gain is told as one. */
static bool is_minor(const struct predicted_gain *gain, bool has_range)
{
	return !has_range &&
	       fmax(gain->program.speedup, gain->steady.speedup) < LEAST_PLACE_SPEEDUP;
}

/* Hands the prediction over to the recommendation, with the evidence that it comes from. */
static int put_prediction(struct recommendation *item, const struct facts *facts,
			  const struct rule *rule, const struct what_if *what_if)
{
	const struct prediction *prediction = &what_if->prediction;
	bool has_range = facts->what_ifs.places != NULL;

	item->gain = gain_of_prediction(prediction);
	item->gain.is_up_to = rule->technique->is_up_to && !what_if->effect.is_proven;
	item->gain.is_assuming = what_if->effect.is_assuming;
	item->gain.keeps_results = rule->technique->keeps_results || what_if->effect.keeps_results;
	item->is_dropping = rule->technique->is_shared;
	item->is_unsure = may_lose(&item->gain, has_range);
	item->is_minor = is_minor(&item->gain, has_range);
	item->expected_speedup = gain_expected_speedup(&item->gain, has_range);
	if (item->gain.is_up_to && prediction->place.low > 0)
		return add_range(item, prediction);
	return advice_add_evidence(item, "re-simulated: %s instead of %s",
				   format_ns((double)prediction->place_after_ns).text,
				   format_ns((double)prediction->place_before_ns).text);
}

/* At stake is what the rule says, and no less than what is promised.  The promise is a share of the run without what
 * recording added to it, and so is this: of the recorded wall time as many nanoseconds. */
static void put_stake(struct recommendation *item, const struct facts *facts, size_t device,
		      const struct rule *rule)
{
	double wall_ns = facts_wall_ns(facts, device);
	double stake_ns = rule->stake_ns ? (double)rule->stake_ns(facts, device) : 0;
	double ratio = wall_ns > 0 ? stake_ns / wall_ns : 0;

	ratio = fmax(ratio,
		     gain_saved_ratio(fmax(item->gain.program.speedup, item->gain.program.high)));
	item->at_stake_ratio = fmin(ratio, 1);
	item->at_stake_ns = (int64_t)(item->at_stake_ratio * wall_ns + 0.5);
}

/* Told where it may matter for the prediction. */
static int add_unrecorded(struct recommendation *item, const struct unrecorded *unrecorded)
{
	if (!(unrecorded->share > UNTIMED_MOST))
		return 0;
	return advice_add_evidence(
		item,
		"%.0f%% of all launches were counted by instrumented code, which leaves "
		"no times: each is taken to be as long as others of its kernel",
		100 * unrecorded->share);
}

static int recommend(struct advice *advice, const struct facts *facts, size_t device,
		     const struct rule *rule, const struct what_if *what_if)
{
	struct recommendation *item = add(advice, facts, device, rule);
	int rc = item ? rule->add_evidence(item, facts, device, what_if) : -ENOMEM;

	if (rc == 0 && what_if)
		rc = add_assumption(item, rule->technique, what_if);
	if (rc == 0 && what_if)
		rc = put_loop(item, facts, device, what_if);
	if (rc == 0 && what_if)
		rc = put_prediction(item, facts, rule, what_if);
	if (rc == 0 && what_if)
		rc = add_unrecorded(item, &facts->what_ifs.predictor.unrecorded);
	if (rc == 0) {
		put_stake(item, facts, device, rule);
		item->is_unsure |= rule->is_unsure;
		item->bound = rule->bound;
	}
	return rc;
}

/* Whether the rule that says the same is recommended for the device: two pieces of advice for one
 * thing are one too many.  It stands above this one, so all devices have been through it. */
static bool is_said(const struct advice *advice, size_t device, const struct rule *rule)
{
	for (size_t i = 0; rule->said_by && i < advice->count; i++)
		if (!strcmp(advice->items[i].id, rule->said_by) &&
		    advice->items[i].device == device)
			return true;
	return false;
}

static int reject_prediction(struct advice *advice, const struct facts *facts, size_t device,
			     const struct rule *rule, const struct prediction *prediction)
{
	char steady[64] = "";

	if (prediction->steady_before_ns)
		snprintf(steady, sizeof(steady), "the steady state %.2fx, ",
			 prediction->steady.speedup);
	if (facts->what_ifs.places && prediction->place_before_ns <= 0)
		return reject(
			advice, facts, device, rule,
			"re-simulated, %sthe whole run %.2fx; nothing repeats in the range: its "
			"threads make no calls there",
			steady, prediction->program.speedup);
	return reject(advice, facts, device, rule,
		      "re-simulated, this part would be %.2fx as fast, %sthe whole run %.2fx",
		      prediction->place.speedup, steady, prediction->program.speedup);
}

/* The best of the simpler rules that is recommended for the device and brings nearly as much, or NULL. */
static const struct recommendation *outdone_by(const struct advice *advice, size_t device,
					       const struct rule *rule, double speedup)
{
	const struct recommendation *best = NULL;

	for (size_t i = 0; rule->simpler && i < advice->count; i++)
		for (const enum rule_number *it = rule->simpler; *it != RULE_COUNT; it++)
			if (!strcmp(advice->items[i].id, rules[*it]->id) &&
			    advice->items[i].device == device &&
			    speedup < rule->simpler_times * advice->items[i].expected_speedup &&
			    (!best || advice->items[i].expected_speedup > best->expected_speedup))
				best = &advice->items[i];
	return best;
}

static int consider_prediction(struct advice *advice, const struct facts *facts, size_t device,
			       const struct rule *rule, struct plan_candidates *candidates,
			       const struct what_if *what_if)
{
	const struct prediction *prediction = &what_if->prediction;
	double speedup = facts->what_ifs.places
				 ? prediction->place.speedup
				 : fmax(prediction->program.speedup, prediction->steady.speedup);
	const struct recommendation *simpler = outdone_by(advice, device, rule, speedup);
	bool is_worth = facts_is_worth(facts, rule, what_if);

	if (is_worth && simpler)
		return reject(advice, facts, device, rule,
			      "re-simulated, it would be %.2fx as fast, and %.2fx by %s, which is "
			      "less to change",
			      speedup, simpler->expected_speedup, simpler->strategy);
	if (is_worth && rule->needs_low &&
	    fmax(prediction->program.low, prediction->steady.low) <= 1)
		return reject(
			advice, facts, device, rule,
			"re-simulated, it would be %.2fx as fast, but that may be none: too little for "
			"kernels that have to be written anew",
			speedup);
	plan_add_candidate(candidates, facts, rule, device, what_if);
	if (what_if->effect.refusal)
		return reject(advice, facts, device, rule, "%s", what_if->effect.refusal);
	if (!is_worth)
		return reject_prediction(advice, facts, device, rule, prediction);
	return recommend(advice, facts, device, rule, what_if);
}

static bool can_predict(const struct facts *facts, size_t device, const struct rule *rule)
{
	return rule->technique && facts_can_predict(facts) &&
	       (!rule->can_predict || rule->can_predict(facts, device));
}

/* What changes all ranks of a job at once is asked of one GPU. */
static bool is_asked_elsewhere(const struct facts *facts, size_t device, const struct rule *rule)
{
	return device != facts->main_device && rule->technique->is_of_calls &&
	       what_if_is_of_job(&facts->what_ifs, technique_id_of(rule->technique));
}

static int consider(struct advice *advice, const struct facts *facts, size_t device,
		    const struct rule *rule, struct plan_candidates *candidates)
{
	struct what_if what_if = {0};
	int rc;

	if (rule->is_candidate && !rule->is_candidate(facts, device))
		return 0;
	if (is_said(advice, device, rule))
		return 0;
	if (rule->needs_cuda_source && facts->framework != FRAMEWORK_NONE &&
	    !rule->in[facts->framework].pattern)
		return reject(advice, facts, device, rule,
			      "it changes how CUDA code launches kernels; %s launches these",
			      framework_name(facts->framework));
	if (!rule->is_about_kernels && facts_is_computing(facts, device))
		return reject(advice, facts, device, rule,
			      "kernels run for more than 90%% of the time");
	if (!can_predict(facts, device, rule))
		return rule->is_promising && rule->is_promising(facts, device)
			       ? recommend(advice, facts, device, rule, NULL)
			       : 0;
	if (is_asked_elsewhere(facts, device, rule))
		return 0;
	rc = what_if_alone(&what_if, technique_id_of(rule->technique), &facts->what_ifs, device);
	return rc < 0 ? rc : consider_prediction(advice, facts, device, rule, candidates, &what_if);
}

/* What is not predicted stands where half of what is at stake would put it. */
#define UNPREDICTED_PART 0.5

/* Share of a time that a recommendation is expected to save. */
static double expected_ratio(const struct recommendation *item)
{
	double speedup = item->expected_speedup;

	return speedup > 0 ? 1 - 1 / speedup : UNPREDICTED_PART * item->at_stake_ratio;
}

/* Sort by gain, then by what is at stake; changes to what happens once follow the others, and a bound is last. */
static int compare_items(const void *left, const void *right)
{
	const struct recommendation *a = left, *b = right;
	double expected_a = expected_ratio(a), expected_b = expected_ratio(b);
	int order = (a->bound != NULL) - (b->bound != NULL);

	if (!order)
		order = a->is_once - b->is_once;
	if (!order)
		order = (expected_a < expected_b) - (expected_a > expected_b);
	if (!order)
		order = (a->at_stake_ns < b->at_stake_ns) - (a->at_stake_ns > b->at_stake_ns);
	if (!order)
		order = strcmp(a->id, b->id);
	return order ? order : strcmp(a->target, b->target);
}

/* Of gains that differ by less than predictions do: what rests on no assumption first, then what only drops calls. */
static bool is_better(const struct recommendation *item, const struct recommendation *than)
{
	if (item->bound)
		return false;
	if (item->gain.is_assuming != than->gain.is_assuming)
		return than->gain.is_assuming;
	return item->is_dropping && !than->is_dropping;
}

/* Of those behind the first one, by less than what makes a gain. */
static size_t find_better(const struct recommendation *items, size_t count)
{
	double first = items[0].expected_speedup;
	size_t best = 0;

	for (size_t i = 1; i < count && items[i].is_once == items[0].is_once; i++)
		if (first > 0 && LEAST_PLACE_SPEEDUP * items[i].expected_speedup > first &&
		    is_better(&items[i], &items[best]))
			best = i;
	return best;
}

static const struct technique *technique_of(const struct recommendation *item)
{
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (!strcmp(rules[i]->id, item->id))
			return rules[i]->technique;
	return NULL;
}

static bool contains(const struct recommendation *whole, const struct recommendation *part)
{
	const struct technique *technique = technique_of(whole);

	return technique && whole->device == part->device &&
	       technique_contains(technique, technique_of(part));
}

/* Of those behind the first one, what has to be done for it anyhow, and alone saves most of it. */
static size_t find_part(const struct recommendation *items, size_t count)
{
	for (size_t i = 1; i < count && items[i].is_once == items[0].is_once; i++)
		if (!items[i].is_unsure && contains(&items[0], &items[i]) &&
		    gain_is_most(items[i].expected_speedup, items[0].expected_speedup))
			return i;
	return 0;
}

/* Each place by itself: being nearly the same is not handed on. */
static void rank(struct recommendation *items, size_t count)
{
	if (count)
		qsort(items, count, sizeof(*items), compare_items);
	for (size_t i = 0; i + 1 < count; i++) {
		size_t part = find_part(items + i, count - i);
		size_t best = i + (part ? part : find_better(items + i, count - i));
		struct recommendation item = items[best];

		if (part)
			item.part_of = items[i].id;

		memmove(items + i + 1, items + i, (best - i) * sizeof(*items));
		items[i] = item;
	}
}

/* Stands among the rejected where no technique can be re-simulated. */
static const struct rule prediction = {
	.id = "prediction",
	.strategy = "predictions",
	.title = "Predict what a change would bring",
};

static int run_rules(struct advice *advice, const struct facts *facts,
		     struct plan_candidates *candidates)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < RULE_COUNT; i++)
		for (size_t j = 0; rc == 0 && j < facts->report->profile->device_count; j++)
			rc = consider(advice, facts, j, rules[i], candidates);
	if (rc == 0 && !facts_can_predict(facts) && facts->report->profile->device_count)
		rc = reject(advice, facts, 0, &prediction, "%s", facts->what_ifs.predictor.why_not);
	rank(advice->items, advice->count);
	return rc;
}

static int find_all(struct advice *advice, const struct report *report, const char *range)
{
	struct plan_candidates candidates = {0};
	struct facts facts = {0};
	int rc = facts_collect(&facts, report, range, rules);

	if (rc == 0)
		rc = run_rules(advice, &facts, &candidates);
	if (rc == 0)
		rc = plan_find(advice, &facts, &candidates);
	if (rc == 0)
		rc = next_find(advice, &facts, range);
	facts_free(&facts);
	return rc;
}

int advice_find(struct advice **out, const struct report *report, const char *range,
		struct err *err)
{
	struct advice *advice = calloc(1, sizeof(*advice));
	int rc = advice ? find_all(advice, report, range) : -ENOMEM;

	if (rc < 0) {
		advice_free(advice);
		return err_set(err, rc, "out of memory for the advice");
	}
	*out = advice;
	return 0;
}

const struct recommendation *advice_first(const struct advice *advice)
{
	for (size_t i = 0; i < advice->count && !advice->items[i].is_once; i++) {
		const struct recommendation *item = &advice->items[i];

		if (!item->is_unsure && (i == 0 || item->gain.program.speedup > 0))
			return item;
	}
	return NULL;
}

static double speedup_of(const struct recommendation *item, bool has_range)
{
	return gain_of_part(&item->gain, gain_part_of(&item->gain, has_range))->speedup;
}

const struct recommendation *advice_perhaps(const struct advice *advice, bool has_range)
{
	const struct recommendation *most = NULL;

	for (size_t i = 0;
	     i < advice->count && !advice->items[i].is_once && !advice->items[i].bound; i++)
		if (!most || speedup_of(&advice->items[i], has_range) > speedup_of(most, has_range))
			most = &advice->items[i];
	return most;
}

void advice_free(struct advice *advice)
{
	if (!advice)
		return;
	for (size_t i = 0; i < advice->count; i++) {
		for (size_t j = 0; j < advice->items[i].evidence_count; j++)
			free(advice->items[i].evidence[j]);
		free(advice->items[i].evidence);
		free(advice->items[i].target);
	}
	for (size_t i = 0; i < advice->rejection_count; i++) {
		free(advice->rejections[i].target);
		free(advice->rejections[i].reason);
	}
	plan_free(advice);
	next_free(advice);
	free(advice->rejections);
	free(advice->items);
	free(advice);
}
