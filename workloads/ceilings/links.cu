/*
 * links: what GPUs that reach each other's memory exchange: peer copies by size and direction, copies through the host,
 * signals between kernels, and collectives of NCCL where its library is found.
 *
 * Peer copies are between the first two GPUs, collectives among all that the first one reaches.  NCCL is called by what its
 * documentation declares, so that no header of it is needed to build.
 *
 * What is compared with a collective's row is how long its kernel runs in a recording, less what it waited for the last
 * GPU.  Of small ones that a thread launches on all GPUs in turn, the next is not launched when this one ends: their time is
 * the host's.  So they are also put into a graph, several in a row, and the faster of both ways is the row.  From the end of
 * one to the end of the next is then a kernel and the gap between two nodes (graph_node_gap, less than 1 us on an H200): a
 * recorded kernel may be faster than its row by that, and no more.  The kernel alone is known to CUPTI only, which changes
 * what it looks at; and collectives that follow each other in a program have that gap as well.
 */
#include <chrono>
#include <map>
#include <memory>

#include "ceiling.cuh"
#include "dynamic_library.cuh"
#include "graph_capture.cuh"

static const long copy_sizes[] = {64 << 10, 1 << 20, 16 << 20, 256 << 20};
static const long collective_sizes[] = {8,	 64 << 10, 256 << 10, 1 << 20,
					4 << 20, 16 << 20, 256 << 20};
static const size_t most_bytes = (size_t)256 << 20;

/* ---- the GPUs ---- */

/* What one of them has. */
struct end {
	int device;
	char *memory[2]; /* most_bytes each */
	cudaStream_t stream;
};

struct links {
	std::vector<struct end> ends; /* the first one and those that it reaches */
	char *host;
	cudaStream_t back; /* of the first GPU, for copies in the other direction */
	cudaEvent_t begun, ended;
	std::string problem; /* why nothing can be measured */
};

static bool enable_peer(int device, int other)
{
	int can_access = 0;
	cudaError_t result;

	CUDA_CHECK(cudaDeviceCanAccessPeer(&can_access, device, other));
	if (!can_access)
		return false;
	CUDA_CHECK(cudaSetDevice(device));
	result = cudaDeviceEnablePeerAccess(other, 0);
	if (result == cudaSuccess || result == cudaErrorPeerAccessAlreadyEnabled)
		cudaGetLastError();
	return result == cudaSuccess || result == cudaErrorPeerAccessAlreadyEnabled;
}

