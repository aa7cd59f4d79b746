/*
 * fuse_conv_bn_relu (E4): a convolution, and three kernels after it that only touch its result up.
 *
 *   t = convolution(x, w)            F x F filter, stride 1, zeros around the image
 *   u = scale[k] t + bias[k]         batch normalization with the statistics of training
 *   v = max(u, 0)                    ReLU
 *   z = the largest of 2 x 2 of v    pooling
 * with scale = gamma / sqrt(variance + 1e-5), bias = beta - mean * scale, once for all launches.
 * All arrays are FP16; sums and what follows them within a kernel are FP32.
 *
 * The convolution is a matrix product without the matrix (implicit GEMM).  A row of it is an output
 * pixel, a column an output channel, and the sum goes over the filter's F x F positions and the C
 * input channels.  A block makes 4 tiles of 8 x 8 pixels for 64 output channels.  It reads the tiles
 * and their rim into shared memory once, and for each of the F x F positions takes its rows from
 * there, shifted by that position; the weights of a position follow as they are needed.  Fused,
 * the sums are scaled, shifted and cut off while they are still in registers.
 *
 * NHWC keeps the channels of a pixel together, NCHW the pixels of a channel; the variants called
 * nchw_* work on the latter.  They transpose as they fill shared memory; all else is the same.
 * wgmma has a kernel of its own for NHWC, in which the copy engine loads and stores whole tiles.
 *
 * One iteration over P pixels (--size) of C channels (--channels), N = P C values:
 *   FLOPs   2 F^2 C N on tensor cores, all else is little
 *   bytes   naive  convolution 4 N, normalization 4 N, ReLU 4 N, pooling 2.5 N  = 14.5 N
 *           fused  convolution 4 N, pooling 2.5 N                               =  6.5 N
 *   and 2 F^2 C^2 of weights, which stay in the L2 cache.
 *
 * Values of x and w are -1, 0 and 1: all sums are exact.  Results are compared with the scalar
 * reference to the last bit but one: cuDNN may round between scale and bias.
 */
#include <algorithm>
#include <cmath>

#include "cudnn.cuh"
#include "eight.cuh"
#include "graph_capture.cuh"
#include "hash.cuh"
#include "hopper.cuh"
#include "workload.cuh"

static long image_width = 56, channel_count = 64, filter_width = 3;

static const float epsilon = 1e-5f;
static const int tile_width = 8;
static const int tile_pixels = tile_width * tile_width;
static const int tiles = 4;	     /* of a block */
static const int conv_threads = 128; /* of a block */
static const int slice = row_values; /* channels at a time, input and output alike */
static const int stages = 3;	     /* of weights in shared memory */
static const int stage_bytes = slice * row_bytes;
static const int block_size = 256; /* of the other kernels */

struct shape {
	int images, width, channels;
};

/* What the convolution does to its sums. */
struct folded {
	float *scale, *bias;
};

struct layout {
	__half *x, *t, *u, *v, *z; /* input, what kernels hand on, result */
};

/* What loads and stores whole tiles: input with rim, weights of a position, output. */
struct conv_maps {
	CUtensorMap x, weights, v;
};

struct problem {
	struct shape shape;
	int filter;
	__half *weights;      /* [output channel][F][F][input channel] */
	__half *weights_nchw; /* [output channel][input channel][F][F], which only cuDNN reads */
	std::vector<float> scale_of, bias_of;
	struct folded folded; /* the same on the device */
	struct layout nhwc, nchw;
	struct conv_maps maps; /* of NHWC */
	bool is_nchw;	       /* of the variant under way */
	cudaGraphExec_t graph;
	cudaStream_t stream; /* nullptr but for the graph */
#if ROOFLINE_HAS_CUDNN
	struct cudnn_conv cudnn;
#endif
};

/* ---- the convolution ---- */

/* The filter's reach over the edge of a tile, and the width of a tile with that rim. */
template <int filter> static constexpr int rim = filter / 2;
template <int filter> static constexpr int span = tile_width + 2 * rim<filter>;

/* Pixels of the block's tiles with their rims, and one so that chunks lie in different banks. */
template <int filter> static constexpr int input_pixels = tiles *span<filter> *span<filter> + 1;
template <int filter>
static constexpr int input_bytes = (input_pixels<filter> * row_bytes + 1023) / 1024 * 1024;

/* Where eight channels of a pixel lie.  mma reads rows of a swizzled tile, one address a row.  wgmma
 * reads eight rows from one address on: there a chunk's pixels stand side by side. */
template <int filter, bool is_wgmma> static __device__ int input_offset(int pixel, int chunk)
{
	return is_wgmma ? (chunk * input_pixels<filter> + pixel) * 16 : swizzled(pixel, chunk);
}

struct place {
	int image, y, x; /* of the upper left pixel; image -1: there is no such tile */
};

static __device__ struct place place_of(int tile, struct shape shape)
{
	int in_row = shape.width / tile_width, in_image = in_row * in_row;

	if (tile >= shape.images * in_image)
		return {-1, 0, 0};
	return {tile / in_image, tile % in_image / in_row * tile_width, tile % in_row * tile_width};
}

static __device__ bool is_inside(struct place place, int y, int x, int width)
{
	return place.image >= 0 && y >= 0 && y < width && x >= 0 && x < width;
}

/* Where the value of a pixel and channel lies. */
static __host__ __device__ size_t index_nhwc(struct shape s, int image, int y, int x, int channel)
{
	return (((size_t)image * s.width + y) * s.width + x) * s.channels + channel;
}

static __host__ __device__ size_t index_nchw(struct shape s, int image, int y, int x, int channel)
{
	return (((size_t)image * s.channels + channel) * s.width + y) * s.width + x;
}

