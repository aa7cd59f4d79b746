/*
 * gpus.cuh - several GPUs for a workload: a thread for each, which of the job's GPUs it has, and a time limit.
 *
 * In one process a thread drives each GPU: gpus_open starts them, gpus_run gives all the same function, and gpus_meet
 * lets them wait for each other.  Where a launcher (mpirun, srun, torchrun) has started a process for each GPU, a team
 * has the one GPU of this process, and its rank among those of the whole job.
 *
 * What several GPUs do together hangs when one of them does something else.  So each gpus_run has a time limit: past
 * it the program says what every GPU of this process is doing (gpus_tell), and ends with 1: at once (gpus_end), as nothing
 * that threads still wait for may be released.
 */
#ifndef ROOFLINE_GPUS_CUH
#define ROOFLINE_GPUS_CUH

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "cuda_check.cuh"
#include "nvtx_range.cuh"
#include "roofline/ranks.h"
#include "workload_options.cuh"

/* ---- options of every workload on several GPUs ---- */

inline long gpus_wanted;	  /* 0: all */
inline long gpus_limit_s = 30;	  /* of one gpus_run */
inline long gpus_wrong_order;	  /* 1: show what a wrong order leads to */
static const long gpus_most = 64; /* in one process */

/* --limit-s and --wrong-order, behind what else the workload has. */
static inline std::vector<parameter> gpus_limits(std::vector<parameter> own = {})
{
	own.push_back({"limit-s", "seconds after which a run that hangs is given up", 1, 3600, 1,
		       &gpus_limit_s, true});
	own.push_back({"wrong-order", "1: do it in the wrong order, to see what comes of it", 0, 1,
		       1, &gpus_wrong_order, true});
	return own;
}

/* The same with --gpus, of which it takes so many at least. */
static inline std::vector<parameter> gpus_parameters(std::vector<parameter> own = {},
						     long least = 2)
{
	own.push_back({"gpus", "GPUs, from --device on; all by default", least, gpus_most, 1,
		       &gpus_wanted});
	return gpus_limits(own);
}

/* ---- a process of a job ---- */

struct gpus_place {
	int rank, count; /* of processes */
	int local;	 /* among those of this host */
};

static inline int gpus_number(const char *text, int otherwise)
{
	return text ? atoi(text) : otherwise;
}

/* What the launcher said; alone where there is none, or where it started one process. */
static inline struct gpus_place gpus_place_find()
{
	struct gpus_place place = {gpus_number(ranks_rank(), 0), gpus_number(ranks_world_size(), 1),
				   0};

	place.local = gpus_number(ranks_local_rank(), place.rank);
	if (place.count < 2 || place.rank < 0 || place.rank >= place.count || place.local < 0)
		return {0, 1, 0};
	return place;
}

/* ---- the team ---- */

struct gpu_team;

/* A GPU, and the thread that drives it. */
struct gpu {
	struct gpu_team *team;
	int index;			 /* among those of this process */
	int rank, device;		 /* among all of the job; as CUDA counts them */
	std::atomic<const char *> doing; /* words that stay, such as "all-reduce of bucket" */
	std::atomic<long> doing_number;	 /* behind them, -1: none */
	long host_calls;		 /* of its thread, in the last gpus_run */
	std::thread thread;
};

struct gpu_team {
	const char *name;
	int count;				/* GPUs of the whole job */
	std::vector<std::unique_ptr<gpu>> gpus; /* those of this process */
	/* What helps GPUs that hang, for who wants the program to go on until its threads have ended; from another
	 * thread.  May be empty. */
	std::function<void()> abort;
	/* What a GPU that hangs is doing, where that is more than gpus_tell said.  May be empty. */
	std::function<std::string(const gpu &)> describe;

	std::mutex mutex;
	std::condition_variable changed;
	std::function<void(gpu &)> body; /* of the run under way */
	long run_number = 0;
	int running = 0; /* threads that have not ended this run */
	bool is_closed = false;
	std::exception_ptr failure;
	std::chrono::steady_clock::time_point deadline;
	std::thread watchdog;
	std::atomic<bool> is_stopped{false}, is_given_up{false};
	std::atomic<int> arrived{0}; /* at gpus_meet */
	std::atomic<long> meeting{0};

	~gpu_team();
};

/* Thrown in the threads of the others when one has failed, or when the time is up. */
struct gpus_stopped {
};

