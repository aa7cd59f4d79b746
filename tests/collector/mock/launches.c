/*
 * launches.c - launches and captures as the stand-in for CUPTI sees them: callbacks, a record, counts.
 */
#define _GNU_SOURCE
#include "buffers.h"
#include "callbacks.h"
#include "environment.h"
#include "ranges.h"
#include "samples.h"

/* From now on; whoever samples the GPU may put it off. */
static struct mock_kernel run_kernel(const struct mock_launch *launch)
{
	uint64_t now_ns = mock_now_ns();
	struct mock_kernel kernel = {
		.device = mock_device_of((uintptr_t)launch->context),
		.name = launch->name,
		.blocks = launch->blocks,
		.is_recorded = mock_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		.start_ns = now_ns,
		.end_ns = now_ns + launch->run_ns,
	};

	if (mock_sample_kernel)
		mock_sample_kernel(&kernel);
	return kernel;
}

static bool is_graph(const struct mock_launch *launch)
{
	return launch->call == MOCK_GRAPH || launch->call == MOCK_GRAPH_PER_THREAD;
}

static void record_launch(const struct mock_launch *launch, uint32_t correlation, bool is_replayed)
{
	CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					 .contextId = launch->context_id,
					 .gridX = (int32_t)launch->blocks,
					 .gridY = 1,
					 .gridZ = 1,
					 .blockX = 256,
					 .blockY = 1,
					 .blockZ = 1,
					 .correlationId = correlation,
					 .graphId = is_graph(launch) ? 9 : 0,
					 .name = launch->name};
	struct mock_kernel ran = run_kernel(launch);

	if (!ran.is_recorded)
		return;
	if (!is_replayed) {
		kernel.start = ran.start_ns;
		kernel.end = ran.end_ns;
	}
	mock_append_record(&kernel, true);
}

/* The parameters of each way to launch, as the driver hands them to callbacks. */
union launch_parameters {
	cuLaunchKernel_params plain;
	cuLaunchKernelEx_params extended;
	cuLaunchCooperativeKernel_params cooperative;
	cuGraphLaunch_params graph;
};

#define SHAPE(launch)                                                                 \
	.gridDimX = (launch)->blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, \
	.blockDimY = 1, .blockDimZ = 1

static CUpti_CallbackId fill_parameters(union launch_parameters *parameters, CUlaunchConfig *config,
					CUlaunchAttribute *attribute,
					const struct mock_launch *launch)
{
	void *function = (void *)(uintptr_t)launch->function;

	*config = (CUlaunchConfig){SHAPE(launch), .attrs = attribute, .numAttrs = 1};
	attribute->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	attribute->value.cooperative = launch->call == MOCK_EXTENDED_COOPERATIVE;
	switch (launch->call) {
	case MOCK_PLAIN:
	case MOCK_PER_THREAD:
		parameters->plain = (cuLaunchKernel_params){.f = function,
							    SHAPE(launch),
							    .kernelParams = launch->parameters,
							    .extra = launch->extra};
		return launch->call == MOCK_PLAIN ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
						  : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz;
	case MOCK_EXTENDED:
	case MOCK_EXTENDED_PER_THREAD:
	case MOCK_EXTENDED_COOPERATIVE:
		parameters->extended = (cuLaunchKernelEx_params){.config = config,
								 .f = function,
								 .kernelParams = launch->parameters,
								 .extra = launch->extra};
		return launch->call == MOCK_EXTENDED_PER_THREAD
			       ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz
			       : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
	case MOCK_COOPERATIVE:
	case MOCK_COOPERATIVE_PER_THREAD:
		parameters->cooperative =
			(cuLaunchCooperativeKernel_params){.f = function,
							   SHAPE(launch),
							   .kernelParams = launch->parameters};
		return launch->call == MOCK_COOPERATIVE
			       ? CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel
			       : CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz;
	default:
		parameters->graph = (cuGraphLaunch_params){.hGraph = function};
		return launch->call == MOCK_GRAPH ? CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch
						  : CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
	}
}

/* The launch itself, between the callbacks: nothing of the driver's is held. */
static void run_launch(const struct mock_launch *launch, uint32_t correlation)
{
	bool is_replayed;

	if (launch->during)
		launch->during(launch);
	mock_count_launch(launch, correlation, &is_replayed);
	if (!mock_is_capturing)
		record_launch(launch, correlation, is_replayed);
}

void mock_launch(const struct mock_launch *launch)
{
	static uint32_t last_correlation = 100000;
	union launch_parameters parameters = {{0}};
	CUlaunchConfig config;
	CUlaunchAttribute attribute;
	CUresult status = CUDA_SUCCESS;
	CUpti_CallbackId id = fill_parameters(&parameters, &config, &attribute, launch);
	CUpti_CallbackData data = {
		.functionParams = &parameters,
		.functionReturnValue = &status,
		.symbolName = is_graph(launch) ? NULL : launch->name,
		.context = launch->context,
		.contextUid = launch->context_id,
		.correlationId = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED),
	};

	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_ENTER);
	run_launch(launch, data.correlationId);
	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_EXIT);
}

static const struct {
	CUpti_CallbackId begin, end;
} capture_calls[] = {
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
	 CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
	 CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
	 CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
	 CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture},
	{CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
	 CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz},
};

void mock_capture(bool is_begin, int status)
{
	size_t form = (size_t)mock_number("MOCK_CAPTURE", 0) %
		      (sizeof(capture_calls) / sizeof(*capture_calls));
	cuStreamBeginCapture_v2_params parameters = {NULL, CU_STREAM_CAPTURE_MODE_GLOBAL};
	CUresult result = (CUresult)status;
	CUpti_CallbackData data = {.functionParams = &parameters, .functionReturnValue = &result};
	CUpti_CallbackId id = is_begin ? capture_calls[form].begin : capture_calls[form].end;

	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_ENTER);
	if (result == CUDA_SUCCESS)
		mock_is_capturing = is_begin;
	mock_call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_EXIT);
}
