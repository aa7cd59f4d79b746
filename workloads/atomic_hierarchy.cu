/*
 * atomic_hierarchy (A2): one sum of many values, and where its additions meet.
 *
 * Additions to one address are done one after the other.  A level in between, a warp, a block or a
 * group of blocks, adds up its own part first and passes on a single addition.
 *
 * One launch over n values, in b = ceil(n / 256) blocks: 4 n bytes read, no FLOPs (integers), and
 *   naive_kernel      n global atomics (RED) on one address, w warp instructions
 *   per_block_kernel  n shared atomics (ATOMS), w warp instructions; b global ones (RED)
 *   tree_kernel       b global atomics (RED) on one address
 *   two_level_kernel  b global ones (ATOM, 64 bits) on g addresses, and g (RED) on one
 * where w = ceil(n / 32) and g = min(b, 64).  A block issues each of its b or g in a warp
 * instruction of its own.
 */
#include "hot_address.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int warp_size = 32;
static const int groups = 64; /* of blocks, each with a counter of its own */

/* Counters of groups lie so many values apart, that no two share a sector or a line. */
static const int group_stride = 16;

/* A group's counter holds its sum in the low bits and, above, how many blocks have added to it. */
static const int sum_bits = 40;

typedef unsigned long long group_counter;

struct problem {
	int size;
	uint32_t *values, *total;
	group_counter *group;
	uint32_t expected; /* modulo 2^32, as the device adds */
};

static __global__ void naive_kernel(const uint32_t *values, int size, uint32_t *total, int shift)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		reduce_add(hot_address(total, shift), values[i]);
}

static __global__ void per_block_kernel(const uint32_t *values, int size, uint32_t *total,
					int shift)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__shared__ uint32_t block_total;

	if (threadIdx.x == 0)
		block_total = 0;
	__syncthreads();
	if (i < size)
		atomicAdd(hot_address(&block_total, shift), values[i]);
	__syncthreads();
	if (threadIdx.x == 0)
		reduce_add(total, block_total);
}

/* The sum over a warp, in its first lane. */
static __device__ uint32_t warp_sum(uint32_t x)
{
	for (int distance = warp_size / 2; distance > 0; distance /= 2)
		x += __shfl_down_sync(0xffffffff, x, distance);
	return x;
}

/* The sum over the block, in its first thread: warps first, then the sums of the warps. */
static __device__ uint32_t block_sum(const uint32_t *values, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__shared__ uint32_t of_warp[block_size / warp_size];
	uint32_t sum = warp_sum(i < size ? values[i] : 0);

	if (threadIdx.x % warp_size == 0)
		of_warp[threadIdx.x / warp_size] = sum;
	__syncthreads();
	if (threadIdx.x >= warp_size)
		return 0;
	return warp_sum(threadIdx.x < block_size / warp_size ? of_warp[threadIdx.x] : 0);
}

static __global__ void tree_kernel(const uint32_t *values, int size, uint32_t *total)
{
	uint32_t sum = block_sum(values, size);

	if (threadIdx.x == 0)
		reduce_add(total, sum);
}

/* The last block of a group finds the sum of the others in what its own addition returns, adds the
 * whole to the total and leaves the group's counter at 0 for the next launch. */
static __global__ void two_level_kernel(const uint32_t *values, int size, uint32_t *total,
					group_counter *group)
{
	group_counter *mine = group + blockIdx.x % groups * group_stride;
	uint32_t members = (gridDim.x - blockIdx.x % groups + groups - 1) / groups;
	uint32_t sum = block_sum(values, size);

	if (threadIdx.x != 0)
		return;
	group_counter before = atomicAdd(mine, ((group_counter)1 << sum_bits) + sum);

	if (before >> sum_bits != members - 1)
		return;
	reduce_add(total, (uint32_t)before + sum);
	*mine = 0;
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(naive_kernel<<<blocks(p), block_size>>>(p.values, p.size, p.total,
								    hidden_shift));
}

static void run_per_block(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(per_block_kernel<<<blocks(p), block_size>>>(p.values, p.size, p.total,
									hidden_shift));
}

static void run_tree(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(tree_kernel<<<blocks(p), block_size>>>(p.values, p.size, p.total));
}

static void run_two_level(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(two_level_kernel<<<blocks(p), block_size>>>(p.values, p.size, p.total,
									p.group));
}

/* Small numbers with no pattern: the top four bits of a product. */
static void prepare(problem &p, long size, int iterations)
{
	std::vector<uint32_t> values(size);
	uint32_t sum = 0;

	for (long i = 0; i < size; i++) {
		values[i] = (uint32_t)i * 2654435761u >> 28;
		sum += values[i];
	}
	p.size = size;
	p.expected = sum * (uint32_t)iterations;
	p.values = device_copy(values);
	p.total = device_array<uint32_t>(1);
	p.group = device_array<group_counter>(groups * group_stride);
	CUDA_CHECK(cudaMemset(p.group, 0, groups * group_stride * sizeof(*p.group)));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.total, 0, sizeof(*p.total)));
}

static struct difference check(const problem &p)
{
	return compare(p.total, std::vector<uint32_t>(1, p.expected));
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.total));
	CUDA_CHECK(cudaFree(p.group));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "every thread adds to one global counter", run_naive},
	{"per_block", "threads add to a shared counter, blocks to the global one", run_per_block},
	{"tree", "warps and blocks add up in registers, blocks to the global counter", run_tree},
	{"two_level", "as tree; blocks to 64 counters, the last of each to the total",
	 run_two_level},
};

static const struct workload<problem> atomic_hierarchy = {
	.name = "atomic_hierarchy", .size = 1 << 22, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(atomic_hierarchy)
