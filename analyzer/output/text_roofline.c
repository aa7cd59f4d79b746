/* text_roofline.c - kernels, graphs and the application under their roofs, and what launching costs. */
#include "output/page.h"
#include "output/points.h"

#include <inttypes.h>
#include <string.h>

#define NAME_SIZE 16384 /* names of templates grow to thousands of characters; --wide shows them */

static bool is_asked(const struct page *page, int section)
{
	return page->options->section == section;
}

static void put_name(struct page *page, const struct roofline_point *point, size_t width)
{
	char name[NAME_SIZE];

	point_name(name, sizeof(name), page->report, point);
	if (point_kind(page->report, point) == POINT_KERNEL)
		page_kernel(page, name, width);
	else
		page_text(page, name, width);
}

static void put_name_line(struct page *page, const struct roofline_point *point)
{
	char name[NAME_SIZE];

	point_name(name, sizeof(name), page->report, point);
	if (point_kind(page->report, point) == POINT_KERNEL)
		page_kernel_line(page, name);
	else
		fprintf(page->out, "  %s\n", name);
}

/* ---- the application ---- */

/* A rate above its roof is a mistake of counters or ceilings, and nothing follows from it. */
static void describe_wrong(const struct roofline_point *point, char *buffer, size_t size)
{
	snprintf(buffer, size,
		 "WRONG DATA: %.1f%% above the roof %s, which cannot be; measure the ceilings anew "
		 "and record again",
		 100 * (point->binding_share - 1), roofline_roof_title(point->binding));
}

static void put_regime(struct page *page, const struct roofline_point *point)
{
	char text[256];

	if (point->is_wrong)
		describe_wrong(point, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s: %s", roofline_regime_title(point->regime),
			 roofline_regime_meaning(point->regime));
	page_wrap(page, "  application  ", text, 15);
}

static void put_binding(struct page *page, const struct roofline_point *point)
{
	char text[256];

	if (point->binding == ROOF_NONE || point->is_wrong)
		return;
	snprintf(text, sizeof(text), "nearest roof %s: %s of it while operations run%s%s%s",
		 roofline_roof_title(point->binding), format_percent(point->binding_share, 1).text,
		 point->launch.launch_count ? ", " : "",
		 point->launch.launch_count ? format_percent(point->launch.binding_share, 1).text
					    : "",
		 point->launch.launch_count ? " with idle time counted in" : "");
	page_wrap(page, "               ", text, 15);
	if (point->binding >= ROOF_TENSOR && point->binding < ROOF_COMPUTE_END &&
	    point->binding_share > 1)
		page_wrap(page, "               ",
			  "this roof was measured on random data, at which power slows the chip; "
			  "other data may go beyond it",
			  15);
}

/* Totals of kernels that were counted stand for those that were not. */
static void put_coverage(struct page *page, const struct roofline_point *point)
{
	char text[160];

	if (!point->is_counted || point->covered_share >= 0.99)
		return;
	snprintf(text, sizeof(text),
		 "some counters stand on kernels with %s of the time; totals are scaled up to all",
		 format_percent(point->covered_share, 1).text);
	page_wrap(page, "  scaled       ", text, 15);
}

/* Which quantities are not known, one line for each reason. */
static void put_unknown(struct page *page, const struct roofline_point *point)
{
	for (int state = 0; state < ROOFLINE_STATE_COUNT; state++) {
		char text[512] = "";
		size_t used = 0;

		for (int i = 0; i < ROOF_COUNT && state != ROOFLINE_KNOWN; i++)
			if (point->quantities[i].state == (enum roofline_state)state &&
			    used < sizeof(text) - 32)
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
							 used ? ", " : "",
							 roofline_roof_title(
								 (enum roofline_roof)i));
		if (!used)
			continue;
		snprintf(text + used, sizeof(text) - used, ": %s",
			 roofline_state_meaning((enum roofline_state)state));
		page_wrap(page, "  not known    ", text, 15);
	}
	if (point->has_uncounted_tensor)
		page_wrap(page, "  not known    ",
			  "tensor instructions ran whose operations were not counted", 15);
}

