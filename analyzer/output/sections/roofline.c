/* roofline.c - kernels, graphs and the application under their roofs. */
#include "output/sections/roofs.h"
#include "output/sections/why_empty.h"

#include <string.h>

/* ---- columns: row->item is the point ---- */

POINT_PREDICATE(is_counted, point->is_counted);
POINT_PREDICATE(has_flops, point->has_flops);
POINT_PREDICATE(has_flop_rate, point->has_flops && point->time_ns > 0);
POINT_PREDICATE(is_bound, point->binding != ROOF_NONE);
GETTER(get_binding, struct roofline_point, point,
       value_text(is_bound(row, from) ? roofline_roof_key(point->binding) : NULL));
PREDICATE(is_quantity_known, struct roofline_quantity, quantity, quantity->state == ROOFLINE_KNOWN);
POINT_PREDICATE(is_rate_known, is_quantity_known(row, from) && point->time_ns > 0);
GETTER(get_state, struct roofline_quantity, quantity,
       value_text(roofline_state_key(quantity->state)));

static const struct column quantity_columns[] = {
	COMPUTED("state", get_state),
	FIELD_IF(struct roofline_quantity, per_launch, is_quantity_known),
	FIELD_IF(struct roofline_quantity, per_s, is_rate_known),
	FIELD_ABOVE_ZERO(struct roofline_quantity, share),
	FIELD_ABOVE_ZERO(struct roofline_quantity, at_most),
	FIELD_IF(struct roofline_quantity, total, is_quantity_known),
	{0}};

