/*
 * streams.h - how many streams a loop's work is in.
 */
#ifndef ROOFLINE_STREAMS_H
#define ROOFLINE_STREAMS_H

#include <stdbool.h>

#include "analysis/loops/loops.h"
#include "replay/model.h"

#define STREAMS_LOOKED_AT 3 /* at most so many can be asked for */

/* Whether a loop's operations, or of them only kernels, are in so many streams already. */
bool streams_are_many(const struct model *model, const struct loop *loop, bool only_kernels,
		      size_t stream_count);

#endif
