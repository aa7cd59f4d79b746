/*
 * nvshmem_step (H7): a ring of cells over all GPUs, and many short steps, each of which needs the neighbors' last ones.
 *
 * After each step all GPUs have to have written the cells at their ends into their neighbors' memory.  As a barrier
 * among the hosts that is a launch, a wait for the GPU and a wait for the other hosts, all of which take longer than the
 * step.  Where the kernels of all GPUs run at once they can wait for each other themselves: for all of them, or only for
 * the two whose cells they need.
 */
#include <cooperative_groups.h>

#include "nvshmem.cuh"
#include "workload.cuh"

static const int block_size = 256;

enum { SIGNAL_ALL, SIGNAL_LEFT, SIGNAL_RIGHT, signal_count };

/* What the kernels of a GPU know: its cells, between the neighbors' last ones at 0 and size + 1. */
struct ring {
	symmetric<uint32_t> cells[2]; /* a step reads one and writes the other */
	symmetric<uint64_t> signals;
	long size;
	int left, right, count;
	bool is_wrong; /* the wrong order: nobody waits for what the others write */
};

struct problem {
	struct ring ring;
	int pe, iterations, blocks, resident_blocks;
	std::vector<uint32_t> initial, expected; /* of this GPU, with the neighbors' at both ends */
	cudaStream_t stream;
};

/* ---- a step ---- */

static __host__ __device__ uint32_t next_value(uint32_t left, uint32_t own, uint32_t right)
{
	return (left >> 1) + (right >> 1) + (own * 747796405u >> 3);
}

/* turn: the array that is read.  Whoever writes to a neighbor makes sure that it has arrived. */
static __device__ void step(const struct ring &ring, int turn)
{
	const uint32_t *from = ring.cells[turn].own;
	const symmetric<uint32_t> &to = ring.cells[!turn];
	long threads = (long)gridDim.x * blockDim.x;

	for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x + 1; i <= ring.size;
	     i += threads) {
		uint32_t value = next_value(from[i - 1], from[i], from[i + 1]);

		to.own[i] = value;
		if (i == 1)
			to.of[ring.left][ring.size + 1] = value;
		if (i == ring.size)
			to.of[ring.right][0] = value;
		if (i == 1 || i == ring.size)
			quiet();
	}
}

static __global__ void step_kernel(struct ring ring, int turn)
{
	step(ring, turn);
}

/* ---- waiting for the other GPUs, by one thread ---- */

/* Until the kernels of all have come so far (nvshmem_barrier_all). */
static __device__ void wait_for_all(const struct ring &ring, uint64_t steps)
{
	for (int pe = 0; pe < ring.count; pe++)
		signal_add(ring.signals.of[pe] + SIGNAL_ALL, 1);
	if (!ring.is_wrong)
		signal_wait(ring.signals.own + SIGNAL_ALL, steps * ring.count);
}

/* A GPU is its right neighbor's left one. */
static __device__ void wait_for_neighbors(const struct ring &ring, uint64_t steps)
{
	signal_set(ring.signals.of[ring.right] + SIGNAL_LEFT, steps);
	signal_set(ring.signals.of[ring.left] + SIGNAL_RIGHT, steps);
	if (ring.is_wrong)
		return;
	signal_wait(ring.signals.own + SIGNAL_LEFT, steps);
	signal_wait(ring.signals.own + SIGNAL_RIGHT, steps);
}

/* All blocks of this GPU must be on it at once: hence the cooperative launch. */
template <void (*wait)(const struct ring &, uint64_t)>
static __global__ void persistent_kernel(struct ring ring, int steps)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();

	for (int i = 0; i < steps; i++) {
		step(ring, i % 2);
		grid.sync();
		if (grid.thread_rank() == 0)
			wait(ring, i + 1);
		grid.sync();
	}
}

/* ---- variants ---- */

static void launch_step(problem &p, int iteration)
{
	CUDA_LAUNCH(step_kernel<<<p.blocks, block_size, 0, p.stream>>>(p.ring, iteration % 2));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		nvtx_range range("step");
		launch_step(p, i);
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		if (!p.ring.is_wrong)
			processes_meet();
	}
}

/* NVSHMEM's own barrier, as an operation of the stream. */
static void run_on_stream(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		nvtx_range range("step");
		launch_step(p, i);
		nvshmem.nvshmemx_barrier_all_on_stream(p.stream);
		host_call_count++;
	}
}

/* What nvshmemx_collective_launch does: all GPUs launch, and none of the kernels lacks room on its GPU.  That all have
 * launched needs no wait: the first step's signal waits for it. */
static void launch_on_all(problem &p, int steps, const void *kernel)
{
	void *arguments[] = {&p.ring, &steps};

	CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, p.resident_blocks, block_size, arguments, 0,
					       p.stream));
}

