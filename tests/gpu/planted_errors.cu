/* planted_errors: mistakes that compute-sanitizer has to find, or its silence says nothing.
 * planted_errors bounds|race|leak
 * Writes one value behind an array, reads shared memory that another warp is writing, or keeps an
 * allocation; ends with 0 all the same. */
#include <cstring>

#include "trial.cuh"

static const int block_size = 256;

static __global__ void fill_kernel(int *values)
{
	values[threadIdx.x] = threadIdx.x;
}

/* Between the write and the read there is no barrier. */
static __global__ void neighbor_kernel(int *values)
{
	__shared__ int shared[block_size];

	shared[threadIdx.x] = threadIdx.x;
	values[threadIdx.x] = shared[(threadIdx.x + warpSize) % block_size];
}

int main(int argc, char **argv)
{
	const char *mistake = argc == 2 ? argv[1] : "";
	bool is_bounds = !strcmp(mistake, "bounds"), is_race = !strcmp(mistake, "race");
	bool is_leak = !strcmp(mistake, "leak");
	int *values;

	if (!is_bounds && !is_race && !is_leak) {
		fprintf(stderr, "usage: planted_errors bounds|race|leak\n");
		return 2;
	}
	CUDA_CHECK(cudaMalloc(&values, (block_size - is_bounds) * sizeof(*values)));
	if (is_race)
		neighbor_kernel<<<1, block_size>>>(values);
	else
		fill_kernel<<<1, block_size>>>(values);
	cudaDeviceSynchronize(); /* fails under the tool that has found something */
	if (!is_leak)
		cudaFree(values);
	return 0;
}
