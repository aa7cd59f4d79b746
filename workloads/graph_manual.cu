/*
 * graph_manual (B4): three tasks that were written one after the other and do not need each other.
 *
 * A step filters a signal that comes from the host, counts keys, and moves a simulation on; then a
 * callback takes the filtered signal and the counts.  Captured from one stream the graph is a
 * chain: each node waits for the one before, because the stream said so.  Nodes that are added one
 * by one wait for what they read, and for nothing else.
 */
#include <algorithm>

#include "consumer.cuh"
#include "graph_capture.cuh"
#include "graph_nodes.cuh"
#include "mirror.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int bins = block_size; /* a thread of each block adds one */
static const size_t bins_bytes = bins * sizeof(uint32_t);
static const int churn_count = 512; /* of every kernel */
enum { FILTER, SMOOTH, SIMULATE };  /* salt */

struct problem {
	int size;
	size_t bytes;			/* of size values */
	struct consumer host, expected; /* take the filtered signal, and behind it the counts */
	uint32_t *signal[2], *simulation[2]; /* of size: a kernel reads one and writes the other */
	uint32_t *keys, *counts;	     /* of size, of bins */
	cudaGraph_t smoothing;		     /* as a library may offer it: signal[1] smoothed */
	cudaEvent_t counted;		     /* the counts are with the host */
	cudaStream_t stream, second, third;  /* second and third only for forked */
	cudaEvent_t forked, joined;
	cudaGraphExec_t graph;
	std::vector<uint32_t> initial, expected_simulation;
	std::vector<uint32_t> counts_seen; /* by who waited for counted */
};

/* ---- kernels ---- */

static __global__ void filter_kernel(const uint32_t *from, uint32_t *to, int size)
{
	mirror_step(from, to, size, churn_count, FILTER);
}

static __global__ void smooth_kernel(const uint32_t *from, uint32_t *to, int size)
{
	mirror_step(from, to, size, churn_count, SMOOTH);
}

static __global__ void simulate_kernel(const uint32_t *from, uint32_t *to, int size)
{
	mirror_step(from, to, size, churn_count, SIMULATE);
}

static __host__ __device__ int bin_of(uint32_t key)
{
	return key >> 24;
}

/* Makes each key anew and counts it. */
static __global__ void count_kernel(uint32_t *keys, uint32_t *counts, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__shared__ uint32_t block_counts[bins];

	block_counts[threadIdx.x] = 0;
	__syncthreads();
	if (i < size) {
		keys[i] = churn(keys[i], churn_count);
		atomicAdd(&block_counts[bin_of(keys[i])], 1u);
	}
	__syncthreads();
	if (block_counts[threadIdx.x])
		atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

static uint32_t *host_counts(const problem &p)
{
	return p.host.result + p.size;
}

/* ---- captured: what a stream is given, in that order ---- */

/* A node by hand in the graph that is captured; what comes next in the stream is behind it. */
static void capture_child(cudaStream_t stream, cudaGraph_t child)
{
	enum cudaStreamCaptureStatus status;
	const cudaGraphNode_t *last;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	size_t count;

	CUDA_CHECK(
		cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count));
	node = add_child(graph, graph_after(last, last + count), child);
	CUDA_CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
						       cudaStreamSetCaptureDependencies));
}

static void enqueue_filter(problem &p, cudaStream_t stream)
{
	CUDA_CHECK(cudaMemcpyAsync(p.signal[0], p.host.input, p.bytes, cudaMemcpyHostToDevice,
				   stream));
	CUDA_LAUNCH(filter_kernel<<<blocks(p), block_size, 0, stream>>>(p.signal[0], p.signal[1],
									p.size));
	capture_child(stream, p.smoothing);
	CUDA_CHECK(cudaMemcpyAsync(p.host.result, p.signal[1], p.bytes, cudaMemcpyDeviceToHost,
				   stream));
}

static void enqueue_count(problem &p, cudaStream_t stream)
{
	CUDA_CHECK(cudaMemsetAsync(p.counts, 0, bins_bytes, stream));
	CUDA_LAUNCH(count_kernel<<<blocks(p), block_size, 0, stream>>>(p.keys, p.counts, p.size));
	CUDA_CHECK(cudaMemcpyAsync(host_counts(p), p.counts, bins_bytes, cudaMemcpyDeviceToHost,
				   stream));
	CUDA_CHECK(cudaEventRecordWithFlags(p.counted, stream, cudaEventRecordExternal));
}