/* The block's tiles with their rim, 64 channels from `first` on: a row of shared memory a pixel. */
template <int filter>
static __device__ void load_nhwc(uint32_t input, const __half *x, const struct place *places,
				 struct shape shape, int first)
{
	const int span = ::span<filter>;

#pragma unroll 5
	for (int n = 0; n < tiles * span * span * 8 / conv_threads; n++) {
		int i = n * conv_threads + threadIdx.x, row = i / 8, chunk = i % 8,
		    pixel = row % (span * span);
		struct place place = places[row / (span * span)];
		int at_y = place.y + pixel / span - rim<filter>;
		int at_x = place.x + pixel % span - rim<filter>;
		bool inside = is_inside(place, at_y, at_x, shape.width);

		copy_async(input + input_offset<filter, false>(row, chunk),
			   inside ? x + index_nhwc(shape, place.image, at_y, at_x,
						   first + 8 * chunk)
				  : x,
			   inside);
	}
	copy_async_commit();
}

/* Eight values of a row and eight rows become eight of a column each. */
static __device__ void transpose8(uint4 (&v)[8])
{
	uint32_t *in = (uint32_t *)v, out[32];

#pragma unroll
	for (int column = 0; column < 8; column++)
#pragma unroll
		for (int pair = 0; pair < 4; pair++)
			out[4 * column + pair] = __byte_perm(in[8 * pair + column / 2],
							     in[8 * pair + 4 + column / 2],
							     column % 2 ? 0x7632 : 0x5410);
#pragma unroll
	for (int i = 0; i < 32; i++)
		in[i] = out[i];
}

/* The same from NCHW.  The tile itself: eight pixels of eight channels a thread. */
template <int filter, bool is_wgmma>
static __device__ void load_nchw_middle(uint32_t input, const __half *x, const struct place *places,
					struct shape shape, int first)
{
	const int span = ::span<filter>;

	for (int i = threadIdx.x; i < tiles * span * 8; i += conv_threads) {
		int chunk = i % 8, y = i / 8 % span, tile = i / 8 / span;
		struct place place = places[tile];
		int at_y = place.y + y - rim<filter>;
		bool inside = is_inside(place, at_y, place.x, shape.width);
		uint4 values[8];

#pragma unroll
		for (int c = 0; c < 8; c++)
			values[c] = inside ? *(const uint4 *)(x + index_nchw(shape, place.image,
									     at_y, place.x,
									     first + 8 * chunk + c))
					   : uint4{0, 0, 0, 0};
		transpose8(values);
#pragma unroll
		for (int c = 0; c < 8; c++)
			store_shared(input + input_offset<filter, is_wgmma>(
						     (tile * span + y) * span + rim<filter> + c,
						     chunk),
				     values[c]);
	}
}

/* The columns of the rim at both sides: one pixel of eight channels a thread. */
template <int filter, bool is_wgmma>
static __device__ void load_nchw_sides(uint32_t input, const __half *x, const struct place *places,
				       struct shape shape, int first)
{
	const int span = ::span<filter>;
	const int sides = filter > 1 ? 2 * rim<filter> : 1; /* not called for 1 */

	for (int i = threadIdx.x; i < tiles * span * sides * 8; i += conv_threads) {
		int chunk = i % 8, side = i / 8 % sides, y = i / 8 / sides % span;
		int tile = i / 8 / sides / span;
		int column = side < rim<filter> ? side : side + tile_width;
		struct place place = places[tile];
		int at_y = place.y + y - rim<filter>, at_x = place.x + column - rim<filter>;
		bool inside = is_inside(place, at_y, at_x, shape.width);
		alignas(16) __half values[8];

#pragma unroll
		for (int c = 0; c < 8; c++)
			values[c] = inside ? x[index_nchw(shape, place.image, at_y, at_x,
							  first + 8 * chunk + c)]
					   : __half(0.0f);
		store_shared(input + input_offset<filter, is_wgmma>((tile * span + y) * span +
									    column,
								    chunk),
			     *(const uint4 *)values);
	}
}

/* Weights of one position of the filter: a row of shared memory an output channel. */
static __device__ void load_weights(uint32_t stage, const __half *weights, int positions,
				    int position, int channels, int first_in, int first_out)
{
#pragma unroll
	for (int n = 0; n < slice * 8 / conv_threads; n++) {
		int i = n * conv_threads + threadIdx.x, row = i / 8, chunk = i % 8;
		size_t from = ((size_t)(first_out + row) * positions + position) * channels;

		copy_async(stage + swizzled(row, chunk), weights + from + first_in + 8 * chunk,
			   true);
	}
}

/* The sums of a thread.  mma: of 16 pixels times 64 output channels, four times in one tile, which is
 * the warp's.  wgmma: of 16 output channels, which are the warp's, times 64 pixels in each tile. */
typedef float conv_sums[tiles][slice / 8][4];

static __device__ void clear(conv_sums &sums)
{
#pragma unroll
	for (int i = 0; i < tiles * slice / 2; i++)
		sums[i / (slice / 2)][i / 4 % (slice / 8)][i % 4] = 0;
}

