/* switching: spans between cudaProfilerStart and cudaProfilerStop, with graphs and with kernels that still run when a
 * span ends, and launches outside of them.
 * switching [--spans N] [--launches N]
 * Prints how many kernels of which name the spans have, and what a launch took outside. */
#include <cuda_profiler_api.h>

#include "trial.cuh"

__global__ void in_graph()
{
}

__global__ void still_running(long ns)
{
	long begin = clock64();

	while (clock64() - begin < ns)
		;
}

__global__ void outside()
{
}

static cudaGraphExec_t build_graph(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 5; i++)
		CUDA_LAUNCH(in_graph<<<1, 1, 0, stream>>>());
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

static long launch_outside(cudaStream_t stream, long launches)
{
	long begin_ns = now_ns();

	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(outside<<<1, 1, 0, stream>>>());
	CUDA_CHECK(cudaStreamSynchronize(stream));
	return now_ns() - begin_ns;
}

int main(int argc, char **argv)
{
	long spans = 5, launches = 100000, outside_ns = 0;
	cudaGraphExec_t executable;
	cudaStream_t stream;

	trial_parse(argc, argv, {{"spans", &spans}, {"launches", &launches}});
	CUDA_CHECK(cudaStreamCreate(&stream));
	executable = build_graph(stream);
	launch_outside(stream, 1000);
	for (long i = 0; i < spans; i++) {
		CUDA_CHECK(cudaProfilerStart());
		for (int j = 0; j < 20; j++)
			CUDA_CHECK(cudaGraphLaunch(executable, stream));
		for (int j = 0; j < 10; j++)
			CUDA_LAUNCH(still_running<<<1, 1, 0, stream>>>(2000000));
		CUDA_CHECK(cudaProfilerStop());
		CUDA_CHECK(cudaStreamSynchronize(stream));
		outside_ns += launch_outside(stream, launches);
	}
	printf("in_graph %ld\nstill_running %ld\n", spans * 100, spans * 10);
	printf("outside_ns %ld\n", outside_ns / (spans * launches));
	return 0;
}
