/*
 * processes.cuh - a process for each GPU, all of which are this program.
 *
 * Libraries such as NVSHMEM want a process for each GPU.  processes_start makes them before CUDA is touched: it
 * forks, so that they share one page of memory, through which they meet (processes_meet), take turns and pass each
 * other a few bytes.  All run the same workload with the same options, each on its own GPU, and compare their own
 * results; the first one, which is the program that was started, prints.  The others end with it, and it ends with
 * the first that fails.  RANK and so on are set as torchrun sets them, so that a recording tells the ranks apart.
 *
 * What several GPUs do together hangs when one of them does something else: whoever does not reach the next meeting
 * within --limit-s says what it was doing, and all end with 1.
 */
#ifndef ROOFLINE_PROCESSES_CUH
#define ROOFLINE_PROCESSES_CUH

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpus.cuh"

static const int processes_most = 16;

/* What all of them see.  Zeros at first. */
struct processes_page {
	int gpus;	   /* that this machine has */
	char problem[256]; /* why they cannot work together, "" when they can */
	std::atomic<int> arrived;
	std::atomic<long> meeting, turn;
	std::atomic<bool> is_failed; /* somebody has: all end */
	std::atomic<bool> is_done;   /* all have come to the end */
	unsigned char note[256];     /* from one to the others, with a meeting after it */
};

struct process_group {
	int rank = 0, count = 0;
	pid_t others[processes_most] = {}; /* by rank; those that the first one has to wait for */
	struct processes_page *page = nullptr;
	std::atomic<const char *> doing{"begins"}; /* words that stay */
	std::atomic<long> deadline_s{0};
	std::atomic<bool> is_ending{false}; /* this one is on its way out */
};

inline struct process_group processes;

static inline long processes_now_s()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* What this process does from now on, for the message of a run that hangs. */
static inline void processes_tell(const char *doing)
{
	processes.doing = doing;
	processes.deadline_s = processes_now_s() + gpus_limit_s;
}

/* Waits until all are here, and all that they wrote into the page before can be read. */
static inline void processes_meet()
{
	struct processes_page &page = *processes.page;
	long meeting = page.meeting;

	processes_tell("waits for the other processes");
	if (page.arrived.fetch_add(1) + 1 == processes.count) {
		page.arrived = 0;
		page.meeting++;
	}
	while (page.meeting == meeting)
		sched_yield();
	processes_tell("runs");
}

/* Waits until so many turns have been taken.  processes_next_turn takes one. */
static inline void processes_wait_for_turn(long turn)
{
	while (processes.page->turn < turn)
		sched_yield();
}

static inline void processes_next_turn()
{
	processes.page->turn++;
}

/* ---- their end ---- */

/* Collectors write what they have in the handlers of quick_exit; those of exit may wait for the GPU. */
static inline void processes_fail()
{
	processes.page->is_failed = true;
	fflush(nullptr);
	quick_exit(1);
}

