/*
 * nvshmem: what NVSHMEM takes to bring data to another GPU of the host, and until a stream or a kernel there has seen it.
 *
 * NVSHMEM wants a process for each GPU, so the program starts a second one (processes.cuh).  The first one measures and
 * prints; the second takes its part of what both do together, and at the end compares what has arrived.
 *
 * The calls on a stream are NVSHMEM's own; so that none is measured of the host, they are queued behind a closed gate.  What
 * a kernel calls would have to be linked when this is built: between GPUs of one host a put is stores to the address that
 * nvshmem_ptr gives, nvshmem_quiet a fence, and a signal a store (signals.cuh).
 */
#include "nvshmem.cuh"
#include "orchestra.cuh"

static const long put_sizes[] = {64 << 10, 1 << 20, 16 << 20, 256 << 20};
static const long message_sizes[] = {8, 4 << 10, 64 << 10};
static const size_t most_bytes = (size_t)256 << 20;
static const long small_bytes = 8;
static const int pattern = 0x5a; /* of every byte that is sent */

/* How many of them lie behind a gate: far fewer than a stream can hold. */
static const long most_puts = 200, turns = 100;

/* ---- what each of the two processes has ---- */

struct end {
	symmetric<char> by_put, by_store; /* most_bytes each: where data arrive */
	symmetric<uint64_t> signal;
	char *source;
	cudaStream_t stream;
	uint64_t turn; /* the last one of both */
	int other;
};

static struct end end_open(cudaStream_t stream)
{
	struct end end = {};

	nvshmem_open();
	end.by_put = symmetric_array<char>(most_bytes);
	end.by_store = symmetric_array<char>(most_bytes);
	end.signal = symmetric_array<uint64_t>(1);
	CUDA_CHECK(cudaMalloc(&end.source, most_bytes));
	CUDA_CHECK(cudaMemset(end.source, pattern, most_bytes));
	CUDA_CHECK(cudaDeviceSynchronize());
	end.stream = stream;
	end.other = 1 - processes.rank;
	processes_meet();
	return end;
}

static void end_close(struct end &end)
{
	CUDA_CHECK(cudaFree(end.source));
	symmetric_free(end.by_put);
	symmetric_free(end.by_store);
	symmetric_free(end.signal);
	nvshmem_close();
}

/* ---- what both do ---- */

/* What the second process is told to do. */
enum part { PART_STREAM, PART_KERNEL, PART_END };

struct order {
	enum part part;
	long bytes;
};

/* Each puts a message with a signal, and waits for the other's: the first one begins. */
static void queue_turns(struct end &end, long bytes)
{
	bool is_first = processes.rank == 0;

	for (long i = 0; i < turns; i++) {
		uint64_t turn = ++end.turn;

		if (!is_first)
			nvshmem.nvshmemx_signal_wait_until_on_stream(end.signal.own, NVSHMEM_CMP_GE,
								     turn, end.stream);
		nvshmem.nvshmemx_putmem_signal_on_stream(end.by_put.own, end.source, bytes,
							 end.signal.own, turn, NVSHMEM_SIGNAL_SET,
							 end.other, end.stream);
		if (is_first)
			nvshmem.nvshmemx_signal_wait_until_on_stream(end.signal.own, NVSHMEM_CMP_GE,
								     turn, end.stream);
	}
}

static const int turns_block_size = 512;

/* The same by one block: the signal is set when all that its threads stored has arrived. */
static __global__ void turns_kernel(const uint64_t *from, uint64_t *there, long count,
				    uint64_t *own_signal, uint64_t *other_signal, uint64_t turn,
				    bool is_first)
{
	for (long left = turns; left > 0; left--, turn++) {
		if (!is_first && threadIdx.x == 0)
			signal_wait(own_signal, turn);
		__syncthreads();
		for (long i = threadIdx.x; i < count; i += blockDim.x)
			there[i] = from[i];
		quiet();
		__syncthreads();
		if (threadIdx.x == 0)
			signal_set(other_signal, turn);
		if (is_first && threadIdx.x == 0)
			signal_wait(own_signal, turn);
	}
}

static void launch_turns(struct end &end, long bytes)
{
	CUDA_LAUNCH(turns_kernel<<<1, turns_block_size, 0, end.stream>>>(
		(const uint64_t *)end.source, (uint64_t *)end.by_store.of[end.other],
		bytes / (long)sizeof(uint64_t), end.signal.own, end.signal.of[end.other],
		end.turn + 1, processes.rank == 0));
	end.turn += turns;
}

static void take_part(struct end &end, const struct order &order)
{
	if (order.part == PART_STREAM)
		queue_turns(end, order.bytes);
	else
		launch_turns(end, order.bytes);
}

/* ---- the second process ---- */

static void require_arrived(const symmetric<char> &array, const char *what)
{
	std::vector<char> arrived(most_bytes);

	CUDA_CHECK(cudaMemcpy(arrived.data(), array.own, most_bytes, cudaMemcpyDefault));
	if (std::count(arrived.begin(), arrived.end(), (char)pattern) == (long)most_bytes)
		return;
	fprintf(stderr, "nvshmem: what was sent by %s has not arrived\n", what);
	exit(1);
}

static int serve(int device)
{
	struct order order = {};
	struct end end;
	cudaStream_t stream;

	CUDA_CHECK(cudaSetDevice(device));
	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	end = end_open(stream);
	for (;;) {
		processes_meet();
		memcpy(&order, processes.page->note, sizeof(order));
		if (order.part == PART_END)
			break;
		take_part(end, order);
		processes_meet(); /* all of it is queued */
		CUDA_CHECK(cudaStreamSynchronize(stream));
	}
	require_arrived(end.by_put, "nvshmemx_putmem_on_stream");
	require_arrived(end.by_store, "the stores of a kernel");
	end_close(end);
	return 0;
}

