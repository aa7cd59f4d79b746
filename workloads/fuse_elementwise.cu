/*
 * fuse_elementwise (E1): chains of elementwise kernels, and what each hands to the next.
 *
 * Three chains, as a framework runs them when every operation is a kernel of its own:
 *   t = x + y, z = s t                         add, scale
 *   t = relu(x), z = t + bias                  relu, bias
 *   t = gelu(x), u = dropout(t), z = s u       gelu, dropout, scale
 * Each kernel but the last of a chain writes an array that only the next one reads.  Fused, it
 * stays in a register.  All kernels of a chain have the same grid, one thread a value; the chains
 * work on arrays of different lengths, n / 2, 3 n / 4 and n, each larger than the L2 cache.
 *
 * Bytes of one iteration over n (--size), each array read and written once:
 *   naive  (12 + 8) n / 2 + (8 + 8) 3 n / 4 + 3 * 8 n = 46 n
 *   fused  12 n / 2 + 8 * 3 n / 4 + 8 n               = 20 n
 *
 * Dropout takes its random numbers from a hash of the index.  In naive_mask and fused_mask it reads a
 * mask instead, one byte a value, as a framework does that has drawn the numbers before: n more bytes.
 *
 * Beside these there are two chains in which nothing but a ReLU follows, over n / 2 and 3 n / 4 values:
 *   t = x + y, z = relu(t)                     add, relu
 *   t = x y + 1, z = relu(t)                   multiply-add, relu
 *   naive_relu               (12 + 8) n / 2 + (12 + 8) 3 n / 4 = 25 n
 *   fused_relu, vector4_relu       12 n / 2 + 12 * 3 n / 4     = 15 n
 * Their FLOPs are n / 2 additions and 3 n / 4 FMAs: 2 n.
 *
 * GELU has its tanh as a quotient of polynomials, with every FMA written out: host and device
 * agree to the last bit, and so do all variants.
 */
#include <algorithm>

#include "workload.cuh"

static const int block_size = 256;
static const int pattern = 1024; /* different values of x, of y, and of the bias */
static const float factor = 1.5f;
static const float kept_share = 0.75f;
static const uint32_t dropped_below = 1U << 30; /* of 2^32 random numbers a quarter */
static const uint32_t dropout_seed = 2026;

struct problem {
	long add_size, relu_size, gelu_size; /* values of each chain */
	float *x, *y, *bias;
	uint8_t *mask;			/* 0: dropped */
	bool is_relu;			/* the two chains that end in a ReLU; set by a setup */
	float *t, *u;			/* what a kernel leaves to the next one */
	float *add_z, *relu_z, *gelu_z; /* results */
};

/* ---- operations: the same code on host and device ---- */

/* Multiples of 1 / 128 from -4 to 4. */
static __host__ __device__ float x_at(long i)
{
	return (i % pattern - pattern / 2) / 128.0f;
}

static __host__ __device__ float y_at(long i)
{
	return (i / pattern % pattern - pattern / 2) / 128.0f;
}

static __host__ __device__ float bias_at(long i)
{
	return i % pattern / 64.0f;
}

static __host__ __device__ float scaled(float x)
{
	return factor * x;
}

static __host__ __device__ float relu(float x)
{
	return x > 0 ? x : 0;
}

/* A continued fraction of tanh, cut off: within 0.0001 of it. */
static __host__ __device__ float tanh_quotient(float x)
{
	float square = x * x;
	float above = fmaf(fmaf(square + 378, square, 17325), square, 135135);
	float below = fmaf(fmaf(fmaf(28, square, 3150), square, 62370), square, 135135);
	float quotient = x * above / below;

	return quotient > 1 ? 1 : quotient < -1 ? -1 : quotient;
}

/* The form with tanh (Hendrycks and Gimpel, 2016). */
static __host__ __device__ float gelu(float x)
{
	float inner = x * fmaf(0.035677408f, x * x, 0.79788456f);

	return 0.5f * x * (1 + tanh_quotient(inner));
}

