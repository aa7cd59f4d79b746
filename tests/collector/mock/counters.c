/*
 * counters.c - the host interface of the stand-in for CUPTI: names, passes and values of counters.
 *
 * counters.bats computes the same values from the grid, to see that they were joined to the right launch.
 */
#define _GNU_SOURCE
#include "counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "samples.h"

/* COUNTS(part of the name, for each block): the first that fits */
#define MOCK_COUNTS(COUNTS)              \
	COUNTS("dram__bytes_read", 1000) \
	COUNTS("dram__bytes_write", 500) \
	COUNTS("gpu__time_duration", 10) \
	COUNTS("op_ffma", 32)            \
	COUNTS("__sass_", 3)             \
	COUNTS("src_bf16", 4096)         \
	COUNTS("tensor", 64)             \
	COUNTS("", 1)

static double mock_value(const char *name, double blocks)
{
	static const struct {
		const char *part;
		double each;
	} counts[] = {
#define MOCK_COUNT(part, each) {part, each},
		MOCK_COUNTS(MOCK_COUNT)
#undef MOCK_COUNT
	};
	size_t i = 0;

	while (!strstr(name, counts[i].part))
		i++;
	return counts[i].each * blocks;
}

/* Passes that the counter needs alone, 0 when there is no such counter. */
static unsigned int passes_alone(const char *name)
{
	static const char *const units[] = {"gpu__",   "dram__", "lts__",
					    "l1tex__", "sm__",	 "smsp__"};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(name, units[i], strlen(units[i])))
			return strchr(name, '.') && !strstr(name, "no_such") &&
					       !mock_is_mentioned("MOCK_NO_METRICS", name)
				       ? 1 + mock_is_mentioned("MOCK_TWO_PASSES", name)
				       : 0;
	return 0;
}

static bool is_instrumented(const char *name)
{
	return strstr(name, "__sass_") != NULL;
}

/* Hardware counters in the first pass, those that need one of their own behind it, instrumented last. */
static void assign_passes(struct mock_config *config)
{
	bool has_instrumented = false;

	config->pass_count = 1;
	for (size_t i = 0; i < config->count; i++) {
		struct mock_metric *metric = &config->metrics[i];

		metric->passes = passes_alone(metric->name);
		metric->pass = 0;
		has_instrumented |= is_instrumented(metric->name);
		if (!is_instrumented(metric->name) &&
		    (strstr(metric->name, "__ops_path") || metric->passes > 1)) {
			metric->pass = (unsigned int)config->pass_count;
			config->pass_count += metric->passes;
		}
	}
	for (size_t i = 0; i < config->count; i++)
		if (is_instrumented(config->metrics[i].name))
			config->metrics[i].pass = (unsigned int)config->pass_count;
	config->pass_count += has_instrumented;
	if (config->count && config->pass_count > 1 && !config->metrics[0].pass)
		return;
	for (size_t i = 0; i < config->count;
	     i++) /* nothing in the first pass: it does not exist */
		if (!config->metrics[i].pass)
			return;
	for (size_t i = 0; i < config->count; i++)
		config->metrics[i].pass--;
	config->pass_count -= config->count > 0;
}

double mock_counter_value(const struct mock_metric *metric, const struct mock_work *work)
{
	if (is_instrumented(metric->name))
		return mock_value(metric->name, work->instrumented_blocks);
	if (strstr(metric->name, "tensor"))
		return mock_value(metric->name, work->tensor_blocks);
	return mock_value(metric->name, work->blocks);
}

/* ---- CUPTI: the host interface ---- */

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *parameters)
{
	(void)parameters;
	MOCK_FAULT_RETURN();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *parameters)
{
	MOCK_FAULT_RETURN();
	parameters->pChipName = "GH100";
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *parameters)
{
	MOCK_FAULT_RETURN();
	if (parameters->pCounterAvailabilityImage)
		memset(parameters->pCounterAvailabilityImage, COUNTING_AVAILABILITY,
		       parameters->counterAvailabilityImageSize);
	parameters->counterAvailabilityImageSize = AVAILABILITY_BYTES;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *parameters)
{
	const uint8_t *image = parameters->pCounterAvailabilityImage;
	bool is_sampling = parameters->profilerType == CUPTI_PROFILER_TYPE_PM_SAMPLING;
	uint8_t wanted = is_sampling ? SAMPLING_AVAILABILITY : COUNTING_AVAILABILITY;
	struct mock_config *config;

	MOCK_FAULT_RETURN();
	if (strcmp(parameters->pChipName, "GH100") ||
	    (image && image[AVAILABILITY_BYTES - 1] != wanted))
		return CUPTI_ERROR_INVALID_PARAMETER;
	config = calloc(1, sizeof(*config));
	if (!config)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	config->is_sampling = is_sampling;
	parameters->pHostObject = (CUpti_Profiler_Host_Object *)config;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *parameters)
{
	MOCK_FAULT_RETURN();
	free(parameters->pHostObject);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters)
{
	struct mock_config *config = (struct mock_config *)parameters->pHostObject;

	MOCK_FAULT_RETURN();
	if (config->is_sampling)
		return mock_sample_add_metrics ? mock_sample_add_metrics(config, parameters)
					       : CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->numMetrics; i++) {
		const char *name = parameters->ppMetricNames[i];

		if (!passes_alone(name) || config->count == MOCK_METRICS)
			return CUPTI_ERROR_INVALID_PARAMETER;
		snprintf(config->metrics[config->count++].name, MOCK_NAME_BYTES, "%s", name);
	}
	assign_passes(config);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *parameters)
{
	MOCK_FAULT_RETURN();
	parameters->configImageSize = sizeof(struct mock_config);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *parameters)
{
	MOCK_FAULT_RETURN();
	if (parameters->configImageSize != sizeof(struct mock_config))
		return CUPTI_ERROR_INVALID_PARAMETER;
	memcpy(parameters->pConfigImage, parameters->pHostObject, sizeof(struct mock_config));
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *parameters)
{
	MOCK_FAULT_RETURN();
	parameters->numOfPasses = ((struct mock_config *)parameters->pConfigImage)->pass_count;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters)
{
	const struct mock_image *image = (const struct mock_image *)parameters->pCounterDataImage;

	MOCK_FAULT_RETURN();
	if (((const struct mock_config *)parameters->pHostObject)->is_sampling)
		return mock_sample_evaluate ? mock_sample_evaluate(parameters)
					    : CUPTI_ERROR_INVALID_PARAMETER;
	if (parameters->counterDataImageSize != sizeof(*image) ||
	    parameters->rangeIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->numMetrics; i++) {
		size_t at = 0;

		while (at < image->config.count &&
		       strcmp(image->config.metrics[at].name, parameters->ppMetricNames[i]))
			at++;
		if (at == image->config.count)
			return CUPTI_ERROR_INVALID_METRIC_NAME;
		parameters->pMetricValues[i] =
			getenv("MOCK_NAN") ? NAN : image->values[parameters->rangeIndex][at];
	}
	return CUPTI_SUCCESS;
}
