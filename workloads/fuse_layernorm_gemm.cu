/*
 * fuse_layernorm_gemm (E5): layer normalization, a matrix product and an activation.
 *
 *   n = (x - mean) / sqrt(variance + 1e-5) gamma + beta    for each row of x
 *   t = n w^T                                              on tensor cores, sums in FP32
 *   y = gelu(t + bias)
 * as the first half of a transformer's feed-forward layer has it.  All arrays are FP16.
 *
 * Three kernels hand each other n and t.  Fused, a block has 128 rows.  Its warps normalize them, a
 * row each at a time, and keep all of n for these rows in shared memory: that is as wide as it can
 * be.  Then the weights come by, tile after tile of outputs, and what leaves the registers is y.
 *
 * One iteration over M rows (--size), K values each (--hidden), and N outputs (--outputs):
 *   FLOPs   2 M N K on tensor cores
 *   bytes   naive  normalization 4 M K, product 2 M K + 2 M N, activation 4 M N  = 6 M K + 6 M N
 *           fused  2 M K + 2 M N
 *   and 2 N K of weights, which stay in the L2 cache.
 *
 * The statistics are Welford's in the form for parallel sums: a lane's own values, then pairs of
 * lanes.  GELU is the form with tanh in all variants, as cuBLASLt has it.
 */
#include <algorithm>
#include <cmath>

#include "cublaslt.cuh"
#include "tensor_core.cuh"
#include "workload.cuh"

static long hidden_size = 512, output_count = 2048;

static const float epsilon = 1e-5f;
static const int block_size = 256; /* of kernels without a product, and 8 warps of those with one */
static const int block_rows = 128; /* of x and y, of a block with a product */
static const int tile_outputs = 128;		 /* at a time */
static const int staging_bytes = 16 * row_bytes; /* of a warp */
static const int tile_bytes = 128 * row_bytes;	 /* 128 rows of 64 values, of n or of the weights */

struct sizes {
	int rows, hidden, outputs;
	int blocks_at_a_time; /* with all of the shared memory of an SM */
};

/* Of the layer. */
struct parameters {
	const __half *gamma, *beta, *weights /* [output][hidden] */, *bias;
};

struct problem {
	struct sizes sizes;
	__half *x, *n, *t, *y;
	std::vector<__half> gamma, beta, bias;
	struct parameters parameters;
	CUtensorMap map; /* of the weights */
#if ROOFLINE_HAS_CUBLASLT
	struct cublaslt_plan plan;
#endif
};

/* ---- layer normalization ---- */

struct alignas(16) eight {
	__half2 pair[4];
};

static __device__ float sum_of_pair(float x, int lanes)
{
	return x + __shfl_xor_sync(~0u, x, lanes);
}

/* Mean and 1 / deviation of a row of 32 * count values, count of which this lane has. */
template <int count> static __device__ float2 row_statistics(const float (&values)[count])
{
	float mean = 0, squares = 0;

#pragma unroll
	for (int i = 0; i < count; i++)
		mean += values[i];
	mean *= 1.0f / count;
#pragma unroll
	for (int i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) {
		float middle = 0.5f * sum_of_pair(mean, lanes), off = mean - middle;

		squares = sum_of_pair(squares, lanes) + 2 * off * off * (count * lanes);
		mean = middle;
	}
	return {mean, rsqrtf(squares * (1.0f / (32 * count)) + epsilon)};
}

/* This lane's chunks of eight values of a row: lane, lane + 32 and so on. */
template <int chunks> struct lane_values {
	eight chunk[chunks];
};

template <int chunks>
static __device__ void load_row(struct lane_values<chunks> &values, const __half *row)
{
#pragma unroll
	for (int i = 0; i < chunks; i++)
		values.chunk[i] = ((const eight *)row)[threadIdx.x % 32 + 32 * i];
}