/* A generator without state: value i has the same random number in every variant.  The mixing steps
 * are those that end MurmurHash3. */
static __host__ __device__ uint32_t random_of(uint32_t i)
{
	uint32_t x = i ^ dropout_seed;

	x = (x ^ x >> 16) * 0x85ebca6bU;
	x = (x ^ x >> 13) * 0xc2b2ae35U;
	return x ^ x >> 16;
}

static __host__ __device__ bool is_kept(long i)
{
	return random_of((uint32_t)i) >= dropped_below;
}

static __host__ __device__ float dropout_by(float x, bool kept)
{
	return kept ? x * (1 / kept_share) : 0;
}

static __host__ __device__ float dropout(float x, long i)
{
	return dropout_by(x, is_kept(i));
}

static __host__ __device__ float multiply_add(float x, float y)
{
	return fmaf(x, y, 1);
}

/* The chains. */
static __host__ __device__ float add_scale(float x, float y)
{
	return scaled(x + y);
}

static __host__ __device__ float relu_bias(float x, float bias)
{
	return relu(x) + bias;
}

static __host__ __device__ float gelu_dropout_scale(float x, long i)
{
	return scaled(dropout(gelu(x), i));
}

static __host__ __device__ float gelu_mask_scale(float x, bool kept)
{
	return scaled(dropout_by(gelu(x), kept));
}

static __host__ __device__ float add_relu(float x, float y)
{
	return relu(x + y);
}

static __host__ __device__ float multiply_add_relu(float x, float y)
{
	return relu(multiply_add(x, y));
}

/* ---- one kernel an operation ---- */

static __device__ long thread_index()
{
	return (long)blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void add_kernel(float *z, const float *x, const float *y, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = x[i] + y[i];
}

static __global__ void scale_kernel(float *z, const float *x, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = scaled(x[i]);
}

static __global__ void relu_kernel(float *z, const float *x, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = relu(x[i]);
}

static __global__ void bias_kernel(float *z, const float *x, const float *bias, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = x[i] + bias[i % pattern];
}

static __global__ void gelu_kernel(float *z, const float *x, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = gelu(x[i]);
}

static __global__ void dropout_kernel(float *z, const float *x, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = dropout(x[i], i);
}

static __global__ void mask_kernel(float *z, const float *x, const uint8_t *mask, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = dropout_by(x[i], mask[i]);
}

static __global__ void multiply_add_kernel(float *z, const float *x, const float *y, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = multiply_add(x[i], y[i]);
}

/* ---- one kernel a chain ---- */

static __global__ void add_scale_kernel(float *z, const float *x, const float *y, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = add_scale(x[i], y[i]);
}

static __global__ void relu_bias_kernel(float *z, const float *x, const float *bias, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = relu_bias(x[i], bias[i % pattern]);
}

static __global__ void gelu_dropout_scale_kernel(float *z, const float *x, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = gelu_dropout_scale(x[i], i);
}

static __global__ void add_relu_kernel(float *z, const float *x, const float *y, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = add_relu(x[i], y[i]);
}

static __global__ void multiply_add_relu_kernel(float *z, const float *x, const float *y, long size)
{
	long i = thread_index();

	if (i < size)
		z[i] = multiply_add_relu(x[i], y[i]);
}

/* ---- likewise, with four values a thread and 16 bytes a load ---- */

static __global__ void add_scale4_kernel(float *z, const float *x, const float *y, long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i), b = *(const float4 *)(y + i);

		*(float4 *)(z + i) = {add_scale(a.x, b.x), add_scale(a.y, b.y), add_scale(a.z, b.z),
				      add_scale(a.w, b.w)};
		return;
	}
#pragma unroll 1 /* at most one thread comes here */
	for (; i < size; i++)
		z[i] = add_scale(x[i], y[i]);
}

static __global__ void relu_bias4_kernel(float *z, const float *x, const float *bias, long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i), b = *(const float4 *)(bias + i % pattern);

		*(float4 *)(z + i) = {relu_bias(a.x, b.x), relu_bias(a.y, b.y), relu_bias(a.z, b.z),
				      relu_bias(a.w, b.w)};
		return;
	}
