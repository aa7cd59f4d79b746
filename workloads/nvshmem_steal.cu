/*
 * nvshmem_steal (H6): tasks of very unequal cost, and several GPUs to do them.
 *
 * A fixed share for each GPU is fair only if the shares cost the same, which nobody knows beforehand.  Where a warp
 * takes its next task from one counter that lies in the memory of the first GPU, all GPUs end at the same time.  The
 * price is an atomic over the link for each task, or for each batch of them.
 *
 * What differs between the variants is which counter the same kernel takes from, and how many tasks at a time.
 */
#include "affine.cuh"
#include "nvshmem.cuh"
#include "workload.cuh"

static const int block_size = 128, blocks_per_sm = 4;
static const int lanes = 32;
static const int batch_size = 16;

struct problem {
	long size; /* tasks */
	int iterations, pe, blocks;
	symmetric<uint32_t>
		results; /* of each task, added up over the iterations: the first GPU's counts */
	symmetric<uint32_t> heads; /* a counter of tasks taken, for each iteration */
	cudaStream_t stream;
};

/* Steps of a task: the first ones cost most. */
static __host__ __device__ int cost(long task, long size)
{
	float rest = 1 - (float)task / (float)size;

	return 64 + (int)(16000 * rest * rest * rest);
}

static __host__ __device__ uint32_t initial_value(long task, int lane, int iteration)
{
	return (uint32_t)task * 2654435769u + (uint32_t)lane + (uint32_t)iteration * 40503u;
}

/* ---- the kernel ---- */

/* Tasks to take, from this counter on. */
struct share {
	uint32_t *head;
	uint32_t first, end, batch;
	bool is_wrong; /* the wrong order: another warp may take the same between load and store */
};

static __device__ uint32_t take(const struct share &share)
{
	volatile uint32_t *head = share.head;
	uint32_t taken;

	if (!share.is_wrong)
		return fetch_add(share.head, share.batch);
	taken = *head;
	*head = taken + share.batch;
	return taken;
}

static __device__ void do_task(uint32_t *results, long task, long size, int iteration,
			       struct affine step)
{
	int lane = threadIdx.x % lanes;
	uint32_t value = affine_steps(step, initial_value(task, lane, iteration), cost(task, size));
	uint32_t sum = __reduce_add_sync(~0u, value);

	if (lane == 0)
		fetch_add(results + task, sum);
}

static __global__ void task_kernel(uint32_t *results, struct share share, long size, int iteration,
				   struct affine step)
{
	for (;;) {
		uint32_t begin = threadIdx.x % lanes == 0 ? take(share) : 0;

		begin = share.first + __shfl_sync(~0u, begin, 0);
		if (begin >= share.end)
			return;
		for (uint32_t task = begin; task < min(begin + share.batch, share.end); task++)
			do_task(results, task, size, iteration, step);
	}
}

/* ---- variants ---- */

/* All GPUs have done their part of an iteration before the next one begins. */
static void run_shares(problem &p, int iterations, struct share (*share_of)(problem &, int))
{
	for (int i = 0; i < iterations; i++) {
		{
			nvtx_range range("tasks");
			CUDA_LAUNCH(task_kernel<<<p.blocks, block_size, 0, p.stream>>>(
				p.results.of[0], share_of(p, i), p.size, i, affine_step));
			CUDA_CHECK(cudaStreamSynchronize(p.stream));
		}
		nvtx_range range("wait for the other GPUs");
		processes_meet();
	}
}

/* As many tasks for each GPU, and a counter of its own. */
static struct share own_share(problem &p, int iteration)
{
	long first = p.size * p.pe / processes.count, end = p.size * (p.pe + 1) / processes.count;

	return {p.heads.own + iteration, (uint32_t)first, (uint32_t)end, 1, gpus_wrong_order != 0};
}

static struct share any_task(problem &p, int iteration)
{
	return {p.heads.of[0] + iteration, 0, (uint32_t)p.size, 1, gpus_wrong_order != 0};
}

static struct share any_batch(problem &p, int iteration)
{
	return {p.heads.of[0] + iteration, 0, (uint32_t)p.size, batch_size, gpus_wrong_order != 0};
}

static void run_naive(problem &p, int iterations)
{
	run_shares(p, iterations, own_share);
}

static void run_steal(problem &p, int iterations)
{
	run_shares(p, iterations, any_task);
}

static void run_batched(problem &p, int iterations)
{
	run_shares(p, iterations, any_batch);
}

/* ---- the problem ---- */

static void prepare(problem &p, long size, int iterations)
{
	int device, sm_count;

	nvshmem_open();
	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	p.size = size;
	p.iterations = iterations;
	p.pe = processes.rank;
	p.blocks = sm_count * blocks_per_sm;
	p.results = symmetric_array<uint32_t>(size);
	p.heads = symmetric_array<uint32_t>(iterations);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.results.own, 0, p.size * sizeof(uint32_t)));
	CUDA_CHECK(cudaMemset(p.heads.own, 0, p.iterations * sizeof(uint32_t)));
	CUDA_CHECK(cudaDeviceSynchronize());
	processes_meet();
}

/* The sum over all lanes and iterations: f(x) = factor x + offset, so it is that of the sum of all x. */
static uint32_t expected_result(long task, long size, int iterations)
{
	struct affine all = affine_times(affine_step, cost(task, size));
	uint32_t sum = 0;

	for (int i = 0; i < iterations; i++)
		sum += lanes * initial_value(task, 0, i) + lanes * (lanes - 1) / 2;
	return all.factor * sum + all.offset * lanes * (uint32_t)iterations;
}

static struct difference check(const problem &p)
{
	processes_meet();
	if (p.pe)
		return {-1, 0, 0};
	return compare_each(p.results.own, p.size,
			    [&](long i) { return expected_result(i, p.size, p.iterations); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaStreamDestroy(p.stream));
	symmetric_free(p.results);
	symmetric_free(p.heads);
	nvshmem_close();
}

static const std::vector<variant<problem>> variants = {
	{"naive", "each GPU does its share, one task at a time from its own counter", run_naive},
	{"steal", "one task at a time from a counter on the first GPU", run_steal},
	{"batched", "16 tasks at a time from a counter on the first GPU", run_batched},
};

static const struct workload<problem> nvshmem_steal = {
	.name = "nvshmem_steal", .size = 1 << 15, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr, .parameters = gpus_parameters(), .why_skipped = nullptr,
	.remarks = nullptr, .is_job = true, .start = nvshmem_start,
};
RUN_WORKLOAD(nvshmem_steal)
