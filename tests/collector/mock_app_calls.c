/*
 * mock_app_calls.c - the steps of mock_app that call what records of calls leave out: events, streams, graphs.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mock_app.h"

static void driver_call(CUpti_CallbackId id, const void *parameters, int status)
{
	if (mock.mock_program_call)
		mock.mock_program_call(CUPTI_CB_DOMAIN_DRIVER_API, id, parameters, status, NULL);
}

/* event:record, event:wait, event:synchronize, event:stream, event:refused, event:per_thread - of event 5 and stream 7 */
static void step_event(const char *argument)
{
	CUevent event = (CUevent)5;
	CUstream stream = (CUstream)7;
	cuEventRecord_params record = {event, stream};
	cuStreamWaitEvent_params wait = {stream, event, 0};
	cuEventSynchronize_params synchronize = {event};
	cuStreamSynchronize_params whole = {stream};

	if (!strcmp(argument, "record"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, &record, CUDA_SUCCESS);
	else if (!strcmp(argument, "refused"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, &record,
			    CUDA_ERROR_INVALID_HANDLE);
	else if (!strcmp(argument, "per_thread"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, &record, CUDA_SUCCESS);
	else if (!strcmp(argument, "wait"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, &wait, CUDA_SUCCESS);
	else if (!strcmp(argument, "synchronize"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, &synchronize, CUDA_SUCCESS);
	else if (!strcmp(argument, "stream"))
		driver_call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &whole, CUDA_SUCCESS);
	else
		fail("event", argument);
}

/* attribute:WHICH - by cuLaunchKernelEx: dependent, independent, event, priority, cooperative or none; or refused */
static void step_attribute(const char *argument)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
	CUlaunchConfig config = {.attrs = &attribute, .numAttrs = 1};
	cuLaunchKernelEx_params call = {.config = &config};
	bool is_refused = !strcmp(argument, "refused");

	if (!strcmp(argument, "dependent") || !strcmp(argument, "independent") || is_refused) {
		attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		attribute.value.programmaticStreamSerializationAllowed =
			strcmp(argument, "independent") != 0;
	} else if (!strcmp(argument, "event")) {
		attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
		attribute.value.programmaticEvent.event = (CUevent)5;
	} else if (!strcmp(argument, "priority")) {
		attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
		attribute.value.priority = -3;
	} else if (!strcmp(argument, "cooperative")) {
		attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attribute.value.cooperative = 1;
	} else if (!strcmp(argument, "none")) {
		config.numAttrs = 0;
	} else {
		fail("attribute", argument);
	}
	driver_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &call,
		    is_refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

/* load:WHICH - cubin, ptx or fatbin in memory that was allocated, short or empty text in it, wrapper: which points to the
 * program's own code; embedded: that itself; file: by its name; none: a null pointer */
static void step_load(const char *argument)
{
	static const uint32_t embedded[] = {0xba55ed50};
	const struct {
		const char *name, *image;
		size_t size;
	} images[] = {{"cubin", "\177ELF and more", 12},
		      {"ptx", "// PTX\n.version 8.0", 20},
		      {"fatbin", "\x50\xed\x55\xba....", 8},
		      {"short", "\n", 2},
		      {"empty", "", 1}};
	struct {
		uint32_t magic, version;
		const void *data;
	} wrapper = {0x466243b1, 1, embedded};
	cuModuleLoadData_params call = {0};
	void *image = NULL;

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
		if (!strcmp(argument, images[i].name)) {
			image = malloc(
				images[i]
					.size); /* of its size, so that ASan sees who reads beyond it */
			memcpy(image, images[i].image, images[i].size);
		}
	call.image = !strcmp(argument, "wrapper")    ? (const void *)&wrapper
		     : !strcmp(argument, "embedded") ? (const void *)embedded
						     : image;
	driver_call(strcmp(argument, "file") ? CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData
					     : CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
		    &call, CUDA_SUCCESS);
	free(image);
}

/* unload - what was loaded last */
static void step_unload(const char *argument)
{
	cuModuleUnload_params call = {0};

	(void)argument;
	driver_call(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, &call, CUDA_SUCCESS);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* managed - one record of each kind, where they were enabled */
static void step_managed(const char *argument)
{
	CUpti_ActivityUnifiedMemoryCounter3 counter = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.value = 65536,
		.start = now_ns(),
		.address = 0x7f0000000000,
		.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE,
	};

	(void)argument;
	if (!mock.mock_emit || !mock.mock_is_enabled(counter.kind))
		return;
	for (uint32_t kind = 1; kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT; kind++) {
		counter.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)kind;
		counter.end = kind == 3 ? 0 : counter.start + 2000;
		mock.mock_emit(&counter);
	}
}

static void take_three_ms(void)
{
	usleep(3000);
}

/* create_streams:N - takes 3 ms each */
static void step_create_streams(const char *argument)
{
	for (long i = number(argument); mock.mock_program_call && i > 0; i--)
		mock.mock_program_call(CUPTI_CB_DOMAIN_RUNTIME_API,
				       CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreate_v3020, NULL, 0,
				       take_three_ms);
}

static void tell_of_graph(CUpti_CallbackId id, const CUpti_GraphData *graph)
{
	if (mock.mock_resource)
		mock.mock_resource(id, graph);
}

static CUgraphNode node(long i)
{
	return (CUgraphNode)i;
}

/* graph:N - nodes 1 to N in a row, instantiated: their clones are 1001 to 1000 + N */
static void step_graph(const char *argument)
{
	CUgraph graph = (CUgraph)1, clone = (CUgraph)2;

	for (long i = 1; i <= number(argument); i++)
		tell_of_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
			      &(CUpti_GraphData){.graph = graph, .node = node(i)});
	for (long i = 1; i < number(argument); i++)
		tell_of_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
			      &(CUpti_GraphData){.graph = graph,
						 .node = node(i + 1),
						 .dependency = node(i)});
	for (long i = 1; i <= number(argument); i++)
		tell_of_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
			      &(CUpti_GraphData){.graph = clone,
						 .originalGraph = graph,
						 .node = node(1000 + i),
						 .originalNode = node(i)});
}

