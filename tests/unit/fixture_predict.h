/*
 * fixture_predict.h - a loop worked out by hand and what techniques make of it, for tests of predictions.
 *
 * test_replay_loops.c and test_replay_graphs.c have its steps.
 */
#ifndef ROOFLINE_TEST_FIXTURE_PREDICT_H
#define ROOFLINE_TEST_FIXTURE_PREDICT_H

#include "whatif/what_if.h"
#include "profile_builder.h"

#define RUNS 12	       /* iterations of the loop */
#define SETUP_NS 10000 /* of a graph of any size */

#define KERNELS_NS (30000 + 2 * 800) /* from the first one's start on */
#define WAIT_NS \
	(3000 - 270) /* the last one's end to the end of the wait, without what recording added */
#define BEFORE_NS (KERNELS_NS + 5250 + WAIT_NS) /* an iteration, likewise */
#define AFTER_NS 32600				/* one as a graph behind another */
#define PLACE_BEFORE_NS (11 * BEFORE_NS - 1000)
#define PLACE_AFTER_NS (10 * AFTER_NS + 37400 + WAIT_NS)
/* Kernels take that long whatever happens between them, but for what a replay may be off (whatif/bounds.h). */
#define PLACE_LEAST_NS (0.97 * 11 * 30000)
#define WALL_BEFORE_NS (11 * BEFORE_NS + KERNELS_NS)
#define WALL_AFTER_NS (BEFORE_NS + 10 * AFTER_NS + 37400 - 4250)

/* As random_costs where the spread is 0; kernel gaps are what a recording without samples has, 1000 of which recording
 * added 200.  Recorded launches take 4000: of that recording added 750. */
struct ceilings *predicted_ceilings(double spread);

/* Three launches, their kernels of 10 us with gaps of 1 us, a wait that returns 3 us after the last;
 * 1 us later the next iteration.  refusing: a bit for each iteration that destroys a graph before its last launch, which no graph can hold.
 * Returns its end. */
#define REFUSING_ALWAYS UINT32_MAX
int64_t predicted_add_loop(struct builder *b, int64_t now_ns, uint32_t refusing);

/* A recording of one such loop, not finished. */
struct builder *predicted_loop(void);

/* A recording ready for predictions. */
struct predicted_run {
	struct builder *b;
	struct ceilings *ceilings;
	struct what_ifs all;
};

/* Finishes the recording and takes it; range: as what_ifs_open has it. */
void predicted_begin(struct predicted_run *it, struct builder *b, double spread, const char *range);
void predicted_end(struct predicted_run *it);

/* What a technique alone saves where it changes something. */
int64_t predicted_saved_ns(const struct what_if *found);

void predicted_expect_ratio(double found, double before, double after);
void predicted_expect_interval(const struct predicted_ratio *found, uint64_t seed);

#endif
