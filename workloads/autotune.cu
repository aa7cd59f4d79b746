/*
 * autotune.cu - a matrix product whose time depends on launch parameters (F3).
 *
 * C = A B in FP32, tile by tile in shared memory.  Three numbers can be chosen without a change of the result:
 *
 *   block    threads of a block: 64, 128, 256, 512, 1024
 *   tile     rows and columns of C that a block computes, and the length of its steps along k: 8, 16, 32, 64
 *   unroll   products in a row of the inner loop: 1, 2, 4, 8
 *
 * Each of the 80 combinations is a kernel of its own, compiled with these numbers as constants.  `rooflinectl tune`
 * runs the variant `chosen` with them.
 */
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "workload.cuh"

static const long blocks[] = {64, 128, 256, 512, 1024}, tiles[] = {8, 16, 32, 64},
		  unrolls[] = {1, 2, 4, 8};

/* What a first version would have, and what `rooflinectl tune` chose on an H200. */
struct shape {
	long block, tile, unroll;
};
static const shape first_shape = {256, 16, 1}, tuned_shape = {256, 64, 8};
static shape chosen_shape = first_shape;

struct problem {
	long n;
	float *a, *b, *c; /* device, by rows */
};

/* ---- the kernel ---- */

/* Copies the tile that begins at (row, column) of an n x n matrix; zeros beyond its edges. */
template <int BLOCK, int TILE>
static __device__ void load_tile(float (&tile)[TILE][TILE], const float *matrix, long n, long row,
				 long column)
{
	for (int i = threadIdx.x; i < TILE * TILE; i += BLOCK) {
		long y = row + i / TILE, x = column + i % TILE;

		tile[i / TILE][i % TILE] = y < n && x < n ? matrix[y * n + x] : 0;
	}
}

/*
 * A thread has one column of the tile and every BLOCK / TILE-th row of it.  Where there are more threads than
 * elements, those that are left over help to load only.
 */
template <int BLOCK, int TILE, int UNROLL>
static __global__ void __launch_bounds__(BLOCK)
	multiply(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b,
		 long n)
{
	constexpr int rows_apart = BLOCK / TILE;
	constexpr int per_thread = rows_apart < TILE ? TILE / rows_apart : 1;
	__shared__ __align__(16) float a_tile[TILE][TILE], b_tile[TILE][TILE];
	const long row = (long)blockIdx.y * TILE, column = (long)blockIdx.x * TILE;
	const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
	float sums[per_thread] = {};

	for (long start = 0; start < n; start += TILE) {
		load_tile<BLOCK>(a_tile, a, n, row, start);
		load_tile<BLOCK>(b_tile, b, n, start, column);
		__syncthreads();
		if (y < TILE) {
#pragma unroll UNROLL
			for (int k = 0; k < TILE; k++)
#pragma unroll
				for (int i = 0; i < per_thread; i++)
					sums[i] += a_tile[y + i * rows_apart][k] * b_tile[k][x];
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < per_thread; i++)
		if (y < TILE && row + y + i * rows_apart < n && column + x < n)
			c[(row + y + i * rows_apart) * n + column + x] = sums[i];
}

/* ---- one kernel for each combination ---- */

template <int BLOCK, int TILE, int UNROLL> static void launch(problem &p, int iterations)
{
	const unsigned across = (unsigned)((p.n + TILE - 1) / TILE);

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(multiply<BLOCK, TILE, UNROLL>
			    <<<dim3(across, across), BLOCK>>>(p.c, p.a, p.b, p.n));
}

typedef void (*launcher)(problem &, int);
constexpr int block_count = 5, tile_count = 4, unroll_count = 4;

template <size_t... I>
static constexpr std::array<launcher, sizeof...(I)> all_launchers(std::index_sequence<I...>)
{
	return {launch<(64 << (I / (tile_count * unroll_count))),
		       (8 << (I / unroll_count % tile_count)), (1 << (I % unroll_count))>...};
}

static const auto launchers =
	all_launchers(std::make_index_sequence<block_count * tile_count * unroll_count>());

template <size_t N> static int index_of(const long (&values)[N], long value)
{
	for (size_t i = 0; i < N; i++)
		if (values[i] == value)
			return (int)i;
	return -1;
}

/* nullptr: there is no such kernel. */
static launcher find_launcher(const shape &shape)
{
	int block = index_of(blocks, shape.block), tile = index_of(tiles, shape.tile),
	    unroll = index_of(unrolls, shape.unroll);

	if (block < 0 || tile < 0 || unroll < 0)
		return nullptr;
	return launchers[(block * tile_count + tile) * unroll_count + unroll];
}

/* ---- problem ---- */

/* -2 to 2: the sums of products of up to 2^22 of these are whole numbers that FP32 holds exactly, in any order. */
static int value_at(long index, uint32_t seed)
{
	uint32_t x = (uint32_t)index * 2654435761u + seed;

	x = (x ^ (x >> 15)) * 2246822519u;
	return (int)((x >> 16) % 5) - 2;
}

static float *matrix(long n, uint32_t seed)
{
	std::vector<float> values(n * n);

	for (long i = 0; i < n * n; i++)
		values[i] = (float)value_at(i, seed);
	return device_copy(values);
}

static void prepare(problem &p, long size, int)
{
	p.n = size;
	p.a = matrix(size, 1);
	p.b = matrix(size, 2);
	p.c = device_array<float>(size * size);
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.c, 0xff, p.n * p.n * sizeof(*p.c)));
}

