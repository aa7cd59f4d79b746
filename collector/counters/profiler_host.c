#include "counters/profiler_host.h"

#include <stdlib.h>

CUptiResult profiler_host_open(const struct cupti_api *cupti, CUpti_ProfilerType type,
			       const char *chip, const uint8_t *availability,
			       CUpti_Profiler_Host_Object **host)
{
	CUpti_Profiler_Host_Initialize_Params parameters = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = type,
		.pChipName = chip,
		.pCounterAvailabilityImage = availability,
	};
	CUptiResult result = cupti->cuptiProfilerHostInitialize(&parameters);

	*host = result == CUPTI_SUCCESS ? parameters.pHostObject : NULL;
	return result;
}

void profiler_host_close(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host)
{
	CUpti_Profiler_Host_Deinitialize_Params parameters = {
		.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
		.pHostObject = host,
	};

	if (host)
		cupti->cuptiProfilerHostDeinitialize(&parameters);
}

static CUptiResult add_metrics(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
			       const char **names, size_t count)
{
	CUpti_Profiler_Host_ConfigAddMetrics_Params parameters = {
		.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
		.pHostObject = host,
		.ppMetricNames = names,
		.numMetrics = count,
	};

	return cupti->cuptiProfilerHostConfigAddMetrics(&parameters);
}

/* The image is the caller's to free. */
static CUptiResult make_image(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
			      uint8_t **image, size_t *image_bytes)
{
	CUpti_Profiler_Host_GetConfigImageSize_Params sizing = {
		.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
		.pHostObject = host,
	};
	CUpti_Profiler_Host_GetConfigImage_Params filling = {
		.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
		.pHostObject = host,
	};
	CUptiResult result = cupti->cuptiProfilerHostGetConfigImageSize(&sizing);

	if (result != CUPTI_SUCCESS)
		return result;
	*image = calloc(1, sizing.configImageSize ? sizing.configImageSize : 1);
	if (!*image)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	*image_bytes = sizing.configImageSize;
	filling.configImageSize = sizing.configImageSize;
	filling.pConfigImage = *image;
	return cupti->cuptiProfilerHostGetConfigImage(&filling);
}

static CUptiResult count_passes(const struct cupti_api *cupti, uint8_t *image, size_t image_bytes,
				size_t *passes)
{
	CUpti_Profiler_Host_GetNumOfPasses_Params parameters = {
		.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
		.configImageSize = image_bytes,
		.pConfigImage = image,
	};
	CUptiResult result = cupti->cuptiProfilerHostGetNumOfPasses(&parameters);

	*passes = parameters.numOfPasses;
	return result;
}

CUptiResult profiler_host_configure(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
				    const char **names, size_t count, struct profiler_image *image)
{
	CUptiResult result = add_metrics(cupti, host, names, count);

	if (result == CUPTI_SUCCESS)
		result = make_image(cupti, host, &image->bytes, &image->size);
	if (result == CUPTI_SUCCESS)
		result = count_passes(cupti, image->bytes, image->size, &image->pass_count);
	return result;
}

CUptiResult profiler_host_add(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host,
			      const char **names, size_t count)
{
	return add_metrics(cupti, host, names, count);
}
