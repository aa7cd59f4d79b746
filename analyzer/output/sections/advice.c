/* advice.c - what would help, and what was considered and rejected. */
#include "output/page.h"

#include "base/groups.h"
#include "base/memory_file.h"
#include "output/check_command.h"
#include "output/gain_text.h"

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

static struct value get_try(struct row *row, const void *from)
{
	return can_be_tried(row->report, from) ? value_owned_text(try_command(row->report, from))
					       : value_none();
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
	FIELD(struct recommendation, bound),
	{FIELD_AS("minor", struct recommendation, is_minor)},
	{FIELD_AS("at_roof", struct recommendation, is_at_roof)},
	{FIELD_AS("up_to", struct recommendation, gain.is_up_to)},
	{FIELD_AS("assumes", struct recommendation, gain.is_assuming)},
	INLINE(struct recommendation, gain.program, predicted_columns),
	GROUP("steady", NULL, struct recommendation, gain.steady, predicted_columns),
	GROUP("place", NULL, struct recommendation, gain.place, predicted_columns),
	LIST("evidence", evidence_at),
	FIELD(struct recommendation, pattern),
	FIELD(struct recommendation, risk),
	COMPUTED("try", get_try),
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

static void put_predicted(struct page *page, const char *what, const struct predicted_gain *gain,
			  enum gain_part part)
{
	char text[256];

	if (gain_of_part(gain, part)->speedup <= 0)
		return;
	snprintf(text, sizeof(text), "predicted: %s %s", what, gain_text_interval(gain, part).text);
	page_wrap(page, "      - ", text, 8);
}

static void put_check_command(struct page *page, const struct recommendation *item)
{
	char *command = check_command(page->report, item, page->options->range);

	page_line(page, "      check it: ", command);
	free(command);
}

static void put_try_command(struct page *page, const struct recommendation *item)
{
	char *command;

	if (!can_be_tried(page->report, item))
		return;
	command = try_command(page->report, item);
	page_command(page, "      try it: ", command);
	free(command);
}

/* Nothing where a mistake was found that costs no time that anybody could tell. */
static void put_stake(struct page *page, const struct recommendation *item)
{
	char stake[128];

	snprintf(stake, sizeof(stake), "at stake: at most %s, %.1f%% of the run",
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
	put_predicted(page, page->options->range ? "the range" : "this part", &item->gain,
		      GAIN_PLACE);
	put_predicted(page, "the steady state", &item->gain, GAIN_STEADY);
	put_predicted(page, "the whole run", &item->gain, GAIN_PROGRAM);
	put_pattern(page, item->pattern);
	page_wrap(page, "      watch: ", item->risk, 13);
	if (item->workload)
		fprintf(page->out, "      example: rooflinectl workloads %s\n", item->workload);
	if (page->options->is_advice_only) {
		put_try_command(page, item);
		put_check_command(page, item);
	}
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

const struct section section_advice = {
	.key = "advice",
	.title = "Advice",
	.columns = advice_columns,
	.at = recommendation_at,
	.is_of_advice = true,
	.print = print_advice,
	.empty = "nothing is recommended: --section rejected tells what was considered"};

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

/* What a rejection has in common with others, by numbers: they may be many, one of each rule and device. */
struct told {
	uint32_t strategy;
	uint32_t next; /* with the same reason; 0: none */
	bool is_new_reason, is_new_pair;
};

struct rejections {
	struct groups reasons, strategies, pairs;
	struct told *items;
	uint32_t *last;		/* by reason */
	uint32_t *first_reason; /* by strategy */
	bool *has_other; /* likewise: it was rejected for another reason as well, on another device */
};

static int common_add(struct rejections *common, const struct rejection *item, uint32_t index)
{
	uint32_t known = common->reasons.count, strategies = common->strategies.count;
	uint32_t pairs = common->pairs.count, pair[2], number;
	struct told *told = &common->items[index];

	if (groups_find(&common->reasons, item->reason, strlen(item->reason), &pair[0]) < 0 ||
	    groups_find(&common->strategies, item->strategy, strlen(item->strategy), &pair[1]) <
		    0 ||
	    groups_find(&common->pairs, pair, sizeof(pair), &number) < 0)
		return -1;
	told->strategy = pair[1];
	told->is_new_reason = pair[0] == known;
	told->is_new_pair = number == pairs;
	if (!told->is_new_reason)
		common->items[common->last[pair[0]]].next = index;
	common->last[pair[0]] = index;
	if (pair[1] == strategies)
		common->first_reason[pair[1]] = pair[0];
	else if (common->first_reason[pair[1]] != pair[0])
		common->has_other[pair[1]] = true;
	return 0;
}

static int common_open(struct rejections *common, const struct advice *advice)
{
	size_t count = advice->rejection_count;

	*common = (struct rejections){.items = calloc(count, sizeof(*common->items)),
				      .last = calloc(count, sizeof(*common->last)),
				      .first_reason = calloc(count, sizeof(*common->first_reason)),
				      .has_other = calloc(count, sizeof(*common->has_other))};
	if (!common->items || !common->last || !common->first_reason || !common->has_other)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (common_add(common, &advice->rejections[i], (uint32_t)i) < 0)
			return -1;
	return 0;
}

static void common_close(struct rejections *common)
{
	groups_free(&common->reasons);
	groups_free(&common->strategies);
	groups_free(&common->pairs);
	free(common->items);
	free(common->last);
	free(common->first_reason);
	free(common->has_other);
}

/* "cuda_graph, overlap: why", every strategy that was rejected for that reason. */
static void put_reason(FILE *out, const struct advice *advice, const struct rejections *common,
		       uint32_t first)
{
	uint32_t i = first;

	do {
		const struct rejection *item = &advice->rejections[i];

		if (common->items[i].is_new_pair) {
			fprintf(out, "%s%s", i > first ? ", " : "", item->strategy);
			if (common->has_other[common->items[i].strategy])
				fprintf(out, " (%s)", item->target);
		}
		i = common->items[i].next;
	} while (i);
	fprintf(out, ": %s", advice->rejections[first].reason);
}

static void print_reason(struct page *page, const struct rejections *common, uint32_t first)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);
	char *text;

	if (out)
		put_reason(out, page->report->advice, common, first);
	text = out ? memory_file_close(&file) : NULL;
	if (text)
		page_wrap(page, "  - ", text, 4);
	else
		page->has_failed = true;
	free(text);
}

static void print_rejected(struct page *page)
{
	const struct advice *advice = page->report->advice;
	struct rejections common;

	if (!advice || !advice->rejection_count)
		return;
	page_title(page, "Considered and rejected", NULL);
	if (common_open(&common, advice) < 0)
		page->has_failed = true;
	else
		for (uint32_t i = 0; i < advice->rejection_count; i++)
			if (common.items[i].is_new_reason)
				print_reason(page, &common, i);
	common_close(&common);
}

const struct section section_rejected = {.key = "rejected",
					 .title = "Considered and rejected",
					 .columns = rejected_columns,
					 .at = rejection_at,
					 .is_of_advice = true,
					 .print = print_rejected,
					 .empty = "nothing was considered and rejected"};
