/*
 * search.h - every way to search, once.
 *
 * To add one: write analyzer/tune/searches/foo.c with tune_search_foo() and add its SEARCH row here.
 *
 * A search sees what was tried and names the point to try next.  It keeps nothing in between, so the same seed and
 * the same measurements lead to the same points, whether they are measured now or were stored.
 */
#ifndef ROOFLINE_TUNE_SEARCH_H
#define ROOFLINE_TUNE_SEARCH_H

#include <stdint.h>

#include "tune/history.h"

/* SEARCH(name, summary), in the order that --help shows them */
#define TUNE_SEARCHES(SEARCH)                                                                    \
	SEARCH(exhaustive, "every point, in order")                                              \
	SEARCH(random, "points by chance")                                                       \
	SEARCH(genetic, "the best points are crossed and changed a little")                      \
	SEARCH(bayesian, "where a Gaussian process expects most improvement")                    \
	SEARCH(model, "the same with trends and what is known of the launch; skips what cannot " \
		      "be better, and stops when nothing can")

struct tune_task {
	const struct tune_history *history;
	size_t most_trials;
	const struct profile_device *device; /* its limits; NULL: not known */
	double noise;	    /* what is better by less than this is not worth a trial, 0.01 for 1% */
	double least_value; /* the roof: no value can be better; 0: not known */
	unsigned short random[3]; /* of erand48 */
	bool *is_impossible;	  /* by point: the GPU cannot launch it; NULL: nothing is known */
};

/* The point to try next, or TUNE_NO_POINT: it is done.  out of memory is TUNE_NO_POINT as well. */
typedef size_t (*tune_search)(struct tune_task *task);

#define SEARCH_PROTOTYPE(name, summary) size_t tune_search_##name(struct tune_task *task);
TUNE_SEARCHES(SEARCH_PROTOTYPE)
#undef SEARCH_PROTOTYPE

struct tune_search_kind {
	const char *name, *summary;
	tune_search next;
};

/* The table of them, which ends with a name of NULL. */
extern const struct tune_search_kind tune_searches[];

/* NULL: there is none of that name. */
const struct tune_search_kind *tune_search_find(const char *name);

/* ---- for searches ---- */

void tune_seed(struct tune_task *task, uint32_t seed);

/* A whole number from 0 to count - 1. */
size_t tune_draw(struct tune_task *task, size_t count);

/* Not tried, and not known to be impossible. */
bool tune_is_open(const struct tune_task *task, size_t point);

/* Any of the open points; TUNE_NO_POINT where there is none. */
size_t tune_pick_random(struct tune_task *task);

/* One of values that were tried least often, far from what was tried: a few of these tell most about a space. */
size_t tune_pick_spread(struct tune_task *task);

#endif