#pragma unroll 1
	for (; i < size; i++)
		z[i] = relu_bias(x[i], bias[i % pattern]);
}

static __global__ void gelu_dropout_scale4_kernel(float *z, const float *x, long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i);

		*(float4 *)(z + i) = {gelu_dropout_scale(a.x, i), gelu_dropout_scale(a.y, i + 1),
				      gelu_dropout_scale(a.z, i + 2),
				      gelu_dropout_scale(a.w, i + 3)};
		return;
	}
#pragma unroll 1
	for (; i < size; i++)
		z[i] = gelu_dropout_scale(x[i], i);
}

/* The mask's four bytes are one load as well. */
static __global__ void gelu_mask_scale4_kernel(float *z, const float *x, const uint8_t *mask,
					       long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i);
		uchar4 kept = *(const uchar4 *)(mask + i);

		*(float4 *)(z + i) = {gelu_mask_scale(a.x, kept.x), gelu_mask_scale(a.y, kept.y),
				      gelu_mask_scale(a.z, kept.z), gelu_mask_scale(a.w, kept.w)};
		return;
	}
#pragma unroll 1
	for (; i < size; i++)
		z[i] = gelu_mask_scale(x[i], mask[i]);
}

static __global__ void add_relu4_kernel(float *z, const float *x, const float *y, long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i), b = *(const float4 *)(y + i);

		*(float4 *)(z + i) = {add_relu(a.x, b.x), add_relu(a.y, b.y), add_relu(a.z, b.z),
				      add_relu(a.w, b.w)};
		return;
	}
#pragma unroll 1
	for (; i < size; i++)
		z[i] = add_relu(x[i], y[i]);
}

static __global__ void multiply_add_relu4_kernel(float *z, const float *x, const float *y,
						 long size)
{
	long i = 4 * thread_index();

	if (i + 4 <= size) {
		float4 a = *(const float4 *)(x + i), b = *(const float4 *)(y + i);

		*(float4 *)(z + i) = {multiply_add_relu(a.x, b.x), multiply_add_relu(a.y, b.y),
				      multiply_add_relu(a.z, b.z), multiply_add_relu(a.w, b.w)};
		return;
	}
#pragma unroll 1
	for (; i < size; i++)
		z[i] = multiply_add_relu(x[i], y[i]);
}

/* ---- variants ---- */

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

/* Blocks for four values a thread. */
static unsigned blocks4(long size)
{
	return blocks((size + 3) / 4);
}

/* The first two chains, an operation a kernel. */
static void launch_short(problem &p)
{
	unsigned add = blocks(p.add_size), relu = blocks(p.relu_size);

	CUDA_LAUNCH(add_kernel<<<add, block_size>>>(p.t, p.x, p.y, p.add_size));
	CUDA_LAUNCH(scale_kernel<<<add, block_size>>>(p.add_z, p.t, p.add_size));

	CUDA_LAUNCH(relu_kernel<<<relu, block_size>>>(p.t, p.x, p.relu_size));
	CUDA_LAUNCH(bias_kernel<<<relu, block_size>>>(p.relu_z, p.t, p.bias, p.relu_size));
}

static void run_naive(problem &p, int iterations)
{
	unsigned gelu = blocks(p.gelu_size);

	for (int i = 0; i < iterations; i++) {
		launch_short(p);
		CUDA_LAUNCH(gelu_kernel<<<gelu, block_size>>>(p.t, p.x, p.gelu_size));
		CUDA_LAUNCH(dropout_kernel<<<gelu, block_size>>>(p.u, p.t, p.gelu_size));
		CUDA_LAUNCH(scale_kernel<<<gelu, block_size>>>(p.gelu_z, p.u, p.gelu_size));
	}
}

