/*
 * transformer_kernels.cuh - what a decoder layer computes, one operation a kernel, and causal
 * attention as one kernel.
 *
 * Activations are rows of tokens.  The kernels with a type T work on FP16, as the variants do, or on
 * FP32, as the reference does; sums are FP32 in both.  Weights are FP16, a row for each output.
 *
 * A request is a range of tokens that begins at a multiple of 32; what it has beyond its own length
 * is padding.  No token looks at one that comes after it, so padding changes no result.
 */
#ifndef ROOFLINE_TRANSFORMER_KERNELS_CUH
#define ROOFLINE_TRANSFORMER_KERNELS_CUH

#include "tensor_core.cuh"

static const int head_values = 64;
static const int warp_lanes = 32;

/* first: its first token; length: of its tokens, a multiple of 32 */
struct request {
	int first, length;
};

/* ---- sums and maxima ---- */

static __device__ float warp_sum(float value)
{
	for (int lane = warp_lanes / 2; lane; lane /= 2)
		value += __shfl_xor_sync(~0u, value, lane);
	return value;
}

static __device__ float warp_max(float value)
{
	for (int lane = warp_lanes / 2; lane; lane /= 2)
		value = fmaxf(value, __shfl_xor_sync(~0u, value, lane));
	return value;
}

/* ---- one operation a kernel ---- */

/* As cuBLASLt has it in its epilogue: with tanh (Hendrycks and Gimpel, 2016). */
static __host__ __device__ float gelu_of(float x)
{
	return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

/* Eight neighbors, which lie at a multiple of 16 bytes. */
struct eight {
	float values[8];
};

static __device__ struct eight load_eight(const float *from)
{
	struct eight all;

	*(float4 *)all.values = *(const float4 *)from;
	*(float4 *)(all.values + 4) = *(const float4 *)(from + 4);
	return all;
}

static __device__ struct eight load_eight(const __half *from)
{
	uint4 bits = *(const uint4 *)from;
	const __half *halves = (const __half *)&bits;
	struct eight all;

	for (int i = 0; i < 8; i++)
		all.values[i] = __half2float(halves[i]);
	return all;
}

static __device__ void store_eight(float *to, const struct eight &all)
{
	*(float4 *)to = *(const float4 *)all.values;
	*(float4 *)(to + 4) = *(const float4 *)(all.values + 4);
}

static __device__ void store_eight(__half *to, const struct eight &all)
{
	uint4 bits;
	__half *halves = (__half *)&bits;

	for (int i = 0; i < 8; i++)
		halves[i] = __float2half(all.values[i]);
	*(uint4 *)to = bits;
}

/* x += y where there is a y; normalized = layer normalization of x.  A warp a token, each lane the
 * same eights of it from pass to pass. */
template <class T>
static __global__ void norm_kernel(T *x, const T *y, T *normalized, const __half *scale,
				   const __half *shift, int tokens, int hidden)
{
	int token = blockIdx.x * blockDim.y + threadIdx.y;
	const int first = 8 * threadIdx.x, step = 8 * warp_lanes;
	float sum = 0, squares = 0, mean, factor;

	if (token >= tokens)
		return;
	x += (long)token * hidden;
	y += y ? (long)token * hidden : 0;
	normalized += (long)token * hidden;
	for (int i = first; i < hidden; i += step) {
		struct eight values = load_eight(x + i);

		if (y) {
			struct eight added = load_eight(y + i);

			for (int k = 0; k < 8; k++)
				values.values[k] = float(T(values.values[k] + added.values[k]));
			store_eight(x + i, values);
		}
		for (float value : values.values)
			sum += value;
	}
	mean = warp_sum(sum) / hidden;
	for (int i = first; i < hidden; i += step)
		for (float value : load_eight(x + i).values)
			squares += (value - mean) * (value - mean);
	factor = rsqrtf(warp_sum(squares) / hidden + 1e-5f);
	for (int i = first; i < hidden; i += step) {
		struct eight values = load_eight(x + i), scales = load_eight(scale + i),
			     shifts = load_eight(shift + i);

		for (int k = 0; k < 8; k++)
			values.values[k] = (values.values[k] - mean) * factor * scales.values[k] +
					   shifts.values[k];
		store_eight(normalized + i, values);
	}
}

/* A row of scores, of one head and one token, becomes weights that sum to 1.  A warp a row; a token
 * sees those up to itself. */
template <class T> static __global__ void softmax_kernel(T *scores, int length, float scale)
{
	long row = (long)blockIdx.x * blockDim.y + threadIdx.y;
	int token = row % length;
	float most = -INFINITY, sum = 0;

	scores += ((long)blockIdx.y * length + row) * length;
	if (row >= length)
		return;
	for (int i = threadIdx.x; i <= token; i += warp_lanes)
		most = fmaxf(most, scale * float(scores[i]));
	most = warp_max(most);
	for (int i = threadIdx.x; i <= token; i += warp_lanes)
		sum += expf(scale * float(scores[i]) - most);
	sum = warp_sum(sum);
	for (int i = threadIdx.x; i < length; i += warp_lanes)
		scores[i] = i <= token ? T(expf(scale * float(scores[i]) - most) / sum) : T(0.f);
}

template <class T> static __global__ void gelu_kernel(T *x, long count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] = T(gelu_of(float(x[i])));
}

