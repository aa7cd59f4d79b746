/*
 * histogram (A3): one counter a bin, and keys that prefer some bins to others.
 *
 * Global atomics on 1,024 bins go well together while the keys spread; they queue up at the bins
 * that many keys share.  A histogram of its own in the shared memory of each block takes the queue
 * off the L2 cache: only the bins of blocks are added there, and those lie side by side.
 *
 * The same two kernels run on three sets of keys: Zipf (rank to the power of -1.1; a few bins get
 * most of the keys), uniform, and all keys the same.
 *
 * One launch over n keys: 4 n bytes read, no FLOPs, and
 *   naive_kernel   n global atomics (RED), ceil(n / 32) warp instructions
 *   shared_kernel  n shared atomics (ATOMS), ceil(n / 32) warp instructions, then 1,024 global ones
 *                  (RED) for each of the b = ceil(n / 16,384) blocks: 32 b warp instructions
 */
#include <algorithm>
#include <cmath>

#include "hot_address.cuh"
#include "workload.cuh"

static const int bins = 1024;
static const double zipf_exponent = 1.1;
static const int naive_block_size = 256;
static const int shared_block_size = 512;
static const int keys_per_block = 16384; /* so many that adding up 1,024 bins is little work */

struct input {
	uint32_t *keys;
	std::vector<uint32_t> expected;
};

struct problem {
	int size;
	uint32_t *bin;
	struct input zipf, uniform, one;
	const struct input *current; /* what the variant under way counts; set by its setup */
};

static __global__ void naive_kernel(const uint32_t *keys, int size, uint32_t *bin)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		reduce_add(&bin[keys[i]], 1);
}

static __global__ void shared_kernel(const uint32_t *keys, int size, uint32_t *bin)
{
	int begin = blockIdx.x * keys_per_block;
	int end = min(begin + keys_per_block, size);
	__shared__ uint32_t block_bin[bins];

	for (int b = threadIdx.x; b < bins; b += blockDim.x)
		block_bin[b] = 0;
	__syncthreads();
	for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
		atomicAdd(&block_bin[keys[i]], 1);
	__syncthreads();
	for (int b = threadIdx.x; b < bins; b += blockDim.x)
		reduce_add(&bin[b], block_bin[b]);
}

static void run_naive(problem &p, int iterations)
{
	int blocks = (p.size + naive_block_size - 1) / naive_block_size;

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(
			naive_kernel<<<blocks, naive_block_size>>>(p.current->keys, p.size, p.bin));
}

static void run_shared(problem &p, int iterations)
{
	int blocks = (p.size + keys_per_block - 1) / keys_per_block;

	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(shared_kernel<<<blocks, shared_block_size>>>(p.current->keys, p.size,
									 p.bin));
}

template <struct input problem::*chosen> static void choose(problem &p)
{
	p.current = &(p.*chosen);
}

/* The share of keys that lies in the bins up to each one: bin b has weight (b + 1)^-exponent. */
static std::vector<double> cumulated_shares(double exponent)
{
	std::vector<double> share(bins);
	double sum = 0;

	for (int b = 0; b < bins; b++)
		share[b] = sum += std::pow(b + 1.0, -exponent);
	for (double &one : share)
		one /= sum;
	return share;
}

/* The same keys on every machine: the fraction of (i + 1) times the golden ratio, hashed. */
static uint32_t draw(const std::vector<double> &share, uint64_t i)
{
	uint64_t x = (i + 1) * 11400714819323198485u;

	x = (x ^ (x >> 31)) * 6364136223846793005u;
	double fraction = (double)(x >> 11) / ((uint64_t)1 << 53);
	long b = std::upper_bound(share.begin(), share.end(), fraction) - share.begin();

	return std::min<long>(b, bins - 1);
}

static struct input counted(const std::vector<uint32_t> &keys, int iterations)
{
	struct input input = {device_copy(keys), std::vector<uint32_t>(bins)};

	for (uint32_t key : keys)
		input.expected[key] += iterations;
	return input;
}

static struct input skewed(long size, int iterations, double exponent)
{
	std::vector<double> share = cumulated_shares(exponent);
	std::vector<uint32_t> keys(size);

	for (long i = 0; i < size; i++)
		keys[i] = draw(share, i);
	return counted(keys, iterations);
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.zipf = skewed(size, iterations, zipf_exponent);
	p.uniform = skewed(size, iterations, 0);
	p.one = counted(std::vector<uint32_t>(size, bins / 2), iterations);
	p.bin = device_array<uint32_t>(bins);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.bin, 0, bins * sizeof(*p.bin)));
}

static struct difference check(const problem &p)
{
	return compare(p.bin, p.current->expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.zipf.keys));
	CUDA_CHECK(cudaFree(p.uniform.keys));
	CUDA_CHECK(cudaFree(p.one.keys));
	CUDA_CHECK(cudaFree(p.bin));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "global atomics, keys by Zipf", run_naive, choose<&problem::zipf>},
	{"shared", "a histogram a block, keys by Zipf", run_shared, choose<&problem::zipf>},
	{"naive_uniform", "global atomics, uniform keys", run_naive, choose<&problem::uniform>,
	 nullptr, nullptr, "naive_uniform"},
	{"shared_uniform", "a histogram a block, uniform keys", run_shared,
	 choose<&problem::uniform>, nullptr, nullptr, "naive_uniform"},
	{"naive_one", "global atomics, all keys the same", run_naive, choose<&problem::one>,
	 nullptr, nullptr, "naive_one"},
	{"shared_one", "a histogram a block, all keys the same", run_shared, choose<&problem::one>,
	 nullptr, nullptr, "naive_one"},
};

static const struct workload<problem> histogram = {
	.name = "histogram", .size = 1 << 22, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(histogram)