/* Memory levels always, units where work was done: the others would say nothing. */
static bool has_row(const struct roofline_point *point, int roof)
{
	const struct roofline_quantity *quantity = &point->quantities[roof];

	return quantity->state == ROOFLINE_KNOWN && (roof < ROOF_MEMORY_END || quantity->total > 0);
}

static void put_roof(struct page *page, const struct roofline_point *point, int index)
{
	enum roofline_roof roof = (enum roofline_roof)index;
	const struct roofline_quantity *quantity = &point->quantities[roof];
	double limit = page->report->roofline->roofs[roof];

	fprintf(page->out, "  %-16s %12s %14s %14s %7s%s\n", roofline_roof_title(roof),
		point_amount(roof, quantity->total).text, point_rate(roof, quantity->per_s).text,
		limit > 0 ? point_rate(roof, limit).text : "-",
		quantity->share > 0 ? format_percent(quantity->share, 1).text : "-",
		roof == point->binding ? "  nearest" : "");
}

static void put_application(struct page *page)
{
	const struct roofline_point *point = &page->report->roofline->application;

	put_regime(page, point);
	put_binding(page, point);
	put_coverage(page, point);
	put_unknown(page, point);
	if (page->report->ceilings_note)
		page_wrap(page, "  roofs        ", page->report->ceilings_note, 15);
	page_heads(page, "  roof                     work       a second           roof  of it");
	for (int i = 0; i < ROOF_COUNT; i++)
		if (has_row(point, i))
			put_roof(page, point, i);
}

/* ---- kernels and graphs ---- */

static const char *why_uncounted(const struct roofline_point *point)
{
	return roofline_state_meaning(point->quantities[ROOF_dram].state);
}

/* "memory-bound", or why nothing can be said. */
static void describe_point(const struct roofline_point *point, char *buffer, size_t size)
{
	if (point->is_wrong)
		snprintf(buffer, size, "WRONG DATA: %.1f%% above the roof",
			 100 * (point->binding_share - 1));
	else if (!point->is_counted && point->regime == ROOFLINE_UNKNOWN_BOUND)
		snprintf(buffer, size, "not counted");
	else
		snprintf(buffer, size, "%s", roofline_regime_title(point->regime));
}

static const char *flops_of(const struct roofline_point *point, struct figure *figure)
{
	if (!point->has_flops)
		return "-";
	*figure = format_per_s(point->flop_per_s, "FLOP/s");
	return figure->text;
}

static void put_point(struct page *page, const struct roofline_point *point, double all_ns)
{
	const struct roofline_quantity *dram = &point->quantities[ROOF_dram];
	struct figure flops;
	char verdict[64];

	describe_point(point, verdict, sizeof(verdict));
	fputs("  ", page->out);
	put_name(page, point, PAGE_WIDTH - 4 - strlen(verdict));
	fprintf(page->out, "  %s\n", verdict);
	fprintf(page->out, "  %8s %6s %7s %12s %9s  %-14s %6s %7s\n",
		format_ns(point->time_ns).text, format_percent(point->time_ns, all_ns).text,
		point_intensity(point->intensity[ROOF_dram]).text, flops_of(point, &flops),
		dram->state == ROOFLINE_KNOWN ? format_rate(dram->per_s).text : "-",
		point->binding == ROOF_NONE ? "-" : roofline_roof_title(point->binding),
		point->binding == ROOF_NONE ? "-" : format_percent(point->binding_share, 1).text,
		point_samples(point->least_sample_count, point->most_sample_count).text);
}

/* Kernels that run in counted graphs are in the graphs' time, too. */
static double all_time(const struct roofline *roofline)
{
	return roofline->application.time_ns;
}

