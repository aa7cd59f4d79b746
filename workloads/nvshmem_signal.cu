/*
 * nvshmem_signal (H5): GPUs in a ring, each of which updates a vector and hands it to the next one.
 *
 * The vector is short, so what counts is how long a hand-over takes.  Through the host it is a copy, a wait for the
 * copy, a word to the other process, and a launch there.  On the device it is a write to the other GPU's memory and,
 * once that has arrived, a write to a signal that the other GPU waits for.
 *
 * Hand-over h is that of GPU h % count.  It brings the vector on by `steps` and sets the next GPU's signal to h + 1.
 */
#include "affine.cuh"
#include "nvshmem.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int most_blocks = 64; /* all wait at once, so all have to fit on the device */
static const int steps = 16;

struct problem {
	long size;
	int iterations, blocks, pe, next;
	symmetric<uint32_t> values;  /* what the GPU before hands over */
	symmetric<uint64_t> signals; /* for each block of a kernel */
	uint32_t *updated;	     /* what is handed over, where a copy does it */
	cudaStream_t stream;
};

/* ---- a hand-over, by a kernel ---- */

static __device__ void update(const uint32_t *from, uint32_t *to, long size, struct affine step)
{
	long threads = (long)gridDim.x * blockDim.x;

	for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += threads)
		to[i] = affine_steps(step, from[i], steps);
}

static __global__ void update_kernel(const uint32_t *from, uint32_t *to, long size,
				     struct affine step)
{
	update(from, to, size, step);
}

/* Where a GPU is in the ring, as its kernels know it. */
struct link {
	symmetric<uint32_t> values;
	symmetric<uint64_t> signals;
	long size;
	int next;
	bool is_wrong; /* the wrong order: the signal is set before the values are on their way */
};

/* Each block hands over values of its own: it waits for no other one. */
static __device__ void hand_over(const struct link &link, uint64_t number, struct affine step)
{
	uint64_t *next_signal = link.signals.of[link.next] + blockIdx.x;

	if (threadIdx.x == 0) {
		signal_wait(link.signals.own + blockIdx.x, number);
		if (link.is_wrong)
			signal_set(next_signal, number + 1);
	}
	__syncthreads();
	update(link.values.own, link.values.of[link.next], link.size, step); /* put */
	quiet();
	__syncthreads();
	if (threadIdx.x == 0 && !link.is_wrong)
		signal_set(next_signal, number + 1);
}

static __global__ void hand_over_kernel(struct link link, uint64_t number, struct affine step)
{
	hand_over(link, number, step);
}

/* All hand-overs of this GPU. */
static __global__ void persistent_kernel(struct link link, int first, int distance, int count,
					 struct affine step)
{
	for (int i = 0; i < count; i++)
		hand_over(link, first + (uint64_t)i * distance, step);
}

/* ---- variants ---- */

static uint64_t number_of(const problem &p, int iteration)
{
	return (uint64_t)iteration * processes.count + p.pe;
}

static void launch_update(problem &p)
{
	CUDA_LAUNCH(update_kernel<<<p.blocks, block_size, 0, p.stream>>>(p.values.own, p.updated,
									 p.size, affine_step));
}

/* The host waits for its turn, and for its GPU before the next host's turn comes. */
static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		processes_wait_for_turn((long)number_of(p, i));
		nvtx_range range("hand-over");
		launch_update(p);
		CUDA_CHECK(cudaMemcpyAsync(p.values.of[p.next], p.updated,
					   p.size * sizeof(uint32_t), cudaMemcpyDefault, p.stream));
		CUDA_CHECK(cudaStreamSynchronize(p.stream));
		processes_next_turn();
	}
}

/* NVSHMEM's own calls on a stream: no host waits for anything. */
static void run_on_stream(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		uint64_t number = number_of(p, i);
		nvtx_range range("hand-over");

		nvshmem.nvshmemx_signal_wait_until_on_stream(p.signals.own, NVSHMEM_CMP_GE, number,
							     p.stream);
		launch_update(p);
		nvshmem.nvshmemx_putmem_signal_on_stream(p.values.own, p.updated,
							 p.size * sizeof(uint32_t), p.signals.own,
							 number + 1, NVSHMEM_SIGNAL_SET, p.next,
							 p.stream);
		host_call_count += 2;
	}
}

static struct link link_of(const problem &p)
{
	return {p.values, p.signals, p.size, p.next, gpus_wrong_order != 0};
}

static void run_put_signal(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(hand_over_kernel<<<p.blocks, block_size, 0, p.stream>>>(link_of(p),
										    number_of(p, i),
										    affine_step));
}

static void run_persistent(problem &p, int iterations)
{
	CUDA_LAUNCH(persistent_kernel<<<p.blocks, block_size, 0, p.stream>>>(
		link_of(p), p.pe, processes.count, iterations, affine_step));
}

/* ---- the problem ---- */

static uint32_t initial_value(long i)
{
	return (uint32_t)i * 2654435769u;
}

static void prepare(problem &p, long size, int iterations)
{
	nvshmem_open();
	p.size = size;
	p.iterations = iterations;
	p.pe = processes.rank;
	p.next = (p.pe + 1) % processes.count;
	p.blocks = (int)std::min((size + block_size - 1) / block_size, (long)most_blocks);
	p.values = symmetric_array<uint32_t>(size);
	p.signals = symmetric_array<uint64_t>(most_blocks);
	p.updated = device_array<uint32_t>(size);
	CUDA_CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
}

/* Nobody begins before all are back at the start. */
static void reset(problem &p)
{
	std::vector<uint32_t> initial(p.size);

	for (long i = 0; i < p.size; i++)
		initial[i] = initial_value(i);
	CUDA_CHECK(cudaMemcpy(p.values.own, initial.data(), p.size * sizeof(uint32_t),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.signals.own, 0, most_blocks * sizeof(uint64_t)));
	CUDA_CHECK(cudaDeviceSynchronize());
	processes.page->turn = 0;
	processes_meet();
}

/* What the last hand-over to this GPU brought, of all that there were. */
static struct difference check(const problem &p)
{
	int after = (processes.count - p.pe) % processes.count; /* hand-overs that came later */
	long hand_overs = (long)p.iterations * processes.count - after;
	struct affine all = affine_times(affine_step, hand_overs * steps);

	processes_meet();
	return compare_each(p.values.own, p.size,
			    [&](long i) { return affine_of(all, initial_value(i)); });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.updated));
	CUDA_CHECK(cudaStreamDestroy(p.stream));
	symmetric_free(p.values);
	symmetric_free(p.signals);
	nvshmem_close();
}

static const std::vector<variant<problem>> variants = {
	{"naive", "kernel, copy to the next GPU, and the hosts tell each other", run_naive},
	{"on_stream", "NVSHMEM's wait, and put with signal, on a stream: no host waits",
	 run_on_stream},
	{"put_signal", "one kernel that waits, updates, puts and signals", run_put_signal},
	{"persistent", "one kernel for all hand-overs of a GPU", run_persistent},
};

static const struct workload<problem> nvshmem_signal = {
	.name = "nvshmem_signal", .size = 1024, .iterations = 200, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr, .parameters = gpus_parameters(), .why_skipped = nullptr,
	.remarks = nullptr, .is_job = true, .start = nvshmem_start,
};
RUN_WORKLOAD(nvshmem_signal)
