/*
 * graph_forkjoin (B3): three branches that do not need each other, and a kernel that needs all.
 *
 * A branch is a chain of small kernels, each of which fills a fraction of the GPU.  In one stream
 * they run one after the other.  With a stream a branch they run together, and the host pays for
 * every launch and every event.  A capture follows the events from stream to stream, so the same
 * calls make a graph that forks and joins, which is one call.
 */
#include "graph_capture.cuh"
#include "mirror.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int branches = 3, chain_length = 3; /* kernels of a branch, an odd number */
static const int churn_count = 512;		 /* of each of them */

struct problem {
	int size;
	uint32_t *values; /* of size: an iteration starts from them and makes them anew */
	uint32_t *work[branches][2];   /* of size each: a kernel reads one and writes the other */
	cudaStream_t stream[branches]; /* the first is that of the whole work, too */
	cudaEvent_t forked, joined[branches]; /* joined: of the other branches only */
	cudaGraphExec_t graph;
	std::vector<uint32_t> initial, expected;
};

static __global__ void branch_kernel(const uint32_t *from, uint32_t *to, int size, int branch)
{
	mirror_step(from, to, size, churn_count, branch);
}

static __host__ __device__ uint32_t join(uint32_t a, uint32_t b, uint32_t c)
{
	return (a + 3 * b) ^ c;
}

static __global__ void join_kernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
				   uint32_t *values, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		values[i] = join(a[i], b[i], c[i]);
}

static int blocks(const problem &p)
{
	return (p.size + block_size - 1) / block_size;
}

/* Leaves its result in work[branch][0]. */
static void launch_branch(problem &p, int branch, cudaStream_t stream)
{
	const uint32_t *from = p.values;

	for (int k = 0; k < chain_length; k++) {
		uint32_t *to = p.work[branch][k % 2];

		CUDA_LAUNCH(branch_kernel<<<blocks(p), block_size, 0, stream>>>(from, to, p.size,
										branch));
		from = to;
	}
}

static void launch_join(problem &p)
{
	CUDA_LAUNCH(join_kernel<<<blocks(p), block_size, 0, p.stream[0]>>>(
		p.work[0][0], p.work[1][0], p.work[2][0], p.values, p.size));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		for (int branch = 0; branch < branches; branch++)
			launch_branch(p, branch, p.stream[0]);
		launch_join(p);
	}
}

/* The other streams go on from where the first one is now. */
static void fork_streams(problem &p)
{
	CUDA_CHECK(cudaEventRecord(p.forked, p.stream[0]));
	for (int branch = 1; branch < branches; branch++)
		CUDA_CHECK(cudaStreamWaitEvent(p.stream[branch], p.forked, 0));
}

/* The first stream goes on when the others are where they are now. */
static void join_streams(problem &p)
{
	for (int branch = 1; branch < branches; branch++) {
		CUDA_CHECK(cudaEventRecord(p.joined[branch], p.stream[branch]));
		CUDA_CHECK(cudaStreamWaitEvent(p.stream[0], p.joined[branch], 0));
	}
}

static void run_streams(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		fork_streams(p);
		for (int branch = 0; branch < branches; branch++)
			launch_branch(p, branch, p.stream[branch]);
		join_streams(p);
		launch_join(p);
	}
}

static void setup_graph_series(problem &p)
{
	graph_begin(p.stream[0]);
	run_naive(p, 1);
	p.graph = graph_finish_host(p.stream[0]);
}

/* Only the first stream is told of the capture: the fork takes the others into it, and the join,
 * without which it could not end, takes them out. */
static void setup_graph(problem &p)
{
	graph_begin(p.stream[0]);
	run_streams(p, 1);
	p.graph = graph_finish_host(p.stream[0]);
}

static void run_graph(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream[0]));
}

static void teardown_graph(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.graph));
}

static std::vector<uint32_t> reference_branch(std::vector<uint32_t> values, int branch)
{
	for (int k = 0; k < chain_length; k++)
		values = mirror_reference(values, churn_count, branch);
	return values;
}

static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	for (int iteration = 0; iteration < iterations; iteration++) {
		std::vector<uint32_t> a = reference_branch(values, 0);
		std::vector<uint32_t> b = reference_branch(values, 1);
		std::vector<uint32_t> c = reference_branch(values, 2);

		for (size_t i = 0; i < values.size(); i++)
			values[i] = join(a[i], b[i], c[i]);
	}
	return values;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * CHURN_FACTOR;
	p.expected = reference(p.initial, iterations);
	p.values = device_array<uint32_t>(size);
	for (auto &pair : p.work)
		for (uint32_t *&work : pair)
			work = device_array<uint32_t>(size);
	for (cudaStream_t &stream : p.stream)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&p.forked, cudaEventDisableTiming));
	for (int branch = 1; branch < branches; branch++)
		CUDA_CHECK(cudaEventCreateWithFlags(&p.joined[branch], cudaEventDisableTiming));
}

/* What an earlier run left in work could pass for what this one has not made yet. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.values, p.initial.data(), p.size * sizeof(*p.values),
			      cudaMemcpyHostToDevice));
	for (auto &pair : p.work)
		for (uint32_t *work : pair)
			CUDA_CHECK(cudaMemset(work, 0xff, p.size * sizeof(*work)));
}

static struct difference check(const problem &p)
{
	return compare(p.values, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.values));
	for (auto &pair : p.work)
		for (uint32_t *work : pair)
			CUDA_CHECK(cudaFree(work));
	for (cudaStream_t stream : p.stream)
		CUDA_CHECK(cudaStreamDestroy(stream));
	CUDA_CHECK(cudaEventDestroy(p.forked));
	for (int branch = 1; branch < branches; branch++)
		CUDA_CHECK(cudaEventDestroy(p.joined[branch]));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the branches one after the other in one stream", run_naive},
	{"streams", "a stream a branch, fork and join by events", run_streams},
	{"graph_series", "naive captured: one launch, the branches still in series", run_graph,
	 setup_graph_series, teardown_graph},
	{"graph", "streams captured: one launch of a graph that forks and joins", run_graph,
	 setup_graph, teardown_graph},
};

static const struct workload<problem> graph_forkjoin = {
	.name = "graph_forkjoin", .size = 1 << 13, .iterations = 50, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(graph_forkjoin)
