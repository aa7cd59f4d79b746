/*
 * fake_driver.h - what the stand-in for the driver has beside cuda.h.
 */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <cuda.h>
#include <stdint.h>

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
	FUNCTION(cuModuleGetFunction)          \
	FUNCTION(cuLibraryGetKernel)           \
	FUNCTION(cuFuncGetAttribute)           \
	FUNCTION(cuFuncSetAttribute)           \
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
	FUNCTION(cuEventRecord)                \
	FUNCTION(cuEventSynchronize)           \
	FUNCTION(cuEventQuery)                 \
	FUNCTION(cuStreamWaitEvent)            \
	FUNCTION(cuLaunchHostFunc)             \
	FUNCTION(cuMemAlloc)                   \
	FUNCTION(cuMemHostAlloc)               \
	FUNCTION(cuMemFree)                    \
	FUNCTION(cuMemsetD8Async)              \
	FUNCTION(cuMemcpyDtoH)                 \
	FUNCTION(cuMemcpyDtoDAsync)            \
	FUNCTION(cuGraphInstantiateWithFlags)  \
	FUNCTION(cuGraphExecDestroy)           \
	FUNCTION(cuGraphDestroy)               \
	TWICE(cuGraphLaunch)                   \
	TWICE(cuLaunchKernel)                  \
	TWICE(cuLaunchKernelEx)                \
	TWICE(cuStreamEndCapture)              \
	TWICE(cuStreamSynchronize)

/* A hash of all that was done so far, in order. */
uint64_t fake_digest(void);

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
			CUdevice device);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			     unsigned by, unsigned bz, unsigned shared, CUstream stream,
			     void **parameters, void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **parameters,
			       void **extra);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *after,
					  const CUgraphEdgeData *edges, size_t count,
					  CUstreamCaptureMode mode);
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph);
CUresult cuStreamSynchronize_ptsz(CUstream stream);

#endif
