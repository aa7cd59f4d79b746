/*
 * conditional_if (C4): values that grow, and have to be scaled down now and then.
 *
 * When their sum has passed a limit, that is: only the GPU knows.  The host can ask in every step
 * and wait for the answer, or launch the scaling in any case, which then does nothing in most
 * steps.  In a graph an IF node decides.
 */
#include "block.cuh"
#include "conditional.cuh"
#include "workload.cuh"

struct problem {
	int size;
	uint32_t *results; /* how often the values were scaled down, then the values */
	uint32_t *scaled_count, *values;
	unsigned long long *sum;       /* of all values */
	uint32_t *is_too_large, *seen; /* the decision, and what the host has read of it */
	std::vector<uint32_t> initial, expected; /* results */
	cudaStream_t stream;
	cudaGraphExec_t graph, batch; /* of one step, of several */
};

static const int block_size = 256;
static const int count_of_counts = 1;
static const int batch_steps = 10;	      /* in the larger graph */
static const unsigned long long limit = 1024; /* for the mean of all values */

/* By 1 to 256. */
static __host__ __device__ uint32_t grown(uint32_t x)
{
	return x + 1 + (scramble(x) >> 24);
}

static __global__ void grow_kernel(uint32_t *values, int size, unsigned long long *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long value = 0;

	if (i < size)
		value = values[i] = grown(values[i]);
	value = block_sum<block_size>(value);
	if (threadIdx.x == 0)
		atomicAdd(sum, value);
}

static __global__ void decide_kernel(unsigned long long *sum, int size, struct decision too_large)
{
	decide(too_large, *sum > limit * size);
	*sum = 0;
}

static __global__ void scale_down_kernel(uint32_t *values, int size, uint32_t *count,
					 struct guard guard)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (!is_wanted(guard))
		return;
	if (i == 0)
		++*count;
	if (i < size)
		values[i] /= 2;
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static void launch_grow(problem &p, const struct decision &too_large)
{
	CUDA_LAUNCH(
		grow_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.values, p.size, p.sum));
	CUDA_LAUNCH(decide_kernel<<<1, 1, 0, p.stream>>>(p.sum, p.size, too_large));
}

static void launch_scale_down(problem &p, struct guard guard, cudaStream_t stream)
{
	CUDA_LAUNCH(scale_down_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.values, p.size,
										 p.scaled_count,
										 guard));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_grow(p, decision_in_memory(p.is_too_large));
		if (read_back(p.seen, p.is_too_large, p.stream))
			launch_scale_down(p, unguarded, p.stream);
	}
}

/* Nobody asks: the scaling is a part of every step, and looks at the decision itself. */
static void setup_predicated(problem &p)
{
	graph_begin(p.stream);
	launch_grow(p, decision_in_memory(p.is_too_large));
	launch_scale_down(p, {p.is_too_large, 1}, p.stream);
	p.graph = graph_finish_host(p.stream);
}

static void add_conditional_step(problem &p)
{
	struct decision too_large = decision_for_node(p.is_too_large, p.stream);

	launch_grow(p, too_large);
	graph_if(p.stream, too_large,
		 [&](cudaStream_t body) { launch_scale_down(p, unguarded, body); });
}

static void setup_conditional(problem &p)
{
	graph_begin(p.stream);
	add_conditional_step(p);
	p.graph = graph_finish_host(p.stream);
}

/* As nobody waits between steps, a graph can have several, each with a node of its own. */
static void setup_batch(problem &p)
{
	setup_conditional(p);
	graph_begin(p.stream);
	for (int i = 0; i < batch_steps; i++)
		add_conditional_step(p);
	p.batch = graph_finish_host(p.stream);
}

static void run_batches(problem &p, int iterations)
{
	for (int i = 0; i < iterations / batch_steps; i++)
		CUDA_CHECK(cudaGraphLaunch(p.batch, p.stream));
	run_graph(p, iterations % batch_steps);
}

static void teardown_batch(problem &p)
{
	CUDA_CHECK(cudaGraphExecDestroy(p.batch));
	teardown_graph(p);
}

/* The scalar model of one step. */
static void step_reference(std::vector<uint32_t> &results)
{
	size_t size = results.size() - count_of_counts;
	uint32_t *values = &results[count_of_counts];
	unsigned long long sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += values[i] = grown(values[i]);
	if (sum <= limit * size)
		return;
	for (size_t i = 0; i < size; i++)
		values[i] /= 2;
	results[0]++;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(count_of_counts + size);
	for (long i = 0; i < size; i++)
		p.initial[count_of_counts + i] = i % limit;
	p.expected = p.initial;
	for (int i = 0; i < iterations; i++)
		step_reference(p.expected);
	p.results = device_array<uint32_t>(p.initial.size());
	p.scaled_count = p.results;
	p.values = p.results + count_of_counts;
	p.sum = device_array<unsigned long long>(1);
	p.is_too_large = device_array<uint32_t>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.results, p.initial.data(), p.initial.size() * sizeof(*p.results),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.sum, 0, sizeof(*p.sum)));
}

static struct difference check(const problem &p)
{
	return compare(p.results, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.results));
	CUDA_CHECK(cudaFree(p.sum));
	CUDA_CHECK(cudaFree(p.is_too_large));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads the decision and launches the scaling when it is due", run_naive},
	{"predicated", "a graph a step, whose scaling returns at once when it is not due",
	 run_graph, setup_predicated, teardown_graph},
	{"conditional", "a graph a step, with the scaling in an IF node", run_graph,
	 setup_conditional, teardown_graph, why_no_conditional},
	{"conditional_batch", "as conditional, with ten steps in a graph", run_batches, setup_batch,
	 teardown_batch, why_no_conditional},
};

static const struct workload<problem> conditional_if = {
	.name = "conditional_if", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_if)
