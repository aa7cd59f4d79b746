/*
 * conditional_precision (C5): batches of values, stored as FP16 whenever the largest of them fits.
 *
 * A batch comes as FP32 and goes through several passes, each of which reads and writes all values:
 * the memory sets the pace, and half the bytes take half the time.  FP16 ends at 65,504; whether a
 * batch stays below that is known when its values have been looked at, on the GPU.  The host reads
 * the answer and chooses, or an IF/ELSE node does.
 *
 * Calculation is in FP32 on both paths, only the storage differs.  Values are whole numbers below
 * 2^11 times a power of two and stay so, which FP16 holds exactly: both paths give the same bits.
 */
#include <algorithm>
#include <cuda_fp16.h>

#include "block.cuh"
#include "conditional.cuh"
#include "workload.cuh"

enum path { PATH_FP16, PATH_FP32, PATH_COUNT };
enum { COUNT_OVERFLOWS = PATH_COUNT, COUNT_COUNT }; /* values that became infinite in storage */

/* On the device. */
struct batch {
	uint32_t number;
	uint32_t largest_bits; /* of all values so far, as the bits of an FP32 */
	float largest;	       /* once all are there */
	uint32_t fits;	       /* the decision */
};

struct problem {
	long size, chunk_count;
	float *fp32;
	__half *fp16;
	uint32_t *counts, *sums; /* sums: of the bits of every result, one a value */
	struct batch *batch;
	uint32_t *seen; /* what the host has read of the decision */
	int iterations;
	std::vector<uint32_t> model_counts, expected_counts, expected_sums; /* sums: of a period */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const int passes = 4;
static const long period = 1 << 16; /* then the values of a batch come again */
static const float largest_half = 65504;

/* ---- the values ---- */

/* Batches of three kinds fit, the last of them just so; the second does not. */
static __host__ __device__ float scale_of(uint32_t batch)
{
	const float scales[] = {1, 256, 1.0f / 16, 32};

	return scales[batch % 4];
}

static __host__ __device__ float value_at(long i, uint32_t batch)
{
	return (float)(scramble((uint32_t)(i % period) + scramble(batch)) % 2048) * scale_of(batch);
}

/* A tent over 0 .. largest: no value leaves that range, and none needs more bits than before. */
static __host__ __device__ float passed(float value, float largest)
{
	return value < largest / 2 ? 2 * value : 2 * (largest - value);
}

static __host__ __device__ uint32_t added(uint32_t sum, uint32_t bits)
{
	return sum * 31 + bits;
}

/* What a thread works on.  Arrays are as long as whole chunks; the values behind the last are 0. */
static const int chunk_length = 8;

template <class T> struct alignas(16) chunk {
	T value[chunk_length];
};

template <class T> static __device__ chunk<T> &chunk_of(T *values, long i)
{
	return ((chunk<T> *)values)[i];
}

static __device__ long thread_index()
{
	return (long)blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- kernels ---- */

/* The batch arrives, and its largest value is noted.  No value is negative, so their bits as
 * integers have the same order.  A block that cannot raise what is noted so far leaves it alone:
 * atomics of all blocks on one address would take long. */
static __global__ void arrive_kernel(float *fp32, long size, long chunk_count, struct batch *batch)
{
	long i = thread_index();
	float largest = 0;
	uint32_t bits;

	if (i < chunk_count) {
		chunk<float> c;

		for (int k = 0; k < chunk_length; k++) {
			long at = i * chunk_length + k;

			c.value[k] = at < size ? value_at(at, batch->number) : 0;
			largest = fmaxf(largest, c.value[k]);
		}
		chunk_of(fp32, i) = c;
	}
	bits = block_reduce<block_size>(__float_as_uint(largest),
					[](uint32_t a, uint32_t b) { return max(a, b); });
	if (threadIdx.x == 0 && bits > *(volatile uint32_t *)&batch->largest_bits)
		atomicMax(&batch->largest_bits, bits);
}

static __global__ void decide_kernel(struct batch *batch, struct decision fits)
{
	batch->largest = __uint_as_float(batch->largest_bits);
	decide(fits, batch->largest <= largest_half);
	batch->largest_bits = 0;
	batch->number++;
}

/* An infinity would be the sign that the wrong path was taken. */
template <class T> static __device__ void store(T &to, float value, uint32_t *counts)
{
	to = T(value);
	if (isinf((float)to))
		atomicAdd(&counts[COUNT_OVERFLOWS], 1);
}

static __global__ void pack_kernel(float *from, __half *to, long chunk_count, uint32_t *counts)
{
	long i = thread_index();

	if (i >= chunk_count)
		return;
	chunk<float> c = chunk_of(from, i);
	chunk<__half> packed;
	for (int k = 0; k < chunk_length; k++)
		store(packed.value[k], c.value[k], counts);
	chunk_of(to, i) = packed;
}

template <class T>
static __global__ void pass_kernel(T *values, long chunk_count, const struct batch *batch,
				   uint32_t *counts)
{
	long i = thread_index();

	if (i >= chunk_count)
		return;
	chunk<T> c = chunk_of(values, i);
	for (int k = 0; k < chunk_length; k++)
		store(c.value[k], passed((float)c.value[k], batch->largest), counts);
	chunk_of(values, i) = c;
}

template <class T>
static __global__ void collect_kernel(T *values, uint32_t *sums, long chunk_count, uint32_t *count)
{
	long i = thread_index();

	if (i == 0)
		++*count;
	if (i >= chunk_count)
		return;
	chunk<T> c = chunk_of(values, i);
	chunk<uint32_t> sum = chunk_of(sums, i);
	for (int k = 0; k < chunk_length; k++)
		sum.value[k] = added(sum.value[k], __float_as_uint((float)c.value[k]));
	chunk_of(sums, i) = sum;
}

static unsigned blocks(const problem &p)
{
	return (p.chunk_count + block_size - 1) / block_size;
}

static void launch_arrive(problem &p, const struct decision &fits)
{
	CUDA_LAUNCH(arrive_kernel<<<blocks(p), block_size, 0, p.stream>>>(p.fp32, p.size,
									  p.chunk_count, p.batch));
	CUDA_LAUNCH(decide_kernel<<<1, 1, 0, p.stream>>>(p.batch, fits));
}

template <class T>
static void launch_passes(problem &p, T *values, enum path path, cudaStream_t stream)
{
	for (int i = 0; i < passes; i++)
		CUDA_LAUNCH(pass_kernel<<<blocks(p), block_size, 0, stream>>>(values, p.chunk_count,
									      p.batch, p.counts));
	CUDA_LAUNCH(collect_kernel<<<blocks(p), block_size, 0, stream>>>(values, p.sums,
									 p.chunk_count,
									 p.counts + path));
}

static void launch_fp16(problem &p, cudaStream_t stream)
{
	CUDA_LAUNCH(pack_kernel<<<blocks(p), block_size, 0, stream>>>(p.fp32, p.fp16, p.chunk_count,
								      p.counts));
	launch_passes(p, p.fp16, PATH_FP16, stream);
}

static void launch_fp32(problem &p, cudaStream_t stream)
{
	launch_passes(p, p.fp32, PATH_FP32, stream);
}

/* ---- variants ---- */

static void setup_naive(problem &p)
{
	p.expected_counts = p.model_counts;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_arrive(p, decision_in_memory(&p.batch->fits));
		if (read_back(p.seen, &p.batch->fits, p.stream))
			launch_fp16(p, p.stream);
		else
			launch_fp32(p, p.stream);
	}
}

static void setup_conditional(problem &p)
{
	struct decision fits;

	p.expected_counts = p.model_counts;
	graph_begin(p.stream);
	fits = decision_for_node(&p.batch->fits, p.stream);
	launch_arrive(p, fits);
	graph_if_else(
		p.stream, fits, [&](cudaStream_t body) { launch_fp16(p, body); },
		[&](cudaStream_t body) { launch_fp32(p, body); });
	p.graph = graph_finish_host(p.stream);
}

/* No choice: the path that always works. */
static void setup_fp32(problem &p)
{
	p.expected_counts = {0, (uint32_t)p.iterations, 0};
	graph_begin(p.stream);
	launch_arrive(p, decision_in_memory(&p.batch->fits));
	launch_fp32(p, p.stream);
	p.graph = graph_finish_host(p.stream);
}

/* ---- the problem ---- */

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The scalar model of one batch, of which a period will do. */
static void batch_reference(std::vector<uint32_t> &sums, std::vector<uint32_t> &counts,
			    uint32_t batch)
{
	float largest = 0;

	for (size_t i = 0; i < sums.size(); i++)
		largest = std::max(largest, value_at(i, batch));
	counts[largest <= largest_half ? PATH_FP16 : PATH_FP32]++;
	for (size_t i = 0; i < sums.size(); i++) {
		float value = value_at(i, batch);

		for (int pass = 0; pass < passes; pass++)
			value = passed(value, largest);
		sums[i] = added(sums[i], bits_of(value));
	}
}

static void prepare(problem &p, long size, int iterations)
{
	long padded;

	p.size = size;
	p.iterations = iterations;
	p.chunk_count = (size + chunk_length - 1) / chunk_length;
	p.model_counts.resize(COUNT_COUNT);
	p.expected_sums.resize(std::min(size, period));
	for (int i = 0; i < iterations; i++)
		batch_reference(p.expected_sums, p.model_counts, i);
	padded = p.chunk_count * chunk_length;
	p.fp32 = device_array<float>(padded);
	p.fp16 = device_array<__half>(padded);
	p.sums = device_array<uint32_t>(padded);
	p.counts = device_array<uint32_t>(COUNT_COUNT);
	p.batch = device_array<struct batch>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.sums, 0, p.chunk_count * chunk_length * sizeof(*p.sums)));
	CUDA_CHECK(cudaMemset(p.counts, 0, COUNT_COUNT * sizeof(*p.counts)));
	CUDA_CHECK(cudaMemset(p.batch, 0, sizeof(*p.batch)));
}

/* How often each path was taken, that nothing overflowed, and then the results. */
static struct difference check(const problem &p)
{
	const std::vector<uint32_t> &sums = p.expected_sums;
	struct difference counts = compare(p.counts, p.expected_counts);

	if (counts.index >= 0)
		return counts;
	return compare_each(p.sums, p.size, [&sums](long i) { return sums[i % period]; });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.fp32));
	CUDA_CHECK(cudaFree(p.fp16));
	CUDA_CHECK(cudaFree(p.sums));
	CUDA_CHECK(cudaFree(p.counts));
	CUDA_CHECK(cudaFree(p.batch));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads whether the values fit and launches one of the paths", run_naive,
	 setup_naive},
	{"conditional", "a graph a batch, with the paths in an IF/ELSE node", run_graph,
	 setup_conditional, teardown_graph, why_no_choice},
	{"fp32", "a graph a batch, which is FP32 in any case", run_graph, setup_fp32,
	 teardown_graph},
};

static const struct workload<problem> conditional_precision = {
	.name = "conditional_precision", .size = 1 << 25, .iterations = 12, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_precision)
