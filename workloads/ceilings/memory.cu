/*
 * memory: the roofs of device memory.
 *
 * One allocation far larger than the L2 cache serves all four rows: read and written whole, halved
 * for the copy, in thirds for the triad.  Every thread has several 16-byte accesses in flight.
 * Which shape is fastest differs from chip to chip, so all of them are tried.
 */
#include "ceiling.cuh"

struct arena {
	void *memory;
	size_t bytes; /* a multiple of 6 tiles of any shape */
	uint32_t *sink;
};

/* Tiles are unroll * block size elements of 16 bytes; the largest of all shapes. */
static const size_t largest_tile_bytes = 8 * 1024 * 16;

template <bool STREAMING, typename T> static __device__ __forceinline__ T load(const T *from)
{
	return STREAMING ? __ldcs(from) : *from;
}

template <bool STREAMING, typename T> static __device__ __forceinline__ void store(T *to, T value)
{
	if (STREAMING)
		__stcs(to, value);
	else
		*to = value;
}

static __global__ void fill_kernel(float *values, size_t count)
{
	size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		uint32_t bits = (uint32_t)i * 747796405u + 2891336453u;

		bits = ((bits >> ((bits >> 28) + 4)) ^ bits) * 277803737u;
		values[i] = (float)bits * 2.3283064e-10f;
	}
}

/* The sum is stored only when it has one value of 2^32, which the compiler cannot rule out. */
template <int UNROLL, bool STREAMING>
static __global__ void __launch_bounds__(1024)
	read_kernel(const uint4 *__restrict__ in, size_t tiles, uint32_t *sink)
{
	uint32_t sum = 0;

	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		const uint4 *from = in + tile * (UNROLL * blockDim.x) + threadIdx.x;
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = load<STREAMING>(from + u * blockDim.x);
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			sum ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
	}
	if (sum == 0x9e3779b9u)
		*sink = sum;
}

template <int UNROLL, bool STREAMING>
static __global__ void __launch_bounds__(1024) write_kernel(uint4 *out, size_t tiles, uint4 value)
{
	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		uint4 *to = out + tile * (UNROLL * blockDim.x) + threadIdx.x;
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			store<STREAMING>(to + u * blockDim.x, value);
	}
}

template <int UNROLL, bool STREAMING>
static __global__ void __launch_bounds__(1024)
	copy_kernel(uint4 *__restrict__ out, const uint4 *__restrict__ in, size_t tiles)
{
	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		size_t at = tile * (UNROLL * blockDim.x) + threadIdx.x;
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = load<STREAMING>(in + at + u * blockDim.x);
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			store<STREAMING>(out + at + u * blockDim.x, v[u]);
	}
}

static __device__ __forceinline__ float4 multiply_add(float s, float4 c, float4 b)
{
	return make_float4(b.x + s * c.x, b.y + s * c.y, b.z + s * c.z, b.w + s * c.w);
}

template <int UNROLL, bool STREAMING>
static __global__ void __launch_bounds__(1024)
	triad_kernel(float4 *__restrict__ a, const float4 *__restrict__ b,
		     const float4 *__restrict__ c, float s, size_t tiles)
{
	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		size_t at = tile * (UNROLL * blockDim.x) + threadIdx.x;
		float4 vb[UNROLL], vc[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++) {
			vb[u] = load<STREAMING>(b + at + u * blockDim.x);
			vc[u] = load<STREAMING>(c + at + u * blockDim.x);
		}
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			store<STREAMING>(a + at + u * blockDim.x, multiply_add(s, vc[u], vb[u]));
	}
}

/* How a pass over the arena is cut up. */
struct shape {
	int block_size, blocks;
	size_t tiles;
};

/* Shapes of a kernel over so many bytes: three block sizes, each with one tile per block and with
 * as many blocks as run at once, which then walk over the tiles. */
template <typename KERNEL>
static std::vector<struct shape> shapes(struct ceiling_bench &bench, KERNEL kernel, size_t bytes,
					int unroll)
{
	std::vector<struct shape> all;

	for (int block_size : {256, 512, 1024}) {
		size_t tiles = bytes / ((size_t)unroll * block_size * sizeof(uint4));
		int resident = ceiling_resident_blocks(bench, kernel, block_size);

		all.push_back({block_size, (int)tiles, tiles});
		if (resident > 0 && (size_t)resident < tiles)
			all.push_back({block_size, resident, tiles});
	}
	return all;
}

/* A variant for each shape of a kernel; launch is called with the shape, once per repeat. */
template <typename KERNEL>
static void add_shapes(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       KERNEL kernel, int unroll, size_t bytes, double moved_bytes,
		       std::function<void(const struct shape &)> launch)
{
	for (const struct shape &shape : shapes(bench, kernel, bytes, unroll))
		variants.push_back({moved_bytes, [shape, launch](long repeats) {
					    for (long i = 0; i < repeats; i++)
						    launch(shape);
				    }});
}

template <int UNROLL, bool STREAMING>
static void add_reads(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		      const struct arena &arena)
{
	cudaStream_t stream = bench.stream;

	add_shapes(variants, bench, read_kernel<UNROLL, STREAMING>, UNROLL, arena.bytes,
		   arena.bytes, [=](const struct shape &s) {
			   CUDA_LAUNCH(
				   read_kernel<UNROLL, STREAMING>
				   <<<s.blocks, s.block_size, 0, stream>>>((uint4 *)arena.memory,
									   s.tiles, arena.sink));
		   });
}

