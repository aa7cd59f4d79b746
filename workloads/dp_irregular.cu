/*
 * dp_irregular (C7): adaptive refinement, where the data decides how much there is to do.
 *
 * An image of the Mandelbrot set, by cells.  A cell whose border has one value throughout has it
 * inside too, and is filled; any other is split into four, and a small one is computed pixel by
 * pixel.  So most of the image is never computed, and nobody knows before which part will be.
 *
 * All variants examine the same cells with the same device function.  They differ in who finds out
 * that there are more: the host, a parent kernel, or a block that waits at a queue.
 */
#include <algorithm>
#include <cmath>

#include "device_launch.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int top_side = 128; /* of the cells that everything starts with, in pixels */
static const int leaf_side = 32; /* cells up to this side are computed pixel by pixel */
static const int max_levels = 3; /* from top_side to leaf_side */
static const int max_steps = 256;
static const int queue_blocks_per_sm = 4;
/* Room for launches that wait: more than this costs more memory than a small program may ask. */
static const size_t most_pending = 1 << 15;

/* The square of pixels from (x, y) on; its side is top_side, halved some times. */
struct cell {
	int x, y, side;
};

struct picture {
	uint32_t *pixels; /* every pixel is added to once an iteration */
	int side;
};

/* Cells that wait for a block.  The first slots hold the top cells; any other is filled once its
 * mark is the generation of this iteration. */
struct queue {
	struct cell *cells;
	uint32_t *marks;
	uint32_t top_cells, capacity;
};

struct queue_state {
	uint32_t taken, added; /* slots */
	uint32_t open;	       /* cells that are not finished, waiting or in work */
};

struct problem {
	struct picture picture;
	int top_cells;		     /* at the start of both lists */
	struct cell *level_cells[2]; /* cells of this level and of the next, in turn */
	uint32_t *level_counts;	     /* of max_levels */
	uint32_t *level_count_host;  /* pinned */
	uint32_t *finished;	     /* blocks of this level, for the launch of the next */
	struct queue queue;
	struct queue_state *queue_state, *queue_initial;
	uint32_t generation;
	int queue_blocks;
	std::vector<struct cell> top;
	std::vector<uint32_t> expected;
	cudaStream_t stream;
};

/* What stamps call the kernels. */
enum { STAMP_TOP, STAMP_LEVEL, STAMP_CHILD, STAMP_QUEUE };
static const char *const stamp_names[] = {"top", "level", "child", "queue"};

/* ---- what all variants and the scalar reference share ---- */

/* Steps until the point escapes, in fixed point with 28 bits after the point: the same to the last
 * bit on host and device. */
static __host__ __device__ uint32_t pixel_value(int x, int y, int side)
{
	const int bits = 28;
	const int64_t span = 5LL << bits >> 1; /* 2.5 */
	int32_t real = (int32_t)(-(2LL << bits) + span * x / side);
	int32_t imaginary = (int32_t)(-(5LL << bits >> 2) + span * y / side);
	int32_t a = 0, b = 0;
	uint32_t step;

	for (step = 0; step < max_steps; step++) {
		int64_t aa = (int64_t)a * a >> bits, bb = (int64_t)b * b >> bits;

		if (aa + bb > 4LL << bits)
			break;
		b = (int32_t)(((int64_t)a * b >> (bits - 1)) + imaginary);
		a = (int32_t)(aa - bb + real);
	}
	return step;
}

static __host__ __device__ int border_pixels(const struct cell &cell)
{
	return 4 * cell.side;
}

/* Pixel 0 to border_pixels - 1 of the border: the top row, the bottom row, the left column and the
 * right one; corners come twice. */
static __host__ __device__ uint32_t border_value(const struct cell &cell, int number, int side)
{
	int edge = number / cell.side, along = number % cell.side, far = cell.side - 1;
	int x = edge < 2 ? along : edge == 2 ? 0 : far;
	int y = edge >= 2 ? along : edge == 0 ? 0 : far;

	return pixel_value(cell.x + x, cell.y + y, side);
}

static __host__ __device__ bool is_leaf(const struct cell &cell)
{
	return cell.side <= leaf_side;
}

/* Quarter 0 to 3 of a cell. */
static __host__ __device__ struct cell quarter_of(const struct cell &cell, int quarter)
{
	int half = cell.side / 2;

	return {cell.x + quarter % 2 * half, cell.y + quarter / 2 * half, half};
}

/* One block: writes its part of the picture.  True, for all threads: the cell must be split.  No
 * thread leaves before all are done; cell is a copy, as thread 0 may soon take the next. */
