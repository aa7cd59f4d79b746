/*
 * counted_idle.h - the idle time that followed the launches of each kernel, of each counted graph and of the
 * application.
 *
 * Private to counted.c.
 */
#ifndef ROOFLINE_ANALYSIS_COUNTED_IDLE_H
#define ROOFLINE_ANALYSIS_COUNTED_IDLE_H

#include "analysis/counters/counted.h"

/* Fills in the idle members of counted's works, but for what counted_add_gap() adds. */
void counted_add_launches(struct counted *counted);

#endif