static long reference(long n, long row, long column)
{
	long sum = 0;

	for (long k = 0; k < n; k++)
		sum += value_at(row * n + k, 1) * value_at(k * n + column, 2);
	return sum;
}

/* 16 rows from edge to edge, 64 values of each: the reference of all would take longer than 80 trials do. */
static struct difference check(const problem &p)
{
	const long row_count = 16, value_count = 64;
	std::vector<float> found(p.n);

	for (long i = 0; i < row_count; i++) {
		long row = i * (p.n - 1) / (row_count - 1);

		CUDA_CHECK(cudaMemcpy(found.data(), p.c + row * p.n, p.n * sizeof(float),
				      cudaMemcpyDeviceToHost));
		for (long j = 0; j < value_count; j++) {
			long column = j * (p.n - 1) / (value_count - 1);
			long expected = reference(p.n, row, column);

			if (!(found[column] == (float)expected))
				return {row * p.n + column, (unsigned long long)found[column],
					(unsigned long long)expected};
		}
	}
	return {-1, 0, 0};
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.a));
	CUDA_CHECK(cudaFree(p.b));
	CUDA_CHECK(cudaFree(p.c));
	p = {};
}

/* ---- variants ---- */

static void run_naive(problem &p, int iterations)
{
	find_launcher(first_shape)(p, iterations);
}

static void run_tuned(problem &p, int iterations)
{
	find_launcher(tuned_shape)(p, iterations);
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
	reason = "no kernel for --block " + std::to_string(chosen_shape.block) + " --tile " +
		 std::to_string(chosen_shape.tile) + " --unroll " +
		 std::to_string(chosen_shape.unroll) +
		 ": there are blocks of 64, 128, 256, 512 and 1024 threads, tiles of 8, 16, 32 and "
		 "64, unrolled 1, 2, 4 and 8 times";
	return reason.c_str();
}

static const std::vector<variant<problem>> variants = {
	{"naive", "block 256, tile 16, unroll 1", run_naive},
	{"tuned", "block 256, tile 64, unroll 8, as tuned on an H200", run_tuned},
	{"chosen", "as --block, --tile and --unroll say", run_chosen, nullptr, nullptr, nullptr,
	 nullptr, why_no_kernel},
};

static const struct workload<problem> autotune = {
	.name = "autotune", .size = 1024, .iterations = 10, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = nullptr,
	.parameters = {
		{"block", "chosen: threads of a block, 64 to 1024", 64, 1024, 64,
		 &chosen_shape.block},
		{"tile", "chosen: rows and columns of a tile, 8 to 64", 8, 64, 8,
		 &chosen_shape.tile},
		{"unroll", "chosen: products in a row, 1 to 8", 1, 8, 1, &chosen_shape.unroll},
	},
};
RUN_WORKLOAD(autotune)
