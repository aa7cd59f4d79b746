/* long_kernels: kernels of about 100 us of fixed work (on an H200), one after the other.
 * long_kernels [--launches N] [--steps N]
 * The work is a number of steps, not a time, so that a slower kernel shows as one. */
#include "trial.cuh"

static __global__ void work_kernel(unsigned long long *result, long steps)
{
	unsigned long long x = blockIdx.x * blockDim.x + threadIdx.x + 1;

	for (long step = 0; step < steps; step++)
		x = (x ^ (x >> 31)) * 6364136223846793005u;
	result[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int argc, char **argv)
{
	const int block_count = 132, block_size = 128; /* one warp a scheduler: no contention */
	long launches = 5000, steps = 8000, start_ns, total_ns;
	unsigned long long *result;

	trial_parse(argc, argv, {{"launches", &launches}, {"steps", &steps}});
	CUDA_CHECK(cudaMalloc(&result, block_count * block_size * sizeof(*result)));
	CUDA_LAUNCH(work_kernel<<<block_count, block_size>>>(result, steps));
	CUDA_CHECK(cudaDeviceSynchronize());
	start_ns = now_ns();
	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(work_kernel<<<block_count, block_size>>>(result, steps));
	CUDA_CHECK(cudaDeviceSynchronize());
	total_ns = now_ns() - start_ns;
	CUDA_CHECK(cudaFree(result));
	printf("kernels %ld\ntotal_ns %ld\nns_per_kernel %.1f\n", launches + 1, total_ns,
	       (double)total_ns / launches);
	return 0;
}
