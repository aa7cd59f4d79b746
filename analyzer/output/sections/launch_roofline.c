/* launch_roofline.c - what launching costs: how long kernels are, and how long the GPU idles after them. */
#include "output/sections/roofs.h"

#include <inttypes.h>
#include <string.h>

/* ---- columns: row->item is the point, from its struct roofline_launch ---- */

PREDICATE(is_idle_known, struct roofline_launch, launch, launch->launch_count > 0);
PREDICATE(has_roof, struct roofline_launch, launch, launch->roof_period_ns > 0);
POINT_PREDICATE(has_time, point->time_ns > 0);
POINT_PREDICATE(has_flop_rate, is_idle_known(row, from) && point->has_flops);
POINT_PREDICATE(has_dram_rate,
		is_idle_known(row, from) && point->quantities[ROOF_dram].state == ROOFLINE_KNOWN);
POINT_PREDICATE(has_binding, is_idle_known(row, from) && point->binding != ROOF_NONE);

static const struct column launch_columns[] = {
	{FIELD_AS("measured_count", struct roofline_launch, launch_count)},
	FIELD_IF(struct roofline_launch, duration_ns, has_time),
	FIELD_IF(struct roofline_launch, idle_ns, is_idle_known),
	FIELD_IF(struct roofline_launch, launch_idle_ns, is_idle_known),
	FIELD_IF(struct roofline_launch, busy_share, is_idle_known),
	FIELD_IF(struct roofline_launch, roof_period_ns, has_roof),
	FIELD_IF(struct roofline_launch, roof_share, has_roof),
	FIELD_ABOVE_ZERO(struct roofline_launch, achieved_share),
	FIELD_IF(struct roofline_launch, lost_ns, is_idle_known),
	FIELD_IF(struct roofline_launch, launch_lost_ns, is_idle_known),
	FIELD_IF(struct roofline_launch, flop_per_s, has_flop_rate),
	FIELD_IF(struct roofline_launch, dram_byte_per_s, has_dram_rate),
	FIELD_IF(struct roofline_launch, period_ns, is_idle_known),
	FIELD_IF(struct roofline_launch, binding_share, has_binding),
	{0}};

static const struct column columns[] = {{.type = COLUMN_GROUP, .columns = point_head_columns},
					INLINE(struct roofline_point, launch, launch_columns),
					COMPUTED("regime", point_get_regime),
					{0}};

static const struct column object[] = {{.key = "ceilings",
					.type = COLUMN_GROUP,
					.columns = roofs_columns},
				       ROW("application", columns, point_application),
				       ROWS("kernels", columns, point_kernel_at),
				       ROWS("graphs", columns, point_graph_at),
				       {0}};

/* ---- text ---- */

/* What the roofs are, for the title. */
static void describe_periods(const struct report *report, char *buffer, size_t size)
{
	const struct roofline *roofline = report->roofline;

	if (roofline->launch_period_ns <= 0) {
		snprintf(buffer, size, "not measured%s",
			 profile_is_nvidias(report->profile) ? ": rooflinectl ceilings" : "");
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
	const struct profile *profile = page->report->profile;
	const struct roofline_launch *launch = &page->report->roofline->application.launch;
	char text[320];
	int used;

	if (!profile->call_count || profile_op_is_early(profile, &profile->ops[0])) {
		page_wrap(
			page, "  ",
			profile->call_count
				? "what launching costs is not known: the clocks of host and GPU differ"
				: "what launching costs is not known: no launch was recorded",
			2);
		return;
	}
	if (!launch->launch_count) {
		page_wrap(
			page, "  ",
			"the idle time after launches is not known: each is followed by a counted "
			"one, or by nothing",
			2);
		return;
	}
	used = snprintf(text, sizeof(text), "kernels of %s run for %s of the time%s",
			format_ns(launch->duration_ns).text,
			format_percent(launch->busy_share, 1).text,
			report_has_counters(page->report) ? " that counting left alone" : "");
	if (launch->roof_share > 0 && launch->roof_share < 1)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "; back to back they could for %s",
				 format_percent(launch->roof_share, 1).text);
	else if (launch->roof_share > 0)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "; back to back they are long enough to hide launching");
	snprintf(text + used, sizeof(text) - (size_t)used,
		 "; launching and waiting cost %s of the idle time",
		 format_ns(launch->launch_lost_ns).text);
	page_wrap(page, "  ", text, 2);
}

/* With gaps included: arithmetic where there is some, else bytes. */
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

	page_point_line(page, point);
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

static void print_launch_roofline(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	bool is_short = !report_has_counters(page->report) &&
			!section_is_asked(&section_launch_roofline, page->options);
	char note[128];

	if (!roofline->kernel_count && !roofline->graph_count)
		return;
	if (is_short && roofline->launch_period_ns <= 0)
		return;
	describe_periods(page->report, note, sizeof(note));
	page_title(page, "Launch roofline", note);
	put_launch_sentence(page);
	if (!is_short)
		put_launched_table(page);
}

const struct section section_launch_roofline = {.key = "launch_roofline",
						.title = "Launch roofline",
						.columns = columns,
						.at = point_any_at,
						.object = object,
						.print = print_launch_roofline,
						.empty = "no kernel was recorded"};
