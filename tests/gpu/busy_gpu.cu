/* busy_gpu: a GPU that is never idle for long, for so many seconds.
 * busy_gpu [--seconds N] [--kernel-us N] [--linger-ms N]
 * Copies of memory and arithmetic by turns, of about so many microseconds each on an H200; then idle for so
 * many milliseconds before it ends. */
#include <algorithm>

#include <unistd.h>

#include "trial.cuh"

static __global__ void copy_kernel(const float4 *from, float4 *to, size_t count)
{
	size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		to[i] = from[i];
}

static __global__ void work_kernel(unsigned long long *result, long steps)
{
	unsigned long long x = blockIdx.x * blockDim.x + threadIdx.x + 1;

	for (long step = 0; step < steps; step++)
		x = (x ^ (x >> 31)) * 6364136223846793005u;
	result[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int argc, char **argv)
{
	long seconds = 10, kernel_us = 200, linger_ms = 0, pairs = 0, start_ns;
	const size_t count = 1 << 26;
	const int in_flight = 64;
	unsigned long long *result;
	float4 *from, *to;

	trial_parse(argc, argv,
		    {{"seconds", &seconds}, {"kernel-us", &kernel_us}, {"linger-ms", &linger_ms}});
	CUDA_CHECK(cudaMalloc(&from, count * sizeof(*from)));
	CUDA_CHECK(cudaMalloc(&to, count * sizeof(*to)));
	CUDA_CHECK(cudaMalloc(&result, 1056 * 256 * sizeof(*result)));
	CUDA_CHECK(cudaMemset(from, 0, count * sizeof(*from)));
	start_ns = now_ns();
	while (now_ns() - start_ns < seconds * 1000000000) {
		for (int i = 0; i < in_flight; i++, pairs++) {
			/* 4 TB/s and 12 ns a step of one warp a scheduler */
			CUDA_LAUNCH(copy_kernel<<<1056, 256>>>(
				from, to, std::min<size_t>(count, (size_t)kernel_us * 125000)));
			CUDA_LAUNCH(work_kernel<<<132, 128>>>(result, kernel_us * 80));
		}
		CUDA_CHECK(cudaDeviceSynchronize());
	}
	printf("kernels %ld\nseconds %.3f\n", 2 * pairs, (double)(now_ns() - start_ns) / 1e9);
	usleep(linger_ms * 1000);
	return 0;
}
