/*
 * merged_atomics.h - kernels that atomics bind, with some of them merged into one.
 */
#ifndef ROOFLINE_MERGED_ATOMICS_H
#define ROOFLINE_MERGED_ATOMICS_H

#include "analysis/counters/atomics.h"
#include "techniques/application.h"

/* As many in one as application->number says; where that is 0 as many as a kernel needs for them to matter no more.
 * Counters of several devices are of one kernel together: only where there is one.  Returns how many launches that
 * changes. */
size_t merged_atomics_change(struct application *application, enum atomics_merging where);

#endif
