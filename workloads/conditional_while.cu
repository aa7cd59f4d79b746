/*
 * conditional_while (C4): Newton's method on many numbers at once, until the last of them is done.
 *
 * How many rounds a batch takes, if any, depends on its numbers.  The host can ask after each round
 * whether there is another; a graph can have as many rounds as there can ever be, of which the last
 * do nothing; or a WHILE node repeats a round for as long as it takes.
 */
#include <algorithm>

#include "conditional.cuh"
#include "workload.cuh"

/* On the device. */
struct loop {
	uint32_t batch;
	uint32_t unfinished; /* not 0: some root takes another round */
	uint32_t goes_on;    /* the decision */
};

struct problem {
	int size;
	uint32_t *results; /* how many rounds each batch took, then what all its roots add up to */
	uint32_t *rounds, *sums;
	uint32_t *numbers, *roots; /* of the batch at hand */
	struct loop *loop;
	uint32_t *seen;			/* what the host has read of the decision */
	std::vector<uint32_t> expected; /* results */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const int most_rounds = 16; /* that a number of 24 bits takes: all of them were tried */
static const int unrolled = 4;	   /* rounds in one body */

/* Numbers of 16, 24, 1 and 8 bits; those of one bit are their own roots, and take no round. */
static __host__ __device__ uint32_t number_at(uint32_t i, uint32_t batch)
{
	const int unused_bits[] = {16, 8, 31, 24};

	return scramble(i + scramble(batch)) >> unused_bits[batch % 4];
}

/* One step of Newton's method for the square root, rounded down.  Roots come from above: a step
 * that does not lead down has nowhere to go. */
static __host__ __device__ uint32_t stepped(uint32_t root, uint32_t number)
{
	return root ? (root + number / root) / 2 : 0;
}

static __host__ __device__ uint32_t added(uint32_t sum, uint32_t root)
{
	return sum * 31 + root;
}

static __device__ int thread_index()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* For all threads of the block. */
static __device__ void note_unfinished(struct loop *loop, bool is_unfinished)
{
	if (__syncthreads_or(is_unfinished) && threadIdx.x == 0)
		atomicOr(&loop->unfinished, 1);
}

static __global__ void start_kernel(uint32_t *numbers, uint32_t *roots, int size, struct loop *loop)
{
	int i = thread_index();
	bool is_unfinished = false;

	if (i < size) {
		uint32_t number = number_at(i, loop->batch);

		numbers[i] = roots[i] = number;
		is_unfinished = stepped(number, number) < number;
	}
	note_unfinished(loop, is_unfinished);
}

static __global__ void round_kernel(const uint32_t *numbers, uint32_t *roots, int size,
				    struct loop *loop, uint32_t *rounds, struct guard guard)
{
	int i = thread_index();
	bool is_unfinished = false;

	if (!is_wanted(guard))
		return;
	if (i == 0)
		rounds[loop->batch]++;
	if (i < size) {
		uint32_t number = numbers[i], root = min(roots[i], stepped(roots[i], number));

		roots[i] = root;
		is_unfinished = stepped(root, number) < root;
	}
	note_unfinished(loop, is_unfinished);
}

static __global__ void decide_kernel(struct loop *loop, struct decision goes_on)
{
	decide(goes_on, loop->unfinished);
	loop->unfinished = 0;
}

static __global__ void collect_kernel(const uint32_t *roots, uint32_t *sums, int size,
				      struct loop *loop)
{
	int i = thread_index();

	if (i == 0)
		loop->batch++;
	if (i < size)
		sums[i] = added(sums[i], roots[i]);
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static void launch_decide(problem &p, const struct decision &goes_on, cudaStream_t stream)
{
	CUDA_LAUNCH(decide_kernel<<<1, 1, 0, stream>>>(p.loop, goes_on));
}

static void launch_start(problem &p, const struct decision &goes_on)
{
	CUDA_LAUNCH(start_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.numbers, p.roots,
									      p.size, p.loop));
	launch_decide(p, goes_on, p.stream);
}

static void launch_round(problem &p, const struct decision &goes_on, struct guard guard,
			 cudaStream_t stream)
{
	CUDA_LAUNCH(round_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.numbers, p.roots,
									    p.size, p.loop,
									    p.rounds, guard));
	launch_decide(p, goes_on, stream);
}