static __device__ bool examine(const struct picture &picture, struct cell cell)
{
	uint32_t first = border_value(cell, 0, picture.side);
	bool differs = false;

	for (int i = threadIdx.x; i < border_pixels(cell); i += blockDim.x)
		differs |= border_value(cell, i, picture.side) != first;
	differs = __syncthreads_or(differs);
	if (differs && !is_leaf(cell))
		return true;
	for (int i = threadIdx.x; i < cell.side * cell.side; i += blockDim.x) {
		int x = cell.x + i % cell.side, y = cell.y + i / cell.side;

		picture.pixels[(size_t)y * picture.side + x] +=
			differs ? pixel_value(x, y, picture.side) : first;
	}
	__syncthreads();
	return false;
}

/* ---- level by level: the next level is a list, whose length the host or the device reads ---- */

static __device__ void add_quarters(const struct cell &cell, struct cell *next,
				    uint32_t *next_count)
{
	uint32_t slot = atomicAdd(next_count, 4);

	for (int quarter = 0; quarter < 4; quarter++)
		next[slot + quarter] = quarter_of(cell, quarter);
}

static __global__ void level_kernel(struct picture picture, const struct cell *cells,
				    struct cell *next, uint32_t *next_count)
{
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	if (examine(picture, cells[blockIdx.x]) && threadIdx.x == 0)
		add_quarters(cells[blockIdx.x], next, next_count);
	stamp_end(&start_ns, STAMP_HOST, STAMP_LEVEL);
}

static void clear_levels(problem &p)
{
	CUDA_CHECK(
		cudaMemsetAsync(p.level_counts, 0, max_levels * sizeof(*p.level_counts), p.stream));
	CUDA_CHECK(cudaMemcpyAsync(p.level_cells[0], p.queue.cells,
				   p.top_cells * sizeof(*p.level_cells[0]),
				   cudaMemcpyDeviceToDevice, p.stream));
}

/* How many cells a level has found for the next: the host has to wait for it. */
static uint32_t read_level_count(problem &p, int level)
{
	CUDA_CHECK(cudaMemcpyAsync(p.level_count_host, &p.level_counts[level],
				   sizeof(*p.level_count_host), cudaMemcpyDeviceToHost, p.stream));
	CUDA_CHECK(cudaStreamSynchronize(p.stream));
	return *p.level_count_host;
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		uint32_t cells = p.top_cells;

		clear_levels(p);
		for (int level = 0; cells > 0; level++) {
			CUDA_LAUNCH(level_kernel<<<cells, block_size, 0, p.stream>>>(
				p.picture, p.level_cells[level % 2], p.level_cells[1 - level % 2],
				&p.level_counts[level]));
			cells = read_level_count(p, level);
		}
	}
}

/* True for one block of the grid: the last to finish, which sees what all others have written. */
static __device__ bool is_last_block(uint32_t *finished)
{
	__threadfence();
	if (atomicAdd(finished, 1) != gridDim.x - 1)
		return false;
	*finished = 0;
	__threadfence();
	return true;
}

/* The last block knows how many cells the next level has, and launches it behind this grid. */
static __global__ void launching_level_kernel(struct picture picture, struct cell *cells,
					      struct cell *next, uint32_t *next_count,
					      uint32_t *finished, enum stamp_what launcher)
{
	unsigned long long start_ns;
	uint32_t count;

	stamp_begin(&start_ns);
	if (examine(picture, cells[blockIdx.x]) && threadIdx.x == 0)
		add_quarters(cells[blockIdx.x], next, next_count);
	stamp_end(&start_ns, launcher, STAMP_LEVEL);
	if (threadIdx.x != 0 || !is_last_block(finished))
		return;
	count = atomicAdd(next_count, 0);
	if (count > 0)
		DEVICE_LAUNCH(
			launching_level_kernel<<<count, block_size, 0, cudaStreamTailLaunch>>>(
				picture, next, cells, next_count + 1, finished, STAMP_DEVICE));
}

static void run_device_level(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		clear_levels(p);
		CUDA_LAUNCH(launching_level_kernel<<<p.top_cells, block_size, 0, p.stream>>>(
			p.picture, p.level_cells[0], p.level_cells[1], p.level_counts, p.finished,
			STAMP_HOST));
	}
}

/* ---- cell by cell: every cell that is split launches the kernel of its quarters ---- */