/* A matrix, or one of each head: value (i, k) is at i * row + k * column. */
template <class T> struct matrix {
	T *values;
	long row, column, head; /* distances */
};

/* out(i, j) = sum over k of left(i, k) right(k, j), as textbooks write it: tiles of 16 x 16 in shared
 * memory, a thread a sum, no tensor cores. */
static const int textbook_tile = 16;

template <class T, class R>
static __global__ void textbook_kernel(matrix<T> out, matrix<const T> left, matrix<const R> right,
				       int rows, int columns, int inner)
{
	__shared__ float a[textbook_tile][textbook_tile], b[textbook_tile][textbook_tile + 1];
	int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * textbook_tile + y,
	    column = blockIdx.x * textbook_tile + x, head = blockIdx.z;
	float sum = 0;

	for (int k = 0; k < inner; k += textbook_tile) {
		int other = blockIdx.x * textbook_tile + y;

		a[y][x] = row < rows && k + x < inner
				  ? float(left.values[head * left.head + row * left.row +
						      (k + x) * left.column])
				  : 0;
		/* neighbors read along k: that is how weights lie */
		b[x][y] = other < columns && k + x < inner
				  ? float(right.values[head * right.head + (k + x) * right.row +
						       other * right.column])
				  : 0;
		__syncthreads();
		for (int i = 0; i < textbook_tile; i++)
			sum += a[y][i] * b[i][x];
		__syncthreads();
	}
	if (row < rows && column < columns)
		out.values[head * out.head + row * out.row + column * out.column] = T(sum);
}

/* ---- causal attention in one kernel ---- */

/*
 * A block has 64 queries of one head, 16 a warp, and goes through the keys up to them, 64 at a time;
 * the next keys and values are copied meanwhile.  Of each row a warp keeps the largest score and the
 * sum so far, and scales what it has whenever the largest grows (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).  Scores never
 * leave the registers: a lane has the sums of one product where the next one takes its left side.
 *
 * Products, exponentials and copies use different parts of an SM, and a warp does one after the
 * other.  Four blocks fit an SM, so one warp's products run beside another's exponentials.
 */
static const int attention_tile = 64; /* queries, and keys of a step */
static const int attention_tile_bytes = attention_tile * row_bytes;
static const int attention_threads = 4 * warp_lanes;
static const int attention_blocks = 4; /* of an SM: at most 128 registers a thread */

/* Four matrices of 8 x 8, each transposed. */
static __device__ void load_fragment_transposed(uint32_t (&fragment)[4], uint32_t shared)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
		     : "r"(shared)
		     : "memory");
}

