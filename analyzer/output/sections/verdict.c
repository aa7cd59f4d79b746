/* verdict.c - what limits the run, the best change, and what to do next: the first screen. */
#include "output/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "advice/limit.h"
#include "output/gain_text.h"

#define SENTENCE_SIZE 1024

struct sentence {
	char text[SENTENCE_SIZE];
};

__attribute__((format(printf, 2, 3))) static void append(struct sentence *sentence,
							 const char *format, ...)
{
	size_t used = strlen(sentence->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, arguments);
	va_end(arguments);
}

/* ---- what limits the run ---- */

static void put_kernel(struct sentence *sentence, const struct limit *limit,
		       const struct report *report)
{
	const struct roofline_point *point = limit->kernel;

	if (!point)
		return;
	append(sentence, "; %s has %.0f%% of that", limit_kernel_name(limit, report).text,
	       100 * limit->kernel_share);
	if (limit->has_roof)
		append(sentence, ", at %.0f%% of its nearest roof (%s)", 100 * point->binding_share,
		       roofline_roof_title(point->binding));
}

/* What the trace calls idle may be work that the device launched itself. */
static void put_untraced(struct sentence *sentence, const struct report *report, size_t device)
{
	const struct sm_activity_device *sampled = &report->sm_activity->devices[device];

	if (report_has_device_work(report, device) && sampled->difference_ns[SM_UNTRACED])
		append(sentence, "; samples show work that the device launched for %s of the time",
		       format_percent((double)sampled->difference_ns[SM_UNTRACED],
				      (double)sampled->sampled_ns)
			       .text);
}

/* "67.6% of 9.46 ms", or of the steady state, which is so much of the run. */
static void put_share(struct sentence *sentence, const struct limit *limit)
{
	struct figure share = format_percent((double)limit->part_ns, (double)limit->wall_ns);
	struct figure wall = format_ns((double)limit->wall_ns);

	if (limit->is_steady)
		append(sentence, "%s of the steady state, %s of %s", share.text, wall.text,
		       format_ns((double)limit->run_ns).text);
	else
		append(sentence, "%s of %s", share.text, wall.text);
}

static void put_kind(struct sentence *sentence, const struct limit *limit)
{
	static const char *const words[] = {
		[LIMIT_IDLE] = "idle time, ",
		[LIMIT_COPIES] = "copies, which run alone for ",
		[LIMIT_KERNELS] = "kernels, ",
	};

	if (limit->kind == LIMIT_CHILDREN)
		append(sentence, "%s, ", gap_cause_title(GAP_CHILDREN));
	else
		append(sentence, "%s", words[limit->kind]);
	put_share(sentence, limit);
	if (limit->kind == LIMIT_CHILDREN)
		append(sentence, ", which no trace shows");
	if (limit->kind == LIMIT_IDLE)
		append(sentence, "; its largest cause is %s, %s", gap_cause_title(limit->cause),
		       format_percent((double)limit->cause_ns, (double)limit->wall_ns).text);
}

static struct sentence limit_of(const struct report *report)
{
	const struct limit limit = limit_find(report);
	struct sentence sentence = {""};

	if (limit.kind == LIMIT_NO_WORK) {
		append(&sentence, "nothing was recorded on a GPU");
		return sentence;
	}
	if (report->profile->device_count > 1)
		append(&sentence, "GPU %zu: ", limit.device);
	put_kind(&sentence, &limit);
	if (limit.kind == LIMIT_IDLE || limit.kind == LIMIT_CHILDREN)
		put_untraced(&sentence, report, limit.device);
	if (limit.kind == LIMIT_KERNELS)
		put_kernel(&sentence, &limit, report);
	return sentence;
}

/* ---- the best change ---- */

static void put_gain(struct sentence *sentence, const struct recommendation *item,
		     const struct output_options *options)
{
	enum gain_part part = gain_part_of(&item->gain, options->range != NULL);

	if (gain_of_part(&item->gain, part)->speedup > 0)
		append(sentence, ": %s", gain_text_whole(&item->gain, part).text);
	else if (item->at_stake_ns)
		append(sentence, ": at stake at most %s, %.1f%% of the time",
		       format_ns((double)item->at_stake_ns).text, 100 * item->at_stake_ratio);
}

static void put_plan(struct sentence *sentence, const struct advice *advice)
{
	static const char *const parts[] = {[GAIN_PROGRAM] = "of this run",
					    [GAIN_STEADY] = "in the steady state",
					    [GAIN_PLACE] = "in the range"};
	size_t more = advice->plan_count - 1;

	if (advice->plan_count > 1)
		append(sentence, "; with %zu more %s %s, see Plan", more,
		       gain_text_short(&advice->plan[more].together, advice->plan_part).text,
		       parts[advice->plan_part]);
}

/* At its roof: the figure. */
static void put_done(struct sentence *sentence, const struct limit *limit)
{
	append(sentence, "none: %.0f%% of the kernels' time is at 80%% of a roof or more",
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
		append(sentence, "none is predicted: %s", last->reason);
	else if (count > 1)
		append(sentence, "none: of %zu that were considered none is known to gain", count);
	else if (count)
		append(sentence, "none: the one that was considered is not known to gain");
	else
		append(sentence, "none: nothing in this recording suggests one");
}

static void put_item(struct sentence *sentence, const struct recommendation *item,
		     const struct output_options *options)
{
	append(sentence, "%s", item->title);
	put_gain(sentence, item, options);
}

static struct sentence change_of(const struct report *report, const struct output_options *options)
{
	const struct advice *advice = report->advice;
	const struct recommendation *first = advice_first(advice);
	struct sentence sentence = {""};

	if (first) {
		put_item(&sentence, first, options);
		put_plan(&sentence, advice);
		return sentence;
	}
	if (advice->count && advice->items[0].is_unsure) {
		append(&sentence, "none is sure to gain; perhaps: ");
		put_item(&sentence, &advice->items[0], options);
		return sentence;
	}
	put_none(&sentence, report);
	if (advice->count) {
		append(&sentence, "; of what happens once: ");
		put_item(&sentence, &advice->items[0], options);
	}
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
	return value_owned_text(strdup(limit_of(row->report).text));
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

static void print_verdict(struct page *page)
{
	const struct report *report = page->report;
	const struct next_step *step;

	if (!report->advice)
		return;
	page_title(page, "Verdict", NULL);
	step = next_at(report, page->options, 0);
	page_wrap(page, "  limit   ", limit_of(report).text, 10);
	page_wrap(page, "  change  ", change_of(report, page->options).text, 10);
	if (step)
		page_line(page, "  next    ", step->command);
	else
		page_wrap(page, "  next    ", done, 10);
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
		page_line(page, "    ", step->command);
	}
}

const struct section section_next = {.key = "next",
				     .title = "Next",
				     .columns = next_columns,
				     .at = step_at,
				     .is_of_advice = true,
				     .print = print_next};
