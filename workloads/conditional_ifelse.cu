/*
 * conditional_ifelse (C4): events that come for few cells or for many, and a way to go for either.
 *
 * Few cells with an event are listed, and the long work on them gets a thread for each of the list:
 * full warps.  For many the list is not worth its while, and every cell gets a thread.  How many
 * there are the GPU has counted; the host reads the count and chooses, or an IF/ELSE node does.
 */
#include <algorithm>

#include "conditional.cuh"
#include "workload.cuh"

enum path { PATH_LIST, PATH_ALL, PATH_COUNT };

/* What the kernels of one step tell those behind them, on the device. */
struct step {
	uint32_t number, active_count, list_length;
	uint32_t are_few; /* the decision */
};

struct problem {
	int size;
	uint32_t *results; /* how often each path was taken, then the cells */
	uint32_t *taken, *cells;
	uint8_t *active; /* of cells: has it an event? */
	uint32_t *list;	 /* cells with an event, in any order */
	struct step *step;
	uint32_t *seen;				 /* what the host has read of the decision */
	std::vector<uint32_t> initial, expected; /* results */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const int few_in = 8; /* few: at most one cell in so many */

/* For half of the cells in every fourth step, else for one in 64; it depends on the cell. */
static __host__ __device__ bool has_event(uint32_t cell, uint32_t step)
{
	return scramble(cell ^ scramble(step)) % 64 < (step % 4 == 0 ? 32 : 1);
}

static __host__ __device__ uint32_t worked_on(uint32_t cell)
{
	for (uint32_t round = 1; round <= 64; round++)
		cell = scramble(cell + round);
	return cell;
}

static __host__ __device__ bool are_few(uint32_t active_count, int size)
{
	return active_count <= (uint32_t)size / few_in;
}

static __device__ int thread_index()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void find_kernel(const uint32_t *cells, int size, uint8_t *active,
				   struct step *step)
{
	int i = thread_index(), block_count;
	bool is_active = i < size && has_event(cells[i], step->number);

	if (i < size)
		active[i] = is_active;
	block_count = __syncthreads_count(is_active);
	if (threadIdx.x == 0)
		atomicAdd(&step->active_count, block_count);
}

static __global__ void decide_kernel(struct step *step, int size, struct decision decision)
{
	decide(decision, are_few(step->active_count, size));
	step->number++;
	step->active_count = 0;
	step->list_length = 0;
}

/* ---- the two paths ---- */

static __global__ void list_kernel(const uint8_t *active, int size, uint32_t *list,
				   struct step *step, struct guard guard)
{
	int i = thread_index();

	if (is_wanted(guard) && i < size && active[i])
		list[atomicAdd(&step->list_length, 1)] = i;
}

static __global__ void work_on_list_kernel(uint32_t *cells, const uint32_t *list,
					   const struct step *step, uint32_t *taken,
					   struct guard guard)
{
	int i = thread_index();

	if (!is_wanted(guard))
		return;
	if (i == 0)
		taken[PATH_LIST]++;
	if (i < (int)step->list_length)
		cells[list[i]] = worked_on(cells[list[i]]);
}

static __global__ void work_on_all_kernel(uint32_t *cells, const uint8_t *active, int size,
					  uint32_t *taken, struct guard guard)
{
	int i = thread_index();

	if (!is_wanted(guard))
		return;
	if (i == 0)
		taken[PATH_ALL]++;
	if (i < size && active[i])
		cells[i] = worked_on(cells[i]);
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static int longest_list(int size)
{
	return std::max(1, size / few_in);
}

static void launch_find(problem &p, const struct decision &decision)
{
	CUDA_LAUNCH(find_kernel<<<blocks(p.size), block_size, 0, p.stream>>>(p.cells, p.size,
									     p.active, p.step));
	CUDA_LAUNCH(decide_kernel<<<1, 1, 0, p.stream>>>(p.step, p.size, decision));
}

/* The second grid is for as long a list as there can be: the host does not know its length. */
static void launch_list_path(problem &p, struct guard guard, cudaStream_t stream)
{
	CUDA_LAUNCH(list_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.active, p.size, p.list,
									   p.step, guard));
	CUDA_LAUNCH(work_on_list_kernel<<<blocks(longest_list(p.size)), block_size, 0, stream>>>(
		p.cells, p.list, p.step, p.taken, guard));
}

static void launch_all_path(problem &p, struct guard guard, cudaStream_t stream)
{
	CUDA_LAUNCH(work_on_all_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.cells, p.active,
										  p.size, p.taken,
										  guard));
}

/* ---- variants ---- */

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_find(p, decision_in_memory(&p.step->are_few));
		if (read_back(p.seen, &p.step->are_few, p.stream))
			launch_list_path(p, unguarded, p.stream);
		else
			launch_all_path(p, unguarded, p.stream);
	}
}

/* Both paths are launched in every step, and the kernels of one of them have nothing to do. */
static void setup_predicated(problem &p)
{
	graph_begin(p.stream);
	launch_find(p, decision_in_memory(&p.step->are_few));
	launch_list_path(p, {&p.step->are_few, 1}, p.stream);
	launch_all_path(p, {&p.step->are_few, 0}, p.stream);
	p.graph = graph_finish_host(p.stream);
}

static void setup_conditional(problem &p)
{
	struct decision few;

	graph_begin(p.stream);
	few = decision_for_node(&p.step->are_few, p.stream);
	launch_find(p, few);
	graph_if_else(
		p.stream, few, [&](cudaStream_t body) { launch_list_path(p, unguarded, body); },
		[&](cudaStream_t body) { launch_all_path(p, unguarded, body); });
	p.graph = graph_finish_host(p.stream);
}

/* ---- the problem ---- */

/* The scalar model of one step. */
static void step_reference(std::vector<uint32_t> &results, uint32_t step)
{
	size_t size = results.size() - PATH_COUNT;
	uint32_t *cells = &results[PATH_COUNT], active_count = 0;

	for (size_t i = 0; i < size; i++) {
		if (!has_event(cells[i], step))
			continue;
		cells[i] = worked_on(cells[i]);
		active_count++;
	}
	results[are_few(active_count, size) ? PATH_LIST : PATH_ALL]++;
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.initial.resize(PATH_COUNT + size);
	for (long i = 0; i < size; i++)
		p.initial[PATH_COUNT + i] = i;
	p.expected = p.initial;
	for (int i = 0; i < iterations; i++)
		step_reference(p.expected, i);
	p.results = device_array<uint32_t>(p.initial.size());
	p.taken = p.results;
	p.cells = p.results + PATH_COUNT;
	p.active = device_array<uint8_t>(size);
	p.list = device_array<uint32_t>(longest_list(size));
	p.step = device_array<struct step>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.results, p.initial.data(), p.initial.size() * sizeof(*p.results),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.step, 0, sizeof(*p.step)));
}

static struct difference check(const problem &p)
{
	return compare(p.results, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.results));
	CUDA_CHECK(cudaFree(p.active));
	CUDA_CHECK(cudaFree(p.list));
	CUDA_CHECK(cudaFree(p.step));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads the decision and launches one of the two paths", run_naive},
	{"predicated", "a graph a step with both paths, one of which returns at once", run_graph,
	 setup_predicated, teardown_graph},
	{"conditional", "a graph a step, with the paths in an IF/ELSE node", run_graph,
	 setup_conditional, teardown_graph, why_no_choice},
};

static const struct workload<problem> conditional_ifelse = {
	.name = "conditional_ifelse", .size = 1 << 18, .iterations = 40, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_ifelse)
