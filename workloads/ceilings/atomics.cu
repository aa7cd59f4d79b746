/*
 * atomics: thread atomics per second by the number of addresses that they share.
 *
 * Lane i of a warp takes address (i + something) % addresses, 4 bytes apart, so the lanes of a
 * warp meet only where there are fewer addresses than lanes.  The operand differs by thread and
 * the compiler does not know the number of addresses: it cannot add up a warp's operands first.
 */
#include "ceiling.cuh"

static const int addresses_limit = 1 << 20, shared_addresses_limit = 1 << 10;

/* Atomics of one thread in one round of the loop. */
static const int atomics_per_round = 4;

/* The return value is not used: a reduction, which needs no answer. */
static __global__ void add_kernel(uint32_t *counters, uint32_t mask, long rounds)
{
	uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
	uint32_t at = thread, operand = threadIdx.x * 3 + 1;

	for (long round = 0; round < rounds; round++) {
#pragma unroll
		for (int u = 0; u < atomics_per_round; u++) {
			atomicAdd(&counters[at & mask], operand + u);
			at += step;
		}
	}
}

/* Those of one round do not wait for each other: what is measured is the unit, not its latency. */
static __global__ void cas_kernel(uint32_t *counters, uint32_t mask, long rounds)
{
	uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
	uint32_t at = thread, seen = 0;

	for (long round = 0; round < rounds; round++) {
#pragma unroll
		for (int u = 0; u < atomics_per_round; u++) {
			seen ^= atomicCAS(&counters[at & mask], threadIdx.x + u, at);
			at += step;
		}
	}
	if (seen == 0x9e3779b9u)
		counters[0] = seen;
}

static __device__ __forceinline__ void clear_shared(uint32_t *counters)
{
	for (int i = threadIdx.x; i < shared_addresses_limit; i += blockDim.x)
		counters[i] = i;
	__syncthreads();
}

static __device__ __forceinline__ void keep_shared(const uint32_t *counters, uint32_t *sink)
{
	__syncthreads();
	if (counters[threadIdx.x] == 0x9e3779b9u)
		*sink = threadIdx.x;
}

static __global__ void shared_add_kernel(uint32_t *sink, uint32_t mask, long rounds)
{
	__shared__ uint32_t counters[shared_addresses_limit];
	uint32_t at = threadIdx.x, operand = threadIdx.x * 3 + 1;

	clear_shared(counters);
	for (long round = 0; round < rounds; round++) {
#pragma unroll
		for (int u = 0; u < atomics_per_round; u++) {
			atomicAdd(&counters[at & mask], operand + u);
			at += 32;
		}
	}
	keep_shared(counters, sink);
}

static __global__ void shared_cas_kernel(uint32_t *sink, uint32_t mask, long rounds)
{
	__shared__ uint32_t counters[shared_addresses_limit];
	uint32_t at = threadIdx.x, seen = 0;

	clear_shared(counters);
	for (long round = 0; round < rounds; round++) {
#pragma unroll
		for (int u = 0; u < atomics_per_round; u++) {
			seen ^= atomicCAS(&counters[at & mask], threadIdx.x + u, at);
			at += 32;
		}
	}
	counters[threadIdx.x] ^= seen;
	keep_shared(counters, sink);
}

typedef void (*atomic_kernel)(uint32_t *counters, uint32_t mask, long rounds);

/* Fewer threads can be faster where they all meet in one place, more where they wait for answers:
 * a quarter of what the SMs hold, and all. */
static struct ceiling_measurement atomic_measurement(struct ceiling_bench &bench,
						     enum ceiling_id id, atomic_kernel kernel,
						     uint32_t *counters, int addresses)
{
	std::vector<struct ceiling_variant> variants;
	cudaStream_t stream = bench.stream;
	const int block_size = 256;

	for (int share : {4, 1}) {
		int blocks = ceiling_resident_blocks(bench, kernel, block_size) / share;
		double atomics = (double)blocks * block_size * atomics_per_round;

		if (blocks > 0)
			variants.push_back(
				{atomics, [=](long repeats) {
					 CUDA_LAUNCH(kernel<<<blocks, block_size, 0, stream>>>(
						 counters, addresses - 1, repeats));
				 }});
	}
	return ceiling_throughput(bench, id, addresses, variants);
}

/* 1, 2, 4 and from there every fourth: enough to see where contention ends. */
static std::vector<int> address_counts(int limit)
{
	std::vector<int> counts = {1, 2};

	for (int count = 4; count <= limit; count *= 4)
		counts.push_back(count);
	return counts;
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("atomics", argc, argv);
	std::vector<struct ceiling_measurement> all;
	uint32_t *counters;
	int rc;

	CUDA_CHECK(cudaMalloc(&counters, addresses_limit * sizeof(*counters)));
	CUDA_CHECK(cudaMemset(counters, 0, addresses_limit * sizeof(*counters)));
	for (int n : address_counts(addresses_limit)) {
		all.push_back(
			atomic_measurement(bench, CEILING_atomic_add, add_kernel, counters, n));
		all.push_back(
			atomic_measurement(bench, CEILING_atomic_cas, cas_kernel, counters, n));
	}
	for (int n : address_counts(shared_addresses_limit)) {
		all.push_back(atomic_measurement(bench, CEILING_atomic_shared_add,
						 shared_add_kernel, counters, n));
		all.push_back(atomic_measurement(bench, CEILING_atomic_shared_cas,
						 shared_cas_kernel, counters, n));
	}
	rc = ceiling_run(bench, all);
	CUDA_CHECK(cudaFree(counters));
	return rc;
}
