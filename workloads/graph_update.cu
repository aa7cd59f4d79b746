/*
 * graph_update (B5): every call brings a problem of another size, and a graph has its sizes inside.
 *
 * A graph keeps the grids and arguments that it was made with.  It can be made anew for each call,
 * updated, or made so that it asks for the size when it runs.  Long problems need one more kernel:
 * an update changes parameters, not the shape, so CUDA refuses it and the graph is made anew.
 */
#include <algorithm>

#include "graph_capture.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int short_chain = 4, long_chain = 5; /* kernels of a call */

/* How many values a call is about. */
struct extent {
	int longest;	   /* what the grid has to cover */
	int long_above;	   /* a problem of more values is long */
	const int *length; /* of the call, on the device; nullptr: longest */
};

struct problem {
	int size, long_above;
	std::vector<int> lengths; /* of each call */
	uint32_t *values;
	std::vector<uint32_t> initial, expected;
	cudaStream_t stream;
	long instantiations, demanded_instantiations; /* of this run */
	/* set_params: a graph of the long chain */
	cudaGraph_t graph;
	cudaGraphNode_t nodes[long_chain];
	cudaGraphExec_t exec;
	bool last_is_enabled;
	/* bucket: graphs for up to 1, 2, 4 ... values, and where they find the length of the call */
	std::vector<cudaGraphExec_t> buckets;
	int *mailbox; /* [calls], pinned: what the host has asked for */
	int *calls;   /* that were taken out of it */
	int *length;  /* of the one under way */
};

/* ---- what all variants and the scalar reference share ---- */

static __host__ __device__ uint32_t step(int kernel, uint32_t x)
{
	switch (kernel) {
	case 0:
		return x * 747796405u;
	case 1:
		return x + 2891336453u;
	case 2:
		return x ^ x >> 15;
	case 3:
		return x << 7 | x >> 25;
	default:
		return x ^ x << 9; /* of long problems only */
	}
}

static __host__ __device__ int chain_length(int length, int long_above)
{
	return length > long_above ? long_chain : short_chain;
}

template <int kernel> static __global__ void step_kernel(uint32_t *values, struct extent extent)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int length = extent.length ? *extent.length : extent.longest;

	if (i < length && kernel < chain_length(length, extent.long_above))
		values[i] = step(kernel, values[i]);
}

static void (*const chain[long_chain])(uint32_t *, struct extent) = {
	step_kernel<0>, step_kernel<1>, step_kernel<2>, step_kernel<3>, step_kernel<4>,
};

/* Of a call, when the host knows its length. */
static struct extent extent_of(const problem &p, int length)
{
	return {length, p.long_above, nullptr};
}

static int blocks(int longest)
{
	return (longest + block_size - 1) / block_size;
}

static void launch_chain(problem &p, struct extent extent)
{
	for (int kernel = 0; kernel < chain_length(extent.longest, extent.long_above); kernel++)
		CUDA_LAUNCH(
			chain[kernel]<<<blocks(extent.longest), block_size, 0, p.stream>>>(p.values,
											   extent));
}

/* No graph: what the others have to beat. */
static void run_stream(problem &p, int calls)
{
	for (int call = 0; call < calls; call++)
		launch_chain(p, extent_of(p, p.lengths[call]));
}

/* ---- a graph for every call ---- */

static cudaGraph_t capture(problem &p, int length)
{
	cudaGraph_t graph;

	graph_begin(p.stream);
	launch_chain(p, extent_of(p, length));
	CUDA_CHECK(cudaStreamEndCapture(p.stream, &graph));
	return graph;
}

static cudaGraphExec_t instantiate(problem &p, cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	p.instantiations++;
	return exec;
}

/* A graph that is still running is freed when it has finished. */
static void run_naive(problem &p, int calls)
{
	p.demanded_instantiations = calls;
	for (int call = 0; call < calls; call++) {
		cudaGraph_t graph = capture(p, p.lengths[call]);
		cudaGraphExec_t exec = instantiate(p, graph);

		CUDA_CHECK(cudaGraphLaunch(exec, p.stream));
		CUDA_CHECK(cudaGraphExecDestroy(exec));
		CUDA_CHECK(cudaGraphDestroy(graph));
	}
}