static void add_end(struct links &links, int device)
{
	struct end end = {};

	end.device = device;
	CUDA_CHECK(cudaSetDevice(device));
	for (char *&memory : end.memory) {
		CUDA_CHECK(cudaMalloc(&memory, most_bytes));
		CUDA_CHECK(cudaMemset(memory, 0, most_bytes));
	}
	CUDA_CHECK(cudaStreamCreateWithFlags(&end.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaDeviceSynchronize());
	links.ends.push_back(end);
}

static struct links links_open(const struct ceiling_bench &bench)
{
	struct links links = {};
	int count;

	CUDA_CHECK(cudaGetDeviceCount(&count));
	if (count < 2) {
		links.problem = "there is one GPU";
		return links;
	}
	for (int other = 1; other < count; other++)
		if (enable_peer(0, other) && enable_peer(other, 0))
			add_end(links, other);
	if (links.ends.empty())
		links.problem = "the first GPU reaches no other one's memory";
	add_end(links, 0);
	std::rotate(links.ends.begin(), links.ends.end() - 1, links.ends.end());
	CUDA_CHECK(cudaStreamDestroy(links.ends[0].stream));
	links.ends[0].stream = bench.stream; /* around which the events lie */
	CUDA_CHECK(cudaMallocHost(&links.host, most_bytes));
	CUDA_CHECK(cudaStreamCreateWithFlags(&links.back, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&links.begun, cudaEventDisableTiming));
	CUDA_CHECK(cudaEventCreateWithFlags(&links.ended, cudaEventDisableTiming));
	return links;
}

/* ---- copies ---- */

static void copy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
	CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

static struct ceiling_variant copies(const struct links &links, size_t bytes, bool is_in)
{
	char *here = links.ends[0].memory[0], *there = links.ends[1].memory[0];
	cudaStream_t stream = links.ends[0].stream;

	return {(double)bytes, [=](long repeats) {
			for (long i = 0; i < repeats; i++)
				copy(is_in ? here : there, is_in ? there : here, bytes, stream);
		}};
}

static struct ceiling_variant copies_both_ways(const struct links &links, size_t bytes)
{
	return {(double)bytes, [&links, bytes](long repeats) {
			const struct end &here = links.ends[0], &there = links.ends[1];

			CUDA_CHECK(cudaEventRecord(links.begun, here.stream));
			CUDA_CHECK(cudaStreamWaitEvent(links.back, links.begun, 0));
			for (long i = 0; i < repeats; i++) {
				copy(there.memory[0], here.memory[0], bytes, here.stream);
				copy(here.memory[1], there.memory[1], bytes, links.back);
			}
			CUDA_CHECK(cudaEventRecord(links.ended, links.back));
			CUDA_CHECK(cudaStreamWaitEvent(here.stream, links.ended, 0));
		}};
}

/* The host waits after each of the two copies, as a program that sends what it has received there. */
static double staged_s(const struct links &links, size_t bytes, long repeats)
{
	auto begin = std::chrono::steady_clock::now();
	std::chrono::duration<double> taken;

	for (long i = 0; i < repeats; i++) {
		copy(links.host, links.ends[0].memory[0], bytes, links.ends[0].stream);
		CUDA_CHECK(cudaStreamSynchronize(links.ends[0].stream));
		copy(links.ends[1].memory[0], links.host, bytes, links.ends[1].stream);
		CUDA_CHECK(cudaStreamSynchronize(links.ends[1].stream));
	}
	taken = std::chrono::steady_clock::now() - begin;
	return taken.count();
}

static struct ceiling_measurement staged(struct ceiling_bench &bench, const struct links &links,
					 size_t bytes)
{
	auto repeats = std::make_shared<long>(1);
	struct ceiling_measurement m = {CEILING_peer_staged, (long)bytes, "", nullptr, nullptr};

	m.prepare = [=, &bench, &links]() {
		double once_s = staged_s(links, bytes, 1);

		once_s = std::max(std::min(once_s, staged_s(links, bytes, 1)), 1e-6);
		*repeats = std::max((long)(bench.sample_s / once_s), 1L);
	};
	m.sample = [ =, &links ]() -> struct ceiling_reading {
		return {(double)bytes * (double)*repeats / staged_s(links, bytes, *repeats), 0};
	};
	return m;
}

/* ---- signals ---- */

static const long signal_turns = 1000;
static const long long signal_limit_cycles =
	4000000000LL; /* about two seconds: a kernel must not wait forever */

/* Each turn is told to the other GPU's memory, and its answer awaited in one's own. */
static __global__ void signal_kernel(volatile int *own, volatile int *other, long turns,
				     bool is_first)
{
	long long begin = clock64();

	for (long turn = 1; turn <= turns; turn++) {
		if (is_first)
			*other = (int)turn;
		while (*own < (int)turn)
			if (clock64() - begin > signal_limit_cycles)
				return;
		if (!is_first)
			*other = (int)turn;
	}
}

static double signal_ns(struct ceiling_bench &bench, const struct links &links)
{
	const struct end &here = links.ends[0], &there = links.ends[1];
	int *own = (int *)here.memory[0], *other = (int *)there.memory[0], last = 0;
	float ms;

	CUDA_CHECK(cudaMemset(own, 0, sizeof(*own)));
	CUDA_CHECK(cudaMemset(other, 0, sizeof(*other)));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaSetDevice(there.device));
	CUDA_LAUNCH(signal_kernel<<<1, 1, 0, there.stream>>>(other, own, signal_turns, false));
	CUDA_CHECK(cudaSetDevice(here.device));
	CUDA_CHECK(cudaEventRecord(bench.begin, here.stream));
	CUDA_LAUNCH(signal_kernel<<<1, 1, 0, here.stream>>>(own, other, signal_turns, true));
	CUDA_CHECK(cudaEventRecord(bench.end, here.stream));
	CUDA_CHECK(cudaStreamSynchronize(here.stream));
	CUDA_CHECK(cudaStreamSynchronize(there.stream));
	CUDA_CHECK(cudaEventElapsedTime(&ms, bench.begin, bench.end));
	CUDA_CHECK(cudaMemcpy(&last, own, sizeof(last), cudaMemcpyDefault));
	if (last != signal_turns) {
		fprintf(stderr, "links: a signal between GPUs did not arrive\n");
		exit(1);
	}
	return (double)ms * 1e6 / (2.0 * (double)signal_turns);
}

static struct ceiling_measurement signals(struct ceiling_bench &bench, const struct links &links)
{
	struct ceiling_measurement m = {CEILING_peer_signal, 0, "", nullptr, nullptr};

