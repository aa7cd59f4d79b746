/*
 * fixture_roofs.h - a profile made by hand, its counters and roofs, and what the analyses make of
 * them, for tests of roofline and atomics.
 */
#ifndef ROOFLINE_TEST_FIXTURE_ROOFS_H
#define ROOFLINE_TEST_FIXTURE_ROOFS_H

#include "analysis/counters/atomics.h"
#include "analysis/counters/ceilings.h"
#include "analysis/counters/counted.h"
#include "analysis/counters/roofline.h"
#include "profile_builder.h"

/* Round numbers: 4 TB/s of DRAM, 8 of L2, 20 of L1 and shared memory; 30, 60, 120 TFLOP/s of FP64,
 * FP32, FP16; tensor 60, 500, 1000, 1000, 2000; launches every 2500 ns, graph nodes every 800,
 * graph launches every 5000; 1.25e9 atomics/s on one address, 1e9 by compare-and-swap, 80e9 on
 * 2^20. */
struct ceilings *fixture_ceilings(void);

struct placed {
	struct counted *counted;
	struct roofline *roofline;
	struct atomics *atomics;
};

/* Runs every analysis; ceilings may be NULL. */
struct placed fixture_place(const struct profile *profile, const struct ceilings *ceilings);
void fixture_placed_free(struct placed *placed);

/* The point of that kernel, or a failure. */
const struct roofline_point *fixture_point(const struct placed *placed, const char *name);

/* Counters of every role of the set roofline that has no counter for the signature yet: 0. */
void fixture_count_nothing_else(struct builder *b, uint32_t signature, uint64_t sample_count);

#endif
