/*
 * sample_gpu.h - the GPUs that the stand-in for CUPTI samples: their kernels, and samples made of them.
 */
#ifndef ROOFLINE_TESTS_MOCK_SAMPLE_GPU_H
#define ROOFLINE_TESTS_MOCK_SAMPLE_GPU_H

#include <pthread.h>

#include "counters.h"
#include "sample_values.h"

#define MOCK_GPUS 8

struct mock_sampler {
	bool is_enabled, is_configured, is_started, has_overflowed;
	bool is_undecoded; /* stopped, and what it sampled not fetched */
	struct mock_config config;
	size_t asked_bytes; /* for an image, last */
	uint64_t enabled_ns, interval_ns;
	uint64_t sampled_ns;   /* samples are made until here */
	uint64_t first_ns;     /* what the next sample claims as its start */
	size_t capacity, held; /* samples in the hardware's buffer */
	struct mock_sample *buffer;
	struct mock_kernel *kernels; /* that may concern samples to come */
	size_t kernel_count, kernel_room;
};

extern pthread_mutex_t mock_gpu_lock; /* of the samplers */
extern struct mock_sampler mock_samplers[MOCK_GPUS];

/* What the hardware has sampled until now goes into its buffer, and no more than the buffer holds. */
void mock_gpu_fill_buffer(struct mock_sampler *sampler);

#endif
