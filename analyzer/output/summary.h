/*
 * summary.h - what a summary of many ranks tells, for people and for programs.
 */
#ifndef ROOFLINE_OUTPUT_SUMMARY_H
#define ROOFLINE_OUTPUT_SUMMARY_H

#include "output/outputs.h"
#include "summary/overview.h"

/* Its tables, as CSV has them one at a time; the first is that of no name. */
#define OVERVIEW_TABLES(TABLE) \
	TABLE(ranks) TABLE(hosts) TABLE(kernels) TABLE(idle) TABLE(collectives)

/* " ranks hosts ...", for sentences that list them. */
#define OVERVIEW_TABLE_NAME(name) " " #name
#define OVERVIEW_TABLE_NAMES OVERVIEW_TABLES(OVERVIEW_TABLE_NAME)

/* The number of the table of that name; -1: there is none. */
int overview_find_table(const char *name);

/* Writes it; of the options text minds color, top, wide and width, the others none; CSV has that table.  Fails with -EIO
 * or -ENOMEM. */
typedef int (*overview_writer)(const struct overview *overview, FILE *out,
			       const struct output_options *options, int table, struct err *err);

#define OVERVIEW_PROTOTYPE(name, summary)                                          \
	int overview_write_##name(const struct overview *overview, FILE *out,      \
				  const struct output_options *options, int table, \
				  struct err *err);
OUTPUTS(OVERVIEW_PROTOTYPE)
#undef OVERVIEW_PROTOTYPE

#endif
