/*
 * p2p_overlap (H1): GPUs in a ring; each updates its values and hands them to the next one.
 *
 * Through the host the values cross two links that are far slower than the one between the GPUs, and the host waits
 * in between.  A peer copy crosses that one link.  And a copy needs no SM: in chunks, on a stream of its own, it goes on
 * beside the kernel of the next chunk, and only the last chunk's is waited for.
 */
#include "affine.cuh"
#include "gpus.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int steps =
	128; /* so that the kernels take about as long as the peer copies, on an H200 */
static const int chunk_count = 8; /* of what a GPU hands on in an iteration */

/* What one GPU has.  It reads one of the inboxes, and the GPU before writes the other one. */
struct node {
	uint32_t *inbox[2], *out;
	uint32_t *staging; /* page-locked, for what this GPU hands on */
	cudaStream_t compute, copy;
	cudaStream_t receive; /* of the GPU before, for copies from the host */
	cudaEvent_t chunk_done[chunk_count], received;
	cudaEvent_t computed[2], sent[2]; /* in this turn: the inbox was read; all was handed on */
};

struct problem {
	long size; /* values of each GPU */
	int iterations;
	gpu_team team;
	std::vector<node> nodes;
	const char *peer_problem; /* why GPUs cannot access each other, nullptr: they can */
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

/* ---- a part of the values ---- */

struct part {
	long begin, count;
};

static struct part whole(const problem &p)
{
	return {0, p.size};
}

static struct part chunk(const problem &p, int number)
{
	long begin = p.size * number / chunk_count, end = p.size * (number + 1) / chunk_count;

	return {begin, end - begin};
}

static void update(node &n, int turn, struct part part, uint32_t *to, cudaStream_t stream)
{
	unsigned blocks = (unsigned)((part.count + block_size - 1) / block_size);

	if (part.count)
		CUDA_LAUNCH(update_kernel<<<blocks, block_size, 0, stream>>>(
			n.inbox[turn] + part.begin, to + part.begin, part.count, affine_step));
}

static void send(node &n, uint32_t *to, struct part part, cudaStream_t stream)
{
	CUDA_CHECK(cudaMemcpyAsync(to + part.begin, n.out + part.begin,
				   part.count * sizeof(uint32_t), cudaMemcpyDefault, stream));
}

/* ---- an iteration, in the thread of a GPU ---- */

struct turn {
	gpu &one;
	node &own, &next, &previous;
	int now; /* the inbox that is read */

