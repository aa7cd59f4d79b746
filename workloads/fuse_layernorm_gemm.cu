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
 * folded has x as it is in shared memory, and normalizes the sums.
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
#include "eight.cuh"
#include "hash.cuh"
#include "hopper.cuh"
#include "workload.cuh"

static long hidden_size = 512, output_count = 2048;

static const float epsilon = 1e-5f;
static const int block_size = 256; /* of kernels without a product, and 8 warps of those with one */
static const int block_rows = 128; /* of x and y, of a block with a product */
static const int tile_outputs = 128;	       /* at a time */
static const int tile_bytes = 128 * row_bytes; /* 128 rows of 64 values, of n or of the weights */

struct sizes {
	int rows, hidden, outputs;
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
	/* Of folded: the weights times gamma, what corrects the sums, and tiles of all three. */
	__half *folded;
	float2 *corrections;
	CUtensorMap x_map, folded_map, y_map;
	int folded_grid; /* blocks */
#if ROOFLINE_HAS_CUBLASLT
	struct cublaslt_plan plan;
#endif
};

/* ---- what all variants have: the normalization of a row, the activation of a value ---- */

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
		values.chunk[i] = load_eight((const eight *)row + threadIdx.x % 32 + 32 * i);
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

static __host__ __device__ float tanh_of(float x)
{
#ifdef __CUDA_ARCH__
	asm("tanh.approx.f32 %0, %0;" : "+f"(x));
	return x;
#else
	return tanhf(x);
#endif
}

/* The form with tanh (Hendrycks and Gimpel, 2016), of 2 half. */
static __host__ __device__ float gelu_of_twice(float half)
{
	float inner = half * fmaf(0.28541926f, half * half, 1.5957691f);

	return fmaf(half, tanh_of(inner), half);
}

static __host__ __device__ float gelu(float x)
{
	return gelu_of_twice(0.5f * x);
}

static __device__ __half2 activated(float2 sums, __half2 bias)
{
	float2 plus = __half22float2(bias);

	return __floats2half2_rn(gelu(sums.x + plus.x), gelu(sums.y + plus.y));
}

/* ---- naive: a kernel each, and a product of cuBLASLt between them ---- */

/* A warp a row. */
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
		store_eight(n + (size_t)row * sizes.hidden + (threadIdx.x % 32 + 32 * i) * 8,
			    values.chunk[i]);
}

/* Eight values a thread. */
static __global__ void gelu_kernel(eight *y, const eight *t, const eight *bias, uint32_t count,
				   uint32_t row_eights)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= count)
		return;
	eight values = load_eight(t + i), plus = load_eight(bias + i % row_eights);

#pragma unroll
	for (int k = 0; k < 4; k++)
		values.pair[k] = activated(__half22float2(values.pair[k]), plus.pair[k]);
	store_eight(y + i, values);
}

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

