/*
 * graph_chain (B1): three short kernels an iteration, and the host between them.
 *
 * A kernel of a few microseconds is shorter than the host's part in launching it and waiting for
 * it.  Without the waits the host runs ahead; as a graph the three launches become one.
 */
#include "workload.cuh"

struct problem {
	int size;
	uint32_t *values;
	std::vector<uint32_t> initial, expected;
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;

static __host__ __device__ uint32_t scale(uint32_t x)
{
	return x * 747796405u;
}

static __host__ __device__ uint32_t shift(uint32_t x)
{
	return x + 2891336453u;
}

static __host__ __device__ uint32_t mix(uint32_t x)
{
	return x ^ (x >> 15);
}

template <uint32_t (*step)(uint32_t)> static __global__ void step_kernel(uint32_t *values, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] = step(values[i]);
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

template <uint32_t (*step)(uint32_t)> static void launch(problem &p)
{
	CUDA_LAUNCH(step_kernel<step><<<blocks(p), block_size, 0, p.stream>>>(p.values, p.size));
}

/* The habit of debugging days: wait after every kernel. */
static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<scale>(p);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		launch<shift>(p);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		launch<mix>(p);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
	}
}

/* A stream keeps its kernels in order: nobody has to wait for that. */
static void run_no_sync(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch<scale>(p);
		launch<shift>(p);
		launch<mix>(p);
	}
}

/* What run_no_sync does in one iteration, recorded instead of run. */
static void setup_graph(problem &p)
{
	cudaGraph_t graph;

	CUDA_CHECK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeThreadLocal));
	run_no_sync(p, 1);
	CUDA_CHECK(cudaStreamEndCapture(p.stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&p.graph, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(p.graph, p.stream));
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

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(size);
	p.expected.resize(size);
	for (long i = 0; i < size; i++) {
		uint32_t x = p.initial[i] = i;

		for (int iteration = 0; iteration < iterations; iteration++)
			x = mix(shift(scale(x)));
		p.expected[i] = x;
	}
	p.values = device_array<uint32_t>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
}

static struct difference check(const problem &p)
{
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "three launches, and a wait after each", run_naive},
	{"no_sync", "three launches, no wait", run_no_sync},
	{"graph", "captured once, one launch an iteration", run_graph, setup_graph, teardown_graph},
};

static const struct workload<problem> graph_chain = {
	.name = "graph_chain", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_chain)