/* ---- one graph, which takes over the parameters of another ---- */

/* The graph of the next call, by way of the last one's where that can be.  CUDA refuses to update a
 * graph to one of another shape (cudaErrorGraphExecUpdateFailure) and leaves it as it was. */
static cudaGraphExec_t update_or_instantiate(problem &p, cudaGraphExec_t exec, cudaGraph_t graph)
{
	cudaGraphExecUpdateResultInfo why;

	if (exec && CUDA_TRY(cudaGraphExecUpdate(exec, graph, &why)) == cudaSuccess)
		return exec;
	if (exec)
		CUDA_CHECK(cudaGraphExecDestroy(exec));
	return instantiate(p, graph);
}

/* The first call has nothing to update, nor has one that is long after a short one or short after a
 * long one. */
static long count_shapes(const problem &p)
{
	long count = 1;

	for (size_t call = 1; call < p.lengths.size(); call++)
		count += chain_length(p.lengths[call], p.long_above) !=
			 chain_length(p.lengths[call - 1], p.long_above);
	return count;
}

static void run_exec_update(problem &p, int calls)
{
	cudaGraphExec_t exec = nullptr;

	p.demanded_instantiations = count_shapes(p);
	for (int call = 0; call < calls; call++) {
		cudaGraph_t graph = capture(p, p.lengths[call]);

		exec = update_or_instantiate(p, exec, graph);
		CUDA_CHECK(cudaGraphLaunch(exec, p.stream));
		CUDA_CHECK(cudaGraphDestroy(graph));
	}
	CUDA_CHECK(cudaGraphExecDestroy(exec));
}

/* ---- one graph, of which each node is given its parameters ---- */

/* A kernel of the chain as a node.  CUDA copies the arguments when it is given the parameters. */
struct kernel_node {
	struct extent extent;
	void *arguments[2];
	cudaKernelNodeParams params;
};

static void describe(problem &p, int kernel, int length, struct kernel_node *node)
{
	*node = {};
	node->extent = extent_of(p, length);
	node->arguments[0] = &p.values;
	node->arguments[1] = &node->extent;
	node->params.func = (void *)chain[kernel];
	node->params.gridDim = dim3(blocks(length));
	node->params.blockDim = dim3(block_size);
	node->params.kernelParams = node->arguments;
}

/* Off, the kernel of long problems is a node that does nothing: the shape stays the same. */
static void enable_last(problem &p, bool enabled)
{
	if (p.last_is_enabled == enabled)
		return;
	CUDA_CHECK(cudaGraphNodeSetEnabled(p.exec, p.nodes[long_chain - 1], enabled));
	p.last_is_enabled = enabled;
}

static void setup_set_params(problem &p)
{
	struct kernel_node node;

	CUDA_CHECK(cudaGraphCreate(&p.graph, 0));
	for (int kernel = 0; kernel < long_chain; kernel++) {
		describe(p, kernel, p.size, &node);
		CUDA_CHECK(cudaGraphAddKernelNode(&p.nodes[kernel], p.graph,
						  kernel ? &p.nodes[kernel - 1] : nullptr,
						  kernel ? 1 : 0, &node.params));
	}
	p.exec = instantiate(p, p.graph);
	p.last_is_enabled = true;
	CUDA_CHECK(cudaGraphUpload(p.exec, p.stream));
}

static void run_set_params(problem &p, int calls)
{
	struct kernel_node node;

	for (int call = 0; call < calls; call++) {
		int kernels = chain_length(p.lengths[call], p.long_above);

		enable_last(p, kernels == long_chain);
		for (int kernel = 0; kernel < kernels; kernel++) {
			describe(p, kernel, p.lengths[call], &node);
			CUDA_CHECK(cudaGraphExecKernelNodeSetParams(p.exec, p.nodes[kernel],
								    &node.params));
		}
		CUDA_CHECK(cudaGraphLaunch(p.exec, p.stream));
	}
}

static void teardown_set_params(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.exec));
	CUDA_CHECK(cudaGraphDestroy(p.graph));
}

/* ---- one graph per bucket of sizes, which asks for the length when it runs ---- */

/* The next call that the host has asked for. */
static __global__ void take_kernel(const int *mailbox, int *calls, int *length)
{
	*length = mailbox[(*calls)++];
}

