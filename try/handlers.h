/*
 * handlers.h - driver functions that have a function of their own in this library.
 *
 * HANDLER(name as cuGetProcAddress takes it, the version of CUDA from which on it has these arguments, exported name,
 * function of ours).  STREAM_HANDLER the same; it has a second one, which ends in _ptsz, for programs whose default stream
 * is one for each thread.  COPY_HANDLER the same; its second one ends in _ptds.  Of several versions of a function the newest
 * comes first.
 */
#ifndef ROOFLINE_TRY_HANDLERS_H
#define ROOFLINE_TRY_HANDLERS_H

#define TRY_HANDLERS(HANDLER, STREAM_HANDLER, COPY_HANDLER)                                        \
	STREAM_HANDLER("cuLaunchKernel", 4000, "cuLaunchKernel", try_launch)                       \
	STREAM_HANDLER("cuLaunchKernelEx", 11060, "cuLaunchKernelEx", try_launch_ex)               \
	STREAM_HANDLER("cuLaunchCooperativeKernel", 9000, "cuLaunchCooperativeKernel",             \
		       try_launch_cooperative)                                                     \
	STREAM_HANDLER("cuGraphLaunch", 10000, "cuGraphLaunch", try_launch_graph)                  \
	STREAM_HANDLER("cuStreamBeginCapture", 10010, "cuStreamBeginCapture_v2",                   \
		       try_begin_capture)                                                          \
	STREAM_HANDLER("cuStreamBeginCaptureToGraph", 12030, "cuStreamBeginCaptureToGraph",        \
		       try_begin_capture_to_graph)                                                 \
	STREAM_HANDLER("cuStreamEndCapture", 10000, "cuStreamEndCapture", try_end_capture)         \
	HANDLER("cuFuncSetAttribute", 9000, "cuFuncSetAttribute", try_set_function_attribute)      \
	HANDLER("cuKernelSetAttribute", 12000, "cuKernelSetAttribute", try_set_kernel_attribute)   \
	STREAM_HANDLER("cuMemsetD8Async", 3020, "cuMemsetD8Async", try_set_8)                      \
	STREAM_HANDLER("cuMemsetD16Async", 3020, "cuMemsetD16Async", try_set_16)                   \
	STREAM_HANDLER("cuMemsetD32Async", 3020, "cuMemsetD32Async", try_set_32)                   \
	STREAM_HANDLER("cuMemcpyDtoDAsync", 3020, "cuMemcpyDtoDAsync_v2", try_copy)                \
	COPY_HANDLER("cuMemcpyHtoD", 3020, "cuMemcpyHtoD_v2", try_copy_from_host)                  \
	COPY_HANDLER("cuMemcpyDtoH", 3020, "cuMemcpyDtoH_v2", try_copy_to_host)                    \
	COPY_HANDLER("cuMemcpy", 4000, "cuMemcpy", try_copy_any)                                   \
	STREAM_HANDLER("cuMemcpyHtoDAsync", 3020, "cuMemcpyHtoDAsync_v2",                          \
		       try_copy_from_host_async)                                                   \
	STREAM_HANDLER("cuMemcpyDtoHAsync", 3020, "cuMemcpyDtoHAsync_v2", try_copy_to_host_async)  \
	STREAM_HANDLER("cuMemcpyAsync", 4000, "cuMemcpyAsync", try_copy_any_async)                 \
	HANDLER("cuMemAlloc", 3020, "cuMemAlloc_v2", try_allocate)                                 \
	HANDLER("cuMemFree", 3020, "cuMemFree_v2", try_free)                                       \
	STREAM_HANDLER("cuMemFreeAsync", 11020, "cuMemFreeAsync", try_free_async)                  \
	HANDLER("cuMemHostRegister", 6050, "cuMemHostRegister_v2", try_host_register)              \
	HANDLER("cuMemHostUnregister", 4000, "cuMemHostUnregister", try_host_unregister)           \
	HANDLER("cuPointerGetAttribute", 4000, "cuPointerGetAttribute", try_pointer_attribute)     \
	HANDLER("cuPointerGetAttributes", 7000, "cuPointerGetAttributes", try_pointer_attributes)  \
	HANDLER("cuMemGetAddressRange", 3020, "cuMemGetAddressRange_v2", try_address_range)        \
	STREAM_HANDLER("cuStreamSynchronize", 2000, "cuStreamSynchronize", try_synchronize_stream) \
	HANDLER("cuCtxSynchronize", 13000, "cuCtxSynchronize_v2", try_synchronize_context_v2)      \
	HANDLER("cuCtxSynchronize", 2000, "cuCtxSynchronize", try_synchronize_context)             \
	HANDLER("cuEventSynchronize", 2000, "cuEventSynchronize", try_synchronize_event)           \
	HANDLER("cuEventCreate", 2000, "cuEventCreate", try_create_event)                          \
	HANDLER("cuEventDestroy", 4000, "cuEventDestroy_v2", try_destroy_event)                    \
	STREAM_HANDLER("cuEventRecord", 2000, "cuEventRecord", try_record_event)                   \
	STREAM_HANDLER("cuEventRecordWithFlags", 11010, "cuEventRecordWithFlags",                  \
		       try_record_event_with)                                                      \
	STREAM_HANDLER("cuStreamWaitEvent", 3020, "cuStreamWaitEvent", try_wait_event)             \
	HANDLER("cuStreamDestroy", 4000, "cuStreamDestroy_v2", try_destroy_stream)                 \
	HANDLER("cuModuleLoad", 2000, "cuModuleLoad", try_load_file)                               \
	HANDLER("cuModuleLoadData", 2000, "cuModuleLoadData", try_load_data)                       \
	HANDLER("cuModuleLoadDataEx", 2010, "cuModuleLoadDataEx", try_load_data_ex)                \
	HANDLER("cuModuleLoadFatBinary", 2000, "cuModuleLoadFatBinary", try_load_fat_binary)       \
	HANDLER("cuLibraryLoadData", 12000, "cuLibraryLoadData", try_load_library)                 \
	HANDLER("cuLibraryLoadFromFile", 12000, "cuLibraryLoadFromFile", try_load_library_file)    \
	HANDLER("cuCtxCreate", 12050, "cuCtxCreate_v4", try_create_context_v4)                     \
	HANDLER("cuCtxCreate", 11040, "cuCtxCreate_v3", try_create_context_v3)                     \
	HANDLER("cuGetProcAddress", 12000, "cuGetProcAddress_v2", try_get_proc_address_v2)         \
	HANDLER("cuGetProcAddress", 11030, "cuGetProcAddress", try_get_proc_address)

#endif
