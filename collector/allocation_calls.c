#define _GNU_SOURCE
#include "allocation_calls.h"

#include <dlfcn.h>

#include "clock.h"
#include "program_calls.h"
#include "program_rows.h"
#include "window.h"

#define UNKNOWN_DEVICE UINT32_MAX
#define CBID_LIMIT 2048

/* How a call gets its memory: which structure its parameters have. */
enum form {
	LINEAR,
	PITCHED,
	HOST,
	REGISTERED,
	IN_STREAM,
	IN_POOL,
	ARRAY,
	ARRAY_3D,
	MIPMAPPED,
	FREED,
	FREED_IN_STREAM
};

/* To follow one more call: one row, and where its parameters differ one form.  The parameters of variants such as _ptsz
 * have the same layout.  What the runtime allocates comes here, too: it calls the driver. */
static const struct memory_call {
	CUpti_CallbackId id;
	enum form form;
	CUpti_ActivityMemoryKind memory;
	bool is_per_thread; /* its default stream is the thread's own */
} memory_calls[] = {
	{CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, LINEAR, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2, PITCHED, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, LINEAR, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, FREED, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2, HOST, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, HOST, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, FREED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, REGISTERED,
	 CUPTI_ACTIVITY_MEMORY_KIND_PINNED, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister, FREED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, IN_STREAM, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz, IN_STREAM, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	 true},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync, IN_POOL,
	 CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz, IN_POOL,
	 CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, true},
	{CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, FREED_IN_STREAM, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz, FREED_IN_STREAM,
	 CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, true},
	{CUPTI_DRIVER_TRACE_CBID_cuArrayCreate_v2, ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, false},
	{CUPTI_DRIVER_TRACE_CBID_cuArray3DCreate_v2, ARRAY_3D, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY,
	 false},
	{CUPTI_DRIVER_TRACE_CBID_cuArrayDestroy, FREED, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayCreate, MIPMAPPED,
	 CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, false},
	{CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy, FREED, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY,
	 false},
};
#define CALL_COUNT (sizeof(memory_calls) / sizeof(*memory_calls))

static const struct cupti_api *cupti;
static const struct memory_call *call_of[CBID_LIMIT]; /* not changed once callbacks come */
static CUresult (*device_get_pool)(CUmemoryPool *, CUdevice);

/* ---- what a call was given ---- */

/* Bytes of a texel's channel, 0 for block-compressed and video formats (cuda.h, CUarray_format). */
static uint64_t channel_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

/* A dimension that an array does not have is 0. */
static uint64_t array_bytes(size_t width, size_t height, size_t depth, CUarray_format format,
			    unsigned int channels)
{
	return (uint64_t)width * (height ? height : 1) * (depth ? depth : 1) * channels *
	       channel_bytes(format);
}

/* Each level halves every dimension (CUDA C++ Programming Guide, "Mipmapped Textures"). */
static uint64_t mipmap_bytes(const CUDA_ARRAY3D_DESCRIPTOR *array, unsigned int levels)
{
	uint64_t bytes = 0;

	for (unsigned int level = 0; level < levels && level < 32; level++) {
		size_t width = array->Width >> level, height = array->Height >> level,
		       depth = array->Depth >> level;

		bytes += array_bytes(width ? width : 1, height, depth, array->Format,
				     array->NumChannels);
	}
	return bytes;
}

/* Fill in address, bytes, pool and stream of a call that has succeeded. */
static void read_parameters(enum form form, const void *parameters,
			    struct trace_allocations_row *row, CUstream *stream)
{
	switch (form) {
	case LINEAR: {
		const cuMemAlloc_v2_params *call = parameters;

		row->address = *call->dptr;
		row->bytes = call->bytesize;
		break;
	}
	case PITCHED: {
		const cuMemAllocPitch_v2_params *call = parameters;

		row->address = *call->dptr;
		row->bytes = (uint64_t)*call->pPitch * call->Height;
		break;
	}
	case HOST: {
		const cuMemHostAlloc_params *call = parameters;

		row->address = (uintptr_t)*call->pp;
		row->bytes = call->bytesize;
		break;
	}
	case REGISTERED: {
		const cuMemHostRegister_v2_params *call = parameters;

		row->address = (uintptr_t)call->p;
		row->bytes = call->bytesize;
		break;
	}
	case IN_STREAM: {
		const cuMemAllocAsync_params *call = parameters;

		row->address = *call->dptr;
		row->bytes = call->bytesize;
		*stream = call->hStream;
		break;
	}
	case IN_POOL: {
		const cuMemAllocFromPoolAsync_params *call = parameters;

		row->address = *call->dptr;
		row->bytes = call->bytesize;
		row->pool = (uintptr_t)call->pool;
		*stream = call->hStream;
		break;
	}
	case ARRAY: {
		const cuArrayCreate_v2_params *call = parameters;
		const CUDA_ARRAY_DESCRIPTOR *array = call->pAllocateArray;

		row->address = (uintptr_t)*call->pHandle;
		row->bytes = array_bytes(array->Width, array->Height, 0, array->Format,
					 array->NumChannels);
		break;
	}
	case ARRAY_3D: {
		const cuArray3DCreate_v2_params *call = parameters;
		const CUDA_ARRAY3D_DESCRIPTOR *array = call->pAllocateArray;

		row->address = (uintptr_t)*call->pHandle;
		row->bytes = array_bytes(array->Width, array->Height, array->Depth, array->Format,
					 array->NumChannels);
		break;
	}
	case MIPMAPPED: {
		const cuMipmappedArrayCreate_params *call = parameters;

		row->address = (uintptr_t)*call->pHandle;
		row->bytes = mipmap_bytes(call->pMipmappedArrayDesc, call->numMipmapLevels);
		break;
	}
	case FREED_IN_STREAM:
		*stream = ((const cuMemFreeAsync_params *)parameters)->hStream;
		row->address = ((const cuMemFreeAsync_params *)parameters)->dptr;
		break;
	case FREED: /* a pointer or handle is all that these calls have */
		row->address = ((const cuMemFree_v2_params *)parameters)->dptr;
		break;
	}
}

