/* planted_errors: mistakes that compute-sanitizer has to find, or its silence says nothing.
 * planted_errors bounds|race|leak
 * Writes one value behind an array, reads shared memory that another warp is writing, or keeps an
 * allocation; ends with 0 all the same. */
#include <cstring>

#include "trial.cuh"

static const int block_size = 256;

static __global__ void fill_kernel(int *values, int count)
{
	int i = threadIdx.x;

	if (i < count)
		values[i] = i;
}

/* Between the write and the read there is no barrier. */
static __global__ void neighbour_kernel(int *values)
{
	__shared__ int shared[block_size];

	shared[threadIdx.x] = threadIdx.x;
	values[threadIdx.x] = shared[(threadIdx.x + warpSize) % block_size];
}

int main(int argc, char **argv)
{
	const char *mistake = argc == 2 ? argv[1] : "";
	int *values;

	if (strcmp(mistake, "bounds") && strcmp(mistake, "race") && strcmp(mistake, "leak")) {
		fprintf(stderr, "usage: planted_errors bounds|race|leak\n");
		return 2;
	}
	CUDA_CHECK(cudaMalloc(&values, (block_size - 1) * sizeof(*values)));
	if (!strcmp(mistake, "race")) {
		CUDA_CHECK(cudaFree(values));
		CUDA_CHECK(cudaMalloc(&values, block_size * sizeof(*values)));
		neighbour_kernel<<<1, block_size>>>(values);
	} else {
		fill_kernel<<<1, block_size>>>(values, block_size - !strcmp(mistake, "leak"));
	}
	/* Under the tool the one fails here, without it nothing does. */
	cudaDeviceSynchronize();
	if (strcmp(mistake, "leak"))
		cudaFree(values);
	return 0;
}
