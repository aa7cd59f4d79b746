/*
 * op_ends.h - when each operation ended in another run of the same, in 4 bytes each.
 *
 * Operations around each other end about as much later, or sooner, as in the recording: kept is by how much more.
 */
#ifndef ROOFLINE_OP_ENDS_H
#define ROOFLINE_OP_ENDS_H

#include "trace/profile.h"

#define OP_ENDS_BLOCK 64

struct op_ends {
	const struct profile_op *ops; /* borrowed */
	size_t count;
	int64_t *
		later_ns; /* owned; by OP_ENDS_BLOCK operations: than recorded, of the first that was set */
	int32_t *further_ns; /* owned; by operation: later than that */
	int64_t *whole_ns;   /* owned; NULL until something does not fit; then all of them */
};

/* Begins anew, with the memory of an earlier run of as many operations where there was one (else all 0).  Returns 0 or
 * -ENOMEM; the caller frees with op_ends_free, also after a failure. */
int op_ends_open(struct op_ends *ends, const struct profile *profile);
void op_ends_free(struct op_ends *ends);

/* Returns 0 or -ENOMEM. */
int op_ends_set(struct op_ends *ends, size_t op, int64_t end_ns);

/* Of an operation that was set. */
static inline int64_t op_ends_ns(const struct op_ends *ends, size_t op)
{
	return ends->whole_ns ? ends->whole_ns[op]
			      : ends->ops[op].end_ns + ends->later_ns[op / OP_ENDS_BLOCK] +
					ends->further_ns[op];
}

#endif