static bool is_free(enum form form)
{
	return form == FREED || form == FREED_IN_STREAM;
}

static bool is_in_stream(enum form form)
{
	return form == IN_STREAM || form == IN_POOL || form == FREED_IN_STREAM;
}

/* ---- rows ---- */

static uint32_t device_of(CUcontext context)
{
	uint32_t device = UNKNOWN_DEVICE;

	if (!context || !cupti->cuptiGetDeviceId ||
	    cupti->cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		return UNKNOWN_DEVICE;
	return device;
}

/* Return the pool from which a device allocates now: cuDeviceSetMemPool may change it at any time. */
static uint64_t current_pool(uint32_t device)
{
	CUmemoryPool pool = NULL;

	if (!device_get_pool || device == UNKNOWN_DEVICE ||
	    device_get_pool(&pool, (CUdevice)device) != CUDA_SUCCESS)
		return 0;
	return (uintptr_t)pool;
}

static void put_row(const struct memory_call *call, const CUpti_CallbackData *data, int64_t time_ns)
{
	struct trace_allocations_row row = {
		.time_ns = time_ns,
		.operation = is_free(call->form) ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
						 : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memory = call->memory,
		.is_async = is_in_stream(call->form),
		.device = device_of(data->context),
		.context = data->contextUid,
		.stream = PROGRAM_NO_STREAM,
		.correlation = data->correlationId,
	};
	CUstream stream = NULL;

	read_parameters(call->form, data->functionParams, &row, &stream);
	if (!row.address) /* cudaFree(NULL) only creates the context */
		return;
	if (row.is_async)
		row.stream = program_calls_stream_id(data, stream, call->is_per_thread);
	if (call->form == IN_STREAM)
		row.pool = current_pool(row.device);
	program_rows_put_allocation(&row);
}

/* Memory that is freed may be another thread's before the call returns, so the time of a free is that of its beginning.
 * CUPTI keeps a number for us between both ends of a call. */
static void on_memory_call(const struct memory_call *call, const CUpti_CallbackData *data)
{
	int64_t time_ns = clock_ns(CLOCK_REALTIME);

	if (data->callbackSite == CUPTI_API_ENTER) {
		*data->correlationData = (uint64_t)time_ns;
		return;
	}
	if (program_calls_result(data) != CUDA_SUCCESS)
		return;
	if (is_free(call->form))
		time_ns = (int64_t)*data->correlationData;
	if (time_ns && window_contains(time_ns))
		put_row(call, data, time_ns);
}

void allocation_calls_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	const struct memory_call *call = call_of[id % CBID_LIMIT];

	if (call)
		on_memory_call(call, data);
}

void allocation_calls_on_static(CUcontext context, uint64_t bytes, bool is_managed)
{
	struct trace_allocations_row row = {
		.time_ns = clock_ns(CLOCK_REALTIME),
		.operation = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memory = is_managed ? CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC
				     : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC,
		.bytes = bytes,
		.device = cupti ? device_of(context) : UNKNOWN_DEVICE,
		.stream = PROGRAM_NO_STREAM,
	};

	if (cupti && row.device != UNKNOWN_DEVICE && window_contains(row.time_ns))
		program_rows_put_allocation(&row);
}

void allocation_calls_start(const struct cupti_api *api, CUpti_SubscriberHandle subscriber,
			    const struct options *options)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!options->allocations)
		return;
	if (library)
		*(void **)&device_get_pool = dlsym(library, "cuDeviceGetMemPool");
	cupti = api;
	for (size_t i = 0; i < CALL_COUNT; i++) {
		call_of[memory_calls[i].id] = &memory_calls[i];
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
					   memory_calls[i].id);
	}
}
