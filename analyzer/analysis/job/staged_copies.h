/*
 * staged_copies.h - which copy to the host brought there what a copy from the host takes to another rank's GPU.
 *
 * No recording tells.  Of copies of as many bytes, among ranks that can exchange data at all (communication.h):
 * where a rank can have received from one other rank only, and that one sent to no other, the two are partners.
 * Where several could be, each rank is assumed to send to one and to receive from one throughout, in order, and
 * a copy from the host cannot start before the copy to the host has ended: if exactly one assignment of partners
 * contradicts that nowhere, it is taken.  Else, and among more than STAGED_RANKS_MOST ranks, partners are unknown:
 * how many such copies there are is told, and nothing else.
 */
#ifndef ROOFLINE_STAGED_COPIES_H
#define ROOFLINE_STAGED_COPIES_H

#include "analysis/job/communication.h"

#define STAGED_RANKS_MOST 64

/* Fills staged and unknown of communication, and marks both halves of all of them in works, which has to have
 * WORK_COPY of what is between a GPU and its host.  Fails with -ENOMEM only; n log n in the number of copies. */
int staged_copies_find(struct communication *all, const struct profile *profile,
		       const uint32_t *rank_of_stream);

#endif
