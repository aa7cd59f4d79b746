/*
 * counted_idle.h - the idle time that followed the launches of each kernel, of each counted graph and of the
 * application.
 *
 * Private to counted.c.
 */
#ifndef ROOFLINE_ANALYSIS_COUNTED_IDLE_H
#define ROOFLINE_ANALYSIS_COUNTED_IDLE_H

#include "analysis/counters/counted.h"

/* Fills in the idle members of counted's works.  finder: as of counted_build().  Returns 0 or a negative errno. */
int counted_add_idle(struct counted *counted, const struct gap_finder *finder);

#endif
