/*
 * iteration.h - when the N-th iteration of the loop that a program mainly repeats ran, as the steady state counts them.
 */
#ifndef ROOFLINE_ITERATION_H
#define ROOFLINE_ITERATION_H

#include "analysis/time/occurrence.h"

#define ITERATION_NAME "iteration"

/* number: from 1, without the warm-up.  Of several devices that of the first one with a steady state.  Fails with
 * -ENOENT, described in err, where nothing repeats or not as often, or with -ENOMEM. */
int iteration_find(struct occurrence *out, const struct profile *profile, uint64_t number,
		   struct err *err);

#endif
