/*
 * check_every.h - how often a loop that goes on until a flag says otherwise should read it.
 */
#ifndef ROOFLINE_CHECK_EVERY_H
#define ROOFLINE_CHECK_EVERY_H

#include "analysis/loops/loops.h"
#include "techniques/application.h"

/* Reading after every k-th iteration costs check_ns / k for each, and about k / 2 iterations too many at the end. */
struct checked_loop {
	size_t every;	     /* the k for which both together are least; 1: each */
	double iteration_ns; /* without reading: the GPU's time or the host's, whichever is more */
	double check_ns;     /* what an iteration takes longer than that */
};

struct checked_loop check_every_of(const struct recorded_run *run, const struct loop *loop);

#endif
