/*
 * chart_lanes.h - rows of bars along one axis of time, as a picture or as characters.
 *
 * A lane takes intervals, reduces them (raster.h), and writes what is left of them: of a picture one bar
 * per run and class, stacked by their shares; of characters one letter per cell.  Lanes may lie on one
 * another: later ones are drawn over earlier ones.  It must not know what is shown.
 */
#ifndef ROOFLINE_CHART_LANES_H
#define ROOFLINE_CHART_LANES_H

#include "charts/chart_colors.h"
#include "charts/timelines/chart_rows.h"
#include "charts/quantity.h"
#include "charts/timelines/raster.h"

#define CHART_PICTURE_COLUMNS 2000
#define CHART_LEAST_COLUMNS 10
#define CHART_TERM_FRAME_COLUMNS 5 /* of characters: borders and space for the axis */

struct chart_lanes;

struct chart_lane {
	struct chart_lanes *lanes;
	enum chart_row_kind kind; /* how labels are shortened, and whether characters have any */
	int color;		  /* enum chart_color of class 0 */
	size_t row;		  /* of characters: its line */
	double top, height;	  /* in rows of characters or of operations */
	struct raster raster;	  /* what it shows is added here */
	int64_t (*cells)[RASTER_CLASSES]; /* as many as columns; only for characters */
};

/* The first members are the caller's to set. */
struct chart_lanes {
	int64_t origin_ns, from_ns, to_ns; /* absolute; the axis is 0 at the origin */
	const struct quantity_unit *unit;
	const struct kernel_labels *kernel_labels; /* borrowed */
	int columns;
	bool is_text;
	struct chart_lane *items; /* owned; each has its kind, color, row, top and height */
	size_t count;

	struct chart_file spans, labels; /* labels: names of ranges, only for characters */
	bool colors_seen[COLOR_END];
	bool has_partial; /* some bar is lower than its row */
};

/* Columns of a drawing made of characters that wide, beside labels that wide; text_columns 0: of a
 * picture. */
int chart_columns(int text_columns, double label_width);

double chart_axis(const struct chart_lanes *lanes, int64_t time_ns);

/* Where the ratio of a lane's height lies: rows count downwards, what is in one stands on its lower
 * edge. */
double chart_lane_y(const struct chart_lane *lane, double ratio);

/* Makes room for count lanes, all 0.  Returns 0 or -ENOMEM; chart_lanes_free in either case. */
int chart_lanes_allocate(struct chart_lanes *lanes, size_t count);
/* After that, and after all members were set.  Returns 0 or -ENOMEM. */
int chart_lanes_begin(struct chart_lanes *lanes);
void chart_lanes_free(struct chart_lanes *lanes);

/* Creates spans.dat and labels.dat in folder; chart_lanes_close in either case, which passes a
 * negative rc on.  Between them intervals are added, then finish. */
int chart_lanes_open(struct chart_lanes *lanes, const char *folder, struct err *err);
int chart_lanes_finish(struct chart_lanes *lanes);
int chart_lanes_close(struct chart_lanes *lanes, int rc, struct err *err);

#endif
