/*
 * graph_launch.cuh - graphs that are launched from the device, for workloads.
 *
 * A graph that the device may launch is captured between graph_begin (graph_capture.cuh) and
 * graph_finish_device, which also uploads it: a launch from the device of a graph that is not on the
 * device yet fails.  A kernel launches it with graph_launch, from one thread, and only inside a graph:
 * a plain kernel cannot.  An exec that has not finished cannot be launched again.
 *
 * A launch from the device that fails is noted, as device_launch.cuh says.
 */
#ifndef ROOFLINE_GRAPH_LAUNCH_CUH
#define ROOFLINE_GRAPH_LAUNCH_CUH

#include "cuda_check.cuh"
#include "device_launch.cuh"
#include "graph_capture.cuh"
#include "stamps.cuh"

/* CUDA's limits of one run of a launching graph (Programming Guide, 'Device Graph Launch'). */
#define FIRE_AND_FORGET_LIMIT 120
#define TAIL_LIMIT 255

enum launch_mode { LAUNCH_FIRE_AND_FORGET, LAUNCH_TAIL, LAUNCH_SIBLING };

/* Who launches a kernel; of a graph that launches itself again the first run is the host's. */
enum launched_by { BY_HOST, BY_DEVICE, FIRST_BY_HOST };

/* What is written before is seen by the graph that is launched. */
static inline __device__ void graph_launch(cudaGraphExec_t graph, enum launch_mode mode)
{
	cudaError_t error;

	__threadfence();
	if (mode == LAUNCH_FIRE_AND_FORGET)
		error = cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
	else if (mode == LAUNCH_TAIL)
		error = cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
	else
		error = cudaGraphLaunch(graph, cudaStreamGraphFireAndForgetAsSibling);
	device_launch_note(error);
}

/* The graph of the calling kernel once more, when all that it does and launches is done. */
static inline __device__ void graph_relaunch_self()
{
	graph_launch(cudaGetCurrentGraphExec(), LAUNCH_TAIL);
}

/* For stamps.  run: of the graph, from 0. */
static inline __device__ enum stamp_what stamp_launcher(enum launched_by by, long run)
{
	return by == BY_HOST || (by == FIRST_BY_HOST && run == 0) ? STAMP_HOST : STAMP_DEVICE;
}

/* For a graph that the device launches, be it the graph itself. */
static inline cudaGraphExec_t graph_finish_device(cudaStream_t stream)
{
	return graph_finish(stream, cudaGraphInstantiateFlagDeviceLaunch);
}

/* A why_skipped of variants that launch graphs from the device. */
template <class problem> const char *why_no_device_launch(problem &)
{
	int device = 0, unified = 0, driver = 0;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&unified, cudaDevAttrUnifiedAddressing, device));
	CUDA_CHECK(cudaDriverGetVersion(&driver));
	if (!unified)
		return "the GPU has no unified addressing, which launches from the device need";
	if (driver < 12000)
		return "launches of graphs from the device need a driver of CUDA 12.0 or newer";
	return nullptr;
}

#endif
