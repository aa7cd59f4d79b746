/*
 * libmock_cuda.c - the few functions of libcuda.so.1 that the collector calls.
 *
 * The test program says how long a context has work to do (mock_be_busy); cuCtxSynchronize waits for
 * that, as the driver's does.  While a stream is captured (mock_set_capture) only a thread in the
 * relaxed mode may synchronize.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>

#include "mock/mock_cupti.h"
#include "roofline/cupti_versions.h"

#define CONTEXTS 64

void mock_be_busy(CUcontext context, unsigned int ms);
void mock_set_capture(bool is_begin);
void mock_set_parameters(CUfunction function, const size_t *bytes, size_t count);

static int64_t busy_until_ns[CONTEXTS];
static int captures;
static __thread CUcontext current;
static __thread CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t *busy_until(CUcontext context)
{
	return &busy_until_ns[(uintptr_t)context % CONTEXTS];
}

void mock_be_busy(CUcontext context, unsigned int ms)
{
	__atomic_store_n(busy_until(context), now_ns() + ms * INT64_C(1000000), __ATOMIC_RELAXED);
}

void mock_set_capture(bool is_begin)
{
	__atomic_add_fetch(&captures, is_begin ? 1 : -1, __ATOMIC_RELAXED);
}

CUresult CUDAAPI cuInit(unsigned int flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static void (*record_call)(CUpti_CallbackId);

static void find_record_call(void)
{
	const char *path = getenv("ROOFLINE_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

	if (library)
		*(void **)&record_call = dlsym(library, "mock_record_call");
}

/* The stand-in for CUPTI records it where the collector has enabled that. */
CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_record_call);
	if (record_call)
		record_call(CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion);
	*version = getenv("MOCK_DRIVER") ? atoi(getenv("MOCK_DRIVER")) : CUDA_VERSION;
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context)
{
	current = context;
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
	if (__atomic_load_n(&captures, __ATOMIC_RELAXED) &&
	    capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	while (now_ns() < __atomic_load_n(busy_until(current), __ATOMIC_RELAXED))
		usleep(1000);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = capture_mode;

	capture_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

/* Every kernel keeps variables in local memory. */
CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	(void)function;
	*value = attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? 312 : 0;
	return CUDA_SUCCESS;
}

/* ---- parameters of kernels, as the test program says ---- */

#define KERNELS 64
#define PARAMETERS 32

static struct {
	CUfunction function;
	size_t count, bytes[PARAMETERS];
} kernels[KERNELS];

void mock_set_parameters(CUfunction function, const size_t *bytes, size_t count)
{
	size_t i = (uintptr_t)function % KERNELS;

	kernels[i].function = function;
	kernels[i].count = count;
	for (size_t p = 0; p < count; p++)
		kernels[i].bytes[p] = bytes[p];
}

static size_t aligned(size_t offset, size_t bytes)
{
	size_t alignment = bytes % 8 == 0 ? 8 : 4;

	return (offset + alignment - 1) / alignment * alignment;
}

/* Handles of even number are functions, those of odd number kernels, as the runtime has them. */
static CUresult parameter(uintptr_t handle, bool is_kernel, size_t index, size_t *offset,
			  size_t *bytes)
{
	size_t i = handle % KERNELS, end = 0;

	if ((handle % 2 == 1) != is_kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if ((uintptr_t)kernels[i].function != handle || index >= kernels[i].count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t p = 0; p <= index; p++) {
		*offset = aligned(end, kernels[i].bytes[p]);
		*bytes = kernels[i].bytes[p];
		end = *offset + *bytes;
	}
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
				    size_t *bytes)
{
	return parameter((uintptr_t)function, false, index, offset, bytes);
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
	return parameter((uintptr_t)kernel, true, index, offset, bytes);
}

/* A driver of CUDA 13 has it; it is not called. */
void cuDeviceGetHostAtomicCapabilities_is_there(void) __asm__(CUPTI_13_DRIVER_FUNCTION);
void cuDeviceGetHostAtomicCapabilities_is_there(void)
{
}