static void put_points(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	size_t rows = page_rows(page, roofline->kernel_count, PAGE_TOP);
	size_t graph_rows = page_rows(page, roofline->graph_count, PAGE_TOP);

	page_list_title(page, "Roofline of kernels", "FLOP/B: FLOPs by byte of DRAM", rows,
			roofline->kernel_count);
	page_heads(page, "      time      %  FLOP/B      compute      DRAM  nearest roof    of it"
			 " counted");
	for (size_t i = 0; i < rows; i++)
		put_point(page, &roofline->kernels[i], all_time(roofline));
	if (!graph_rows)
		return;
	page_list_title(page, "Roofline of graphs", "by launch: CUPTI counts no single nodes",
			graph_rows, roofline->graph_count);
	for (size_t i = 0; i < graph_rows; i++)
		put_point(page, &roofline->graphs[i], all_time(roofline));
}

/* ---- work a launch ---- */

static void put_work(struct page *page, const struct roofline_point *point)
{
	char text[512] = "";
	size_t used = 0;

	for (int i = 0; i < ROOF_COMPUTE_END; i++) {
		enum roofline_roof roof = (enum roofline_roof)i;

		if (has_row(point, i) && (i != ROOF_shared || point->quantities[i].total > 0))
			used += (size_t)
				snprintf(text + used, sizeof(text) - used, "%s%s %s",
					 used ? ", " : "", roofline_roof_title(roof),
					 point_amount(roof, point->quantities[i].per_launch).text);
	}
	if (!point->has_flops)
		snprintf(text + used, sizeof(text) - used, "%sFLOPs not known", used ? ", " : "");
	else if (point->flops <= 0)
		snprintf(text + used, sizeof(text) - used, "%sno FLOPs", used ? ", " : "");
	if (!point->is_counted)
		snprintf(text, sizeof(text), "%s", why_uncounted(point));
	put_name_line(page, point);
	page_wrap(page, "      ", text, 6);
}

static void put_works(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	size_t rows = page_rows(page, roofline->kernel_count, PAGE_TOP);

	page_list_title(page, "Bytes and FLOPs per launch", NULL, rows, roofline->kernel_count);
	for (size_t i = 0; i < rows; i++)
		put_work(page, &roofline->kernels[i]);
	for (size_t i = 0; i < page_rows(page, roofline->graph_count, PAGE_TOP); i++)
		put_work(page, &roofline->graphs[i]);
}

/* Without counters there is one line, where the question is open: the GPU was busy, and why? */
static void put_hint(struct page *page)
{
	if (!is_asked(page, SECTION_roofline) &&
	    page->report->roofline->application.regime != ROOFLINE_UNKNOWN_BOUND)
		return;
	page_title(page, "Roofline", NULL);
	page_wrap(page, "  ",
		  "no counters in this recording: rooflinectl record --counters tells what bounds "
		  "the kernels",
		  2);
}

static bool has_counters(const struct report *report)
{
	return report->profile->counter_count > 0;
}

void page_section_roofline(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;

	if (!roofline->kernel_count && !roofline->graph_count)
		return;
	if (!has_counters(page->report)) {
		put_hint(page);
		return;
	}
	page_title(page, "Roofline", NULL);
	put_application(page);
	put_points(page);
	put_works(page);
}

/* ---- launching ---- */

/* What the roofs are, for the title. */
static void describe_periods(const struct roofline *roofline, char *buffer, size_t size)
{
	if (roofline->launch_period_ns <= 0) {
		snprintf(buffer, size, "not measured: rooflinectl ceilings");
		return;
	}
	snprintf(buffer, size, "an empty kernel every %s",
		 format_ns(roofline->launch_period_ns).text);
	if (roofline->graph_node_ns > 0)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), ", in graphs every %s",
			 format_ns(roofline->graph_node_ns).text);
}