/* What this GPU does from now on, for the message of a run that hangs. */
static inline void gpus_tell(gpu &one, const char *doing, long number = -1)
{
	one.doing_number = number;
	one.doing = doing;
}

/* Waits until the threads of all GPUs of this process are here. */
static inline void gpus_meet(gpu &one)
{
	gpu_team &team = *one.team;
	long meeting = team.meeting;

	if (team.arrived.fetch_add(1) + 1 == (int)team.gpus.size()) {
		team.arrived = 0;
		team.meeting++;
		return;
	}
	while (team.meeting == meeting) {
		if (team.is_stopped)
			throw gpus_stopped();
		std::this_thread::yield();
	}
}

/* Waits for the work of a stream. */
static inline void gpus_synchronize(gpu &one, cudaStream_t stream)
{
	cudaError_t error = cudaStreamSynchronize(stream);

	if (one.team->is_stopped)
		throw gpus_stopped();
	CUDA_CHECK(error);
}

/* ---- the threads ---- */

static inline void gpus_keep_failure(gpu_team &team, std::exception_ptr failure)
{
	std::lock_guard<std::mutex> lock(team.mutex);

	if (!team.failure)
		team.failure = failure;
	team.is_stopped = true;
}

static inline void gpus_run_one(gpu &one)
{
	long calls = host_call_count;

	try {
		one.team->body(one);
	} catch (const gpus_stopped &) {
	} catch (...) {
		gpus_keep_failure(*one.team, std::current_exception());
	}
	gpus_tell(one, "done");
	one.host_calls = host_call_count - calls;
}

static inline void gpus_thread(gpu &one)
{
	gpu_team &team = *one.team;
	std::unique_lock<std::mutex> lock(team.mutex);

	CUDA_CHECK(cudaSetDevice(one.device));
	for (long seen = 0;; seen++) {
		team.changed.wait(lock, [&] { return team.is_closed || team.run_number > seen; });
		if (team.is_closed)
			return;
		lock.unlock();
		gpus_run_one(one);
		lock.lock();
		if (--team.running == 0)
			team.changed.notify_all();
	}
}

/* ---- the time limit ---- */

static inline std::string gpus_doing(const gpu_team &team, const gpu &one)
{
	std::string text = one.doing.load();

	if (one.doing_number >= 0)
		text += " " + std::to_string(one.doing_number);
	if (team.describe)
		text += team.describe(one);
	return text;
}

static inline void gpus_complain(const gpu_team &team)
{
	fprintf(stderr,
		"%s: not done within %ld s, and given up: does every GPU take part, in the same order?\n",
		team.name, gpus_limit_s);
	for (const std::unique_ptr<gpu> &one : team.gpus)
		fprintf(stderr, "%s: rank %d of %d (GPU %d): %s\n", team.name, one->rank,
			team.count, one->device, gpus_doing(team, *one).c_str());
}

/* Ends the program while other threads may be in the middle of anything: without destructors, which would take away what
 * they use. */
[[noreturn]] static inline void gpus_end(int code)
{
	fflush(nullptr);
	_exit(code);
}

/* Whoever still hangs after that never ends: neither does this process, unless it is made to. */
static inline void gpus_give_up(gpu_team &team, std::unique_lock<std::mutex> &lock)
{
	team.is_given_up = true;
	team.is_stopped = true;
	lock.unlock();
	gpus_complain(team);
	if (team.abort)
		team.abort();
	lock.lock();
	team.changed.wait_for(lock, std::chrono::seconds(5), [&] { return team.running == 0; });
	gpus_end(1);
}

static inline void gpus_watch(gpu_team &team)
{
	std::unique_lock<std::mutex> lock(team.mutex);

	while (!team.is_closed) {
		long run = team.run_number;

		if (team.running == 0) {
			team.changed.wait(lock);
			continue;
		}
		team.changed.wait_until(lock, team.deadline, [&] { return team.running == 0; });
		if (team.running && team.run_number == run)
			gpus_give_up(team, lock);
	}
}

/* ---- for workloads ---- */

/* Why this machine cannot run a workload on several GPUs, nullptr when it can.  One is there already. */
static inline const char *gpus_why_missing()
{
	int count = 0;

	CUDA_CHECK(cudaGetDeviceCount(&count));
	if (count < 2 && gpus_place_find().count < 2)
		return "needs two GPUs or more, and this machine has one";
	return nullptr;
}

