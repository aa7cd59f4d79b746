#include "output/sections/roofs.h"

#define NAME_SIZE 16384 /* names of templates grow to thousands of characters; --wide shows them */

/* ---- a point ---- */

static bool is_kernel(const struct row *row, const void *from)
{
	return point_kind(row->report, from) == POINT_KERNEL;
}

/* NULL of anything else. */
static const void *graph_of(struct row *row, const void *from)
{
	return point_kind(row->report, from) == POINT_GRAPH ? point_graph(row->report, from) : NULL;
}

static struct value get_kind(struct row *row, const void *from)
{
	return value_text(point_kind_key(point_kind(row->report, from)));
}

GETTER(get_process, struct profile_counted_graph, graph,
       value_text(row->report->profile->processes[graph->process].folder));

static const struct column graph_columns[] = {COMPUTED("process", get_process),
					      FIELD(struct profile_counted_graph, graph),
					      {0}};

const struct column point_head_columns[] = {COMPUTED("kind", get_kind),
					    FIELD_IF(struct roofline_point, name, is_kernel),
					    INLINE_FOUND(graph_of, graph_columns),
					    FIELD(struct roofline_point, launch_count),
					    FIELD(struct roofline_point, timed_count),
					    FIELD(struct roofline_point, time_ns),
					    {0}};

struct value point_get_regime(struct row *row, const void *from)
{
	const struct roofline_point *point = from;

	(void)row;
	return value_text(roofline_regime_key(point->regime));
}

/* ---- roofs ---- */

FINDER(ceilings_of, struct report, report, report->ceilings);

const void *report_roofline(struct row *row, const void *from)
{
	(void)from;
	return row->report->roofline;
}

#define ROOF_COLUMN(name, title)    \
	{.key = #name,              \
	 .type = COLUMN_REAL,       \
	 .known = KNOWN_ABOVE_ZERO, \
	 .offset = ROOF_##name * sizeof(double)},

static const struct column roof_columns[] = {ROOFLINE_MEMORY_ROOFS(ROOF_COLUMN)
						     ROOFLINE_COMPUTE_ROOFS(ROOF_COLUMN){0}};

static const struct column file_columns[] = {FIELD(struct ceilings, gpu),
					     FIELD(struct ceilings, driver),
					     FIELD(struct ceilings, date),
					     FIELD(struct ceilings, path),
					     {0}};

static const struct column measured_columns[] = {FIELD(struct roofline, is_datasheet),
						 GROUP("roofs", NULL, struct roofline, roofs,
						       roof_columns),
						 FIELD_ABOVE_ZERO(struct roofline,
								  launch_period_ns),
						 FIELD_ABOVE_ZERO(struct roofline, graph_node_ns),
						 FIELD_ABOVE_ZERO(struct roofline, graph_launch_ns),
						 {0}};

const struct column roofs_columns[] = {{FIELD_AS("note", struct report, ceilings_note)},
				       INLINE_FOUND(ceilings_of, file_columns),
				       INLINE_FOUND(report_roofline, measured_columns),
				       {0}};

/* ---- points ---- */

const void *point_application(struct row *row, const void *from)
{
	(void)from;
	return &row->report->roofline->application;
}

const void *point_kernel_at(const struct row *parent, size_t index)
{
	const struct roofline *roofline = parent->report->roofline;

	return index < roofline->kernel_count ? &roofline->kernels[index] : NULL;
}

const void *point_graph_at(const struct row *parent, size_t index)
{
	const struct roofline *roofline = parent->report->roofline;

	return index < roofline->graph_count ? &roofline->graphs[index] : NULL;
}

const void *point_any_at(const struct row *parent, size_t index)
{
	return point_at(parent->report, index);
}

/* ---- text ---- */

void page_point(struct page *page, const struct roofline_point *point, size_t width)
{
	char name[NAME_SIZE];

	point_name(name, sizeof(name), page->report, point);
	if (point_kind(page->report, point) == POINT_KERNEL)
		page_kernel(page, name, width);
	else
		page_text(page, name, width);
}

void page_point_line(struct page *page, const struct roofline_point *point)
{
	char name[NAME_SIZE];

	point_name(name, sizeof(name), page->report, point);
	if (point_kind(page->report, point) == POINT_KERNEL)
		page_kernel_line(page, name);
	else
		fprintf(page->out, "  %s\n", name);
}

bool report_has_counters(const struct report *report)
{
	return report->profile->counter_count > 0;
}
