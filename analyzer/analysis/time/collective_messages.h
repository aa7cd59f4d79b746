/*
 * collective_messages.h - which kernel did what NCCL was asked for, and how many ranks took part.
 *
 * NCCL's calls tell bytes and communicators (profile_nccl_call); its kernels are launched on the same thread before the
 * call returns, or at the end of a group of calls (its NVTX ranges).  Calls and these launches are matched by names
 * where they are as many, by communicator where these are as many as launches, and all with the one launch that there
 * is; else not at all.  What a graph launches was called when it was captured: its kernels have no call.  A
 * communicator of one rank launches nothing.  Pure.
 */
#ifndef ROOFLINE_COLLECTIVE_MESSAGES_H
#define ROOFLINE_COLLECTIVE_MESSAGES_H

#include "trace/profile.h"

struct collective_message {
	uint32_t op;	     /* ops[]: the kernel that did it; PROFILE_NONE: none is known */
	uint32_t call_count; /* calls that this kernel did, 0 without one */
	uint32_t device;     /* devices[]: the kernel's, or its communicator's; PROFILE_NONE */
	uint32_t rank_count; /* of its communicator; 0: not known */
};

/* As profile->nccl_calls[]; the caller frees it.  Fails with -ENOMEM only; n log n in the number of calls and of kernels. */
int collective_messages_find(struct collective_message **out, const struct profile *profile);

#endif
