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

#define VERIFY_PROTOTYPE(name, summary)                                         \
	int verify_write_##name(const struct comparison *comparison, FILE *out, \
				const struct output_options *options, struct err *err);
OUTPUTS(VERIFY_PROTOTYPE)
#undef VERIFY_PROTOTYPE

#endif
