/*
 * verify.h - a comparison of two recordings, for people and for programs.
 */
#ifndef ROOFLINE_VERIFY_H
#define ROOFLINE_VERIFY_H

#include "analysis/compare/comparison.h"
#include "output/outputs.h"

/* Writes it; of the options only the color matters.  Fails with -EIO or -ENOMEM. */
typedef int (*verify_writer)(const struct comparison *comparison, FILE *out,
			     const struct output_options *options, struct err *err);

int verify_write_text(const struct comparison *comparison, FILE *out,
		      const struct output_options *options, struct err *err);
int verify_write_json(const struct comparison *comparison, FILE *out,
		      const struct output_options *options, struct err *err);

#endif
