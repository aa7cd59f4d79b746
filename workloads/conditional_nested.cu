/*
 * conditional_nested (C4): runs through time, in steps as large as their error allows.
 *
 *	while (there are runs left)
 *		while (the run has time left) {
 *			try a step
 *			while (its error is too large)
 *				try one of half the size
 *			take it
 *			if (a moment to be recorded has passed)
 *				record the values
 *		}
 *
 * Every one of these decisions depends on the values.  The variants differ in how many of the
 * levels are in a graph; those around it are the host's.
 */
#include "block.cuh"
#include "conditional.cuh"
#include "workload.cuh"

/* On the device.  The last four are decisions. */
struct progress {
	uint32_t run, run_count;
	uint32_t time, end, step;
	uint32_t error; /* of the step that is tried, summed over all values so far */
	uint32_t are_runs_left, is_time_left, is_rejected, is_recorded;
};

/* How often each body ran. */
enum body { BODY_RUN, BODY_STEP, BODY_RETRY, BODY_RECORD, BODY_COUNT };

struct problem {
	int size, run_count;
	uint32_t *results; /* how often each body ran, then the values, then what was recorded */
	uint32_t *counts, *values, *records;
	struct progress *progress, *seen;	 /* seen: what the host has read of it */
	std::vector<uint32_t> initial, expected; /* results */
	cudaStream_t stream;
	cudaGraphExec_t graph;
};

static const int block_size = 256;
static const uint32_t largest_step = 8, record_every = 8;

/* Every third run ends where it starts. */
static __host__ __device__ uint32_t duration(uint32_t run)
{
	return run % 3 == 1 ? 0 : 32;
}

/* Stands in for the error of one value, if the step were taken. */
static __host__ __device__ uint32_t error_at(uint32_t value, uint32_t step)
{
	return scramble(value ^ step << 28);
}

/* Larger steps are rejected more often, those of size 1 never. */
static __host__ __device__ bool is_too_large(uint32_t error, uint32_t step)
{
	return step > 1 && (error >> 27) * step > 48;
}

static __host__ __device__ uint32_t stepped(uint32_t value, uint32_t step)
{
	return scramble(value + step);
}

static __host__ __device__ uint32_t recorded(uint32_t record, uint32_t value)
{
	return record * 31 + value;
}

/* Moves on by a step.  Returns whether a moment to be recorded has passed. */
static __host__ __device__ bool pass_time(struct progress *progress)
{
	uint32_t before = progress->time, after = before + progress->step;

	progress->time = after < progress->end ? after : progress->end;
	progress->step = progress->step < largest_step ? progress->step * 2 : largest_step;
	return progress->time / record_every > before / record_every;
}

static __device__ int thread_index()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- kernels: those of one thread decide ---- */

static __global__ void begin_kernel(struct progress *progress, uint32_t *counts,
				    struct decision are_runs_left, struct decision is_time_left)
{
	counts[BODY_RUN]++;
	progress->time = 0;
	progress->end = duration(progress->run);
	progress->step = largest_step;
	decide(is_time_left, progress->time < progress->end);
	decide(are_runs_left, ++progress->run < progress->run_count);
}

static __global__ void try_kernel(const uint32_t *values, int size, struct progress *progress)
{
	int i = thread_index();
	uint32_t error = block_sum<block_size>(i < size ? error_at(values[i], progress->step) : 0u);

	if (threadIdx.x == 0)
		atomicAdd(&progress->error, error);
}

/* retry_count: nullptr for the first try of a step. */
static __global__ void judge_kernel(struct progress *progress, uint32_t *retry_count,
				    struct decision is_rejected)
{
	bool rejected = is_too_large(progress->error, progress->step);

	if (retry_count)
		++*retry_count;
	if (rejected)
		progress->step /= 2;
	progress->error = 0;
	decide(is_rejected, rejected);
}