/* Calls body with how many chunks of 256 values a row has, as a type. */
template <class function> static void with_chunks(const problem &p, function body)
{
	if (p.sizes.hidden == 256)
		body(std::integral_constant<int, 1>());
	else if (p.sizes.hidden == 512)
		body(std::integral_constant<int, 2>());
	else
		body(std::integral_constant<int, 3>());
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

/* ---- fused, with mma: warps of 64 rows and 32 outputs, weights one step ahead ---- */

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

/* 32 columns from `column` on of a row, of which this lane has the sums [j][first], [j][first + 1];
 * 16 bytes a store. */
template <int first>
static __device__ void store_row(__half *y, const float (*sums)[4], const __half *bias, int row,
				 int column, struct sizes sizes)
{
	int lane = threadIdx.x % 4;
	uint32_t pairs[4];

#pragma unroll
	for (int j = 0; j < 4; j++) {
		__half2 pair = activated({sums[j][first], sums[j][first + 1]},
					 *(const __half2 *)(bias + column + 8 * j + 2 * lane));

		pairs[j] = *(const uint32_t *)&pair;
	}
	gather_columns(pairs);
	store_eight_if(row < sizes.rows, y + (size_t)row * sizes.outputs + column + 8 * lane,
		       pairs);
}

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
static __device__ void multiply_mma(float (&sums)[4][4][4], uint32_t normalized, uint32_t stage)
{
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int row = warp / 4 * 64 + lane % 16, output = warp % 4 * 32 + lane / 16 * 8 + lane % 8;

#pragma unroll
	for (int k = 0; k < row_values / 16; k++) {
		uint32_t a[4][4], b[2][4];

#pragma unroll
		for (int i = 0; i < 4; i++)
			load_fragment(a[i], normalized + swizzled(row + 16 * i, 2 * k + lane / 16));
#pragma unroll
		for (int j = 0; j < 2; j++)
			load_fragment(b[j],
				      stage + swizzled(output + 16 * j, 2 * k + lane / 8 % 2));
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++)
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
	uint32_t stage = normalized + tiles * tile_bytes;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	float sums[4][4][4] = {};

	load_weights(stage, parameters.weights, sizes.hidden, 0, 0);
	normalize_block<chunks>(normalized, x, parameters, sizes);
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		int tile = step % tiles, output = step / tiles * tile_outputs, ahead = step + 1;

		copy_async_wait<0>();
		__syncthreads(); /* this step's weights are here, those of the last one are free */
		if (ahead < steps)
			load_weights(stage + ahead % 2 * tile_bytes, parameters.weights,
				     sizes.hidden, ahead / tiles * tile_outputs,
				     ahead % tiles * row_values);
		multiply_mma(sums, normalized + tile * tile_bytes, stage + step % 2 * tile_bytes);
		if (tile < tiles - 1)
			continue;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int row = blockIdx.x * block_rows + warp / 4 * 64 + 16 * i + lane / 4;
			int column = output + warp % 4 * 32;

			store_row<0>(y, sums[i], parameters.bias, row, column, sizes);
			store_row<2>(y, sums[i], parameters.bias, row + 8, column, sizes);
#pragma unroll
			for (int j = 0; j < 16; j++)
				sums[i][j / 4][j % 4] = 0;
		}
	}
}

static int row_blocks(const problem &p)
{
	return (p.sizes.rows + block_rows - 1) / block_rows;
}

/* Of shared memory, which a block on this GPU can have. */
static int block_bytes()
{
	int device, bytes;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
	return bytes;
}

static int rows_bytes(const problem &p)
{
	return p.sizes.hidden / row_values * tile_bytes;
}

