/*
 * gnuplot.h - runs gnuplot on a chart, without a shell.
 *
 * It must not know what a chart shows.
 */
#ifndef ROOFLINE_GNUPLOT_H
#define ROOFLINE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* GNUPLOT_FORMAT(name, meaning): where a chart can go */
#define GNUPLOT_FORMATS(FORMAT)                   \
	FORMAT(svg, "vector picture for the web") \
	FORMAT(png, "pixel picture")              \
	FORMAT(pdf, "vector picture for paper")   \
	FORMAT(term, "characters")

#define GNUPLOT_FORMAT_CONSTANT(name, meaning) GNUPLOT_FORMAT_##name,
enum gnuplot_format { GNUPLOT_FORMATS(GNUPLOT_FORMAT_CONSTANT) GNUPLOT_FORMAT_COUNT };
#undef GNUPLOT_FORMAT_CONSTANT

struct gnuplot_target {
	enum gnuplot_format format;
	int columns;	/* width of the terminal, term only */
	bool has_color; /* term only */
	const char *
		part; /* what part of a recording it is, in a line below the titles; NULL: all of it */
};

const char *gnuplot_format_name(enum gnuplot_format format);

/* Draws folder/NAME.gp with the installed script plots/NAME.gp into out, whose errors are the caller's to look at.  Fails
 * with -ENOENT when gnuplot is not installed and with -EIO and its own words when it cannot draw. */
int gnuplot_draw(const char *name, const char *folder, const struct gnuplot_target *target,
		 FILE *out, struct err *err);

#endif
