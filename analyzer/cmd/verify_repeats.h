/*
 * verify_repeats.h - of several recordings of one side the one that stands for it.
 */
#ifndef ROOFLINE_VERIFY_REPEATS_H
#define ROOFLINE_VERIFY_REPEATS_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/sides.h"

struct verify_side {
	struct sides sides; /* one, with its repeats */
	const char *
		path; /* borrowed: the repeat with the median time, of an even number the shorter of both */
	struct compared_repeats repeats;
};

/* The recording at path, or of those that lie directly in that folder (compare_sides.h) the one with the median time of
 * the run, or of the range.  Fails, described in err, as comparison_time() does, with -ENOENT for a range only, and when one
 * cannot be read.  The caller gives it back with verify_side_free(), also on failure. */
int verify_side_choose(struct verify_side *side, const char *path, const char *range,
		       struct err *err);

void verify_side_free(struct verify_side *side);

#endif