static void launch_collect(problem &p)
{
	CUDA_LAUNCH(collect_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.roots, p.sums,
										p.size, p.loop));
}

/* ---- variants ---- */

static void run_naive(problem &p, int iterations)
{
	struct decision goes_on = decision_in_memory(&p.loop->goes_on);

	for (int i = 0; i < iterations; i++) {
		launch_start(p, goes_on);
		while (read_back(p.seen, &p.loop->goes_on, p.stream))
			launch_round(p, goes_on, unguarded, p.stream);
		launch_collect(p);
	}
}

/* Takes a bound for the rounds, and every batch takes as long as the one that needs them all. */
static void setup_predicated(problem &p)
{
	struct decision goes_on = decision_in_memory(&p.loop->goes_on);

	graph_begin(p.stream);
	launch_start(p, goes_on);
	for (int i = 0; i < most_rounds; i++)
		launch_round(p, goes_on, {&p.loop->goes_on, 1}, p.stream);
	launch_collect(p);
	p.graph = graph_finish_host(p.stream);
}

/* The decision falls once before the loop and once a round: a batch may take no round at all. */
static void setup_conditional(problem &p)
{
	struct decision goes_on;

	graph_begin(p.stream);
	goes_on = decision_for_node(&p.loop->goes_on, p.stream);
	launch_start(p, goes_on);
	graph_while(p.stream, goes_on,
		    [&](cudaStream_t body) { launch_round(p, goes_on, unguarded, body); });
	launch_collect(p);
	p.graph = graph_finish_host(p.stream);
}

/* Both ways in one: the node repeats several rounds, and those that are not needed return. */
static void setup_unrolled(problem &p)
{
	struct decision goes_on;

	graph_begin(p.stream);
	goes_on = decision_for_node(&p.loop->goes_on, p.stream);
	launch_start(p, goes_on);
	graph_while(p.stream, goes_on, [&](cudaStream_t body) {
		for (int i = 0; i < unrolled; i++)
			launch_round(p, goes_on, {&p.loop->goes_on, 1}, body);
	});
	launch_collect(p);
	p.graph = graph_finish_host(p.stream);
}

/* ---- the problem ---- */

/* The scalar model of one batch; a batch takes as many rounds as the slowest of its numbers. */
static uint32_t batch_reference(uint32_t *sums, long size, uint32_t batch)
{
	uint32_t most = 0;

	for (long i = 0; i < size; i++) {
		uint32_t number = number_at(i, batch), root = number, next, rounds = 0;

		for (; (next = stepped(root, number)) < root; root = next)
			rounds++;
		most = std::max(most, rounds);
		sums[i] = added(sums[i], root);
	}
	return most;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.expected.resize(iterations + size);
	for (int i = 0; i < iterations; i++)
		p.expected[i] = batch_reference(&p.expected[iterations], size, i);
	p.results = device_array<uint32_t>(p.expected.size());
	p.rounds = p.results;
	p.sums = p.results + iterations;
	p.numbers = device_array<uint32_t>(size);
	p.roots = device_array<uint32_t>(size);
	p.loop = device_array<struct loop>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.results, 0, p.expected.size() * sizeof(*p.results)));
	CUDA_CHECK(cudaMemset(p.loop, 0, sizeof(*p.loop)));
}

static struct difference check(const problem &p)
{
	return compare(p.results, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.results));
	CUDA_CHECK(cudaFree(p.numbers));
	CUDA_CHECK(cudaFree(p.roots));
	CUDA_CHECK(cudaFree(p.loop));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host asks before every round whether there is one", run_naive},
	{"predicated", "a graph a batch with all rounds that there can be", run_graph,
	 setup_predicated, teardown_graph},
	{"conditional", "a graph a batch, with a round in a WHILE node", run_graph,
	 setup_conditional, teardown_graph, why_no_conditional},
	{"conditional_unrolled", "as conditional, with four rounds in the node", run_graph,
	 setup_unrolled, teardown_graph, why_no_conditional},
};

static const struct workload<problem> conditional_while = {
	.name = "conditional_while", .size = 1 << 16, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_while)
