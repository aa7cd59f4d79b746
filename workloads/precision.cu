/*
 * precision (D5): a memory-bound operation, and the bytes that its values are stored in.
 *
 * z = a x + y is calculated in FP32 by every variant; only the storage differs.  Where the memory
 * sets the pace, half the bytes take half the time.  The values are small whole numbers that all
 * three formats hold exactly, so the results are the same to the last bit.
 *
 * One launch over n values stored in w bytes each (FP32 4, FP16 2, FP8 1):
 *   FLOPs  one FP32 FMA a value: 2 n
 *   bytes  2 w n read, w n written, each once
 * The FMA instructions (of threads) are n.  Each thread works on 16 bytes, that is 16 / w values.
 * FP16 and FP8 also convert: 2 n HADD2.F32, an FP16 addition by name that no FLOP stands behind.
 */
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "workload.cuh"

static const int block_size = 256;
static const float factor = 2;

/* The same values of x and y in each format, and room for z. */
template <class T> struct arrays {
	T *x, *y, *z;
};

struct problem {
	long size;
	struct arrays<float> fp32;
	struct arrays<__half> fp16;
	struct arrays<__nv_fp8_e4m3> fp8;
	struct difference (*check_current)(const problem &); /* of the variant under way */
	void (*reset_current)(problem &);
};

/* 0 .. 4, so that z is at most 12: e4m3 holds whole numbers up to 16. */
static __host__ __device__ int x_at(long i)
{
	return i % 5;
}

static __host__ __device__ int y_at(long i)
{
	return i / 5 % 5;
}

static __host__ __device__ int z_at(long i)
{
	return (int)factor * x_at(i) + y_at(i);
}

template <class T> static __global__ void fill_kernel(struct arrays<T> v, long size)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= size)
		return;
	v.x[i] = T((float)x_at(i));
	v.y[i] = T((float)y_at(i));
}

/* 16 bytes of values, moved with one load or store. */
template <class T> struct alignas(16) chunk {
	static const int length = 16 / sizeof(T);
	T value[length];
};

template <class T> static __global__ void axpy_kernel(struct arrays<T> v, float a, long size)
{
	const int length = chunk<T>::length;
	long i = length * ((long)blockIdx.x * blockDim.x + threadIdx.x);

	if (i + length <= size) {
		chunk<T> x = *(const chunk<T> *)(v.x + i), y = *(const chunk<T> *)(v.y + i), z;

#pragma unroll
		for (int k = 0; k < length; k++)
			z.value[k] = T(a * float(x.value[k]) + float(y.value[k]));
		*(chunk<T> *)(v.z + i) = z;
		return;
	}
#pragma unroll 1 /* at most one thread comes here */
	for (; i < size; i++)
		v.z[i] = T(a * float(v.x[i]) + float(v.y[i]));
}

static unsigned blocks(long threads)
{
	return (threads + block_size - 1) / block_size;
}

template <class T, struct arrays<T> problem::*format> static void run(problem &p, int iterations) {
	const int length = chunk<T>::length;
	long threads = (p.size + length - 1) / length;

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(axpy_kernel<T>
			    <<<blocks(threads), block_size>>>(p.*format, factor, p.size));
}

/* All bits set is no number in any of the formats: a value that nobody wrote cannot pass. */
template <class T, struct arrays<T> problem::*format>
static void reset_format(problem &p) {
	CUDA_CHECK(cudaMemset((p.*format).z, 0xff, p.size * sizeof(T)));
}

/* The bits of T of which the value is a whole number from 0 to 255. */
template <class bits, class T>
static std::vector<bits> bits_of_numbers()
{
	std::vector<bits> table(256);

	for (int number = 0; number < 256; number++) {
		T value = T((float)number);

		memcpy(&table[number], &value, sizeof(value));
	}
	return table;
}

/* Compares bits: a table of what the few values look like is faster than converting each. */
template <class T, class bits, struct arrays<T> problem::*format>
static struct difference check_format(const problem &p) {
	static_assert(sizeof(T) == sizeof(bits), "bits are to be as wide as the value");
	static const std::vector<bits> number = bits_of_numbers<bits, T>();
	const bits *table = number.data();

	return compare_each((const bits *)(p.*format).z, p.size,
			    [table](long i) { return table[z_at(i)]; });
}

template <class T, class bits, struct arrays<T> problem::*format>
static void choose(problem &p) {
	p.reset_current = reset_format<T, format>;
	p.check_current = check_format<T, bits, format>;
}

template <class T>
static struct arrays<T> filled(long size) {
	struct arrays<T> v = {
		device_array<T>(size), device_array<T>(size), device_array<T>(size)
	};

	CUDA_LAUNCH(fill_kernel<T><<<blocks(size), block_size>>>(v, size));
	return v;
}

template <class T>
static void release_arrays(const struct arrays<T> &v)
{
	CUDA_CHECK(cudaFree(v.x));
	CUDA_CHECK(cudaFree(v.y));
	CUDA_CHECK(cudaFree(v.z));
}

static void prepare(problem &p, long size, int)
{
	p.size = size;
	p.fp32 = filled<float>(size);
	p.fp16 = filled<__half>(size);
	p.fp8 = filled<__nv_fp8_e4m3>(size);
}

static void reset(problem &p)
{
	p.reset_current(p);
}

static struct difference check(const problem &p)
{
	return p.check_current(p);
}

static void release(problem &p)
{
	release_arrays(p.fp32);
	release_arrays(p.fp16);
	release_arrays(p.fp8);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "stored as FP32, 4 bytes a value", run<float, &problem::fp32>,
	 choose<float, uint32_t, &problem::fp32>},
	{"fp16", "stored as FP16, 2 bytes a value", run<__half, &problem::fp16>,
	 choose<__half, uint16_t, &problem::fp16>},
	{"fp8", "stored as FP8 (e4m3), 1 byte a value", run<__nv_fp8_e4m3, &problem::fp8>,
	 choose<__nv_fp8_e4m3, uint8_t, &problem::fp8>},
};

static const struct workload<problem> precision = {
	.name = "precision", .size = 1 << 26, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(precision)
