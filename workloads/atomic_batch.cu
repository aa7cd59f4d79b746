/*
 * atomic_batch (A1): items that threads take from one counter, and how many they take at a time.
 *
 * All atomics go to one address, so they are done one after the other however many SMs ask.  While
 * an item costs less than its turn at the counter, the counter sets the pace; a batch of items for
 * one atomic divides that cost by the batch.
 *
 * One launch of batch_kernel<batch> over n items: t = ceil(n / batch) threads take once each.
 *   atomics   t on one address (ATOMG, result used): ceil(t / 32) warp instructions
 *   FLOPs     8 FP32 FMA an item: 16 n
 *   bytes     4 n written, each once
 * One launch of warp_leader_kernel<batch>: the same with t = ceil(n / (32 batch)) warps, one atomic
 * and one warp instruction each.  Before each launch a memset puts the counter back to 0.
 */
#include "hot_address.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int warp_size = 32;

struct problem {
	int items;
	int *next; /* the first item that nobody has taken */
	float *result;
	std::vector<float> expected;
};

/* One item: little work, so that the counter matters.  Eight FMAs on whole numbers under 2^17, so
 * host and device agree to the last bit. */
static __host__ __device__ float work_on(int item)
{
	float x = item & 255;

	for (int step = 0; step < 8; step++)
		x = x * 2.0f + 1.0f;
	return x;
}

template <int batch>
static __global__ void batch_kernel(float *result, int items, int takes, int *next, int shift)
{
	if (blockIdx.x * blockDim.x + threadIdx.x >= takes)
		return;
	int begin = atomicAdd(hot_address(next, shift), batch);
	int end = min(begin + batch, items);

	for (int item = begin; item < end; item++)
		result[item] = work_on(item);
}

/* The first lane takes for the warp and tells the others.  Neighbours write next to each other. */
template <int batch>
static __global__ void warp_leader_kernel(float *result, int items, int takes, int *next, int shift)
{
	int lane = threadIdx.x % warp_size, begin = 0;

	if ((blockIdx.x * blockDim.x + threadIdx.x) / warp_size >= takes)
		return;
	if (lane == 0)
		begin = atomicAdd(hot_address(next, shift), warp_size * batch);
	begin = __shfl_sync(0xffffffff, begin, 0);
	int end = min(begin + warp_size * batch, items);

	for (int item = begin + lane; item < end; item += warp_size)
		result[item] = work_on(item);
}

static int divided(int dividend, int divisor)
{
	return (dividend + divisor - 1) / divisor;
}

template <int batch> static void run_batch(problem &p, int iterations)
{
	int takes = divided(p.items, batch), blocks = divided(takes, block_size);

	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemsetAsync(p.next, 0, sizeof(*p.next)));
		CUDA_LAUNCH(batch_kernel<batch><<<blocks, block_size>>>(p.result, p.items, takes,
									p.next, hidden_shift));
	}
}

template <int batch> static void run_warp_leader(problem &p, int iterations)
{
	int takes = divided(p.items, batch * warp_size);
	int blocks = divided(takes, block_size / warp_size);

	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemsetAsync(p.next, 0, sizeof(*p.next)));
		CUDA_LAUNCH(
			warp_leader_kernel<batch>
			<<<blocks, block_size>>>(p.result, p.items, takes, p.next, hidden_shift));
	}
}

static void prepare(problem &p, long size, int)
{
	p.items = size;
	p.expected.resize(size);
	for (int item = 0; item < p.items; item++)
		p.expected[item] = work_on(item);
	p.next = device_array<int>(1);
	p.result = device_array<float>(size);
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
	CUDA_CHECK(cudaFree(p.next));
	CUDA_CHECK(cudaFree(p.result));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a thread takes one item with each atomic", run_batch<1>},
	{"batch_8", "a thread takes 8 items with each atomic", run_batch<8>},
	{"batch_16", "a thread takes 16 items with each atomic", run_batch<16>},
	{"batch_32", "a thread takes 32 items with each atomic", run_batch<32>},
	{"batch_128", "a thread takes 128 items with each atomic", run_batch<128>},
	{"batch_512", "a thread takes 512 items with each atomic", run_batch<512>},
	{"warp_leader", "one lane takes 32 items for its warp", run_warp_leader<1>},
	{"warp_leader_8", "one lane takes 256 items for its warp", run_warp_leader<8>},
};

static const struct workload<problem> atomic_batch = {
	.name = "atomic_batch", .size = 1 << 22, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(atomic_batch)
