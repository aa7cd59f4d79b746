/*
 * graph_large (B8): a control.  Three kernels an iteration, each far longer than its launch.
 *
 * The host has launched the next kernel long before the last one ends, so the GPU never waits for a
 * launch.  As a graph the three launches become one, of a cost that was hidden anyway.
 */
#include "churn.cuh"
#include "graph_capture.cuh"
#include "workload.cuh"

struct problem {
	long size;
	uint32_t *values;
	struct churn_steps expected; /* those of all kernels of all iterations */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const int churn_counts[] = {4096, 6144, 5120}; /* of the kernels of an iteration */

static __host__ __device__ uint32_t initial_value(long i)
{
	return i * 2654435769u;
}

static __global__ void fill_kernel(uint32_t *values, long size)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] = initial_value(i);
}

static __global__ void churn_kernel(uint32_t *values, long size, int count)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] = churn(values[i], count);
}

static unsigned blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (int count : churn_counts)
			CUDA_LAUNCH(churn_kernel<<<blocks(p), block_size, 0, p.stream>>>(p.values,
											 p.size,
											 count));
}

static void setup_graph(problem &p)
{
	graph_begin(p.stream);
	run_naive(p, 1);
	p.graph = graph_finish_host(p.stream);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* The scalar reference: one multiplication and one addition for whatever the kernels do. */
static struct churn_steps reference(int iterations)
{
	struct churn_steps one = churn_at_once(0), all = one;

	for (int count : churn_counts) {
		struct churn_steps kernel = churn_at_once(count);

		one = {one.factor * kernel.factor, churn_apply(kernel, one.addend)};
	}
	for (int i = 0; i < iterations; i++)
		all = {all.factor * one.factor, churn_apply(one, all.addend)};
	return all;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.expected = reference(iterations);
	p.values = device_array<uint32_t>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_LAUNCH(fill_kernel<<<blocks(p), block_size, 0, p.stream>>>(p.values, p.size));
}

static struct difference check(const problem &p)
{
	return compare_each(p.values, p.size,
			    [&](long i) { return churn_apply(p.expected, initial_value(i)); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "three launches, no wait", run_naive},
	{"graph", "captured once, one launch an iteration", run_graph, setup_graph, teardown_graph},
};

static const struct workload<problem> graph_large = {
	.name = "graph_large", .size = 1 << 20, .iterations = 8, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_large)
