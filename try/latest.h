/*
 * latest.h - the latest of many figures, and their median: one that is far off decides nothing.
 */
#ifndef ROOFLINE_TRY_LATEST_H
#define ROOFLINE_TRY_LATEST_H

#define LATEST_MOST 31

struct latest {
	double values[LATEST_MOST];
	unsigned long count; /* of all that were added */
};

void latest_add(struct latest *latest, double value);

/* Of at least one. */
double latest_median(const struct latest *latest);

#endif
