/*
 * launches.h - the functions of handlers.h, with the arguments of cuda.h.
 */
#ifndef ROOFLINE_TRY_LAUNCHES_H
#define ROOFLINE_TRY_LAUNCHES_H

#include <cuda.h>
#include <stdbool.h>

CUresult try_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
		    CUstream stream, void **parameters, void **extra);
CUresult try_launch_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			 unsigned block_x, unsigned block_y, unsigned block_z,
			 unsigned shared_bytes, CUstream stream, void **parameters, void **extra);
CUresult try_launch_cooperative(CUfunction function, unsigned grid_x, unsigned grid_y,
				unsigned grid_z, unsigned block_x, unsigned block_y,
				unsigned block_z, unsigned shared_bytes, CUstream stream,
				void **parameters);
CUresult try_launch_cooperative_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
				     unsigned grid_z, unsigned block_x, unsigned block_y,
				     unsigned block_z, unsigned shared_bytes, CUstream stream,
				     void **parameters);
CUresult try_launch_graph(CUgraphExec graph, CUstream stream);
CUresult try_launch_graph_ptsz(CUgraphExec graph, CUstream stream);
CUresult try_launch_ex(const CUlaunchConfig *config, CUfunction function, void **parameters,
		       void **extra);
CUresult try_launch_ex_ptsz(const CUlaunchConfig *config, CUfunction function, void **parameters,
			    void **extra);

CUresult try_set_8(CUdeviceptr address, unsigned char value, size_t count, CUstream stream);
CUresult try_set_8_ptsz(CUdeviceptr address, unsigned char value, size_t count, CUstream stream);
CUresult try_set_16(CUdeviceptr address, unsigned short value, size_t count, CUstream stream);
CUresult try_set_16_ptsz(CUdeviceptr address, unsigned short value, size_t count, CUstream stream);
CUresult try_set_32(CUdeviceptr address, unsigned value, size_t count, CUstream stream);
CUresult try_set_32_ptsz(CUdeviceptr address, unsigned value, size_t count, CUstream stream);
/* A copy between page-locked memory of the host and the GPU; late as in deferred.h. */
bool transfers_put_from_host(CUdeviceptr to, const void *from, size_t bytes, CUstream stream,
			     bool is_of_thread, CUresult *late);
bool transfers_put_to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream,
			   bool is_of_thread, CUresult *late);

CUresult try_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult try_copy_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);

CUresult try_begin_capture(CUstream stream, CUstreamCaptureMode mode);
CUresult try_begin_capture_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult try_begin_capture_to_graph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
				    const CUgraphEdgeData *edges, size_t count,
				    CUstreamCaptureMode mode);
CUresult try_begin_capture_to_graph_ptsz(CUstream stream, CUgraph graph,
					 const CUgraphNode *dependencies,
					 const CUgraphEdgeData *edges, size_t count,
					 CUstreamCaptureMode mode);
CUresult try_end_capture(CUstream stream, CUgraph *graph);
CUresult try_end_capture_ptsz(CUstream stream, CUgraph *graph);

CUresult try_set_function_attribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult try_set_kernel_attribute(CUfunction_attribute attribute, int value, CUkernel kernel,
				  CUdevice device);

/* Their parameters are those of CUDA 11.4 and 12.5, whose types not every version of cuda.h has. */
CUresult try_create_context_v3(CUcontext *context, void *affinities, int count, unsigned flags,
			       CUdevice device);
CUresult try_create_context_v4(CUcontext *context, void *parameters, unsigned flags,
			       CUdevice device);

CUresult try_get_proc_address(const char *name, void **function, int version, cuuint64_t flags);
CUresult try_get_proc_address_v2(const char *name, void **function, int version, cuuint64_t flags,
				 CUdriverProcAddressQueryResult *status);

#endif