static void tell(enum part part, long bytes)
{
	struct order order = {part, bytes};

	memcpy(processes.page->note, &order, sizeof(order));
	processes_meet();
}

/* ---- rows ---- */

/* Half of there and back. */
static struct ceiling_measurement message(struct orchestra &o, struct end &end, enum ceiling_id id,
					  enum part part, long bytes)
{
	return figure(o, id, bytes, ON_HOST, [&o, &end, part, bytes]() {
		tell(part, bytes);
		return gated_ns(o,
				[&]() {
					take_part(end, {part, bytes});
					processes_meet();
				}) /
		       (2.0 * turns);
	});
}

static double put_ns(struct orchestra &o, const struct end &end, long bytes, long count)
{
	return gated_ns(o,
			[&]() {
				for (long i = 0; i < count; i++)
					nvshmem.nvshmemx_putmem_on_stream(end.by_put.own,
									  end.source, bytes,
									  end.other, end.stream);
			}) /
	       (double)count;
}

static struct ceiling_measurement puts(struct orchestra &o, const struct end &end, long bytes)
{
	auto count = std::make_shared<long>(1);
	struct ceiling_measurement m = {CEILING_nvshmem_put, bytes, "", nullptr, nullptr};

	m.prepare = [&o, &end, bytes, count]() {
		double once_ns;

		put_ns(o, end, bytes, 1);
		once_ns = put_ns(o, end, bytes, 1);
		*count = std::min(std::max((long)(o.bench->sample_s * 1e9 / once_ns), 1L),
				  most_puts);
	};
	m.sample = [&o, &end, bytes, count ]() -> struct ceiling_reading {
		return {(double)bytes / put_ns(o, end, bytes, *count) * 1e9, 0};
	};
	return m;
}

static const int store_block_size = 512;

static __global__ void store_kernel(const uint4 *from, uint4 *there, long count, long repeats)
{
	long first = (long)blockIdx.x * blockDim.x + threadIdx.x;
	long stride = (long)gridDim.x * blockDim.x;

	for (long repeat = 0; repeat < repeats; repeat++) {
		for (long i = first; i < count; i += stride)
			there[i] = from[i];
		asm volatile("" ::: "memory"); /* each time anew */
	}
	quiet();
}

static std::vector<struct ceiling_variant> stores(const struct ceiling_bench &bench,
						  const struct end &end)
{
	int most = ceiling_resident_blocks(bench, store_kernel, store_block_size);
	std::vector<struct ceiling_variant> variants;

	for (int blocks = most; blocks >= bench.gpu.multiProcessorCount / 4 && blocks; blocks /= 2)
		variants.push_back(
			{(double)most_bytes, [blocks, &end](long repeats) {
				 CUDA_LAUNCH(
					 store_kernel<<<blocks, store_block_size, 0, end.stream>>>(
						 (const uint4 *)end.source,
						 (uint4 *)end.by_store.of[end.other],
						 (long)(most_bytes / sizeof(uint4)), repeats));
			 }});
	return variants;
}

static std::vector<struct ceiling_measurement> rows(struct orchestra &o, struct end &end)
{
	std::vector<struct ceiling_measurement> all;

	for (long bytes : put_sizes)
		all.push_back(puts(o, end, bytes));
	all.push_back(figure(o, CEILING_nvshmem_put_small, 0, ON_HOST,
			     [&o, &end]() { return put_ns(o, end, small_bytes, most_puts); }));
	for (long bytes : message_sizes)
		all.push_back(message(o, end, CEILING_nvshmem_put_signal, PART_STREAM, bytes));
	all.push_back(
		ceiling_throughput(*o.bench, CEILING_nvshmem_store, 0, stores(*o.bench, end)));
	for (long bytes : message_sizes)
		all.push_back(message(o, end, CEILING_nvshmem_store_signal, PART_KERNEL, bytes));
	return all;
}

static std::vector<struct ceiling_measurement> skips(const std::string &problem)
{
	std::vector<struct ceiling_measurement> all;

	for (long bytes : put_sizes)
		all.push_back(ceiling_skip(CEILING_nvshmem_put, bytes, problem));
	all.push_back(ceiling_skip(CEILING_nvshmem_put_small, 0, problem));
	for (long bytes : message_sizes)
		all.push_back(ceiling_skip(CEILING_nvshmem_put_signal, bytes, problem));
	all.push_back(ceiling_skip(CEILING_nvshmem_store, 0, problem));
	for (long bytes : message_sizes)
		all.push_back(ceiling_skip(CEILING_nvshmem_store_signal, bytes, problem));
	return all;
}

/* ---- all ---- */

static int measure(struct ceiling_bench &bench)
{
	struct end end = end_open(bench.stream);
	struct orchestra o = orchestra_open(bench);
	int rc = ceiling_run(bench, rows(o, end));

	orchestra_close(o);
	tell(PART_END, 0);
	end_close(end);
	return rc;
}

/* nullptr: there are two processes now. */
static const char *start(long &device)
{
	const char *problem;

	gpus_wanted = 2;
	gpus_limit_s = ceiling_limit_s;
	problem = processes_start(device, nvshmem_why_missing);
	return problem && processes.page && processes.page->gpus == 1 ? "there is one GPU"
								      : problem;
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_begin("nvshmem", argc, argv);
	long device = 0;
	const char *problem = start(device);

	if (processes.rank > 0)
		return serve((int)device);
	ceiling_open(bench);
	return problem ? ceiling_run(bench, skips(problem)) : measure(bench);
}
