/*
 * chart_file.h - the files between a chart and its gnuplot script.
 *
 * Everything that comes from a recording passes through here, so that no name
 * in it can become a gnuplot command or break a column.
 */
#ifndef ROOFLINE_CHART_FILE_H
#define ROOFLINE_CHART_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct chart_file {
	FILE *stream;
	char path[4096];
};

/* Creates folder/name.  Returns 0 or a negative errno described in err. */
int chart_file_open(struct chart_file *file, const char *folder, const char *name, struct err *err);

/* Closes it; fails when anything could not be written.  A file never opened is fine.
 * rc: what happened so far, returned if negative. */
int chart_file_close(struct chart_file *file, int rc, struct err *err);

/* A column of text: tabs, line ends, quotes and backslashes are replaced.
 * An empty one is written as two quotes, as every empty column has to be. */
void chart_put_text(struct chart_file *file, const char *text);

/* A gnuplot assignment: name = 'text'. */
void chart_set_text(struct chart_file *file, const char *name, const char *text);
void chart_set_number(struct chart_file *file, const char *name, double value);

/* name = 'path of a column file': called name.dat in folder. */
void chart_set_data(struct chart_file *file, const char *name, const char *folder);

#endif
