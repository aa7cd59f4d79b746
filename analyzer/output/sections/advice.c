/* advice.c - what would help, and what was considered and rejected. */
#include "output/page.h"

#include "output/check_command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- advice: columns ---- */

PREDICATE(is_predicted, struct predicted_speedup, predicted, predicted->speedup > 0);

static bool evidence_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct recommendation *item = from;

	(void)row;
	if (index >= item->evidence_count)
		return false;
	entry->value = value_text(item->evidence[index]);
	return true;
}

static struct value get_verify(struct row *row, const void *from)
{
	return value_owned_text(check_command(row->report, from, row->options->range));
}

static const struct column predicted_columns[] = {
	FIELD_IF(struct predicted_speedup, speedup, is_predicted),
	FIELD_IF(struct predicted_speedup, low, is_predicted),
	FIELD_IF(struct predicted_speedup, high, is_predicted),
	{0}};

static const struct column advice_columns[] = {
	FIELD(struct recommendation, id),
	FIELD(struct recommendation, strategy),
	FIELD(struct recommendation, title),
	FIELD(struct recommendation, target),
	FIELD(struct recommendation, at_stake_ns),
	FIELD(struct recommendation, at_stake_ratio),
	FIELD(struct recommendation, workload),
	{FIELD_AS("once", struct recommendation, is_once)},
	{FIELD_AS("unsure", struct recommendation, is_unsure)},
	{FIELD_AS("up_to", struct recommendation, is_up_to)},
	INLINE(struct recommendation, program, predicted_columns),
	GROUP("steady", NULL, struct recommendation, steady, predicted_columns),
	GROUP("place", NULL, struct recommendation, place, predicted_columns),
	LIST("evidence", evidence_at),
	FIELD(struct recommendation, pattern),
	FIELD(struct recommendation, risk),
	COMPUTED("verify", get_verify),
	{0}};

static const void *recommendation_at(const struct row *parent, size_t index)
{
	const struct advice *advice = parent->report->advice;

	return advice && index < advice->count ? &advice->items[index] : NULL;
}

/* ---- advice: text ---- */

static void put_pattern(struct page *page, const char *pattern)
{
	while (*pattern) {
		size_t length = strcspn(pattern, "\n");

		fprintf(page->out, "        %.*s\n", (int)length, pattern);
		pattern += length + (pattern[length] == '\n');
	}
}

/* Its low end first where nobody knows what operations need of each other. */
static void put_predicted(struct page *page, const char *what,
			  const struct predicted_speedup *predicted, bool is_up_to)
{
	char text[128];

	if (predicted->speedup <= 0)
		return;
	if (is_up_to)
		snprintf(text, sizeof(text), "%s%.2fx, up to %.2fx (%.2fx to %.2fx)", what,
			 predicted->low, predicted->speedup, predicted->low, predicted->high);
	else
		snprintf(text, sizeof(text), "%s%.2fx (%.2fx to %.2fx)", what, predicted->speedup,
			 predicted->low, predicted->high);
	page_wrap(page, "      - ", text, 8);
}

/* On a line of its own, however long, so that it can be copied. */
static void put_check_command(struct page *page, const struct recommendation *item)
{
	char *command = check_command(page->report, item, page->options->range);
	char text[PATH_MAX + 1024] = "";

	if (command)
		format_text(text, sizeof(text), command, sizeof(text) / 4 - 1);
	fprintf(page->out, "      check it: %s\n", text);
	free(command);
}

/* Nothing where a mistake was found that costs no time that anybody could tell. */
static void put_stake(struct page *page, const struct recommendation *item)
{
	char stake[128];

	snprintf(stake, sizeof(stake), "at stake: at most %s, %.1f%% of wall time",
		 format_ns((double)item->at_stake_ns).text, 100 * item->at_stake_ratio);
	if (item->at_stake_ns)
		page_wrap(page, "      - ", stake, 8);
}

static void put_recommendation(struct page *page, size_t number, const struct recommendation *item)
{
	char label[32];

	snprintf(label, sizeof(label), "  %zu.  %s", number, item->is_once ? "Once: " : "");
	page_wrap(page, label, item->title, 6);
	page_wrap(page, "      for: ", item->target, 11);
	for (size_t i = 0; i < item->evidence_count; i++)
		page_wrap(page, "      - ", item->evidence[i], 8);
	put_stake(page, item);
	put_predicted(page,
		      page->options->range ? "predicted: the range " : "predicted: this part ",
		      &item->place, item->is_up_to);
	put_predicted(page, "predicted: the steady state ", &item->steady, item->is_up_to);
	put_predicted(page, "predicted: the whole run ", &item->program, item->is_up_to);
	put_pattern(page, item->pattern);
	page_wrap(page, "      watch: ", item->risk, 13);
	if (item->workload)
		fprintf(page->out, "      try it: rooflinectl workloads %s\n", item->workload);
	if (page->options->is_advice_only)
		put_check_command(page, item);
}

static void print_advice(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || (!advice->count && !page->options->is_advice_only))
		return;
	page_title(page, "Advice", NULL);
	if (!advice->count)
		page_wrap(page, "  ", "nothing to recommend", 2);
	for (size_t i = 0; i < advice->count; i++)
		put_recommendation(page, i + 1, &advice->items[i]);
}

const struct section section_advice = {.key = "advice",
				       .title = "Advice",
				       .columns = advice_columns,
				       .at = recommendation_at,
				       .print = print_advice};

/* ---- rejected ---- */

static const struct column rejected_columns[] = {FIELD(struct rejection, id),
						 FIELD(struct rejection, strategy),
						 FIELD(struct rejection, title),
						 FIELD(struct rejection, target),
						 FIELD(struct rejection, reason),
						 {0}};

static const void *rejection_at(const struct row *parent, size_t index)
{
	const struct advice *advice = parent->report->advice;

	return advice && index < advice->rejection_count ? &advice->rejections[index] : NULL;
}

static void print_rejected(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || !advice->rejection_count)
		return;
	page_title(page, "Considered and rejected", NULL);
	for (size_t i = 0; i < advice->rejection_count; i++) {
		const struct rejection *item = &advice->rejections[i];
		char text[512];

		snprintf(text, sizeof(text), "%s: %s", item->strategy, item->reason);
		page_wrap(page, "  - ", text, 4);
	}
}

const struct section section_rejected = {.key = "rejected",
					 .title = "Considered and rejected",
					 .columns = rejected_columns,
					 .at = rejection_at,
					 .print = print_rejected};
