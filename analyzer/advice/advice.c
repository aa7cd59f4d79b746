#include "advice/advice.h"

#include "advice/rules/rules.h"
#include "base/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_FUNCTION(name, summary) rule_##name,
static int (*const rules[])(const struct facts *facts,
			    struct advice *advice) = {RULES(RULE_FUNCTION)};
#undef RULE_FUNCTION

struct recommendation *advice_add(struct advice *advice, const struct facts *facts, size_t device,
				  int64_t at_stake_ns)
{
	const struct profile_device *what = &facts->report->profile->devices[device];
	int64_t wall_ns = facts->report->timeline->devices[device].wall_ns;
	struct recommendation *items, *item;
	char target[256];

	items = realloc(advice->items, (advice->count + 1) * sizeof(*items));
	if (!items)
		return NULL;
	advice->items = items;
	item = &items[advice->count];
	snprintf(target, sizeof(target), "GPU %zu (%s)", device, what->name);
	*item = (struct recommendation){.target = strdup(target), .at_stake_ns = at_stake_ns};
	if (!item->target)
		return NULL;
	item->at_stake_ratio = wall_ns ? (double)at_stake_ns / (double)wall_ns : 0;
	advice->count++;
	return item;
}

int advice_say(struct recommendation *item, const char *format, ...)
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

static struct predicted_speedup speedup_of(const struct predicted_ratio *ratio)
{
	return (struct predicted_speedup){ratio->speedup, ratio->low, ratio->high};
}

int advice_predict(struct recommendation *item, const struct what_if *what_if)
{
	const struct prediction *prediction = &what_if->prediction;

	item->program = speedup_of(&prediction->program);
	item->place = speedup_of(&prediction->place);
	return advice_say(item, "re-simulated: %s instead of %s",
			  format_ns((double)prediction->place_after_ns).text,
			  format_ns((double)prediction->place_before_ns).text);
}

/* The greatest gain first; what is not predicted after that, most at stake first. */
static int compare_items(const void *left, const void *right)
{
	const struct recommendation *a = left, *b = right;
	int order = (a->program.speedup < b->program.speedup) -
		    (a->program.speedup > b->program.speedup);

	if (!order)
		order = (a->at_stake_ns < b->at_stake_ns) - (a->at_stake_ns > b->at_stake_ns);
	if (!order)
		order = strcmp(a->id, b->id);
	return order ? order : strcmp(a->target, b->target);
}

static int run_rules(struct advice *advice, const struct report *report, const char *range)
{
	struct facts facts = {0};
	int rc = facts_collect(&facts, report, range);

	for (size_t i = 0; rc == 0 && i < sizeof(rules) / sizeof(rules[0]); i++)
		rc = rules[i](&facts, advice);
	facts_free(&facts);
	return rc;
}

int advice_find(struct advice **out, const struct report *report, const char *range,
		struct err *err)
{
	struct advice *advice = calloc(1, sizeof(*advice));
	int rc = advice ? run_rules(advice, report, range) : -ENOMEM;

	if (rc < 0) {
		advice_free(advice);
		return err_set(err, rc, "out of memory for the advice");
	}
	if (advice->count)
		qsort(advice->items, advice->count, sizeof(*advice->items), compare_items);
	*out = advice;
	return 0;
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
	free(advice->items);
	free(advice);
}