static void enqueue_simulation(problem &p, cudaStream_t stream)
{
	for (int k = 0; k < 2; k++)
		CUDA_LAUNCH(simulate_kernel<<<blocks(p), block_size, 0, stream>>>(
			p.simulation[k], p.simulation[1 - k], p.size));
}

/* To be launched; it is to have so many edges between its 11 nodes. */
static void finish(problem &p, cudaGraph_t graph, size_t expected_edges)
{
	size_t nodes, edges;

	CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	CUDA_CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
	if (nodes != 11 || edges != expected_edges) {
		fprintf(stderr, "graph_manual: %zu nodes and %zu edges instead of 11 and %zu\n",
			nodes, edges, expected_edges);
		exit(1);
	}
	CUDA_CHECK(cudaGraphInstantiate(&p.graph, graph, 0));
	CUDA_CHECK(cudaGraphDestroy(graph));
	CUDA_CHECK(cudaGraphUpload(p.graph, p.stream));
}

static void setup_naive(problem &p)
{
	cudaGraph_t graph;

	graph_begin(p.stream);
	enqueue_filter(p, p.stream);
	enqueue_count(p, p.stream);
	enqueue_simulation(p, p.stream);
	CUDA_CHECK(cudaLaunchHostFunc(p.stream, consumer_take, &p.host));
	CUDA_CHECK(cudaStreamEndCapture(p.stream, &graph));
	finish(p, graph, 10);
}

/* What is in from now comes before what will be in to. */
static void order(cudaStream_t from, cudaStream_t to, cudaEvent_t event)
{
	CUDA_CHECK(cudaEventRecord(event, from));
	CUDA_CHECK(cudaStreamWaitEvent(to, event, 0));
}

/* A stream a task.  The callback needs the counts and not the simulation, hence its place. */
static void setup_forked(problem &p)
{
	cudaGraph_t graph;

	graph_begin(p.stream);
	order(p.stream, p.second, p.forked);
	order(p.stream, p.third, p.forked);
	enqueue_filter(p, p.stream);
	enqueue_count(p, p.second);
	enqueue_simulation(p, p.third);
	order(p.second, p.stream, p.joined);
	CUDA_CHECK(cudaLaunchHostFunc(p.stream, consumer_take, &p.host));
	order(p.third, p.stream, p.joined);
	CUDA_CHECK(cudaStreamEndCapture(p.stream, &graph));
	finish(p, graph, 9);
}

/* ---- by hand: what a node needs, and nothing else ---- */

static void setup_manual(problem &p)
{
	cudaGraphNode_t uploaded, filtered, smoothed, downloaded, cleared, counted, sent, simulated;
	cudaGraph_t g;

	CUDA_CHECK(cudaGraphCreate(&g, 0));
	uploaded = add_copy(g, {}, p.signal[0], p.host.input, p.bytes, cudaMemcpyHostToDevice);
	filtered = add_kernel(g, {uploaded}, filter_kernel, blocks(p), block_size, p.signal[0],
			      p.signal[1], p.size);
	smoothed = add_child(g, {filtered}, p.smoothing);
	downloaded = add_copy(g, {smoothed}, p.host.result, p.signal[1], p.bytes,
			      cudaMemcpyDeviceToHost);

	cleared = add_clear(g, {}, p.counts, bins_bytes);
	counted = add_kernel(g, {cleared}, count_kernel, blocks(p), block_size, p.keys, p.counts,
			     p.size);
	sent = add_copy(g, {counted}, host_counts(p), p.counts, bins_bytes, cudaMemcpyDeviceToHost);
	add_record(g, {sent}, p.counted);

	simulated = add_kernel(g, {}, simulate_kernel, blocks(p), block_size, p.simulation[0],
			       p.simulation[1], p.size);
	add_kernel(g, {simulated}, simulate_kernel, blocks(p), block_size, p.simulation[1],
		   p.simulation[0], p.size);

	add_callback(g, {downloaded, sent}, consumer_take, &p.host);
	finish(p, g, 9);
}

/* Who waits for the event has the counts, whether or not the rest of the step is done. */
static void run(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
	CUDA_CHECK(cudaEventSynchronize(p.counted));
	p.counts_seen.assign(host_counts(p), host_counts(p) + bins);
}

