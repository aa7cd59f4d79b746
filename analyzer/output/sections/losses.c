/* losses.c - what was lost while recording and reading, and what a recording cannot show. */
#include "output/page.h"
#include "output/sections/losses.h"

#include "base/sums.h"

#include <string.h>

/* ---- lost: columns ---- */

/* CSV tells each loss of each process; JSON adds them up by kind. */
static const struct profile *loss_run(const struct row *row)
{
	const struct profile *profile = row->report->profile;

	return row->index < profile->loss_count ? profile : profile->graph_run;
}

static struct value get_process(struct row *row, const void *from)
{
	const struct profile *profile = loss_run(row);
	const struct profile_loss *loss = from;

	return loss->process < profile->process_count
		       ? value_text(profile->processes[loss->process].folder)
		       : value_none();
}

static const struct column loss_columns[] = {COMPUTED("process", get_process),
					     FIELD(struct profile_loss, kind),
					     FIELD(struct profile_loss, count),
					     FIELD(struct profile_loss, detail),
					     {0}};

/* Of both runs. */
static const void *loss_at(const struct row *parent, size_t index)
{
	const struct profile *profile = parent->report->profile, *second = profile->graph_run;

	if (index < profile->loss_count)
		return &profile->losses[index];
	index -= profile->loss_count;
	return second && index < second->loss_count ? &second->losses[index] : NULL;
}

bool loss_sum_at(const struct profile *profile, size_t index, struct entry *entry)
{
	if (index >= profile->loss_sum_count)
		return false;
	entry->key = profile->loss_sums[index].kind;
	entry->value = value_count(profile->loss_sums[index].count);
	return true;
}

static bool sum_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	(void)from;
	return loss_sum_at(row->report->profile, index, entry);
}

static const struct column loss_sums[] = {MAP(NULL, sum_at), {0}};

/* ---- lost: text ---- */

static void describe_loss(const struct profile_loss_sum *sum, char *buffer, size_t size)
{
	const char *kind = sum->kind, *meaning = profile_loss_meaning(kind);

	snprintf(buffer, size, "%s %s%s%s%s", format_count(sum->count).text, kind,
		 *meaning ? " (" : "", meaning, *meaning ? ")" : "");
}

/* Each kind once.  Returns the label of what follows. */
static const char *put_losses(struct page *page, const struct profile *profile, const char *label,
			      const char *run)
{
	char text[512];

	for (size_t i = 0; i < profile->loss_sum_count; i++) {
		const struct profile_loss_sum *sum = &profile->loss_sums[i];
		const char *place = profile_loss_place(&profile->losses[sum->first]);
		size_t used = strlen(run);

		memcpy(text, run, used);
		describe_loss(sum, text + used, sizeof(text) - used);
		page_wrap(page, label, text, 8);
		if (*place)
			page_wrap(page, "        first: ", place, 15);
		label = "      ";
	}
	return label;
}

static void print_losses(struct page *page)
{
	const struct profile *profile = page->report->profile;
	const char *label = "Lost: ";

	if (page->is_begun)
		fputc('\n', page->out);
	page->is_begun = true;
	if (!profile->loss_count) {
		page_wrap(page, label, "nothing", 8);
		label = "      ";
	}
	label = put_losses(page, profile, label, "");
	if (profile->graph_run)
		label = put_losses(page, profile->graph_run, label, "in the second run: ");
	if (profile->counter_run)
		label = put_losses(page, profile->counter_run, label, "in the run with counters: ");
	if (page->report->sampled)
		(void)put_losses(page, page->report->sampled->profile, label,
				 "in the run with samples: ");
}

const struct section section_losses = {.key = "losses",
				       .title = "Lost",
				       .columns = loss_columns,
				       .at = loss_at,
				       .object = loss_sums,
				       .print = print_losses};

/* ---- not visible ---- */

GETTER(get_what, void, what, value_text(*(char *const *)what));

static const struct column not_visible_columns[] = {COMPUTED("what", get_what), {0}};

static const void *not_visible_at(const struct row *parent, size_t index)
{
	return index < parent->report->not_visible_count ? &parent->report->not_visible[index]
							 : NULL;
}

static void print_not_visible(struct page *page)
{
	const struct report *report = page->report;
	const char *label = "Not visible: ";

	for (size_t i = 0; i < report->not_visible_count; i++) {
		page_wrap(page, label, report->not_visible[i], 15);
		label = "             ";
	}
	if (!report->not_visible_count)
		page_wrap(page, label, "nothing that is known of", 15);
}

const struct section section_not_visible = {.key = "not_visible",
					    .title = "Not visible",
					    .columns = not_visible_columns,
					    .at = not_visible_at,
					    .is_plain = true,
					    .print = print_not_visible};
