/* verdict.c - what limits the run, the best change, and what to do next: the first screen. */
#include "output/page.h"

#include <stdlib.h>
#include <string.h>

#include "advice/limit.h"
#include "output/gain_text.h"
#include "output/limit_text.h"
#include "output/sections/verdict.h"

/* ---- the best change ---- */

#define SEEN 1.005 /* the least that is not told as 1.00x */

/* A change may be judged by the whole run, where the limit is one of the steady state: whether it is about that. */
static void put_steady(struct sentence *sentence, const struct predicted_gain *gain)
{
	if (gain->steady.speedup >= SEEN)
		sentence_append(sentence, ", %s per step", gain_text_short(gain, GAIN_STEADY).text);
	else if (gain->steady.speedup > 0)
		sentence_append(sentence, "; it changes what is outside of the steps");
}

static void put_gain(struct sentence *sentence, const struct report *report,
		     const struct recommendation *item, const struct output_options *options)
{
	enum gain_part part = gain_part_of(&item->gain, options->range != NULL);

	if (gain_of_part(&item->gain, part)->speedup > 0) {
		sentence_append(sentence, ": %s", gain_text_of(&item->gain, part).text);
		if (part == GAIN_PROGRAM && limit_find(report).is_steady)
			put_steady(sentence, &item->gain);
	} else if (item->at_stake_ns)
		sentence_append(sentence, ": at stake at most %s, %.1f%% of the run",
				format_ns((double)item->at_stake_ns).text,
				100 * item->at_stake_ratio);
}

static void put_plan(struct sentence *sentence, const struct advice *advice)
{
	size_t more = advice->plan_count - 1;

	if (advice->plan_count > 1)
		sentence_append(
			sentence, "; with %zu more %s, see Plan", more,
			gain_text_short(&advice->plan[more].together, advice->plan_part).text);
}

/* At its roof: the figure. */
static void put_done(struct sentence *sentence, const struct limit *limit)
{
	sentence_append(sentence, "none: %.0f%% of the kernels' time is at 80%% of a roof or more",
			100 * limit->at_roof_share);
}

/* Why there is nothing to recommend. */
static void put_none(struct sentence *sentence, const struct report *report)
{
	const struct limit limit = limit_find(report);
	size_t count = report->advice->rejection_count;
	const struct rejection *last = count ? &report->advice->rejections[count - 1] : NULL;

	if (limit_is_at_roof(&limit))
		put_done(sentence, &limit);
	else if (last && !strcmp(last->id, "prediction"))
		sentence_append(sentence, "none is predicted: %s", last->reason);
	else if (count > 1)
		sentence_append(sentence, "none: of %zu changes none is known to gain", count);
	else if (count)
		sentence_append(sentence, "none: the one change considered is not known to gain");
	else
		sentence_append(sentence, "none: nothing in this recording suggests one");
}

static void put_item(struct sentence *sentence, const struct report *report,
		     const struct recommendation *item, const struct output_options *options)
{
	if (item->is_at_roof)
		sentence_append(sentence, "at its roof; faster only so: ");
	else if (item->is_minor && !item->is_unsure)
		sentence_append(sentence, "little to gain: ");
	sentence_append(sentence, "%s", item->title);
	put_gain(sentence, report, item, options);
}

/* Say how much is left to gain if no change is known to gain it. */
static void put_bound(struct sentence *sentence, const struct recommendation *item,
		      const struct output_options *options)
{
	enum gain_part part = gain_part_of(&item->gain, options->range != NULL);

	sentence_append(sentence, "; %s %s", item->bound, gain_text_of(&item->gain, part).text);
}

static struct sentence change_of(const struct report *report, const struct output_options *options)
{
	const struct advice *advice = report->advice;
	const struct recommendation *first = advice_first(advice), *perhaps;
	struct sentence sentence = {""};

