/*
 * chart_whatif.h - what the parts of the what-if chart share.
 *
 * Private to chart_whatif.c, which chooses rows and fills them, and chart_whatif_text.c.
 */
#ifndef ROOFLINE_CHART_WHATIF_H
#define ROOFLINE_CHART_WHATIF_H

#include "charts/timelines/chart_lanes.h"
#include "charts/charts.h"

/* What calls of a class are called, on a bar and in the legend, and the cause of idle time whose color they
 * have. */
struct whatif_call {
	enum gap_cause cause;
	const char *label, *name;
};

/* call_class: enum profile_call_class */
const struct whatif_call *chart_whatif_call(int call_class);

/* Which lanes things of a row go into, PROFILE_NONE where a side does not show it. */
struct row_lanes {
	uint32_t own, aside;
};

/* One half of the picture. */
struct half {
	const struct side *side;
	struct row_lanes host;
	struct row_lanes *of_rows; /* as rows.rows[] */
	size_t line;		   /* of its heading, in rows */
	double top, bottom;	   /* with space between the halves, where there is any */
};

struct whatif_chart {
	const struct report *report;
	const struct scenario *scenario;
	const struct side_by_side *sides;
	struct chart_rows rows;
	bool *is_shown; /* as rows.rows[] */
	size_t shown_count;
	struct half halves[2]; /* before, after */
	struct chart_lanes picture;
	uint8_t *kernel_colors;
	int text_columns;
	double label_width; /* of the longest label: text_extent() */
};

static inline int64_t chart_whatif_length_ns(const struct side *side)
{
	return side->end_ns > side->start_ns ? side->end_ns - side->start_ns : 1;
}

/* heads.dat, rows.dat and whatif.gp, once everything is filled in, or a whatif.gp that says why nothing changes.
 * Return a negative errno described in err. */
int chart_whatif_write_heads(const struct whatif_chart *chart, const char *folder, struct err *err);
int chart_whatif_write_rows(const struct whatif_chart *chart, const char *folder, struct err *err);
int chart_whatif_write_settings(const struct whatif_chart *chart, const char *folder,
				struct err *err);
int chart_whatif_write_nothing(const struct scenario *scenario, const char *folder,
			       struct err *err);

#endif
