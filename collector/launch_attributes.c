#include "launch_attributes.h"

#include <stdatomic.h>

#include "program_rows.h"

static atomic_bool is_enabled; /* callbacks of other calls may come already when it is set */

static bool is_extended(CUpti_CallbackId id)
{
	return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
	       id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
}

static void read_attribute(struct trace_launch_attributes_row *row,
			   const CUlaunchAttribute *attribute)
{
	switch (attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		row->is_dependent = attribute->value.programmaticStreamSerializationAllowed != 0;
		break;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		row->has_event = attribute->value.programmaticEvent.event != NULL;
		break;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		row->has_priority = 1;
		row->priority = (uint32_t)attribute->value.priority;
		break;
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		row->is_cooperative = attribute->value.cooperative != 0;
		break;
	default:
		break;
	}
}

static void note_attributes(uint32_t correlation, const CUlaunchConfig *config)
{
	struct trace_launch_attributes_row row = {.correlation = correlation};

	for (unsigned int i = 0; config->attrs && i < config->numAttrs; i++)
		read_attribute(&row, &config->attrs[i]);
	if (row.is_dependent || row.has_event || row.has_priority || row.is_cooperative)
		program_rows_put_launch(&row);
}

bool launch_attributes_follows(CUpti_CallbackId id)
{
	return is_extended(id) && atomic_load_explicit(&is_enabled, memory_order_relaxed);
}

void launch_attributes_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	const cuLaunchKernelEx_params *call = data->functionParams;
	const CUresult *result = data->functionReturnValue;

	if (!launch_attributes_follows(id) || data->callbackSite != CUPTI_API_EXIT || !call ||
	    !call->config || (result && *result != CUDA_SUCCESS))
		return;
	note_attributes(data->correlationId, call->config);
}

void launch_attributes_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			     const struct options *options)
{
	if (!options->launch_attributes)
		return;
	is_enabled = true;
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
				   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
	cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
				   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
}
