/*
 * caches: the roofs of reading from L2, from L1 and from shared memory.
 *
 * All loads are 16 bytes wide.  Those from L2 pass L1 by (ld.global.cg).  The others read the same
 * few bytes in every round, at an address that moves by `step`.  That is 0, but the compiler does
 * not know it: it would otherwise read them once (also in volatile asm, which ptxas sees through).
 */
#include "ceiling.cuh"

struct buffer {
	uint4 *memory;
	size_t bytes;
	uint32_t *sink;
};

static __device__ __forceinline__ uint32_t fold(uint4 v)
{
	return v.x ^ v.y ^ v.z ^ v.w;
}

/* One value of 2^32, so that the compiler must compute the sum. */
static __device__ __forceinline__ void keep(uint32_t sum, uint32_t *sink)
{
	if (sum == 0x9e3779b9u)
		*sink = sum;
}

static __global__ void fill_kernel(uint32_t *words, size_t count)
{
	size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		words[i] = (uint32_t)i * 747796405u + 2891336453u;
}

/* Every block reads a tile in each round and goes on by as many tiles as there are blocks: together
 * they sweep over the buffer, all blocks do the same work, and none stays with the same lines. */
template <int UNROLL>
static __global__ void __launch_bounds__(1024)
	l2_kernel(const uint4 *__restrict__ in, uint32_t tiles, uint32_t step, long rounds,
		  uint32_t *sink)
{
	uint32_t sum = 0, tile = blockIdx.x % tiles;

	for (long round = 0; round < rounds; round++) {
		const uint4 *from = in + (size_t)tile * (UNROLL * blockDim.x) + threadIdx.x;
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = __ldcg(from + u * blockDim.x);
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			sum ^= fold(v[u]);
		tile += step;
		tile -= tile >= tiles ? tiles : 0;
	}
	keep(sum, sink);
}

/* All blocks read the same BLOCK * UNROLL elements: every SM holds them in its own L1. */
template <int BLOCK, int UNROLL>
static __global__ void __launch_bounds__(BLOCK)
	l1_kernel(const uint4 *__restrict__ in, int step, int rounds, uint32_t *sink)
{
	const uint4 *from = in + threadIdx.x;
	uint32_t sum = 0;

#pragma unroll 4
	for (int round = 0; round < rounds; round++) {
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = from[u * BLOCK];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			sum ^= fold(v[u]);
		from += step;
	}
	keep(sum, sink);
}

template <int BLOCK, int UNROLL>
static __global__ void __launch_bounds__(BLOCK)
	shared_kernel(const uint4 *__restrict__ in, int step, int rounds, uint32_t *sink)
{
	extern __shared__ uint4 copy[];
	const uint4 *from = copy + threadIdx.x;
	uint32_t sum = 0;

#pragma unroll
	for (int u = 0; u < UNROLL; u++)
		copy[threadIdx.x + u * BLOCK] = in[threadIdx.x + u * BLOCK];
	__syncthreads();
#pragma unroll 4
	for (int round = 0; round < rounds; round++) {
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = from[u * BLOCK];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			sum ^= fold(v[u]);
		from += step;
	}
	keep(sum, sink);
}

template <int UNROLL>
static void add_l2(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		   const struct buffer &buffer, size_t bytes)
{
	cudaStream_t stream = bench.stream;

	for (int block_size : {256, 512, 1024}) {
		size_t tile_bytes = sizeof(uint4) * UNROLL * block_size;
		uint32_t tiles = bytes / tile_bytes;
		int blocks = ceiling_resident_blocks(bench, l2_kernel<UNROLL>, block_size);
		uint32_t step = std::max(blocks % tiles, 1u);

		if (blocks > 0)
			variants.push_back({(double)blocks * tile_bytes, [=](long repeats) {
						    CUDA_LAUNCH(l2_kernel<UNROLL>
								<<<blocks, block_size, 0, stream>>>(
									buffer.memory, tiles, step,
									repeats, buffer.sink));
					    }});
	}
}