template <int chunks>
static __device__ void normalize(struct lane_values<chunks> &row,
				 const struct lane_values<chunks> &gamma,
				 const struct lane_values<chunks> &beta)
{
	float values[8 * chunks];
	float2 statistics;

#pragma unroll
	for (int i = 0; i < 4 * chunks; i++) {
		float2 pair = __half22float2(row.chunk[i / 4].pair[i % 4]);

		values[2 * i] = pair.x;
		values[2 * i + 1] = pair.y;
	}
	statistics = row_statistics(values);
#pragma unroll
	for (int i = 0; i < 4 * chunks; i++) {
		float2 by = __half22float2(gamma.chunk[i / 4].pair[i % 4]);
		float2 plus = __half22float2(beta.chunk[i / 4].pair[i % 4]);
		float x = (values[2 * i] - statistics.x) * statistics.y;
		float y = (values[2 * i + 1] - statistics.x) * statistics.y;

		row.chunk[i / 4].pair[i % 4] =
			__floats2half2_rn(fmaf(x, by.x, plus.x), fmaf(y, by.y, plus.y));
	}
}

/* A kernel of its own: a warp a row. */
template <int chunks>
static __global__ void layernorm_kernel(__half *n, const __half *x, struct parameters parameters,
					struct sizes sizes)
{
	int row = blockIdx.x * (block_size / 32) + threadIdx.x / 32;
	struct lane_values<chunks> gamma, beta, values;

	if (row >= sizes.rows)
		return;
	load_row(values, x + (size_t)row * sizes.hidden);
	load_row(gamma, parameters.gamma);
	load_row(beta, parameters.beta);
	normalize(values, gamma, beta);
#pragma unroll
	for (int i = 0; i < chunks; i++)
		((eight *)(n + (size_t)row * sizes.hidden))[threadIdx.x % 32 + 32 * i] =
			values.chunk[i];
}

/* The block's 128 rows into shared memory: tiles of 64 columns.  A warp has 16 rows, four at a time
 * so that the loads of four are under way.  Rows that are not there become 0. */
template <int chunks>
static __device__ void normalize_block(uint32_t normalized, const __half *x,
				       struct parameters parameters, struct sizes sizes)
{
	const int at_a_time = 4;
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	struct lane_values<chunks> gamma, beta;

	load_row(gamma, parameters.gamma);
	load_row(beta, parameters.beta);
#pragma unroll 1
	for (int first = warp * 16; first < warp * 16 + 16; first += at_a_time) {
		struct lane_values<chunks> rows[at_a_time] = {
		};

#pragma unroll
		for (int i = 0; i < at_a_time; i++) {
			int row = blockIdx.x * block_rows + first + i;

			if (row < sizes.rows)
				load_row(rows[i], x + (size_t)row * sizes.hidden);
		}
#pragma unroll
		for (int i = 0; i < at_a_time; i++) {
			normalize(rows[i], gamma, beta);
#pragma unroll
			for (int k = 0; k < chunks; k++)
				store_shared(normalized + (lane + 32 * k) / 8 * tile_bytes +
						     swizzled(first + i, lane % 8),
					     *(const uint4 *)&rows[i].chunk[k]);
		}
	}
}

/* ---- the activation ---- */

static __host__ __device__ float tanh_of(float x)
{
#ifdef __CUDA_ARCH__
	asm("tanh.approx.f32 %0, %0;" : "+f"(x));
	return x;
#else
	return tanhf(x);
#endif
}

/* The form with tanh (Hendrycks and Gimpel, 2016). */
static __host__ __device__ float gelu(float x)
{
	float inner = x * fmaf(0.035677408f, x * x, 0.79788456f);

	return 0.5f * x * (1 + tanh_of(inner));
}

static __device__ __half2 activated(float2 sums, __half2 bias)
{
	float2 plus = __half22float2(bias);

	return __floats2half2_rn(gelu(sums.x + plus.x), gelu(sums.y + plus.y));
}

/* A kernel of its own: eight values a thread. */
static __global__ void gelu_kernel(eight *y, const eight *t, const eight *bias, uint32_t count,
				   uint32_t row_eights)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= count)
		return;
	eight values = t[i], plus = bias[i % row_eights];

#pragma unroll
	for (int k = 0; k < 4; k++)
		values.pair[k] = activated(__half22float2(values.pair[k]), plus.pair[k]);
	y[i] = values;
}

/* 16 rows and 64 columns of a warp become y, from `row` and `column` on.  By way of 2 KiB of shared
 * memory of its own: then eight lanes store a row's 128 bytes.  bias: of this lane's columns, two of
 * each eight. */
