/*
 * sample_plan.h - how much of a GPU is sampled at once: memory and time, by arithmetic alone.
 *
 * Samples go from the hardware's buffer into images, one thread decoding, and from images into rows, by
 * workers.  Decoding empties the buffer, and what does not fit into the image is lost; so how long
 * the decoding thread may be held up is the time that an image has room for.  Knows neither CUPTI nor
 * clocks.
 */
#ifndef ROOFLINE_SAMPLE_PLAN_H
#define ROOFLINE_SAMPLE_PLAN_H

#include <stdbool.h>

#include "options.h"

#define WORKER_LIMIT 8
#define RESERVE_LIMIT 2
/* One that is decoded into, one that waits, and one for each worker; or those held in reserve. */
#define IMAGE_LIMIT (WORKER_LIMIT + 2 + RESERVE_LIMIT)

/* What is known of a GPU when it is opened. */
struct sample_facts {
	size_t sample_bytes; /* that one sample takes of an image, not 0 */
	size_t counter_count;
	size_t processors;
	double decode_ns; /* that a sample was measured to take; 0 before that */
};

struct sample_plan {
	bool is_continuous;  /* or in windows */
	bool keeps_up;	     /* decoding, with the interval that was asked for */
	int64_t interval_ns; /* as asked for, or as long as was measured to be needed */
	/* Continuous: samples to measure decoding by, 0 where that would say nothing, as in windows. */
	size_t trial_samples;
	/* Continuous: time from one decoding to the next. */
	int64_t batch_ns;
	/* In windows: the length of one, at most; from the beginning of one to that of the next. */
	int64_t window_ns, period_ns;
	bool is_window_cut;   /* shorter than was asked for */
	size_t worker_count;  /* threads that evaluate */
	size_t image_count;   /* in use all the time */
	size_t capacity;      /* of each, in samples */
	size_t reserve_count; /* of larger images, for when decoding is late */
	size_t reserve_capacity;
	size_t buffer_bytes; /* of the hardware's buffer */
};

/* How long it can be expected to take to decode a sample of so many bytes; hosts differ. */
double sample_plan_decode_ns(size_t sample_bytes);

/* Whether samples of so many bytes can be expected to be decoded as fast as they are to be taken. */
bool sample_plan_fits(const struct options *options, size_t sample_bytes);

/* Bytes that the hardware's record of a sample is taken to be. */
size_t sample_plan_record_bytes(size_t sample_bytes);

struct sample_plan sample_plan_make(const struct options *options,
				    const struct sample_facts *facts);

/* From now on a sample is taken in this interval, which is longer; nothing that was allocated changes. */
void sample_plan_slow_down(struct sample_plan *plan, int64_t interval_ns);

#endif
