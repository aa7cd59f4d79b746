/*
 * streams.h - which streams take what was put off as it would have come: those of the current context that are plain.
 */
#ifndef ROOFLINE_TRY_STREAMS_H
#define ROOFLINE_TRY_STREAMS_H

#include <cuda.h>
#include <stdbool.h>

/* Asked at the first call. */
bool streams_is_plain(CUstream stream, CUcontext context);

/* Handles may stand for other streams now. */
void streams_forget(void);

#endif