static void run_naive_mask(problem &p, int iterations)
{
	unsigned gelu = blocks(p.gelu_size);

	for (int i = 0; i < iterations; i++) {
		launch_short(p);
		CUDA_LAUNCH(gelu_kernel<<<gelu, block_size>>>(p.t, p.x, p.gelu_size));
		CUDA_LAUNCH(mask_kernel<<<gelu, block_size>>>(p.u, p.t, p.mask, p.gelu_size));
		CUDA_LAUNCH(scale_kernel<<<gelu, block_size>>>(p.gelu_z, p.u, p.gelu_size));
	}
}

static void run_fused(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(add_scale_kernel<<<blocks(p.add_size), block_size>>>(p.add_z, p.x, p.y,
										 p.add_size));
		CUDA_LAUNCH(relu_bias_kernel<<<blocks(p.relu_size), block_size>>>(p.relu_z, p.x,
										  p.bias,
										  p.relu_size));
		CUDA_LAUNCH(gelu_dropout_scale_kernel<<<blocks(p.gelu_size), block_size>>>(
			p.gelu_z, p.x, p.gelu_size));
	}
}

/* The first two chains, a kernel each. */
static void launch_short4(problem &p)
{
	CUDA_LAUNCH(add_scale4_kernel<<<blocks4(p.add_size), block_size>>>(p.add_z, p.x, p.y,
									   p.add_size));
	CUDA_LAUNCH(relu_bias4_kernel<<<blocks4(p.relu_size), block_size>>>(p.relu_z, p.x, p.bias,
									    p.relu_size));
}

static void run_vector4(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_short4(p);
		CUDA_LAUNCH(gelu_dropout_scale4_kernel<<<blocks4(p.gelu_size), block_size>>>(
			p.gelu_z, p.x, p.gelu_size));
	}
}

static void run_fused_mask(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_short4(p);
		CUDA_LAUNCH(gelu_mask_scale4_kernel<<<blocks4(p.gelu_size), block_size>>>(
			p.gelu_z, p.x, p.mask, p.gelu_size));
	}
}

/* ---- variants of the chains that end in a ReLU ---- */

static void choose_relu(problem &p)
{
	p.is_relu = true;
}

static void choose_others(problem &p)
{
	p.is_relu = false;
}

static void run_naive_relu(problem &p, int iterations)
{
	unsigned add = blocks(p.add_size), multiply = blocks(p.relu_size);

	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(add_kernel<<<add, block_size>>>(p.t, p.x, p.y, p.add_size));
		CUDA_LAUNCH(relu_kernel<<<add, block_size>>>(p.add_z, p.t, p.add_size));

		CUDA_LAUNCH(
			multiply_add_kernel<<<multiply, block_size>>>(p.t, p.x, p.y, p.relu_size));
		CUDA_LAUNCH(relu_kernel<<<multiply, block_size>>>(p.relu_z, p.t, p.relu_size));
	}
}

static void run_fused_relu(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(add_relu_kernel<<<blocks(p.add_size), block_size>>>(p.add_z, p.x, p.y,
										p.add_size));
		CUDA_LAUNCH(multiply_add_relu_kernel<<<blocks(p.relu_size), block_size>>>(
			p.relu_z, p.x, p.y, p.relu_size));
	}
}

static void run_vector4_relu(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(add_relu4_kernel<<<blocks4(p.add_size), block_size>>>(p.add_z, p.x, p.y,
										  p.add_size));
		CUDA_LAUNCH(multiply_add_relu4_kernel<<<blocks4(p.relu_size), block_size>>>(
			p.relu_z, p.x, p.y, p.relu_size));
	}
}

/* ---- the problem ---- */

static __global__ void fill_kernel(float *x, uint8_t *mask, float *y, float *bias, long x_size,
				   long y_size)
{
	long i = thread_index();

	if (i < x_size) {
		x[i] = x_at(i);
		mask[i] = is_kept(i);
	}
	if (i < y_size)
		y[i] = y_at(i);
	if (i < pattern)
		bias[i] = bias_at(i);
}