static void put_launch_sentence(struct page *page)
{
	const struct roofline_launch *launch = &page->report->roofline->application.launch;
	char text[320];
	int used;

	if (!launch->launch_count) {
		page_wrap(page, "  ",
			  "no launch could be looked at: each is followed by a counted one, or by "
			  "nothing",
			  2);
		return;
	}
	used = snprintf(text, sizeof(text), "kernels of %s keep the GPU busy for %s of the time",
			format_ns(launch->duration_ns).text,
			format_percent(launch->busy_share, 1).text);
	if (launch->roof_share > 0 && launch->roof_share < 1)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "; launched one after the other it could be %s",
				 format_percent(launch->roof_share, 1).text);
	else if (launch->roof_share > 0)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "; they are long enough that launching need not show");
	snprintf(text + used, sizeof(text) - (size_t)used, "; launching cost %s",
		 format_ns(launch->launch_lost_ns).text);
	page_wrap(page, "  ", text, 2);
}

/* With gaps counted in: arithmetic where there is some, else bytes. */
static const char *rate_with_gaps(const struct roofline_point *point, struct figure *figure)
{
	if (point->launch.flop_per_s > 0)
		*figure = format_per_s(point->launch.flop_per_s, "FLOP/s");
	else
		*figure = format_rate(point->launch.dram_byte_per_s);
	return figure->text;
}

static void put_launched(struct page *page, const struct roofline_point *point)
{
	const struct roofline_launch *launch = &point->launch;
	struct figure rate;

	put_name_line(page, point);
	fprintf(page->out, "  %9s %11s %9s %9s %9s %6s %6s %12s\n",
		launch->launch_count ? format_ns(launch->launch_lost_ns).text : "-",
		format_count(point->launch_count).text, format_ns(launch->duration_ns).text,
		launch->launch_count ? format_ns(launch->idle_ns).text : "-",
		launch->roof_period_ns > 0 ? format_ns(launch->roof_period_ns).text : "-",
		launch->launch_count ? format_percent(launch->busy_share, 1).text : "-",
		launch->roof_share > 0 ? format_percent(launch->roof_share, 1).text : "-",
		rate_with_gaps(point, &rate));
}

/* Kernels, then graphs. */
static const struct roofline_point *launched_point(const struct roofline *roofline, size_t index)
{
	return index < roofline->kernel_count ? &roofline->kernels[index]
					      : &roofline->graphs[index - roofline->kernel_count];
}

/* The next point by time lost to launching: each call gives the index of the largest below the one before, which
 * is count before the first. */
static size_t next_by_loss(const struct roofline *roofline, size_t count, size_t last)
{
	double last_ns = last < count ? launched_point(roofline, last)->launch.launch_lost_ns : 0;
	double next_ns = 0;
	size_t next = count;

	for (size_t i = 0; i < count; i++) {
		double lost_ns = launched_point(roofline, i)->launch.launch_lost_ns;

		if (last < count && (lost_ns > last_ns || (lost_ns == last_ns && i <= last)))
			continue;
		if (next == count || lost_ns > next_ns) {
			next = i;
			next_ns = lost_ns;
		}
	}
	return next;
}

static void put_launched_table(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	size_t count = roofline->kernel_count + roofline->graph_count, point = count;

	page_heads(page, "       lost    launches  duration      idle    at best   busy   roof   "
			 "with gaps");
	for (size_t i = 0; i < page_rows(page, count, PAGE_TOP); i++) {
		point = next_by_loss(roofline, count, point);
		if (point < count)
			put_launched(page, launched_point(roofline, point));
	}
}

void page_section_launch_roofline(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	bool is_short = !has_counters(page->report) && !is_asked(page, SECTION_launch_roofline);
	char note[128];

	if (!roofline->kernel_count && !roofline->graph_count)
		return;
	if (is_short && roofline->launch_period_ns <= 0)
		return;
	describe_periods(roofline, note, sizeof(note));
	page_title(page, "Launch roofline", note);
	put_launch_sentence(page);
	if (!is_short)
		put_launched_table(page);
}
