/*
 * bank_conflict (E7): a matrix transposed by tiles in shared memory, and what its columns meet there.
 *
 * A block loads a tile by rows and stores its transpose by rows, so that global memory is read and
 * written 128 bytes at a time.  In between a warp reads a column of the tile.  Shared memory has 32
 * banks of 4 bytes: with 32 words a row a column lies in one bank, and the 32 lanes are served one
 * after the other; with 33 words each row begins one bank further, and all are served at once.
 *
 *   naive     tile[32][32]
 *   padded    tile[32][33]
 *   swizzled  tile[32][32], in which the word of (row, column) lies at column ^ row
 *   direct    no tile: each lane stores to a row of its own
 *
 * One launch over a matrix of n x n values, n a multiple of 32, n^2 / 32 warp instructions each way:
 *   FLOPs       none
 *   DRAM        4 n^2 bytes read, 4 n^2 written
 *   shared      n^2 / 32 stores of one wavefront each, n^2 / 32 loads: of 32 wavefronts in naive, of
 *               which 31 are conflicts, and of one in padded and swizzled
 */
#include "workload.cuh"

static const int tile_size = 32;
static const int block_rows = 8; /* of 32 threads, each of which has four rows of the tile */

struct problem {
	int n;
	uint32_t *matrix, *transposed;
};

static __host__ __device__ uint32_t value_at(long i)
{
	return ((uint32_t)i ^ (uint32_t)i >> 15) * 747796405u;
}

/* ---- where the word of a row and a column of the tile is ---- */

struct plain_tile {
	uint32_t words[tile_size][tile_size];

	__device__ uint32_t &at(int row, int column)
	{
		return words[row][column];
	}
};

struct padded_tile {
	uint32_t words[tile_size][tile_size + 1];

	__device__ uint32_t &at(int row, int column)
	{
		return words[row][column];
	}
};

struct swizzled_tile {
	uint32_t words[tile_size][tile_size];

	__device__ uint32_t &at(int row, int column)
	{
		return words[row][column ^ row];
	}
};

/* ---- the kernels ---- */

template <class tile_type>
static __device__ void transpose(uint32_t *transposed, const uint32_t *matrix, int n)
{
	__shared__ tile_type tile;
	int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * tile_size;

	for (int row = threadIdx.y; row < tile_size; row += block_rows)
		if (x < n && y + row < n)
			tile.at(row, threadIdx.x) = matrix[(size_t)(y + row) * n + x];
	__syncthreads();
	x = blockIdx.y * tile_size + threadIdx.x;
	y = blockIdx.x * tile_size;
	for (int row = threadIdx.y; row < tile_size; row += block_rows)
		if (x < n && y + row < n)
			transposed[(size_t)(y + row) * n + x] = tile.at(threadIdx.x, row);
}

static __global__ void plain_kernel(uint32_t *transposed, const uint32_t *matrix, int n)
{
	transpose<plain_tile>(transposed, matrix, n);
}

static __global__ void padded_kernel(uint32_t *transposed, const uint32_t *matrix, int n)
{
	transpose<padded_tile>(transposed, matrix, n);
}

static __global__ void swizzled_kernel(uint32_t *transposed, const uint32_t *matrix, int n)
{
	transpose<swizzled_tile>(transposed, matrix, n);
}

static __global__ void direct_kernel(uint32_t *transposed, const uint32_t *matrix, int n)
{
	int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * tile_size;

	for (int row = threadIdx.y; row < tile_size; row += block_rows)
		if (x < n && y + row < n)
			transposed[(size_t)x * n + y + row] = matrix[(size_t)(y + row) * n + x];
}

/* ---- variants ---- */

typedef void transpose_kernel(uint32_t *transposed, const uint32_t *matrix, int n);

template <transpose_kernel kernel> static void run(problem &p, int iterations)
{
	unsigned tiles = (p.n + tile_size - 1) / tile_size;
	dim3 grid(tiles, tiles), block(tile_size, block_rows);

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(kernel<<<grid, block>>>(p.transposed, p.matrix, p.n));
}

/* ---- the problem ---- */

static __global__ void fill_kernel(uint32_t *matrix, long count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		matrix[i] = value_at(i);
}

static void prepare(problem &p, long size, int)
{
	long count;

	for (p.n = 1; (long)p.n * p.n < size; p.n++)
		;
	count = (long)p.n * p.n;
	p.matrix = device_array<uint32_t>(count);
	p.transposed = device_array<uint32_t>(count);
	CUDA_LAUNCH(fill_kernel<<<(count + 255) / 256, 256>>>(p.matrix, count));
}

/* A value that nobody wrote is nearly always wrong, and neighbors never are alike. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.transposed, 0xff, (size_t)p.n * p.n * sizeof(*p.transposed)));
}

static struct difference check(const problem &p)
{
	unsigned n = p.n; /* a division of 32 bits is much shorter */

	return compare_each(p.transposed, (long)n * n,
			    [n](unsigned i) { return value_at((long)(i % n) * n + i / n); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.matrix));
	CUDA_CHECK(cudaFree(p.transposed));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "tiles of 32 words a row: a column is one bank", run<plain_kernel>},
	{"padded", "tiles of 33 words a row: a column is all banks", run<padded_kernel>},
	{"swizzled", "tiles of 32 words a row, each row in another order", run<swizzled_kernel>},
	{"direct", "no shared memory: a warp stores to 32 rows", run<direct_kernel>},
};

static const struct workload<problem> bank_conflict = {
	.name = "bank_conflict", .size = 1 << 26, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(bank_conflict)