static void teardown(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

/* ---- the problem ---- */

/* The scalar reference: task after task, and the same callback. */
static void make_expected(problem &p, int iterations)
{
	std::vector<uint32_t> keys = p.initial, simulation = p.initial;
	uint32_t *result = p.expected.result, *counts = result + p.size;
	struct churn_steps all = churn_at_once(churn_count);

	consumer_reset(&p.expected, iterations);
	for (int iteration = 0; iteration < iterations; iteration++) {
		std::vector<uint32_t> signal(p.expected.input, p.expected.input + p.size);

		signal = mirror_reference(signal, churn_count, FILTER);
		for (int k = 0; k < 2; k++) {
			signal = mirror_reference(signal, churn_count, SMOOTH);
			simulation = mirror_reference(simulation, churn_count, SIMULATE);
		}
		std::copy(signal.begin(), signal.end(), result);
		std::fill_n(counts, bins, 0);
		for (uint32_t &key : keys) {
			key = churn_apply(all, key);
			counts[bin_of(key)]++;
		}
		consumer_take(&p.expected);
	}
	p.expected_simulation = simulation;
}

static cudaGraph_t make_smoothing(problem &p)
{
	cudaGraphNode_t first;
	cudaGraph_t graph;

	CUDA_CHECK(cudaGraphCreate(&graph, 0));
	first = add_kernel(graph, {}, smooth_kernel, blocks(p), block_size, p.signal[1],
			   p.signal[0], p.size);
	add_kernel(graph, {first}, smooth_kernel, blocks(p), block_size, p.signal[0], p.signal[1],
		   p.size);
	return graph;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.bytes = size * sizeof(uint32_t);
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * CHURN_FACTOR;
	for (struct consumer *consumer : {&p.host, &p.expected})
		consumer_make(consumer, size, size + bins);
	make_expected(p, iterations);
	for (uint32_t **values :
	     {&p.signal[0], &p.signal[1], &p.simulation[0], &p.simulation[1], &p.keys})
		*values = device_array<uint32_t>(size);
	p.counts = device_array<uint32_t>(bins);
	p.smoothing = make_smoothing(p);
	for (cudaEvent_t *event : {&p.counted, &p.forked, &p.joined})
		CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
	for (cudaStream_t *stream : {&p.stream, &p.second, &p.third})
		CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

/* What an earlier run left could pass for what this one has not made yet. */
static void reset(problem &p)
{
	consumer_reset(&p.host, p.expected.log.size());
	CUDA_CHECK(cudaMemcpy(p.keys, p.initial.data(), p.bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(p.simulation[0], p.initial.data(), p.bytes, cudaMemcpyHostToDevice));
	for (uint32_t *values : {p.signal[0], p.signal[1], p.simulation[1]})
		CUDA_CHECK(cudaMemset(values, 0xff, p.bytes));
}

static struct difference check(const problem &p)
{
	const uint32_t *counts = p.expected.result + p.size;
	struct difference first = consumer_difference(p.host, p.expected);

	for (int bin = 0; first.index < 0 && bin < bins; bin++)
		if (p.counts_seen[bin] != counts[bin])
			first = {bin, p.counts_seen[bin], counts[bin]};
	return first.index < 0 ? compare(p.simulation[0], p.expected_simulation) : first;
}

static void release(problem &p)
{
	consumer_release(&p.host);
	consumer_release(&p.expected);
	for (uint32_t *values :
	     {p.signal[0], p.signal[1], p.simulation[0], p.simulation[1], p.keys, p.counts})
		CUDA_CHECK(cudaFree(values));
	CUDA_CHECK(cudaGraphDestroy(p.smoothing));
	for (cudaEvent_t event : {p.counted, p.forked, p.joined})
		CUDA_CHECK(cudaEventDestroy(event));
	for (cudaStream_t stream : {p.stream, p.second, p.third})
		CUDA_CHECK(cudaStreamDestroy(stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "captured from one stream: a chain", run, setup_naive, teardown},
	{"forked", "captured from three streams that fork and join", run, setup_forked, teardown},
	{"manual", "nodes added one by one, each behind what it needs", run, setup_manual,
	 teardown},
};

static const struct workload<problem> graph_manual = {
	.name = "graph_manual", .size = 1 << 13, .iterations = 50, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_manual)