	uint32_t *to() const
	{
		return next.inbox[!now];
	}
};

/* The host waits between the two copies. */
static void through_host(problem &p, const struct turn &t)
{
	size_t bytes = p.size * sizeof(uint32_t);
	nvtx_range range("through the host");

	update(t.own, t.now, whole(p), t.own.out, t.own.compute);
	CUDA_CHECK(cudaMemcpyAsync(t.own.staging, t.own.out, bytes, cudaMemcpyDeviceToHost,
				   t.own.compute));
	if (!gpus_wrong_order)
		gpus_synchronize(t.one, t.own.compute);
	CUDA_CHECK(cudaMemcpyAsync(t.to(), t.own.staging, bytes, cudaMemcpyHostToDevice,
				   t.next.receive));
	CUDA_CHECK(cudaEventRecord(t.next.received, t.next.receive));
	CUDA_CHECK(cudaStreamWaitEvent(t.own.copy, t.next.received, 0));
}

/* In one stream, which keeps the order. */
static void peer_after(problem &p, const struct turn &t)
{
	nvtx_range range("kernel, then copy");

	update(t.own, t.now, whole(p), t.own.out, t.own.compute);
	send(t.own, t.to(), whole(p), gpus_wrong_order ? t.own.copy : t.own.compute);
}

static void peer_behind(problem &p, const struct turn &t)
{
	nvtx_range range("kernels beside copies");

	for (int i = 0; i < chunk_count; i++) {
		update(t.own, t.now, chunk(p, i), t.own.out, t.own.compute);
		CUDA_CHECK(cudaEventRecord(t.own.chunk_done[i], t.own.compute));
		if (!gpus_wrong_order)
			CUDA_CHECK(cudaStreamWaitEvent(t.own.copy, t.own.chunk_done[i], 0));
		send(t.own, t.to(), chunk(p, i), t.own.copy);
	}
}

/* No copy at all: the kernel writes to the other GPU. */
static void peer_stores(problem &p, const struct turn &t)
{
	nvtx_range range("kernel writes to the peer");

	update(t.own, t.now, whole(p), t.to(), t.own.compute);
}

/* ---- iteration after iteration ---- */

typedef void (*iterate)(problem &, const struct turn &);

/* The next GPU has read what will be written over, and what the one before wrote has arrived.  A wait for an event that
 * was not recorded yet waits for nothing: so the threads meet in between. */
static void wait_for_neighbors(gpu &one, const struct turn &t)
{
	gpus_tell(one, "waits for the other threads in iteration");
	gpus_meet(one);
	for (cudaStream_t stream : {t.own.compute, t.own.copy}) {
		CUDA_CHECK(cudaStreamWaitEvent(stream, t.next.computed[t.now], 0));
		CUDA_CHECK(cudaStreamWaitEvent(stream, t.previous.sent[t.now], 0));
	}
	CUDA_CHECK(cudaStreamWaitEvent(t.next.receive, t.next.computed[t.now], 0));
}

/* Both streams have done their part when the stream of the copies has. */
static void mark(const struct turn &t)
{
	CUDA_CHECK(cudaEventRecord(t.own.computed[t.now], t.own.compute));
	CUDA_CHECK(cudaStreamWaitEvent(t.own.copy, t.own.computed[t.now], 0));
	CUDA_CHECK(cudaEventRecord(t.own.sent[t.now], t.own.copy));
}

static void run_ring(problem &p, int iterations, iterate body)
{
	gpus_run(p.team, [&](gpu &one) {
		int count = p.team.count, rank = one.rank;
		struct turn t = {one, p.nodes[rank], p.nodes[(rank + 1) % count],
				 p.nodes[(rank + count - 1) % count], 0};

		for (int i = 0; i < iterations; i++, t.now = !t.now) {
			gpus_tell(one, "iteration", i);
			body(p, t);
			mark(t);
			wait_for_neighbors(one, t);
		}
		gpus_tell(one, "waits for the end of its copies");
		gpus_synchronize(one, t.own.copy);
		gpus_synchronize(one, t.own.compute);
	});
}

static void run_naive(problem &p, int iterations)
{
	run_ring(p, iterations, through_host);
}

static void run_peer(problem &p, int iterations)
{
	run_ring(p, iterations, peer_after);
}

static void run_overlapped(problem &p, int iterations)
{
	run_ring(p, iterations, peer_behind);
}

static void run_stores(problem &p, int iterations)
{
	run_ring(p, iterations, peer_stores);
}

/* ---- the problem ---- */

static std::vector<cudaStream_t *> streams_of(node &n)
{
	return {&n.compute, &n.copy, &n.receive};
}

static std::vector<cudaEvent_t *> events_of(node &n)
{
	std::vector<cudaEvent_t *> events = {&n.received, &n.computed[0], &n.computed[1],
					     &n.sent[0], &n.sent[1]};

	for (cudaEvent_t &event : n.chunk_done)
		events.push_back(&event);
	return events;
}

static void make_node(problem &p, node &n)
{
	for (uint32_t *&inbox : n.inbox)
		inbox = device_array<uint32_t>(p.size);
	n.out = device_array<uint32_t>(p.size);
	/* what a copy in the wrong order takes is no result of any iteration */
	CUDA_CHECK(cudaMemset(n.out, 0, p.size * sizeof(uint32_t)));
	CUDA_CHECK(cudaMallocHost(&n.staging, p.size * sizeof(uint32_t)));
	for (cudaStream_t *stream : streams_of(n))
		CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
	for (cudaEvent_t *event : events_of(n))
		CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

static void prepare(problem &p, long size, int iterations)
{
	p.size = size;
	p.iterations = iterations;
	gpus_open(p.team, "p2p_overlap", false);
	if (gpus_wrong_order)
		fputs("p2p_overlap: in the wrong order: no copy waits for the kernel whose results it "
		      "takes\n",
		      stderr);
	p.nodes.resize(p.team.count);
	p.peer_problem = gpus_enable_peers(p.team);
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { make_node(p, p.nodes[one->rank]); });
}

static void reset(problem &p)
{
	std::vector<uint32_t> initial(p.size);

	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] {
			for (long i = 0; i < p.size; i++)
				initial[i] = initial_value(one->rank, i);
			CUDA_CHECK(cudaMemcpy(p.nodes[one->rank].inbox[0], initial.data(),
					      p.size * sizeof(uint32_t), cudaMemcpyHostToDevice));
			CUDA_CHECK(cudaDeviceSynchronize());
		});
}

/* What a GPU has in the end came from one that lies as many places before it as there were iterations. */
static struct difference check(const problem &p)
{
	struct affine all = affine_times(affine_step, (long)steps * p.iterations);
	int count = p.team.count;
	struct difference first = {-1, 0, 0};

	for (const std::unique_ptr<gpu> &one : p.team.gpus) {
		int origin = (one->rank + count - p.iterations % count) % count;

		if (first.index < 0)
			gpus_with(*one, [&] {
				first = compare_each(p.nodes[one->rank].inbox[p.iterations % 2],
						     p.size, [&](long i) {
							     return affine_of(all,
									      initial_value(origin,
											    i));
						     });
			});
	}
	return first;
}

static void free_node(node &n)
{
	for (cudaEvent_t *event : events_of(n))
		CUDA_CHECK(cudaEventDestroy(*event));
	for (cudaStream_t *stream : streams_of(n))
		CUDA_CHECK(cudaStreamDestroy(*stream));
	for (uint32_t *memory : {n.inbox[0], n.inbox[1], n.out})
		CUDA_CHECK(cudaFree(memory));
	CUDA_CHECK(cudaFreeHost(n.staging));
}

static void release(problem &p)
{
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { free_node(p.nodes[one->rank]); });
	gpus_close(p.team);
}

static const char *why_no_peers(problem &p)
{
	return p.peer_problem;
}

static const std::vector<variant<problem>> variants = {
	{"naive", "kernel, copy to the host, copy to the next GPU", run_naive},
	{"peer", "kernel, then a copy from GPU to GPU", run_peer, nullptr, nullptr, why_no_peers},
	{"overlapped", "in chunks: copies from GPU to GPU in a second stream beside the kernels",
	 run_overlapped, nullptr, nullptr, why_no_peers},
	{"stores", "the kernel writes its results to the next GPU itself", run_stores, nullptr,
	 nullptr, why_no_peers},
};

static const struct workload<problem> p2p_overlap = {
	.name = "p2p_overlap", .size = 1 << 25, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr, .parameters = gpus_parameters(), .why_skipped = gpus_why_missing,
};
RUN_WORKLOAD(p2p_overlap)
