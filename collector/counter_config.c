#include "counter_config.h"

#include <stdlib.h>
#include <string.h>

struct chip {
	const struct cupti_api *cupti;
	const char *name;
	const uint8_t *availability;
};

static CUptiResult open_host(const struct chip *chip, CUpti_Profiler_Host_Object **host)
{
	CUpti_Profiler_Host_Initialize_Params parameters = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
		.pChipName = chip->name,
		.pCounterAvailabilityImage = chip->availability,
	};
	CUptiResult result = chip->cupti->cuptiProfilerHostInitialize(&parameters);

	*host = result == CUPTI_SUCCESS ? parameters.pHostObject : NULL;
	return result;
}

static void close_host(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *host)
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

static CUptiResult configure(struct counter_config *config, const struct chip *chip)
{
	CUptiResult result = open_host(chip, &config->host);

	if (result == CUPTI_SUCCESS)
		result = add_metrics(chip->cupti, config->host, config->names, config->name_count);
	if (result == CUPTI_SUCCESS)
		result =
			make_image(chip->cupti, config->host, &config->image, &config->image_bytes);
	if (result == CUPTI_SUCCESS)
		result = count_passes(chip->cupti, config->image, config->image_bytes,
				      &config->pass_count);
	return result;
}

static unsigned int passes_on_chip(void *context, const char *name)
{
	struct counter_config alone = {.names = {name}, .name_count = 1};
	const struct chip *chip = context;
	size_t passes = configure(&alone, chip) == CUPTI_SUCCESS ? alone.pass_count : 0;

	counter_config_free(&alone, chip->cupti);
	return (unsigned int)passes;
}

unsigned int counter_config_passes(const struct cupti_api *cupti, const char *chip,
				   const uint8_t *availability, const char *name)
{
	struct chip asked = {cupti, chip, availability};

	return passes_on_chip(&asked, name);
}

CUptiResult counter_config_build(struct counter_config *config, const struct cupti_api *cupti,
				 const char *chip, const uint8_t *availability, const char *request,
				 enum metric_scope scope, unsigned int pass_limit, char *refused,
				 size_t size)
{
	struct chip asked = {cupti, chip, availability};
	CUpti_Profiler_Host_Object *probe;
	CUptiResult result;

	memset(config, 0, sizeof(*config));
	*refused = '\0';
	result = open_host(&asked, &probe); /* or every counter would seem to be missing */
	if (result != CUPTI_SUCCESS)
		return result;
	close_host(cupti, probe);
	metric_table_resolve(&config->list, request, scope, pass_limit, passes_on_chip, &asked,
			     refused, size);
	for (size_t i = 0; i < config->list.count; i++)
		if (*config->list.choices[i].name) {
			config->choice_of[config->name_count] = i;
			config->names[config->name_count++] = config->list.choices[i].name;
		}
	return config->name_count ? configure(config, &asked) : CUPTI_ERROR_INVALID_METRIC_NAME;
}

void counter_config_free(struct counter_config *config, const struct cupti_api *cupti)
{
	close_host(cupti, config->host);
	free(config->image);
	config->host = NULL;
	config->image = NULL;
}
