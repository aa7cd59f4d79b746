/*
 * arithmetic: the roofs of the FMA units in double, single and packed half precision.
 *
 * Every thread holds several independent chains x = x * factor + addend in registers, so that the
 * units always find an instruction whose operands are ready.  How many chains and threads that
 * takes differs by precision and chip: all combinations are tried.
 */
#include <cuda_fp16.h>

#include "ceiling.cuh"

/* FMAs of one thread in one round of the loop: so many that its counter and jump do not show. */
static const int fma_per_round = 256;

static __device__ __forceinline__ double multiply_add(double x, double factor, double addend)
{
	return __fma_rn(x, factor, addend);
}

static __device__ __forceinline__ float multiply_add(float x, float factor, float addend)
{
	return __fmaf_rn(x, factor, addend);
}

static __device__ __forceinline__ __half2 multiply_add(__half2 x, __half2 factor, __half2 addend)
{
	return __hfma2(x, factor, addend);
}

static double flop_per_fma(double)
{
	return 2;
}

static double flop_per_fma(float)
{
	return 2;
}

static double flop_per_fma(__half2)
{
	return 4;
}

static __device__ __forceinline__ float as_float(double x)
{
	return (float)x;
}

static __device__ __forceinline__ float as_float(float x)
{
	return x;
}

static __device__ __forceinline__ float as_float(__half2 x)
{
	return __low2float(x) + __high2float(x);
}

template <typename T> static __host__ __device__ __forceinline__ T from_float(float x)
{
	return (T)x;
}

template <> __host__ __device__ __forceinline__ __half2 from_float<__half2>(float x)
{
	return __float2half2_rn(x);
}

/* The chains stay between 0 and 1, so the sum is never negative, which the compiler cannot know. */
template <typename T, int CHAINS>
static __global__ void __launch_bounds__(1024)
	fma_kernel(long rounds, T factor, T addend, float *sink)
{
	T x[CHAINS];
	float sum = 0;

#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		x[k] = from_float<T>((float)(threadIdx.x + k) * 0.0009f);
#pragma unroll 1
	for (long round = 0; round < rounds; round++) {
#pragma unroll
		for (int u = 0; u < fma_per_round / CHAINS; u++) {
#pragma unroll
			for (int k = 0; k < CHAINS; k++)
				x[k] = multiply_add(x[k], factor, addend);
		}
	}
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		sum += as_float(x[k]);
	if (sum < 0)
		*sink = sum;
}

template <typename T, int CHAINS>
static void add_chains(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       float *sink)
{
	T factor = from_float<T>(0.75f), addend = from_float<T>(0.125f);
	cudaStream_t stream = bench.stream;

	for (int block_size : {128, 256, 512, 1024}) {
		int blocks = ceiling_resident_blocks(bench, fma_kernel<T, CHAINS>, block_size);
		double flop = flop_per_fma(factor) * fma_per_round * block_size * blocks;

		if (blocks > 0)
			variants.push_back({flop, [=](long repeats) {
						    CUDA_LAUNCH(
							    fma_kernel<T, CHAINS>
							    <<<blocks, block_size, 0, stream>>>(
								    repeats, factor, addend, sink));
					    }});
	}
}

template <typename T>
static struct ceiling_measurement fma_measurement(struct ceiling_bench &bench, enum ceiling_id id,
						  float *sink)
{
	std::vector<struct ceiling_variant> variants;

	add_chains<T, 4>(variants, bench, sink);
	add_chains<T, 8>(variants, bench, sink);
	add_chains<T, 16>(variants, bench, sink);
	return ceiling_throughput(bench, id, 0, variants);
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("arithmetic", argc, argv);
	float *sink;
	int rc;

	CUDA_CHECK(cudaMalloc(&sink, sizeof(*sink)));
	rc = ceiling_run(bench, {fma_measurement<double>(bench, CEILING_fp64_fma, sink),
				 fma_measurement<float>(bench, CEILING_fp32_fma, sink),
				 fma_measurement<__half2>(bench, CEILING_fp16_fma, sink)});
	CUDA_CHECK(cudaFree(sink));
	return rc;
}
