/* text_summary.c - a summary of many ranks for people: the late ranks first. */
#include "output/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/kernel_labels.h"
#include "base/ns.h"
#include "output/page.h"

/* ---- the job ---- */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_clocks(struct page *page, const struct overview *overview)
{
	uint64_t compared = 0;
	int64_t error_ns = 0;
	char text[256];

	for (size_t i = 0; i < overview->host_count; i++) {
		const struct clock *clock = &overview->hosts[i].clock;

		compared += clock->common_count > 0;
		error_ns = max_ns(clock->offset.error_ns, error_ns);
	}
	if (overview->host_count < 2)
		return;
	if (!compared) {
		page_wrap(page, "  clocks    ",
			  "of hosts could not be compared: they had no collective in common", 12);
		return;
	}
	snprintf(text, sizeof(text),
		 "of %s host%s are moved to those of the others by the ends of collectives, which "
		 "agree within %s for half of them; --section hosts has each",
		 format_count(compared).text, plural(compared), format_ns((double)error_ns).text);
	page_wrap(page, "  clocks    ", text, 12);
}

/* By rank: those of the first few. */
#define DAMAGED_SHOWN 4

static void put_damage(struct page *page, const struct overview *overview)
{
	uint64_t shown = 0;
	char text[1024];

	for (size_t i = 0; i < overview->rank_count && shown < DAMAGED_SHOWN; i++) {
		const struct overview_rank *row = &overview->ranks[i];

		for (size_t k = 0; k < row->rank->damage.count; k++) {
			snprintf(text, sizeof(text), "%s: %s", row->name,
				 row->rank->damage.items[k]);
			page_wrap(page, "  damaged   ", text, 12);
		}
		shown += row->rank->damage.count > 0;
	}
	if (overview->damaged_count > shown) {
		snprintf(text, sizeof(text), "%s more; --format json has each",
			 format_count(overview->damaged_count - shown).text);
		page_wrap(page, "  damaged   ", text, 12);
	}
	for (size_t i = 0; i < overview->problems.count; i++)
		page_wrap(page, "  problem   ", overview->problems.items[i], 12);
}

static void put_losses(struct page *page, const struct overview *overview)
{
	char text[160];

	put_damage(page, overview);
	if (overview->cut_off_count) {
		snprintf(text, sizeof(text),
			 "%s rank%s did not end properly: what happened last may be missing",
			 format_count(overview->cut_off_count).text,
			 plural(overview->cut_off_count));
		page_wrap(page, "  cut off   ", text, 12);
	}
	if (overview->lost_count) {
		snprintf(text, sizeof(text), "%s row%s of the recordings%s",
			 format_count(overview->lost_count).text, plural(overview->lost_count),
			 overview->damaged_count ? " that could be counted" : "");
		page_wrap(page, "  lost      ", text, 12);
	}
}

static bool is_thinned(const struct overview *overview)
{
	for (size_t i = 0; i < overview->group_count; i++)
		if (overview->groups[i].one_of > 1)
			return true;
	return false;
}

static void put_job(struct page *page, const struct overview *overview)
{
	const struct job_times *all = &overview->all;
	char note[128];

	snprintf(note, sizeof(note), "%s rank%s on %s host%s; times of all ranks added up",
		 format_count(overview->rank_count).text, plural(overview->rank_count),
		 format_count(overview->host_count).text, plural(overview->host_count));
	page_title(page, "Job", note);
	put_clocks(page, overview);
	put_losses(page, overview);
	page_share(page, "wall", all->wall_ns, all->wall_ns);
	page_share(page, "busy", all->busy_ns, all->wall_ns);
	page_share(page, "  computation", all->computation_ns, all->wall_ns);
	page_share(page, "  communication", all->communication_ns, all->wall_ns);
	page_share(page, "    exposed", all->exposed_ns, all->wall_ns);
	if (overview->wait_ns)
		page_share(page, is_thinned(overview) ? "    waits (a part)" : "    waits",
			   overview->wait_ns, all->wall_ns);
	page_share(page, "idle", all->idle_ns, all->wall_ns);
	for (size_t i = 0; i < overview->cause_count; i++) {
		char label[64];

		snprintf(label, sizeof(label), "  %s", overview->causes[i].title);
		if (overview->causes[i].idle_ns)
			page_share(page, label, overview->causes[i].idle_ns, all->wall_ns);
	}
}

/* ---- ranks ---- */

struct listed {
	const struct overview_rank *row;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct overview_rank *a = ((const struct listed *)left)->row;
	const struct overview_rank *b = ((const struct listed *)right)->row;