static __device__ void store_tile(__half *y, const float (*sums)[4], const __half2 *bias,
				  char *staging, int row, int column, struct sizes sizes)
{
	int lane = threadIdx.x % 32;

#pragma unroll
	for (int j = 0; j < 8; j++)
#pragma unroll
		for (int half = 0; half < 2; half++)
			*(__half2 *)(staging + swizzled(lane / 4 + 8 * half, j) + lane % 4 * 4) =
				activated({sums[j][2 * half], sums[j][2 * half + 1]}, bias[j]);
	__syncwarp();
#pragma unroll
	for (int n = 0; n < 4; n++) {
		int at = row + 4 * n + lane / 8;

		if (at < sizes.rows)
			*(uint4 *)(y + (size_t)at * sizes.outputs + column + lane % 8 * 8) =
				*(const uint4 *)(staging + swizzled(4 * n + lane / 8, lane % 8));
	}
	__syncwarp();
}

/* Of this lane's columns, two of each eight from `column` on. */
template <int count>
static __device__ void load_bias(__half2 (&bias)[count], struct parameters parameters, int column)
{
#pragma unroll
	for (int j = 0; j < count; j++)
		bias[j] =
			*(const __half2 *)(parameters.bias + column + 8 * j + threadIdx.x % 4 * 2);
}

/* ---- fused, with mma: warps of 32 rows and 64 outputs, weights one step ahead ---- */

static __device__ void load_weights(uint32_t stage, const __half *weights, int hidden, int output,
				    int column)
{
#pragma unroll
	for (int n = 0; n < tile_outputs * 8 / block_size; n++) {
		int i = n * block_size + threadIdx.x, row = i / 8, chunk = i % 8;

		copy_async(stage + swizzled(row, chunk),
			   weights + (size_t)(output + row) * hidden + column + 8 * chunk, true);
	}
	copy_async_commit();
}

/* sums += 64 columns of n times as many of the weights. */
static __device__ void multiply_mma(float (&sums)[2][8][4], uint32_t normalized, uint32_t stage)
{
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int row = warp / 2 * 32 + lane % 16, output = warp % 2 * 64 + lane / 16 * 8 + lane % 8;

#pragma unroll
	for (int k = 0; k < row_values / 16; k++) {
		uint32_t a[2][4], b[4][4];

#pragma unroll
		for (int i = 0; i < 2; i++)
			load_fragment(a[i], normalized + swizzled(row + 16 * i, 2 * k + lane / 16));
#pragma unroll
		for (int j = 0; j < 4; j++)
			load_fragment(b[j],
				      stage + swizzled(output + 16 * j, 2 * k + lane / 8 % 2));
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int j = 0; j < 8; j++)
				mma(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
	}
}

template <int chunks>
static __global__ void __launch_bounds__(block_size)
	fused_kernel(__half *y, const __half *x, struct parameters parameters, struct sizes sizes)
{
	extern __shared__ __align__(1024) char memory[];
	uint32_t normalized = shared_address(memory);
	int tiles = sizes.hidden / row_values, steps = sizes.outputs / tile_outputs * tiles;
	int warp = threadIdx.x / 32;
	uint32_t stage = normalized + tiles * tile_bytes;
	char *staging = memory + (tiles + 2) * tile_bytes + warp * staging_bytes;
	float sums[2][8][4] = {};

	load_weights(stage, parameters.weights, sizes.hidden, 0, 0);
	normalize_block<chunks>(normalized, x, parameters, sizes);
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		int tile = step % tiles, output = step / tiles * tile_outputs, ahead = step + 1;
		int column = output + warp % 2 * 64;
		__half2 bias[8];

		copy_async_wait<0>();
		__syncthreads(); /* this step's weights are here, those of the last one are free */
		if (ahead < steps)
			load_weights(stage + ahead % 2 * tile_bytes, parameters.weights,
				     sizes.hidden, ahead / tiles * tile_outputs,
				     ahead % tiles * row_values);
		multiply_mma(sums, normalized + tile * tile_bytes, stage + step % 2 * tile_bytes);
		if (tile < tiles - 1)
			continue;
		load_bias(bias, parameters, column);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			int row = blockIdx.x * block_rows + warp / 2 * 32 + 16 * i;

			store_tile(y, sums[i], bias, staging, row, column, sizes);
#pragma unroll
			for (int j = 0; j < 32; j++)
				sums[i][j / 4][j % 4] = 0;
		}
	}
}

/* ---- fused, with wgmma ---- */

/* Two groups of four warps take the tiles of outputs in turns: while one group's product is on the
 * tensor cores, the other has its activation. */

