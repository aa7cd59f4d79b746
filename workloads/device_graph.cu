/*
 * device_graph (C1): rounds of a graph, and after each the GPU says whether there is another.
 *
 * The host relaunches the graph after reading a flag, or the graph's last kernel launches the next
 * round itself: in its own tail, as a sibling, or as parts that run beside each other.  `no_read` is
 * what a host could do that knew the number of rounds beforehand: compare with it, too.
 */
#include <algorithm>

#include "workload.cuh"
#include "churn.cuh"
#include "graph_launch.cuh"

/* How far the rounds are, on the device. */
struct progress {
	int limit; /* rounds until the GPU says stop */
	int round; /* finished ones; what the kernels of a round see is its number */
	int runs;  /* of the graph that launches the parts */
};

struct rounds {
	uint32_t *values[2]; /* a round reads one and writes the other */
	struct progress *progress;
	int size;
};

struct problem {
	struct rounds rounds;
	int iterations;
	std::vector<uint32_t> initial, expected;
	struct progress *seen; /* on the host */
	cudaStream_t stream;
	std::vector<cudaGraphExec_t> graphs; /* the host launches the last one */
	cudaGraphExec_t *queue;		     /* on the device, all but the last one */
};

static const int block_size = 256;
static const int gather_steps = 192, churn_count = 256; /* of either kernel of a round */
static const int part_size = 1 << 16; /* values that one graph of a part works on */

enum { STAMP_GATHER, STAMP_CHURN, STAMP_DECIDE, STAMP_LAUNCHER };
static const char *const stamp_names[] = {"gather", "churn", "decide", "launcher"};

static __host__ __device__ uint32_t pair(uint32_t near, uint32_t far)
{
	return near ^ (far >> 7);
}

/* A value depends on one from the other end, so a round must not start before the last has ended. */
static __global__ void gather_kernel(struct rounds r, int begin, int end, enum launched_by by)
{
	int i = begin + blockIdx.x * blockDim.x + threadIdx.x, round = r.progress->round;
	const uint32_t *from = r.values[round & 1];
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (i < end)
		r.values[~round & 1][i] = churn(pair(from[i], from[r.size - 1 - i]), gather_steps);
	stamp_end(&start_ns, stamp_launcher(by, round), STAMP_GATHER);
}

static __global__ void churn_kernel(struct rounds r, int begin, int end, enum launched_by by)
{
	int i = begin + blockIdx.x * blockDim.x + threadIdx.x, round = r.progress->round;
	uint32_t *to = r.values[~round & 1];
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (i < end)
		to[i] = churn(to[i], churn_count);
	stamp_end(&start_ns, stamp_launcher(by, round), STAMP_CHURN);
}

/* Ends a round; true: there is another. */
static __device__ bool finish_round(struct progress *progress)
{
	return ++progress->round < progress->limit;
}

static __global__ void decide_kernel(struct progress *progress, enum launched_by by)
{
	int round = progress->round;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	finish_round(progress);
	stamp_end(&start_ns, stamp_launcher(by, round), STAMP_DECIDE);
}

static __global__ void decide_tail_kernel(struct progress *progress)
{
	int round = progress->round;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (finish_round(progress))
		graph_relaunch_self();
	stamp_end(&start_ns, stamp_launcher(FIRST_BY_HOST, round), STAMP_DECIDE);
}

/* Nothing of this round runs after this kernel but its own last instructions. */
static __global__ void decide_sibling_kernel(struct progress *progress, cudaGraphExec_t next)
{
	int round = progress->round;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (finish_round(progress) && next)
		graph_launch(next, LAUNCH_SIBLING);
	stamp_end(&start_ns, stamp_launcher(FIRST_BY_HOST, round), STAMP_DECIDE);
}

/* The graph of this kernel ends when its parts have: only then its tail runs the next round. */
static __global__ void launch_parts_kernel(struct progress *progress, const cudaGraphExec_t *parts,
					   int count)
{
	int run = progress->runs++;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	progress->round = run;
	if (run < progress->limit) {
		for (int i = 0; i < count; i++)
			graph_launch(parts[i], LAUNCH_FIRE_AND_FORGET);
		graph_relaunch_self();
	}
	stamp_end(&start_ns, stamp_launcher(FIRST_BY_HOST, run), STAMP_LAUNCHER);
}

