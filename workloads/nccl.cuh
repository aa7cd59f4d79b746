/*
 * nccl.cuh - collectives of NCCL, for programs that run without it too.
 *
 * The library is opened when first wanted (dynamic_library.cuh); it comes with PyTorch, too.  It is called by what its
 * documentation declares, so that no header of it is needed to build.
 *
 * A communicator has every GPU of a team.  What was given to it in the wrong order waits forever, and NCCL says nothing:
 * so each GPU remembers its collectives, and a run that is given up tells which one it waits in.  Then its communicator
 * stays as it is: NCCL frees it when it is aborted, and no thread may be inside a call or have a graph of it by then.
 */
#ifndef ROOFLINE_NCCL_CUH
#define ROOFLINE_NCCL_CUH

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dynamic_library.cuh"
#include "gpus.cuh"
#include "job_share.cuh"

typedef struct ncclComm *nccl_comm;

struct nccl_id {
	char bytes[128];
};

static const int nccl_uint32 = 3; /* a type of data */
static const int nccl_sum = 0;	  /* an operation */

#define NCCL_FUNCTIONS(FUNCTION)                                      \
	FUNCTION(GetVersion, int *)                                   \
	FUNCTION(GetUniqueId, struct nccl_id *)                       \
	FUNCTION(CommInitRank, nccl_comm *, int, struct nccl_id, int) \
	FUNCTION(CommDestroy, nccl_comm)                              \
	FUNCTION(CommAbort, nccl_comm)                                \
	FUNCTION(AllReduce, const void *, void *, size_t, int, int, nccl_comm, cudaStream_t)

#define NCCL_MEMBER(name, ...) int (*name)(__VA_ARGS__);
static struct nccl_functions {
	NCCL_FUNCTIONS(NCCL_MEMBER)
	const char *(*GetErrorString)(int);
} nccl;
#undef NCCL_MEMBER

static const char nccl_file[] = "libnccl.so.2";

static inline bool nccl_bind(void *library)
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

static inline const char *nccl_why_missing()
{
	static std::string reason;
	void *library;

	if (nccl.GetErrorString)
		return nullptr;
	library = dynamic_library_open_wheel(nccl_file, "nccl");
	if (library && nccl_bind(library))
		return nullptr;
	nccl = {};
	reason = dynamic_library_problem(library, nccl_file, "NCCL (nvidia-nccl-cu13 of PyPI)");
	return reason.c_str();
}

/* Why this machine cannot run a workload of NCCL, nullptr when it can. */
static inline const char *nccl_why_no_team()
{
	const char *reason = gpus_why_missing();

	return reason ? reason : nccl_why_missing();
}

static inline void nccl_check(const gpu &one, int result, const char *call, const char *file,
			      int line)
{
	host_call_count++;
	if (one.team->is_stopped)
		throw gpus_stopped();
	if (result == 0)
		return;
	fprintf(stderr, "%s:%d: %s failed: %s; NCCL_DEBUG=WARN tells more\n", file, line, call,
		nccl.GetErrorString(result));
	gpus_end(1);
}

#define NCCL_CHECK(one, ...) nccl_check(one, (__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

/* ---- a communicator ---- */

/* A collective that was enqueued, and an event behind it. */
struct nccl_trace {
	std::string what;
	cudaEvent_t done;
};

/* What one GPU has of the communicator. */
struct nccl_end {
	nccl_comm comm;
	std::mutex mutex;
	std::vector<nccl_trace> trail; /* filled only where a wrong order is shown */
};

struct nccl_group {
	std::vector<std::unique_ptr<nccl_end>> ends; /* by index of the GPU */
};

static const size_t nccl_trail_most = 1000;

static inline std::string nccl_describe(nccl_end &end)
{
	std::lock_guard<std::mutex> lock(end.mutex);
	size_t done = 0;

	while (done < end.trail.size() && cudaEventQuery(end.trail[done].done) == cudaSuccess)
		done++;
	if (done == end.trail.size())
		return "";
	return ", and that for " + end.trail[done].what + ", collective " +
	       std::to_string(done + 1) + " of the " + std::to_string(end.trail.size()) +
	       " that it was given";
}

static inline void nccl_join(gpu &one, nccl_group &group, int count, const struct nccl_id &id)
{
	gpus_tell(one, "joins the communicator");
	NCCL_CHECK(one, nccl.CommInitRank(&group.ends[one.index]->comm, count, id, one.rank));
}

/* The communicator of the first GPUs of the team, of all by default.  Those of several processes are always all. */
static inline void nccl_open(gpu_team &team, nccl_group &group, int count = 0)
{
	struct gpus_place place = gpus_place_find();
	struct nccl_id id;

	count = count ? count : team.count;
	if ((int)team.gpus.size() == team.count)
		place = {0, 1, 0};
	if (place.rank == 0)
		NCCL_CHECK(*team.gpus.front(), nccl.GetUniqueId(&id));
	if (place.count > 1)
		job_share(place, &id, sizeof(id));
	for (size_t i = 0; i < team.gpus.size(); i++)
		group.ends.push_back(std::make_unique<nccl_end>());
	gpus_run(team, [&](gpu &one) {
		if (one.rank < count)
			nccl_join(one, group, count, id);
	});
	team.describe = [&group](const gpu &one) { return nccl_describe(*group.ends[one.index]); };
}

/* Ends what the GPUs hang in, where they only wait for it: no thread is inside a call of NCCL or comes to one again, and
 * there is no graph of the communicator. */
static inline void nccl_abort(nccl_group &group)
{
	for (std::unique_ptr<nccl_end> &end : group.ends)
		if (end->comm)
			nccl.CommAbort(end->comm);
}

static inline void nccl_close(gpu_team &team, nccl_group &group)
{
	gpus_run(team, [&](gpu &one) {
		nccl_comm comm = group.ends[one.index]->comm;

		gpus_tell(one, "leaves the communicator");
		if (comm)
			NCCL_CHECK(one, nccl.CommDestroy(comm));
	});
	group.ends.clear();
	team.describe = nullptr;
	team.abort = nullptr;
}

/* ---- collectives ---- */

static inline void nccl_remember(nccl_end &end, const std::string &what, cudaStream_t stream)
{
	std::lock_guard<std::mutex> lock(end.mutex);
	cudaEvent_t done;

	if (!gpus_wrong_order || end.trail.size() == nccl_trail_most)
		return;
	CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	CUDA_CHECK(cudaEventRecord(done, stream));
	end.trail.push_back({what, done});
}

/* Sums of all GPUs.  what: which one this is, for the message of a run that hangs. */
static inline void nccl_all_reduce_into(gpu &one, nccl_group &group, const uint32_t *values,
					uint32_t *sums, long count, cudaStream_t stream,
					const char *what)
{
	nccl_end &end = *group.ends[one.index];

	NCCL_CHECK(one,
		   nccl.AllReduce(values, sums, count, nccl_uint32, nccl_sum, end.comm, stream));
	nccl_remember(end, std::string(what) + " (" + std::to_string(count) + " values)", stream);
}

/* The same in place. */
static inline void nccl_all_reduce(gpu &one, nccl_group &group, uint32_t *values, long count,
				   cudaStream_t stream, const char *what)
{
	nccl_all_reduce_into(one, group, values, values, count, stream, what);
}

#endif
