/*
 * compare_sides.h - which recordings are the repeats of which side, as the command line says.
 */
#ifndef ROOFLINE_COMPARE_SIDES_H
#define ROOFLINE_COMPARE_SIDES_H

#include "analysis/compare/sides.h"

/* A side of this recording, or of all that lie directly in this folder where it is none itself, in the order of their
 * names.  Fails, described in err, with -ENOENT when there is none, or with -ENOMEM. */
int compare_sides_add(struct sides *sides, const char *path, struct err *err);

/* The same as further repeats of the last side. */
int compare_sides_add_repeats(struct sides *sides, const char *path, struct err *err);

#endif
