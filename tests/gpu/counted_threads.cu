/* counted_threads: threads that launch at once, each in a stream of its own, kernels whose work follows from
 * their grid: each of blocks * 128 threads does --steps FP32 FMAs.
 * counted_threads [--threads N] [--launches N a thread] [--steps N] */
#include <thread>

#include "trial.cuh"

static __global__ void fma_kernel(float *out, long steps)
{
	float x = threadIdx.x;

#pragma unroll 1
	for (long step = 0; step < steps; step++)
		x = fmaf(x, 0.5f, 1.0f);
	out[threadIdx.x] = x;
}

static void launch_all(float *out, unsigned int blocks, long launches, long steps)
{
	cudaStream_t stream;

	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(fma_kernel<<<blocks, 128, 0, stream>>>(out, steps));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	CUDA_CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	long threads = 32, launches = 2000, steps = 64;
	std::vector<std::thread> workers;
	float *out;

	trial_parse(argc, argv,
		    {{"threads", &threads}, {"launches", &launches}, {"steps", &steps}});
	CUDA_CHECK(cudaMalloc(&out, 128 * sizeof(*out)));
	for (long i = 0; i < threads; i++)
		workers.emplace_back(launch_all, out, (unsigned int)(4 * (i + 1)), launches, steps);
	for (std::thread &worker : workers)
		worker.join();
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaFree(out));
	printf("kernels %ld\n", threads * launches);
	return 0;
}