static const char *why_no_room(problem &p)
{
	return rows_bytes(p) + 2 * tile_bytes <= block_bytes()
		       ? nullptr
		       : "128 rows do not fit into this GPU's shared memory: try a smaller --hidden";
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

/* ---- fused, with wgmma ---- */

/* Two groups of four warps take the tiles of outputs in turns: while one group's product is on the
 * tensor cores, the other has its activation.  A ninth warp loads the weights ahead of both. */
static const int wgmma_threads = block_size + 32;

/* Barriers of the weights' stages, and the two of the turns. */
struct wgmma_barriers {
	uint32_t full, empty, turn; /* full + 8 * stage and so on */
};

static __device__ void load_all_weights(const CUtensorMap *map, uint32_t stage, int stages,
					struct wgmma_barriers barriers, struct sizes sizes)
{
	int tiles = sizes.hidden / row_values, steps = sizes.outputs / tile_outputs * tiles;

	for (int step = 0; step < steps; step++) {
		int at = step % stages;

		barrier_wait(barriers.empty + 8 * at, (step / stages + 1) % 2);
		barrier_expect(barriers.full + 8 * at, tile_bytes);
		load_tile(stage + at * tile_bytes, map, barriers.full + 8 * at,
			  step % tiles * row_values, step / tiles * tile_outputs);
	}
}

/* sums += 64 columns of 128 rows times as many of 128 outputs, by four warps, or sums = that where they are
 * not to be added to.  a, b: tile_descriptor of the rows and of the weights.  They are being read after it. */
static __device__ void multiply_tile(float (&sums)[2][16][4], uint64_t a, uint64_t b, int add)
{
	wgmma_begin();
#pragma unroll
	for (int k = 0; k < row_values / 16; k++) { /* 32 bytes a step, 64 rows */
		wgmma128(sums[0], a + 2 * k, b + 2 * k, add || k);
		wgmma128(sums[1], a + 2 * k + 64 * row_bytes / 16, b + 2 * k, add || k);
	}
	wgmma_commit();
}

/* 128 rows and 128 outputs for the four warps of the caller.  first: this tile's first step. */
static __device__ void multiply_wgmma(float (&sums)[2][16][4], uint32_t normalized, uint32_t stage,
				      int stages, struct wgmma_barriers barriers, int first,
				      int tiles)
{
#pragma unroll 1
	for (int tile = 0; tile < tiles; tile++) {
		int at = (first + tile) % stages, before = (first + tile + stages - 1) % stages;
		uint64_t a = tile_descriptor(normalized + tile * tile_bytes);
		uint64_t b = tile_descriptor(stage + at * tile_bytes);

		barrier_wait(barriers.full + 8 * at, (first + tile) / stages % 2);
		multiply_tile(sums, a, b, tile);
		wgmma_wait<1>();
		if (tile > 0 && threadIdx.x % 32 == 0) /* read by now */
			barrier_arrive(barriers.empty + 8 * before);
	}
}

template <int chunks>
static __global__ void __launch_bounds__(wgmma_threads, 1)
	wgmma_kernel(__half *y, const __half *x, struct parameters parameters,
		     const __grid_constant__ CUtensorMap map, struct sizes sizes, int stages)
{
	extern __shared__ __align__(1024) char memory[];
	uint32_t normalized = shared_address(memory);
	int tiles = sizes.hidden / row_values, group = threadIdx.x / 128;
	uint32_t stage = normalized + tiles * tile_bytes;
	uint32_t barrier = stage + stages * tile_bytes;
	struct wgmma_barriers barriers = {barrier, barrier + 8 * stages, barrier + 16 * stages};
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	if (!HAS_WGMMA)
		return; /* nobody launches it */
	if (threadIdx.x == 0) {
		for (int i = 0; i < stages; i++) {
			barrier_init(barriers.full + 8 * i, 1);
			barrier_init(barriers.empty + 8 * i, 4); /* the warps that read it */
		}
		barrier_init(barriers.turn, 1);
		barrier_init(barriers.turn + 8, 1);
		barrier_publish();
	}
	__syncthreads();
	if (group == 2) {
		if (lane == 0)
			load_all_weights(&map, stage, stages, barriers, sizes);
		return;
	}
	normalize_block<chunks>(normalized, x, parameters, sizes);
	wgmma_publish();
	wait_for_threads(1, block_size);
#pragma unroll 1
	for (int turn = group; turn < sizes.outputs / tile_outputs; turn += 2) {
		float sums[2][16][4];

		if (turn > 0)
			barrier_wait(barriers.turn + 8 * group, (turn - 1) / 2 % 2);
		multiply_wgmma(sums, normalized, stage, stages, barriers, turn * tiles, tiles);
		if (threadIdx.x % 128 == 0)
			barrier_arrive(barriers.turn + 8 * (1 - group));
		wgmma_wait<0>();
		if (lane == 0)
			barrier_arrive(barriers.empty + 8 * ((turn * tiles + tiles - 1) % stages));
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = blockIdx.x * block_rows + 64 * half + warp % 4 * 16 + lane / 4;

#pragma unroll
			for (int j = 0; j < 16; j += 4) {
				int column = turn * tile_outputs + 8 * j;

				store_row<0>(y, sums[half] + j, parameters.bias, row, column,
					     sizes);
				store_row<2>(y, sums[half] + j, parameters.bias, row + 8, column,
					     sizes);
			}
		}
	}
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

/* Of a matrix with as many columns as x has. */
static CUtensorMap rows_map(const problem &p, const __half *matrix, int rows, uint32_t tile_rows)
{
	return tile_map(matrix, {(cuuint64_t)p.sizes.hidden, (cuuint64_t)rows},
			{row_values, tile_rows});
}

static const char *why_no_wgmma(problem &p)
{
	const char *reason = why_no_wgmma();

	return reason ? reason : why_no_room(p);
}

static void setup_wgmma(problem &p)
{
	p.map = rows_map(p, p.parameters.weights, p.sizes.outputs, tile_outputs);
	with_chunks(p, [&](auto chunks) {
		ask_for_shared_memory(wgmma_kernel<chunks>, wgmma_bytes(p));
	});
}

static void run_wgmma(problem &p, int iterations)
{
	int stages = wgmma_stages(p), bytes = wgmma_bytes(p);

	with_chunks(p, [&](auto chunks) {
		for (int i = 0; i < iterations; i++)
			CUDA_LAUNCH(wgmma_kernel<chunks><<<row_blocks(p), wgmma_threads, bytes>>>(
				p.y, p.x, p.parameters, p.map, p.sizes, stages));
	});
}

/* ---- fused, with wgmma and the normalization folded in ---- */

/* The product needs no normalized rows: with v = gamma w, u the sum of v's values of an output, and
 * c = beta w^T + bias
 *   y = gelu((x v^T - mean u) / deviation + c)
 * so that x goes to the tensor cores as it comes, and the statistics of a row are due in the
 * epilogue only.  v, u and c are made once, when the weights are there. */
static __global__ void fold_kernel(__half *folded, float2 *corrections,
				   struct parameters parameters, struct sizes sizes)
{
	int output = blockIdx.x * (block_size / 32) + threadIdx.x / 32;
	const __half *weights = parameters.weights + (size_t)output * sizes.hidden;
	float sum = 0, plus = 0;

	if (output >= sizes.outputs)
		return;
	for (int k = threadIdx.x % 32; k < sizes.hidden; k += 32) {
		float weight = __half2float(weights[k]);
		__half value = __float2half_rn(weight * __half2float(parameters.gamma[k]));

		folded[(size_t)output * sizes.hidden + k] = value;
		sum += __half2float(value);
		plus += weight * __half2float(parameters.beta[k]);
	}
#pragma unroll
	for (int lanes = 1; lanes < 32; lanes *= 2) {
		sum = sum_of_pair(sum, lanes);
		plus = sum_of_pair(plus, lanes);
	}
	if (threadIdx.x % 32 == 0)
		corrections[output] = {sum, 0.5f * (plus + __half2float(parameters.bias[output]))};
}

/* Blocks stay, and take 128 rows after 128 rows.  Two groups of four warps have the product and the
 * epilogue in turns.  Three more warps have the statistics of the rows, and one thread of another one
 * has tiles copied, of the rows and of the weights.  The blocks of a cluster share the weights: each has its
 * part of a tile copied to all of them. */
static const int statistics_threads = 96, folded_threads = block_size + statistics_threads + 32;
static const int statistics_bytes = block_rows * sizeof(float2); /* of a block's rows */
static const int staging_bytes = 16 * row_bytes;		 /* of a warp, for what leaves it */
static const int cluster = 2;					 /* blocks that share weights */

struct folded_memory {
	int stages, tiles;
	uint32_t rows, stage, staging, statistics;
	/* Barriers, 8 bytes each: of each tile of the rows, of each stage of the weights, of both
	 * places for statistics, and of the turns. */
	uint32_t rows_full, rows_empty, full, empty, known, used, turn;
};

static __host__ __device__ struct folded_memory folded_memory_at(uint32_t at, int stages, int tiles)
{
	struct folded_memory m = {stages, tiles, at};

	m.stage = at + tiles * tile_bytes;
	m.staging = m.stage + stages * tile_bytes;
	m.statistics = m.staging + block_size / 32 * staging_bytes;
	m.rows_full = m.statistics + 2 * statistics_bytes;
	m.rows_empty = m.rows_full + 8 * tiles;
	m.full = m.rows_empty + 8 * tiles;
	m.empty = m.full + 8 * stages;
	m.known = m.empty + 8 * stages;
	m.used = m.known + 16;
	m.turn = m.used + 16;
	return m;
}

static __host__ __device__ int folded_bytes(int stages, int tiles)
{
	return folded_memory_at(0, stages, tiles).turn + 16;
}

/* Of the warps that read the last tile of outputs, or the last two. */
static __device__ int last_readers(struct sizes sizes)
{
	return sizes.outputs > tile_outputs ? 8 : 4;
}

static __device__ void init_folded_barriers(struct folded_memory m, struct sizes sizes)
{
	for (int i = 0; i < m.tiles; i++) {
		barrier_init(m.rows_full + 8 * i, 1);
		barrier_init(m.rows_empty + 8 * i, last_readers(sizes) + block_rows);
	}
	for (int i = 0; i < m.stages; i++) {
		barrier_init(m.full + 8 * i, 1);
		barrier_init(m.empty + 8 * i, 4 * cluster);
	}
	for (int i = 0; i < 2; i++) {
		barrier_init(m.known + 8 * i, block_rows);
		barrier_init(m.used + 8 * i, last_readers(sizes));
		barrier_init(m.turn + 8 * i, 1);
	}
	barrier_publish();
}

/* A place in the ring of stages, and the phase of its barriers. */
struct place {
	int at, phase;
};

static __device__ struct place place_of(int step, int stages)
{
	return {step % stages, step / stages % 2};
}

static __device__ struct place next_place(struct place place, int stages)
{
	return place.at + 1 < stages ? (struct place){place.at + 1, place.phase}
				     : (struct place){0, 1 - place.phase};
}

/* Calls body(block of rows, how many this block had before) for each that is this block's.  As often
 * in all blocks of a cluster. */
template <class function> static __device__ void for_row_blocks(struct sizes sizes, function body)
{
	int count = (sizes.rows + block_rows - 1) / block_rows, rank = blockIdx.x % cluster;

	for (int block = blockIdx.x, trip = 0; block - rank < count; block += gridDim.x, trip++)
		body(block, trip);
}

/* This block's part of a tile of the weights. */
static __device__ void load_part(uint32_t stage, const CUtensorMap *map, int column, int output,
				 uint32_t barrier)
{
	int rank = blockIdx.x % cluster;

	barrier_expect(barrier, tile_bytes);
	load_tile_for_all<cluster>(stage + rank * (tile_bytes / cluster), map, barrier, column,
				   output + rank * (tile_outputs / cluster));
}

static __device__ void load_all(struct folded_memory m, const CUtensorMap *x,
				const CUtensorMap *weights, struct sizes sizes)
{
	struct place place = {0, 0};

	for_row_blocks(sizes, [&](int block, int trip) {
		for (int step = 0; step < sizes.outputs / tile_outputs * m.tiles; step++) {
			int tile = step % m.tiles;

			if (step < m.tiles) {
				uint32_t full = m.rows_full + 8 * tile;

				barrier_wait(m.rows_empty + 8 * tile, (trip + 1) % 2);
				barrier_expect(full, tile_bytes);
				load_tile(m.rows + tile * tile_bytes, x, full, tile * row_values,
					  block * block_rows);
			}
			barrier_wait(m.empty + 8 * place.at, 1 - place.phase);
			load_part(m.stage + place.at * tile_bytes, weights, tile * row_values,
				  step / m.tiles * tile_outputs, m.full + 8 * place.at);
			place = next_place(place, m.stages);
		}
	});
}

/* Mean and sum of squares of `count` values and of 32 more. */
static __device__ void add_to_statistics(float &mean, float &squares, int count, uint32_t shared,
					 int row, int chunk)
{
	float values[32], sum = 0, more = 0, off, share = __fdividef(32, count + 32);

#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint4 eight = load_shared(shared + swizzled(row, chunk + i));
		const uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};

#pragma unroll
		for (int k = 0; k < 4; k++) {
			float2 pair = __half22float2(*(const __half2 *)&pairs[k]);

			values[8 * i + 2 * k] = pair.x;
			values[8 * i + 2 * k + 1] = pair.y;
			sum += pair.x + pair.y;
		}
	}
	sum *= 1.0f / 32;