static __global__ void child_kernel(struct picture picture, struct cell parent)
{
	struct cell cell = quarter_of(parent, blockIdx.x);
	unsigned long long start_ns;
	bool split;

	stamp_begin(&start_ns);
	split = examine(picture, cell);
	stamp_end(&start_ns, STAMP_DEVICE, STAMP_CHILD);
	if (split && threadIdx.x == 0)
		DEVICE_LAUNCH(
			child_kernel<<<4, block_size, 0, cudaStreamFireAndForget>>>(picture, cell));
}

/* A cell travels as an argument and its children write other pixels than anybody else: they may
 * start at once, beside the grid that launched them. */
static __global__ void top_kernel(struct picture picture, const struct cell *cells)
{
	struct cell cell = cells[blockIdx.x];
	unsigned long long start_ns;
	bool split;

	stamp_begin(&start_ns);
	split = examine(picture, cell);
	stamp_end(&start_ns, STAMP_HOST, STAMP_TOP);
	if (split && threadIdx.x == 0)
		DEVICE_LAUNCH(
			child_kernel<<<4, block_size, 0, cudaStreamFireAndForget>>>(picture, cell));
}

static void run_device(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(top_kernel<<<p.top_cells, block_size, 0, p.stream>>>(p.picture,
										 p.queue.cells));
}

/* Cells of all levels, were every one split: there cannot be more. */
static size_t most_cells(const std::vector<struct cell> &top)
{
	size_t cells = 0, of_level = top.size();

	for (int side = top_side; side > leaf_side; side /= 2, of_level *= 4)
		cells += of_level;
	return cells + of_level;
}

/* Cells that are no leaves launch, and all of them could be pending at once. */
static void setup_device(problem &p)
{
	device_launches_make_room(std::min<size_t>(p.queue.capacity / 4, most_pending));
}

/* ---- one queue: blocks that stay, and take the cells that others have found ---- */

/* Thread 0: a cell for this block, or false when there will be none.  Waits for others to find one
 * as long as somebody is at work. */
static __device__ bool take_cell(const struct queue &queue, struct queue_state *state,
				 uint32_t generation, struct cell *cell)
{
	volatile uint32_t *open = &state->open, *marks = queue.marks;
	uint32_t slot = atomicAdd(&state->taken, 1);

	if (slot >= queue.top_cells)
		while (slot >= queue.capacity || marks[slot] != generation) {
			if (*open == 0)
				return false;
			__nanosleep(500);
		}
	__threadfence();
	*cell = queue.cells[slot];
	return true;
}

/* Thread 0: the quarters count as open before their parent is finished, so open cannot be 0 in
 * between. */
static __device__ void put_quarters(const struct queue &queue, struct queue_state *state,
				    uint32_t generation, const struct cell &cell)
{
	uint32_t slot = atomicAdd(&state->added, 4);

	atomicAdd(&state->open, 4);
	for (int quarter = 0; quarter < 4; quarter++)
		queue.cells[slot + quarter] = quarter_of(cell, quarter);
	__threadfence();
	for (int quarter = 0; quarter < 4; quarter++)
		atomicExch(&queue.marks[slot + quarter], generation);
}

static __global__ void queue_kernel(struct picture picture, struct queue queue,
				    struct queue_state *state, uint32_t generation)
{
	__shared__ struct cell cell;
	__shared__ bool got_one;
	unsigned long long start_ns;

	stamp_begin(&start_ns);
	for (;;) {
		if (threadIdx.x == 0)
			got_one = take_cell(queue, state, generation, &cell);
		__syncthreads();
		if (!got_one)
			break;
		bool split = examine(picture, cell);

		if (split && threadIdx.x == 0)
			put_quarters(queue, state, generation, cell);
		if (threadIdx.x == 0)
			atomicSub(&state->open, 1);
	}
	stamp_end(&start_ns, STAMP_HOST, STAMP_QUEUE);
}

/* Blocks that fit on the device at once, and not many more than there are cells: each of the others
 * would only ask again and again whether there is one. */
static void setup_queue(problem &p)
{
	int device, sm_count, blocks_per_sm;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
	CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, queue_kernel,
								 block_size, 0));
	p.queue_blocks = sm_count * std::min(blocks_per_sm, queue_blocks_per_sm);
}

static void run_queue(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		CUDA_CHECK(cudaMemcpyAsync(p.queue_state, p.queue_initial, sizeof(*p.queue_state),
					   cudaMemcpyDeviceToDevice, p.stream));
		CUDA_LAUNCH(queue_kernel<<<p.queue_blocks, block_size, 0, p.stream>>>(
			p.picture, p.queue, p.queue_state, ++p.generation));
	}
}

