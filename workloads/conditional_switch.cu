/*
 * conditional_switch (C4): a batch of values that goes to one of four experts, or to none.
 *
 * The values vote: the expert with the most votes gets the whole batch, and when abstention has the
 * most, nobody does.  The host can count the choices with one read, a graph can launch all experts
 * and let three of them return, or a SWITCH node picks one.
 */
#include "conditional.cuh"
#include "workload.cuh"

enum { EXPERT_COUNT = 4, CHOICE_COUNT = EXPERT_COUNT + 1 }; /* the last choice is abstention */

/* On the device. */
struct ballot {
	uint32_t number; /* of the batch */
	uint32_t votes[CHOICE_COUNT];
	uint32_t winner; /* the decision */
};

struct problem {
	int size;
	uint32_t *results; /* how many batches each expert had, then the values */
	uint32_t *batch_counts, *values;
	struct ballot *ballot;
	uint32_t *seen;				 /* what the host has read of the decision */
	std::vector<uint32_t> initial, expected; /* results */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;

static __host__ __device__ int vote_of(uint32_t value, uint32_t batch)
{
	return scramble(value + scramble(batch)) % CHOICE_COUNT;
}

/* The first of those with the most votes. */
static __host__ __device__ int winner_of(const uint32_t *votes)
{
	int winner = 0;

	for (int choice = 1; choice < CHOICE_COUNT; choice++)
		if (votes[choice] > votes[winner])
			winner = choice;
	return winner;
}

static __host__ __device__ uint32_t treated(int expert, uint32_t x)
{
	switch (expert) {
	case 0:
		return x * 747796405u;
	case 1:
		return x + 2891336453u;
	case 2:
		return x ^ x >> 15;
	default:
		return x << 7 | x >> 25;
	}
}

static __global__ void vote_kernel(const uint32_t *values, int size, struct ballot *ballot)
{
	__shared__ uint32_t votes[CHOICE_COUNT];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < CHOICE_COUNT)
		votes[threadIdx.x] = 0;
	__syncthreads();
	if (i < size)
		atomicAdd(&votes[vote_of(values[i], ballot->number)], 1);
	__syncthreads();
	if (threadIdx.x < CHOICE_COUNT)
		atomicAdd(&ballot->votes[threadIdx.x], votes[threadIdx.x]);
}

static __global__ void count_kernel(struct ballot *ballot, struct decision winner)
{
	decide(winner, winner_of(ballot->votes));
	ballot->number++;
	for (uint32_t &votes : ballot->votes)
		votes = 0;
}

template <int expert>
static __global__ void expert_kernel(uint32_t *values, int size, uint32_t *batch_counts,
				     struct guard guard)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (!is_wanted(guard))
		return;
	if (i == 0)
		batch_counts[expert]++;
	if (i < size)
		values[i] = treated(expert, values[i]);
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static void launch_vote(problem &p, const struct decision &winner)
{
	CUDA_LAUNCH(vote_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.values, p.size,
									     p.ballot));
	CUDA_LAUNCH(count_kernel<<<1, 1, 0, p.stream>>>(p.ballot, winner));
}

static void launch_expert(problem &p, int expert, struct guard guard, cudaStream_t stream)
{
	static void (*const kernels[EXPERT_COUNT])(uint32_t *, int, uint32_t *, struct guard) = {
		expert_kernel<0>, expert_kernel<1>, expert_kernel<2>, expert_kernel<3>};

	CUDA_LAUNCH(kernels[expert]<<<blocks(p.size), block_size, 0, stream>>>(p.values, p.size,
									       p.batch_counts,
									       guard));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		uint32_t winner;

		launch_vote(p, decision_in_memory(&p.ballot->winner));
		winner = read_back(p.seen, &p.ballot->winner, p.stream);
		if (winner < EXPERT_COUNT)
			launch_expert(p, winner, unguarded, p.stream);
	}
}

static void setup_predicated(problem &p)
{
	graph_begin(p.stream);
	launch_vote(p, decision_in_memory(&p.ballot->winner));
	for (int expert = 0; expert < EXPERT_COUNT; expert++)
		launch_expert(p, expert, {&p.ballot->winner, (uint32_t)expert}, p.stream);
	p.graph = graph_finish_host(p.stream);
}

/* Abstention has no body: a decision that is no body's number runs none. */
static void setup_conditional(problem &p)
{
	std::vector<graph_body> bodies;
	struct decision winner;

	for (int expert = 0; expert < EXPERT_COUNT; expert++)
		bodies.push_back([&p, expert](cudaStream_t body) {
			launch_expert(p, expert, unguarded, body);
		});
	graph_begin(p.stream);
	winner = decision_for_node(&p.ballot->winner, p.stream);
	launch_vote(p, winner);
	graph_switch(p.stream, winner, bodies);
	p.graph = graph_finish_host(p.stream);
}

/* The scalar model of one batch. */
static void batch_reference(std::vector<uint32_t> &results, uint32_t batch)
{
	size_t size = results.size() - EXPERT_COUNT;
	uint32_t *values = &results[EXPERT_COUNT], votes[CHOICE_COUNT] = {};
	int winner;

	for (size_t i = 0; i < size; i++)
		votes[vote_of(values[i], batch)]++;
	winner = winner_of(votes);
	if (winner == EXPERT_COUNT)
		return;
	for (size_t i = 0; i < size; i++)
		values[i] = treated(winner, values[i]);
	results[winner]++;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(EXPERT_COUNT + size);
	for (long i = 0; i < size; i++)
		p.initial[EXPERT_COUNT + i] = i;
	p.expected = p.initial;
	for (int i = 0; i < iterations; i++)
		batch_reference(p.expected, i);
	p.results = device_array<uint32_t>(p.initial.size());
	p.batch_counts = p.results;
	p.values = p.results + EXPERT_COUNT;
	p.ballot = device_array<struct ballot>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.results, p.initial.data(), p.initial.size() * sizeof(*p.results),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.ballot, 0, sizeof(*p.ballot)));
}

static struct difference check(const problem &p)
{
	return compare(p.results, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.results));
	CUDA_CHECK(cudaFree(p.ballot));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads who has won and launches that expert", run_naive},
	{"predicated", "a graph a batch with all experts, of which three or four return at once",
	 run_graph, setup_predicated, teardown_graph},
	{"conditional", "a graph a batch, with the experts in a SWITCH node", run_graph,
	 setup_conditional, teardown_graph, why_no_choice},
};

static const struct workload<problem> conditional_switch = {
	.name = "conditional_switch", .size = 1 << 16, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_switch)