#pragma unroll
	for (int i = 0; i < 32; i++)
		more += (values[i] - sum) * (values[i] - sum);
	off = sum - mean;
	mean += off * share;
	squares += more + off * off * share * count;
}

/* Of a row: 1 / deviation and -mean / deviation, by 2. */
static __device__ float2 folded_statistics(struct folded_memory m, int row, int trip, int hidden)
{
	float mean = 0, squares = 0, scale;

#pragma unroll 1
	for (int half = 0; half < 2 * m.tiles; half++) {
		int tile = half / 2;

		barrier_wait(m.rows_full + 8 * tile, trip % 2);
		add_to_statistics(mean, squares, 32 * half, m.rows + tile * tile_bytes, row,
				  half % 2 * 4);
		if (half % 2)
			barrier_arrive(m.rows_empty + 8 * tile);
	}
	scale = 0.5f * rsqrtf(__fdividef(squares, hidden) + epsilon);
	return {scale, -mean * scale};
}

/* thread: of those that have the statistics, a row at a time. */
static __device__ void find_statistics(struct folded_memory m, int thread, struct sizes sizes)
{
	for_row_blocks(sizes, [&](int, int trip) {
		int place = trip % 2;

		for (int row = thread; row < block_rows; row += statistics_threads) {
			float2 statistics = folded_statistics(m, row, trip, sizes.hidden);

			barrier_wait(m.used + 8 * place, (trip / 2 + 1) % 2);
			store_pair(m.statistics + place * statistics_bytes + row * sizeof(float2),
				   statistics);
			barrier_arrive(m.known + 8 * place);
		}
	});
}

