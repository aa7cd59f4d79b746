/* counted_shapes: rounds of many short kernels of different grids, and at last in each round a long one that
 * takes nearly all of the time.
 * counted_shapes [--shapes N] [--rounds N] [--us of the long one] */
#include "trial.cuh"

static __global__ void short_kernel(float *out)
{
	out[threadIdx.x] = blockIdx.x;
}

static __global__ void long_kernel(float *out, long us)
{
	const long long cycles = us * 1700; /* of about 1.7 GHz */
	const long long start = clock64();

	while (clock64() - start < cycles)
		;
	out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
	long shapes = 300, rounds = 60, us = 20000;
	float *out;

	trial_parse(argc, argv, {{"shapes", &shapes}, {"rounds", &rounds}, {"us", &us}});
	CUDA_CHECK(cudaMalloc(&out, 64 * sizeof(*out)));
	for (long round = 0; round < rounds; round++) {
		for (long i = 0; i < shapes; i++)
			CUDA_LAUNCH(short_kernel<<<(unsigned int)i + 1, 64>>>(out));
		CUDA_LAUNCH(long_kernel<<<132, 64>>>(out, us));
		CUDA_CHECK(cudaDeviceSynchronize());
	}
	CUDA_CHECK(cudaFree(out));
	printf("kernels %ld\n", rounds * (shapes + 1));
	return 0;
}