/* Sums += 64 channels of the pixels, shifted by `shift`, times the weights in stage. */
template <int filter>
static __device__ void multiply_mma(conv_sums &sums, uint32_t input, int shift, uint32_t stage)
{
	const int span = ::span<filter>;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int row = (warp * span + lane % 16 / tile_width) * span + lane % tile_width + shift;

#pragma unroll
	for (int k = 0; k < slice / 16; k++) {
		uint32_t a[tiles][4], b[slice / 16][4];

#pragma unroll
		for (int i = 0; i < tiles; i++)
			load_fragment(a[i],
				      input + swizzled(row + 2 * span * i, 2 * k + lane / 16));
#pragma unroll
		for (int j = 0; j < slice / 16; j++)
			load_fragment(b[j], stage + swizzled(16 * j + lane / 16 * 8 + lane % 8,
							     2 * k + lane / 8 % 2));
#pragma unroll
		for (int i = 0; i < tiles; i++)
#pragma unroll
			for (int j = 0; j < slice / 8; j++)
				mma(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
	}
}

/* The same with the factors changed round: then the one that is read for each tile is in registers,
 * and what comes from shared memory is read once. */
template <int filter>
static __device__ void multiply_wgmma(conv_sums &sums, uint32_t input, int shift, uint32_t stage,
				      bool add)
{
	const int span = ::span<filter>, chunk_bytes = 16 * input_pixels<filter>;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t weights[slice / 16][4];
	uint64_t pixels = pixel_descriptor(input + 16 * shift, 16 * span, chunk_bytes);

	wgmma_wait<0>(); /* the last step's: they ran while this one was prepared */
#pragma unroll
	for (int k = 0; k < slice / 16; k++)
		load_fragment(weights[k],
			      stage + swizzled(16 * warp + lane % 16, 2 * k + lane / 16));
	wgmma_begin();
#pragma unroll
	for (int k = 0; k < slice / 16; k++)
#pragma unroll
		for (int i = 0; i < tiles; i++)
			wgmma64(sums[i], weights[k],
				pixels + i * span * span + 2 * k * chunk_bytes / 16, add || k);
	wgmma_commit();
}

/* Scaled, shifted and cut off where fused. */
template <bool is_fused> static __device__ float finished(float sum, float scale, float bias)
{
	return is_fused ? fmaxf(fmaf(scale, sum, bias), 0) : sum;
}

static const int nchw_pitch = 2 * tile_pixels + 16; /* bytes: a channel's pixels and a gap */

/* Sums into shared memory, in the order in which they leave: a row a pixel, or a channel. */
template <bool is_nchw, bool is_fused>
static __device__ void stage_mma(char *output, const conv_sums &sums, struct folded folded)
{
	int lane = threadIdx.x % 32, tile = threadIdx.x / 32;

#pragma unroll
	for (int j = 0; j < slice / 8; j++) {
		int channel = 8 * j + lane % 4 * 2;
		float2 scale = *(const float2 *)(folded.scale + channel);
		float2 bias = *(const float2 *)(folded.bias + channel);

#pragma unroll
		for (int i = 0; i < 2 * tiles; i++) {
			int pixel = 8 * i + lane / 4;
			const float *sum = &sums[i / 2][j][i % 2 * 2];
			__half2 pair =
				__floats2half2_rn(finished<is_fused>(sum[0], scale.x, bias.x),
						  finished<is_fused>(sum[1], scale.y, bias.y));

			if (is_nchw) {
				char *at =
					output + (tile * slice + channel) * nchw_pitch + 2 * pixel;

				*(__half *)at = __low2half(pair);
				*(__half *)(at + nchw_pitch) = __high2half(pair);
			} else {
				*(__half2 *)(output + swizzled(tile * tile_pixels + pixel, j) +
					     lane % 4 * 4) = pair;
			}
		}
	}
}

/* The same of wgmma's, for NCHW. */
template <bool is_fused>
static __device__ void stage_wgmma(char *output, const conv_sums &sums, struct folded folded)
{
	int lane = threadIdx.x % 32, channel = threadIdx.x / 32 * 16 + lane / 4;
	float scale[2] = {folded.scale[channel], folded.scale[channel + 8]};
	float bias[2] = {folded.bias[channel], folded.bias[channel + 8]};

#pragma unroll
	for (int tile = 0; tile < tiles; tile++)
#pragma unroll
		for (int j = 0; j < slice / 8; j++)
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const float *sum = &sums[tile][j][2 * i];

				*(__half2 *)(output +
					     (tile * slice + channel + 8 * i) * nchw_pitch +
					     16 * j + lane % 4 * 4) =
					__floats2half2_rn(finished<is_fused>(sum[0], scale[i],
									     bias[i]),
							  finished<is_fused>(sum[1], scale[i],
									     bias[i]));
			}
}

/* From there to global memory, 16 bytes a store: eight channels of a pixel, or eight pixels. */
template <bool is_nchw>
static __device__ void store_output(__half *t, const char *output, const struct place *places,
				    struct shape shape, int first_out)
{
#pragma unroll 4
	for (int n = 0; n < tiles * tile_pixels * 8 / conv_threads; n++) {
		int i = n * conv_threads + threadIdx.x;
		int tile = i / (tile_pixels * 8), row = i / 8 % tile_pixels, chunk = i % 8;
		struct place place = places[tile];
		const char *from;
		size_t to;

		if (place.image < 0)
			continue;
		if (is_nchw) {
			from = output + (tile * slice + row) * nchw_pitch + 16 * chunk;
			to = index_nchw(shape, place.image, place.y + chunk, place.x,
					first_out + row);
		} else {
			from = output + swizzled(tile * tile_pixels + row, chunk);
			to = index_nhwc(shape, place.image, place.y + row / tile_width,
					place.x + row % tile_width, first_out + 8 * chunk);
		}
		*(uint4 *)(t + to) = *(const uint4 *)from;
	}
}

template <int filter, bool is_nchw, bool is_wgmma>
static __device__ void load_input(uint32_t input, const __half *x, const struct place *places,
				  struct shape shape, int first)
{
	if (is_nchw) {
		load_nchw_middle<filter, is_wgmma>(input, x, places, shape, first);
		if (filter > 1)
			load_nchw_sides<filter, is_wgmma>(input, x, places, shape, first);
	} else {
		load_nhwc<filter>(input, x, places, shape, first);
	}
}

