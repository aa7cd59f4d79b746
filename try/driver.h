/*
 * driver.h - the driver's own functions, as this library calls them: never through its wrappers.
 */
#ifndef ROOFLINE_TRY_DRIVER_H
#define ROOFLINE_TRY_DRIVER_H

#include <cuda.h>
#include <stdbool.h>

/* CALL(member, declaration in cuda.h, exported name).  With a driver that lacks one nothing is put off. */
#define DRIVER_CALLS(CALL)                                                                         \
	CALL(launch, cuLaunchKernel, "cuLaunchKernel")                                             \
	CALL(launch_ptsz, cuLaunchKernel, "cuLaunchKernel_ptsz")                                   \
	CALL(launch_ex, cuLaunchKernelEx, "cuLaunchKernelEx")                                      \
	CALL(launch_ex_ptsz, cuLaunchKernelEx, "cuLaunchKernelEx_ptsz")                            \
	CALL(launch_cooperative, cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel")           \
	CALL(launch_cooperative_ptsz, cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel_ptsz") \
	CALL(begin_capture, cuStreamBeginCapture, "cuStreamBeginCapture_v2")                       \
	CALL(begin_capture_ptsz, cuStreamBeginCapture, "cuStreamBeginCapture_v2_ptsz")             \
	CALL(begin_capture_to_graph, cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph")   \
	CALL(begin_capture_to_graph_ptsz, cuStreamBeginCaptureToGraph,                             \
	     "cuStreamBeginCaptureToGraph_ptsz")                                                   \
	CALL(end_capture, cuStreamEndCapture, "cuStreamEndCapture")                                \
	CALL(end_capture_ptsz, cuStreamEndCapture, "cuStreamEndCapture_ptsz")                      \
	CALL(is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                             \
	CALL(get_proc_address, cuGetProcAddress, "cuGetProcAddress_v2")                            \
	CALL(get_current, cuCtxGetCurrent, "cuCtxGetCurrent")                                      \
	CALL(push_current, cuCtxPushCurrent, "cuCtxPushCurrent_v2")                                \
	CALL(pop_current, cuCtxPopCurrent, "cuCtxPopCurrent_v2")                                   \
	CALL(kernel_parameter, cuKernelGetParamInfo, "cuKernelGetParamInfo")                       \
	CALL(function_parameter, cuFuncGetParamInfo, "cuFuncGetParamInfo")                         \
	CALL(kernel_function, cuKernelGetFunction, "cuKernelGetFunction")                          \
	CALL(function_attribute, cuFuncGetAttribute, "cuFuncGetAttribute")                         \
	CALL(kernel_attribute, cuKernelGetAttribute, "cuKernelGetAttribute")                       \
	CALL(set_function_attribute, cuFuncSetAttribute, "cuFuncSetAttribute")                     \
	CALL(set_kernel_attribute, cuKernelSetAttribute, "cuKernelSetAttribute")                   \
	CALL(stream_context, cuStreamGetCtx, "cuStreamGetCtx")                                     \
	CALL(stream_priority, cuStreamGetPriority, "cuStreamGetPriority")                          \
	CALL(synchronize, cuCtxSynchronize, "cuCtxSynchronize")                                    \
	CALL(stream_query, cuStreamQuery, "cuStreamQuery")                                         \
	CALL(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                       \
	CALL(stream_synchronize_ptsz, cuStreamSynchronize, "cuStreamSynchronize_ptsz")             \
	CALL(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                                \
	CALL(event_create, cuEventCreate, "cuEventCreate")                                         \
	CALL(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                                   \
	CALL(event_record, cuEventRecord, "cuEventRecord")                                         \
	CALL(event_record_ptsz, cuEventRecord, "cuEventRecord_ptsz")                               \
	CALL(event_record_with, cuEventRecordWithFlags, "cuEventRecordWithFlags")                  \
	CALL(event_record_with_ptsz, cuEventRecordWithFlags, "cuEventRecordWithFlags_ptsz")        \
	CALL(event_query, cuEventQuery, "cuEventQuery")                                            \
	CALL(event_synchronize, cuEventSynchronize, "cuEventSynchronize")                          \
	CALL(wait_event, cuStreamWaitEvent, "cuStreamWaitEvent")                                   \
	CALL(wait_event_ptsz, cuStreamWaitEvent, "cuStreamWaitEvent_ptsz")                         \
	CALL(context_device, cuCtxGetDevice, "cuCtxGetDevice")                                     \
	CALL(device_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute")                       \
	CALL(device_count, cuDeviceGetCount, "cuDeviceGetCount")                                   \
	CALL(device, cuDeviceGet, "cuDeviceGet")                                                   \
	CALL(load_file, cuModuleLoad, "cuModuleLoad")                                              \
	CALL(load_data, cuModuleLoadData, "cuModuleLoadData")                                      \
	CALL(load_data_ex, cuModuleLoadDataEx, "cuModuleLoadDataEx")                               \
	CALL(load_fat_binary, cuModuleLoadFatBinary, "cuModuleLoadFatBinary")                      \
	CALL(load_library, cuLibraryLoadData, "cuLibraryLoadData")                                 \
	CALL(load_library_file, cuLibraryLoadFromFile, "cuLibraryLoadFromFile")                    \
	CALL(allocate, cuMemAlloc, "cuMemAlloc_v2")                                                \
	CALL(free, cuMemFree, "cuMemFree_v2")                                                      \
	CALL(free_async, cuMemFreeAsync, "cuMemFreeAsync")                                         \
	CALL(free_async_ptsz, cuMemFreeAsync, "cuMemFreeAsync_ptsz")                               \
	CALL(memory_info, cuMemGetInfo, "cuMemGetInfo_v2")                                         \
	CALL(set_8, cuMemsetD8Async, "cuMemsetD8Async")                                            \
	CALL(set_8_ptsz, cuMemsetD8Async, "cuMemsetD8Async_ptsz")                                  \
	CALL(set_16, cuMemsetD16Async, "cuMemsetD16Async")                                         \
	CALL(set_16_ptsz, cuMemsetD16Async, "cuMemsetD16Async_ptsz")                               \
	CALL(set_32, cuMemsetD32Async, "cuMemsetD32Async")                                         \
	CALL(set_32_ptsz, cuMemsetD32Async, "cuMemsetD32Async_ptsz")                               \
	CALL(copy_from_host, cuMemcpyHtoD, "cuMemcpyHtoD_v2")                                      \
	CALL(copy_from_host_ptds, cuMemcpyHtoD, "cuMemcpyHtoD_v2_ptds")                            \
	CALL(copy_from_host_async, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                      \
	CALL(copy_from_host_async_ptsz, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2_ptsz")            \
	CALL(copy_to_host, cuMemcpyDtoH, "cuMemcpyDtoH_v2")                                        \
	CALL(copy_to_host_async, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                        \
	CALL(copy_to_host_async_ptsz, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2_ptsz")              \
	CALL(copy_any, cuMemcpy, "cuMemcpy")                                                       \
	CALL(copy_any_ptds, cuMemcpy, "cuMemcpy_ptds")                                             \
	CALL(copy_any_async, cuMemcpyAsync, "cuMemcpyAsync")                                       \
	CALL(copy_any_async_ptsz, cuMemcpyAsync, "cuMemcpyAsync_ptsz")                             \
	CALL(host_register, cuMemHostRegister, "cuMemHostRegister_v2")                             \
	CALL(host_unregister, cuMemHostUnregister, "cuMemHostUnregister")                          \
	CALL(copy_to_host_ptds, cuMemcpyDtoH, "cuMemcpyDtoH_v2_ptds")                              \
	CALL(copy, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                      \
	CALL(copy_ptsz, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2_ptsz")                            \
	CALL(pointer_attribute, cuPointerGetAttribute, "cuPointerGetAttribute")                    \
	CALL(pointer_attributes, cuPointerGetAttributes, "cuPointerGetAttributes")                 \
	CALL(address_range, cuMemGetAddressRange, "cuMemGetAddressRange_v2")                       \
	CALL(graph_create, cuGraphCreate, "cuGraphCreate")                                         \
	CALL(graph_destroy, cuGraphDestroy, "cuGraphDestroy")                                      \
	CALL(add_kernel, cuGraphAddKernelNode, "cuGraphAddKernelNode_v2")                          \
	CALL(set_kernel, cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2")      \
	CALL(add_memset, cuGraphAddMemsetNode, "cuGraphAddMemsetNode")                             \
	CALL(set_memset, cuGraphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams")         \
	CALL(add_memcpy, cuGraphAddMemcpyNode, "cuGraphAddMemcpyNode")                             \
	CALL(set_memcpy, cuGraphExecMemcpyNodeSetParams, "cuGraphExecMemcpyNodeSetParams")         \
	CALL(add_record, cuGraphAddEventRecordNode, "cuGraphAddEventRecordNode")                   \
	CALL(add_wait, cuGraphAddEventWaitNode, "cuGraphAddEventWaitNode")                         \
	CALL(instantiate, cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags")              \
	CALL(graph_launch, cuGraphLaunch, "cuGraphLaunch")                                         \
	CALL(graph_launch_ptsz, cuGraphLaunch, "cuGraphLaunch_ptsz")                               \
	CALL(exec_destroy, cuGraphExecDestroy, "cuGraphExecDestroy")

struct driver {
#define DRIVER_MEMBER(member, declared, exported) __typeof__(declared) *member;
	DRIVER_CALLS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
	void *library;
	/* These not every version of cuda.h declares. */
	CUresult(CUDAAPI *create_context_v3)(CUcontext *, void *, int, unsigned, CUdevice);
	CUresult(CUDAAPI *create_context_v4)(CUcontext *, void *, unsigned, CUdevice);
	CUresult(CUDAAPI *synchronize_v2)(CUcontext);
	bool is_complete; /* none of DRIVER_CALLS is missing */
};

/* The driver, opened at the first call; its library is NULL where there is none. */
const struct driver *driver_open(void);

/* What the driver exports by this name, or NULL. */
void *driver_symbol(const char *exported);

/* The C library's dlsym, not ours. */
void *driver_dlsym(void *library, const char *name);

/* The C library's. */
extern void *try_real_dlopen, *try_real_dlmopen;

/* Find all three, for the stubs that go on to them. */
void driver_find_dlsym(void);

#endif