template <int BLOCK, int UNROLL>
static void add_l1(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		   const struct buffer &buffer)
{
	cudaStream_t stream = bench.stream;
	int blocks;

	CUDA_CHECK(cudaFuncSetAttribute(l1_kernel<BLOCK, UNROLL>,
					cudaFuncAttributePreferredSharedMemoryCarveout,
					cudaSharedmemCarveoutMaxL1));
	blocks = ceiling_resident_blocks(bench, l1_kernel<BLOCK, UNROLL>, BLOCK);
	if (blocks > 0)
		variants.push_back(
			{(double)blocks * BLOCK * UNROLL * sizeof(uint4), [=](long repeats) {
				 CUDA_LAUNCH(l1_kernel<BLOCK, UNROLL><<<blocks, BLOCK, 0, stream>>>(
					 buffer.memory, 0, (int)repeats, buffer.sink));
			 }});
}

template <int BLOCK, int UNROLL>
static void add_shared(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       const struct buffer &buffer)
{
	cudaStream_t stream = bench.stream;
	size_t bytes = sizeof(uint4) * BLOCK * UNROLL;
	int blocks;

	if (bytes > bench.gpu.sharedMemPerBlockOptin)
		return;
	CUDA_CHECK(cudaFuncSetAttribute(shared_kernel<BLOCK, UNROLL>,
					cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
	blocks = ceiling_resident_blocks(bench, shared_kernel<BLOCK, UNROLL>, BLOCK, bytes);
	if (blocks > 0)
		variants.push_back(
			{(double)blocks * bytes, [=](long repeats) {
				 CUDA_LAUNCH(shared_kernel<BLOCK, UNROLL>
					     <<<blocks, BLOCK, bytes, stream>>>(buffer.memory, 0,
										(int)repeats,
										buffer.sink));
			 }});
}

/* From a sixteenth to half of L2: a small one may be held twice, once in each half of the chip. */
static std::vector<struct ceiling_variant> l2_variants(struct ceiling_bench &bench,
						       const struct buffer &buffer)
{
	std::vector<struct ceiling_variant> variants;

	for (int share : {2, 4, 8, 16}) {
		size_t bytes = buffer.bytes / share;

		add_l2<2>(variants, bench, buffer, bytes);
		add_l2<4>(variants, bench, buffer, bytes);
		add_l2<8>(variants, bench, buffer, bytes);
	}
	return variants;
}

/* Buffers of 8 to 128 KiB. */
#define ALL_BLOCKS(add, ...)       \
	add<256, 2>(__VA_ARGS__);  \
	add<256, 4>(__VA_ARGS__);  \
	add<256, 8>(__VA_ARGS__);  \
	add<512, 2>(__VA_ARGS__);  \
	add<512, 4>(__VA_ARGS__);  \
	add<512, 8>(__VA_ARGS__);  \
	add<1024, 2>(__VA_ARGS__); \
	add<1024, 4>(__VA_ARGS__); \
	add<1024, 8>(__VA_ARGS__)

static struct buffer buffer_open(struct ceiling_bench &bench)
{
	struct buffer buffer = {};

	/* The loads that name no size of their own read up to 128 KiB. */
	buffer.bytes = std::max((size_t)bench.gpu.l2CacheSize, (size_t)1 << 21);
	CUDA_CHECK(cudaMalloc(&buffer.memory, buffer.bytes));
	CUDA_CHECK(cudaMalloc(&buffer.sink, sizeof(*buffer.sink)));
	CUDA_LAUNCH(fill_kernel<<<bench.gpu.multiProcessorCount * 8, 256, 0, bench.stream>>>(
		(uint32_t *)buffer.memory, buffer.bytes / sizeof(uint32_t)));
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
	return buffer;
}

static void buffer_close(struct buffer &buffer)
{
	CUDA_CHECK(cudaFree(buffer.memory));
	CUDA_CHECK(cudaFree(buffer.sink));
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("caches", argc, argv);
	struct buffer buffer = buffer_open(bench);
	std::vector<struct ceiling_variant> l1, shared;
	int rc;

	ALL_BLOCKS(add_l1, l1, bench, buffer);
	ALL_BLOCKS(add_shared, shared, bench, buffer);
	rc = ceiling_run(bench,
			 {ceiling_throughput(bench, CEILING_l2_read, 0, l2_variants(bench, buffer)),
			  ceiling_throughput(bench, CEILING_l1_read, 0, l1),
			  ceiling_throughput(bench, CEILING_shared_read, 0, shared)});
	buffer_close(buffer);
	return rc;
}
