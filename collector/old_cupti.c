#include "old_cupti.h"

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "writer/trace_writer.h"

/* Counters and samples say it themselves: they miss functions. */
static const struct {
	uint32_t since;
	enum { ALWAYS, WITH_GRAPHS, WITH_CHOSEN_CALLS } when;
	const char *what;
} features[] = {
	{CUPTI_WITH_CHOSEN_CALLS, ALWAYS, "the SMs of green contexts"},
	{CUPTI_WITH_CHOSEN_CALLS, WITH_CHOSEN_CALLS,
	 "recording only API calls that matter (it records all, which is slower)"},
	{CUPTI_WITH_COPY_COUNT, ALWAYS, "how many copies a batch has"},
	{CUPTI_WITH_COPY_COUNT, WITH_GRAPHS, "graphs that the device launches"},
	{CUPTI_OF_CUDA_13, ALWAYS, "which kernels the device launched"},
};

static bool is_asked_for(int when, const struct options *options)
{
	return when == ALWAYS || (when == WITH_GRAPHS && options->is_graph_level) ||
	       (when == WITH_CHOSEN_CALLS && options->api == API_CHOSEN);
}

void old_cupti_tell(const struct cupti_api *cupti, const struct options *options)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
		if (cupti->version >= features[i].since || !is_asked_for(features[i].when, options))
			continue;
		trace_loss_add(LOSS_missing_features, 1);
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "", features[i].what);
	}
	if (used)
		log_warn("CUPTI %s is too old for: %s; the rest is recorded",
			 cupti_release(cupti->version).text, text);
}

bool old_cupti_chooses_calls(const struct cupti_api *cupti)
{
	return cupti->cuptiActivityEnableRuntimeApi && cupti->cuptiActivityEnableDriverApi;
}

bool old_cupti_is_device_launched(const struct cupti_api *cupti,
				  const CUpti_ActivityKernel10 *kernel)
{
	return cupti->version >= CUPTI_OF_CUDA_13 && kernel->isDeviceLaunched;
}

uint64_t old_cupti_copy_count(const struct cupti_api *cupti, const CUpti_ActivityMemcpy6 *copy)
{
	return cupti->version >= CUPTI_WITH_COPY_COUNT && copy->copyCount ? copy->copyCount : 1;
}

uint32_t old_cupti_sm_count(const struct cupti_api *cupti, const CUpti_ActivityContext3 *context)
{
	return cupti->version >= CUPTI_WITH_CHOSEN_CALLS && context->isGreenContext
		       ? context->numMultiprocessors
		       : 0;
}
