/*
 * orders.h - calls by start, and operations by end, to ask which ended last before a moment.
 *
 * Known to dependencies.c only.
 */
#ifndef ROOFLINE_ORDERS_H
#define ROOFLINE_ORDERS_H

#include "trace/profile.h"

/* Operations of other processes and of later calls that are passed over in looking for the awaited. */
#define LOOK_BACK 256

/* Of all calls by start; NULL where they are in that order, as those of one thread are.  Returns 0 or -ENOMEM; the caller
 * frees *order. */
int order_of_calls(uint32_t **order, const struct profile *profile);

struct ends {
	const struct profile *profile; /* borrowed */
	uint32_t *order;	       /* owned; NULL: as they are */
	size_t last; /* answer: moments that are asked for are mostly close to each other */
};

/* Returns 0 or -ENOMEM; the caller closes it, also after a failure. */
int ends_open(struct ends *ends, const struct profile *profile);
void ends_close(struct ends *ends);

/* The operation of a process, not of that stream, that ended last by the moment and whose call began
 * before that of another one; or PROFILE_NONE.  What the device launched is replayed after all
 * calls: none waits for it. */
uint32_t ends_last(struct ends *ends, uint32_t process, uint32_t not_stream, int64_t moment_ns,
		   int64_t submitted_before_ns);

#endif
