/*
 * fuse_reduction (E2): softmax along rows, in three kernels, in one, and with each value read once.
 *
 * Each row of a matrix becomes exp(x - max) / sum(exp(x - max)).  A row's maximum is needed before the
 * first exp and its sum before the first division, so the plain form goes through a row three times.
 *
 *   naive      three kernels: maxima; exps, which are stored, and their sums; quotients
 *   block      one kernel, in which a block does the same with its row
 *   online     the maximum and the sum in one pass: where a larger maximum comes up, the sum so far is
 *              scaled to it (Milakov and Gimelshein, 2018)
 *   registers  the threads of a row keep it in registers, and read it once
 *
 * One iteration over n values in rows of --row values, which the threads of one warp or block share:
 *
 *              bytes of DRAM               bytes of global accesses
 *   naive      4 n + 8 n + 8 n = 20 n      20 n
 *   block      4 n + 4 n = 8 n             4 n + 8 n + 8 n = 20 n
 *   online     4 n + 4 n = 8 n             4 n + 8 n = 12 n
 *   registers  4 n + 4 n = 8 n             8 n
 *
 * and 16 bytes a row for the maxima and sums of naive.  DRAM sees one reading in block and online for
 * as long as L2 holds the rows that all SMs have under way.
 *
 * FLOPs of a thread of registers, which has v values: exp (nvcc 13) is four FMAs, an addition and a
 * multiplication around the special function unit.  It is called v times, in each of five exchanges of
 * two reductions, and for the factor, each time after a subtraction: 11 (v + 11).  Then there are the
 * sums, v, the products, v, an FMA in each exchange, 20, and a division, 12: 13 v + 153.
 */
#include <cfloat>

#include "workload.cuh"

static const int block_size = 256;
static const int warp_size = 32;
static const int classes = 61; /* different rows */
static const double tolerance = 1e-5;
static long row_size = 4096;

struct problem {
	long rows;
	int row;
	float *x, *z;
	float *exps, *maxima, *sums;  /* what the kernels of naive leave to the next one */
	std::vector<double> expected; /* [classes][row] */
};

/* From 0 to 8, and rising by 16 along the row: the largest so far changes again and again. */
static __host__ __device__ float x_at(long row, int column, int columns)
{
	uint32_t mixed = ((uint32_t)(row % classes) * 65536u + column) * 2654435769u;

	return (mixed >> 22) / 128.0f + 16.0f * column / columns;
}

/* ---- three kernels: a block a row ---- */

struct larger {
	__device__ float operator()(float a, float b) const
	{
		return fmaxf(a, b);
	}
};

struct sum {
	__device__ float operator()(float a, float b) const
	{
		return a + b;
	}
};

/* Of the values of all threads of the block, to all of them. */
template <class operation> static __device__ float reduce_by_tree(float value, operation combine)
{
	__shared__ float tree[block_size];
	float whole;

	tree[threadIdx.x] = value;
	__syncthreads();
	for (int half = block_size / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			tree[threadIdx.x] = combine(tree[threadIdx.x], tree[threadIdx.x + half]);
		__syncthreads();
	}
	whole = tree[0];
	__syncthreads(); /* the tree is used again */
	return whole;
}

static __device__ float row_max(const float *x, int row)
{
	float most = -FLT_MAX;

	for (int i = threadIdx.x; i < row; i += block_size)
		most = fmaxf(most, x[i]);
	return reduce_by_tree(most, larger());
}

static __device__ float row_exps(float *exps, const float *x, int row, float max)
{
	float total = 0;

	for (int i = threadIdx.x; i < row; i += block_size) {
		exps[i] = expf(x[i] - max);
		total += exps[i];
	}
	return reduce_by_tree(total, sum());
}

static __device__ void row_divide(float *z, const float *exps, int row, float total)
{
	float factor = 1 / total;

	for (int i = threadIdx.x; i < row; i += block_size)
		z[i] = exps[i] * factor;
}

static __global__ void max_kernel(float *maxima, const float *x, int row)
{
	float max = row_max(x + (size_t)blockIdx.x * row, row);

	if (threadIdx.x == 0)
		maxima[blockIdx.x] = max;
}

static __global__ void exp_kernel(float *exps, float *sums, const float *x, const float *maxima,
				  int row)
{
	size_t start = (size_t)blockIdx.x * row;
	float total = row_exps(exps + start, x + start, row, maxima[blockIdx.x]);

	if (threadIdx.x == 0)
		sums[blockIdx.x] = total;
}

static __global__ void divide_kernel(float *z, const float *exps, const float *sums, int row)
{
	size_t start = (size_t)blockIdx.x * row;

	row_divide(z + start, exps + start, row, sums[blockIdx.x]);
}