static __global__ void take_kernel(uint32_t *values, int size, const struct progress *progress)
{
	int i = thread_index();

	if (i < size)
		values[i] = stepped(values[i], progress->step);
}

static __global__ void pass_kernel(struct progress *progress, uint32_t *counts,
				   struct decision is_recorded, struct decision is_time_left)
{
	counts[BODY_STEP]++;
	decide(is_recorded, pass_time(progress));
	decide(is_time_left, progress->time < progress->end);
}

static __global__ void record_kernel(const uint32_t *values, uint32_t *records, int size,
				     uint32_t *counts)
{
	int i = thread_index();

	if (i == 0)
		counts[BODY_RECORD]++;
	if (i < size)
		records[i] = recorded(records[i], values[i]);
}

/* ---- the parts of a run, with those who take their decisions ---- */

struct decisions {
	struct decision are_runs_left, is_time_left, is_rejected, is_recorded;
};

static struct decisions by_host(struct progress *progress)
{
	return {decision_in_memory(&progress->are_runs_left),
		decision_in_memory(&progress->is_time_left),
		decision_in_memory(&progress->is_rejected),
		decision_in_memory(&progress->is_recorded)};
}

static int blocks(int threads)
{
	return (threads + block_size - 1) / block_size;
}

static void launch_begin(problem &p, const struct decisions &d, cudaStream_t stream)
{
	CUDA_LAUNCH(begin_kernel<<<1, 1, 0, stream>>>(p.progress, p.counts, d.are_runs_left,
						      d.is_time_left));
}

static void launch_try(problem &p, const struct decisions &d, bool is_retry, cudaStream_t stream)
{
	CUDA_LAUNCH(try_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.values, p.size,
									  p.progress));
	CUDA_LAUNCH(judge_kernel<<<1, 1, 0, stream>>>(p.progress,
						      is_retry ? p.counts + BODY_RETRY : nullptr,
						      d.is_rejected));
}

static void launch_take(problem &p, const struct decisions &d, cudaStream_t stream)
{
	CUDA_LAUNCH(take_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.values, p.size,
									   p.progress));
	CUDA_LAUNCH(pass_kernel<<<1, 1, 0, stream>>>(p.progress, p.counts, d.is_recorded,
						     d.is_time_left));
}

static void launch_record(problem &p, cudaStream_t stream)
{
	CUDA_LAUNCH(record_kernel<<<blocks(p.size), block_size, 0, stream>>>(p.values, p.records,
									     p.size, p.counts));
}

/* ---- the host takes all decisions ---- */

static void run_naive(problem &p, int iterations)
{
	struct decisions d = by_host(p.progress);

	for (int i = 0; i < iterations; i++) {
		launch_begin(p, d, p.stream);
		read_back(p.seen, p.progress, p.stream);
		while (p.seen->is_time_left) {
			launch_try(p, d, false, p.stream);
			while (read_back(p.seen, p.progress, p.stream).is_rejected)
				launch_try(p, d, true, p.stream);
			launch_take(p, d, p.stream);
			if (read_back(p.seen, p.progress, p.stream).is_recorded)
				launch_record(p, p.stream);
		}
	}
}

/* ---- graphs take them: each level is the body of a node of the next ---- */

static void add_step(problem &p, struct decisions d, cudaStream_t stream)
{
	d.is_rejected = decision_for_node(d.is_rejected.value, stream);
	d.is_recorded = decision_for_node(d.is_recorded.value, stream);
	launch_try(p, d, false, stream);
	graph_while(stream, d.is_rejected,
		    [&](cudaStream_t body) { launch_try(p, d, true, body); });
	launch_take(p, d, stream);
	graph_if(stream, d.is_recorded, [&](cudaStream_t body) { launch_record(p, body); });
}

static void add_run(problem &p, struct decisions d, cudaStream_t stream)
{
	d.is_time_left = decision_for_node(d.is_time_left.value, stream);
	launch_begin(p, d, stream);
	graph_while(stream, d.is_time_left, [&](cudaStream_t body) { add_step(p, d, body); });
}

