/*
 * try.h - what running a program with and without a strategy found, for people and for programs.
 */
#ifndef ROOFLINE_OUTPUT_TRY_H
#define ROOFLINE_OUTPUT_TRY_H

#include "output/outputs.h"
#include "trial/trial.h"

/* Writes it; of the options only the color matters.  Fails with -EIO or -ENOMEM. */
typedef int (*try_writer)(const struct trial *trial, FILE *out,
			  const struct output_options *options, struct err *err);

#define TRY_PROTOTYPE(name, summary)                               \
	int try_write_##name(const struct trial *trial, FILE *out, \
			     const struct output_options *options, struct err *err);
OUTPUTS(TRY_PROTOTYPE)
#undef TRY_PROTOTYPE

#endif