/* Where weights are on their way: stages in shared memory, for each a barrier that says that it is
 * full and one that says that it is empty again, and two barriers for the turns. */
struct pipeline {
	uint32_t stage, full, empty, turn;
	int stages, steps;
};

static __device__ struct pipeline pipeline_at(uint32_t stage, uint32_t barriers, int stages,
					      struct sizes sizes)
{
	return {stage,
		barriers,
		barriers + 8 * stages,
		barriers + 16 * stages,
		stages,
		sizes.outputs / tile_outputs * (sizes.hidden / row_values)};
}

static __device__ void init_barriers(struct pipeline p)
{
	for (int i = 0; i < p.stages; i++) {
		barrier_init(p.full + 8 * i, 1);
		barrier_init(p.empty + 8 * i, 4); /* the warps that read it */
	}
	barrier_init(p.turn, 1);
	barrier_init(p.turn + 8, 1);
	barrier_publish();
}

/* For one thread: asks for the weights of a step as soon as its stage is empty. */
static __device__ void load_step(struct pipeline p, const CUtensorMap *map, int step,
				 struct sizes sizes)
{
	int at = step % p.stages, tiles = sizes.hidden / row_values;

	if (step >= p.steps)
		return;
	barrier_wait(p.empty + 8 * at, (step / p.stages + 1) % 2);
	barrier_expect(p.full + 8 * at, tile_bytes);
	load_tile(p.stage + at * tile_bytes, map, p.full + 8 * at, step % tiles * row_values,
		  step / tiles * tile_outputs);
}

/* This warp has read the weights of a step. */
static __device__ void finish_step(struct pipeline p, const CUtensorMap *map, int step,
				   struct sizes sizes)
{
	if (threadIdx.x % 32 == 0)
		barrier_arrive(p.empty + 8 * (step % p.stages));
	if (threadIdx.x % 128 == 0)
		load_step(p, map, step + p.stages, sizes);
}

/* 128 rows and 128 outputs, of which the first step is `first`; the last one is still under way. */
static __device__ void multiply_wgmma(float (&sums)[2][16][4], uint32_t normalized,
				      struct pipeline p, const CUtensorMap *map, int first,
				      struct sizes sizes)
{
#pragma unroll 1
	for (int tile = 0; tile < sizes.hidden / row_values; tile++) {
		int step = first + tile, at = step % p.stages;
		uint64_t a = tile_descriptor(normalized + tile * tile_bytes);
		uint64_t b = tile_descriptor(p.stage + at * tile_bytes);

		barrier_wait(p.full + 8 * at, step / p.stages % 2);
		wgmma_begin();
#pragma unroll
		for (int k = 0; k < row_values / 16; k++) { /* 32 bytes a step, 64 rows */
			wgmma128(sums[0], a + 2 * k, b + 2 * k, tile || k);
			wgmma128(sums[1], a + 2 * k + 64 * row_bytes / 16, b + 2 * k, tile || k);
		}
		wgmma_commit();
		wgmma_wait<1>();
		if (tile > 0)
			finish_step(p, map, step - 1, sizes);
	}
}

/* The rows of the block that comes to this SM after this one. */
static __device__ void prefetch_next(const __half *x, struct sizes sizes)
{
	int row = (blockIdx.x + sizes.blocks_at_a_time) * block_rows;

	if (row < sizes.rows)
		prefetch_l2(x + (size_t)row * sizes.hidden,
			    min(block_rows, sizes.rows - row) * sizes.hidden * sizeof(*x));
}

