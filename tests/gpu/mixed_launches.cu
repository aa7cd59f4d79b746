/* mixed_launches: four short kernels in turn, of different work, launched as fast as the host can.
 * mixed_launches [--launches N in all] */
#include "trial.cuh"

static const int values = 1 << 20, block_size = 256;

static __global__ void fp32_kernel(const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = 2 * x[i] + y[i];
}

static __global__ void fp64_kernel(double *x)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double value = x[i];

	for (int step = 0; step < 16; step++)
		value = value * 0.5 + 1;
	x[i] = value;
}

static __global__ void atomic_kernel(unsigned int *counter)
{
	atomicAdd(counter + threadIdx.x % 2, threadIdx.x);
}

static void launch(long i, float *x, float *y, double *z, unsigned int *counter)
{
	switch (i % 4) {
	case 0:
		CUDA_LAUNCH(fp32_kernel<<<values / block_size, block_size>>>(x, y));
		break;
	case 1:
		CUDA_LAUNCH(fp64_kernel<<<values / block_size, block_size>>>(z));
		break;
	case 2:
		CUDA_LAUNCH(atomic_kernel<<<32, block_size>>>(counter));
		break;
	default:
		CUDA_LAUNCH(fp32_kernel<<<values / 1024, 1024>>>(x, y));
	}
}

int main(int argc, char **argv)
{
	long launches = 10000, start_ns, total_ns;
	unsigned int *counter;
	float *x, *y;
	double *z;

	trial_parse(argc, argv, {{"launches", &launches}});
	CUDA_CHECK(cudaMalloc(&x, values * sizeof(*x)));
	CUDA_CHECK(cudaMalloc(&y, values * sizeof(*y)));
	CUDA_CHECK(cudaMalloc(&z, values * sizeof(*z)));
	CUDA_CHECK(cudaMalloc(&counter, 2 * sizeof(*counter)));
	CUDA_CHECK(cudaMemset(x, 0, values * sizeof(*x)));
	CUDA_CHECK(cudaMemset(y, 0, values * sizeof(*y)));
	CUDA_CHECK(cudaMemset(z, 0, values * sizeof(*z)));
	CUDA_CHECK(cudaDeviceSynchronize());
	start_ns = now_ns();
	for (long i = 0; i < launches; i++)
		launch(i, x, y, z, counter);
	CUDA_CHECK(cudaDeviceSynchronize());
	total_ns = now_ns() - start_ns;
	printf("kernels %ld\ntotal_ns %ld\nns_per_launch %.1f\n", launches, total_ns,
	       (double)total_ns / launches);
	return 0;
}
