/*
 * persistent (A6): many small steps, each of which needs the whole one before it.
 *
 * A launch is the usual barrier between steps: the next kernel starts when the last one is done.
 * When a step is shorter than a launch, the barrier costs more than the work.  A persistent kernel
 * stays on the device for all steps and waits for its own blocks in between.
 */
#include <algorithm>
#include <cooperative_groups.h>

#include "workload.cuh"

struct problem {
	int size;
	uint32_t *values[2]; /* of size; a step reads one and writes the other */
	uint32_t *result;    /* the one that the last step writes */
	int persistent_blocks;
	std::vector<uint32_t> initial, expected;
	cudaStream_t stream;
};

static const int block_size = 256;

/* What stamps call the kernels. */
enum { STAMP_STEP, STAMP_PERSISTENT };
static const char *const stamp_names[] = {"step", "persistent"};

/* One value of a Jacobi step: the mean of both neighbors, disturbed so that no step is without
 * effect.  Integers, so host and device agree to the last bit; the ends are their own neighbors. */
static __host__ __device__ uint32_t next_value(const uint32_t *values, int i, int size)
{
	uint32_t left = values[i > 0 ? i - 1 : i], right = values[i + 1 < size ? i + 1 : i];

	return (left >> 1) + (right >> 1) + (values[i] * 747796405u >> 3);
}

static __global__ void step_kernel(const uint32_t *from, uint32_t *to, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (i < size)
		to[i] = next_value(from, i, size);
	stamp_end(&start_ns, STAMP_HOST, STAMP_STEP);
}

/* All blocks must be on the device at once, as each waits for every other: hence the cooperative
 * launch, which refuses a grid that does not fit. */
static __global__ void persistent_kernel(uint32_t *from, uint32_t *to, int size, int steps)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int threads = gridDim.x * blockDim.x;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	for (int step = 0; step < steps; step++) {
		uint32_t *written = to;

		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += threads)
			to[i] = next_value(from, i, size);
		grid.sync();
		to = from;
		from = written;
	}
	stamp_end(&start_ns, STAMP_HOST, STAMP_PERSISTENT);
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(step_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(
			p.values[i % 2], p.values[1 - i % 2], p.size));
}

static void run_persistent(problem &p, int iterations)
{
	void *arguments[] = {&p.values[0], &p.values[1], &p.size, &iterations};

	CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)persistent_kernel, p.persistent_blocks,
					       block_size, arguments, 0, p.stream));
}

/* As many blocks as the values need, and no more than fit on the device at once. */
static void setup_persistent(problem &p)
{
	int device, sm_count, blocks_per_sm;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, persistent_kernel,
								 block_size, 0));
	p.persistent_blocks = std::min(blocks(p.size), sm_count * blocks_per_sm);
}

static const char *why_not_cooperative(problem &)
{
	int device, supported;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
	return supported ? nullptr : "this GPU has no cooperative launch";
}

static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	std::vector<uint32_t> next(values.size());

	for (int iteration = 0; iteration < iterations; iteration++) {
		for (size_t i = 0; i < values.size(); i++)
			next[i] = next_value(values.data(), i, values.size());
		values.swap(next);
	}
	return values;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * 2891336453u;
	p.expected = reference(p.initial, iterations);
	for (uint32_t *&values : p.values)
		values = device_array<uint32_t>(size);
	p.result = p.values[iterations % 2];
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values[0], p.initial.data(), p.size * sizeof(*p.values[0]),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.values[1], 0, p.size * sizeof(*p.values[1])));
}

static struct difference check(const problem &p)
{
	return compare(p.result, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values[0]));
	CUDA_CHECK(cudaFree(p.values[1]));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "one launch a step, the stream keeps the order", run_naive},
	{"persistent", "one kernel for all steps, its blocks wait for each other", run_persistent,
	 setup_persistent, nullptr, why_not_cooperative},
};

static const struct workload<problem> persistent = {
	.name = "persistent", .size = 1 << 16, .iterations = 200, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(persistent)
