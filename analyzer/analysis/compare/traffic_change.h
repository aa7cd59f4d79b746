/*
 * traffic_change.h - bytes that kernels of a run, or of a part of it, move before a change and after it, by counters.
 */
#ifndef ROOFLINE_TRAFFIC_CHANGE_H
#define ROOFLINE_TRAFFIC_CHANGE_H

#include "trace/profile.h"

/* Of all launches of a run, or of an occurrence of a range in the mean, those among them that counters were read for as
 * well; 0: not known. */
struct traffic {
	double dram_bytes;     /* read and written */
	double accessed_bytes; /* of global and local memory, as L1 was asked for them */
};

struct traffic_change {
	struct traffic before, after;
	double dram_reduction,
		access_reduction; /* 1 - after / before; NAN where that is not known */
	bool is_left_out;	  /* known of the whole runs, but some launches are of no range */
};

/* Kernels that were not counted are taken to move nothing where they take no more of all kernels' time; else nothing is
 * known. */
#define TRAFFIC_UNCOUNTED_MOST 0.01

/* range: the whole name of an NVTX range, to which what calls launched belongs that began in it; NULL: the whole runs.
 * Returns 0 or -ENOMEM. */
int traffic_change_of(struct traffic_change *change, const struct profile *before,
		      const struct profile *after, const char *range);

#endif
