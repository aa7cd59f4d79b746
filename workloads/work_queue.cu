/*
 * work_queue (A4): imbalance between blocks, and the queue that removes it.
 *
 * The items lie sorted by cost, as the rows of a matrix or the vertices of a graph often do.  Every
 * block owns an equal number of them, so the first blocks own most of the work: their SMs compute
 * long after the others have gone idle.  A queue hands out items as warps become free.
 */
#include <cmath>

#include "work_queue.cuh"

static const int items_per_share = 1024;
static const double heaviest_steps = 4096;

/* A heavy tail: the cost falls with the square root of the rank, 1024 items of a rank. */
static void prepare(problem &p, long size, int)
{
	std::vector<uint32_t> costs(size);

	for (long item = 0; item < size; item++)
		costs[item] = heaviest_steps / std::sqrt(1.0 + item / items_per_share);
	prepare_items(p, costs, items_per_share);
}

/* As many blocks as fit on the device at once: more would only find the queue empty. */
static void setup_persistent(problem &p)
{
	int device, sm_count, blocks_per_sm;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, queue_kernel,
								 block_size, 0));
	p.queue_blocks = sm_count * blocks_per_sm;
}

static void run_persistent(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemsetAsync(p.next, 0, sizeof(*p.next)));
		CUDA_LAUNCH(queue_kernel<<<p.queue_blocks, block_size>>>(p.cost, p.result, p.items,
									 p.next));
	}
}

static const std::vector<variant<problem>> variants = {
	{"naive", "every block owns an equal number of items", run_static},
	{"warp_queue", "every warp takes its next 32 items from a queue", run_queue},
	{"persistent", "the queue, with a grid that just fills the device", run_persistent,
	 setup_persistent},
};

static const struct workload<problem> work_queue = {
	.name = "work_queue", .size = 1 << 20, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(work_queue)
