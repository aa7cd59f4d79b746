/* occupancy: kernels that differ in what limits how many of their blocks fit on an SM, for the test of the
 * report's theoretical occupancy.
 * occupancy
 * Launches each kernel once and prints what CUDA says of it, as CSV:
 * kernel,registers,static_shared_bytes,dynamic_shared_bytes,block,blocks_per_sm.  A kernel that wants more
 * shared memory than a block of this GPU can have is left out. */
#include "trial.cuh"

/* So many values are alive at once in each thread, and as many registers are used and some more. */
template <int values, int static_bytes, int dynamic_bytes, int block>
__global__ void __launch_bounds__(block) occupied_kernel(float *result, int rounds)
{
	extern __shared__ char dynamic_shared[];
	__shared__ char static_shared[static_bytes ? static_bytes : 1];
	float value[values];

#pragma unroll
	for (int i = 0; i < values; i++)
		value[i] = (float)(threadIdx.x * i);
#pragma unroll 1
	for (int round = 0; round < rounds; round++) {
#pragma unroll
		for (int i = 0; i < values; i++)
			asm volatile("fma.rn.f32 %0, %0, %1, %2;"
				     : "+f"(value[i])
				     : "f"(value[(i + 1) % values]), "f"(value[(i + 7) % values]));
	}
	if (static_bytes)
		static_shared[threadIdx.x % (static_bytes ? static_bytes : 1)] = (char)value[0];
	if (dynamic_bytes)
		dynamic_shared[threadIdx.x % (dynamic_bytes ? dynamic_bytes : 1)] = (char)value[0];
	__syncthreads();
#pragma unroll
	for (int i = 1; i < values; i++)
		value[0] += value[i];
	if (static_bytes)
		value[0] += static_shared[0];
	if (dynamic_bytes)
		value[0] += dynamic_shared[0];
	result[threadIdx.x] = value[0];
}

struct trial_kernel {
	const char *name;
	void (*function)(float *, int);
	int dynamic_bytes, block;
};

#define KERNEL(values, static_bytes, dynamic_bytes, block)                                         \
	{                                                                                          \
		"occupied_kernel<" #values ", " #static_bytes ", " #dynamic_bytes ", " #block ">", \
			occupied_kernel<values, static_bytes, dynamic_bytes, block>,               \
			dynamic_bytes, block                                                       \
	}

static const trial_kernel kernels[] = {
	/* blocks, then warps */
	KERNEL(2, 0, 0, 1),
	KERNEL(2, 0, 0, 32),
	KERNEL(2, 0, 0, 33),
	KERNEL(2, 0, 0, 100),
	KERNEL(2, 0, 0, 256),
	KERNEL(2, 0, 0, 768),
	KERNEL(2, 0, 0, 1000),
	KERNEL(2, 0, 0, 1024),
	/* registers: portions of a warp, and of the four parts of an SM */
	KERNEL(32, 0, 0, 96),
	KERNEL(48, 0, 0, 160),
	KERNEL(64, 0, 0, 32),
	KERNEL(64, 0, 0, 224),
	KERNEL(100, 0, 0, 64),
	KERNEL(100, 0, 0, 352),
	KERNEL(160, 0, 0, 128),
	KERNEL(200, 0, 0, 32),
	KERNEL(200, 0, 0, 256),
	/* shared memory: static, dynamic and both, on either side of its portions */
	KERNEL(2, 1, 0, 64),
	KERNEL(2, 6000, 0, 64),
	KERNEL(2, 7168, 0, 64),
	KERNEL(2, 7169, 0, 64),
	KERNEL(2, 49152, 0, 128),
	KERNEL(2, 0, 10000, 64),
	KERNEL(2, 0, 48000, 128),
	KERNEL(2, 0, 100000, 128),
	KERNEL(2, 0, 166912, 128),
	KERNEL(2, 0, 232448, 128),
	KERNEL(2, 5000, 20000, 128),
	KERNEL(64, 5000, 9000, 192),
};

static int device_attribute(cudaDeviceAttr attribute)
{
	int value;

	CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
	return value;
}

static void run(const trial_kernel &kernel, float *result)
{
	cudaFuncAttributes attributes;
	int blocks_per_sm;

	CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel.function));
	if ((int)attributes.sharedSizeBytes + kernel.dynamic_bytes >
	    device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
		return;
	CUDA_CHECK(cudaFuncSetAttribute(kernel.function,
					cudaFuncAttributeMaxDynamicSharedMemorySize,
					kernel.dynamic_bytes));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, kernel.function,
								 kernel.block,
								 (size_t)kernel.dynamic_bytes));
	CUDA_LAUNCH(kernel.function<<<1, kernel.block, kernel.dynamic_bytes>>>(result, 1));
	printf("\"%s\",%d,%zu,%d,%d,%d\n", kernel.name, attributes.numRegs,
	       attributes.sharedSizeBytes, kernel.dynamic_bytes, kernel.block, blocks_per_sm);
}

int main(int argc, char **argv)
{
	float *result;

	trial_parse(argc, argv, {});
	CUDA_CHECK(cudaMalloc(&result, 1024 * sizeof(*result)));
	puts("kernel,registers,static_shared_bytes,dynamic_shared_bytes,block,blocks_per_sm");
	for (const trial_kernel &kernel : kernels)
		run(kernel, result);
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaFree(result));
	return 0;
}