/* 64 rows of a head into shared memory; those from `rows` on are zeros. */
static __device__ void copy_tile(uint32_t shared, const __half *global, long row_distance, int rows)
{
	int chunk = threadIdx.x % 8;

	for (int i = 0; i < attention_tile; i += attention_threads / 8) {
		int row = i + threadIdx.x / 8;

		copy_async(shared + swizzled(row, chunk),
			   row < rows ? global + row * row_distance + chunk * 8 : global,
			   row < rows);
	}
}

static __device__ uint32_t packed(float low, float high)
{
	__half2 both = __floats2half2_rn(low, high);

	return reinterpret_cast<uint32_t &>(both);
}

static const float attention_scale =
	1.44269504f / 8; /* log2 e / sqrt(64): weights are powers of 2 */

static __device__ float power_of_two(float x)
{
	asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
	return x;
}

/* What a warp keeps of its 16 queries; a lane has parts of two rows, lane / 4 and that + 8. */
struct attention_state {
	float sums[head_values / 8][4]; /* weights times values */
	float most[2], weight[2];
};

/* scores = queries times keys, 16 x 64 */
static __device__ void attention_scores(float (&scores)[8][4], const uint32_t (&queries)[4][4],
					uint32_t keys)
{
	int lane = threadIdx.x % warp_lanes;

	for (int tile = 0; tile < 8; tile++)
		for (int i = 0; i < 4; i++)
			scores[tile][i] = 0;
	for (int k = 0; k < 4; k++)
		for (int tile = 0; tile < 8; tile += 2) {
			uint32_t b[4];

			load_fragment(b, keys + swizzled(tile * 8 + lane % 8 + lane / 16 * 8,
							 2 * k + lane / 8 % 2));
			mma(scores[tile], queries[k], b[0], b[1]);
			mma(scores[tile + 1], queries[k], b[2], b[3]);
		}
}

/* Of the tile whose keys have the numbers of the queries: keys after the query are not seen. */
static __device__ void attention_mask(float (&scores)[8][4])
{
	int lane = threadIdx.x % warp_lanes, first_query = threadIdx.x / warp_lanes * 16;

	for (int tile = 0; tile < 8; tile++)
		for (int i = 0; i < 4; i++) {
			int key = tile * 8 + lane % 4 * 2 + i % 2;
			int query = first_query + lane / 4 + i / 2 * 8;

			if (key > query)
				scores[tile][i] = -INFINITY;
		}
}

/* Scores become weights relative to the largest so far; what came before is scaled to that. */
static __device__ void attention_weigh(struct attention_state &state, float (&scores)[8][4])
{
	const float scale = attention_scale;

	for (int row = 0; row < 2; row++) {
		float most = state.most[row], offset, factor, sum = 0;

		for (int tile = 0; tile < 8; tile++)
			most = fmaxf(most, fmaxf(scores[tile][2 * row], scores[tile][2 * row + 1]));
		most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
		most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
		offset = scale * most; /* scale * score - offset is one instruction */
		factor = power_of_two(scale * state.most[row] - offset);
		for (int tile = 0; tile < 8; tile++)
			for (int i = 2 * row; i < 2 * row + 2; i++) {
				scores[tile][i] = power_of_two(scale * scores[tile][i] - offset);
				sum += scores[tile][i];
				state.sums[tile][i] *= factor;
			}
		state.most[row] = most;
		state.weight[row] = state.weight[row] * factor + sum;
	}
}

/* sums += weights times values */
static __device__ void attention_add(struct attention_state &state, const float (&weights)[8][4],
				     uint32_t values)
{
	int lane = threadIdx.x % warp_lanes;

	for (int k = 0; k < 4; k++) {
		const uint32_t a[4] = {packed(weights[2 * k][0], weights[2 * k][1]),
				       packed(weights[2 * k][2], weights[2 * k][3]),
				       packed(weights[2 * k + 1][0], weights[2 * k + 1][1]),
				       packed(weights[2 * k + 1][2], weights[2 * k + 1][3])};

		for (int tile = 0; tile < 8; tile += 2) {
			uint32_t b[4];

			load_fragment_transposed(b, values + swizzled(16 * k + lane % 16,
								      tile + lane / 16));
			mma(state.sums[tile], a, b[0], b[1]);
			mma(state.sums[tile + 1], a, b[2], b[3]);
		}
	}
}

