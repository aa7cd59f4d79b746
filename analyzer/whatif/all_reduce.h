/*
 * all_reduce.h - what an all-reduce takes between GPUs like those whose links were measured.
 *
 * Measured by size for some number of GPUs, n: of another number N the part that goes with the bytes takes
 * (N-1)/N / ((n-1)/n) times as long, as each GPU sends 2 (N-1)/N of the bytes: what NCCL calls bus bandwidth stays.  The rest
 * goes with the steps in which N values become one.  Where both were measured for N as well, they are what they were.
 */
#ifndef ROOFLINE_ALL_REDUCE_H
#define ROOFLINE_ALL_REDUCE_H

#include "techniques/application.h"

/* Where the times of one number of GPUs come from. */
enum reduce_source {
	REDUCE_UNKNOWN,	 /* nobody measured these links, nor has their GPU a datasheet */
	REDUCE_MEASURED, /* of so many GPUs */
	REDUCE_FORMULA,	 /* of another number of them */
	REDUCE_RATE,	 /* of copies between GPUs alone: nothing else than bytes counts */
};

struct reduce_times {
	const struct ceilings *ceilings; /* borrowed */
	enum reduce_source source;
	uint64_t measured_gpus;		   /* of the times by size; 0: they were not measured */
	double least_ns[ASSUMED_MOST + 1]; /* of a few bytes, by enum assumed_end */
	double bytes_factor; /* of what goes with the bytes: by what was measured, or by the rate */
	double rate;	     /* of REDUCE_RATE, bytes/s */
};

/* How many GPUs took part in what was measured by size.  Files that do not tell are of two; 0: nothing was measured. */
uint64_t reduce_measured_gpus(const struct ceilings *ceilings);

/* gpu: its name. */
struct reduce_times reduce_times_of(const struct ceilings *ceilings, const char *gpu,
				    uint64_t gpus);

/* Of so many bytes. */
double reduce_ns(const struct reduce_times *times, double bytes, enum assumed_end end);

#endif
