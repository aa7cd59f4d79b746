/*
 * counters.h - what the stand-in for CUPTI counts, and in which pass.
 *
 * As an H200 with CUPTI 13.0 does it: counters of hardware share the first pass, operations of the
 * tensor cores have a pass for each type, instrumented code (names with __sass_) comes last.
 */
#ifndef ROOFLINE_TESTS_MOCK_COUNTERS_H
#define ROOFLINE_TESTS_MOCK_COUNTERS_H

#include "mock_cupti.h"

#define MOCK_METRICS 160
#define MOCK_RANGES 64
#define MOCK_NAME_BYTES 128

/* Images of which counters there are; that of samples is of another kind. */
#define AVAILABILITY_BYTES 100
#define COUNTING_AVAILABILITY 0x5a
#define SAMPLING_AVAILABILITY 0x3c

struct mock_metric {
	char name[MOCK_NAME_BYTES];
	unsigned int pass, passes; /* the first and how many */
};

/* What the host interface makes: also the image of a configuration. */
struct mock_config {
	bool is_sampling;
	size_t count, pass_count;
	struct mock_metric metrics[MOCK_METRICS];
};

/* What launches left in a range. */
struct mock_work {
	char name[16];
	double blocks, instrumented_blocks, tensor_blocks;
};

struct mock_image {
	struct mock_config config;
	size_t count;
	char names[MOCK_RANGES][16];
	double values[MOCK_RANGES][MOCK_METRICS]; /* NaN until decoded */
};

/* What launches count for each thread block. */
double mock_counter_value(const struct mock_metric *metric, const struct mock_work *work);

#endif
