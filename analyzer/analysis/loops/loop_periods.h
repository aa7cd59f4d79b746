/*
 * loop_periods.h - distances at which tokens come again, and where they do.
 *
 * Knows nothing of iterations: a stretch is a part of a thread in which more
 * than half of the tokens equal those a period before.  Taken tokens equal none.
 */
#ifndef ROOFLINE_LOOP_PERIODS_H
#define ROOFLINE_LOOP_PERIODS_H

#include "analysis/loops/loop_tokens.h"

#define PERIODS_MOST 16

struct periods {
	size_t items[PERIODS_MOST]; /* ascending */
	size_t count;
};

struct stretch {
	size_t first, end; /* tokens */
	size_t period;
	size_t score; /* equal tokens less others */
};

struct stretches {
	struct stretch *items; /* best first */
	size_t count, capacity;
};

/* The distances at which most tokens, and runs of up to 64 of them, were seen before; none longer
 * than longest.  Linear.  Returns 0 or -ENOMEM. */
int periods_find(struct periods *periods, const struct tokens *tokens, size_t longest);

/* Stretches of all periods, of least_repeats periods and more; they overlap.  Linear, but for
 * sorting them.  Returns 0 or -ENOMEM; free also after a failure. */
int stretches_find(struct stretches *found, const struct tokens *tokens,
		   const struct periods *periods, size_t least_repeats);
void stretches_free(struct stretches *found);

#endif