	m.prepare = [&]() { signal_ns(bench, links); };
	m.sample = [&]() -> struct ceiling_reading {
		return {signal_ns(bench, links), 0};
	};
	return m;
}

/* ---- NCCL ---- */

typedef struct ncclComm *nccl_comm;

static const int nccl_float = 7, nccl_sum = 0;

#define NCCL_FUNCTIONS(FUNCTION)                                                                 \
	FUNCTION(CommInitAll, nccl_comm *, int, const int *)                                     \
	FUNCTION(CommDestroy, nccl_comm)                                                         \
	FUNCTION(GroupStart, void)                                                               \
	FUNCTION(GroupEnd, void)                                                                 \
	FUNCTION(AllReduce, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t)     \
	FUNCTION(AllGather, const void *, void *, size_t, int, nccl_comm, cudaStream_t)          \
	FUNCTION(ReduceScatter, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t) \
	FUNCTION(Send, const void *, size_t, int, int, nccl_comm, cudaStream_t)                  \
	FUNCTION(Recv, void *, size_t, int, int, nccl_comm, cudaStream_t)

#define NCCL_MEMBER(name, ...) int (*name)(__VA_ARGS__);
struct nccl {
	NCCL_FUNCTIONS(NCCL_MEMBER)
	const char *(*GetErrorString)(int);
	std::vector<nccl_comm> comms;			/* as ends */
	std::map<size_t, std::vector<nccl_comm>> fewer; /* by how many GPUs: of the first ones */
	std::string problem;
};
#undef NCCL_MEMBER