/* Of roofs there is one column each, and in CSV the roof's name stands before all that is its own. */
#define QUANTITY(name, title)         \
	{.key = #name,                \
	 .type = COLUMN_GROUP,        \
	 .columns = quantity_columns, \
	 .offset = ROOF_##name * sizeof(struct roofline_quantity)},

static const struct column quantities_columns[] = {ROOFLINE_MEMORY_ROOFS(
	QUANTITY) ROOFLINE_COMPUTE_ROOFS(QUANTITY) QUANTITY(atomic_unit, "atomic unit"){0}};

#define HAS_INTENSITY(name, title)              \
	POINT_PREDICATE(has_##name##_intensity, \
			point->has_flops && point->quantities[ROOF_##name].total > 0);
ROOFLINE_MEMORY_ROOFS(HAS_INTENSITY)

#define INTENSITY(name, title)               \
	{.key = #name,                       \
	 .csv = #name "_intensity",          \
	 .type = COLUMN_REAL,                \
	 .is_known = has_##name##_intensity, \
	 .offset = ROOF_##name * sizeof(double)},

static const struct column intensity_columns[] = {ROOFLINE_MEMORY_ROOFS(INTENSITY){0}};

static const struct column columns[] = {{.type = COLUMN_GROUP, .columns = point_head_columns},
					FIELD(struct roofline_point, least_sample_count),
					FIELD(struct roofline_point, most_sample_count),
					FIELD_IF(struct roofline_point, covered_share, is_counted),
					FIELD_IF(struct roofline_point, flops, has_flops),
					FIELD_IF(struct roofline_point, flop_per_s, has_flop_rate),
					COMPUTED("binding", get_binding),
					FIELD_IF(struct roofline_point, binding_share, is_bound),
					FIELD(struct roofline_point, is_wrong),
					COMPUTED("regime", point_get_regime),
					GROUP("quantities", "", struct roofline_point, quantities,
					      quantities_columns),
					GROUP("intensity", "", struct roofline_point, intensity,
					      intensity_columns),
					FIELD(struct roofline_point, is_counted),
					FIELD(struct roofline_point, has_uncounted_tensor),
					FIELD_ABOVE_ZERO(struct roofline_point, tensor_share),
					{0}};

static const struct column count_columns[] = {{FIELD_AS("counted_kernel_count", struct roofline,
							counted_kernel_count)},
					      FIELD(struct roofline, has_wrong),
					      {0}};

static const struct column object[] = {{.key = "ceilings",
					.type = COLUMN_GROUP,
					.columns = roofs_columns},
				       ROW("application", columns, point_application),
				       ROWS("kernels", columns, point_kernel_at),
				       ROWS("graphs", columns, point_graph_at),
				       INLINE_FOUND(report_roofline, count_columns),
				       {0}};

/* ---- the application: text ---- */

/* A rate above its roof is a mistake of counters or ceilings, and nothing follows from it. */
static void describe_wrong(const struct roofline_point *point, char *buffer, size_t size)
{
	snprintf(
		buffer, size,
		"WRONG DATA: %.1f%% above the roof %s, which is impossible; measure the ceilings anew "
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
	snprintf(text, sizeof(text), "nearest roof %s: %s of it while kernels run%s%s%s",
		 roofline_roof_title(point->binding), format_percent(point->binding_share, 1).text,
		 point->launch.launch_count ? ", " : "",
		 point->launch.launch_count ? format_percent(point->launch.binding_share, 1).text
					    : "",
		 point->launch.launch_count ? " with idle time and copies included" : "");
	page_wrap(page, "               ", text, 15);
	if (point->binding >= ROOF_TENSOR && point->binding < ROOF_COMPUTE_END &&
	    point->binding_share > 1)
		page_wrap(page, "               ",
			  "this roof was measured on random data, at which power slows the chip; "
			  "other data may exceed it",
			  15);
}

/* Totals of kernels that were counted stand for those that were not. */
static void put_coverage(struct page *page, const struct roofline_point *point)
{
	char text[256];

	if (!point->is_counted || point->covered_share >= 0.99)
		return;
	snprintf(
		text, sizeof(text),
		"some counters stand on kernels with %s of the time; totals are scaled up. To raise "
		"it: rooflinectl record --counters --counters-share=100, or --replay for kernels "
		"that run once",
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
	page_heads(page, "  roof                     work     per second           roof  share");
	for (int i = 0; i < ROOF_COUNT; i++)
		if (has_row(point, i))
			put_roof(page, point, i);
}

/* ---- kernels and graphs: text ---- */

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

/* Whether half precision that is not trusted is all that could be arithmetic. */
static bool is_half_at_most(const struct roofline_point *point)
{
	return point->flops <= 0 && point->quantities[ROOF_fp16].state == ROOFLINE_NOT_TRUSTED;
}

static const char *flops_of(const struct roofline_point *point, struct figure *figure)
{
	if (!point->has_flops || is_half_at_most(point))
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
	page_point(page, point, PAGE_WIDTH - 4 - strlen(verdict));
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

	page_list_title(page, "Roofline of kernels", "FLOP/B: FLOP per byte of DRAM", rows,
			roofline->kernel_count);
	page_heads(page, "      time      %  FLOP/B      compute      DRAM  nearest roof    share"
			 " counted");
	for (size_t i = 0; i < rows; i++)
		put_point(page, &roofline->kernels[i], all_time(roofline));
	if (!graph_rows)
		return;
	page_list_title(page, "Roofline of graphs", "per launch: CUPTI does not count single nodes",
			graph_rows, roofline->graph_count);
	for (size_t i = 0; i < graph_rows; i++)
		put_point(page, &roofline->graphs[i], all_time(roofline));
}

/* ---- work per launch: text ---- */

/* ", FP16 not trusted, at most 512": what else than arithmetic may be in what was counted. */
static void describe_half(const struct roofline_point *point, char *text, size_t size)
{
	const struct roofline_quantity *half = &point->quantities[ROOF_fp16];
	double per_launch = half->at_most / (double)point->launch_count;

	if (half->at_most > 0 && half->state == ROOFLINE_NOT_TRUSTED)
		snprintf(text, size, "; FP16 not trusted, at most %s",
			 point_amount(ROOF_fp16, per_launch).text);
	else if (half->at_most > 0)
		snprintf(text, size, "; of FP16 some are conversions or constants");
}

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
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%sFLOPs not known",
					 used ? ", " : "");
	else if (point->flops <= 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%sno %s",
					 used ? ", " : "",
					 is_half_at_most(point) ? "FP32, no FP64" : "FLOPs");
	describe_half(point, text + used, sizeof(text) - used);
	if (!point->is_counted)
		snprintf(text, sizeof(text), "%s", why_uncounted(point));
	page_point_line(page, point);
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
	if (section_is_asked(&section_roofline, page->options) ||
	    page->report->roofline->application.regime != ROOFLINE_UNKNOWN_BOUND ||
	    !profile_is_nvidias(page->report->profile))
		return;
	page_title(page, "Roofline", NULL);
	page_wrap(page, "  ",
		  "no counters in this recording: rooflinectl record --counters tells what bounds "
		  "the kernels",
		  2);
}

static void print_roofline(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;

	if (!roofline->kernel_count && !roofline->graph_count)
		return;
	if (!report_has_counters(page->report)) {
		put_hint(page);
		return;
	}
	page_title(page, "Roofline", NULL);
	put_application(page);
	put_points(page);
	put_works(page);
}

static struct sentence why_no_roofline(const struct report *report)
{
	if (!report->roofline->kernel_count && !report->roofline->graph_count)
		return why("no kernel was recorded");
	return why_no_counters(report, "--counters=roofline");
}

const struct section section_roofline = {.key = "roofline",
					 .title = "Roofline",
					 .columns = columns,
					 .at = point_any_at,
					 .object = object,
					 .print = print_roofline,
					 .why_empty = why_no_roofline};