template <int chunks>
static __global__ void __launch_bounds__(block_size, 1)
	wgmma_kernel(__half *y, const __half *x, struct parameters parameters,
		     const __grid_constant__ CUtensorMap map, struct sizes sizes, int stages)
{
	extern __shared__ __align__(1024) char memory[];
	const int tiles = chunks * 256 / row_values;
	char *stage = memory + tiles * tile_bytes, *staging = stage + stages * tile_bytes;
	uint32_t normalized = shared_address(memory);
	struct pipeline p = pipeline_at(shared_address(stage),
					shared_address(staging + block_size / 32 * staging_bytes),
					stages, sizes);
	int group = threadIdx.x / 128, warp = threadIdx.x / 32;

	if (!HAS_WGMMA)
		return; /* nobody launches it */
	if (threadIdx.x == 0) {
		init_barriers(p);
		for (int step = 0; step < stages; step++)
			load_step(p, &map, step, sizes);
	}
	normalize_block<chunks>(normalized, x, parameters, sizes);
	wgmma_publish();
	__syncthreads();
#pragma unroll 1
	for (int turn = group; turn < sizes.outputs / tile_outputs; turn += 2) {
		int column = turn * tile_outputs;
		float sums[2][16][4];
		__half2 bias[16];

		if (turn > 0)
			barrier_wait(p.turn + 8 * group, (turn - 1) / 2 % 2);
		multiply_wgmma(sums, normalized, p, &map, turn * tiles, sizes);
		if (threadIdx.x % 128 == 0)
			barrier_arrive(p.turn + 8 * (1 - group));
		if (threadIdx.x == 0 && column + 2 * tile_outputs >= sizes.outputs)
			prefetch_next(x, sizes);
		load_bias(bias, parameters, column);
		wgmma_wait<0>();
		finish_step(p, &map, turn * tiles + tiles - 1, sizes);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int row = blockIdx.x * block_rows + i / 2 * 64 + warp % 4 * 16;

			store_tile(y, sums[i / 2] + i % 2 * 8, bias + i % 2 * 8,
				   staging + warp * staging_bytes, row, column + i % 2 * 64, sizes);
		}
	}
}

/* ---- variants ---- */

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

static int row_blocks(const problem &p)
{
	return (p.sizes.rows + block_rows - 1) / block_rows;
}

/* Calls body with how many chunks of 256 values a row has, as a type. */
template <class function> static void with_chunks(const problem &p, function body)
{
	if (p.sizes.hidden == 256)
		body(std::integral_constant<int, 1>());
	else
		body(std::integral_constant<int, 2>());
}

static void layernorm(problem &p)
{
	int grid = (p.sizes.rows + block_size / 32 - 1) / (block_size / 32);

	with_chunks(p, [&](auto chunks) {
		CUDA_LAUNCH(layernorm_kernel<chunks>
			    <<<grid, block_size>>>(p.n, p.x, p.parameters, p.sizes));
	});
}

#if ROOFLINE_HAS_CUBLASLT

static const char *why_no_product(problem &)
{
	return cublaslt_why_missing();
}

/* To cuBLASLt a matrix in row order is its transpose in column order. */
template <bool is_fused> static void setup_product(problem &p)
{
	p.plan = cublaslt_plan_product(
		{p.sizes.outputs, p.sizes.rows, p.sizes.hidden, CUDA_R_16F, CUDA_R_16F,
		 CUBLAS_COMPUTE_32F,
		 is_fused ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_DEFAULT,
		 is_fused ? p.parameters.bias : nullptr});
}

static void teardown_product(problem &p)
{
	cublaslt_release(&p.plan);
}

static void run_naive(problem &p, int iterations)
{
	uint32_t row_eights = p.sizes.outputs / 8, count = p.sizes.rows * row_eights;

	for (int i = 0; i < iterations; i++) {
		layernorm(p);
		cublaslt_matmul(&p.plan, p.parameters.weights, p.n, p.t);
		CUDA_LAUNCH(
			gelu_kernel<<<blocks(count), block_size>>>((eight *)p.y, (const eight *)p.t,
								   (const eight *)p.parameters.bias,
								   count, row_eights));
	}
}

static void run_cublaslt(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		layernorm(p);
		cublaslt_matmul(&p.plan, p.parameters.weights, p.n, p.y);
	}
}

#endif

/* Of shared memory, which a block on this GPU can have. */
static int block_bytes()
{
	int device, bytes;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
	return bytes;
}

/* The rows, and what the warps need to store theirs. */
static int rows_bytes(const problem &p)
{
	return p.sizes.hidden / row_values * tile_bytes + block_size / 32 * staging_bytes;
}

static const char *why_no_room(problem &p)
{
	return rows_bytes(p) + 2 * tile_bytes <= block_bytes()
		       ? nullptr
		       : "128 rows do not fit into this GPU's shared memory: try a smaller --hidden";
}

