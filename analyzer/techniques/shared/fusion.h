/*
 * fusion.h - neighbors as one kernel: which of their bytes vanish, and what time that saves.
 *
 * A kernel and the next one, of the same grid, are assumed to be producer and consumer: what the first
 * stored, the second reads.  In one kernel it stays in registers, and neither writing nor reading is left:
 *
 *   handed on = min(stored by the first, read by the second)     bytes of DRAM a launch, by counters
 *
 * That much of the first one's writing and as much of the second one's reading vanishes; at the low end only
 * the reading, for somebody else may read it as well.  Of a kernel at half of DRAM's roof or more they save
 * their share of its time; below that something else sets the pace as well, and they save no more than
 * FUSION_SLOWEST times what the roof takes for them.  No kernel takes less than what is left of its bytes does at
 * the roof, or than its arithmetic.
 *
 * What is written to DRAM while a kernel runs is not only its own: L2 still held what kernels before it stored
 * (on an H200 28 MB are written while a kernel runs that stores next to nothing: total_kernel of
 * tests/recordings/clusters.totals_first).  So what it stored is taken to be no more than what L1 saw beyond what
 * was read from DRAM; where L1 saw even less than that, reads went past it and it tells nothing of stores.
 *
 * Counters know how much was read, not whose bytes: two arrays of one size look the same.  They do tell
 * against it (FUSION_GRID_WIDE, the kernels are not fused) where
 *
 * - the first stored less than a hundredth of what it read: it may have reduced, and then each block of the
 *   second needs what all blocks of the first made;
 * - the second reads less than nine tenths of what the first stored: an elementwise consumer reads all of it.
 *
 * What fits into L2 is read from there, so bytes of DRAM tell nothing of it; nor is anything told of a kernel
 * after itself, for it is mostly the next step of a loop or works on other arrays.  Nothing vanishes then.
 *
 * Pure: allocates nothing, prints nothing.
 */
#ifndef ROOFLINE_FUSION_H
#define ROOFLINE_FUSION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/report.h"

#define FUSION_SLOWEST 2       /* times the roof's time: whole time of a kernel at half of it */
#define FUSION_REDUCED_TO 0.01 /* of what was read */
#define FUSION_LEAST_READ 0.9  /* of what was stored */
#define FUSION_LEAST_L1 0.95   /* of what was read from DRAM: else reads went past L1 */

/* What counters say of a launch of one signature. */
struct fusion_kernel {
	bool is_known;			  /* else all is 0 */
	double read_bytes, written_bytes; /* of DRAM */
	double stored_bytes;		  /* of written_bytes, by itself */
	double arithmetic_share;	  /* of its time that arithmetic or atomics explain */
	double tensor_share;		  /* of that tensor cores: above 0 it is a product */
};

struct fusion {
	struct fusion_kernel *kernels; /* by signature; NULL: nothing was counted */
	double dram_byte_per_s;	       /* the roof */
	double l2_bytes;	       /* 0: not known */
	bool is_least;		       /* at the low end of what is assumed */
};

enum fusion_verdict {
	FUSION_UNTOLD,	  /* counters say nothing: one kernel, in which no bytes vanish */
	FUSION_HANDS_ON,  /* the second may go on with what the first wrote */
	FUSION_GRID_WIDE, /* it does not, or needs what other blocks wrote */
};

/* Bytes of DRAM of a launch of that signature; is_known where both ways were counted. */
struct fusion_kernel fusion_counted(const struct profile *profile, uint32_t signature);

/* Of two signatures, the second launched right after the first. */
enum fusion_verdict fusion_judge(const struct fusion *fusion, const struct profile *profile,
				 uint32_t first, uint32_t second);

/* Whether the second makes as many bytes of what the first, a product on tensor cores, has written: then it may
 * work on each sum before it is stored, in the product's epilogue, whatever its own grid. */
bool fusion_is_epilogue(const struct fusion *fusion, const struct profile *profile, uint32_t first,
			uint32_t second);

/* Bytes that the first hands on to the second where it does. */
double fusion_handed_bytes(const struct fusion_kernel *first, const struct fusion_kernel *second);

/* What a launch of time_ns takes without taken_bytes of its reading and handed_bytes of its writing; ns, at
 * most time_ns. */
double fusion_time_ns(const struct fusion *fusion, const struct fusion_kernel *kernel,
		      double time_ns, double taken_bytes, double handed_bytes);

/* Fills in fusion.  Its kernels stay NULL where no bytes of DRAM were counted, where there is no roof to compare
 * them with, and where there are several devices: counters are of all of them together.  Returns 0 or
 * -ENOMEM; the caller frees kernels. */
int fusion_collect(struct fusion *fusion, const struct report *report);

/* The largest share of a roof that is no memory's: what of its time a kernel needs for its arithmetic or atomics. */
double fusion_arithmetic_share(const struct roofline_point *point);

#endif
