/*
 * whatif.h - what several strategies at once would bring, for people and for programs.
 */
#ifndef ROOFLINE_WHATIF_H
#define ROOFLINE_WHATIF_H

#include "whatif/scenario.h"
#include "output/outputs.h"

/* Writes it; of the options only the color matters.  Fails with -EIO or -ENOMEM. */
typedef int (*whatif_writer)(const struct scenario *scenario, FILE *out,
			     const struct output_options *options, struct err *err);

#define WHATIF_PROTOTYPE(name, summary)                                     \
	int whatif_write_##name(const struct scenario *scenario, FILE *out, \
				const struct output_options *options, struct err *err);
OUTPUTS(WHATIF_PROTOTYPE)
#undef WHATIF_PROTOTYPE

/* Every technique: its option, what it changes, assumes, and when it is refused.  Fails with -EIO. */
int whatif_write_list(FILE *out, const struct output_options *options, struct err *err);

#endif