/* The first bucket with room for so many values. */
static int bucket_of(int length)
{
	int bucket = 0;

	while (1 << bucket < length)
		bucket++;
	return bucket;
}

static void setup_bucket(problem &p)
{
	for (int bucket = 0; bucket <= bucket_of(p.size); bucket++) {
		graph_begin(p.stream);
		CUDA_LAUNCH(take_kernel<<<1, 1, 0, p.stream>>>(p.mailbox, p.calls, p.length));
		launch_chain(p, {std::min(1 << bucket, p.size), p.long_above, p.length});
		p.buckets.push_back(graph_finish_host(p.stream));
	}
}

/* Each call has a place of its own in the mailbox: the host may be many calls ahead of the GPU. */
static void run_bucket(problem &p, int calls)
{
	for (int call = 0; call < calls; call++) {
		p.mailbox[call] = p.lengths[call];
		CUDA_CHECK(cudaGraphLaunch(p.buckets[bucket_of(p.lengths[call])], p.stream));
	}
}

static void teardown_bucket(problem &p)
{
	for (cudaGraphExec_t bucket : p.buckets)
		CUDA_CHECK(cudaGraphExecDestroy(bucket));
	p.buckets.clear();
}

/* ---- the problem ---- */

static uint32_t hash(uint32_t x)
{
	x = (x ^ x >> 16) * 2146121005u;
	x = (x ^ x >> 15) * 2221713035u;
	return x ^ x >> 16;
}

/* Of a call: up to all, a half, a quarter or an eighth of the values, so that short ones prevail.
 * The sequence starts where its second call is a long one. */
static int length_of_call(int call, long size)
{
	uint32_t place = call + 100;
	uint64_t most = std::max(1L, size >> (hash(place) % 4));

	return 1 + ((most * hash(~place)) >> 32);
}

/* The scalar reference: call after call, value after value. */
static std::vector<uint32_t> reference(const problem &p)
{
	std::vector<uint32_t> values = p.initial;

	for (int length : p.lengths)
		for (int i = 0; i < length; i++)
			for (int kernel = 0; kernel < chain_length(length, p.long_above); kernel++)
				values[i] = step(kernel, values[i]);
	return values;
}

static void prepare(problem &p, long size, int calls)
{
	p.size = size;
	p.long_above = size - size / 4;
	for (int call = 0; call < calls; call++)
		p.lengths.push_back(length_of_call(call, size));
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * 2654435769u;
	p.expected = reference(p);
	p.values = device_array<uint32_t>(size);
	p.calls = device_array<int>(1);
	p.length = device_array<int>(1);
	CUDA_CHECK(cudaMallocHost(&p.mailbox, calls * sizeof(*p.mailbox)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	p.instantiations = p.demanded_instantiations = 0;
	std::fill_n(p.mailbox, p.lengths.size(), 0);
	CUDA_CHECK(cudaMemset(p.calls, 0, sizeof(*p.calls)));
	CUDA_CHECK(cudaMemset(p.length, 0, sizeof(*p.length)));
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
}

/* A fallback that did not happen, or one too many, is an error also where the values are right. */
static void require_instantiations(const problem &p)
{
	if (p.instantiations == p.demanded_instantiations)
		return;
	fprintf(stderr,
		"graph_update: %ld graphs were instantiated in a run, where the sequence of calls "
		"demands %ld\n",
		p.instantiations, p.demanded_instantiations);
	exit(1);
}

static struct difference check(const problem &p)
{
	require_instantiations(p);
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	CUDA_CHECK(cudaFree(p.calls));
	CUDA_CHECK(cudaFree(p.length));
	CUDA_CHECK(cudaFreeHost(p.mailbox));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a graph captured, instantiated and destroyed in every call", run_naive},
	{"stream", "no graph, a launch for each kernel", run_stream},
	{"exec_update", "captured in every call, and one graph updated to it", run_exec_update},
	{"set_params", "one graph, whose nodes are given their parameters", run_set_params,
	 setup_set_params, teardown_set_params},
	{"bucket", "a graph for each power of two, which reads the size when it runs", run_bucket,
	 setup_bucket, teardown_bucket},
};

static const struct workload<problem> graph_update = {
	.name = "graph_update", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_update)
