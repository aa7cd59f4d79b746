/*
 * links: what GPUs that reach each other's memory exchange: peer copies by size and direction, copies through the host,
 * signals between kernels, and collectives of NCCL where its library is found.
 *
 * Peer copies are between the first two GPUs, collectives among all that the first one reaches.  NCCL is called by what its
 * documentation declares, so that no header of it is needed to build.
 */
#include <chrono>
#include <map>
#include <memory>

#include "ceiling.cuh"
#include "dynamic_library.cuh"

static const long copy_sizes[] = {64 << 10, 1 << 20, 16 << 20, 256 << 20};
static const long collective_sizes[] = {8, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
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

/* A row in ns: what one repeat of the work takes. */
static struct ceiling_measurement time_of(struct ceiling_bench &bench, enum ceiling_id id,
					  long parameter, struct ceiling_variant variant)
{
	auto repeats = std::make_shared<long>(1);
	struct ceiling_measurement m = {id, parameter, "", nullptr, nullptr};

	m.prepare = [=, &bench]() {
		double s;

		variant.enqueue(1);
		*repeats = ceiling_calibrate(bench, variant, bench.sample_s, 1, &s);
	};
	m.sample = [ =, &bench ]() -> struct ceiling_reading {
		return {ceiling_time_s(bench, variant, *repeats) / (double)*repeats * 1e9, 0};
	};
	return m;
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

static struct ceiling_variant collectives(struct nccl &nccl, const struct links &links,
					  enum ceiling_id id, size_t bytes)
{
	return {(double)bytes, [=, &nccl, &links](long repeats) {
			for (long i = 0; i < repeats; i++) {
				NCCL_CHECK(nccl, GroupStart());
				for (size_t rank = 0; rank < links.ends.size(); rank++)
					enqueue_collective(nccl, links, id, bytes, (int)rank);
				NCCL_CHECK(nccl, GroupEnd());
			}
			CUDA_CHECK(cudaSetDevice(links.ends[0].device));
		}};
}

/* Of the first GPUs, or of all: which it is must outlive the measurement. */
static struct ceiling_variant all_reduce(struct nccl &nccl, const struct links &links,
					 const std::vector<nccl_comm> &comms, size_t bytes)
{
	return {(double)bytes, [=, &nccl, &links, &comms](long repeats) {
			for (long i = 0; i < repeats; i++) {
				NCCL_CHECK(nccl, GroupStart());
				for (size_t rank = 0; rank < comms.size(); rank++)
					NCCL_CHECK(nccl,
						   AllReduce(links.ends[rank].memory[0],
							     links.ends[rank].memory[1],
							     bytes / sizeof(float), nccl_float,
							     nccl_sum, comms[rank],
							     links.ends[rank].stream));
				NCCL_CHECK(nccl, GroupEnd());
			}
			CUDA_CHECK(cudaSetDevice(links.ends[0].device));
		}};
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
	all.push_back(time_of(bench, CEILING_peer_small, 0, copies(links, 4, false)));
	all.push_back(signals(bench, links));
}

static void add_collectives(std::vector<struct ceiling_measurement> &all,
			    struct ceiling_bench &bench, const struct links &links,
			    struct nccl &nccl)
{
	for (enum ceiling_id id : collective_rows)
		for (long bytes : collective_sizes)
			all.push_back(nccl.problem.empty()
					      ? time_of(bench, id, bytes,
							collectives(nccl, links, id, bytes))
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
			all.push_back(time_of(bench, row.id, (long)group.first,
					      all_reduce(nccl, links, group.second, row.bytes)));
		all.push_back(time_of(bench, row.id, (long)nccl.comms.size(),
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
	nccl_close(nccl);
	return rc;
}