template <int filter>
static constexpr int conv_shared_bytes = stages *stage_bytes + input_bytes<filter> +
					 tiles *(int)sizeof(struct place);

/* Shared memory: weights, input, places; in the end the output from its beginning on. */
template <int filter, bool is_nchw, bool is_fused, bool is_wgmma>
static __global__ void __launch_bounds__(conv_threads, 2)
	conv_kernel(__half *t, const __half *x, const __half *weights, struct folded folded,
		    struct shape shape)
{
	extern __shared__ __align__(1024) char memory[];
	const int positions = filter * filter;
	char *input_at = memory + stages * stage_bytes;
	struct place *places = (struct place *)(input_at + input_bytes<filter>);
	uint32_t stage = shared_address(memory), input = shared_address(input_at);
	int first_out = blockIdx.y * slice, steps = positions * (shape.channels / slice);
	conv_sums sums;

	if (is_wgmma && !HAS_WGMMA)
		return; /* nobody launches it */
	if (threadIdx.x < tiles)
		places[threadIdx.x] = place_of(blockIdx.x * tiles + threadIdx.x, shape);
	__syncthreads();
	for (int step = 0; step < stages - 1; step++) {
		if (step < steps)
			load_weights(stage + step * stage_bytes, weights, positions,
				     step % positions, shape.channels, step / positions * slice,
				     first_out);
		copy_async_commit();
	}
	if (!is_wgmma)
		clear(sums);
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		int position = step % positions, ahead = step + stages - 1;
		int shift = position / filter * span<filter> + position % filter;
		uint32_t now = stage + step % stages * stage_bytes;

		if (position == 0) { /* the next channels, when nobody needs the last ones */
			if (is_wgmma)
				wgmma_wait<0>();
			__syncthreads();
			load_input<filter, is_nchw, is_wgmma>(input, x, places, shape,
							      step / positions * slice);
			copy_async_wait<0>();
		} else {
			copy_async_wait<stages - 2>();
		}
		if (is_wgmma)
			wgmma_publish();
		__syncthreads(); /* this step's weights are here, those of the last one are free */
		if (ahead < steps)
			load_weights(stage + ahead % stages * stage_bytes, weights, positions,
				     ahead % positions, shape.channels, ahead / positions * slice,
				     first_out);
		copy_async_commit();
		if (is_wgmma)
			multiply_wgmma<filter>(sums, input, shift, now, step > 0);
		else
			multiply_mma<filter>(sums, input, shift, now);
	}
	if (is_wgmma)
		wgmma_wait<0>();
	copy_async_wait<0>();
	__syncthreads();
	folded.scale += first_out;
	folded.bias += first_out;
	if (is_wgmma)
		stage_wgmma<is_fused>(memory, sums, folded);
	else
		stage_mma<is_nchw, is_fused>(memory, sums, folded);
	__syncthreads();
	store_output<is_nchw>(t, memory, places, shape, first_out);
}

/* ---- what comes after it, as kernels of their own: eight values a thread ---- */

static __device__ uint32_t thread_index()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* count: of eights.  In NCHW eight neighbors are of one channel, in NHWC of eight. */
template <bool is_nchw>
static __global__ void normalize_kernel(eight *u, const eight *t, struct folded folded,
					struct shape shape, uint32_t count)
{
	uint32_t i = thread_index(), channels = shape.channels;
	uint32_t pixels = shape.width * shape.width;
	int channel = is_nchw ? i / (pixels / 8) % channels : i % (channels / 8) * 8;

	if (i >= count)
		return;
	eight values = load_eight(t + i);

#pragma unroll
	for (int k = 0; k < 4; k++) {
		int first = is_nchw ? channel : channel + 2 * k, second = first + !is_nchw;
		float2 pair = __half22float2(values.pair[k]);

		values.pair[k] =
			__floats2half2_rn(fmaf(folded.scale[first], pair.x, folded.bias[first]),
					  fmaf(folded.scale[second], pair.y, folded.bias[second]));
	}
	store_eight(u + i, values);
}

static __global__ void relu_kernel(eight *v, const eight *u, uint32_t count)
{
	uint32_t i = thread_index();

	if (i >= count)
		return;
	eight values = load_eight(u + i);

#pragma unroll
	for (int k = 0; k < 4; k++) {
		float2 pair = __half22float2(values.pair[k]);

		values.pair[k] = __floats2half2_rn(fmaxf(pair.x, 0), fmaxf(pair.y, 0));
	}
	store_eight(v + i, values);
}

static __device__ float2 larger(__half2 a, __half2 b)
{
	float2 x = __half22float2(a), y = __half22float2(b);

	return {fmaxf(x.x, y.x), fmaxf(x.y, y.y)};
}

static __device__ __half2 largest(__half2 a, __half2 b, __half2 c, __half2 d)
{
	float2 x = larger(a, b), y = larger(c, d);

	return __floats2half2_rn(fmaxf(x.x, y.x), fmaxf(x.y, y.y));
}

/* A thread makes eight channels of a pixel of z, which is half as wide as v. */
static __global__ void pool_nhwc_kernel(eight *z, const __half *v, struct shape shape,
					uint32_t count)
{
	uint32_t i = thread_index(), chunks = shape.channels / 8, half = shape.width / 2;
	uint32_t pixel = i / chunks, row = pixel / half;
	eight corner[4], result;

	if (i >= count)
		return;
#pragma unroll
	for (int k = 0; k < 4; k++)
		corner[k] = load_eight(v + index_nhwc(shape, row / half, row % half * 2 + k / 2,
						      pixel % half * 2 + k % 2, i % chunks * 8));
#pragma unroll
	for (int k = 0; k < 4; k++)
		result.pair[k] = largest(corner[0].pair[k], corner[1].pair[k], corner[2].pair[k],
					 corner[3].pair[k]);
	store_eight(z + i, result);
}

