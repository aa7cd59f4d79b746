/*
 * quantity.h - units for axes and counts that fit above a bar.
 *
 * What format.h has no use for.
 */
#ifndef ROOFLINE_QUANTITY_H
#define ROOFLINE_QUANTITY_H

#include <stdint.h>

#include "base/format.h"

struct quantity_unit {
	const char *name; /* "ms" */
	double ns;	  /* how many nanoseconds it has */
};

/* The largest of ns, us, ms and s of which ns holds at least one. */
const struct quantity_unit *quantity_unit(double ns);

struct figure quantity_short_count(uint64_t count); /* 812, 1.2k, 34M: at most four characters */

#endif
