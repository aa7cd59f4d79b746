/*
 * scale.h - what several GPUs would bring, for people and for programs.
 */
#ifndef ROOFLINE_SCALE_H
#define ROOFLINE_SCALE_H

#include "output/outputs.h"
#include "whatif/data_parallel.h"

/* Writes it; of the options only the color matters.  Fails with -EIO or -ENOMEM. */
typedef int (*scale_writer)(const struct data_parallel *found, FILE *out,
			    const struct output_options *options, struct err *err);

#define SCALE_PROTOTYPE(name, summary)                                       \
	int scale_write_##name(const struct data_parallel *found, FILE *out, \
			       const struct output_options *options, struct err *err);
OUTPUTS(SCALE_PROTOTYPE)
#undef SCALE_PROTOTYPE

#endif