/* Tells all blocks of the cluster, once a warp, that this one has read the weights of that stage; the
 * rows too where nobody reads them after this. */
static __device__ void release_tile(struct folded_memory m, int stage, int tile, bool is_last)
{
	int lane = threadIdx.x % 32;

	if (lane < cluster)
		barrier_arrive_at(m.empty + 8 * stage, lane);
	if (lane == 0 && is_last)
		barrier_arrive(m.rows_empty + 8 * tile);
}

/* 128 rows and 128 outputs for the four warps of the caller, from that step on.  Its last tile is
 * still being read after it. */
static __device__ struct place multiply_folded(float (&sums)[2][16][4], struct folded_memory m,
					       int step, int trip, bool is_last)
{
	struct place place = place_of(step, m.stages), before = place;

#pragma unroll 1
	for (int tile = 0; tile < m.tiles; tile++) {
		uint64_t a = tile_descriptor(m.rows + tile * tile_bytes);
		uint64_t b = tile_descriptor(m.stage + place.at * tile_bytes);

		barrier_wait(m.rows_full + 8 * tile, trip % 2);
		barrier_wait(m.full + 8 * place.at, place.phase);
		multiply_tile(sums, a, b, tile);
		wgmma_wait<1>();
		if (tile > 0)
			release_tile(m, before.at, tile - 1, is_last);
		before = place;
		place = next_place(place, m.stages);
	}
	return before;
}

