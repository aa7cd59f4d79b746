/*
 * fake_driver.h - what the stand-in for the driver has beside cuda.h.
 */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <cuda.h>
#include <stdint.h>

/* In cuGetProcAddress(): the one that find_functions() asks for, and one after the newest that try/ knows. */
enum { VERSION_KNOWN = 12050, VERSION_NEWER = 14000 };

#if CUDA_VERSION < 12050
typedef void CUctxCreateParams;
#endif

/* FUNCTION(name in cuda.h); TWICE the same, which exists for one default stream a thread, too. */
#define FAKE_DRIVER_FUNCTIONS(FUNCTION, TWICE) \
	FUNCTION(cuInit)                       \
	FUNCTION(cuDevicePrimaryCtxRetain)     \
	FUNCTION(cuCtxSetCurrent)              \
	FUNCTION(cuCtxGetCurrent)              \
	FUNCTION(cuCtxPushCurrent)             \
	FUNCTION(cuCtxPopCurrent)              \
	FUNCTION(cuCtxSynchronize)             \
	FUNCTION(cuCtxDestroy)                 \
	FUNCTION(cuModuleGetFunction)          \
	FUNCTION(cuLibraryGetKernel)           \
	FUNCTION(cuFuncGetAttribute)           \
	FUNCTION(cuFuncSetAttribute)           \
	FUNCTION(cuFuncSetCacheConfig)         \
	FUNCTION(cuKernelGetAttribute)         \
	FUNCTION(cuKernelSetAttribute)         \
	FUNCTION(cuKernelGetParamInfo)         \
	FUNCTION(cuFuncGetParamInfo)           \
	FUNCTION(cuKernelGetFunction)          \
	FUNCTION(cuStreamCreate)               \
	FUNCTION(cuStreamCreateWithPriority)   \
	FUNCTION(cuStreamDestroy)              \
	FUNCTION(cuStreamQuery)                \
	FUNCTION(cuEventCreate)                \
	FUNCTION(cuEventDestroy)               \
	FUNCTION(cuCtxGetDevice)               \
	FUNCTION(cuDeviceGetAttribute)         \
	FUNCTION(cuModuleLoadData)             \
	FUNCTION(cuLibraryLoadData)            \
	FUNCTION(cuEventSynchronize)           \
	FUNCTION(cuEventQuery)                 \
	FUNCTION(cuLaunchHostFunc)             \
	FUNCTION(cuMemAlloc)                   \
	FUNCTION(cuMemHostAlloc)               \
	FUNCTION(cuMemFree)                    \
	FUNCTION(cuMemFreeHost)                \
	FUNCTION(cuMemGetInfo)                 \
	FUNCTION(cuMemGetAddressRange)         \
	FUNCTION(cuPointerGetAttribute)        \
	FUNCTION(cuPointerGetAttributes)       \
	FUNCTION(cuIpcGetMemHandle)            \
	FUNCTION(cuMemAllocManaged)            \
	FUNCTION(cuMemHostRegister)            \
	FUNCTION(cuMemHostUnregister)          \
	FUNCTION(cuMemHostGetFlags)            \
	FUNCTION(cuGraphInstantiateWithFlags)  \
	FUNCTION(cuGraphExecDestroy)           \
	FUNCTION(cuGraphDestroy)               \
	TWICE(cuMemFreeAsync)                  \
	TWICE(cuEventRecord)                   \
	TWICE(cuEventRecordWithFlags)          \
	TWICE(cuStreamWaitEvent)               \
	TWICE(cuMemsetD8Async)                 \
	TWICE(cuMemsetD16Async)                \
	TWICE(cuMemsetD32Async)                \
	TWICE(cuGraphLaunch)                   \
	TWICE(cuLaunchKernel)                  \
	TWICE(cuLaunchKernelEx)                \
	TWICE(cuStreamEndCapture)              \
	TWICE(cuStreamSynchronize)

/* COPY(name in cuda.h, exported name, what that ends in for one default stream a thread) */
#define FAKE_DRIVER_COPIES(COPY)                             \
	COPY(cuMemcpyHtoD, cuMemcpyHtoD_v2, _ptds)           \
	COPY(cuMemcpyDtoH, cuMemcpyDtoH_v2, _ptds)           \
	COPY(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, _ptsz) \
	COPY(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, _ptsz) \
	COPY(cuMemcpy, cuMemcpy, _ptds)                      \
	COPY(cuMemcpyAsync, cuMemcpyAsync, _ptsz)

/* A hash of all that was done so far, in order.  Waits and questions are not in it. */
uint64_t fake_digest(void);

/* How much was done in the thread's context since the last wait for all of it. */
unsigned long fake_unfinished(void);

/* How often an event was waited for. */
unsigned long fake_event_waits(void);

/* The program is about to unmap these pages, to move or to empty them: the GPU keeps what it has registered of them. */
void fake_unmaps(const void *address, size_t bytes);

/* What the hash has in place of this memory's address, until it is freed. */
void fake_name(CUdeviceptr address, long name);

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
			CUdevice device);
CUresult cuCtxSynchronize_v2(CUcontext context);
CUresult cuMemFree_v9(CUdeviceptr address, long more);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			     unsigned by, unsigned bz, unsigned shared, CUstream stream,
			     void **parameters, void **extra);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
					unsigned bx, unsigned by, unsigned bz, unsigned shared,
					CUstream stream, void **parameters);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **parameters,
			       void **extra);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *after,
					  const CUgraphEdgeData *edges, size_t count,
					  CUstreamCaptureMode mode);
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags);
CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr address, unsigned char value, size_t count,
			      CUstream stream);
CUresult cuMemsetD16Async_ptsz(CUdeviceptr address, unsigned short value, size_t count,
			       CUstream stream);
CUresult cuMemsetD32Async_ptsz(CUdeviceptr address, unsigned value, size_t count, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);

#endif
