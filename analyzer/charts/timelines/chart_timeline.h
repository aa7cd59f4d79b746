/*
 * chart_timeline.h - what the parts of the timeline share.
 *
 * Private to chart_timeline.c, which chooses rows and fills them, chart_timeline_strips.c and
 * chart_timeline_text.c.
 */
#ifndef ROOFLINE_CHART_TIMELINE_H
#define ROOFLINE_CHART_TIMELINE_H

#include "charts/timelines/chart_lanes.h"
#include "charts/timelines/strip_shapes.h"

struct timeline_chart {
	const struct report *report;
	struct chart_rows rows;
	struct chart_lanes picture; /* its items as rows.rows[] */
	bool *is_odd;		    /* as rows.rows[], of ranges: which of the two colors is next */
	uint8_t *kernel_colors;
	int64_t first_ns; /* first operation of any device */
	int text_columns;
	double label_width;			   /* of the widest label: text_extent() */
	const struct occurrence *occurrence;	   /* what is zoomed to, or NULL */
	struct chart_file areas, peaks, unsampled; /* of strips, only for pictures */
	int *area_colors;			   /* two for each row are enough */
	int area_count, unsampled_count;
	struct chart_strip_scales scales;
	struct chart_idle idle;
};

/* The second line of a row's label: what the full height of a strip stands for, "" of other rows and in characters. */
#define CHART_SCALE_SIZE 64
void chart_timeline_describe_scale(char text[CHART_SCALE_SIZE], const struct timeline_chart *chart,
				   const struct chart_row *row);

/* Writes the samples of every strip.  Returns 0 or -ENOMEM. */
int chart_timeline_add_strips(struct timeline_chart *chart);

/* rows.dat and timeline.gp, once everything is filled in.  Return a negative errno described in err. */
int chart_timeline_write_rows(const struct timeline_chart *chart, const char *folder,
			      struct err *err);
int chart_timeline_write_settings(const struct timeline_chart *chart, const char *folder,
				  struct err *err);

#endif
