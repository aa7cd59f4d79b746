/* plan.c - the changes that go together, each with those before it. */
#include "output/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/shell.h"

/* ---- columns ---- */

static const struct column speedup_columns[] = {FIELD(struct predicted_speedup, speedup),
						FIELD(struct predicted_speedup, low),
						FIELD(struct predicted_speedup, high),
						{0}};

static const struct column columns[] = {FIELD(struct plan_step, strategy),
					FIELD(struct plan_step, title),
					FIELD(struct plan_step, options),
					INLINE(struct plan_step, together, speedup_columns),
					{0}};

static const void *step_at(const struct row *parent, size_t index)
{
	const struct advice *advice = parent->report->advice;

	return advice && index < advice->plan_count ? &advice->plan[index] : NULL;
}

/* ---- text ---- */

static void put_step(struct page *page, size_t number, const struct plan_step *step)
{
	char label[128];

	snprintf(label, sizeof(label), "  %zu.  %.2fx (%.2fx to %.2fx)  ", number,
		 step->together.speedup, step->together.low, step->together.high);
	page_wrap(page, label, step->title, strlen(label));
}

/* As text of a terminal. */
static void put_word(struct page *page, const char *word)
{
	char *quoted = shell_word(word);
	char text[PATH_MAX + 1024] = "";

	if (quoted)
		format_text(text, sizeof(text), quoted, sizeof(text) / 4 - 1);
	free(quoted);
	fprintf(page->out, " %s", text);
}

/* On a line of its own, so that it can be copied. */
static void put_command(struct page *page, const char *options)
{
	fprintf(page->out, "  rooflinectl whatif %s", options);
	if (page->options->range) {
		fputs(" --range", page->out);
		put_word(page, page->options->range);
	}
	put_word(page, path_named(page->report->profile->path));
	fputc('\n', page->out);
}

/* One change alone is what advice tells. */
static void print_plan(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || advice->plan_count < 2)
		return;
	page_title(page, "Plan",
		   page->options->range ? "the range, each with those before it"
					: "the whole run, each with those before it");
	for (size_t i = 0; i < advice->plan_count; i++)
		put_step(page, i + 1, &advice->plan[i]);
	put_command(page, advice->plan[advice->plan_count - 1].options);
}

const struct section section_plan = {
	.key = "plan", .title = "Plan", .columns = columns, .at = step_at, .print = print_plan};