static void setup_step(problem &p)
{
	graph_begin(p.stream);
	add_step(p, by_host(p.progress), p.stream);
	p.graph = graph_finish_host(p.stream);
}

static void run_steps(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		launch_begin(p, by_host(p.progress), p.stream);
		while (read_back(p.seen, p.progress, p.stream).is_time_left)
			CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
	}
}

static void setup_run(problem &p)
{
	graph_begin(p.stream);
	add_run(p, by_host(p.progress), p.stream);
	p.graph = graph_finish_host(p.stream);
}

/* There is a run in any case, which decides whether there is another: the loop starts as true. */
static void setup_all(problem &p)
{
	struct decisions d = by_host(p.progress);

	graph_begin(p.stream);
	d.are_runs_left = decision_true_at_launch(d.are_runs_left.value, p.stream);
	graph_while(p.stream, d.are_runs_left, [&](cudaStream_t body) { add_run(p, d, body); });
	p.graph = graph_finish_host(p.stream);
}

static void run_all(problem &p, int)
{
	CUDA_CHECK(cudaGraphLaunch(p.graph, p.stream));
}

/* ---- the problem ---- */

static uint32_t total_error(const uint32_t *values, int size, uint32_t step)
{
	uint32_t error = 0;

	for (int i = 0; i < size; i++)
		error += error_at(values[i], step);
	return error;
}

/* The scalar model of one run. */
static void run_reference(std::vector<uint32_t> &results, int size, uint32_t run)
{
	uint32_t *counts = results.data(), *values = counts + BODY_COUNT, *records = values + size;
	struct progress progress = {};

	progress.end = duration(run);
	progress.step = largest_step;
	counts[BODY_RUN]++;
	while (progress.time < progress.end) {
		uint32_t step;

		while (is_too_large(total_error(values, size, progress.step), progress.step)) {
			progress.step /= 2;
			counts[BODY_RETRY]++;
		}
		step = progress.step;
		for (int i = 0; i < size; i++)
			values[i] = stepped(values[i], step);
		counts[BODY_STEP]++;
		if (!pass_time(&progress))
			continue;
		for (int i = 0; i < size; i++)
			records[i] = recorded(records[i], values[i]);
		counts[BODY_RECORD]++;
	}
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.run_count = iterations;
	p.initial.resize(BODY_COUNT + 2 * size);
	for (long i = 0; i < size; i++)
		p.initial[BODY_COUNT + i] = i;
	p.expected = p.initial;
	for (int i = 0; i < iterations; i++)
		run_reference(p.expected, p.size, i);
	p.results = device_array<uint32_t>(p.initial.size());
	p.counts = p.results;
	p.values = p.results + BODY_COUNT;
	p.records = p.values + size;
	p.progress = device_array<struct progress>(1);
	prepare_stream(p);
}

static void reset(problem &p)
{
	struct progress start = {};

	start.run_count = p.run_count;
	CUDA_CHECK(cudaMemcpy(p.results, p.initial.data(), p.initial.size() * sizeof(*p.results),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(p.progress, &start, sizeof(start), cudaMemcpyHostToDevice));
}

static struct difference check(const problem &p)
{
	return compare(p.results, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.results));
	CUDA_CHECK(cudaFree(p.progress));
	release_stream(p);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host takes every decision", run_naive},
	{"conditional_step", "a graph a step, the host asks whether there is another", run_steps,
	 setup_step, teardown_graph, why_no_conditional},
	{"conditional", "a graph a run: WHILE and IF in a WHILE", run_graph, setup_run,
	 teardown_graph, why_no_conditional},
	{"conditional_all", "one graph for all runs, in a WHILE around the others", run_all,
	 setup_all, teardown_graph, why_no_conditional},
};

static const struct workload<problem> conditional_nested = {
	.name = "conditional_nested", .size = 1 << 16, .iterations = 6, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(conditional_nested)
