/*
 * calls.h - what a call does, as far as techniques ask for it.
 */
#ifndef ROOFLINE_CALLS_H
#define ROOFLINE_CALLS_H

#include "replay/model.h"

/* The operation that a call submitted, of a kind; NULL when there is none. */
const struct profile_op *call_op(const struct model *model, size_t call, unsigned int kind);

/* Also by a graph. */
bool call_copies_to_host(const struct model *model, size_t call);

/* Whether it is a launch or a copy. */
bool call_is_submitting(const struct model *model, size_t call);

/* The end of calls [first, end), of which there is one, without those after the last one that submits. */
size_t calls_last_submitting(const struct model *model, size_t first, size_t end);

/* The only operation that a call submitted, when that is a kernel of no graph; NULL otherwise. */
const struct profile_op *call_only_kernel(const struct model *model, size_t call);

/* Also of a call that copies nothing. */
bool call_is_capturable_copy(const struct model *model, size_t call);

/* The host's own time before a call, which is not the first of its thread; without what reading counters took. */
int64_t call_pause_ns(const struct model *model, size_t call);

/* Percent of the GPU's SMs that get a block of a kernel, rounded; 100 for all else. */
unsigned int call_fill(const struct profile *profile, const struct profile_op *op);

#endif
