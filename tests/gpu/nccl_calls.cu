/* nccl_calls: each collective of NCCL, of bytes that are known; prints what a recording must hold of it.
 * nccl_calls RANK COUNT FILE [--swap] [--repeats N]
 * Rank N is on GPU N, where there are so many.  FILE: where rank 0 leaves the communicator's id for the others, and none
 * is yet.  --swap: rank 1 asks for two reductions in the other order, which NCCL does not notice.  Then one all-reduce of
 * 1 MiB over and over.
 * Lines: "version 22907", "call OPERATION,BYTES,PEER,REDUCTION" as in collectives.csv, "captured N". */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "dynamic_library.cuh"
#include "trial.cuh"

typedef struct ncclComm *nccl_comm;

struct nccl_id {
	char bytes[128];
};

static const int type_float = 7;
static const int op_sum = 0, op_max = 2;
static const unsigned none = 4294967295u;

#define NCCL_FUNCTIONS(FUNCTION)                                                                 \
	FUNCTION(GetVersion, int *)                                                              \
	FUNCTION(GetUniqueId, struct nccl_id *)                                                  \
	FUNCTION(CommInitRank, nccl_comm *, int, struct nccl_id, int)                            \
	FUNCTION(CommDestroy, nccl_comm)                                                         \
	FUNCTION(GroupStart, void)                                                               \
	FUNCTION(GroupEnd, void)                                                                 \
	FUNCTION(AllReduce, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t)     \
	FUNCTION(AllGather, const void *, void *, size_t, int, nccl_comm, cudaStream_t)          \
	FUNCTION(ReduceScatter, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t) \
	FUNCTION(Broadcast, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t)     \
	FUNCTION(Reduce, const void *, void *, size_t, int, int, int, nccl_comm, cudaStream_t)   \
	FUNCTION(Send, const void *, size_t, int, int, nccl_comm, cudaStream_t)                  \
	FUNCTION(Recv, void *, size_t, int, int, nccl_comm, cudaStream_t)

#define NCCL_MEMBER(name, ...) static int (*nccl##name)(__VA_ARGS__);
NCCL_FUNCTIONS(NCCL_MEMBER)

