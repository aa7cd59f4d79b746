/*
 * captures.c - while the program captures a stream nothing is put off: what it launches belongs into its own graph.
 */
#include "deferred.h"
#include "driver.h"
#include "launches.h"
#include "pinned.h"
#include "pool.h"
#include "waits.h"

/* Nothing is put off any more before the capture begins. */
#define BEGIN_CAPTURE(member, ...)                                      \
	__typeof__(driver_open()->member) real = driver_open()->member; \
	CUresult result;                                                \
                                                                        \
	deferred_begin_capture();                                       \
	pool_begin_capture();                                           \
	pinned_begin_capture();                                         \
	waits_begin_capture();                                          \
	result = real ? real(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;       \
	if (result != CUDA_SUCCESS)                                     \
		deferred_end_capture();                                 \
	return result

CUresult try_begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	BEGIN_CAPTURE(begin_capture, stream, mode);
}

CUresult try_begin_capture_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
	BEGIN_CAPTURE(begin_capture_ptsz, stream, mode);
}

CUresult try_begin_capture_to_graph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
				    const CUgraphEdgeData *edges, size_t count,
				    CUstreamCaptureMode mode)
{
	BEGIN_CAPTURE(begin_capture_to_graph, stream, graph, dependencies, edges, count, mode);
}

CUresult try_begin_capture_to_graph_ptsz(CUstream stream, CUgraph graph,
					 const CUgraphNode *dependencies,
					 const CUgraphEdgeData *edges, size_t count,
					 CUstreamCaptureMode mode)
{
	BEGIN_CAPTURE(begin_capture_to_graph_ptsz, stream, graph, dependencies, edges, count, mode);
}

/* These errors end a capture as well; with others it goes on. */
static CUresult end_capture(__typeof__(cuStreamEndCapture) *real, CUstream stream, CUgraph *graph)
{
	CUresult result = real ? real(stream, graph) : CUDA_ERROR_NOT_FOUND;

	if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
	    result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
		deferred_end_capture();
	return result;
}

CUresult try_end_capture(CUstream stream, CUgraph *graph)
{
	return end_capture(driver_open()->end_capture, stream, graph);
}

CUresult try_end_capture_ptsz(CUstream stream, CUgraph *graph)
{
	return end_capture(driver_open()->end_capture_ptsz, stream, graph);
}
