/*
 * A kernel that ends only when the host, after more launches, tells it to.
 */
#include <cstdio>

#include "cuda_check.cuh"

static __global__ void wait_kernel(const volatile int *flag)
{
	while (!*flag)
		;
}

static __global__ void work_kernel(int *value)
{
	atomicAdd(value, 1);
}

int main()
{
	cudaStream_t waiting, working;
	int *flag, *value;

	CUDA_CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking));
	CUDA_CHECK(cudaHostAlloc(&flag, sizeof(*flag), cudaHostAllocMapped));
	CUDA_CHECK(cudaMalloc(&value, sizeof(*value)));
	*flag = 0;
	wait_kernel<<<1, 1, 0, waiting>>>(flag);
	CUDA_CHECK(cudaGetLastError());
	for (int i = 0; i < 100; i++)
		work_kernel<<<1, 32, 0, working>>>(value);
	CUDA_CHECK(cudaGetLastError());
	*(volatile int *)flag = 1;
	CUDA_CHECK(cudaDeviceSynchronize());
	puts("done");
	return 0;
}
