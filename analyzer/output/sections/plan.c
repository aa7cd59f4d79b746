/* plan.c - the changes that go together, each with those before it. */
#include "output/narrow.h"
#include "output/page.h"

#include "output/gain_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/shell.h"

/* ---- columns ---- */

PREDICATE(is_predicted, struct predicted_speedup, predicted, predicted->speedup > 0);

static const struct column speedup_columns[] = {
	FIELD_IF(struct predicted_speedup, speedup, is_predicted),
	FIELD_IF(struct predicted_speedup, low, is_predicted),
	FIELD_IF(struct predicted_speedup, high, is_predicted),
	{0}};

/* Of the range where one was asked for. */
static const void *asked_part(struct row *row, const void *from)
{
	const struct plan_step *step = from;

	return row->options->range ? &step->together.place : &step->together.program;
}

static const struct column columns[] = {
	FIELD(struct plan_step, strategy),
	FIELD(struct plan_step, title),
	FIELD(struct plan_step, options),
	{FIELD_AS("up_to", struct plan_step, together.is_up_to)},
	{FIELD_AS("assumes", struct plan_step, together.is_assuming)},
	INLINE_FOUND(asked_part, speedup_columns),
	GROUP("steady", NULL, struct plan_step, together.steady, speedup_columns),
	{0}};

static const void *step_at(const struct row *parent, size_t index)
{
	const struct advice *advice = parent->report->advice;

	return advice && index < advice->plan_count ? &advice->plan[index] : NULL;
}

/* ---- text ---- */

static void put_step(struct page *page, size_t number, const struct plan_step *step)
{
	char label[32];

	snprintf(label, sizeof(label), "  %zu.  ", number);
	page_wrap(page, label, step->title, 6);
	page_wrap(page, "      ",
		  gain_text_whole(&step->together, page->report->advice->plan_part).text, 6);
}

static void put_word(struct page *page, char *quoted)
{
	fputc(' ', page->out);
	page_put(page, quoted);
	free(quoted);
}

/* On a line of its own, so that it can be copied. */
static void put_command(struct page *page, const char *options)
{
	if (page->screen)
		fputc(NARROW_KEEP, page->out);
	fprintf(page->out, "  rooflinectl whatif %s", options);
	if (page->options->range) {
		fputs(" --range", page->out);
		put_word(page, shell_word(page->options->range));
	}
	put_word(page, shell_path(path_named(page->report->profile->path)));
	fputc('\n', page->out);
}

/* One change alone is what advice tells. */
static void print_plan(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || advice->plan_count < 2)
		return;
	page_title(page, "Plan", "each change with those before it");
	for (size_t i = 0; i < advice->plan_count; i++)
		put_step(page, i + 1, &advice->plan[i]);
	put_command(page, advice->plan[advice->plan_count - 1].options);
}

const struct section section_plan = {
	.key = "plan",
	.title = "Plan",
	.columns = columns,
	.at = step_at,
	.is_of_advice = true,
	.print = print_plan,
	.empty = "no two changes are known to gain together: see --section advice,rejected"};