/* allocate:WHICH - one or more calls that allocate and free at an address that tells the form */
static void step_allocate(const char *argument)
{
	CUdeviceptr address = 0x1000;
	void *host = (void *)0x2000;
	size_t pitch = 512;
	CUstream stream = (CUstream)7;
	CUarray array = (CUarray)0x3000;
	CUmipmappedArray mipmap = (CUmipmappedArray)0x4000;
	CUDA_ARRAY_DESCRIPTOR flat = {.Width = 10,
				      .Height = 4,
				      .Format = CU_AD_FORMAT_HALF,
				      .NumChannels = 2};
	CUDA_ARRAY3D_DESCRIPTOR deep = {.Width = 8,
					.Height = 4,
					.Depth = 2,
					.Format = CU_AD_FORMAT_FLOAT,
					.NumChannels = 1};
	cuMemAlloc_v2_params linear = {&address, 1000};
	cuMemAllocPitch_v2_params pitched = {&address, &pitch, 500, 3, 4};
	cuMemAllocManaged_params managed = {&address, 4000, 1};
	cuMemHostAlloc_params pinned = {&host, 2000, 0};
	cuMemHostRegister_v2_params registered = {host, 3000, 0};
	cuMemAllocAsync_params in_stream = {&address, 5000, stream};
	cuMemAllocFromPoolAsync_params in_pool = {&address, 6000, (CUmemoryPool)0x99, stream};
	cuArrayCreate_v2_params of_array = {&array, &flat};
	cuArray3DCreate_v2_params of_deep = {&array, &deep};
	cuMipmappedArrayCreate_params of_mipmap = {&mipmap, &deep, 2};
	cuMemFree_v2_params freed = {address};
	cuMemFreeAsync_params freed_in_stream = {address, stream};
	const struct {
		const char *name;
		CUpti_CallbackId id;
		const void *parameters;
		int status;
	} calls[] = {
		{"linear", CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &linear, 0},
		{"pitched", CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2, &pitched, 0},
		{"managed", CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, &managed, 0},
		{"pinned", CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &pinned, 0},
		{"registered", CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &registered, 0},
		{"in_stream", CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &in_stream, 0},
		{"per_thread", CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz, &in_stream, 0},
		{"in_pool", CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync, &in_pool, 0},
		{"array", CUPTI_DRIVER_TRACE_CBID_cuArrayCreate_v2, &of_array, 0},
		{"deep", CUPTI_DRIVER_TRACE_CBID_cuArray3DCreate_v2, &of_deep, 0},
		{"mipmap", CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayCreate, &of_mipmap, 0},
		{"freed", CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &freed, 0},
		{"freed_in_stream", CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, &freed_in_stream, 0},
		{"refused", CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &linear, 2},
		{"freed_null", CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &(cuMemFree_v2_params){0}, 0},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, argument)) {
			driver_call(calls[i].id, calls[i].parameters, calls[i].status);
			return;
		}
	fail("allocate", argument);
}

static void die(void)
{
	raise(SIGSEGV);
}

/* dies_in:free, dies_in:event - a fault within a call, as CUPTI's own; without one, and with ROOFLINE_ALLOCATIONS=0, none in free */
static void step_dies_in(const char *argument)
{
	cuMemFreeAsync_params free_call = {0};
	cuEventRecord_params record = {(CUevent)5, (CUstream)7};
	bool is_free = !strcmp(argument, "free");

	if (!mock.mock_program_call ||
	    (is_free && !mock.mock_calls_back(CUPTI_CB_DOMAIN_DRIVER_API,
					      CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync)))
		return;
	mock.mock_program_call(CUPTI_CB_DOMAIN_DRIVER_API,
			       is_free ? CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync
				       : CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
			       is_free ? (void *)&free_call : (void *)&record, CUDA_SUCCESS, die);
}

const struct step call_steps[] = {
	{"dies_in", step_dies_in},
	{"event", step_event},
	{"attribute", step_attribute},
	{"load", step_load},
	{"unload", step_unload},
	{"managed", step_managed},
	{"create_streams", step_create_streams},
	{"graph", step_graph},
	{"allocate", step_allocate},
	{NULL, NULL},
};
