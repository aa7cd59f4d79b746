/*
 * gap_host.h - what the host thread that ended a gap did during it: on which thread, in which NVTX range, in which calls.
 *
 * gaps.h says why the GPU was idle; this says where in the program that was.  Pure.
 */
#ifndef ROOFLINE_GAP_HOST_H
#define ROOFLINE_GAP_HOST_H

#include "analysis/time/gaps.h"

struct gap_host {
	uint32_t thread; /* threads[] that launched what ended the gap */
	uint32_t launch; /* calls[]: by that call */
	const struct profile_range
		*range;	      /* the innermost that the thread had pushed then, or NULL */
	int64_t own_ns;	      /* its longest stretch outside of calls, 0: none */
	uint32_t after, then; /* calls[] before and behind that stretch, PROFILE_NONE: none */
	uint32_t call;	      /* calls[]: the one that took most of the gap; PROFILE_NONE: none */
	int64_t call_ns;      /* what of it lies in the gap */
	int64_t returned_ns; /* how long before the gap the launching call had returned, 0: it had not */
};

/* Whether it is known: a call launched what ended the gap. */
bool gap_host_find(struct gap_host *out, const struct profile *profile, const struct gap *gap);

#endif
