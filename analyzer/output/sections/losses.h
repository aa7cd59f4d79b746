/*
 * losses.h - sums of what a run lost, for the sections that tell of one.
 */
#ifndef ROOFLINE_LOSSES_H
#define ROOFLINE_LOSSES_H

#include "output/columns.h"
#include "trace/profile.h"

/* The index-th kind of loss and its count over all processes.  Returns false after the last kind. */
bool loss_sum_at(const struct profile *profile, size_t index, struct entry *entry);

#endif