static inline void gpus_add(gpu_team &team, int rank, int device)
{
	team.gpus.push_back(std::make_unique<gpu>());
	gpu &one = *team.gpus.back();

	one.team = &team;
	one.index = (int)team.gpus.size() - 1;
	one.rank = rank;
	one.device = device;
	gpus_tell(one, "begins");
}

/* Those of one process: from the current device on. */
static inline void gpus_add_all(gpu_team &team)
{
	int first, count;

	CUDA_CHECK(cudaGetDevice(&first));
	CUDA_CHECK(cudaGetDeviceCount(&count));
	count -= first;
	if (gpus_wanted > count) {
		fprintf(stderr, "%s: --gpus %ld: from device %d on this machine has %d\n",
			team.name, gpus_wanted, first, count);
		exit(2);
	}
	for (int i = 0; i < (gpus_wanted ? gpus_wanted : count); i++)
		gpus_add(team, i, first + i);
	team.count = (int)team.gpus.size();
}

/* The one of this process, which is the current device from now on. */
static inline void gpus_add_own(gpu_team &team, const struct gpus_place &place)
{
	int count;

	CUDA_CHECK(cudaGetDeviceCount(&count));
	gpus_add(team, place.rank, place.local % count);
	CUDA_CHECK(cudaSetDevice(place.local % count));
	team.count = place.count;
}

/* by_rank: where a launcher has started several processes, each has one GPU.  Otherwise all are this process'. */
static inline void gpus_open(gpu_team &team, const char *name, bool by_rank)
{
	struct gpus_place place = gpus_place_find();

	team.name = name;
	if (by_rank && place.count > 1)
		gpus_add_own(team, place);
	else
		gpus_add_all(team);
	gpus_wanted = team.count;
	for (std::unique_ptr<gpu> &one : team.gpus)
		one->thread = std::thread(gpus_thread, std::ref(*one));
	team.watchdog = std::thread(gpus_watch, std::ref(team));
}

/* body(gpu &) in the threads of all GPUs at once, each with its device; returns when all have.  What the first one says
 * to CUDA counts as said by the caller. */
template <class function> void gpus_run(gpu_team &team, function body)
{
	std::unique_lock<std::mutex> lock(team.mutex);

	team.body = body;
	team.arrived = 0;
	team.running = (int)team.gpus.size();
	team.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(gpus_limit_s);
	team.run_number++;
	team.changed.notify_all();
	team.changed.wait(lock, [&] { return team.running == 0; });
	if (team.is_given_up)
		gpus_end(1);
	host_call_count += team.gpus.front()->host_calls;
	if (!team.failure)
		return;
	std::exception_ptr failure = team.failure;
	team.failure = nullptr;
	team.is_stopped = false;
	std::rethrow_exception(failure);
}

static inline void gpus_close(gpu_team &team)
{
	{
		std::lock_guard<std::mutex> lock(team.mutex);

		team.is_closed = true;
		team.changed.notify_all();
	}
	for (std::unique_ptr<gpu> &one : team.gpus)
		one->thread.join();
	if (team.watchdog.joinable())
		team.watchdog.join();
	team.gpus.clear();
}

/* Of a workload that ran out of memory before it could release anything. */
inline gpu_team::~gpu_team()
{
	gpus_close(*this);
}

/* Runs body with a GPU as the current device, and goes back to the one before. */
template <class function> void gpus_with(const gpu &one, function body)
{
	int before;

	CUDA_CHECK(cudaGetDevice(&before));
	CUDA_CHECK(cudaSetDevice(one.device));
	body();
	CUDA_CHECK(cudaSetDevice(before));
}

/* Of the current device to another one.  Returns nullptr, or why not. */
static inline const char *gpus_reach(int here, int there)
{
	int can_access = 0;
	cudaError_t error;

	CUDA_CHECK(cudaDeviceCanAccessPeer(&can_access, here, there));
	if (!can_access)
		return "the GPUs cannot access each other's memory";
	error = CUDA_TRY(cudaDeviceEnablePeerAccess(there, 0));
	return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled
		       ? nullptr
		       : cudaGetErrorString(error);
}

/* Every GPU of this process may access the memory of every other one from now on.  Returns nullptr, or why not. */
static inline const char *gpus_enable_peers(const gpu_team &team)
{
	const char *problem = nullptr;

	for (const std::unique_ptr<gpu> &here : team.gpus)
		for (const std::unique_ptr<gpu> &there : team.gpus)
			if (here != there && !problem)
				gpus_with(*here, [&] {
					problem = gpus_reach(here->device, there->device);
				});
	return problem;
}

#endif
