/*
 * collective_order.h - ranks that do the same collectives launch them in different orders.
 *
 * Ranks are compared where each kernel ran equally often on both; what graphs launch is left out, as the host's order
 * says nothing of that.  Each rank is compared with the first that is like it.  Pure.
 */
#ifndef ROOFLINE_COLLECTIVE_ORDER_H
#define ROOFLINE_COLLECTIVE_ORDER_H

#include "analysis/time/collectives.h"

/* Fills mismatches[].  Fails with -ENOMEM only; n log n in the number of collectives. */
int collective_order_find(struct collectives *all);

/* The first of a rank on that device; NULL: there is none. */
const struct collective_mismatch *collective_order_on(const struct collectives *all, size_t device);

#endif