/* All rounds at once, one after the other: what a graph can do that finds out how many there are. */
static __global__ void launch_tails_kernel(struct progress *progress, const cudaGraphExec_t *rounds)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	for (int i = 0; i < progress->limit; i++)
		graph_launch(rounds[i], LAUNCH_TAIL);
	stamp_end(&start_ns, STAMP_HOST, STAMP_LAUNCHER);
}

/* ---- graphs ---- */

static void enqueue_work(problem &p, int begin, int end, enum launched_by by)
{
	int blocks = (end - begin + block_size - 1) / block_size;

	CUDA_LAUNCH(gather_kernel<<<blocks, block_size, 0, p.stream>>>(p.rounds, begin, end, by));
	CUDA_LAUNCH(churn_kernel<<<blocks, block_size, 0, p.stream>>>(p.rounds, begin, end, by));
}

static void enqueue_round(problem &p, enum launched_by by)
{
	enqueue_work(p, 0, p.rounds.size, by);
	CUDA_LAUNCH(decide_kernel<<<1, 1, 0, p.stream>>>(p.rounds.progress, by));
}

/* So that a kernel can launch the graphs made so far. */
static void make_queue(problem &p)
{
	p.queue = device_copy(p.graphs);
}

static void setup_host(problem &p)
{
	graph_begin(p.stream);
	enqueue_round(p, BY_HOST);
	p.graphs.push_back(graph_finish_host(p.stream));
}

static void setup_tail(problem &p)
{
	graph_begin(p.stream);
	enqueue_work(p, 0, p.rounds.size, FIRST_BY_HOST);
	CUDA_LAUNCH(decide_tail_kernel<<<1, 1, 0, p.stream>>>(p.rounds.progress));
	p.graphs.push_back(graph_finish_device(p.stream));
}

static void setup_parts(problem &p)
{
	for (long begin = 0; begin < p.rounds.size; begin += part_size) {
		long end = std::min(begin + part_size, (long)p.rounds.size);

		graph_begin(p.stream);
		enqueue_work(p, begin, end, BY_DEVICE);
		p.graphs.push_back(graph_finish_device(p.stream));
	}
	make_queue(p);
	graph_begin(p.stream);
	CUDA_LAUNCH(launch_parts_kernel<<<1, 1, 0, p.stream>>>(p.rounds.progress, p.queue,
							       (int)p.graphs.size()));
	p.graphs.push_back(graph_finish_device(p.stream));
}

static void setup_tail_queue(problem &p)
{
	for (int i = 0; i < p.iterations; i++) {
		graph_begin(p.stream);
		enqueue_round(p, BY_DEVICE);
		p.graphs.push_back(graph_finish_device(p.stream));
	}
	make_queue(p);
	graph_begin(p.stream);
	CUDA_LAUNCH(launch_tails_kernel<<<1, 1, 0, p.stream>>>(p.rounds.progress, p.queue));
	p.graphs.push_back(graph_finish_host(p.stream));
}

/* From the last round to the first, because each names the next.  Each round has a graph of its own:
 * the one that launches has not ended yet when the next one starts. */
static void setup_sibling(problem &p)
{
	cudaGraphExec_t next = nullptr;

	for (int i = 0; i < p.iterations; i++) {
		graph_begin(p.stream);
		enqueue_work(p, 0, p.rounds.size, FIRST_BY_HOST);
		CUDA_LAUNCH(decide_sibling_kernel<<<1, 1, 0, p.stream>>>(p.rounds.progress, next));
		next = graph_finish_device(p.stream);
		p.graphs.push_back(next);
	}
}

static void teardown(problem &p)
{
	for (cudaGraphExec_t graph : p.graphs)
		CUDA_CHECK(cudaGraphExecDestroy(graph));
	p.graphs.clear();
	CUDA_CHECK(cudaFree(p.queue));
	p.queue = nullptr;
}

/* ---- variants ---- */

static void run_naive(problem &p, int)
{
	do {
		CUDA_CHECK(cudaGraphLaunch(p.graphs.back(), p.stream));
		CUDA_CHECK(cudaMemcpyAsync(p.seen, p.rounds.progress, sizeof(*p.seen),
					   cudaMemcpyDeviceToHost, p.stream));
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
	} while (p.seen->round < p.seen->limit);
}