static bool bind(void *library)
{
#define NCCL_BIND(name, ...)                                                    \
	if (!(nccl##name = (decltype(nccl##name))dlsym(library, "nccl" #name))) \
		return false;
	NCCL_FUNCTIONS(NCCL_BIND)
	return true;
}

static void nccl_check(int result, const char *call)
{
	if (result == 0)
		return;
	fprintf(stderr, "%s failed with %d; NCCL_DEBUG=WARN tells more\n", call, result);
	exit(1);
}

#define NCCL_CHECK(...) nccl_check((__VA_ARGS__), #__VA_ARGS__)

static void tell(const char *operation, size_t values, unsigned peer, unsigned reduction)
{
	printf("call %s,%zu,%u,%u\n", operation, values * sizeof(float), peer, reduction);
}

/* ---- the id of the communicator ---- */

static void leave_id(const struct nccl_id &id, const char *path)
{
	std::string unfinished = std::string(path) + ".part";
	FILE *file = fopen(unfinished.c_str(), "w");

	if (!file || fwrite(&id, sizeof(id), 1, file) != 1 || fclose(file) ||
	    rename(unfinished.c_str(), path)) {
		perror(path);
		exit(1);
	}
}

static void find_id(struct nccl_id &id, const char *path)
{
	for (int tries = 0; tries < 3000; tries++, usleep(10000)) {
		FILE *file = fopen(path, "r");
		bool is_read = file && fread(&id, sizeof(id), 1, file) == 1;

		if (file)
			fclose(file);
		if (is_read)
			return;
	}
	fprintf(stderr, "rank 0 left no %s\n", path);
	exit(1);
}

/* ---- collectives ---- */

struct end {
	float *in, *out;
	int rank, count;
	nccl_comm comm;
	cudaStream_t stream;
};

static void reduce_all(const struct end &e, size_t values, int op)
{
	NCCL_CHECK(ncclAllReduce(e.in, e.out, values, type_float, op, e.comm, e.stream));
	tell("AllReduce", values, none, (unsigned)op);
}

static void one_by_one(const struct end &e)
{
	reduce_all(e, 1000, op_sum);
	NCCL_CHECK(ncclAllGather(e.in, e.out, 256, type_float, e.comm, e.stream));
	tell("AllGather", 256, none, none);
	NCCL_CHECK(ncclReduceScatter(e.in, e.out, 128, type_float, op_sum, e.comm, e.stream));
	tell("ReduceScatter", 128, none, op_sum);
	NCCL_CHECK(ncclBroadcast(e.in, e.out, 64, type_float, 0, e.comm, e.stream));
	tell("Broadcast", 64, 0, none);
	NCCL_CHECK(ncclReduce(e.in, e.out, 32, type_float, op_max, 0, e.comm, e.stream));
	tell("Reduce", 32, 0, op_max);
}

static void in_groups(const struct end &e)
{
	int next = (e.rank + 1) % e.count, previous = (e.rank + e.count - 1) % e.count;

	NCCL_CHECK(ncclGroupStart());
	reduce_all(e, 16, op_sum);
	reduce_all(e, 8, op_sum);
	NCCL_CHECK(ncclGroupEnd());
	NCCL_CHECK(ncclGroupStart());
	NCCL_CHECK(ncclSend(e.in, 4, type_float, next, e.comm, e.stream));
	tell("Send", 4, (unsigned)next, none);
	NCCL_CHECK(ncclRecv(e.out, 4, type_float, previous, e.comm, e.stream));
	tell("Recv", 4, (unsigned)previous, none);
	NCCL_CHECK(ncclGroupEnd());
}

/* Of one size and type, so that nothing hangs. */
static void in_turn(const struct end &e, bool is_swapped)
{
	reduce_all(e, 512, is_swapped ? op_max : op_sum);
	reduce_all(e, 512, is_swapped ? op_sum : op_max);
}

/* Told once, when it is captured. */
static void captured(const struct end &e, int launches)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CUDA_CHECK(cudaStreamBeginCapture(e.stream, cudaStreamCaptureModeThreadLocal));
	reduce_all(e, 2048, op_sum);
	CUDA_CHECK(cudaStreamEndCapture(e.stream, &graph));
	CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < launches; i++)
		CUDA_CHECK(cudaGraphLaunch(exec, e.stream));
	CUDA_CHECK(cudaStreamSynchronize(e.stream));
	CUDA_CHECK(cudaGraphExecDestroy(exec));
	CUDA_CHECK(cudaGraphDestroy(graph));
	printf("captured %d\n", launches);
}

static long option(int argc, char **argv, const char *name, long otherwise)
{
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], name))
			return i + 1 < argc ? atol(argv[i + 1]) : 1;
	return otherwise;
}

int main(int argc, char **argv)
{
	const size_t room = 1 << 20; /* values */
	struct end e = {};
	struct nccl_id id;
	int version = 0, devices = 0;
	void *library = dynamic_library_open_wheel("libnccl.so.2", "nccl");

	if (argc < 4)
		return 2;
	if (!library || !bind(library)) {
		puts("skipped: NCCL is not installed");
		return 0;
	}
	e.rank = atoi(argv[1]);
	e.count = atoi(argv[2]);
	NCCL_CHECK(ncclGetVersion(&version));
	printf("version %d\n", version);
	CUDA_CHECK(cudaGetDeviceCount(&devices));
	CUDA_CHECK(cudaSetDevice(e.rank % devices));
	if (e.rank == 0) {
		NCCL_CHECK(ncclGetUniqueId(&id));
		leave_id(id, argv[3]);
	} else {
		find_id(id, argv[3]);
	}
	NCCL_CHECK(ncclCommInitRank(&e.comm, e.count, id, e.rank));
	CUDA_CHECK(cudaStreamCreateWithFlags(&e.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMalloc(&e.in, room * sizeof(float)));
	CUDA_CHECK(cudaMalloc(&e.out, room * sizeof(float)));
	CUDA_CHECK(cudaMemset(e.in, 0, room * sizeof(float)));
	one_by_one(e);
	in_groups(e);
	in_turn(e, option(argc, argv, "--swap", 0) && e.rank == 1);
	for (long i = 0; i < option(argc, argv, "--repeats", 20); i++)
		reduce_all(e, 1 << 18, op_sum);
	CUDA_CHECK(cudaStreamSynchronize(e.stream));
	captured(e, 3);
	NCCL_CHECK(ncclCommDestroy(e.comm));
	return 0;
}
