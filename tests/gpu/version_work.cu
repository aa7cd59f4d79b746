/* version_work: kernels, copies, memsets, launches of a graph and NVTX ranges, in known numbers, for a recording by
 * any CUPTI.  Uses what CUDA has had since 12.0, so that it can be built by that one, too.
 * version_work [--rounds N]
 * Prints the CUDA that it was built with, and what a recording must hold. */
#include <nvtx3/nvToolsExt.h>

#include "trial.cuh"

#define NODES 4

static __global__ void work(float *values, int steps)
{
	float value = values[threadIdx.x];

	for (int i = 0; i < steps; i++)
		value = value * 0.999f + 1.0f;
	values[threadIdx.x] = value;
}

static void launch(float *values, cudaStream_t stream)
{
	CUDA_LAUNCH(work<<<8, 128, 0, stream>>>(values, 20000));
}

static cudaGraphExec_t graph_of_kernels(float *values, cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++)
		launch(values, stream);
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

static void run(long rounds, float *values, float *host, size_t bytes)
{
	cudaStream_t stream;
	cudaGraphExec_t graph;

	CUDA_CHECK(cudaStreamCreate(&stream));
	graph = graph_of_kernels(values, stream);
	for (long i = 0; i < rounds; i++) {
		nvtxRangePushA("round");
		CUDA_CHECK(cudaMemsetAsync(values, 0, bytes, stream));
		CUDA_CHECK(cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, stream));
		launch(values, stream);
		CUDA_CHECK(cudaGraphLaunch(graph, stream));
		CUDA_CHECK(cudaMemcpyAsync(host, values, bytes, cudaMemcpyDeviceToHost, stream));
		CUDA_CHECK(cudaStreamSynchronize(stream));
		nvtxRangePop();
	}
	CUDA_CHECK(cudaGraphExecDestroy(graph));
	CUDA_CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	const size_t bytes = 4 << 20;
	long rounds = 200;
	float *values, *host;

	trial_parse(argc, argv, {{"rounds", &rounds}});
	CUDA_CHECK(cudaMalloc(&values, bytes));
	CUDA_CHECK(cudaMallocHost(&host, bytes));
	run(rounds, values, host, bytes);
	printf("cuda %d\nkernels %ld\ncopies %ld\nmemsets %ld\ngraphs %ld\nmarkers %ld\n",
	       CUDART_VERSION, rounds * (1 + NODES), rounds * 2, rounds, rounds, rounds * 2);
	printf("sum %s\n", host[0] > 0 ? "right" : "wrong");
	return 0;
}
