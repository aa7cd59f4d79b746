/*
 * mpi_cuda (H4): processes in a ring; each updates its values on its GPU and sends them to the next one by MPI.
 *
 * MPI that knows nothing of GPUs takes memory of the host: so each message is copied there, sent, and copied on to the
 * other GPU, one after the other.  Page-locked memory makes both copies faster; in pieces, a copy goes on while another
 * piece is sent; and an MPI that is CUDA-aware takes the GPU's own memory, with no copy of the program at all.
 */
#include "affine.cuh"
#include "gpus.cuh"
#include "mpi.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int steps = 128;
static const int piece_count = 8; /* of a message, in pipelined */

struct problem {
	long size; /* values of each process */
	int iterations;
	gpu_team team; /* this process, and its GPU */
	struct gpus_place place;
	uint32_t *in, *out;	      /* on the GPU */
	uint32_t *host_in, *host_out; /* pageable */
	uint32_t *pinned_in, *pinned_out;
	cudaStream_t compute, copy;
	cudaEvent_t piece_done[piece_count];
};

static uint32_t initial_value(int rank, long i)
{
	return (uint32_t)i * 2654435769u + (uint32_t)rank * 40503u;
}

static __global__ void update_kernel(const uint32_t *in, uint32_t *out, long count,
				     struct affine step)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		out[i] = affine_steps(step, in[i], steps);
}

static void update(problem &p)
{
	unsigned blocks = (unsigned)((p.size + block_size - 1) / block_size);

	CUDA_LAUNCH(update_kernel<<<blocks, block_size, 0, p.compute>>>(p.in, p.out, p.size,
									affine_step));
}

/* In the wrong order rank 1 waits for a message that nobody sends. */
static int tag_in(const problem &p, int tag)
{
	return tag + (gpus_wrong_order && p.place.rank == 1 ? 1000 : 0);
}

/* To the next process, and from the one before. */
static void hand_on(problem &p, const uint32_t *out, uint32_t *in, long count, int tag)
{
	nvtx_range range("message");
	int next = (p.place.rank + 1) % p.place.count;
	int previous = (p.place.rank + p.place.count - 1) % p.place.count;

	mpi_exchange(out, next, in, previous, count * (long)sizeof(uint32_t), tag, tag_in(p, tag));
}

/* ---- iterations ---- */

template <class function> static void run_ring(problem &p, int iterations, function body)
{
	gpus_run(p.team, [&](gpu &one) {
		for (int i = 0; i < iterations; i++) {
			gpus_tell(one, "iteration", i);
			update(p);
			body(one);
		}
		gpus_tell(one, "waits for its stream");
		gpus_synchronize(one, p.compute);
	});
}

static void stage(problem &p, gpu &one, uint32_t *out, uint32_t *in)
{
	size_t bytes = p.size * sizeof(uint32_t);

	CUDA_CHECK(cudaMemcpyAsync(out, p.out, bytes, cudaMemcpyDeviceToHost, p.compute));
	gpus_synchronize(one, p.compute);
	hand_on(p, out, in, p.size, 1);
	CUDA_CHECK(cudaMemcpyAsync(p.in, in, bytes, cudaMemcpyHostToDevice, p.compute));
}

static void run_naive(problem &p, int iterations)
{
	run_ring(p, iterations, [&](gpu &one) { stage(p, one, p.host_out, p.host_in); });
}

/* The memory is written again by the next message: the copy from it has to be over. */
static void run_pinned(problem &p, int iterations)
{
	run_ring(p, iterations, [&](gpu &one) {
		stage(p, one, p.pinned_out, p.pinned_in);
		gpus_synchronize(one, p.compute);
	});
}

static long piece_begin(const problem &p, int number)
{
	return p.size * number / piece_count;
}

static long piece_bytes(const problem &p, int number)
{
	return (piece_begin(p, number + 1) - piece_begin(p, number)) * (long)sizeof(uint32_t);
}

/* A piece is sent while the next one comes from the GPU and the one before goes to it. */
static void run_pipelined(problem &p, int iterations)
{
	run_ring(p, iterations, [&](gpu &one) {
		for (int i = 0; i < piece_count; i++) {
			CUDA_CHECK(cudaMemcpyAsync(p.pinned_out + piece_begin(p, i),
						   p.out + piece_begin(p, i), piece_bytes(p, i),
						   cudaMemcpyDeviceToHost, p.compute));
			CUDA_CHECK(cudaEventRecord(p.piece_done[i], p.compute));
		}
		for (int i = 0; i < piece_count; i++) {
			CUDA_CHECK(cudaEventSynchronize(p.piece_done[i]));
			hand_on(p, p.pinned_out + piece_begin(p, i),
				p.pinned_in + piece_begin(p, i),
				piece_begin(p, i + 1) - piece_begin(p, i), 1 + i);
			CUDA_CHECK(cudaMemcpyAsync(p.in + piece_begin(p, i),
						   p.pinned_in + piece_begin(p, i),
						   piece_bytes(p, i), cudaMemcpyHostToDevice,
						   p.copy));
		}
		gpus_synchronize(one, p.copy);
	});
}