/* A thread makes four neighbors in a row of z, from eight in each of two rows of v. */
static __global__ void pool_nchw_kernel(uint2 *z, const eight *v, struct shape shape,
					uint32_t count)
{
	uint32_t i = thread_index(), chunks = shape.width / 8;
	uint32_t upper_row = i / chunks * 2, chunk = i % chunks;
	alignas(8) __half result[4];

	if (i >= count)
		return;
	eight upper = load_eight(v + (size_t)upper_row * chunks + chunk);
	eight lower = load_eight(v + (size_t)(upper_row + 1) * chunks + chunk);

#pragma unroll
	for (int k = 0; k < 4; k++) {
		float2 pair = larger(upper.pair[k], lower.pair[k]);

		result[k] = __float2half_rn(fmaxf(pair.x, pair.y));
	}
	z[i] = *(const uint2 *)result;
}

/* ---- naive, fused, and that as a graph: one iteration each, given to p.stream ---- */

static long value_count(const problem &p)
{
	return (long)p.shape.images * p.shape.width * p.shape.width * p.shape.channels;
}

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

static unsigned conv_blocks(const problem &p, int tiles)
{
	int in_row = p.shape.width / tile_width;
	long tile_count = (long)p.shape.images * in_row * in_row;

	return (tile_count + tiles - 1) / tiles;
}

/* Calls body with the filter's width as a type. */
template <class function> static void with_filter(const problem &p, function body)
{
	if (p.filter == 1)
		body(std::integral_constant<int, 1>());
	else if (p.filter == 3)
		body(std::integral_constant<int, 3>());
	else
		body(std::integral_constant<int, 5>());
}

template <bool is_nchw, bool is_fused, bool is_wgmma>
static void convolve(problem &p, struct layout &a, __half *result)
{
	with_filter(p, [&](auto filter) {
		const int bytes = conv_shared_bytes<filter>;
		auto kernel = conv_kernel<filter, is_nchw, is_fused, is_wgmma>;
		dim3 grid(conv_blocks(p, tiles), p.shape.channels / slice);
		static bool is_ready = false;

		if (!is_ready)
			ask_for_shared_memory(kernel, bytes);
		is_ready = true;
		CUDA_LAUNCH(kernel<<<grid, conv_threads, bytes, p.stream>>>(result, a.x, p.weights,
									    p.folded, p.shape));
	});
}

template <bool is_nchw> static struct layout &layout_of(problem &p)
{
	return is_nchw ? p.nchw : p.nhwc;
}

template <bool is_nchw> static void pool(problem &p, struct layout &a)
{
	long results = value_count(p) / 4;

	if (is_nchw)
		CUDA_LAUNCH(pool_nchw_kernel<<<blocks(results / 4), block_size, 0, p.stream>>>(
			(uint2 *)a.z, (const eight *)a.v, p.shape, results / 4));
	else
		CUDA_LAUNCH(pool_nhwc_kernel<<<blocks(results / 8), block_size, 0, p.stream>>>(
			(eight *)a.z, a.v, p.shape, results / 8));
}

template <bool is_nchw> static void one_naive(problem &p)
{
	struct layout &a = layout_of<is_nchw>(p);
	long eights = value_count(p) / 8;

	convolve<is_nchw, false, false>(p, a, a.t);
	CUDA_LAUNCH(normalize_kernel<is_nchw>
		    <<<blocks(eights), block_size, 0, p.stream>>>((eight *)a.u, (const eight *)a.t,
								  p.folded, p.shape, eights));
	CUDA_LAUNCH(relu_kernel<<<blocks(eights), block_size, 0, p.stream>>>((eight *)a.v,
									     (const eight *)a.u,
									     eights));
	pool<is_nchw>(p, a);
}

template <bool is_nchw, bool is_wgmma> static void one_fused(problem &p)
{
	struct layout &a = layout_of<is_nchw>(p);

	convolve<is_nchw, true, is_wgmma>(p, a, a.v);
	pool<is_nchw>(p, a);
}

template <void (*one)(problem &)> static void run(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		one(p);
}

template <bool is_nchw> static void setup(problem &p)
{
	p.is_nchw = is_nchw;
}

template <void (*one)(problem &)> static void setup_graph(problem &p)
{
	p.is_nchw = false;
	CUDA_CHECK(cudaStreamCreate(&p.stream));
	graph_begin(p.stream);
	one(p);
	p.graph = graph_finish_host(p.stream);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
	p.stream = nullptr;
}

static const char *why_no_wgmma(problem &)
{
	return why_no_wgmma();
}

/* ---- fused, with wgmma, in NHWC ---- */

/* Of a block; blocks that share an SM. */
static const int hopper_tiles = 2, hopper_stages = 3, hopper_blocks = 4;
typedef float hopper_sums[hopper_tiles][slice / 8][4];
template <int filter>
static constexpr int hopper_tile_bytes = (span<filter> * span<filter> * row_bytes + 1023) / 1024 *
					 1024;

/* Where things are in shared memory, which begins with the tiles.  Each barrier says that the input, or
 * a stage, is full; the one 8 bytes after it that it is empty again. */
template <int filter> static constexpr int stages_at = hopper_tiles *hopper_tile_bytes<filter>;
template <int filter>
static constexpr int input_barrier_at = stages_at<filter> + hopper_stages *stage_bytes;
template <int filter> static constexpr int stage_barriers_at = input_barrier_at<filter> + 16;
template <int filter>
static constexpr int hopper_shared_bytes = stage_barriers_at<filter> + 16 * hopper_stages;

