/*
 * chart_plane.h - charts of points and lines between two axes, for plots/plane.gp.
 *
 * Positions are turned into pixels (characters of a terminal) here, because
 * labels have to find their places in them.  It must not know what is shown.
 */
#ifndef ROOFLINE_CHART_PLANE_H
#define ROOFLINE_CHART_PLANE_H

#include "base/format.h"
#include "charts/chart_file.h"
#include "charts/chart_labels.h"
#include "charts/charts.h"

#define PLANE_TEXT_HEIGHT 15.0
#define PLANE_NOTES 16	 /* lines below the plot */
#define PLANE_LETTERS 26 /* marks that a terminal can name */

struct plane_axis {
	double low, high;		     /* low < high */
	bool is_log, is_cells;		     /* is_cells: of a terminal, positions are whole */
	double length;			     /* pixels or characters */
	struct figure (*tick)(double value); /* how to write a value at the axis */
};

/* What plots/plane.gp draws in dashes and widths. */
enum plane_line {
	PLANE_SOLID = 1, /* the roof that matters most */
	PLANE_DASHED,
	PLANE_DOTTED,
	PLANE_DASH_DOTTED,
	PLANE_THIN,   /* joins what belongs together */
	PLANE_GUIDE,  /* helps the eye: a position on an axis */
	PLANE_LEADER, /* from a mark to its number */
};

enum plane_mark {
	PLANE_CIRCLE = 1, /* filled, of that radius */
	PLANE_SQUARE,	  /* hollow and small, as the following */
	PLANE_TRIANGLE,
	PLANE_DIAMOND, /* large and filled */
	PLANE_CROSS,   /* wrong data */
	PLANE_RING,    /* around a circle */
};

#define PLANE_DIAMOND_RADIUS 12 /* as large as plots/plane.gp draws it */

struct plane {
	struct plane_axis x, y;
	bool is_text;
	struct label_layout layout;
	struct chart_file xtics, ytics, lines, marks, labels, rising;
	char notes[PLANE_NOTES][512];
	size_t note_count;
	double note_room; /* of a line of notes */
	double angle;	  /* degrees of labels that follow a rising line */
};

/* Opens the column files in folder; the axes' lengths and tick functions are set, their ranges are
 * for the caller to fill in before anything is drawn.  plane_close in any case. */
int plane_open(struct plane *plane, const struct chart_options *options, const char *folder,
	       struct err *err);
int plane_close(struct plane *plane, int rc, struct err *err);

/* From the decade below low to high, at least so many decades. */
void plane_fit_log(struct plane_axis *axis, double low, double high, int least_decades);

/* Position on the plot. */
double plane_at(const struct plane_axis *axis, double value);

void plane_put_tics(struct plane *plane);

/* A straight line between two points in the axes' units, and what labels have to keep off. */
void plane_put_line(struct plane *plane, double x1, double y1, double x2, double y2,
		    enum plane_line line, int color);

/* A point of a curve; plane_end_curve after its last. */
void plane_put_curve(struct plane *plane, double x, double y, enum plane_line line, int color);
void plane_end_curve(struct plane *plane);

/* letter: what stands for it in a terminal.  Marks outside the ranges are moved to their edge. */
void plane_put_mark(struct plane *plane, double x, double y, double radius, enum plane_mark mark,
		    int color, char letter);

/* A mark becomes an obstacle for labels.  Do so for all before the first label. */
void plane_take_mark(struct plane *plane, double x, double y, double radius);

/* Text beside a mark; where there is no room, false and nothing is written. */
bool plane_put_beside(struct plane *plane, double x, double y, double radius, const char *text);

/* The same with a number, which always finds a place: a line leads to it where that is not beside the mark. */
void plane_put_number(struct plane *plane, double x, double y, double radius, size_t number);

/* Text above a level line, at its right end where there is room; or below, or further left. */
void plane_put_level_label(struct plane *plane, double y, const char *text, int color);

/* Text along a line that rises by plane->angle, above it, where it lies on the fewest obstacles. */
void plane_put_rising_label(struct plane *plane, double x1, double y1, double x2, double y2,
			    const char *text, int color);

/* Text to the right of an upright line, at the top of the plot. */
void plane_put_upright_label(struct plane *plane, double x, const char *text, int color);

/* Adds text to the notes below: to the last line where is_new_line is false and there is room. */
void plane_note(struct plane *plane, bool is_new_line, const char *text);

/* Assignments for plots/plane.gp. */
void plane_settings(struct plane *plane, struct chart_file *file, const char *folder,
		    const char *x_title, const char *y_title);

/* Values for axes: 1 us, 10 TFLOP/s, 0.01, 1 million. */
struct figure plane_tick_ns(double ns);
struct figure plane_tick_flops(double flop_per_s);
struct figure plane_tick_number(double number);
struct figure plane_tick_count(double count);
struct figure plane_tick_percent(double share);
struct figure plane_tick_bytes(double bytes); /* of powers of 1000, as its axis is */
struct figure plane_tick_rate(double byte_per_s);

#endif
