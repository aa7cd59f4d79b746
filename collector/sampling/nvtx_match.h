/*
 * nvtx_match.h - whether this thread, or any, is inside an NVTX range of a certain name.
 */
#ifndef ROOFLINE_NVTX_MATCH_H
#define ROOFLINE_NVTX_MATCH_H

#include "cupti_api.h"

enum nvtx_edge { NVTX_NO_EDGE, NVTX_FIRST_BEGINS, NVTX_LAST_ENDS };

/* Which names are meant: an extended regular expression.  False when it is none. */
bool nvtx_match_init(const char *regex);

/* What a call of NVTX means: the first range of such a name has begun, or the last of them ended, over
 * all threads.  Strings are known by name when their registration was told, too. */
enum nvtx_edge nvtx_match(CUpti_CallbackId id, const CUpti_NvtxData *data);

/* Whether any range has matched so far. */
bool nvtx_match_was_any(void);

/* Whether any thread is inside such a range. */
bool nvtx_match_is_open(void);

#endif