/* For one thread: the weights of a step, as soon as their stage is empty. */
template <int filter>
static __device__ void load_step(uint32_t memory, const struct conv_maps &maps, int step,
				 int slices)
{
	const int positions = filter * filter;
	int stage = step % hopper_stages;
	uint32_t barrier = memory + stage_barriers_at<filter> + 16 * stage;

	if (step >= positions * slices)
		return;
	barrier_wait(barrier + 8, (step / hopper_stages + 1) % 2);
	barrier_expect(barrier, stage_bytes);
	load_tile(memory + stages_at<filter> + stage * stage_bytes, &maps.weights, barrier,
		  step / positions * slice, step % positions, blockIdx.x % slices * slice);
}

/* Likewise 64 channels of the block's tiles with their rim. */
template <int filter>
static __device__ void load_tiles(uint32_t memory, const struct conv_maps &maps, int chunk,
				  struct shape shape)
{
	const int span = ::span<filter>;
	int slices = shape.channels / slice;
	uint32_t barrier = memory + input_barrier_at<filter>;

	if (chunk >= slices)
		return;
	barrier_wait(barrier + 8, (chunk + 1) % 2);
	barrier_expect(barrier, hopper_tiles * span * span * row_bytes);
	for (int tile = 0; tile < hopper_tiles; tile++) {
		struct place place = place_of(blockIdx.x / slices * hopper_tiles + tile, shape);

		load_tile(memory + tile * hopper_tile_bytes<filter>, &maps.x, barrier,
			  chunk * slice, place.x - rim<filter>, place.y - rim<filter>, place.image);
	}
}

/* Output channels times pixels: the weights of a position, which all tiles share, come into registers,
 * and pixels are read where they lie, shifted by the position. */
template <int filter>
static __device__ void multiply_hopper(hopper_sums &sums, uint32_t memory, int step, int position)
{
	const int span = ::span<filter>;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int shift = position / filter * span + position % filter;
	uint32_t stage = memory + stages_at<filter> + step % hopper_stages * stage_bytes;
	uint32_t weights[slice / 16][4];
	uint64_t pixels = tile_descriptor(memory + shift * row_bytes, span * row_bytes);

	wgmma_wait<0>(); /* the last step's have read their weights */
#pragma unroll
	for (int k = 0; k < slice / 16; k++)
		load_fragment(weights[k],
			      stage + swizzled(16 * warp + lane % 16, 2 * k + lane / 16));
	wgmma_begin();
#pragma unroll
	for (int k = 0; k < slice / 16; k++)
#pragma unroll
		for (int i = 0; i < hopper_tiles; i++)
			wgmma64(sums[i], weights[k],
				pixels + (i * hopper_tile_bytes<filter> + 32 * k) / 16, step || k);
	wgmma_commit();
}

/* A warp has 16 output channels of all pixels: two fragments side by side become rows of pixels. */
static __device__ void stage_hopper(uint32_t output, const hopper_sums &sums, struct folded folded)
{
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = 16 * warp + lane / 4;
	float scale[2] = {folded.scale[channel], folded.scale[channel + 8]};
	float bias[2] = {folded.bias[channel], folded.bias[channel + 8]};

#pragma unroll
	for (int i = 0; i < hopper_tiles * slice / 16; i++) {
		uint32_t pairs[4]; /* of pixels: of two channels in two rows of the tile */

#pragma unroll
		for (int j = 0; j < 4; j++) {
			const float *sum = &sums[i / 4][i % 4 * 2 + j / 2][j % 2 * 2];
			__half2 pair =
				__floats2half2_rn(finished<true>(sum[0], scale[j % 2], bias[j % 2]),
						  finished<true>(sum[1], scale[j % 2],
								 bias[j % 2]));

			pairs[j] = *(const uint32_t *)&pair;
		}
		store_transposed(output + swizzled(16 * i + lane / 16 * 8 + lane % 8,
						   2 * warp + lane / 8 % 2),
				 pairs);
	}
}

template <int filter>
static __global__ void __launch_bounds__(conv_threads, hopper_blocks)
	hopper_kernel(const __grid_constant__ struct conv_maps maps, struct folded folded,
		      struct shape shape)
{
	extern __shared__ __align__(1024) char memory_start[];
	const int positions = filter * filter;
	uint32_t memory = shared_address(memory_start);
	uint32_t input_barrier = memory + input_barrier_at<filter>;
	int slices = shape.channels / slice, first_out = blockIdx.x % slices * slice;
	hopper_sums sums;

	if (!HAS_WGMMA)
		return; /* nobody launches it */
	if (threadIdx.x == 0) {
		for (int i = 0; i < hopper_stages + 1; i++) {
			barrier_init(input_barrier + 16 * i, 1);
			barrier_init(input_barrier + 16 * i + 8, conv_threads / 32);
		}
		barrier_publish();
		load_tiles<filter>(memory, maps, 0, shape);
		for (int step = 0; step < hopper_stages; step++)
			load_step<filter>(memory, maps, step, slices);
	}
	__syncthreads();
#pragma unroll 1
	for (int chunk = 0; chunk < slices; chunk++) {
		barrier_wait(input_barrier, chunk % 2);
#pragma unroll 1
		for (int position = 0; position < positions; position++) {
			int step = chunk * positions + position;
			uint32_t barrier =
				memory + stage_barriers_at<filter> + 16 * (step % hopper_stages);

			barrier_wait(barrier, step / hopper_stages % 2);
			multiply_hopper<filter>(sums, memory, step, position);
			if (threadIdx.x % 32 == 0) /* this warp's weights are in registers */
				barrier_arrive(barrier + 8);
			if (threadIdx.x == 0)
				load_step<filter>(memory, maps, step + hopper_stages, slices);
		}
		wgmma_wait<0>();
		if (threadIdx.x % 32 == 0)
			barrier_arrive(input_barrier + 8);
		if (threadIdx.x == 0)
			load_tiles<filter>(memory, maps, chunk + 1, shape);
	}
	__syncthreads();
	stage_hopper(memory, sums, {folded.scale + first_out, folded.bias + first_out});
	wgmma_publish();
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	for (int tile = 0; tile < hopper_tiles; tile++) {
		struct place place = place_of(blockIdx.x / slices * hopper_tiles + tile, shape);

		if (place.image >= 0)
			store_tile(&maps.v, memory + tile * tile_pixels * row_bytes, first_out,
				   place.x, place.y, place.image);
	}
	store_tile_commit();
	store_tile_wait();
}