/* Before what comes after it, also where the compiler would rather wait with it. */
static __device__ float4 load_early(const float4 *from)
{
	float4 value;

	asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
		     : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
		     : "l"(from));
	return value;
}

/* What corrects 64 outputs from `column` on: {u, c / 2} of two columns of each eight. */
static __device__ void load_corrections(float4 (&by)[8], const float2 *corrections, int column)
{
	const float4 *from = (const float4 *)(corrections + column) + threadIdx.x % 4;

#pragma unroll
	for (int j = 0; j < 8; j++)
		by[j] = load_early(from + 4 * j);
}

static __device__ uint32_t corrected(const float *sums, float4 by, float2 statistics)
{
	float a = fmaf(sums[0], statistics.x, fmaf(statistics.y, by.x, by.y));
	float b = fmaf(sums[1], statistics.x, fmaf(statistics.y, by.z, by.w));
	__half2 pair = __floats2half2_rn(gelu_of_twice(a), gelu_of_twice(b));

	return *(const uint32_t *)&pair;
}

/* 16 rows and 64 outputs of a warp, which begin at that row and column of y: by way of its part of
 * shared memory. */
static __device__ void store_part(const CUtensorMap *y, uint32_t staging, const float (*sums)[4],
				  const float4 (&by)[8], const float2 (&statistics)[2], int row,
				  int column)
{
	int lane = threadIdx.x % 32;
	uint32_t pairs[8][2];

#pragma unroll
	for (int j = 0; j < 8; j++)
#pragma unroll
		for (int i = 0; i < 2; i++)
			pairs[j][i] = corrected(&sums[j][2 * i], by[j], statistics[i]);
	if (lane == 0)
		store_tile_wait(); /* the part before has left */
	__syncwarp();
#pragma unroll
	for (int j = 0; j < 8; j += 2) {
		const uint32_t fragment[4] = {pairs[j][0], pairs[j][1], pairs[j + 1][0],
					      pairs[j + 1][1]};

		store_fragment(staging + swizzled(lane % 16, j + lane / 16), fragment);
	}
	wgmma_publish();
	__syncwarp();
	if (lane == 0) {
		store_tile(y, staging, column, row);
		store_tile_commit();
	}
}

