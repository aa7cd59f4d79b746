/*
 * work_queue.cuh - items of unequal cost, and two ways to hand them out.
 *
 * work_queue and work_queue_mild share all of this and differ only in where the costs lie.
 */
#ifndef ROOFLINE_WORK_QUEUE_CUH
#define ROOFLINE_WORK_QUEUE_CUH

#include "workload.cuh"

static const int block_size = 256;

struct problem {
	int items;
	int share; /* items that a block owns when they are handed out statically */
	uint32_t *cost;
	uint64_t *result;
	int *next;	  /* head of the queue: the first item that nobody has taken */
	int queue_blocks; /* grid of a persistent kernel */
	std::vector<uint64_t> expected;
};

/* One item: so many steps that depend on each other and that no compiler can shorten.  Integers, so
 * host and device agree to the last bit. */
static __host__ __device__ uint64_t work_on(int item, uint32_t steps)
{
	uint64_t x = item + 1;

	for (uint32_t step = 0; step < steps; step++)
		x = (x ^ (x >> 31)) * 6364136223846793005u;
	return x;
}

/* Static: block b owns the items from b * share on, whatever they cost. */
static __global__ void static_kernel(const uint32_t *cost, uint64_t *result, int items, int share)
{
	int begin = blockIdx.x * share;
	int end = min(begin + share, items);

	for (int item = begin + threadIdx.x; item < end; item += blockDim.x)
		result[item] = work_on(item, cost[item]);
}

/* Takes the next 32 items for this warp: one atomic by its first lane, told to the others. */
static __device__ int take_batch(int *next)
{
	int first = 0;

	if (threadIdx.x % warpSize == 0)
		first = atomicAdd(next, warpSize);
	return __shfl_sync(0xffffffff, first, 0);
}

/* Dynamic: a warp that is done takes the next batch, until there are none. */
static __global__ void queue_kernel(const uint32_t *cost, uint64_t *result, int items, int *next)
{
	int lane = threadIdx.x % warpSize;

	for (int first = take_batch(next); first < items; first = take_batch(next)) {
		int item = first + lane;

		if (item < items)
			result[item] = work_on(item, cost[item]);
	}
}

static int static_blocks(const problem &p)
{
	return (p.items + p.share - 1) / p.share;
}

static void run_static(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(static_kernel<<<static_blocks(p), block_size>>>(p.cost, p.result,
									    p.items, p.share));
}

static void run_queue(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemsetAsync(p.next, 0, sizeof(*p.next)));
		CUDA_LAUNCH(queue_kernel<<<static_blocks(p), block_size>>>(p.cost, p.result,
									   p.items, p.next));
	}
}

/* costs[i] is the number of steps of item i. */
static void prepare_items(problem &p, const std::vector<uint32_t> &costs, int share)
{
	p.items = costs.size();
	p.share = share;
	/* The reference first: later it would stand in a recording as idle time of the GPU. */
	p.expected.resize(costs.size());
	for (int item = 0; item < p.items; item++)
		p.expected[item] = work_on(item, costs[item]);
	p.cost = device_copy(costs);
	p.result = device_array<uint64_t>(costs.size());
	p.next = device_array<int>(1);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.result, 0, p.items * sizeof(*p.result)));
}

static struct difference check(const problem &p)
{
	return compare(p.result, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.cost));
	CUDA_CHECK(cudaFree(p.result));
	CUDA_CHECK(cudaFree(p.next));
}

#endif