	if (first) {
		put_item(&sentence, report, first, options);
		put_plan(&sentence, advice);
		return sentence;
	}
	perhaps = advice_perhaps(advice, options->range != NULL);
	if (perhaps) {
		sentence_append(&sentence, "none is sure to gain; perhaps: ");
		put_item(&sentence, report, perhaps, options);
		return sentence;
	}
	put_none(&sentence, report);
	if (advice->count && !advice->items[0].bound) {
		sentence_append(&sentence, "; of what happens once: ");
		put_item(&sentence, report, &advice->items[0], options);
	}
	if (advice->count && advice->items[advice->count - 1].bound)
		put_bound(&sentence, &advice->items[advice->count - 1], options);
	return sentence;
}

/* ---- the next command ---- */

/* Who reads advice has it already. */
static bool is_read(const struct next_step *step, const struct output_options *options)
{
	return options->is_advice_only && !strcmp(step->id, "advise");
}

static const struct next_step *next_at(const struct report *report,
				       const struct output_options *options, size_t index)
{
	const struct advice *advice = report->advice;

	for (size_t i = 0; advice && i < advice->next_count; i++)
		if (!is_read(&advice->next[i], options) && !index--)
			return &advice->next[i];
	return NULL;
}

static const char done[] = "nothing: faster needs less work, fewer bytes or a lower precision";

/* ---- columns ---- */

static struct value get_limit(struct row *row, const void *from)
{
	(void)from;
	return value_owned_text(strdup(limit_sentence(row->report).text));
}

static struct value get_change(struct row *row, const void *from)
{
	(void)from;
	return row->report->advice
		       ? value_owned_text(strdup(change_of(row->report, row->options).text))
		       : value_none();
}

static struct value get_next(struct row *row, const void *from)
{
	const struct next_step *step = next_at(row->report, row->options, 0);

	(void)from;
	return value_text(step ? step->command : NULL);
}

static const struct column verdict_columns[] = {COMPUTED("limit", get_limit),
						COMPUTED("change", get_change),
						COMPUTED("next", get_next),
						{0}};

static const void *verdict_at(const struct row *parent, size_t index)
{
	return index ? NULL : parent->report;
}

/* ---- text ---- */

void verdict_print_limit(struct page *page)
{
	page_title(page, "Verdict", NULL);
	page_wrap(page, "  ", limit_sentence(page->report).text, 2);
}

static void print_verdict(struct page *page)
{
	const struct report *report = page->report;
	const struct next_step *step;

	if (!report->advice)
		return;
	if (!page->options->is_begun)
		verdict_print_limit(page);
	step = next_at(report, page->options, 0);
	page_wrap(page, "  do:   ", change_of(report, page->options).text, 8);
	if (step)
		page_command(page,
			     !strcmp(step->id, "advise") ? "  how:  " : "  next: ", step->command);
	else
		page_wrap(page, "  next: ", done, 8);
}

const struct section section_verdict = {.key = "verdict",
					.title = "Verdict",
					.columns = verdict_columns,
					.at = verdict_at,
					.object = verdict_columns,
					.is_of_advice = true,
					.print = print_verdict};

/* ---- all next steps ---- */

static const struct column next_columns[] = {FIELD(struct next_step, id),
					     FIELD(struct next_step, command),
					     FIELD(struct next_step, why),
					     {0}};

static const void *step_at(const struct row *parent, size_t index)
{
	return next_at(parent->report, parent->options, index);
}

static void print_next(struct page *page)
{
	const struct next_step *step;

	if (!next_at(page->report, page->options, 0))
		return;
	page_title(page, "Next", NULL);
	for (size_t i = 0; (step = next_at(page->report, page->options, i)); i++) {
		page_wrap(page, "  - ", step->why, 4);
		page_command(page, "    ", step->command);
	}
}

const struct section section_next = {.key = "next",
				     .title = "Next",
				     .columns = next_columns,
				     .at = step_at,
				     .is_of_advice = true,
				     .print = print_next,
				     .empty = "nothing more to measure or to change is known"};
