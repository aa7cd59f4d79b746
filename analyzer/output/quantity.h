/*
 * quantity.h - nanoseconds and counts as people read them.
 *
 * Rounds to three digits and picks the unit; never used for JSON or CSV.
 */
#ifndef ROOFLINE_QUANTITY_H
#define ROOFLINE_QUANTITY_H

#include <stdint.h>

#define QUANTITY_SIZE 32 /* room for any of the texts below */

struct quantity_unit {
	const char *name; /* "ms", "µs": UTF-8 */
	double ns;	  /* how many nanoseconds it has */
};

/* The largest of ns, µs, ms and s of which ns holds at least one. */
const struct quantity_unit *quantity_unit(double ns);

/* "12.3 ms"; writes into text and returns it. */
const char *quantity_time(char text[QUANTITY_SIZE], double ns);

/* "1,234,567" */
const char *quantity_count(char text[QUANTITY_SIZE], uint64_t count);

/* "1.2M", at most five characters */
const char *quantity_short_count(char text[QUANTITY_SIZE], uint64_t count);

/* "43%", "0.2%", "0%"; part of whole, "0%" of nothing */
const char *quantity_share(char text[QUANTITY_SIZE], double part, double whole);

#endif
