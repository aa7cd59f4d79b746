#include "launch_call.h"

#define DRIVER(name) CUPTI_DRIVER_TRACE_CBID_##name

/* How a call's parameters tell what it launches. */
enum shape { PLAIN, EXTENDED, GRAPH, NOTHING };

static const struct {
	CUpti_CallbackId id;
	enum launch_kind kind;
	enum shape shape;
} calls[] = {
	{DRIVER(cuLaunchKernel), LAUNCH_KERNEL, PLAIN},
	{DRIVER(cuLaunchKernel_ptsz), LAUNCH_KERNEL, PLAIN},
	{DRIVER(cuLaunchKernelEx), LAUNCH_KERNEL, EXTENDED},
	{DRIVER(cuLaunchKernelEx_ptsz), LAUNCH_KERNEL, EXTENDED},
	{DRIVER(cuLaunchCooperativeKernel), LAUNCH_COOPERATIVE, NOTHING},
	{DRIVER(cuLaunchCooperativeKernel_ptsz), LAUNCH_COOPERATIVE, NOTHING},
	{DRIVER(cuLaunchCooperativeKernelMultiDevice), LAUNCH_COOPERATIVE, NOTHING},
	{DRIVER(cuGraphLaunch), LAUNCH_GRAPH, GRAPH},
	{DRIVER(cuGraphLaunch_ptsz), LAUNCH_GRAPH, GRAPH},
	{DRIVER(cuStreamBeginCapture), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamBeginCapture_ptsz), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamBeginCapture_v2), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamBeginCapture_v2_ptsz), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamBeginCaptureToGraph), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamBeginCaptureToGraph_ptsz), CAPTURE_BEGIN, NOTHING},
	{DRIVER(cuStreamEndCapture), CAPTURE_END, NOTHING},
	{DRIVER(cuStreamEndCapture_ptsz), CAPTURE_END, NOTHING},
};

void launch_call_enable(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls[i].id);
}

/* FNV-1a over 64-bit words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	for (int byte = 0; byte < 8; byte++) {
		hash ^= (word >> (8 * byte)) & 0xff;
		hash *= UINT64_C(0x100000001b3);
	}
	return hash;
}

static uint64_t mix_shape(uint64_t hash, const unsigned int shape[7])
{
	for (int i = 0; i < 7; i++)
		hash = mix(hash, shape[i]);
	return hash;
}

static void set_shape(struct launch_call *call, CUfunction function, const unsigned int shape[7])
{
	uint64_t threads = (uint64_t)shape[3] * shape[4] * shape[5];

	call->signature = mix_shape(mix(UINT64_C(0xcbf29ce484222325), (uintptr_t)function), shape);
	call->warps = (uint64_t)shape[0] * shape[1] * shape[2] * ((threads + 31) / 32);
}

static void read_plain(struct launch_call *launch, const cuLaunchKernel_params *call)
{
	const unsigned int shape[7] = {call->gridDimX,	    call->gridDimY,  call->gridDimZ,
				       call->blockDimX,	    call->blockDimY, call->blockDimZ,
				       call->sharedMemBytes};

	set_shape(launch, call->f, shape);
}

static void read_config(struct launch_call *launch, const CUlaunchConfig *config,
			CUfunction function)
{
	const unsigned int shape[7] = {config->gridDimX,      config->gridDimY,	 config->gridDimZ,
				       config->blockDimX,     config->blockDimY, config->blockDimZ,
				       config->sharedMemBytes};

	set_shape(launch, function, shape);
}

static bool is_cooperative(const CUlaunchConfig *config)
{
	for (unsigned int i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
		    config->attrs[i].value.cooperative)
			return true;
	return false;
}

static void read_extended(struct launch_call *call, const cuLaunchKernelEx_params *parameters)
{
	if (!parameters->config)
		call->kind = LAUNCH_NONE; /* the call is about to fail */
	else if (is_cooperative(parameters->config))
		call->kind = LAUNCH_COOPERATIVE;
	else
		read_config(call, parameters->config, parameters->f);
}

static void read_parameters(struct launch_call *call, enum shape shape, const void *parameters)
{
	if (shape == PLAIN)
		read_plain(call, parameters);
	else if (shape == EXTENDED)
		read_extended(call, parameters);
	else if (shape == GRAPH) /* the member's name differs between headers */
		call->signature = mix(1, (uintptr_t) * (const CUgraphExec *)parameters);
}

struct launch_call launch_call_read(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	struct launch_call call = {.name = data->symbolName ? data->symbolName : ""};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].id == id) {
			call.kind = calls[i].kind;
			if (data->functionParams)
				read_parameters(&call, calls[i].shape, data->functionParams);
		}
	return call;
}