static void run_no_read(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_CHECK(cudaGraphLaunch(p.graphs.back(), p.stream));
}

static void run_once(problem &p, int)
{
	CUDA_CHECK(cudaGraphLaunch(p.graphs.back(), p.stream));
}

static const char *why_too_many_parts(long size, long)
{
	static_assert(FIRE_AND_FORGET_LIMIT == 120 && part_size == 65536, "the message says so");
	return size > (long)FIRE_AND_FORGET_LIMIT * part_size
		       ? "one run of a graph launches at most 120 graphs by fire and forget, one for "
			 "65536 values here: give --size 7864320 or less"
		       : nullptr;
}

static const char *why_too_many_tails(long, long iterations)
{
	static_assert(TAIL_LIMIT == 255, "the message says so");
	return iterations > TAIL_LIMIT ? "a graph has at most 255 pending tail launches, one for a "
					 "round here: give --iterations 255 or less"
				       : nullptr;
}

/* The first round is the host's; the others are children of the same launch of the host. */
static const char *why_too_many_siblings(long, long iterations)
{
	return iterations > FIRE_AND_FORGET_LIMIT + 1
		       ? "one launch by the host has at most 120 sibling graphs, one for each round "
			 "after the first here: give --iterations 121 or less"
		       : nullptr;
}

/* ---- the problem ---- */

/* The scalar reference: one round after the other. */
static std::vector<uint32_t> reference(std::vector<uint32_t> values, int iterations)
{
	struct churn_steps steps = churn_at_once(gather_steps + churn_count);
	std::vector<uint32_t> next(values.size());

	for (int iteration = 0; iteration < iterations; iteration++) {
		for (size_t i = 0; i < values.size(); i++)
			next[i] =
				churn_apply(steps, pair(values[i], values[values.size() - 1 - i]));
		values.swap(next);
	}
	return values;
}

static void prepare(problem &p, long size, int iterations)
{
	p.iterations = iterations;
	p.initial.resize(size);
	for (long i = 0; i < size; i++)
		p.initial[i] = i * 2654435761u;
	p.expected = reference(p.initial, iterations);
	p.rounds.size = size;
	for (uint32_t *&values : p.rounds.values)
		values = device_array<uint32_t>(size);
	p.rounds.progress = device_array<struct progress>(1);
	CUDA_CHECK(cudaMallocHost(&p.seen, sizeof(*p.seen)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	struct progress progress = {p.iterations, 0, 0};

	CUDA_CHECK(cudaMemcpy(p.rounds.values[0], p.initial.data(),
			      p.initial.size() * sizeof(p.initial[0]), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.rounds.values[1], 0, p.initial.size() * sizeof(p.initial[0])));
	CUDA_CHECK(
		cudaMemcpy(p.rounds.progress, &progress, sizeof(progress), cudaMemcpyHostToDevice));
}

static struct difference check(const problem &p)
{
	device_launches_require("device_graph");
	return compare(p.rounds.values[p.iterations & 1], p.expected);
}

static void release(problem &p)
{
	for (uint32_t *values : p.rounds.values)
		CUDA_CHECK(cudaFree(values));
	CUDA_CHECK(cudaFree(p.rounds.progress));
	CUDA_CHECK(cudaFreeHost(p.seen));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads after each round whether there is another", run_naive, setup_host,
	 teardown},
	{"no_read", "the host launches every round at once, as if it knew how many", run_no_read,
	 setup_host, teardown},
	{"fire_and_forget", "a graph launches the parts of a round, and itself in its tail",
	 run_once, setup_parts, teardown, why_no_device_launch, nullptr, why_too_many_parts},
	{"tail", "the graph of a round launches itself in its tail", run_once, setup_tail, teardown,
	 why_no_device_launch},
	{"tail_queue", "one graph puts the graphs of all rounds into its tail", run_once,
	 setup_tail_queue, teardown, why_no_device_launch, nullptr, why_too_many_tails},
	{"sibling", "the graph of a round launches the next one's beside itself", run_once,
	 setup_sibling, teardown, why_no_device_launch, nullptr, why_too_many_siblings},
};

static const struct workload<problem> device_graph = {
	.name = "device_graph", .size = 1 << 18, .iterations = 100, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(device_graph)