template <int UNROLL, bool STREAMING>
static void add_writes(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       const struct arena &arena)
{
	cudaStream_t stream = bench.stream;
	uint4 value = make_uint4(0x3f8ccccd, 0x3f99999a, 0x3fa66666, 0x3fb33333);

	add_shapes(variants, bench, write_kernel<UNROLL, STREAMING>, UNROLL, arena.bytes,
		   arena.bytes, [=](const struct shape &s) {
			   CUDA_LAUNCH(
				   write_kernel<UNROLL, STREAMING>
				   <<<s.blocks, s.block_size, 0, stream>>>((uint4 *)arena.memory,
									   s.tiles, value));
		   });
}

template <int UNROLL, bool STREAMING>
static void add_copies(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       const struct arena &arena)
{
	cudaStream_t stream = bench.stream;
	size_t half = arena.bytes / 2;
	uint4 *to = (uint4 *)arena.memory;
	const uint4 *from = (const uint4 *)((const char *)arena.memory + half);

	add_shapes(variants, bench, copy_kernel<UNROLL, STREAMING>, UNROLL, half, 2.0 * half,
		   [=](const struct shape &s) {
			   CUDA_LAUNCH(copy_kernel<UNROLL, STREAMING>
				       <<<s.blocks, s.block_size, 0, stream>>>(to, from, s.tiles));
		   });
}

template <int UNROLL, bool STREAMING>
static void add_triads(std::vector<struct ceiling_variant> &variants, struct ceiling_bench &bench,
		       const struct arena &arena)
{
	cudaStream_t stream = bench.stream;
	size_t third = arena.bytes / 3;
	float4 *a = (float4 *)arena.memory;
	const float4 *b = a + third / sizeof(float4), *c = b + third / sizeof(float4);

	add_shapes(variants, bench, triad_kernel<UNROLL, STREAMING>, UNROLL, third, 3.0 * third,
		   [=](const struct shape &s) {
			   CUDA_LAUNCH(
				   triad_kernel<UNROLL, STREAMING>
				   <<<s.blocks, s.block_size, 0, stream>>>(a, b, c, 0.4f, s.tiles));
		   });
}

/* What the driver itself does to fill or copy memory is a way to reach the roof like any other. */
static void add_driver_write(std::vector<struct ceiling_variant> &variants,
			     struct ceiling_bench &bench, const struct arena &arena)
{
	cudaStream_t stream = bench.stream;

	variants.push_back({(double)arena.bytes, [=](long repeats) {
				    for (long i = 0; i < repeats; i++)
					    CUDA_CHECK(cudaMemsetAsync(arena.memory, 0x5a,
								       arena.bytes, stream));
			    }});
}

static void add_driver_copy(std::vector<struct ceiling_variant> &variants,
			    struct ceiling_bench &bench, const struct arena &arena)
{
	cudaStream_t stream = bench.stream;
	size_t half = arena.bytes / 2;
	char *to = (char *)arena.memory;

	variants.push_back({2.0 * half, [=](long repeats) {
				    for (long i = 0; i < repeats; i++)
					    CUDA_CHECK(cudaMemcpyAsync(to, to + half, half,
								       cudaMemcpyDeviceToDevice,
								       stream));
			    }});
}

#define ALL_UNROLLS(add, ...)       \
	add<1, false>(__VA_ARGS__); \
	add<2, false>(__VA_ARGS__); \
	add<4, false>(__VA_ARGS__); \
	add<8, false>(__VA_ARGS__); \
	add<1, true>(__VA_ARGS__);  \
	add<2, true>(__VA_ARGS__);  \
	add<4, true>(__VA_ARGS__);  \
	add<8, true>(__VA_ARGS__)

static struct arena arena_open(struct ceiling_bench &bench)
{
	const size_t wanted_bytes = (size_t)8 << 30;
	struct arena arena = {};
	size_t free_bytes, total_bytes;

	CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
	arena.bytes = std::min(wanted_bytes, free_bytes / 2);
	arena.bytes -= arena.bytes % (6 * largest_tile_bytes);
	CUDA_CHECK(cudaMalloc(&arena.memory, arena.bytes));
	CUDA_CHECK(cudaMalloc(&arena.sink, sizeof(*arena.sink)));
	CUDA_LAUNCH(fill_kernel<<<bench.gpu.multiProcessorCount * 8, 256, 0, bench.stream>>>(
		(float *)arena.memory, arena.bytes / sizeof(float)));
	CUDA_CHECK(cudaStreamSynchronize(bench.stream));
	return arena;
}

static void arena_close(struct arena &arena)
{
	CUDA_CHECK(cudaFree(arena.memory));
	CUDA_CHECK(cudaFree(arena.sink));
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("memory", argc, argv);
	struct arena arena = arena_open(bench);
	std::vector<struct ceiling_variant> reads, writes, copies, triads;
	int rc;

	ALL_UNROLLS(add_reads, reads, bench, arena);
	ALL_UNROLLS(add_writes, writes, bench, arena);
	ALL_UNROLLS(add_copies, copies, bench, arena);
	ALL_UNROLLS(add_triads, triads, bench, arena);
	add_driver_write(writes, bench, arena);
	add_driver_copy(copies, bench, arena);
	/* The writes last: they replace the numbers of fill_kernel. */
	rc = ceiling_run(bench, {ceiling_throughput(bench, CEILING_dram_read, 0, reads),
				 ceiling_throughput(bench, CEILING_dram_triad, 0, triads),
				 ceiling_throughput(bench, CEILING_dram_copy, 0, copies),
				 ceiling_throughput(bench, CEILING_dram_write, 0, writes)});
	arena_close(arena);
	return rc;
}