/* out: the first of the warp's 16 queries, of which `rows` are there */
static __device__ void attention_store(const struct attention_state &state, __half *out,
				       long row_distance, int rows)
{
	int lane = threadIdx.x % warp_lanes;

	for (int row = 0; row < 2; row++) {
		float sum = state.weight[row], factor;
		int query = lane / 4 + 8 * row;

		sum += __shfl_xor_sync(~0u, sum, 1);
		sum += __shfl_xor_sync(~0u, sum, 2);
		factor = __fdividef(1, sum);
		for (int tile = 0; tile < 8; tile += 4) {
			uint32_t pairs[4]; /* of columns */

			for (int j = 0; j < 4; j++)
				pairs[j] = packed(state.sums[tile + j][2 * row] * factor,
						  state.sums[tile + j][2 * row + 1] * factor);
			gather_columns(pairs);
			if (query < rows)
				*(uint4 *)(out + query * row_distance + tile * 8 +
					   lane % 4 * 8) = {pairs[0], pairs[1], pairs[2], pairs[3]};
		}
	}
}

/* Grid: heads, requests, tiles of queries.  qkv: rows of queries, keys and values of all heads; out:
 * of hidden values.  The last queries, which have most keys, begin first. */
static __global__ void __launch_bounds__(attention_threads, attention_blocks)
	attention_kernel(const __half *qkv, __half *out, const struct request *requests, int hidden)
{
	/* queries, then keys and values of one step and of the next */
	__shared__ __align__(row_bytes) char memory[5 * attention_tile_bytes];
	const struct request request = requests[blockIdx.y];
	int tile = (request.length + attention_tile - 1) / attention_tile - 1 - (int)blockIdx.z;
	int lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
	int query = tile * attention_tile + 16 * warp;
	long distance = 3l * hidden;
	uint32_t shared = shared_address(memory), queries[4][4];
	struct attention_state state = {.sums = {}, .most = {-INFINITY, -INFINITY}, .weight = {}};

	if (tile < 0)
		return;
	qkv += request.first * distance + blockIdx.x * head_values;
	auto keys_at = [&](int step) { return shared + (1 + step % 2 * 2) * attention_tile_bytes; };
	auto values_at = [&](int step) { return keys_at(step) + attention_tile_bytes; };
	auto copy = [&](uint32_t to, int from_tile,
			int part) { /* of queries, keys, values */
				    int first = from_tile * attention_tile;

				    copy_tile(to, qkv + first * distance + part * hidden, distance,
					      request.length - first);
	};
	auto copy_step = [&](int step) {
		copy(keys_at(step), step, 1);
		copy(values_at(step), step, 2);
		copy_async_commit();
	};
	copy(shared, tile, 0);
	copy_step(0);
	for (int step = 0; step <= tile; step++) {
		float scores[8][4];

		copy_async_wait<0>();
		__syncthreads(); /* this step's keys are here, those of the last one are free */
		if (step < tile)
			copy_step(step + 1);
		if (!step)
			for (int k = 0; k < 4; k++)
				load_fragment(queries[k], shared + swizzled(16 * warp + lane % 16,
									    2 * k + lane / 16));
		attention_scores(scores, queries, keys_at(step));
		if (step == tile)
			attention_mask(scores);
		attention_weigh(state, scores);
		attention_add(state, scores, values_at(step));
	}
	attention_store(state,
			out + (long)(request.first + query) * hidden + blockIdx.x * head_values,
			hidden, request.length - query);
}

#endif