/* Of the four rows of a tile of which this lane has sums. */
static __device__ void read_statistics(float2 (&statistics)[2][2], struct folded_memory m, int trip,
				       bool is_last)
{
	int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;

	barrier_wait(m.known + 8 * (trip % 2), trip / 2 % 2);
#pragma unroll
	for (int i = 0; i < 4; i++)
		statistics[i / 2][i % 2] =
			load_pair(m.statistics + trip % 2 * statistics_bytes +
				  (row + i / 2 * 64 + i % 2 * 8) * (int)sizeof(float2));
	__syncwarp();
	if (threadIdx.x % 32 == 0 && is_last)
		barrier_arrive(m.used + 8 * (trip % 2));
}

/* group: 0 or 1, which takes every second tile of outputs. */
static __device__ void multiply_all(const CUtensorMap *y, const float2 *corrections,
				    struct folded_memory m, int group, struct sizes sizes)
{
	int turns = sizes.outputs / tile_outputs, warp = threadIdx.x / 32;
	uint32_t staging = m.staging + warp * staging_bytes;

	for_row_blocks(sizes, [&](int block, int trip) {
		for (int turn = (trip * turns + group) % 2; turn < turns; turn += 2) {
			int so_far = trip * turns + turn; /* of both groups */
			bool is_last = turn >= turns - 2;
			int row = block * block_rows + warp % 4 * 16, column = turn * tile_outputs;
			float sums[2][16][4];
			float2 statistics[2][2];
			float4 left[8], right[8]; /* halves of the outputs */
			struct place last;

			if (so_far > 0)
				barrier_wait(m.turn + 8 * group, (so_far - 1) / 2 % 2);
			last = multiply_folded(sums, m, so_far * m.tiles, trip, is_last);
			if (threadIdx.x % 128 == 0)
				barrier_arrive(m.turn + 8 * (1 - group));
			load_corrections(left, corrections, column);
			wgmma_wait<0>();
			release_tile(m, last.at, m.tiles - 1, is_last);
			read_statistics(statistics, m, trip, is_last);
			store_part(y, staging, sums[0], left, statistics[0], row, column);
			load_corrections(right, corrections, column + 64);
			store_part(y, staging, sums[1], left, statistics[1], row + 64, column);
			store_part(y, staging, sums[0] + 8, right, statistics[0], row, column + 64);
			store_part(y, staging, sums[1] + 8, right, statistics[1], row + 64,
				   column + 64);
		}
	});
	if (threadIdx.x % 32 == 0)
		store_tile_wait(); /* shared memory stays until then */
}

static __global__ void __launch_bounds__(folded_threads, 1)
	folded_kernel(const __grid_constant__ CUtensorMap y, const float2 *corrections,
		      const __grid_constant__ CUtensorMap x,
		      const __grid_constant__ CUtensorMap weights, struct sizes sizes, int stages)
{
	extern __shared__ __align__(1024) char memory[];
	struct folded_memory m =
		folded_memory_at(shared_address(memory), stages, sizes.hidden / row_values);
	int thread = threadIdx.x - block_size; /* of those without a product */

	if (!HAS_WGMMA)
		return; /* nobody launches it */
	if (threadIdx.x == 0)
		init_folded_barriers(m, sizes);
	wait_for_cluster();
	if (thread < 0) {
		take_registers<216>();
		multiply_all(&y, corrections, m, threadIdx.x / 128, sizes);
	} else {
		keep_registers<72>();
		if (thread < statistics_threads)
			find_statistics(m, thread, sizes);
		else if (thread == statistics_threads)
			load_all(m, &x, &weights, sizes);
	}
	__syncwarp();
	wait_for_cluster(); /* no block writes into one that has ended */
}

