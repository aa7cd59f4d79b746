/*
 * graph_capture.cuh - what a stream is given between two calls becomes a graph, for workloads.
 *
 * graph_begin(stream), the work on stream, then graph_finish(stream, flags): the graph that can be
 * launched.  It is uploaded, so that its first launch costs what the others do, and belongs to the
 * caller, who ends it with cudaGraphExecDestroy.  Nothing between may wait or allocate.
 */
#ifndef ROOFLINE_GRAPH_CAPTURE_CUH
#define ROOFLINE_GRAPH_CAPTURE_CUH

#include "cuda_check.cuh"

static inline void graph_begin(cudaStream_t stream)
{
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

/* flags: of cudaGraphInstantiate */
static inline cudaGraphExec_t graph_finish(cudaStream_t stream, unsigned long long flags)
{
	cudaGraph_t graph;
	cudaGraphExec_t instance;

	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&instance, graph, flags));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(instance, stream));
	return instance;
}

/* For a graph that only the host launches. */
static inline cudaGraphExec_t graph_finish_host(cudaStream_t stream)
{
	return graph_finish(stream, 0);
}

#endif
