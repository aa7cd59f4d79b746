/*
 * graph_pipeline (B2): an input goes to the GPU, a result comes back, the host makes the next one.
 *
 * Two things can be better than calling everything, waiting and going on: the host's part can be a
 * callback, so that nobody waits for it, and the whole of an iteration can be one graph, copies,
 * event and callback included.  The variants are all four combinations.
 */
#include "consumer.cuh"
#include "graph_capture.cuh"
#include "mirror.cuh"
#include "workload.cuh"

struct problem {
	int size;
	struct consumer host, expected;	  /* the host's part, and that of the scalar reference */
	uint32_t *input, *state, *result; /* of size, on the device */
	cudaEvent_t copied;		  /* the result is with the host */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const int churn_count = 128; /* of either kernel */

/* The state remembers all inputs so far. */
static __host__ __device__ uint32_t absorb(uint32_t state, uint32_t input)
{
	return state * CHURN_FACTOR ^ input;
}

static __global__ void absorb_kernel(uint32_t *state, const uint32_t *input, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		state[i] = churn(absorb(state[i], input[i]), churn_count);
}

static __global__ void emit_kernel(const uint32_t *state, uint32_t *result, int size)
{
	mirror_step(state, result, size, churn_count, 0);
}

static size_t bytes(const problem &p)
{
	return p.size * sizeof(uint32_t);
}

/* The device's part of one iteration.  flags: cudaEventRecordExternal makes the event a node of the
 * graph that is captured; without it a capture would only note an order. */
static void enqueue(problem &p, unsigned flags)
{
	int blocks = (p.size + block_size - 1) / block_size;

	CUDA_CHECK(
		cudaMemcpyAsync(p.input, p.host.input, bytes(p), cudaMemcpyHostToDevice, p.stream));
	CUDA_LAUNCH(absorb_kernel<<<blocks, block_size, 0, p.stream>>>(p.state, p.input, p.size));
	CUDA_LAUNCH(emit_kernel<<<blocks, block_size, 0, p.stream>>>(p.state, p.result, p.size));
	CUDA_CHECK(cudaMemcpyAsync(p.host.result, p.result, bytes(p), cudaMemcpyDeviceToHost,
				   p.stream));
	CUDA_CHECK(cudaEventRecordWithFlags(p.copied, p.stream, flags));
}

/* Call everything, wait for the result, take it. */
static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		enqueue(p, cudaEventRecordDefault);
		CUDA_CHECK(cudaEventSynchronize(p.copied));
		consumer_take(&p.host);
	}
}

/* The stream calls the host back: this thread is ahead of the GPU and waits for nothing. */
static void run_stream(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		enqueue(p, cudaEventRecordDefault);
		CUDA_CHECK(cudaLaunchHostFunc(p.stream, consumer_take, &p.host));
	}
}

/* What run_stream does in one iteration, recorded instead of run. */
static void setup_graph(problem &p)
{
	graph_begin(p.stream);
	enqueue(p, cudaEventRecordExternal);
	CUDA_CHECK(cudaLaunchHostFunc(p.stream, consumer_take, &p.host));
	p.graph = graph_finish_host(p.stream);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

/* The device's part alone. */
static void setup_graph_wait(problem &p)
{
	graph_begin(p.stream);
	enqueue(p, cudaEventRecordExternal);
	p.graph = graph_finish_host(p.stream);
}

/* An event that the graph records can be waited for like any other. */
static void run_graph_wait(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
		CUDA_CHECK(cudaEventSynchronize(p.copied));
		consumer_take(&p.host);
	}
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* The scalar reference: the same host's part around the device's. */
static void make_expected(problem &p, int iterations)
{
	struct churn_steps all = churn_at_once(churn_count);
	std::vector<uint32_t> state(p.size, 0);

	consumer_make(&p.expected, p.size, p.size);
	consumer_reset(&p.expected, iterations);
	for (int iteration = 0; iteration < iterations; iteration++) {
		for (int i = 0; i < p.size; i++)
			state[i] = churn_apply(all, absorb(state[i], p.expected.input[i]));
		for (int i = 0; i < p.size; i++)
			p.expected.result[i] =
				churn_apply(all, mirror_mix(state.data(), i, p.size, 0));
		consumer_take(&p.expected);
	}
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	make_expected(p, iterations);
	consumer_make(&p.host, size, size);
	p.input = device_array<uint32_t>(size);
	p.state = device_array<uint32_t>(size);
	p.result = device_array<uint32_t>(size);
	CUDA_CHECK(cudaEventCreateWithFlags(&p.copied, cudaEventDisableTiming));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	consumer_reset(&p.host, p.expected.log.size());
	CUDA_CHECK(cudaMemset(p.state, 0, bytes(p)));
}

static struct difference check(const problem &p)
{
	return consumer_difference(p.host, p.expected);
}

static void release(problem &p)
{
	consumer_release(&p.host);
	consumer_release(&p.expected);
	CUDA_CHECK(cudaFree(p.input));
	CUDA_CHECK(cudaFree(p.state));
	CUDA_CHECK(cudaFree(p.result));
	CUDA_CHECK(cudaEventDestroy(p.copied));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host waits for each result and takes it", run_naive},
	{"stream", "the stream calls the host back with each result", run_stream},
	{"graph", "copies, kernels, event and callback as one graph", run_graph, setup_graph,
	 teardown_graph},
	{"graph_wait", "a graph without the callback: the host waits and takes it", run_graph_wait,
	 setup_graph_wait, teardown_graph},
};

static const struct workload<problem> graph_pipeline = {
	.name = "graph_pipeline", .size = 1 << 12, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_pipeline)