static int folded_tiles(const problem &p)
{
	return p.sizes.hidden / row_values;
}

static int folded_stages(const problem &p)
{
	int left = block_bytes() - folded_bytes(0, folded_tiles(p));

	return std::min(8, left / (folded_bytes(1, 0) - folded_bytes(0, 0)));
}

static cudaLaunchConfig_t folded_launch(const problem &p, cudaLaunchAttribute *attribute)
{
	cudaLaunchConfig_t config = {};

	attribute->id = cudaLaunchAttributeClusterDimension;
	attribute->val.clusterDim.x = cluster;
	attribute->val.clusterDim.y = 1;
	attribute->val.clusterDim.z = 1;
	config.attrs = attribute;
	config.numAttrs = 1;
	config.gridDim = p.folded_grid;
	config.blockDim = folded_threads;
	config.dynamicSmemBytes = folded_bytes(folded_stages(p), folded_tiles(p));
	return config;
}

/* A block an SM, as far as clusters of them find room. */
static int folded_blocks(const problem &p)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = folded_launch(p, &attribute);
	int wanted = (row_blocks(p) + cluster - 1) / cluster, clusters;

	config.gridDim = cluster;
	CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, folded_kernel, &config));
	return std::min(wanted, clusters) * cluster;
}

static void setup_folded(problem &p)
{
	size_t count = (size_t)p.sizes.outputs * p.sizes.hidden;
	int grid = (p.sizes.outputs + block_size / 32 - 1) / (block_size / 32);

	p.folded = device_array<__half>(count);
	p.corrections = device_array<float2>(p.sizes.outputs);
	CUDA_LAUNCH(
		fold_kernel<<<grid, block_size>>>(p.folded, p.corrections, p.parameters, p.sizes));
	p.x_map = rows_map(p, p.x, p.sizes.rows, block_rows);
	p.folded_map = rows_map(p, p.folded, p.sizes.outputs, tile_outputs / cluster);
	p.y_map = tile_map(p.y, {(cuuint64_t)p.sizes.outputs, (cuuint64_t)p.sizes.rows},
			   {row_values, 16});
	ask_for_shared_memory(folded_kernel, folded_bytes(folded_stages(p), folded_tiles(p)));
	p.folded_grid = folded_blocks(p);
}

static const char *why_no_folded(problem &p)
{
	const char *reason = why_no_wgmma(p);

	if (reason)
		return reason;
	return folded_stages(p) > 1 ? nullptr
				    : "128 rows leave no shared memory for two tiles of weights: "
				      "try a smaller --hidden";
}

static void teardown_folded(problem &p)
{
	CUDA_CHECK(cudaFree(p.folded));
	CUDA_CHECK(cudaFree(p.corrections));
}

static void run_folded(problem &p, int iterations)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = folded_launch(p, &attribute);
	int stages = folded_stages(p);

	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaLaunchKernelEx(&config, folded_kernel, p.y_map,
					      (const float2 *)p.corrections, p.x_map, p.folded_map,
					      p.sizes, stages));
}

/* ---- the problem ---- */

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

	p.sizes = {(int)size, (int)hidden_size, (int)output_count};
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

static uint16_t bits_of(float value)
{
	__half half = __float2half_rn(value);
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return bits;
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
			return {row * p.sizes.outputs + output, bits_of(value), bits_of(expected)};
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
	{"folded", "one kernel, with the normalization folded into weights and sums", run_folded,
	 setup_folded, teardown_folded, why_no_folded},
#if ROOFLINE_HAS_CUBLASLT
	{"cublaslt", "two kernels: normalization, cuBLASLt's product with bias and GELU",
	 run_cublaslt, setup_product<true>, teardown_product, why_no_product},
#endif
};

static const struct workload<problem> fuse_layernorm_gemm = {
	.name = "fuse_layernorm_gemm", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.parameters = {
		{"hidden", "values in a row of x", 256, 768, 256, &hidden_size},
		{"outputs", "values in a row of y", 128, 1 << 15, 128, &output_count},
	},
};
RUN_WORKLOAD(fuse_layernorm_gemm)
