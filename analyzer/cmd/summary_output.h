/*
 * summary_output.h - where a summary goes, alike for the commands that make one: into a file with -o, else to stdout for
 * people or programs.
 *
 * A command names summary_output_argp as a child of its parser and hands it its struct summary_output.
 */
#ifndef ROOFLINE_SUMMARY_OUTPUT_H
#define ROOFLINE_SUMMARY_OUTPUT_H

#include <argp.h>

#include "cmd/usage.h"
#include "output/summary.h"

struct summary_output {
	const char *path; /* NULL: it is shown */
	bool has_format;
	enum usage_format format;
	const char *table;
	struct output_options options;
};

extern const struct argp summary_output_argp;

/* Writes or shows it. */
int summary_output(const struct summary_output *output, const struct summary *summary,
		   struct err *err);

#endif
