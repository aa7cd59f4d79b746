/*
 * dependencies.h - who waits for whom: calls for operations, and operations for each other (model.h says by what rules).
 *
 * Known to model.c only.  Linear in calls and operations but for sorting.
 */
#ifndef ROOFLINE_DEPENDENCIES_H
#define ROOFLINE_DEPENDENCIES_H

#include "replay/model.h"

/* Fills in order, waiting, awaited, predecessors, crossing, cross_streams, and behavior and is_called_back of the traits of a model whose arrays are there, but
 * order, and whose submissions are known.  Returns 0 or -ENOMEM. */
int dependencies_find(struct model *model);

/* Room for so many operations, as yet PROFILE_NONE; NULL without memory. */
uint32_t *dependencies_none(size_t count);

#endif
