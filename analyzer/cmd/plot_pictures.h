/*
 * plot_pictures.h - where plot's charts go, and drawing one there.
 */
#ifndef ROOFLINE_PLOT_PICTURES_H
#define ROOFLINE_PLOT_PICTURES_H

#include <limits.h>

#include "charts/charts.h"
#include "charts/gnuplot.h"
#include "cmd/selection.h"

struct pictures {
	enum gnuplot_format format;
	const char *asked_folder; /* NULL: that of the recording */
	char folder[PATH_MAX];	  /* of pictures_open */
	char part_name[SELECTION_FILE_NAME_SIZE +
		       1]; /* what is added to the names of pictures: "-range-run", or nothing */
};

/* Makes the folder: without a choice charts/ and the recording's path, so that no recording's pictures take the place of
 * another's.  Returns 0 or a negative errno described in err. */
int pictures_open(struct pictures *pictures, const char *recording, struct err *err);

/* Width of a drawing in the terminal: COLUMNS, else the terminal's own, else 80; 0 of a picture. */
int pictures_columns(const struct pictures *pictures);

/* Draws one chart and prints where it is, or the chart itself.  Returns 0, -ENODATA where the recording has nothing to show,
 * as err says, and then an older picture is removed, or another negative errno described in err. */
int pictures_draw(const struct pictures *pictures, const char *chart, chart_writer write,
		  const struct report *report, const struct chart_options *options,
		  struct err *err);

#endif
