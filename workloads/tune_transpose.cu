/*
 * tune_transpose (F4): a matrix transposed through tiles in shared memory, in every way of a small space.
 *
 * Who copies what: blocks of 16 x 16, 32 x 8 or 8 x 32 threads (x by y), tiles of 16 x 16 or 32 x 32
 * values, with or without one value of padding at the end of a tile's rows.  All twelve are variants,
 * called BLOCK_tileSIZE or BLOCK_tileSIZE_padded; naive has no tile, and writes columns.  The variant `chosen` has
 * the shape that --x, --y, --tile and --padding say, of a space of 90 that has the twelve in it.
 *
 * n x n values, n = sqrt(--size); a launch reads and writes each of them once, 8 n^2 bytes.
 * A warp is 32 threads of one block in the order of x, then y.  So of blocks of 32 x 8 it is a row of
 * 32 values, and of 8 x 32 four rows of 8: what it loads, stores, and where it looks in the tile
 * follows from the three choices, and each of them has a best one.
 */
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "workload.cuh"

static const int most_bands = 65535; /* rows of blocks in a grid */

/* Threads of a block in x and y, values of a tile in x and y, values of padding at the end of its rows. */
struct shape {
	long x, y, tile, padding;
};
static shape chosen_shape = {32, 8, 32, 1};

struct problem {
	long n;
	uint32_t *in, *out;
};

static __host__ __device__ uint32_t value_at(long index)
{
	return (uint32_t)index * 747796405u + 2891336453u;
}

/* ---- kernels ---- */

/* One value a thread: reads rows, writes columns. */
static __global__ void untiled_kernel(uint32_t *out, const uint32_t *in, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x < n && y < n)
		out[(long)x * n + y] = in[(long)y * n + x];
}

/* A tile for a block.  Where the block is wider than the tile, the threads beyond it have nothing to do. */
template <int block_x, int block_y, int tile, int padding>
static __global__ void tiled_kernel(uint32_t *out, const uint32_t *in, int n)
{
	__shared__ uint32_t values[tile][tile + padding];
	const int left = blockIdx.x * tile, top = blockIdx.y * tile;

	for (int y = threadIdx.y; y < tile; y += block_y)
		for (int x = threadIdx.x; x < tile; x += block_x)
			if (left + x < n && top + y < n)
				values[y][x] = in[(long)(top + y) * n + left + x];
	__syncthreads();
	for (int y = threadIdx.y; y < tile; y += block_y)
		for (int x = threadIdx.x; x < tile; x += block_x)
			if (top + x < n && left + y < n)
				out[(long)(left + y) * n + top + x] = values[x][y];
}

/* ---- variants ---- */

static unsigned blocks(long n, int tile)
{
	return (n + tile - 1) / tile;
}

static void run_naive(problem &p, int iterations)
{
	const dim3 grid(blocks(p.n, 16), blocks(p.n, 16));

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(untiled_kernel<<<grid, dim3(16, 16)>>>(p.out, p.in, p.n));
}

template <int block_x, int block_y, int tile, int padding>
static void run_tiled(problem &p, int iterations)
{
	const dim3 grid(blocks(p.n, tile), blocks(p.n, tile)), block(block_x, block_y);

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(tiled_kernel<block_x, block_y, tile, padding>
			    <<<grid, block>>>(p.out, p.in, p.n));
}

/* ---- one kernel for each shape ---- */

typedef void (*launcher)(problem &, int);
constexpr int x_count = 4, y_count = 4, tile_count = 3, padding_count = 2;
constexpr int most_threads = 1024;

template <int x, int y, int tile, int padding> static constexpr launcher launcher_of()
{
	if constexpr (x * y <= most_threads)
		return run_tiled<x, y, tile, padding>;
	else
		return nullptr;
}

template <size_t... i>
static constexpr std::array<launcher, sizeof...(i)> all_launchers(std::index_sequence<i...>)
{
	return {launcher_of<(8 << (i / (padding_count * tile_count * y_count))),
			    (4 << (i / (padding_count * tile_count) % y_count)),
			    (16 << (i / padding_count % tile_count)), (i % padding_count)>()...};
}

static const auto launchers =
	all_launchers(std::make_index_sequence<x_count * y_count * tile_count * padding_count>());

/* Which of first, 2 first, 4 first ... it is; -1: none of count. */
static int index_of(long value, long first, int count)
{
	for (int i = 0; i < count; i++)
		if (value == first << i)
			return i;
	return -1;
}