/* ---- one kernel that does the same: what it stores for itself, L2 still has ---- */

static __global__ void block_kernel(float *z, const float *x, int row)
{
	size_t start = (size_t)blockIdx.x * row;
	float max = row_max(x + start, row);
	float total = row_exps(z + start, x + start, row, max);

	row_divide(z + start, z + start, row, total);
}

/* ---- maximum and sum in one pass ---- */

/* Of the values so far: sum is that of exp(value - max). */
struct running {
	float max, sum;
};

static __device__ struct running both(struct running a, struct running b)
{
	float scale = expf(-fabsf(a.max - b.max)); /* of the one with the smaller maximum */

	return a.max > b.max ? running{a.max, fmaf(b.sum, scale, a.sum)}
			     : running{b.max, fmaf(a.sum, scale, b.sum)};
}

static __device__ float largest(float4 x)
{
	return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
}

static __device__ float4 exps_of(float4 x, float max)
{
	return {expf(x.x - max), expf(x.y - max), expf(x.z - max), expf(x.w - max)};
}

static __device__ float total_of(float4 x)
{
	return (x.x + x.y) + (x.z + x.w);
}

static __device__ float4 scaled(float4 x, float factor)
{
	return {x.x * factor, x.y * factor, x.z * factor, x.w * factor};
}

static __device__ struct running reduce_warp(struct running own)
{
#pragma unroll
	for (int distance = warp_size / 2; distance > 0; distance /= 2)
		own = both(own, {__shfl_xor_sync(~0U, own.max, distance),
				 __shfl_xor_sync(~0U, own.sum, distance)});
	return own;
}

/* Of so many threads, to all of them: a warp, or a block of up to a warp of warps. */
template <int threads> static __device__ struct running reduce_row(struct running own)
{
	__shared__ struct running of_warps[warp_size];
	int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;

	own = reduce_warp(own);
	if (threads == warp_size)
		return own;
	if (lane == 0)
		of_warps[warp] = own;
	__syncthreads();
	own = lane < threads / warp_size ? of_warps[lane] : running{-FLT_MAX, 0};
	return reduce_warp(own);
}

static __global__ void online_kernel(float *z, const float *x, int row)
{
	const float4 *source = (const float4 *)(x + (size_t)blockIdx.x * row);
	float4 *target = (float4 *)(z + (size_t)blockIdx.x * row);
	struct running whole = {-FLT_MAX, 0};

	for (int i = threadIdx.x; i < row / 4; i += block_size) {
		float4 values = source[i];
		float max = fmaxf(whole.max, largest(values));

		whole.sum = whole.sum * expf(whole.max - max) + total_of(exps_of(values, max));
		whole.max = max;
	}
	whole = reduce_row<block_size>(whole);
	for (int i = threadIdx.x; i < row / 4; i += block_size)
		target[i] = scaled(exps_of(source[i], whole.max), 1 / whole.sum);
}

/* ---- rows in registers ---- */

/* On an SM: each has 64 registers then, which is enough for 32 values and to compute their exps. */
static const int register_threads = 1024;

static constexpr int register_block(int threads)
{
	return threads < block_size / 2 ? block_size : threads;
}

/* A row has so many threads, and each of them at most so many times four values of it.  Their exps
 * are those of the thread's own maximum until that of the row is known. */
template <int threads, int vectors>
static __global__ void __launch_bounds__(register_block(threads),
					 register_threads / register_block(threads))
	registers_kernel(float *z, const float *x, int row, long rows)
{
	long index = (long)blockIdx.x * (blockDim.x / threads) + threadIdx.x / threads;
	const float4 *source = (const float4 *)(x + index * row);
	float4 *target = (float4 *)(z + index * row);
	int thread = threadIdx.x % threads;
	struct running own = {-FLT_MAX, 0}, whole;
	float4 values[vectors];
	float factor;

	if (index >= rows) /* all threads of the row */
		return;
#pragma unroll
	for (int v = 0; v < vectors; v++) {
		int i = thread + v * threads;

		values[v] =
			i < row / 4 ? source[i] : float4{-FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};
		own.max = fmaxf(own.max, largest(values[v]));
	}
#pragma unroll
	for (int v = 0; v < vectors; v++) {
		values[v] = exps_of(values[v], own.max);
		own.sum += total_of(values[v]);
	}
	whole = reduce_row<threads>(own);
	factor = expf(own.max - whole.max) / whole.sum;
#pragma unroll
	for (int v = 0; v < vectors; v++)
		if (thread + v * threads < row / 4)
			target[thread + v * threads] = scaled(values[v], factor);
}

