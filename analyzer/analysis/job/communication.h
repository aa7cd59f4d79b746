/*
 * communication.h - which operations move data between ranks.
 *
 * Kernels of communication are told by name: NCCL's, and those of NVSHMEM's library but for what it fills arrays
 * with at start-up.  A program's own kernels that
 * put and get in between count as computation, as no recording tells what they do.  A copy through the host is a
 * pair: a copy to the host, and afterwards one of as many bytes from the host to another rank's GPU, of one process
 * or of two that a launcher numbered: programs that merely run at the same time pair with nothing.  Which of several
 * ranks it came from is told only where one alone is possible (staged_copies.h).  What is no longer than
 * GAP_DECISION_BYTES is a value that the host reads, and pairs with nothing.  Pure.
 */
#ifndef ROOFLINE_COMMUNICATION_H
#define ROOFLINE_COMMUNICATION_H

#include <stdbool.h>

#include "trace/profile.h"

enum job_work {
	WORK_COMPUTATION,
	WORK_KERNEL, /* of communication */
	WORK_PEER,   /* a copy between two GPUs */
	WORK_STAGED, /* half of a copy through the host */
	WORK_COPY,   /* between a GPU and its host, for itself */
};

/* Two copies that move the same data through the host: ops[]. */
struct staged_copy {
	uint32_t out, in;
};

struct communication {
	uint8_t *works;		    /* enum job_work, by ops[] */
	struct staged_copy *staged; /* by in */
	size_t staged_count;
	/* Of others it is not known who sent to whom: so many copies to the host and from it, which are no pairs. */
	struct staged_copy *unknown;
	size_t unknown_count;
};

/* rank_of_stream: any number that is equal for streams of one rank.  Fails with -ENOMEM only; n log n in the number
 * of copies. */
int communication_find(struct communication *out, const struct profile *profile,
		       const uint32_t *rank_of_stream);
void communication_free(struct communication *communication);

/* Between two GPUs. */
bool communication_is_peer_copy(const struct profile_copy *copy);

/* The copy that brought to the host what that one takes from there; NULL: it is no such copy, or not known. */
const struct staged_copy *communication_staged(const struct communication *communication,
					       uint32_t in);

#endif
