/*
 * Kernels that print, and a host that prints after it has waited: in turn.
 */
#include <cstdio>

#include "cuda_check.cuh"

static __global__ void print_round(int round)
{
	printf("kernel of round %d\n", round);
}

int main()
{
	cudaStream_t stream;

	CUDA_CHECK(cudaStreamCreate(&stream));
	for (int round = 0; round < 20; round++) {
		print_round<<<1, 1, 0, stream>>>(round);
		CUDA_CHECK(cudaGetLastError());
		CUDA_CHECK(cudaStreamSynchronize(stream));
		printf("host of round %d\n", round);
	}
	return 0;
}
