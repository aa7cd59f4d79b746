/*
 * outputs.h - every format of a report, once.  sections.h has the sections.
 *
 * To add a format: write analyzer/output/foo.c with output_foo() and add its
 *                  OUTPUT row here.
 */
#ifndef ROOFLINE_OUTPUTS_H
#define ROOFLINE_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "advice/advice.h"
#include "analysis/report.h"
#include "output/sections.h"

/* Of JSON and CSV: raised when a key or column changes its meaning or goes; new ones do not. */
#define OUTPUT_SCHEMA 4

/* OUTPUT(name, summary) */
#define OUTPUTS(OUTPUT)                             \
	OUTPUT(text, "for people, 80 columns wide") \
	OUTPUT(json, "everything, for programs")    \
	OUTPUT(csv, "one section as a table, kernels unless --section says otherwise")

/* " text json csv", for sentences that list them. */
#define OUTPUT_NAME(name, summary) " " #name
#define OUTPUT_NAMES OUTPUTS(OUTPUT_NAME)

struct output_options {
	const struct section *const *sections; /* NULL after the last; NULL: all (CSV: kernels) */
	bool has_holes; /* operations were left out within the time: nothing is asked of advice */
	const struct row_order *order; /* of one section's rows (order.h); NULL: its own */
	size_t top;		       /* rows of each list; 0 for the format's own choice */
	bool wide;		       /* text: names in full */
	bool color;		       /* text: emphasis by escape sequences */
	size_t width;		       /* text: columns of a line; 0: PAGE_WIDTH */
	/* With section_advice also what was rejected (but in CSV); text: with each recommendation the
	 * command that checks it. */
	bool is_advice_only;
	bool is_verdict_only; /* with section_verdict also the plan, and what to do next */
	bool is_begun;	      /* text: what output_text_begin() writes is there already */
	const char *range;    /* the NVTX range that was predicted; NULL: none */
};

/* Writes the report.  Fails with -EIO when the file cannot be written, or -ENOMEM. */
typedef int (*output_function)(const struct report *report, FILE *out,
			       const struct output_options *options, struct err *err);

#define OUTPUT_PROTOTYPE(name, summary)                           \
	int output_##name(const struct report *report, FILE *out, \
			  const struct output_options *options, struct err *err);
OUTPUTS(OUTPUT_PROTOTYPE)
#undef OUTPUT_PROTOTYPE

/* What text tells before advice is found: devices, and of the verdict what was measured. */
int output_text_begin(const struct report *report, FILE *out, const struct output_options *options,
		      struct err *err);

/* As OUTPUTS lists them. */
extern const output_function outputs[];

#endif
