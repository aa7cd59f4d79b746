/*
 * flag_loops.h - loops of equal iterations, after each of which the host reads a few bytes and decides whether to go on.
 */
#ifndef ROOFLINE_FLAG_LOOPS_H
#define ROOFLINE_FLAG_LOOPS_H

#include "analysis/loops/loops.h"
#include "replay/model.h"

/* What is read to decide by: a copy of a few bytes to the host, by a call of its own or as a node of a graph. */
bool flag_loops_is_flag(const struct profile *profile, const struct profile_op *op);

bool flag_loops_is_one(const struct model *model, const struct loop *loop);

#endif