/* ---- the problem ---- */

static std::vector<struct cell> top_cells(int side)
{
	std::vector<struct cell> cells;

	for (int y = 0; y < side; y += top_side)
		for (int x = 0; x < side; x += top_side)
			cells.push_back({x, y, top_side});
	return cells;
}

static bool has_even_border(const struct cell &cell, int side)
{
	uint32_t first = border_value(cell, 0, side);

	for (int i = 1; i < border_pixels(cell); i++)
		if (border_value(cell, i, side) != first)
			return false;
	return true;
}

/* The scalar reference: one cell after the other, depth first. */
static void refine(std::vector<uint32_t> &pixels, const struct cell &cell, int side, int iterations)
{
	bool even = has_even_border(cell, side);

	if (!even && !is_leaf(cell)) {
		for (int quarter = 0; quarter < 4; quarter++)
			refine(pixels, quarter_of(cell, quarter), side, iterations);
		return;
	}
	for (int y = cell.y; y < cell.y + cell.side; y++)
		for (int x = cell.x; x < cell.x + cell.side; x++)
			pixels[(size_t)y * side + x] =
				iterations *
				pixel_value(even ? cell.x : x, even ? cell.y : y, side);
}

static void prepare_queue(problem &p)
{
	struct queue_state initial = {0, (uint32_t)p.top_cells, (uint32_t)p.top_cells};

	p.queue.top_cells = p.top_cells;
	p.queue.capacity = most_cells(p.top);
	p.queue.cells = device_array<struct cell>(p.queue.capacity);
	p.queue.marks = device_array<uint32_t>(p.queue.capacity);
	p.queue_state = device_array<struct queue_state>(1);
	p.queue_initial = device_copy(std::vector<struct queue_state>{initial});
	CUDA_CHECK(cudaMemcpy(p.queue.cells, p.top.data(), p.top.size() * sizeof(p.top[0]),
			      cudaMemcpyHostToDevice));
}

/* A square picture of whole top cells, with at least size pixels. */
static void prepare(problem &p, long size, int iterations)
{
	p.picture.side = (int)std::ceil(std::sqrt((double)size) / top_side) * top_side;
	p.top = top_cells(p.picture.side);
	p.top_cells = p.top.size();
	p.expected.resize((size_t)p.picture.side * p.picture.side);
	for (const struct cell &cell : p.top)
		refine(p.expected, cell, p.picture.side, iterations);
	p.picture.pixels = device_array<uint32_t>(p.expected.size());
	prepare_queue(p);
	for (struct cell *&cells : p.level_cells)
		cells = device_array<struct cell>(p.queue.capacity);
	p.level_counts = device_array<uint32_t>(max_levels);
	p.finished = device_array<uint32_t>(1);
	CUDA_CHECK(cudaMallocHost(&p.level_count_host, sizeof(*p.level_count_host)));
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.picture.pixels, 0, p.expected.size() * sizeof(*p.picture.pixels)));
	CUDA_CHECK(cudaMemset(p.queue.marks, 0, p.queue.capacity * sizeof(*p.queue.marks)));
	CUDA_CHECK(cudaMemset(p.finished, 0, sizeof(*p.finished)));
	p.generation = 0;
}

static struct difference check(const problem &p)
{
	device_launches_require("dp_irregular");
	return compare(p.picture.pixels, p.expected);
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.picture.pixels));
	CUDA_CHECK(cudaFree(p.queue.cells));
	CUDA_CHECK(cudaFree(p.queue.marks));
	CUDA_CHECK(cudaFree(p.queue_state));
	CUDA_CHECK(cudaFree(p.queue_initial));
	for (struct cell *cells : p.level_cells)
		CUDA_CHECK(cudaFree(cells));
	CUDA_CHECK(cudaFree(p.level_counts));
	CUDA_CHECK(cudaFree(p.finished));
	CUDA_CHECK(cudaFreeHost(p.level_count_host));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "the host reads how many cells a level has and launches it", run_naive},
	{"device_level", "the last block of a level launches the next level", run_device_level},
	{"device", "every cell that is split launches a child for its quarters", run_device,
	 setup_device},
	{"queue", "one kernel, whose blocks take cells from a queue and add to it", run_queue,
	 setup_queue},
};

static const struct workload<problem> dp_irregular = {
	.name = "dp_irregular", .size = 1 << 20, .iterations = 4, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = stamp_names,
};
RUN_WORKLOAD(dp_irregular)
