/*
 * overfused (E6): a control.  A chain of nine steps, fused to growing degrees until registers spill.
 *
 * The chain is a Walsh-Hadamard transform of columns of 512 values.  Step s makes of each two values
 * that are 2^s places apart their sum and their difference.  A kernel that does d steps with what a
 * thread has in registers needs 2^d values of a column at once, all of them live from the first of
 * its steps to the last:
 *
 *   variant  kernels            live values  bytes of DRAM
 *   single   9 of one step                2           72 n
 *   three    3 of three steps             8           24 n
 *   naive    five steps and four    32 / 16           16 n
 *   seven    seven steps and two   128 /  4           16 n
 *   limited  likewise, but with so few registers a thread that as many warps fit as in naive
 *   nine     one of all nine            512            8 n
 *
 * for n values.  A thread has at most 255 registers, so nine keeps half of its values in local memory,
 * and limited more than that.  Each kernel reads and writes each value once, 8 n bytes.
 *
 * FLOPs of one iteration, of all variants: one addition or subtraction a value and step, 9 n.
 *
 * The values are whole numbers under 2^24 throughout, so that every variant has the same result.
 */
#include "workload.cuh"

static const int steps = 9;
static const int column = 1 << steps;
static const int block_size = 256;
static const int width = 1024;	/* columns that lie beside one another, place by place */
static const int classes = 251; /* different columns */

struct problem {
	long columns; /* a multiple of width */
	float *x, *z;
	std::vector<float> expected; /* [classes][column] */
};

/* From -8 to 7. */
static __host__ __device__ float x_at(long c, int place)
{
	uint32_t mixed = ((uint32_t)(c % classes) * column + place) * 2654435769u;

	return (float)(mixed >> 28) - 8;
}

/* Values of a column are width apart, those of its neighbor beside them: what a warp loads at once is
 * 128 bytes. */
static __host__ __device__ size_t index_of(long c, int place)
{
	return ((size_t)(c / width) * column + place) * width + c % width;
}

/* ---- the kernels ---- */

/* So many steps from the first one on, in a thread's registers. */
template <int first, int count> static __device__ void transform(float *z, const float *x)
{
	const int values = 1 << count, groups = column / values;
	long thread = (long)blockIdx.x * block_size + threadIdx.x;
	long c = thread / width / groups * width + thread % width;
	int group = thread / width % groups;
	/* the bits of the place that these steps do not pair are the group's */
	int start = group >> first << (first + count) | (group & ((1 << first) - 1));
	float own[values];

	x += index_of(c, start);
	z += index_of(c, start);
#pragma unroll
	for (int i = 0; i < values; i++)
		own[i] = x[(i << first) * width];
#pragma unroll
	for (int s = 0; s < count; s++)
#pragma unroll
		for (int i = 0; i < values; i++)
			if (!(i >> s & 1)) {
				float a = own[i], b = own[i + (1 << s)];

				own[i] = a + b;
				own[i + (1 << s)] = a - b;
			}
#pragma unroll
	for (int i = 0; i < values; i++)
		z[(i << first) * width] = own[i];
}

template <int first, int count>
static __global__ void __launch_bounds__(block_size) steps_kernel(float *z, const float *x)
{
	transform<first, count>(z, x);
}

/* Six blocks on an SM, as in naive: 40 registers a thread. */
template <int first, int count>
static __global__ void __launch_bounds__(block_size, 6) limited_kernel(float *z, const float *x)
{
	transform<first, count>(z, x);
}

/* ---- variants ---- */

template <int count> static unsigned blocks(const problem &p)
{
	return p.columns * (column >> count) / block_size;
}

/* The first kernel of an iteration reads x, and z is what the others go on with. */
template <int first, int count> static void launch(const problem &p)
{
	CUDA_LAUNCH(steps_kernel<first, count>
		    <<<blocks<count>(p), block_size>>>(p.z, first ? p.z : p.x));
}

static void run_single(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<0, 1>(p);
		launch<1, 1>(p);
		launch<2, 1>(p);
		launch<3, 1>(p);
		launch<4, 1>(p);
		launch<5, 1>(p);
		launch<6, 1>(p);
		launch<7, 1>(p);
		launch<8, 1>(p);
	}
}

static void run_three(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<0, 3>(p);
		launch<3, 3>(p);
		launch<6, 3>(p);
	}
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<0, 5>(p);
		launch<5, 4>(p);
	}
}

static void run_seven(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<0, 7>(p);
		launch<7, 2>(p);
	}
}

static void run_limited(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_LAUNCH(limited_kernel<0, 7><<<blocks<7>(p), block_size>>>(p.z, p.x));
		launch<7, 2>(p);
	}
}

static void run_nine(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		launch<0, 9>(p);
}

/* ---- the problem ---- */

static __global__ void fill_kernel(float *x)
{
	long i = (long)blockIdx.x * block_size + threadIdx.x;
	long c = i / width / column * width + i % width;

	x[i] = x_at(c, i / width % column);
}

/* The scalar reference, of one column of each class. */
static std::vector<float> reference()
{
	std::vector<float> z((size_t)classes * column);

	for (int c = 0; c < classes; c++) {
		float *own = &z[(size_t)c * column];

		for (int i = 0; i < column; i++)
			own[i] = x_at(c, i);
		for (int distance = 1; distance < column; distance *= 2)
			for (int i = 0; i < column; i++)
				if (!(i & distance)) {
					float a = own[i], b = own[i + distance];

					own[i] = a + b;
					own[i + distance] = a - b;
				}
	}
	return z;
}

static void prepare(problem &p, long size, int)
{
	size_t count;

	p.columns = (size + (long)column * width - 1) / ((long)column * width) * width;
	count = (size_t)p.columns * column;
	p.x = device_array<float>(count);
	p.z = device_array<float>(count);
	CUDA_LAUNCH(fill_kernel<<<count / block_size, block_size>>>(p.x));
	p.expected = reference();
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.z, 0xff, (size_t)p.columns * column * sizeof(*p.z)));
}

static struct difference check(const problem &p)
{
	return compare_each(p.z, p.columns * column, [&p](long i) {
		long c = i / width / column * width + i % width;

		return p.expected[c % classes * column + i / width % column];
	});
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.x));
	CUDA_CHECK(cudaFree(p.z));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "two kernels, of five steps and of four: 32 live values a thread", run_naive},
	{"single", "a kernel a step", run_single},
	{"three", "three kernels of three steps: 8 live values", run_three},
	{"seven", "two kernels, of seven steps and of two: 128 live values", run_seven},
	{"limited", "likewise, but the first may use 40 registers: it spills", run_limited},
	{"nine", "one kernel: 512 live values, which spill", run_nine},
};

static const struct workload<problem> overfused = {
	.name = "overfused", .size = 1 << 26, .iterations = 50, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(overfused)