static void one_wgmma(problem &p)
{
	with_filter(p, [&](auto filter) {
		const int bytes = hopper_shared_bytes<filter>;
		unsigned grid = conv_blocks(p, hopper_tiles) * (p.shape.channels / slice);

		CUDA_LAUNCH(hopper_kernel<filter>
			    <<<grid, conv_threads, bytes>>>(p.maps, p.folded, p.shape));
	});
	pool<false>(p, p.nhwc);
}

static void setup_wgmma(problem &p)
{
	cuuint64_t c = p.shape.channels, w = p.shape.width, n = p.shape.images;
	cuuint64_t positions = p.filter * p.filter;
	cuuint32_t span = tile_width + p.filter - 1;

	p.is_nchw = false;
	p.maps = {tile_map(p.nhwc.x, {c, w, w, n}, {slice, span, span, 1}),
		  tile_map(p.weights, {c, positions, c}, {slice, 1, slice}),
		  tile_map(p.nhwc.v, {c, w, w, n}, {slice, tile_width, tile_width, 1})};
	with_filter(p, [&](auto filter) {
		ask_for_shared_memory(hopper_kernel<filter>, hopper_shared_bytes<filter>);
	});
}

/* ---- fused by cuDNN ---- */

#if ROOFLINE_HAS_CUDNN

/* Makes what setup_cudnn then chooses from: only making it shows that cuDNN can. */
template <bool is_nchw> static const char *why_no_cudnn(problem &p)
{
	struct layout &a = layout_of<is_nchw>(p);

	if (cudnn_why_missing())
		return cudnn_why_missing();
	p.cudnn =
		cudnn_prepare({p.shape.images, p.shape.width, p.shape.channels, p.filter, is_nchw},
			      {a.x, is_nchw ? p.weights_nchw : p.weights, p.folded.scale,
			       p.folded.bias, a.v});
	if (!p.cudnn.plans.empty())
		return nullptr;
	cudnn_release(&p.cudnn);
	return "this cuDNN has no fused kernel for these sizes and this layout on this GPU";
}

template <bool is_nchw> static void setup_cudnn(problem &p)
{
	p.is_nchw = is_nchw;
	cudnn_choose(&p.cudnn);
}

template <bool is_nchw> static void one_cudnn(problem &p)
{
	cudnn_run(&p.cudnn, p.cudnn.best);
	pool<is_nchw>(p, layout_of<is_nchw>(p));
}

static void teardown_cudnn(problem &p)
{
	cudnn_release(&p.cudnn);
}

#endif

/* ---- the problem ---- */

/* By its place in NHWC, and for weights in [output channel][F][F][input channel]. */
static __host__ __device__ int x_at(uint64_t index)
{
	return (int)(hash_of(index, 1) % 3) - 1;
}

static __host__ __device__ int weight_at(uint64_t index)
{
	return (int)(hash_of(index, 2) % 3) - 1;
}

/* Both layouts, from one value each. */
static __global__ void fill_x_kernel(__half *nhwc, __half *nchw, struct shape shape, long count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x, pixel = i / shape.channels;
	int channel = i % shape.channels, x = pixel % shape.width;
	long row = pixel / shape.width;

	if (i >= count)
		return;
	nhwc[i] = __int2half_rn(x_at(i));
	nchw[index_nchw(shape, row / shape.width, row % shape.width, x, channel)] =
		__int2half_rn(x_at(i));
}

static __global__ void fill_weights_kernel(__half *nhwc, __half *nchw, int positions, int channels)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int in = i % channels, position = i / channels % positions, out = i / channels / positions;

	if (i >= channels * positions * channels)
		return;
	nhwc[i] = __int2half_rn(weight_at(i));
	nchw[(out * channels + in) * positions + position] = __int2half_rn(weight_at(i));
}

/* Statistics as training may leave them: of sums with a variance of 4 / 9 a product. */
static void fold(problem &p)
{
	float products = (float)p.filter * p.filter * p.shape.channels;

	for (int k = 0; k < p.shape.channels; k++) {
		float gamma = 0.5f + k % 7 / 6.0f, beta = k % 5 / 4.0f - 0.5f;
		float mean = k % 9 - 4.0f, variance = products * (0.4f + k % 3 / 10.0f);

		p.scale_of.push_back(gamma / std::sqrt(variance + epsilon));
		p.bias_of.push_back(beta - mean * p.scale_of[k]);
	}
	p.folded = {device_copy(p.scale_of), device_copy(p.bias_of)};
}

static struct layout arrays(long count)
{
	return {device_array<__half>(count), device_array<__half>(count),
		device_array<__half>(count), device_array<__half>(count),
		device_array<__half>(count / 4)};
}