/* In the first process: has another one ended that should not have? */
static inline bool processes_lost_one()
{
	for (int rank = 1; rank < processes.count && !processes.rank; rank++) {
		int status;

		if (processes.others[rank] <= 0 ||
		    waitpid(processes.others[rank], &status, WNOHANG) != processes.others[rank])
			continue;
		processes.others[rank] = 0;
		if (processes.page->is_done && WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		if (WIFSIGNALED(status))
			fprintf(stderr, "the process of rank %d was ended by signal %d\n", rank,
				WTERMSIG(status));
		return true;
	}
	return false;
}

static inline void processes_watch()
{
	for (; !processes.is_ending; usleep(50000)) {
		if (processes.page->is_failed || processes_lost_one())
			processes_fail();
		if (processes.page->is_done || processes_now_s() <= processes.deadline_s)
			continue;
		fprintf(stderr,
			"rank %d of %d: not done within %ld s, and given up: it %s (meeting %ld)\n",
			processes.rank, processes.count, gpus_limit_s, processes.doing.load(),
			processes.page->meeting.load());
		usleep(200000); /* so that the others say theirs, too */
		processes_fail();
	}
}

/* The last of all handlers of the first process: nobody outlives it. */
static inline void processes_wait_for_others()
{
	processes.is_ending = true;
	if (!processes.page->is_done)
		processes.page->is_failed = true;
	for (int rank = 1; rank < processes.count; rank++)
		for (int tries = 0; processes.others[rank] > 0; tries++) {
			if (waitpid(processes.others[rank], nullptr, WNOHANG) != 0)
				break;
			if (tries == 1500)
				kill(processes.others[rank], SIGKILL);
			usleep(10000);
		}
}

/* All have compared their last result, and may go. */
static inline void processes_end()
{
	processes_meet();
	processes.page->is_done = true;
}

/* ---- their start ---- */

/* In a process that ends at once, so that those that stay begin with CUDA themselves, and without a profiler. */
static inline void processes_look(struct processes_page &page, int first)
{
	int can_access;

	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	if (cudaGetDeviceCount(&page.gpus) != cudaSuccess)
		page.gpus = 0;
	for (int here = first; here < page.gpus; here++)
		for (int there = first; there < page.gpus; there++)
			if (here != there &&
			    (cudaDeviceCanAccessPeer(&can_access, here, there) != cudaSuccess ||
			     !can_access))
				snprintf(page.problem, sizeof(page.problem),
					 "GPU %d cannot access the memory of GPU %d", here, there);
	_exit(0);
}

static inline void processes_look_from(int first)
{
	pid_t looker = fork();

	if (looker == 0)
		processes_look(*processes.page, first);
	if (looker < 0 || waitpid(looker, nullptr, 0) != looker)
		snprintf(processes.page->problem, sizeof(processes.page->problem),
			 "no process could be started: %s", strerror(errno));
}

/* Of a launcher's variables those that are set, of a job of one process, and torchrun's in any case. */
static inline void processes_set(std::initializer_list<const char *> names, int value)
{
	for (const char *name : names)
		if (getenv(name) || name == *(names.end() - 1))
			setenv(name, std::to_string(value).c_str(), 1);
}

static inline void processes_number(int rank)
{
	processes.rank = rank;
	processes_set({RANK_VARIABLES}, rank);
	processes_set({LOCAL_RANK_VARIABLES}, rank);
	processes_set({WORLD_SIZE_VARIABLES}, processes.count);
}

/* Only the first one prints, and nobody outlives it. */
static inline void processes_begin_other(int rank, pid_t first)
{
	processes_number(rank);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != first || !freopen("/dev/null", "w", stdout))
		_exit(1);
}

/* Here and in each of them it returns. */
static inline void processes_fork()
{
	pid_t first = getpid();

	processes_number(0);
	for (int rank = 1; rank < processes.count; rank++) {
		pid_t other = fork();

		if (other == 0) {
			processes_begin_other(rank, first);
			return;
		}
		if (other < 0) {
			fprintf(stderr, "no process for rank %d: %s\n", rank, strerror(errno));
			_exit(1);
		}
		processes.others[rank] = other;
	}
	atexit(processes_wait_for_others);
}

/* One for each GPU from `device` on, which becomes each one's own.  why_missing: what else it takes, nullptr when it is
 * there.  Returns why there are none, or nullptr; also where there is no GPU, or no such device: the runner says so. */
static inline const char *processes_start(long &device, const char *(*why_missing)())
{
	void *page = mmap(nullptr, sizeof(processes_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *reason;
	int count;

	if (page == MAP_FAILED)
		return "no memory to share between processes";
	if (gpus_place_find().count > 1)
		return "starts a process for each GPU itself: run it without a launcher";
	processes.page = (struct processes_page *)page;
	processes_look_from((int)device);
	count = processes.page->gpus - (int)device;
	if (count <= 0)
		return nullptr;
	if (count < 2)
		return "needs two GPUs or more from --device on";
	if (*processes.page->problem)
		return processes.page->problem;
	if (gpus_wanted > count)
		return "there are not as many GPUs as --gpus says";
	reason = why_missing();
	if (reason)
		return reason;
	gpus_wanted = gpus_wanted ? gpus_wanted : count;
	processes.count = (int)std::min(gpus_wanted, (long)processes_most);
	processes_tell("starts CUDA");
	processes_fork();
	device += processes.rank;
	std::thread(processes_watch).detach();
	return nullptr;
}

#endif
