/*
 * waits.h - which waits of a loop are its own, so that a technique may leave them out.
 */
#ifndef ROOFLINE_WAITS_H
#define ROOFLINE_WAITS_H

#include "replay/change.h"
#include "analysis/loops/loops.h"

/* Waits among calls [first, end). */
size_t waits_count(const struct model *model, size_t first, size_t end);

/* Waits of an iteration that waits more often than the second one are not the loop's, as those around a part that
 * is timed; and after the whole loop somebody reads the results.  These stay although they were dropped. */
void waits_keep_others(struct change *change, const struct model *model, const struct loop *loop);

/* Whether a host waits in the loop for a copy to another GPU: then it may tell the host of that one to go on, which no
 * recording shows. */
bool waits_hand_over(const struct model *model, const struct loop *loop);

#endif
