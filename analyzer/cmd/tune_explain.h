/*
 * tune_explain.h - why one point is faster than another: what hardware counters say of both.
 */
#ifndef ROOFLINE_TUNE_EXPLAIN_H
#define ROOFLINE_TUNE_EXPLAIN_H

#include "cmd/tune_options.h"

/* Records both with counters into folder, and prints what differs.  Fails described in err. */
int tune_explain(const struct tune_options *options, const char *folder, size_t before,
		 size_t after, struct err *err);

/* Records a point with counters into folder, which is removed again, and returns the time that the arithmetic of the
 * kernels takes at its roof: the same work takes no less at any other point.  0 where it is not known. */
double tune_roof(const struct tune_options *options, const char *folder, size_t point);

#endif