/* More than 48 KiB of shared memory a block have to be asked for. */
template <class kernel_type> static void ask_for_shared_memory(kernel_type *kernel, int bytes)
{
	CUDA_CHECK(
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

static void setup_fused(problem &p)
{
	with_chunks(p, [&](auto chunks) {
		ask_for_shared_memory(fused_kernel<chunks>, rows_bytes(p) + 2 * tile_bytes);
	});
}

static void run_fused(problem &p, int iterations)
{
	int bytes = rows_bytes(p) + 2 * tile_bytes;

	with_chunks(p, [&](auto chunks) {
		for (int i = 0; i < iterations; i++)
			CUDA_LAUNCH(fused_kernel<chunks>
				    <<<row_blocks(p), block_size, bytes>>>(p.y, p.x, p.parameters,
									   p.sizes));
	});
}

/* As many stages as fit, each with two barriers, and the two barriers of the turns. */
static int wgmma_stages(const problem &p)
{
	return std::min(8, (block_bytes() - rows_bytes(p) - 16) / (tile_bytes + 16));
}

static int wgmma_bytes(const problem &p)
{
	return rows_bytes(p) + wgmma_stages(p) * (tile_bytes + 16) + 16;
}

/* wgmma is in the machine code for Hopper alone. */
static __global__ void has_wgmma_kernel(int *has)
{
	*has = HAS_WGMMA;
}

static const char *why_no_wgmma(problem &p)
{
	int *device = device_array<int>(1), has = 0;

	CUDA_LAUNCH(has_wgmma_kernel<<<1, 1>>>(device));
	CUDA_CHECK(cudaMemcpy(&has, device, sizeof(has), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(device));
	return has ? why_no_room(p) : "wgmma needs a GPU of compute capability 9.0";
}

static void setup_wgmma(problem &p)
{
	p.map = tile_map(p.parameters.weights,
			 {(cuuint64_t)p.sizes.hidden, (cuuint64_t)p.sizes.outputs},
			 {row_values, tile_outputs});
	with_chunks(p, [&](auto chunks) {
		ask_for_shared_memory(wgmma_kernel<chunks>, wgmma_bytes(p));
	});
}

static void run_wgmma(problem &p, int iterations)
{
	int stages = wgmma_stages(p), bytes = wgmma_bytes(p);

	with_chunks(p, [&](auto chunks) {
		for (int i = 0; i < iterations; i++)
			CUDA_LAUNCH(wgmma_kernel<chunks>
				    <<<row_blocks(p), block_size, bytes>>>(p.y, p.x, p.parameters,
									   p.map, p.sizes, stages));
	});
}

/* ---- the problem ---- */

static __host__ __device__ uint32_t hash_of(uint64_t index, uint64_t seed)
{
	uint64_t x = (index + (seed << 40)) * 11400714819323198485u;

	x = (x ^ (x >> 31)) * 6364136223846793005u;
	return x >> 33;
}

/* Rows with different means, and deviations around 0.6. */
static __host__ __device__ float x_at(long row, long column, int hidden)
{
	return (int)(hash_of(row * hidden + column, 1) % 129 - 64) / 64.0f + row % 5;
}

/* -1, 0 or 1 sixteenth. */
static __host__ __device__ float weight_at(long index)
{
	return (int)(hash_of(index, 2) % 3 - 1) / 16.0f;
}

static __global__ void fill_kernel(__half *x, __half *weights, struct sizes sizes)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < (long)sizes.rows * sizes.hidden)
		x[i] = __float2half(x_at(i / sizes.hidden, i % sizes.hidden, sizes.hidden));
	if (i < (long)sizes.outputs * sizes.hidden)
		weights[i] = __float2half(weight_at(i));
}

static void prepare(problem &p, long size, int)
{
	long values = size * hidden_size, weight_count = output_count * hidden_size;
	__half *weights = device_array<__half>(weight_count);

	int device, multiprocessors;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(
		cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
	p.sizes = {(int)size, (int)hidden_size, (int)output_count, multiprocessors};
	for (int k = 0; k < hidden_size; k++) {
		p.gamma.push_back(__float2half(0.5f + k % 7 / 8.0f));
		p.beta.push_back(__float2half(k % 5 / 8.0f - 0.25f));
	}
	for (int k = 0; k < output_count; k++)
		p.bias.push_back(__float2half(k % 9 / 8.0f - 0.5f));
	p.parameters = {device_copy(p.gamma), device_copy(p.beta), weights, device_copy(p.bias)};
	p.x = device_array<__half>(values);
	p.n = device_array<__half>(values);
	p.t = device_array<__half>(size * output_count);
	p.y = device_array<__half>(size * output_count);
	CUDA_LAUNCH(fill_kernel<<<blocks(std::max(values, weight_count)), block_size>>>(p.x,
											weights,
											p.sizes));
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	size_t row_bytes_of_y = p.sizes.outputs * sizeof(__half);

	CUDA_CHECK(cudaMemset(p.n, 0xff, p.sizes.rows * p.sizes.hidden * sizeof(__half)));
	CUDA_CHECK(cudaMemset(p.t, 0xff, p.sizes.rows * row_bytes_of_y));
	CUDA_CHECK(cudaMemset(p.y, 0xff, p.sizes.rows * row_bytes_of_y));
}

/* ---- the scalar reference ---- */

static std::vector<float> normalized_row(const problem &p, long row)
{
	std::vector<float> values(p.sizes.hidden);
	double mean = 0, squares = 0;

	for (int k = 0; k < p.sizes.hidden; k++)
		mean += values[k] = x_at(row, k, p.sizes.hidden);
	mean /= p.sizes.hidden;
	for (float value : values)
		squares += (value - mean) * (value - mean);
	for (int k = 0; k < p.sizes.hidden; k++) {
		double x = (values[k] - mean) / std::sqrt(squares / p.sizes.hidden + epsilon);

		values[k] = __half2float(
			__float2half_rn(x * __half2float(p.gamma[k]) + __half2float(p.beta[k])));
	}
	return values;
}

static float reference(const problem &p, const std::vector<float> &row, int output)
{
	double sum = __half2float(p.bias[output]);

	for (int k = 0; k < p.sizes.hidden; k++)
		sum += row[k] * weight_at((long)output * p.sizes.hidden + k);
	return gelu(sum);
}

/* Some values of FP16 are rounded three times on the way, and tanh of Hopper is within 2^-11. */
static const float tolerance = 1.0f / 256;
static const int checked_rows = 64, checked_outputs = 64;

static struct difference check_row(const problem &p, long row)
{
	const std::vector<float> normalized = normalized_row(p, row);
	std::vector<__half> found(p.sizes.outputs);
	int n = std::min(checked_outputs, p.sizes.outputs);

	CUDA_CHECK(cudaMemcpy(found.data(), p.y + row * p.sizes.outputs,
			      p.sizes.outputs * sizeof(__half), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		int output = hash_of(row + i, 4) % p.sizes.outputs;
		float value = __half2float(found[output]);
		float expected = reference(p, normalized, output);

		if (!(fabsf(value - expected) <= tolerance * std::max(1.0f, fabsf(expected))))
			return {row * p.sizes.outputs + output, 0, 0, true, value, expected};
	}
	return {-1, 0, 0};
}

static struct difference check(const problem &p)
{
	for (int i = 0; i < checked_rows; i++) {
		long row = i ? hash_of(i, 3) % p.sizes.rows : p.sizes.rows - 1;
		struct difference first = check_row(p, row);

		if (first.index >= 0)
			return first;
	}
	return {-1, 0, 0};
}

static void release(problem &p)
{
	for (__half *array : {p.x, p.n, p.t, p.y})
		CUDA_CHECK(cudaFree(array));
	for (const __half *array :
	     {p.parameters.gamma, p.parameters.beta, p.parameters.weights, p.parameters.bias})
		CUDA_CHECK(cudaFree((void *)array));
}

static const std::vector<variant<problem>> variants = {
#if ROOFLINE_HAS_CUBLASLT
	{"naive", "three kernels: normalization, cuBLASLt's product, bias and GELU", run_naive,
	 setup_product<false>, teardown_product, why_no_product},
#endif
	{"fused", "one kernel, with tensor cores as of Ampere", run_fused, setup_fused, nullptr,
	 why_no_room},
	{"wgmma", "one kernel, with the tensor cores' instruction of Hopper", run_wgmma,
	 setup_wgmma, nullptr, why_no_wgmma},
#if ROOFLINE_HAS_CUBLASLT
	{"cublaslt", "two kernels: normalization, cuBLASLt's product with bias and GELU",
	 run_cublaslt, setup_product<true>, teardown_product, why_no_product},
#endif
};

static const struct workload<problem> fuse_layernorm_gemm = {
	.name = "fuse_layernorm_gemm", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.parameters = {
		{"hidden", "values in a row of x", 256, 512, 256, &hidden_size},
		{"outputs", "values in a row of y", 128, 1 << 15, 128, &output_count},
	},
};
RUN_WORKLOAD(fuse_layernorm_gemm)