static void prepare(problem &p, long size, int)
{
	p.add_size = size - size / 2;
	p.relu_size = size - size / 4;
	p.gelu_size = size;
	p.x = device_array<float>(size);
	p.mask = device_array<uint8_t>(size);
	p.y = device_array<float>(p.relu_size);
	p.bias = device_array<float>(pattern);
	p.t = device_array<float>(size);
	p.u = device_array<float>(size);
	p.add_z = device_array<float>(p.add_size);
	p.relu_z = device_array<float>(p.relu_size);
	p.gelu_z = device_array<float>(p.gelu_size);
	CUDA_LAUNCH(fill_kernel<<<blocks(std::max(size, (long)pattern)), block_size>>>(
		p.x, p.mask, p.y, p.bias, size, p.relu_size));
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.t, 0xff, p.gelu_size * sizeof(*p.t)));
	CUDA_CHECK(cudaMemset(p.u, 0xff, p.gelu_size * sizeof(*p.u)));
	CUDA_CHECK(cudaMemset(p.add_z, 0xff, p.add_size * sizeof(*p.add_z)));
	CUDA_CHECK(cudaMemset(p.relu_z, 0xff, p.relu_size * sizeof(*p.relu_z)));
	CUDA_CHECK(cudaMemset(p.gelu_z, 0xff, p.gelu_size * sizeof(*p.gelu_z)));
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

template <class function>
static struct difference compare_bits(const float *device, long size, function reference)
{
	return compare_each((const uint32_t *)device, size,
			    [reference](long i) { return bits_of(reference(i)); });
}

/* GELU of the few different values of x: what takes the host longest. */
static std::vector<float> gelu_of_pattern()
{
	std::vector<float> values(pattern);

	for (int i = 0; i < pattern; i++)
		values[i] = gelu(x_at(i));
	return values;
}

static struct difference check_relu(const problem &p)
{
	struct difference first = compare_bits(p.add_z, p.add_size,
					       [](long i) { return add_relu(x_at(i), y_at(i)); });

	if (first.index < 0)
		first = compare_bits(p.relu_z, p.relu_size,
				     [](long i) { return multiply_add_relu(x_at(i), y_at(i)); });
	return first;
}

static struct difference check_others(const problem &p)
{
	static const std::vector<float> gelus = gelu_of_pattern();
	const float *gelu_at = gelus.data();
	struct difference first = compare_bits(p.add_z, p.add_size,
					       [](long i) { return add_scale(x_at(i), y_at(i)); });

	if (first.index < 0)
		first = compare_bits(p.relu_z, p.relu_size,
				     [](long i) { return relu_bias(x_at(i), bias_at(i)); });
	if (first.index < 0)
		first = compare_bits(p.gelu_z, p.gelu_size, [gelu_at](long i) {
			return scaled(dropout(gelu_at[i % pattern], i));
		});
	return first;
}

static struct difference check(const problem &p)
{
	return p.is_relu ? check_relu(p) : check_others(p);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.mask));
	for (float *array : {p.x, p.y, p.bias, p.t, p.u, p.add_z, p.relu_z, p.gelu_z})
		CUDA_CHECK(cudaFree(array));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a kernel for each operation: seven launches an iteration", run_naive},
	{"fused", "a kernel for each chain: what is between stays in registers", run_fused},
	{"vector4", "fused, with four values a thread and loads of 16 bytes", run_vector4},
	{"naive_mask", "naive, with a dropout that reads a mask", run_naive_mask, nullptr, nullptr,
	 nullptr, "naive_mask"},
	{"fused_mask", "vector4, with a dropout that reads a mask", run_fused_mask, nullptr,
	 nullptr, nullptr, "naive_mask"},
	{"naive_relu", "a ReLU after x + y and after x y + 1: four launches", run_naive_relu,
	 choose_relu, choose_others, nullptr, "naive_relu"},
	{"fused_relu", "a kernel for each of these two chains", run_fused_relu, choose_relu,
	 choose_others, nullptr, "naive_relu"},
	{"vector4_relu", "likewise, with four values a thread", run_vector4_relu, choose_relu,
	 choose_others, nullptr, "naive_relu"},
};

static const struct workload<problem> fuse_elementwise = {
	.name = "fuse_elementwise", .size = 1 << 26, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(fuse_elementwise)
