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
 * A block has 64 queries of one head and goes through the keys up to them, 128 at a time; the next
 * keys and values are copied meanwhile.  Four warps, of 16 queries each, take the first 64 of the
 * keys, four the others, and in the end they add up what they have.  Of each row a warp keeps the
 * largest score and the sum so far, and scales what it has whenever the largest grows (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).  Scores never
 * leave the registers.
 */
static const int attention_tile = 64; /* queries, and keys of four warps */
static const int attention_warps = 8;
static const int attention_tile_bytes = attention_tile * row_bytes;
/* queries, then keys and values of four warps each, two of all these; a tile begins at a multiple of 1,024 */
static const int attention_shared_bytes = 9 * attention_tile_bytes + 1024;

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
	for (int i = threadIdx.x; i < attention_tile * 8; i += attention_warps * warp_lanes) {
		int row = i / 8, chunk = i % 8;

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

/* Keys after the query are not seen.  first_key, first_query: of this warp's tile */
static __device__ void attention_mask(float (&scores)[8][4], int first_key, int first_query)
{
	int lane = threadIdx.x % warp_lanes;

	for (int tile = 0; tile < 8; tile++)
		for (int i = 0; i < 4; i++) {
			int key = first_key + tile * 8 + lane % 4 * 2 + i % 2;
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
		float most = state.most[row], factor, sum = 0;

		for (int tile = 0; tile < 8; tile++)
			most = fmaxf(most, fmaxf(scores[tile][2 * row], scores[tile][2 * row + 1]));
		most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
		most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
		factor = exp2f(scale * (state.most[row] - most));
		for (int tile = 0; tile < 8; tile++)
			for (int i = 2 * row; i < 2 * row + 2; i++) {
				scores[tile][i] = exp2f(scale * (scores[tile][i] - most));
				sum += scores[tile][i];
			}
		state.most[row] = most;
		state.weight[row] = state.weight[row] * factor + sum;
		for (int tile = 0; tile < 8; tile++) {
			state.sums[tile][2 * row] *= factor;
			state.sums[tile][2 * row + 1] *= factor;
		}
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

/* What the upper four warps have is added to what the lower four have of the same queries. */
static __device__ void attention_join(struct attention_state &state, float *shared)
{
	const int values = sizeof(state) / sizeof(float),
		  threads = attention_warps / 2 * warp_lanes;
	float *mine = (float *)&state;
	struct attention_state other;

	if (threadIdx.x >= threads)
		for (int i = 0; i < values; i++)
			shared[i * threads + threadIdx.x - threads] = mine[i];
	__syncthreads();
	if (threadIdx.x >= threads)
		return;
	for (int i = 0; i < values; i++)
		((float *)&other)[i] = shared[i * threads + threadIdx.x];
	for (int row = 0; row < 2; row++) {
		float most = fmaxf(state.most[row], other.most[row]);
		float factor = exp2f(attention_scale * (state.most[row] - most));
		float other_factor = exp2f(attention_scale * (other.most[row] - most));

		state.weight[row] = state.weight[row] * factor + other.weight[row] * other_factor;
		for (int tile = 0; tile < 8; tile++)
			for (int i = 2 * row; i < 2 * row + 2; i++)
				state.sums[tile][i] = state.sums[tile][i] * factor +
						      other.sums[tile][i] * other_factor;
	}
}

static __device__ void attention_store(const struct attention_state &state, __half *out,
				       long row_distance, int rows)
{
	int lane = threadIdx.x % warp_lanes;

	for (int row = 0; row < 2; row++) {
		float sum = state.weight[row];
		int query = lane / 4 + 8 * row;

		sum += __shfl_xor_sync(~0u, sum, 1);
		sum += __shfl_xor_sync(~0u, sum, 2);
		if (query >= rows)
			continue;
		for (int tile = 0; tile < 8; tile++)
			*(uint32_t *)(out + query * row_distance + tile * 8 + lane % 4 * 2) =
				packed(state.sums[tile][2 * row] / sum,
				       state.sums[tile][2 * row + 1] / sum);
	}
}

/* Grid: tiles of queries, heads, requests.  qkv: rows of queries, keys and values of all heads; out: of
 * hidden values.  The last queries, which have most keys, begin first. */
static __global__ void __launch_bounds__(attention_warps *warp_lanes)
	attention_kernel(const __half *qkv, __half *out, const struct request *requests, int hidden)
{
	extern __shared__ char memory[];
	const struct request request = requests[blockIdx.z];
	int tile = (request.length + attention_tile - 1) / attention_tile - 1 - (int)blockIdx.x;
	int warp = threadIdx.x / warp_lanes % 4, group = threadIdx.x / warp_lanes / 4;
	int lane = threadIdx.x % warp_lanes, query = tile * attention_tile + 16 * warp;
	long distance = 3l * hidden;
	uint32_t shared = (shared_address(memory) + 1023) & ~1023;
	uint32_t queries[4][4];
	struct attention_state state = {.sums = {}, .most = {-INFINITY, -INFINITY}, .weight = {}};

	if (tile < 0)
		return;
	qkv += request.first * distance + blockIdx.y * head_values;
	/* keys of group g at step t; their values lie two tiles behind */
	auto keys_at = [&](int t, int g) {
		return shared + (1 + t % 2 * 4 + g) * attention_tile_bytes;
	};
	auto copy_keys = [&](int t) {
		for (int g = 0; g < 2; g++) {
			int first = (2 * t + g) * attention_tile, rows = request.length - first;

			copy_tile(keys_at(t, g), qkv + first * distance + hidden, distance, rows);
			copy_tile(keys_at(t, g) + 2 * attention_tile_bytes,
				  qkv + first * distance + 2 * hidden, distance, rows);
		}
		copy_async_commit();
	};
	copy_tile(shared, qkv + tile * attention_tile * distance, distance,
		  request.length - tile * attention_tile);
	copy_keys(0);
	for (int t = 0; 2 * t <= tile; t++) {
		int other = 2 * t + group; /* tile of keys */
		float scores[8][4];

		if (2 * t + 2 <= tile) {
			copy_keys(t + 1);
			copy_async_wait<1>();
		} else {
			copy_async_wait<0>();
		}
		__syncthreads();
		if (!t)
			for (int k = 0; k < 4; k++)
				load_fragment(queries[k], shared + swizzled(16 * warp + lane % 16,
									    2 * k + lane / 16));
		if (other <= tile) {
			attention_scores(scores, queries, keys_at(t, group));
			if (other == tile)
				attention_mask(scores, other * attention_tile, query);
			attention_weigh(state, scores);
			attention_add(state, scores, keys_at(t, group) + 2 * attention_tile_bytes);
		}
		__syncthreads();
	}
	attention_join(state, (float *)memory);
	if (!group)
		attention_store(state,
				out + (long)(request.first + query) * hidden +
					blockIdx.y * head_values,
				hidden, request.length - query);
}

#endif
