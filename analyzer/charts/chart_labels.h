/*
 * chart_labels.h - finds places for labels so that none lies on another or on a mark.
 *
 * Pure arithmetic in the units of the picture (pixels), counted from the lower
 * left of the plot.  The same labels in the same order get the same places: the
 * more important ones are placed first.
 */
#ifndef ROOFLINE_CHART_LABELS_H
#define ROOFLINE_CHART_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_BOXES 512
#define LABEL_SEGMENTS 64

struct label_box {
	double left, bottom, right, top;
};

struct label_segment {
	double x1, y1, x2, y2;
};

struct label_layout {
	double width, height;		     /* of the plot: labels stay inside */
	struct label_box taken[LABEL_BOXES]; /* beyond that many, obstacles are forgotten */
	size_t taken_count;
	struct label_segment segments[LABEL_SEGMENTS]; /* lines: crossed only when it must be */
	size_t segment_count;
	struct label_box marks[LABEL_BOXES]; /* those of the taken that labels belong to */
	size_t mark_count;
};

void label_layout_init(struct label_layout *layout, double width, double height);

/* Obstacles: a text, a mark that has a label of its own, and a line of a chart. */
void label_take(struct label_layout *layout, struct label_box box);
void label_take_mark(struct label_layout *layout, struct label_box box);
void label_cross(struct label_layout *layout, struct label_segment segment);

/* A box around a point. */
struct label_box label_around(double x, double y, double half_width, double half_height);

/*
 * A place for a text of that size beside a mark of that radius: the one of
 * several around it that is free, nearer to it than to any other mark, and crosses
 * the fewest lines.  Takes the place.
 * False when none is free; then nothing is taken.
 */
bool label_beside(struct label_layout *layout, double x, double y, double radius, double width,
		  double height, struct label_box *place);

/* The same, but where none is free beside the mark (is_beside) the nearest free one farther away, for a line to lead to it;
 * at last the one that lies on the fewest others.  Always finds one. */
struct label_box label_near(struct label_layout *layout, double x, double y, double radius,
			    double width, double height, bool *is_beside);

/* Of the places that are free the first one that crosses the fewest lines, else the first; takes it. */
struct label_box label_first(struct label_layout *layout, const struct label_box *places,
			     size_t count);

/* How many obstacles lie under the box. */
size_t label_overlaps(const struct label_layout *layout, const struct label_box *box);

#endif
