/*
 * op_ends.h - when each operation ended in another run of the same, in 3 bytes each.
 *
 * Operations around each other end about as much later, or sooner, as in the recording: kept is by how much more.  A block
 * of them in which some move by more than 8 ms further than others has all of its ends whole.
 */
#ifndef ROOFLINE_OP_ENDS_H
#define ROOFLINE_OP_ENDS_H

#include "trace/profile.h"

#define OP_ENDS_BLOCK 64
#define OP_ENDS_NOT_SET INT64_MIN

struct op_ends_block {
	int64_t later_ns;  /* than recorded, of the first that was set; OP_ENDS_NOT_SET: none was */
	int64_t *whole_ns; /* owned; NULL until something does not fit; then all of them */
};

/* 65536 high and low more. */
struct __attribute__((packed)) op_ends_further {
	uint16_t low;
	int8_t high;
};

struct op_ends {
	const struct profile_op *ops; /* borrowed */
	size_t count;
	struct op_ends_block *blocks; /* owned; of OP_ENDS_BLOCK operations each */
	struct op_ends_further
		*further_ns; /* owned; by operation: later than the first of its block */
};

/* Begins anew, with the memory of an earlier run of as many operations where there was one (else all 0).  Returns 0 or
 * -ENOMEM; the caller frees with op_ends_free, also after a failure. */
int op_ends_open(struct op_ends *ends, const struct profile *profile);
void op_ends_free(struct op_ends *ends);

/* What 3 bytes hold. */
#define OP_ENDS_FURTHER_LEAST_NS (-0x800000)
#define OP_ENDS_FURTHER_MOST_NS 0x7fffff

/* Known to op_ends_set only: in a block that has all of its ends whole, or has to. */
int op_ends_set_whole(struct op_ends *ends, size_t op, int64_t end_ns);

/* Returns 0 or -ENOMEM. */
static inline int op_ends_set(struct op_ends *ends, size_t op, int64_t end_ns)
{
	struct op_ends_block *block = &ends->blocks[op / OP_ENDS_BLOCK];
	int64_t later_ns = end_ns - ends->ops[op].end_ns, further_ns;

	if (block->later_ns == OP_ENDS_NOT_SET)
		block->later_ns = later_ns;
	if (block->whole_ns || __builtin_sub_overflow(later_ns, block->later_ns, &further_ns) ||
	    further_ns < OP_ENDS_FURTHER_LEAST_NS || further_ns > OP_ENDS_FURTHER_MOST_NS)
		return op_ends_set_whole(ends, op, end_ns);
	ends->further_ns[op].low = (uint16_t)further_ns;
	ends->further_ns[op].high = (int8_t)((further_ns - (further_ns & 0xffff)) / 0x10000);
	return 0;
}

/* Of an operation that was set. */
static inline int64_t op_ends_ns(const struct op_ends *ends, size_t op)
{
	const struct op_ends_block *block = &ends->blocks[op / OP_ENDS_BLOCK];

	if (block->whole_ns)
		return block->whole_ns[op % OP_ENDS_BLOCK];
	return ends->ops[op].end_ns + block->later_ns + ends->further_ns[op].high * 0x10000 +
	       ends->further_ns[op].low;
}

#endif