static bool nccl_bind(struct nccl &nccl, void *library)
{
#define NCCL_BIND(name, ...)                                           \
	nccl.name = (decltype(nccl.name))dlsym(library, "nccl" #name); \
	if (!nccl.name)                                                \
		return false;
	NCCL_FUNCTIONS(NCCL_BIND)
	NCCL_BIND(GetErrorString)
#undef NCCL_BIND
	return true;
}

static void nccl_check(const struct nccl &nccl, int result, const char *call)
{
	if (result == 0)
		return;
	fprintf(stderr, "links: %s failed: %s; NCCL_DEBUG=WARN tells more\n", call,
		nccl.GetErrorString(result));
	exit(1);
}

#define NCCL_CHECK(nccl, ...) nccl_check(nccl, (nccl).__VA_ARGS__, #__VA_ARGS__)

static std::vector<nccl_comm> nccl_connect(const struct nccl &nccl, const struct links &links,
					   size_t count)
{
	std::vector<nccl_comm> comms(count);
	std::vector<int> devices;

	for (size_t i = 0; i < count; i++)
		devices.push_back(links.ends[i].device);
	NCCL_CHECK(nccl, CommInitAll(comms.data(), (int)count, devices.data()));
	return comms;
}

static struct nccl nccl_open(const struct links &links)
{
	static const char file[] = "libnccl.so.2";
	struct nccl nccl = {};
	void *library;

	if (!links.problem.empty()) {
		nccl.problem = links.problem;
		return nccl;
	}
	/* In a graph NCCL would use the arrays themselves in place of its buffers, which it does not where it is launched. */
	setenv("NCCL_GRAPH_REGISTER", "0", 0);
	library = dynamic_library_open_wheel(file, "nccl");
	if (!library || !nccl_bind(nccl, library)) {
		nccl.problem =
			dynamic_library_problem(library, file, "NCCL (nvidia-nccl-cu13 of PyPI)");
		return nccl;
	}
	nccl.comms = nccl_connect(nccl, links, links.ends.size());
	for (size_t count = 2; count < links.ends.size(); count *= 2)
		nccl.fewer[count] = nccl_connect(nccl, links, count);
	return nccl;
}

static void nccl_close(struct nccl &nccl)
{
	for (nccl_comm comm : nccl.comms)
		NCCL_CHECK(nccl, CommDestroy(comm));
	for (const auto &group : nccl.fewer)
		for (nccl_comm comm : group.second)
			NCCL_CHECK(nccl, CommDestroy(comm));
}

/* What the GPU of that rank does of one collective of so many bytes. */
static void enqueue_collective(struct nccl &nccl, const struct links &links, enum ceiling_id id,
			       size_t bytes, int rank)
{
	const struct end &end = links.ends[rank];
	int count = (int)links.ends.size();
	size_t values = bytes / sizeof(float), share = std::max(values / count, (size_t)1);
	void *in = end.memory[0], *out = end.memory[1];
	nccl_comm comm = nccl.comms[rank];

	switch (id) {
	case CEILING_nccl_all_reduce:
		NCCL_CHECK(nccl,
			   AllReduce(in, out, values, nccl_float, nccl_sum, comm, end.stream));
		break;
	case CEILING_nccl_all_gather:
		NCCL_CHECK(nccl, AllGather(in, out, share, nccl_float, comm, end.stream));
		break;
	case CEILING_nccl_reduce_scatter:
		NCCL_CHECK(nccl,
			   ReduceScatter(in, out, share, nccl_float, nccl_sum, comm, end.stream));
		break;
	default:
		NCCL_CHECK(nccl,
			   Send(in, values, nccl_float, (rank + 1) % count, comm, end.stream));
		NCCL_CHECK(nccl, Recv(out, values, nccl_float, (rank + count - 1) % count, comm,
				      end.stream));
	}
}

/* A collective of so many bytes, on all GPUs. */
static std::function<void()> collective(struct nccl &nccl, const struct links &links,
					enum ceiling_id id, size_t bytes)
{
	return [=, &nccl, &links]() {
		NCCL_CHECK(nccl, GroupStart());
		for (size_t rank = 0; rank < links.ends.size(); rank++)
			enqueue_collective(nccl, links, id, bytes, (int)rank);
		NCCL_CHECK(nccl, GroupEnd());
	};
}

/* An all-reduce of the first GPUs, or of all: which it is must outlive the measurement. */
static std::function<void()> all_reduce(struct nccl &nccl, const struct links &links,
					const std::vector<nccl_comm> &comms, size_t bytes)
{
	return [=, &nccl, &links, &comms]() {
		NCCL_CHECK(nccl, GroupStart());
		for (size_t rank = 0; rank < comms.size(); rank++)
			NCCL_CHECK(nccl,
				   AllReduce(links.ends[rank].memory[0], links.ends[rank].memory[1],
					     bytes / sizeof(float), nccl_float, nccl_sum,
					     comms[rank], links.ends[rank].stream));
		NCCL_CHECK(nccl, GroupEnd());
	};
}

/* ---- one after the other ---- */

static struct ceiling_variant launched(const struct links &links, std::function<void()> once)
{
	return {1, [once, &links](long repeats) {
			for (long i = 0; i < repeats; i++)
				once();
			CUDA_CHECK(cudaSetDevice(links.ends[0].device));
		}};
}

/* So many that the gap between two graphs does not count. */
static const int graph_collectives = 16;

/* A graph on each of the first GPUs: its part of the collectives.  They end before the communicators do. */
struct graphs {
	std::vector<cudaGraphExec_t> instances;

	~graphs()
	{
		for (cudaGraphExec_t instance : instances)
			CUDA_CHECK(cudaGraphExecDestroy(instance));
	}
};

/* The streams are captured together, as each collective is given to all of them. */
static std::vector<cudaGraph_t> capture(const struct links &links, size_t count,
					const std::function<void()> &once)
{
	std::vector<cudaGraph_t> captured(count);

	for (size_t rank = 0; rank < count; rank++) {
		CUDA_CHECK(cudaSetDevice(links.ends[rank].device));
		graph_begin(links.ends[rank].stream);
	}
	for (int i = 0; i < graph_collectives; i++)
		once();
	for (size_t rank = 0; rank < count; rank++)
		CUDA_CHECK(cudaStreamEndCapture(links.ends[rank].stream, &captured[rank]));
	return captured;
}

static void make_graphs(struct graphs &graphs, const struct links &links, size_t count,
			const std::function<void()> &once)
{
	std::vector<cudaGraph_t> captured = capture(links, count, once);

	for (size_t rank = 0; rank < count; rank++) {
		cudaGraphExec_t instance;

		CUDA_CHECK(cudaSetDevice(links.ends[rank].device));
		CUDA_CHECK(cudaGraphInstantiate(&instance, captured[rank], 0));
		CUDA_CHECK(cudaGraphDestroy(captured[rank]));
		CUDA_CHECK(cudaGraphUpload(instance, links.ends[rank].stream));
		graphs.instances.push_back(instance);
	}
	CUDA_CHECK(cudaSetDevice(links.ends[0].device));
}

/* They are made at the first run, by when the same collective has been launched: NCCL connects and allocates there. */
static struct ceiling_variant in_graphs(const struct links &links, size_t count,
					std::function<void()> once)
{
	auto graphs = std::make_shared<struct graphs>();

	return {graph_collectives, [=, &links](long repeats) {
			if (graphs->instances.empty())
				make_graphs(*graphs, links, count, once);
			for (long i = 0; i < repeats; i++)
				for (size_t rank = 0; rank < count; rank++)
					CUDA_CHECK(cudaGraphLaunch(graphs->instances[rank],
								   links.ends[rank].stream));
		}};
}

/* A row of what the first GPUs do together. */
static struct ceiling_measurement collective_time(struct ceiling_bench &bench,
						  const struct links &links, enum ceiling_id id,
						  long parameter, size_t count,
						  const std::function<void()> &once)
{
	return ceiling_time(bench, id, parameter,
			    {launched(links, once), in_graphs(links, count, once)});
}

/* ---- all ---- */

static const enum ceiling_id copy_rows[] = {CEILING_peer_out, CEILING_peer_in, CEILING_peer_both,
					    CEILING_peer_staged};
static const enum ceiling_id collective_rows[] = {CEILING_nccl_all_reduce, CEILING_nccl_all_gather,
						  CEILING_nccl_reduce_scatter,
						  CEILING_nccl_send_recv};

static struct ceiling_measurement copy_measurement(struct ceiling_bench &bench,
						   const struct links &links, enum ceiling_id id,
						   long bytes)
{
	if (id == CEILING_peer_staged)
		return staged(bench, links, bytes);
	if (id == CEILING_peer_both)
		return ceiling_throughput(bench, id, bytes, {copies_both_ways(links, bytes)},
					  false);
	return ceiling_throughput(bench, id, bytes, {copies(links, bytes, id == CEILING_peer_in)},
				  false);
}

static void add_copies(std::vector<struct ceiling_measurement> &all, struct ceiling_bench &bench,
		       const struct links &links)
{
	struct ceiling_variant small;

	for (enum ceiling_id id : copy_rows)
		for (long bytes : copy_sizes)
			all.push_back(links.problem.empty()
					      ? copy_measurement(bench, links, id, bytes)
					      : ceiling_skip(id, bytes, links.problem));
	if (!links.problem.empty()) {
		all.push_back(ceiling_skip(CEILING_peer_small, 0, links.problem));
		all.push_back(ceiling_skip(CEILING_peer_signal, 0, links.problem));
		return;
	}
	small = copies(links, 4, false);
	small.work = 1;
	all.push_back(ceiling_time(bench, CEILING_peer_small, 0, {small}));
	all.push_back(signals(bench, links));
}

static void add_collectives(std::vector<struct ceiling_measurement> &all,
			    struct ceiling_bench &bench, const struct links &links,
			    struct nccl &nccl)
{
	for (enum ceiling_id id : collective_rows)
		for (long bytes : collective_sizes)
			all.push_back(nccl.problem.empty()
					      ? collective_time(bench, links, id, bytes,
								links.ends.size(),
								collective(nccl, links, id, bytes))
					      : ceiling_skip(id, bytes, nccl.problem));
}

static void add_by_gpus(std::vector<struct ceiling_measurement> &all, struct ceiling_bench &bench,
			const struct links &links, struct nccl &nccl)
{
	static const struct {
		enum ceiling_id id;
		long bytes;
	} rows[] = {{CEILING_nccl_small_by_gpus, collective_sizes[0]},
		    {CEILING_nccl_large_by_gpus, (long)most_bytes}};

	for (const auto &row : rows) {
		if (!nccl.problem.empty()) {
			all.push_back(ceiling_skip(row.id, 2, nccl.problem));
			continue;
		}
		for (const auto &group : nccl.fewer)
			all.push_back(
				collective_time(bench, links, row.id, (long)group.first,
						group.first,
						all_reduce(nccl, links, group.second, row.bytes)));
		all.push_back(collective_time(bench, links, row.id, (long)nccl.comms.size(),
					      nccl.comms.size(),
					      all_reduce(nccl, links, nccl.comms, row.bytes)));
	}
}

int main(int argc, char **argv)
{
	struct ceiling_bench bench = ceiling_start("links", argc, argv);
	struct links links = links_open(bench);
	struct nccl nccl = nccl_open(links);
	std::vector<struct ceiling_measurement> all;
	int rc;

	CUDA_CHECK(cudaSetDevice(0));
	add_copies(all, bench, links);
	add_collectives(all, bench, links, nccl);
	add_by_gpus(all, bench, links, nccl);
	rc = ceiling_run(bench, all);
	all.clear(); /* and the graphs with it: NCCL waits for them */
	nccl_close(nccl);
	return rc;
}
