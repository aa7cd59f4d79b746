/*
 * concurrent_kernels (D2): eight jobs that need nothing from each other, each a small grid.
 *
 * One job occupies a few SMs and leaves the others idle.  A stream runs one after the other, so the
 * GPU never has more than one job to place.  In streams of their own, or as branches of a graph,
 * they run side by side, and the rate of all together is the sum of theirs.
 *
 * One launch over n values:
 *   FLOPs  32,768 FP32 FMA a value: 65,536 n
 *   bytes  4 n read, 4 n written
 * The FMA instructions (of threads) are 32,768 n.
 */
#include "graph_capture.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int job_count = 8; /* and streams: as many as CUDA has connections to the device */
static const int steps = 1 << 15;

struct problem {
	int size;	  /* values of a job */
	uint32_t *values; /* [job_count][size] */
	std::vector<uint32_t> initial, expected;
	cudaStream_t streams[job_count];
	cudaGraphExec_t graph;
};

static __host__ __device__ int chain_start(uint32_t value)
{
	return value % 64;
}

static __host__ __device__ uint32_t next_value(uint32_t value, int chain_end)
{
	return (value ^ value >> 15 ^ chain_end) * 747796405u + 2891336453u;
}

/* A chain adds 1 at each step, as x * 1 + 1: whole numbers under 2^16, so every step is exact.  The
 * 1 comes as an argument, so that the compiler cannot tell that it is one. */
static __global__ void chain_kernel(uint32_t *values, int size, float one)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x;

	if (i >= size)
		return;
	x = chain_start(values[i]);
#pragma unroll 16
	for (int step = 0; step < steps; step++)
		x = fmaf(x, one, one);
	values[i] = next_value(values[i], (int)x);
}

static void launch(problem &p, int job, cudaStream_t stream)
{
	int blocks = (p.size + block_size - 1) / block_size;

	CUDA_LAUNCH(chain_kernel<<<blocks, block_size, 0, stream>>>(p.values + (size_t)job * p.size,
								    p.size, 1));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (int job = 0; job < job_count; job++)
			launch(p, job, p.streams[0]);
}

/* A job has to wait for its own last iteration and for no other job. */
static void run_streams(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (int job = 0; job < job_count; job++)
			launch(p, job, p.streams[job]);
}

/* What run_streams does in one iteration.  The first stream begins and ends the capture: the others
 * join when they wait for it, and are back when it waits for them. */
static void setup_graph(problem &p)
{
	cudaEvent_t event;

	CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	graph_begin(p.streams[0]);
	CUDA_CHECK(cudaEventRecord(event, p.streams[0]));
	for (int job = 1; job < job_count; job++)
		CUDA_CHECK(cudaStreamWaitEvent(p.streams[job], event, 0));
	run_streams(p, 1);
	for (int job = 1; job < job_count; job++) {
		CUDA_CHECK(cudaEventRecord(event, p.streams[job]));
		CUDA_CHECK(cudaStreamWaitEvent(p.streams[0], event, 0));
	}
	p.graph = graph_finish_host(p.streams[0]);
	CUDA_CHECK(cudaEventDestroy(event));
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.streams[0]));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* The scalar reference: a chain of so many steps of 1. */
static uint32_t reference(uint32_t value, int iterations)
{
	for (int i = 0; i < iterations; i++)
		value = next_value(value, chain_start(value) + steps);
	return value;
}

static void prepare(problem &p, long size, int iterations)
{
	size_t count = size * job_count;

	p.size = size;
	p.initial.resize(count);
	p.expected.resize(count);
	for (size_t i = 0; i < count; i++) {
		p.initial[i] = i * 2654435769u;
		p.expected[i] = reference(p.initial[i], iterations);
	}
	p.values = device_array<uint32_t>(count);
	for (cudaStream_t &stream : p.streams)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.initial.size() * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
}

static struct difference check(const problem &p)
{
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	for (cudaStream_t stream : p.streams)
		CUDA_CHECK(cudaStreamDestroy(stream));
	CUDA_CHECK(cudaFree(p.values));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "one stream, job after job", run_naive},
	{"streams", "a stream for each job", run_streams},
	{"graph", "a graph with a branch for each job, one launch an iteration", run_graph,
	 setup_graph, teardown_graph},
};

static const struct workload<problem> concurrent_kernels = {
	.name = "concurrent_kernels", .size = 1 << 12, .iterations = 10, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(concurrent_kernels)
