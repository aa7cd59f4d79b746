/*
 * loop_text.h - a loop in words: what it launches, how often, and where.
 */
#ifndef ROOFLINE_LOOP_TEXT_H
#define ROOFLINE_LOOP_TEXT_H

#include "replay/model.h"
#include "analysis/loops/loops.h"

/* "a_kernel, b_kernel and 3 more, 100 times from 4.77 ms on, in NVTX range 'run'": what its second iteration submits,
 * each once, of an operator of PyTorch "aten::addmm (a_kernel)", its time from the first operation of that device, and the innermost range that holds all of it.  The
 * text is cut off at size. */
void loop_text(char *buffer, size_t size, const struct model *model, const struct loop *loop,
	       size_t device);

#endif
