#include "counters/counter_config.h"

#include <stdlib.h>
#include <string.h>

#include "counters/profiler_host.h"

struct chip {
	const struct cupti_api *cupti;
	const char *name;
	const uint8_t *availability;
};

static CUptiResult open_host(const struct chip *chip, CUpti_Profiler_Host_Object **host)
{
	return profiler_host_open(chip->cupti, CUPTI_PROFILER_TYPE_RANGE_PROFILER, chip->name,
				  chip->availability, host);
}

static CUptiResult configure(struct counter_config *config, const struct chip *chip)
{
	struct profiler_image image = {0};
	CUptiResult result = open_host(chip, &config->host);

	if (result != CUPTI_SUCCESS)
		return result;
	result = profiler_host_configure(chip->cupti, config->host, config->names,
					 config->name_count, &image);
	config->image = image.bytes;
	config->image_bytes = image.size;
	config->pass_count = image.pass_count;
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
	profiler_host_close(cupti, probe);
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
	profiler_host_close(cupti, config->host);
	free(config->image);
	config->host = NULL;
	config->image = NULL;
}