static void run_device_barrier(problem &p, int iterations)
{
	launch_on_all(p, iterations, (const void *)persistent_kernel<wait_for_all>);
}

static void run_signals(problem &p, int iterations)
{
	launch_on_all(p, iterations, (const void *)persistent_kernel<wait_for_neighbors>);
}

static const char *why_not_cooperative(problem &)
{
	int device, supported;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
	return supported ? nullptr : "this GPU has no cooperative launch";
}

/* ---- the problem ---- */

static std::vector<uint32_t> initial_cells(long count)
{
	std::vector<uint32_t> cells(count);

	for (long i = 0; i < count; i++)
		cells[i] = (uint32_t)i * 2891336453u;
	return cells;
}

static std::vector<uint32_t> reference(std::vector<uint32_t> cells, int steps)
{
	std::vector<uint32_t> next(cells.size());
	size_t last = cells.size() - 1;

	for (int i = 0; i < steps; i++) {
		next[0] = next_value(cells[last], cells[0], cells[last ? 1 : 0]);
		for (size_t cell = 1; cell < last; cell++)
			next[cell] = next_value(cells[cell - 1], cells[cell], cells[cell + 1]);
		next[last] = next_value(cells[last - 1], cells[last], cells[0]);
		cells.swap(next);
	}
	return cells;
}

/* Those of one GPU and of its neighbors, from the whole ring. */
static std::vector<uint32_t> part_of(const std::vector<uint32_t> &cells, int pe, long size)
{
	long all = (long)cells.size();
	std::vector<uint32_t> part(size + 2);

	for (long i = 0; i < size + 2; i++)
		part[i] = cells[(pe * size + i - 1 + all) % all];
	return part;
}

static int resident_blocks(int wanted)
{
	int device, sm_count, blocks_per_sm;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm,
								 persistent_kernel<wait_for_all>,
								 block_size, 0));
	return std::min(wanted, sm_count * blocks_per_sm);
}

static void make_ring(struct ring &ring, long size, int pe)
{
	for (symmetric<uint32_t> &cells : ring.cells)
		cells = symmetric_array<uint32_t>(size + 2);
	ring.signals = symmetric_array<uint64_t>(signal_count);
	ring.size = size;
	ring.count = processes.count;
	ring.left = (pe + ring.count - 1) % ring.count;
	ring.right = (pe + 1) % ring.count;
	ring.is_wrong = gpus_wrong_order != 0;
}

static void prepare(problem &p, long size, int iterations)
{
	std::vector<uint32_t> whole = initial_cells(size * processes.count);

	nvshmem_open();
	p.pe = processes.rank;
	p.iterations = iterations;
	make_ring(p.ring, size, p.pe);
	p.initial = part_of(whole, p.pe, size);
	p.expected = part_of(reference(whole, iterations), p.pe, size);
	p.blocks = (int)((size + block_size - 1) / block_size);
	p.resident_blocks = resident_blocks(p.blocks);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemcpy(p.ring.cells[0].own, p.initial.data(),
			      p.initial.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.ring.cells[1].own, 0, p.initial.size() * sizeof(uint32_t)));
	CUDA_CHECK(cudaMemset(p.ring.signals.own, 0, signal_count * sizeof(uint64_t)));
	CUDA_CHECK(cudaDeviceSynchronize());
	processes_meet();
}

static struct difference check(const problem &p)
{
	processes_meet();
	return compare(p.ring.cells[p.iterations % 2].own, p.expected);
}

static void release(problem &p)
{
	for (symmetric<uint32_t> &cells : p.ring.cells)
		symmetric_free(cells);
	symmetric_free(p.ring.signals);
	CUDA_CHECK(cudaStreamDestroy(p.stream));
	nvshmem_close();
}

static const std::vector<variant<problem>> variants = {
	{"naive", "a launch a step, and the hosts meet after each", run_naive},
	{"on_stream", "a launch a step, and NVSHMEM's barrier on the stream after each",
	 run_on_stream},
	{"device_barrier", "one kernel for all steps, with a barrier of all GPUs after each",
	 run_device_barrier, nullptr, nullptr, why_not_cooperative},
	{"signals", "one kernel for all steps, which waits for its two neighbors only", run_signals,
	 nullptr, nullptr, why_not_cooperative},
};

static const struct workload<problem> nvshmem_step = {
	.name = "nvshmem_step", .size = 1 << 14, .iterations = 200, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr, .parameters = gpus_parameters(), .why_skipped = nullptr,
	.remarks = nullptr, .is_job = true, .start = nvshmem_start,
};
RUN_WORKLOAD(nvshmem_step)