	if (a->waits.caused_wait_ns != b->waits.caused_wait_ns)
		return a->waits.caused_wait_ns > b->waits.caused_wait_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void put_rank(struct page *page, const struct overview_rank *row)
{
	const struct job_times *times = &row->rank->times;

	fputs("  ", page->out);
	page_text(page, row->name, 12);
	fputs(" ", page->out);
	page_text(page, row->host, 14);
	fprintf(page->out, " %6s %6s %7s",
		format_percent((double)times->busy_ns, (double)times->wall_ns).text,
		format_percent((double)times->idle_ns, (double)times->wall_ns).text,
		format_percent((double)times->exposed_ns, (double)times->wall_ns).text);
	if (row->waits.is_known)
		fprintf(page->out, " %8s %7s %9s\n", format_ns((double)row->waits.wait_ns).text,
			format_count(row->waits.last_count).text,
			format_ns((double)row->waits.caused_wait_ns).text);
	else
		fprintf(page->out, " %8s %7s %9s\n", "-", "-", "-");
}

static int put_ranks(struct page *page, const struct overview *overview)
{
	size_t rows = page_rows(page, overview->rank_count, PAGE_TOP);
	struct listed *order = calloc(overview->rank_count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < overview->rank_count; i++)
		order[i].row = &overview->ranks[i];
	qsort(order, overview->rank_count, sizeof(*order), compare_ranks);
	page_list_title(page, "Ranks", "those that others waited for longest", rows,
			overview->rank_count);
	page_heads(
		page,
		"  rank         host             busy   idle exposed   waited last in    others\n"
		"                                                              times    waited");
	for (size_t i = 0; i < rows; i++)
		put_rank(page, order[i].row);
	free(order);
	return 0;
}

/* ---- collectives ---- */

static void put_group(struct page *page, const struct overview_group *group)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%s collective%s of %s rank%s on %s host%s, of which %s were compared%s",
		 format_count(group->collective_count).text, plural(group->collective_count),
		 format_count(group->rank_count).text, plural(group->rank_count),
		 format_count(group->host_count).text, plural(group->host_count),
		 format_count(group->matched_count).text,
		 group->one_of > 1 ? ", spread evenly" : "");
	page_wrap(page, "  ", text, 2);
	if (!group->matched_count)
		return;
	fprintf(page->out, "    first to last rank: median %s, p99 %s, most %s (%s was last)\n",
		format_ns(group->skew.p50_ns).text, format_ns(group->skew.p99_ns).text,
		format_ns((double)group->skew.max_ns).text, group->latest);
	fprintf(page->out, "    all waited          %s\n", format_ns((double)group->wait_ns).text);
}

static void put_groups(struct page *page, const struct overview *overview)
{
	size_t rows = page_rows(page, overview->group_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "Collectives", "by the ranks that take part", rows,
			overview->group_count);
	for (size_t i = 0; i < rows; i++)
		put_group(page, &overview->groups[i]);
}

/* ---- kernels and gaps ---- */

static void put_times(struct page *page, const struct overview_times *times)
{
	fprintf(page->out, "  %9s %11s %9s %9s %9s %9s %9s\n",
		format_ns((double)times->total_ns).text, format_count(times->count).text,
		format_ns(times->mean_ns).text, format_ns(times->p50_ns).text,
		format_ns(times->p99_ns).text, format_ns((double)times->min_ns).text,
		format_ns((double)times->max_ns).text);
}

static const char times_heads[] =
	"       time       count      mean    median       p99       min       max";

static void put_kernels(struct page *page, const struct overview *overview)
{
	size_t rows = page_rows(page, overview->kernel_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "Kernels", "of all ranks; percentiles within 1%", rows,
			overview->kernel_count);
	page_heads(page, times_heads);
	for (size_t i = 0; i < rows; i++) {
		page_kernel_line(page, overview->kernels[i].name);
		put_times(page, &overview->kernels[i].times);
	}
}

static void put_gaps(struct page *page, const struct overview *overview)
{
	bool is_begun = false;

	for (size_t i = 0; i < overview->cause_count; i++) {
		const struct overview_cause *cause = &overview->causes[i];

		if (!cause->gaps.count)
			continue;
		if (!is_begun) {
			page_title(page, "Gaps", "by their main cause; percentiles within 1%");
			page_heads(page, times_heads);
		}
		is_begun = true;
		fprintf(page->out, "  %s\n", cause->title);
		put_times(page, &cause->gaps);
	}
}

static struct kernel_labels *label_kernels(const struct overview *overview)
{
	const char **names = calloc(overview->kernel_count + 1, sizeof(*names));
	struct kernel_labels *labels;

	for (size_t i = 0; i < overview->kernel_count && names; i++)
		names[i] = overview->kernels[i].name;
	labels = names ? kernel_labels_create(names, overview->kernel_count) : NULL;
	free(names);
	return labels;
}

int overview_write_text(const struct overview *overview, FILE *out,
			const struct output_options *options, int table, struct err *err)
{
	struct kernel_labels *labels = label_kernels(overview);
	struct page page = {.out = out, .options = options, .kernel_labels = labels};
	int rc = labels ? 0 : -ENOMEM;

	page_begin(&page);
	(void)table;
	put_job(&page, overview);
	if (rc == 0)
		rc = put_ranks(&page, overview);
	if (rc == 0) {
		put_groups(&page, overview);
		put_kernels(&page, overview);
		put_gaps(&page, overview);
	}
	kernel_labels_free(labels);
	page.has_failed |= rc < 0;
	return page_finish(&page, "the summary", err);
}