static void run_device(problem &p, int iterations)
{
	run_ring(p, iterations, [&](gpu &one) {
		gpus_synchronize(one, p.compute);
		hand_on(p, p.out, p.in, p.size, 1);
	});
}

static const char *why_no_device_memory(problem &)
{
	return mpi_takes_device_memory() ? nullptr
					 : "this MPI is not CUDA-aware (MPIX_Query_cuda_support)";
}

/* ---- the problem ---- */

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.iterations = iterations;
	p.place = gpus_place_find();
	mpi_begin(p.place);
	gpus_open(p.team, "mpi_cuda", true);
	if (gpus_wrong_order)
		fputs("mpi_cuda: in the wrong order: rank 1 waits for another message than the one that "
		      "comes\n",
		      stderr);
	p.in = device_array<uint32_t>(size);
	p.out = device_array<uint32_t>(size);
	p.host_in = new uint32_t[size];
	p.host_out = new uint32_t[size];
	CUDA_CHECK(cudaMallocHost(&p.pinned_in, size * sizeof(uint32_t)));
	CUDA_CHECK(cudaMallocHost(&p.pinned_out, size * sizeof(uint32_t)));
	for (cudaStream_t *stream : {&p.compute, &p.copy})
		CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
	for (cudaEvent_t &event : p.piece_done)
		CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
}

/* Together: who begins later would make the others wait in the first message. */
static void reset(problem &p)
{
	std::vector<uint32_t> initial(p.size);

	for (long i = 0; i < p.size; i++)
		initial[i] = initial_value(p.place.rank, i);
	CUDA_CHECK(cudaMemcpy(p.in, initial.data(), p.size * sizeof(uint32_t),
			      cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemset(p.out, 0, p.size * sizeof(uint32_t)));
	CUDA_CHECK(cudaDeviceSynchronize());
	MPI_CHECK(mpi.Barrier(mpi.world));
}

/* What a process has in the end came from one that lies as many places before it as there were iterations. */
static struct difference check(const problem &p)
{
	struct affine all = affine_times(affine_step, (long)steps * p.iterations);
	int count = p.place.count;
	int origin = (p.place.rank + count - p.iterations % count) % count;

	return compare_each(p.in, p.size,
			    [&](long i) { return affine_of(all, initial_value(origin, i)); });
}

static void release(problem &p)
{
	for (cudaEvent_t event : p.piece_done)
		CUDA_CHECK(cudaEventDestroy(event));
	for (cudaStream_t stream : {p.compute, p.copy})
		CUDA_CHECK(cudaStreamDestroy(stream));
	for (uint32_t *memory : {p.pinned_in, p.pinned_out})
		CUDA_CHECK(cudaFreeHost(memory));
	for (uint32_t *memory : {p.in, p.out})
		CUDA_CHECK(cudaFree(memory));
	delete[] p.host_in;
	delete[] p.host_out;
	gpus_close(p.team);
}

static std::vector<std::string> remarks_of(const problem &p)
{
	int gpus = 0;

	CUDA_CHECK(cudaGetDeviceCount(&gpus));
	return {std::to_string(p.place.count) + " processes" +
		(p.place.count > gpus ? ", more than this host has GPUs: they take turns" : "") +
		"; " + mpi_version() +
		(mpi_takes_device_memory() ? ", CUDA-aware" : ", not CUDA-aware")};
}

static const char *why_skipped()
{
	if (gpus_place_find().count < 2)
		return "needs two processes or more: mpirun -n 2 rooflinectl workloads mpi_cuda; they may share a "
		       "GPU";
	return mpi_why_missing();
}

static const std::vector<variant<problem>> variants = {
	{"naive", "copy to pageable memory, message, copy from there", run_naive},
	{"pinned", "the same with page-locked memory", run_pinned},
	{"pipelined", "page-locked, in 8 pieces: copies go on beside messages", run_pipelined},
	{"device", "messages of the GPU's memory, where MPI is CUDA-aware", run_device, nullptr,
	 nullptr, why_no_device_memory},
};

static const struct workload<problem> mpi_cuda = {
	.name = "mpi_cuda", .size = 1 << 24, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = nullptr,
	.parameters = gpus_limits(), .why_skipped = why_skipped, .remarks = remarks_of,
	.is_job = true,
};
RUN_WORKLOAD(mpi_cuda)