/* nullptr: there is no such kernel. */
static launcher find_launcher(const shape &shape)
{
	const int x = index_of(shape.x, 8, x_count), y = index_of(shape.y, 4, y_count),
		  tile = index_of(shape.tile, 16, tile_count);

	if (x < 0 || y < 0 || tile < 0)
		return nullptr;
	return launchers[((x * y_count + y) * tile_count + tile) * padding_count + shape.padding];
}

static void run_chosen(problem &p, int iterations)
{
	find_launcher(chosen_shape)(p, iterations);
}

static const char *why_no_kernel(long, long)
{
	static std::string reason;

	if (find_launcher(chosen_shape))
		return nullptr;
	reason = "no kernel for --x " + std::to_string(chosen_shape.x) + " --y " +
		 std::to_string(chosen_shape.y) + " --tile " + std::to_string(chosen_shape.tile) +
		 ": x is 8, 16, 32 or 64, y is 4, 8, 16 or 32, both together at most 1,024 "
		 "threads, and tiles are of 16, 32 and 64";
	return reason.c_str();
}

/* ---- the problem ---- */

static __global__ void fill_kernel(uint32_t *values, long count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = value_at(i);
}

static void prepare(problem &p, long size, int)
{
	long count;

	p.n = std::min((long)std::sqrt((double)size), 16L * most_bands);
	count = p.n * p.n;
	p.in = device_array<uint32_t>(count);
	p.out = device_array<uint32_t>(count);
	CUDA_LAUNCH(fill_kernel<<<(count + 255) / 256, 256>>>(p.in, count));
}

/* A value that nobody wrote is wrong in all but a few places: value_at takes each value once. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.out, 0, p.n * p.n * sizeof(*p.out)));
}

static struct difference check(const problem &p)
{
	const long n = p.n;

	return compare_each(p.out, n * n, [n](long i) { return value_at(i % n * n + i / n); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.in));
	CUDA_CHECK(cudaFree(p.out));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "no tile: rows are read and columns written, one value a thread", run_naive},
	{"16x16_tile16", "16 x 16 threads, a tile of 16 x 16", run_tiled<16, 16, 16, 0>},
	{"16x16_tile16_padded", "16 x 16 threads, a tile of 16 x 17", run_tiled<16, 16, 16, 1>},
	{"16x16_tile32", "16 x 16 threads, a tile of 32 x 32", run_tiled<16, 16, 32, 0>},
	{"16x16_tile32_padded", "16 x 16 threads, a tile of 32 x 33", run_tiled<16, 16, 32, 1>},
	{"32x8_tile16", "32 x 8 threads, half of them idle, a tile of 16 x 16",
	 run_tiled<32, 8, 16, 0>},
	{"32x8_tile16_padded", "32 x 8 threads, half of them idle, a tile of 16 x 17",
	 run_tiled<32, 8, 16, 1>},
	{"32x8_tile32", "32 x 8 threads, a tile of 32 x 32", run_tiled<32, 8, 32, 0>},
	{"32x8_tile32_padded", "32 x 8 threads, a tile of 32 x 33", run_tiled<32, 8, 32, 1>},
	{"8x32_tile16", "8 x 32 threads, half of them idle, a tile of 16 x 16",
	 run_tiled<8, 32, 16, 0>},
	{"8x32_tile16_padded", "8 x 32 threads, half of them idle, a tile of 16 x 17",
	 run_tiled<8, 32, 16, 1>},
	{"8x32_tile32", "8 x 32 threads, a tile of 32 x 32", run_tiled<8, 32, 32, 0>},
	{"8x32_tile32_padded", "8 x 32 threads, a tile of 32 x 33", run_tiled<8, 32, 32, 1>},
	{"chosen", "as --x, --y, --tile and --padding say", run_chosen, nullptr, nullptr, nullptr,
	 nullptr, why_no_kernel},
};

static const struct workload<problem> tune_transpose = {
	.name = "tune_transpose", .size = 1 << 26, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr,
	.parameters = {
		{"x", "chosen: threads of a block in x, 8 to 64", 8, 64, 8, &chosen_shape.x},
		{"y", "chosen: threads of a block in y, 4 to 32", 4, 32, 4, &chosen_shape.y},
		{"tile", "chosen: values of a tile in x and y, 16 to 64", 16, 64, 16,
		 &chosen_shape.tile},
		{"padding", "chosen: values of padding at the end of a row of the tile, 0 or 1", 0,
		 1, 1, &chosen_shape.padding},
	},
};
RUN_WORKLOAD(tune_transpose)
