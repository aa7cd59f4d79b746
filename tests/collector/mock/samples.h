/*
 * samples.h - what the sampling part of the stand-in for CUPTI has for its other parts.
 *
 * Weak: NULL in libcupti_nosampling.so and libcupti_bare.so, which are linked without it.
 */
#ifndef ROOFLINE_TESTS_MOCK_SAMPLES_H
#define ROOFLINE_TESTS_MOCK_SAMPLES_H

#include "counters.h"
#include "cupti_api.h"

#define MOCK_WEAK __attribute__((weak))

/* Whoever samples the GPU hears of a kernel that runs, and may delay it. */
MOCK_WEAK void mock_sample_kernel(struct mock_kernel *kernel);

MOCK_WEAK CUptiResult mock_sample_add_metrics(
	struct mock_config *config, const CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters);
MOCK_WEAK CUptiResult
mock_sample_evaluate(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters);

#endif
