/*
 * collective_order.h - ranks that do the same collectives launch them in different orders.
 *
 * Ranks are compared where each kernel of NCCL ran equally often on both; what graphs launch is left out.  Pure.
 */
#ifndef ROOFLINE_COLLECTIVE_ORDER_H
#define ROOFLINE_COLLECTIVE_ORDER_H

#include "analysis/time/collectives.h"

/* Of one rank: a slice of items[]. */
struct collective_sequence {
	const struct collective *first;
	size_t count;
};

struct collective_order {
	struct collective *items; /* owned: those that the host launched */
	bool is_found;
	struct collective_sequence one, other;
	size_t index; /* of the first that differs */
};

#define COLLECTIVE_ORDER_ANY SIZE_MAX

/* The first rank on the device, or on any, whose order is not that of a rank like it.  Fails with -ENOMEM only;
 * collective_order_free in any case. */
int collective_order_find(struct collective_order *out, const struct profile *profile,
			  const struct collectives *collectives, size_t device);
void collective_order_free(struct collective_order *order);

#endif