template <int threads, int vectors> static void launch_registers(const problem &p)
{
	const int block = register_block(threads), block_rows = block / threads;
	unsigned blocks = (p.rows + block_rows - 1) / block_rows;

	CUDA_LAUNCH(registers_kernel<threads, vectors><<<blocks, block>>>(p.z, p.x, p.row, p.rows));
}

/* The first that holds a row: a warp where that is enough, and at most 32 values a thread. */
static const struct {
	int row;
	void (*launch)(const problem &);
} shapes[] = {
	{128, launch_registers<32, 1>},	    {256, launch_registers<32, 2>},
	{512, launch_registers<32, 4>},	    {1024, launch_registers<32, 8>},
	{2048, launch_registers<128, 4>},   {4096, launch_registers<128, 8>},
	{8192, launch_registers<256, 8>},   {16384, launch_registers<512, 8>},
	{32768, launch_registers<1024, 8>},
};

/* ---- variants ---- */

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(max_kernel<<<p.rows, block_size>>>(p.maxima, p.x, p.row));
		CUDA_LAUNCH(
			exp_kernel<<<p.rows, block_size>>>(p.exps, p.sums, p.x, p.maxima, p.row));
		CUDA_LAUNCH(divide_kernel<<<p.rows, block_size>>>(p.z, p.exps, p.sums, p.row));
	}
}

static void run_block(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(block_kernel<<<p.rows, block_size>>>(p.z, p.x, p.row));
}

static void run_online(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(online_kernel<<<p.rows, block_size>>>(p.z, p.x, p.row));
}

static void run_registers(problem &p, int iterations)
{
	auto shape = shapes;

	while (shape->row < p.row)
		shape++;
	for (int i = 0; i < iterations; i++)
		shape->launch(p);
}

/* ---- the problem ---- */

static __global__ void fill_kernel(float *x, int row)
{
	for (int i = threadIdx.x; i < row; i += block_size)
		x[(size_t)blockIdx.x * row + i] = x_at(blockIdx.x, i, row);
}

/* The scalar reference, of one row of each class. */
static std::vector<double> reference(int row)
{
	std::vector<double> z((size_t)classes * row);

	for (int c = 0; c < classes; c++) {
		double max = -FLT_MAX, total = 0;

		for (int i = 0; i < row; i++)
			max = std::max(max, (double)x_at(c, i, row));
		for (int i = 0; i < row; i++)
			total += std::exp(x_at(c, i, row) - max);
		for (int i = 0; i < row; i++)
			z[(size_t)c * row + i] = std::exp(x_at(c, i, row) - max) / total;
	}
	return z;
}

static void prepare(problem &p, long size, int)
{
	size_t count;

	p.row = row_size;
	p.rows = (size + p.row - 1) / p.row;
	count = p.rows * p.row;
	p.x = device_array<float>(count);
	p.z = device_array<float>(count);
	p.exps = device_array<float>(count);
	p.maxima = device_array<float>(p.rows);
	p.sums = device_array<float>(p.rows);
	CUDA_LAUNCH(fill_kernel<<<p.rows, block_size>>>(p.x, p.row));
	p.expected = reference(p.row);
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.z, 0xff, p.rows * p.row * sizeof(*p.z)));
	CUDA_CHECK(cudaMemset(p.exps, 0xff, p.rows * p.row * sizeof(*p.exps)));
	CUDA_CHECK(cudaMemset(p.maxima, 0xff, p.rows * sizeof(*p.maxima)));
	CUDA_CHECK(cudaMemset(p.sums, 0xff, p.rows * sizeof(*p.sums)));
}

static struct difference check(const problem &p)
{
	unsigned row = p.row; /* a division of 32 bits is much shorter */

	return compare_close(p.z, p.rows * row, tolerance, [&p, row](unsigned i) {
		return p.expected[(size_t)(i / row % classes) * row + i % row];
	});
}

static void release(problem &p)
{
	for (float *array : {p.x, p.z, p.exps, p.maxima, p.sums})
		CUDA_CHECK(cudaFree(array));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "three kernels: maxima, exps and their sums, quotients", run_naive},
	{"block", "one kernel, which goes through a row as often as those three", run_block},
	{"online", "maximum and sum in one pass, with loads of 16 bytes", run_online},
	{"registers", "a row is read once and kept in registers", run_registers},
};

static const struct workload<problem> fuse_reduction = {
	.name = "fuse_reduction", .size = 1 << 26, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.parameters = {{"row", "values of a row", 128, 32768, 4, &row_size}},
};
RUN_WORKLOAD(fuse_reduction)