static void prepare(problem &p, long size, int)
{
	long pixels = image_width * image_width;
	long weights = filter_width * filter_width * channel_count * channel_count;

	p.shape = {(int)((size + pixels - 1) / pixels), (int)image_width, (int)channel_count};
	p.filter = filter_width;
	p.nhwc = arrays(value_count(p));
	p.nchw = arrays(value_count(p));
	p.weights = device_array<__half>(weights);
	p.weights_nchw = device_array<__half>(weights);
	fold(p);
	CUDA_LAUNCH(fill_x_kernel<<<blocks(value_count(p)), block_size>>>(p.nhwc.x, p.nchw.x,
									  p.shape, value_count(p)));
	CUDA_LAUNCH(fill_weights_kernel<<<blocks(weights), block_size>>>(p.weights, p.weights_nchw,
									 p.filter * p.filter,
									 p.shape.channels));
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	struct layout &a = p.is_nchw ? p.nchw : p.nhwc;
	size_t bytes = value_count(p) * sizeof(__half);

	for (__half *array : {a.t, a.u, a.v})
		CUDA_CHECK(cudaMemset(array, 0xff, bytes));
	CUDA_CHECK(cudaMemset(a.z, 0xff, bytes / 4));
}

/* ---- the scalar reference ---- */

static float reference_sum(const problem &p, int image, int y, int x, int k)
{
	int reach = p.filter / 2, sum = 0;

	for (int r = 0; r < p.filter; r++)
		for (int s = 0; s < p.filter; s++) {
			int at_y = y + r - reach, at_x = x + s - reach;
			uint64_t weight = ((uint64_t)k * p.filter + r) * p.filter + s;

			if (at_y < 0 || at_y >= p.shape.width || at_x < 0 || at_x >= p.shape.width)
				continue;
			for (int c = 0; c < p.shape.channels; c++)
				sum += x_at(index_nhwc(p.shape, image, at_y, at_x, c)) *
				       weight_at(weight * p.shape.channels + c);
		}
	return sum;
}

static float reference(const problem &p, int image, int y, int x, int k)
{
	float largest = 0;

	for (int corner = 0; corner < 4; corner++) {
		float sum = reference_sum(p, image, 2 * y + corner / 2, 2 * x + corner % 2, k);

		largest = fmaxf(largest, fmaf(p.scale_of[k], sum, p.bias_of[k]));
	}
	return __half2float(__float2half_rn(largest));
}

static uint16_t bits_of(float value)
{
	__half half = __float2half_rn(value);
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return bits;
}

/* Values of z that are looked at: all of small images, else so many at random. */
static const long checked_values = 8192;

static struct difference check(const problem &p)
{
	const struct layout &a = p.is_nchw ? p.nchw : p.nhwc;
	struct shape pooled = {p.shape.images, p.shape.width / 2, p.shape.channels};
	long count = value_count(p) / 4, checked = std::min(count, checked_values);
	std::vector<__half> found(count);

	CUDA_CHECK(cudaMemcpy(found.data(), a.z, count * sizeof(__half), cudaMemcpyDeviceToHost));
	for (long n = 0; n < checked; n++) {
		long i = count == checked ? n : (long)hash_of(n, 3) * 2654435761u % count;
		int k = i % pooled.channels, x = i / pooled.channels % pooled.width;
		int y = i / pooled.channels / pooled.width % pooled.width;
		int image = i / pooled.channels / pooled.width / pooled.width;
		size_t at = p.is_nchw ? index_nchw(pooled, image, y, x, k) : i;
		float value = __half2float(found[at]), expected = reference(p, image, y, x, k);

		if (!(fabsf(value - expected) <= expected / 1024))
			return {(long)at, bits_of(value), bits_of(expected)};
	}
	return {-1, 0, 0};
}

static void release(problem &p)
{
	for (struct layout a : {p.nhwc, p.nchw})
		for (__half *array : {a.x, a.t, a.u, a.v, a.z})
			CUDA_CHECK(cudaFree(array));
	CUDA_CHECK(cudaFree(p.weights));
	CUDA_CHECK(cudaFree(p.weights_nchw));
	CUDA_CHECK(cudaFree(p.folded.scale));
	CUDA_CHECK(cudaFree(p.folded.bias));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "four kernels: convolution, normalization, ReLU, pooling; NHWC",
	 run<one_naive<false>>, setup<false>},
	{"fused", "two: the convolution finishes its sums itself, then pooling",
	 run<one_fused<false, false>>, setup<false>},
	{"graph", "fused, and the two kernels in a graph", run_graph,
	 setup_graph<one_fused<false, false>>, teardown_graph},
	{"wgmma", "fused, with the tensor cores' instruction of Hopper", run<one_wgmma>,
	 setup_wgmma, nullptr, why_no_wgmma},
#if ROOFLINE_HAS_CUDNN
	{"cudnn", "fused by cuDNN, then our pooling", run<one_cudnn<false>>, setup_cudnn<false>,
	 teardown_cudnn, why_no_cudnn<false>},
#endif
	{"nchw_naive", "naive in NCHW", run<one_naive<true>>, setup<true>, nullptr, nullptr,
	 "nchw_naive"},
	{"nchw_fused", "fused in NCHW", run<one_fused<true, false>>, setup<true>, nullptr, nullptr,
	 "nchw_naive"},
	{"nchw_wgmma", "wgmma in NCHW", run<one_fused<true, true>>, setup<true>, nullptr,
	 why_no_wgmma, "nchw_naive"},
#if ROOFLINE_HAS_CUDNN
	{"nchw_cudnn", "cudnn in NCHW", run<one_cudnn<true>>, setup_cudnn<true>, teardown_cudnn,
	 why_no_cudnn<true>, "nchw_naive"},
#endif
};

static const struct workload<problem> fuse_conv_bn_relu = {
	.name = "fuse_conv_bn_relu", .size = 256 * 56 * 56, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.parameters = {
		{"width", "pixels in a row of an image, and rows", 8, 1024, 8, &image_width},
		{"channels", "of the input and of the output", 64, 1024, 64, &channel_count},
		{"filter", "width of the filter: 1, 3 or 5", 1, 5, 2, &filter_width},
	},
};
RUN_WORKLOAD(fuse_conv_bn_relu)
