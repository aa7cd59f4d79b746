/*
 * compare.h - a comparison of two or more sides, for people and for programs.
 */
#ifndef ROOFLINE_COMPARE_H
#define ROOFLINE_COMPARE_H

#include "analysis/compare/sides.h"
#include "output/outputs.h"

/* Writes it; of the options text minds color, top and wide, the others none.  Fails with -EIO or -ENOMEM. */
typedef int (*compare_writer)(const struct sides *sides, FILE *out,
			      const struct output_options *options, struct err *err);

#define COMPARE_PROTOTYPE(name, summary)                               \
	int compare_write_##name(const struct sides *sides, FILE *out, \
				 const struct output_options *options, struct err *err);
OUTPUTS(COMPARE_PROTOTYPE)
#undef COMPARE_PROTOTYPE

/* "A" of the first side, "B"; from the 27th on "27". */
struct side_letter {
	char text[24];
};
struct side_letter side_letter(size_t side);

#endif
