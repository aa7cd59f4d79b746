/*
 * fixture_two_gpus.h - recordings of two GPUs, ready for predictions of the NVTX range in which they iterate.
 */
#ifndef ROOFLINE_TEST_FIXTURE_TWO_GPUS_H
#define ROOFLINE_TEST_FIXTURE_TWO_GPUS_H

#include "whatif/what_if.h"

struct two_gpus {
	struct report *report;
	struct what_ifs what_ifs;
};

/* name: of a file of tests/recordings, without its end. */
void two_gpus_open(struct two_gpus *two, const char *name);
void two_gpus_close(struct two_gpus *two);

/* Alone, with N of ARGUMENT_NUMBER (0: chosen); on the first GPU. */
struct what_if two_gpus_try(struct two_gpus *two, enum technique_id id, uint64_t number);

/* What an iteration took in runs that nobody recorded: docs/results/workloads-links.txt. */
double two_gpus_measured_us(const char *workload, const char *variant);

/* That it was predicted, and how far that is from the measured speedup: within so much of it, and in the interval. */
void two_gpus_expect(const struct prediction *prediction, double measured, double within);

#endif
